/* tests/tuner/test_strategy.c: what strategies give, on a made-up space of 4 x 4 x 4 configurations.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "tuner/strategy.h"

#include <math.h>
#include <string.h>

enum { N = 64, PARAMETERS = 3 };

/* True times: best at (1, 2, 3).  The estimate is blind to the last parameter. */
typedef struct made_up {
    strategy_space space;
    uint8_t values[N * PARAMETERS];
    double estimate_us[N];
} made_up;

static double away(int a, int b)
{
    return (a - b) * (a - b);
}

static double true_us(const made_up *m, int64_t i)
{
    const uint8_t *v = m->values + i * PARAMETERS;
    return 10 + 5 * away(v[0], 1) + 3 * away(v[1], 2) + away(v[2], 3);
}

static void make(made_up *m)
{
    for (int i = 0; i < N; i++) {
        uint8_t *v = m->values + (ptrdiff_t)i * PARAMETERS;
        v[0] = (uint8_t)(i / 16);
        v[1] = (uint8_t)(i / 4 % 4);
        v[2] = (uint8_t)(i % 4);
        m->estimate_us[i] = 10 + 5 * away(v[0], 1) + 3 * away(v[1], 2);
    }
    m->space = (strategy_space){N, PARAMETERS, m->values, m->estimate_us};
}

static strategy *open_or_fail(const char *name, const made_up *m, const int64_t *first, int n,
                              int64_t budget, uint64_t seed)
{
    moesaic_text err;
    strategy *s;
    assert_status(MOESAIC_OK, strategy_open(name, &m->space, first, n, budget, seed, &s, &err),
                  &err);
    return s;
}

static void test_every_strategy_gives_everything_once(void **state)
{
    (void)state;
    static const char *const names[] = {"exhaustive", "random", "guided"};
    made_up m;
    make(&m);
    for (size_t n = 0; n < 3; n++) {
        bool seen[N] = {false};
        strategy *s = open_or_fail(names[n], &m, NULL, 0, 0, 5);
        for (int i = 0; i < N; i++) {
            int64_t index = strategy_next(s);
            assert_in_range(index, 0, N - 1);
            assert_false(seen[index]);
            seen[index] = true;
            strategy_tell(s, index, true, true_us(&m, index));
        }
        assert_int_equal(-1, strategy_next(s));
        strategy_free(s);
    }
}

static void test_stated_ones_come_first(void **state)
{
    (void)state;
    static const int64_t first[] = {40, 3, 40};
    made_up m;
    make(&m);
    strategy *s = open_or_fail("guided", &m, first, 3, 10, 1);
    assert_int_equal(40, strategy_next(s));
    assert_int_equal(3, strategy_next(s));
    assert_int_not_equal(40, strategy_next(s));
    strategy_free(s);
}

static void test_random_follows_its_seed(void **state)
{
    (void)state;
    made_up m;
    int64_t a[8], b[8], c[8];
    make(&m);
    int64_t *const runs[] = {a, b, c};
    for (int r = 0; r < 3; r++) {
        strategy *s = open_or_fail("random", &m, NULL, 0, 0, r == 2 ? 8 : 7);
        for (int i = 0; i < 8; i++)
            runs[r][i] = strategy_next(s);
        strategy_free(s);
    }
    assert_memory_equal(a, b, sizeof a);
    assert_true(memcmp(a, c, sizeof a) != 0);
}

/* The estimate leads to the right row, the neighbourhood to the right column. */
static void test_guided_finds_what_the_estimate_cannot_see(void **state)
{
    (void)state;
    made_up m;
    double best_us = INFINITY;
    make(&m);
    strategy *s = open_or_fail("guided", &m, NULL, 0, 12, 1);
    for (int i = 0; i < 12; i++) {
        int64_t index = strategy_next(s);
        best_us = fmin(best_us, true_us(&m, index));
        strategy_tell(s, index, true, true_us(&m, index));
    }
    assert_true(best_us == 10);
    strategy_free(s);
}

static void test_failure_is_never_the_best(void **state)
{
    (void)state;
    made_up m;
    make(&m);
    strategy *s = open_or_fail("guided", &m, NULL, 0, 4, 1);
    int64_t good = strategy_next(s), bad = strategy_next(s);
    strategy_tell(s, bad, false, 0);
    strategy_tell(s, good, true, 50);
    int64_t next = strategy_next(s);
    int different = 0;
    for (int p = 0; p < PARAMETERS; p++)
        different += m.values[next * PARAMETERS + p] != m.values[good * PARAMETERS + p];
    assert_int_equal(1, different);
    strategy_free(s);
}

static void test_unknown_names_are_refused(void **state)
{
    (void)state;
    moesaic_text err;
    assert_status(MOESAIC_E_INPUT, strategy_check("genetic", &err), &err);
    assert_says(&err, "exhaustive, random or guided");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_strategy_gives_everything_once),
        cmocka_unit_test(test_stated_ones_come_first),
        cmocka_unit_test(test_random_follows_its_seed),
        cmocka_unit_test(test_guided_finds_what_the_estimate_cannot_see),
        cmocka_unit_test(test_failure_is_never_the_best),
        cmocka_unit_test(test_unknown_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
