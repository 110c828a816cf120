/* tests/emu/test_isa_index.c: VGPR numbers relative to M0, between s_set_gpr_idx_on and _off.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

enum { SRC0 = 1, SRC1 = 2, SRC2 = 4, DST = 8 };

/* A machine whose VGPRs are relative to s2 = `index` for the fields of `mask`. */
static machine *indexed(uint32_t index, uint32_t mask)
{
    machine *m = machine_new(5);
    m->decoder.n_vgprs = MACHINE_VGPRS;
    m->wave.s[2] = index | 0xabcd00; /* only the low byte counts */
    m->wave.s[EMU_S_M0] = 0x12345678;
    machine_run_words(m, "\ts_set_gpr_idx_on s2, gpr_idx(SRC0)", mask << 8, 0);
    return m;
}

static void test_m0_holds_index_and_mask(void **state)
{
    (void)state;
    machine *m = indexed(0x31, SRC1 | DST);
    assert_int_equal(m->wave.s[EMU_S_M0], 0x1234a631);
    machine_run_words(m, "\ts_set_gpr_idx_mode gpr_idx(SRC0,SRC2)", SRC0 | SRC2, 0);
    assert_int_equal(m->wave.s[EMU_S_M0], 0x12345631);
    m->wave.s[3] = 0x107;
    machine_run(m, "\ts_set_gpr_idx_idx s3");
    assert_int_equal(m->wave.s[EMU_S_M0], 0x12345607);
    machine_run(m, "\ts_set_gpr_idx_off");
    assert_int_equal(m->wave.s[EMU_S_M0], 0x12345607);
    machine_free(m);
}

/* v_bfi_b32 of registers that are 7 further on where the mask says so. */
static void test_each_field_is_relative(void **state)
{
    (void)state;
    for (uint32_t mask = 0; mask < 16; mask++) {
        machine *m = indexed(7, mask), *before = indexed(7, mask);
        int a = 10 + (mask & SRC0 ? 7 : 0), b = 20 + (mask & SRC1 ? 7 : 0);
        int c = 30 + (mask & SRC2 ? 7 : 0), d = 40 + (mask & DST ? 7 : 0);
        uint64_t exec = 0xf0f0f0f0f0f0f0f0;
        machine_set_exec(m, exec);
        machine_run(m, "\tv_bfi_b32 v40, v10, v20, v30");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t x = machine_lane(before, a, lane);
            uint32_t want =
                (x & machine_lane(before, b, lane)) | (~x & machine_lane(before, c, lane));
            for (int r = 40; r <= 47; r += 7)
                assert_int_equal(machine_lane(m, r, lane),
                                 r == d && exec >> lane & 1 ? want : machine_lane(before, r, lane));
        }
        machine_free(m);
        machine_free(before);
    }
}

static void test_scalars_are_not_relative_and_off_ends_it(void **state)
{
    (void)state;
    machine *m = indexed(3, SRC0 | SRC1 | DST);
    const char *const lines[] = {"\tv_mov_b32_e32 v10, s5", "\tv_add_u32_e32 v20, 4, v10",
                                 "\ts_set_gpr_idx_off", "\tv_mov_b32_e32 v30, 9"};
    uint32_t v33 = machine_lane(m, 33, 1);
    machine_run_all(m, lines, sizeof lines / sizeof *lines, false);
    assert_int_equal(machine_lane(m, 13, 1), m->wave.s[5]);
    assert_int_equal(machine_lane(m, 23, 1), m->wave.s[5] + 4);
    assert_int_equal(machine_lane(m, 30, 1), 9);
    assert_int_equal(machine_lane(m, 33, 1), v33);
    machine_free(m);
}

static void test_what_cannot_be_relative_does_not_decode(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "\ts_branch 16",
        "\ts_endpgm",
        "\tv_fmac_f32_e32 v1, v2, v3",
        "\tv_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0",
        "\tv_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
    };
    machine *m = indexed(3, SRC0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(machine_decodes(m, texts[i]));
    machine_run(m, "\ts_set_gpr_idx_off");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_true(machine_decodes(m, texts[i]));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_m0_holds_index_and_mask),
        cmocka_unit_test(test_each_field_is_relative),
        cmocka_unit_test(test_scalars_are_not_relative_and_off_ends_it),
        cmocka_unit_test(test_what_cannot_be_relative_does_not_decode),
    };
    return machine_main("isa_index", tests, sizeof tests / sizeof *tests);
}
