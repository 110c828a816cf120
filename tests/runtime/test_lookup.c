/* tests/runtime/test_lookup.c: which record serves a problem; records are made by hand, no device is needed.
 * SPDX-License-Identifier: MIT
 */
#include "tests/runtime/support.h"

#include <math.h>
#include <string.h>

typedef struct entry {
    const char *pass, *fields;
    int layer;
    bool candidate, unusable;
} entry;

enum { MAX_ENTRIES = 8 };

/* The index of the entry that serves, -1 for none. */
static int best_of(const entry *entries, size_t n, const char *asked, double *distance)
{
    static char family[] = "moe_gemm";
    record records[MAX_ENTRIES] = {0};
    str keys[MAX_ENTRIES] = {0};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(json_from_pairs(entries[i].fields, &records[i].fields, NULL), MOESAIC_OK);
        json_canonical(records[i].fields, &keys[i]);
        records[i].family = family;
        records[i].pass = (char *)(uintptr_t)entries[i].pass;
        records[i].key = keys[i].s;
        records[i].layer = entries[i].layer;
        records[i].candidate = entries[i].candidate;
        records[i].unusable = entries[i].unusable;
    }
    const moesaic_context context = {.records = records, .n_records = n};
    problem p = {.family = "moe_gemm", .pass = "down"};
    assert_int_equal(json_from_pairs(asked, &p.fields, NULL), MOESAIC_OK);
    record *best = lookup_best(&context, &p, distance);
    for (size_t i = 0; i < n; i++) {
        cJSON_Delete(records[i].fields);
        str_free(&keys[i]);
    }
    problem_free(&p);
    return best ? (int)(best - records) : -1;
}

#define BEST(entries, asked) best_of(entries, sizeof entries / sizeof entries[0], asked, &d)

static void test_own_record_is_a_hit(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "hidden=64,tokens=512", 0, false, false},
                       {"gate_up", "hidden=64,tokens=1024", 0, false, false},
                       {"down", "hidden=64,tokens=1024", 0, false, false}};
    assert_int_equal(BEST(e, "tokens=1024,hidden=64"), 2);
    assert_true(d == 0);
}

static void test_nearest_tokens_serve(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "hidden=64,tokens=512", 0, false, false},
                       {"down", "hidden=64,tokens=4096", 0, false, false}};
    assert_int_equal(BEST(e, "hidden=64,tokens=700"), 0);
    assert_true(fabs(d - log2(700.0 / 512)) < 1e-12);
    assert_int_equal(BEST(e, "hidden=64,tokens=2000"), 1);
}

static void test_reach_is_a_factor_of_eight(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "hidden=64,tokens=512", 0, false, false}};
    assert_int_equal(BEST(e, "hidden=64,tokens=4096"), 0);
    assert_int_equal(BEST(e, "hidden=64,tokens=64"), 0);
    assert_int_equal(BEST(e, "hidden=64,tokens=4097"), -1);
    assert_int_equal(BEST(e, "hidden=64,tokens=63"), -1);
}

static void test_other_widths_are_no_neighbours(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "hidden=64,tokens=512", 0, false, false}};
    assert_int_equal(BEST(e, "hidden=72,tokens=512"), -1);
    assert_int_equal(BEST(e, "tokens=512"), -1);
    assert_int_equal(BEST(e, "hidden=64,tokens=512,interleaved=1"), -1);
}

static void test_other_routing_costs_half_a_doubling(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "tokens=512", 0, false, false},
                       {"down", "tokens=800,routing=zipf:1.2", 0, false, false}};
    assert_int_equal(BEST(e, "tokens=512,routing=zipf:1.2"), 0);
    assert_true(d == 0.5);
    assert_int_equal(BEST(e, "tokens=800"), 1);
    assert_int_equal(BEST(e, "tokens=600,routing=zipf:1.2"), 1);
}

static void test_own_device_goes_before_candidates(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "tokens=512", 0, true, false},
                       {"down", "tokens=1024", 0, false, false}};
    assert_int_equal(BEST(e, "tokens=512"), 1);
    assert_int_equal(BEST(e, "tokens=8193"), 0 - 1);
    const entry only[] = {{"down", "tokens=512", 0, true, false}};
    assert_int_equal(BEST(only, "tokens=512"), 0);
}

static void test_first_layer_wins(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "tokens=512", 1, false, false},
                       {"down", "tokens=512", 0, false, false},
                       {"down", "tokens=500", 0, false, false}};
    assert_int_equal(BEST(e, "tokens=512"), 1);
}

static void test_ties_do_not_depend_on_order(void **state)
{
    (void)state;
    double d;
    const entry up[] = {{"down", "tokens=512", 0, false, false},
                        {"down", "tokens=2048", 0, false, false}};
    const entry down[] = {{"down", "tokens=2048", 0, false, false},
                          {"down", "tokens=512", 0, false, false}};
    assert_int_equal(BEST(up, "tokens=1024"), 1);
    assert_int_equal(BEST(down, "tokens=1024"), 0);
}

static void test_unusable_records_are_passed_over(void **state)
{
    (void)state;
    double d;
    const entry e[] = {{"down", "tokens=512", 0, false, true},
                       {"down", "tokens=1024", 0, false, false}};
    assert_int_equal(BEST(e, "tokens=512"), 1);
}

static void test_words_name_values(void **state)
{
    (void)state;
    char text[256];
    record r = {0};
    problem p = {.family = "moe_gemm", .pass = "down"};
    assert_int_equal(json_from_pairs("tokens=4096,hidden=64", &r.fields, NULL), MOESAIC_OK);
    assert_int_equal(json_from_pairs("tokens=5000,hidden=64,routing=zipf:1", &p.fields, NULL),
                     MOESAIC_OK);
    lookup_differs(&r, &p, text, sizeof text);
    assert_string_equal(text, "tokens 4096, asked 5000; routing default, asked \"zipf:1\"");
    json_canonical(p.fields, &p.key);
    lookup_tune_command(&p, text, sizeof text);
    assert_string_equal(text,
                        "echo '{\"name\":\"missed\",\"moe\":[{\"passes\":[\"down\"],\"hidden\":64,"
                        "\"routing\":\"zipf:1\",\"tokens\":5000}]}' > missed.json && "
                        "moesaic tune missed.json");
    cJSON_Delete(r.fields);
    problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_record_is_a_hit),
        cmocka_unit_test(test_nearest_tokens_serve),
        cmocka_unit_test(test_reach_is_a_factor_of_eight),
        cmocka_unit_test(test_other_widths_are_no_neighbours),
        cmocka_unit_test(test_other_routing_costs_half_a_doubling),
        cmocka_unit_test(test_own_device_goes_before_candidates),
        cmocka_unit_test(test_first_layer_wins),
        cmocka_unit_test(test_ties_do_not_depend_on_order),
        cmocka_unit_test(test_unusable_records_are_passed_over),
        cmocka_unit_test(test_words_name_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
