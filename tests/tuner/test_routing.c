/* tests/tuner/test_routing.c: draws repeat and are as skewed as asked; lists agree with them.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 4000, EXPERTS = 16 };

static void draw(const char *text, int top_k, uint64_t seed, int32_t *slots)
{
    moesaic_text err;
    routing_spec spec;
    assert_status(MOESAIC_OK, routing_parse(text, NULL, &spec, &err), &err);
    assert_status(MOESAIC_OK, routing_draw(&spec, TOKENS, EXPERTS, top_k, seed, slots, &err), &err);
}

static int by_count(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* Slots per expert, largest first. */
static void count(const int32_t *slots, int n_slots, int counts[EXPERTS])
{
    memset(counts, 0, EXPERTS * sizeof *counts);
    for (int i = 0; i < n_slots; i++)
        counts[slots[i]]++;
    qsort(counts, EXPERTS, sizeof *counts, by_count);
}

static void test_uniform_draws_are_even(void **state)
{
    (void)state;
    static int32_t slots[TOKENS];
    int counts[EXPERTS];
    draw("uniform", 1, 3, slots);
    count(slots, TOKENS, counts);
    /* 250 expected, standard deviation 15.3: five of them */
    assert_in_range(counts[0], 250, 327);
    assert_in_range(counts[EXPERTS - 1], 173, 250);
}

static void test_zipf_draws_follow_ranks(void **state)
{
    (void)state;
    static int32_t slots[TOKENS];
    int counts[EXPERTS];
    double sum = 0;
    draw("zipf:1.2", 1, 3, slots);
    count(slots, TOKENS, counts);
    for (int e = 0; e < EXPERTS; e++)
        sum += pow(e + 1, -1.2);
    for (int e = 0; e < 3; e++) {
        double share = pow(e + 1, -1.2) / sum, want = TOKENS * share;
        double deviation = sqrt(want * (1 - share));
        assert_true(fabs(counts[e] - want) < 5 * deviation);
    }
}

static void test_a_seed_repeats_and_another_differs(void **state)
{
    (void)state;
    static int32_t a[TOKENS], b[TOKENS];
    draw("zipf:1.2", 1, 3, a);
    draw("zipf:1.2", 1, 3, b);
    assert_memory_equal(a, b, sizeof a);
    draw("zipf:1.2", 1, 4, b);
    assert_true(memcmp(a, b, sizeof a) != 0);
}

static void test_a_token_has_different_experts(void **state)
{
    (void)state;
    static int32_t slots[TOKENS * 4];
    draw("zipf:2", 4, 5, slots);
    for (int t = 0; t < TOKENS; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++)
                assert_int_not_equal(slots[t * 4 + i], slots[t * 4 + j]);
}

static void test_lists_agree_with_the_draw(void **state)
{
    (void)state;
    moesaic_text err;
    routing_table r;
    static const int32_t slots[] = {2, 0, -1, 2, 0, 3, 3, -1, 2, 3};
    assert_status(MOESAIC_OK, routing_build(slots, 5, 4, 2, 1, &r, &err), &err);
    static const int32_t offsets[] = {0, 2, 2, 5, 8}, tokens[] = {0, 2, 0, 1, 4, 2, 3, 4, 1, 3};
    assert_memory_equal(offsets, r.offsets, sizeof offsets);
    assert_memory_equal(tokens, r.token_index, sizeof tokens);
    assert_int_equal(8, r.rows);
    assert_int_equal(3, routing_active(&r));
    assert_int_equal(3, routing_largest(&r));
    for (int s = 0; s < 10; s++) {
        int32_t row = r.row_of_slot[s];
        assert_int_equal(slots[s] < 0, row < 0);
        if (row < 0)
            continue;
        assert_in_range(row, r.offsets[slots[s]], r.offsets[slots[s] + 1] - 1);
        assert_int_equal(s / 2, r.token_index[row]);
        assert_true(r.weight[row] > 0 && r.weight[row] <= 0.5F);
    }
    routing_free(&r);
}

static void test_a_recorded_file_is_read_and_named_by_its_hash(void **state)
{
    moesaic_text err;
    routing_spec spec;
    int32_t slots[6];
    char name[80];
    write_text(in_folder(state, "ids"), "3 1\n0 2\n\n1 -1 7\n");
    assert_status(MOESAIC_OK, routing_parse("file:ids", *state, &spec, &err), &err);
    assert_status(MOESAIC_OK, routing_draw(&spec, 3, 4, 2, 1, slots, &err), &err);
    static const int32_t want[] = {3, 1, 0, 2, 1, -1};
    assert_memory_equal(want, slots, sizeof want);
    routing_name(&spec, name);
    /* printf '3 1\n0 2\n\n1 -1 7\n' | sha256sum */
    assert_string_equal("file:632bc529eb100d3b9c31ab970253bc97080504f22b4075fe0736e067665766b0",
                        name);
}

static void test_a_wrong_file_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"0 1 2", "number 4 is missing"},
        {"0 1 2 x", "number 4 is missing or none"},
        {"0 1 2 4", "number 4 is 4, must be an expert between 0 and 3"},
        {"0 1 2 2", "token 1 has expert 2 twice"},
    };
    moesaic_text err;
    routing_spec spec;
    int32_t slots[4];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text(in_folder(state, "ids"), cases[i].text);
        assert_status(MOESAIC_OK, routing_parse("file:ids", *state, &spec, &err), &err);
        assert_status(MOESAIC_E_INPUT, routing_draw(&spec, 2, 4, 2, 1, slots, &err), &err);
        assert_says(&err, cases[i].says);
    }
}

static void test_unknown_words_are_refused(void **state)
{
    moesaic_text err;
    routing_spec spec;
    static const char *const words[] = {"",        "even",    "zipf:", "zipf:x",
                                        "zipf:-1", "zipf:99", "file:"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        assert_status(MOESAIC_E_INPUT, routing_parse(words[i], *state, &spec, &err), &err);
    assert_status(MOESAIC_E_IO, routing_parse("file:none", *state, &spec, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_draws_are_even),
        cmocka_unit_test(test_zipf_draws_follow_ranks),
        cmocka_unit_test(test_a_seed_repeats_and_another_differs),
        cmocka_unit_test(test_a_token_has_different_experts),
        cmocka_unit_test(test_lists_agree_with_the_draw),
        cmocka_unit_test_setup_teardown(test_a_recorded_file_is_read_and_named_by_its_hash,
                                        folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_a_wrong_file_is_refused_with_its_place, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(test_unknown_words_are_refused, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
