/* tests/templates/test_moe_gemm.c: moe_gemm against an fp64 reference, at every kind of remainder.
 *
 * Configurations cover each value of each parameter; tiles are small, so that small problems have full tiles,
 * remainders and several workgroups.    SPDX-License-Identifier: MIT
 */
#include "tests/templates/moe_case.h"

#include <stdlib.h>

static const char *const gate_up_configs[] = {
    "tile_m=128,tile_n=128",
    "tile_m=64,tile_n=64,waves=1,waves_m=1,mfma=32,stages=1,wgs_per_cu=1,group_m=1",
    "tile_m=64,tile_n=64,tile_k=64,mfma=16,stages=1,prefetch=2,lds_layout=0,xcd_order=0",
    "tile_m=16,tile_n=64,tile_k=128,waves=2,waves_m=1,mfma=16,stages=1,vec=4,group_m=1",
    "tile_m=128,tile_n=256,tile_k=32,waves=8,waves_m=2,mfma=32,prefetch=2,wgs_per_cu=1",
    "tile_m=32,tile_n=128,tile_k=64,waves=2,waves_m=1,mfma=16,stages=1,lds_layout=0",
};

static const char *const down_configs[] = {
    "tile_m=128,tile_n=128",
    "tile_m=64,tile_n=64,tile_k=64,waves=4,waves_m=4,mfma=16,stages=1,group_m=1",
    "tile_m=32,tile_n=32,waves=1,waves_m=1,mfma=32,prefetch=2,lds_layout=0,vec=4,xcd_order=0",
};

static const char *const combine_configs[] = {
    "tile_m=128,tile_n=128,combine=1,split_k=1",
    "tile_m=32,tile_n=64,tile_k=32,waves=2,waves_m=1,mfma=16,prefetch=2,combine=1,split_k=4",
    "tile_m=64,tile_n=128,tile_k=64,waves=4,waves_m=1,mfma=32,combine=1,split_k=8,stages=1,wgs_per_"
    "cu=1",
};

enum { N_GATE_UP = 6, N_DOWN = 3, N_COMBINE = 3 };

/* tokens, hidden, ffn, experts, top_k, pad, routing; multiples of 8 serve the aligned variants. */
static const moe_case aligned_cases[] = {
    {.tokens = 1, .hidden = 8, .ffn = 8, .experts = 1, .top_k = 1},
    {.tokens = 40, .hidden = 328, .ffn = 296, .experts = 2, .top_k = 1, .pad = 8},
    {.tokens = 150, .hidden = 136, .ffn = 72, .experts = 5, .top_k = 1, .pad = 8},
    {.tokens = 70, .hidden = 96, .ffn = 136, .experts = 7, .top_k = 2, .pad = 16},
    {.tokens = 300, .hidden = 64, .ffn = 64, .experts = 4, .top_k = 1, .routing = ROUTING_ONE},
    {.tokens = 9, .hidden = 72, .ffn = 40, .experts = 130, .top_k = 2},
    {.tokens = 20, .hidden = 40, .ffn = 24, .experts = 3, .top_k = 2, .routing = ROUTING_NONE},
    {.tokens = 0, .hidden = 64, .ffn = 64, .experts = 4, .top_k = 1},
};

static const moe_case odd_cases[] = {
    {.tokens = 1, .hidden = 1, .ffn = 1, .experts = 1, .top_k = 1},
    {.tokens = 67, .hidden = 131, .ffn = 67, .experts = 5, .top_k = 2, .pad = 3},
    {.tokens = 130, .hidden = 33, .ffn = 129, .experts = 3, .top_k = 1, .pad = 1},
    {.tokens = 65, .hidden = 65, .ffn = 7, .experts = 66, .top_k = 2, .pad = 8},
};

enum {
    N_ALIGNED = sizeof aligned_cases / sizeof aligned_cases[0],
    N_ODD = sizeof odd_cases / sizeof odd_cases[0]
};

static void check_cases(const char *config, bool down, bool aligned, int top_k_at_most)
{
    const moe_case *cases = aligned ? aligned_cases : odd_cases;
    kernels k;
    char *problem =
        str_format("hidden=328,expert_ffn=328,experts=8,top_k=1,tokens=64,aligned=%d", aligned);
    kernels_open("moe_gemm", down ? "down" : "gate_up", problem, config, &k);
    for (int i = 0; i < (aligned ? N_ALIGNED : N_ODD); i++) {
        moe_case c = cases[i];
        c.down = down;
        c.aligned = aligned;
        if (c.top_k <= top_k_at_most)
            moe_check(&c, &k, (uint64_t)i + 1);
    }
    kernels_close(&k);
    free(problem);
}

static void test_gate_up_is_right_at_every_remainder(void **state)
{
    (void)state;
    for (int i = 0; i < N_GATE_UP; i++)
        check_cases(gate_up_configs[i], false, true, 2);
}

static void test_gate_up_takes_any_alignment(void **state)
{
    (void)state;
    for (int i = 0; i < N_GATE_UP; i += 2)
        check_cases(gate_up_configs[i], false, false, 2);
}

static void test_down_writes_tokens_of_one_slot_directly(void **state)
{
    (void)state;
    for (int i = 0; i < N_DOWN; i++)
        check_cases(down_configs[i], true, true, 1);
    check_cases(down_configs[1], true, false, 1);
}

static void test_down_combines_slots_and_parts_of_k(void **state)
{
    (void)state;
    for (int i = 0; i < N_COMBINE; i++)
        check_cases(combine_configs[i], true, true, 2);
    check_cases(combine_configs[1], true, false, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_up_is_right_at_every_remainder),
        cmocka_unit_test(test_gate_up_takes_any_alignment),
        cmocka_unit_test(test_down_writes_tokens_of_one_slot_directly),
        cmocka_unit_test(test_down_combines_slots_and_parts_of_k),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
