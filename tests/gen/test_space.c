/* tests/gen/test_space.c: the space of a problem against trying every configuration.    SPDX-License-Identifier: MIT */
#include "tests/gen/support.h"

#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The small family's rules (families/scale/space.json), written anew. */
typedef struct scale_config {
    int waves, vec, whole, unroll;
} scale_config;

enum { COLS_RULE, REGISTERS_RULE, HALVES_RULE, N_RULES };
static const char *const rule_names[N_RULES] = {"cols", "registers", "halves"};

static bool rule_holds(const scale_config *c, int cols, int rule)
{
    switch (rule) {
    case COLS_RULE:
        return cols % (64 * c->waves * c->vec) == 0 || c->whole == 1;
    case REGISTERS_RULE:
        return c->vec * c->unroll + 8 <= 24;
    default:
        return c->unroll != 2 || (c->vec != 1 && 6 / (c->vec - 1) >= 2);
    }
}

static int first_broken_rule(const scale_config *c, int cols)
{
    int rule = 0;
    while (rule < N_RULES && rule_holds(c, cols, rule))
        rule++;
    return rule;
}

/* The n-th configuration of all, in the order of the values. */
static scale_config nth(int n)
{
    static const int waves[] = {1, 2, 4}, vec[] = {1, 2, 4, 8};
    return (scale_config){waves[n / 24], vec[n / 6 % 4], n / 3 % 2, n % 3 + 1};
}

enum { N_SCALE = 3 * 4 * 2 * 3 };

static int value(const cJSON *object, const char *key)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(m));
    return m->valueint;
}

static void check_config(gen_space *space, int64_t i, const scale_config *want)
{
    cJSON *got;
    moesaic_text err;
    int64_t found;
    assert_status(MOESAIC_OK, gen_space_config(space, i, &got, &err), &err);
    assert_int_equal(4, cJSON_GetArraySize(got));
    assert_int_equal(want->waves, value(got, "waves"));
    assert_int_equal(want->vec, value(got, "vec"));
    assert_int_equal(want->whole, value(got, "whole"));
    assert_int_equal(want->unroll, value(got, "unroll"));
    assert_status(MOESAIC_OK, gen_space_find(space, got, &found, &err), &err);
    assert_int_equal(i, found);
    cJSON_Delete(got);
}

static void check_against_trying_all(int cols)
{
    opened o;
    moesaic_text err;
    cJSON *excluded;
    char pairs[64];
    int64_t legal = 0;
    int counts[N_RULES + 1] = {0};
    snprintf(pairs, sizeof pairs, "rows=10,cols=%d", cols);
    open_or_fail(&o, SCALE, "run", pairs);
    for (int n = 0; n < N_SCALE; n++) {
        scale_config c = nth(n);
        int rule = first_broken_rule(&c, cols);
        counts[rule]++;
        if (rule == N_RULES)
            check_config(o.space, legal++, &c);
    }
    assert_int_equal(N_SCALE, gen_space_total(o.space));
    assert_int_equal(legal, gen_space_legal(o.space));
    assert_status(MOESAIC_OK, gen_space_excluded(o.space, &excluded, &err), &err);
    assert_int_equal(N_RULES, cJSON_GetArraySize(excluded));
    for (int r = 0; r < N_RULES; r++)
        assert_int_equal(counts[r], value(excluded, rule_names[r]));
    cJSON_Delete(excluded);
    opened_free(&o);
}

static void test_the_space_is_that_of_trying_every_configuration(void **state)
{
    static const int cols[] = {1, 64, 128, 512, 1000, 4096};
    (void)state;
    for (size_t i = 0; i < sizeof cols / sizeof cols[0]; i++)
        check_against_trying_all(cols[i]);
}

/* The reasons for configuration n of the small family are the rules that it breaks, in their order. */
static void check_reasons(gen_space *space, int n, int cols)
{
    scale_config c = nth(n);
    char pairs[64];
    cJSON *reasons;
    moesaic_text err;
    snprintf(pairs, sizeof pairs, "waves=%d,vec=%d,whole=%d,unroll=%d", c.waves, c.vec, c.whole,
             c.unroll);
    cJSON *config = object_of(pairs);
    assert_status(MOESAIC_OK, gen_space_why(space, config, &reasons, &err), &err);
    const cJSON *reason = reasons->child;
    for (int r = 0; r < N_RULES; r++) {
        if (rule_holds(&c, cols, r))
            continue;
        assert_non_null(reason);
        assert_string_equal(rule_names[r],
                            cJSON_GetObjectItemCaseSensitive(reason, "name")->valuestring);
        reason = reason->next;
    }
    assert_null(reason);
    cJSON_Delete(reasons);
    cJSON_Delete(config);
}

static void test_why_names_every_broken_rule(void **state)
{
    opened o;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10,cols=256");
    for (int n = 0; n < N_SCALE; n++)
        check_reasons(o.space, n, 256);
    opened_free(&o);
}

static void test_unknown_parameters_and_values_are_refused(void **state)
{
    static const struct {
        const char *pairs, *says;
    } cases[] = {
        {"waves=3,vec=1,whole=0,unroll=1", "waves has no value 3; its values are [4,1,2]"},
        {"waves=4,vec=1,whole=0", "unroll is missing"},
        {"waves=4,vec=1,whole=0,unroll=1,tile=2", "no parameter \"tile\""},
        {"waves=four,vec=1,whole=0,unroll=1", "waves has no value \"four\""},
    };
    opened o;
    moesaic_text err;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cJSON *config = object_of(cases[i].pairs), *out;
        int64_t found;
        assert_status(MOESAIC_E_INPUT, gen_space_why(o.space, config, &out, &err), &err);
        assert_says(&err, cases[i].says);
        assert_null(out);
        assert_status(MOESAIC_E_INPUT, gen_space_find(o.space, config, &found, &err), &err);
        assert_int_equal(-1, found);
        assert_status(MOESAIC_E_INPUT, gen_space_launch(o.space, config, &out, &err), &err);
        cJSON_Delete(config);
    }
    opened_free(&o);
}

/* cols=64: whole=0 is excluded (but for waves=1, vec=1), so that whole=1 is the only difference. */
static void test_the_default_is_the_nearest_legal_configuration(void **state)
{
    opened o;
    moesaic_text err;
    int64_t i;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10,cols=1024");
    assert_status(MOESAIC_OK, gen_space_default(o.space, &i, &err), &err);
    check_config(o.space, i, &(scale_config){4, 4, 0, 1});
    opened_free(&o);
    open_or_fail(&o, SCALE, "run", "rows=10,cols=64");
    assert_status(MOESAIC_OK, gen_space_default(o.space, &i, &err), &err);
    check_config(o.space, i, &(scale_config){4, 4, 1, 1});
    opened_free(&o);
}

static void test_indices_outside_are_refused(void **state)
{
    opened o;
    moesaic_text err;
    cJSON *config;
    double us;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10");
    const int64_t outside[] = {-1, gen_space_legal(o.space), INT64_MAX};
    for (int i = 0; i < 3; i++) {
        assert_status(MOESAIC_E_NOTFOUND, gen_space_config(o.space, outside[i], &config, &err),
                      &err);
        assert_null(config);
        assert_status(MOESAIC_E_NOTFOUND, gen_space_estimate_us(o.space, outside[i], &us, &err),
                      &err);
        assert_true(isnan(us));
    }
    opened_free(&o);
}

static void test_an_estimate_is_its_expression(void **state)
{
    opened o;
    moesaic_text err;
    (void)state;
    open_or_fail(&o, SCALE, "run", "rows=10,cols=512");
    for (int64_t i = 0; i < gen_space_legal(o.space); i++) {
        cJSON *config;
        double us;
        assert_status(MOESAIC_OK, gen_space_config(o.space, i, &config, &err), &err);
        assert_status(MOESAIC_OK, gen_space_estimate_us(o.space, i, &us, &err), &err);
        double want = 10 * 512 / (64.0 * value(config, "waves")) + value(config, "unroll");
        assert_true(fabs(us - want) < 1e-9);
        cJSON_Delete(config);
    }
    opened_free(&o);
}

/* --- the family that we ship --- */

static const char zaya1[] = "dtype=bf16,hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=";

static void test_zaya1_has_a_thousand_legal_configurations(void **state)
{
    static const char *const passes[] = {"gate_up", "down"};
    static const int tokens[] = {512, 4096, 32768};
    (void)state;
    for (size_t p = 0; p < 2; p++) {
        for (size_t t = 0; t < 3; t++) {
            opened o;
            char pairs[128];
            snprintf(pairs, sizeof pairs, "%s%d", zaya1, tokens[t]);
            open_or_fail(&o, "moe_gemm", passes[p], pairs);
            assert_true(gen_space_legal(o.space) >= 1000);
            opened_free(&o);
        }
    }
}

static cJSON *random_config(const gen_family *family, uint64_t *seed)
{
    const cJSON *p;
    cJSON *config = cJSON_CreateObject();
    cJSON_ArrayForEach(p, cJSON_GetObjectItemCaseSensitive(gen_family_json(family), "parameters"))
    {
        int n = (int)(hash_next(seed) % (uint64_t)cJSON_GetArraySize(p));
        cJSON_AddNumberToObject(config, p->string, cJSON_GetArrayItem(p, n)->valuedouble);
    }
    return config;
}

/* Looking at one configuration and enumerating all of them must agree. */
static void test_why_and_enumeration_agree(void **state)
{
    enum { N_SAMPLES = 300 };
    opened o;
    moesaic_text err;
    uint64_t seed = 7;
    int n_legal = 0;
    (void)state;
    open_or_fail(&o, "moe_gemm", "down",
                 "hidden=768,expert_ffn=2048,experts=16,top_k=4,tokens=200");
    for (int i = 0; i < N_SAMPLES; i++) {
        cJSON *config = random_config(o.family, &seed), *reasons;
        int64_t found;
        if (i % 4 == 0) { /* legal ones are rare among random ones */
            cJSON_Delete(config);
            int64_t n = (int64_t)(hash_next(&seed) % (uint64_t)gen_space_legal(o.space));
            assert_status(MOESAIC_OK, gen_space_config(o.space, n, &config, &err), &err);
        }
        assert_status(MOESAIC_OK, gen_space_why(o.space, config, &reasons, &err), &err);
        moesaic_status status = gen_space_find(o.space, config, &found, &err);
        assert_status(reasons->child ? MOESAIC_E_NOTFOUND : MOESAIC_OK, status, &err);
        n_legal += reasons->child == NULL;
        cJSON_Delete(reasons);
        cJSON_Delete(config);
    }
    assert_true(n_legal >= N_SAMPLES / 4 && n_legal < N_SAMPLES);
    opened_free(&o);
}

static void test_a_missing_family_names_those_that_exist(void **state)
{
    gen_family *family;
    moesaic_text err;
    (void)state;
    assert_status(MOESAIC_E_NOTFOUND, gen_family_open("moe_gem", &family, &err), &err);
    assert_says(&err, "moe_gemm");
    assert_null(family);
    assert_status(MOESAIC_E_NOTFOUND, gen_family_open("/nowhere", &family, &err), &err);
    assert_status(MOESAIC_E_NOTFOUND, gen_family_open("../templates/moe_gemm", &family, &err),
                  &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_space_is_that_of_trying_every_configuration),
        cmocka_unit_test(test_why_names_every_broken_rule),
        cmocka_unit_test(test_unknown_parameters_and_values_are_refused),
        cmocka_unit_test(test_the_default_is_the_nearest_legal_configuration),
        cmocka_unit_test(test_indices_outside_are_refused),
        cmocka_unit_test(test_an_estimate_is_its_expression),
        cmocka_unit_test(test_zaya1_has_a_thousand_legal_configurations),
        cmocka_unit_test(test_why_and_enumeration_agree),
        cmocka_unit_test(test_a_missing_family_names_those_that_exist),
    };
    return cmocka_run_group_tests(tests, use_own_templates, NULL);
}
