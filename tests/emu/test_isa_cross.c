/* tests/emu/test_isa_cross.c: moves between lanes, DPP, SDWA, op_sel, masks.
 *
 * DPP and SDWA are checked against a lane-by-lane restatement of the ISA guide's tables.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include <stdio.h>
#include <string.h>

static void test_single_lanes(void **state)
{
    (void)state;
    machine *m = machine_new(1);
    m->wave.s[3] = 66;
    m->wave.s[5] = 0xabcd;
    machine_set_exec(m, 0xff00);
    machine_run(m, "v_readfirstlane_b32 s0, v1");
    assert_int_equal(m->wave.s[0], machine_lane(m, 1, 8));
    machine_run(m, "v_readlane_b32 s1, v1, s3");
    assert_int_equal(m->wave.s[1], machine_lane(m, 1, 2));
    machine_run(m, "v_writelane_b32 v2, s5, 63");
    assert_int_equal(machine_lane(m, 2, 63), 0xabcd);
    machine_set_exec(m, 0);
    machine_run(m, "v_readfirstlane_b32 s0, v1");
    assert_int_equal(m->wave.s[0], machine_lane(m, 1, 0));
    machine_free(m);
}

static void test_choice_by_mask(void **state)
{
    (void)state;
    machine *m = machine_new(2);
    uint64_t vcc = 0x123456789abcdef0ull;
    emu_set_s64(&m->wave, EMU_S_VCC, vcc);
    machine_run(m, "v_cndmask_b32_e32 v4, v0, v1, vcc");
    emu_set_s64(&m->wave, 8, ~vcc);
    machine_run(m, "v_cndmask_b32_e64 v5, 0, -1, s[8:9]");
    machine_run(m, "v_cndmask_b32_e64 v6, -v0, |v1|, vcc");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        bool bit = vcc >> lane & 1;
        assert_int_equal(machine_lane(m, 4, lane), machine_lane(m, bit, lane));
        assert_int_equal(machine_lane(m, 5, lane), bit ? 0 : ~0u);
        assert_int_equal(machine_lane(m, 6, lane), bit ? machine_lane(m, 1, lane) & 0x7fffffff
                                                       : machine_lane(m, 0, lane) ^ 0x80000000);
    }
    machine_free(m);
}

static void test_lane_number_by_counting(void **state)
{
    (void)state;
    machine *m = machine_new(3);
    machine_set_exec(m, ~5ull);
    machine_run(m, "v_mbcnt_lo_u32_b32 v0, -1, 0");
    machine_run(m, "v_mbcnt_hi_u32_b32 v1, -1, v0");
    machine_run(m, "v_mbcnt_lo_u32_b32 v2, exec_lo, 0");
    machine_run(m, "v_mbcnt_hi_u32_b32 v2, exec_hi, v2");
    for (int lane = 3; lane < MACHINE_LANES; lane++) {
        assert_int_equal(machine_lane(m, 1, lane), lane);
        assert_int_equal(machine_lane(m, 2, lane), lane - 2);
    }
    machine_free(m);
}

static void test_swap_and_pairs(void **state)
{
    (void)state;
    machine *m = machine_new(4);
    uint32_t x = machine_lane(m, 0, 30), y = machine_lane(m, 1, 30), z = machine_lane(m, 0, 31);
    machine_set_exec(m, 1ull << 30);
    machine_run(m, "v_swap_b32 v0, v1");
    assert_int_equal(machine_lane(m, 0, 30), y);
    assert_int_equal(machine_lane(m, 1, 30), x);
    assert_int_equal(machine_lane(m, 0, 31), z);
    machine_run(m, "v_pk_mov_b32 v[4:5], v[0:1], v[0:1] op_sel:[1,0]");
    assert_int_equal(machine_lane(m, 4, 30), x);
    assert_int_equal(machine_lane(m, 5, 30), y);
    machine_run(m, "v_pk_mov_b32 v[4:5], s[2:3], v[0:1] op_sel:[1,1]");
    assert_int_equal(machine_lane(m, 4, 30), m->wave.s[3]);
    assert_int_equal(machine_lane(m, 5, 30), x);
    machine_run(m, "v_accvgpr_write_b32 a3, v1");
    machine_run(m, "v_accvgpr_read_b32 v7, a3");
    assert_int_equal(machine_lane(m, MACHINE_VGPRS / 2 + 3, 30), x);
    assert_int_equal(machine_lane(m, 7, 30), x);
    machine_free(m);
}

/* Which lane a control reads; -1: none. */
static int dpp_source(const char *control, int n, int lane)
{
    int row = lane & ~15, k = lane & 15;
    if (!strcmp(control, "row_shr"))
        return k - n >= 0 ? row + k - n : -1;
    if (!strcmp(control, "row_shl"))
        return k + n < 16 ? row + k + n : -1;
    if (!strcmp(control, "row_ror"))
        return row + (k + 16 - n) % 16;
    if (!strcmp(control, "row_newbcast"))
        return row + n;
    if (!strcmp(control, "row_bcast"))
        return n == 15 ? (row ? row - 1 : -1) : lane > 31 ? 31 : -1;
    if (!strcmp(control, "wave_shr"))
        return lane - 1;
    if (!strcmp(control, "wave_shl"))
        return lane < 63 ? lane + 1 : -1;
    if (!strcmp(control, "wave_ror"))
        return (lane + 63) % 64;
    if (!strcmp(control, "wave_rol"))
        return (lane + 1) % 64;
    if (!strcmp(control, "row_mirror"))
        return row + 15 - k;
    if (!strcmp(control, "row_half_mirror"))
        return row + (k & 8) + 7 - (k & 7);
    return (lane & ~3) + (int[]){2, 0, 3, 1}[lane & 3]; /* quad_perm:[2,0,3,1] */
}

static void check_dpp(const char *control, int n, int row_mask, int bank_mask, bool bound,
                      uint64_t exec)
{
    machine *m = machine_new((uint64_t)n + exec);
    char text[160], number[32] = "";
    uint32_t want[MACHINE_LANES];
    if (!strcmp(control, "quad_perm"))
        strcpy(number, ":[2,0,3,1]");
    else if (n >= 0)
        snprintf(number, sizeof number, ":%d", n);
    snprintf(text, sizeof text, "v_add_u32_dpp v2, v0, v1 %s%s row_mask:0x%x bank_mask:0x%x%s",
             control, number, (unsigned)row_mask, (unsigned)bank_mask,
             bound ? " bound_ctrl:1" : "");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        int from = dpp_source(control, n, lane);
        bool valid = from >= 0 && exec >> from & 1;
        bool written =
            exec >> lane & 1 && row_mask >> lane / 16 & 1 && bank_mask >> lane % 16 / 4 & 1;
        want[lane] = machine_lane(m, 2, lane);
        if (written && (valid || bound))
            want[lane] = (valid ? machine_lane(m, 0, from) : 0) + machine_lane(m, 1, lane);
    }
    machine_set_exec(m, exec);
    machine_run(m, text);
    assert_true(emu_exec_mask(&m->wave) == exec);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (machine_lane(m, 2, lane) != want[lane])
            fail_msg("%s: lane %d want 0x%x got 0x%x", text, lane, want[lane],
                     machine_lane(m, 2, lane));
    machine_free(m);
}

static void test_dpp_controls(void **state)
{
    (void)state;
    static const struct {
        const char *control;
        int n;
    } controls[] = {{"row_shr", 1},    {"row_shr", 8},         {"row_shl", 3},
                    {"row_ror", 5},    {"row_newbcast", 7},    {"row_bcast", 15},
                    {"row_bcast", 31}, {"wave_shr", 1},        {"wave_shl", 1},
                    {"wave_ror", 1},   {"wave_rol", 1},        {"row_mirror", -1},
                    {"quad_perm", -1}, {"row_half_mirror", -1}};
    for (size_t c = 0; c < sizeof controls / sizeof *controls; c++)
        for (int i = 0; i < machine_n_masks; i++) {
            check_dpp(controls[c].control, controls[c].n, 0xf, 0xf, true, machine_masks[i]);
            check_dpp(controls[c].control, controls[c].n, 0xa, 0xf, false, machine_masks[i]);
            check_dpp(controls[c].control, controls[c].n, 0xf, 0x6, i & 1, machine_masks[i]);
        }
}

static void test_dpp_of_64_bits(void **state)
{
    (void)state;
    machine *m = machine_new(6);
    uint64_t want = machine_lane64(m, 0, 33);
    machine_run(m, "v_mov_b64_dpp v[2:3], v[0:1] row_newbcast:1 row_mask:0xf bank_mask:0xf");
    assert_true(machine_lane64(m, 2, 40) == want);
    machine_free(m);
}

static void test_dpp_applies_signs_behind_the_move(void **state)
{
    (void)state;
    machine *m = machine_new(6);
    machine_set_lane(m, 0, 20, machine_bits(-3)), machine_set_lane(m, 1, 21, machine_bits(2));
    machine_run(m, "v_mul_f32_dpp v2, -|v0|, v1 row_shr:1 row_mask:0xf bank_mask:0xf");
    assert_int_equal(machine_lane(m, 2, 21), machine_bits(-6));
    machine_free(m);
}

/* The part of x that an SDWA selector names. */
static uint32_t sdwa_part(uint32_t x, const char *selector, bool sext)
{
    int n = selector[strlen(selector) - 1] - '0';
    if (!strncmp(selector, "BYTE", 4))
        return sext ? (uint32_t)(int8_t)(x >> 8 * n) : x >> 8 * n & 255;
    if (!strncmp(selector, "WORD", 4))
        return sext ? (uint32_t)(int16_t)(x >> 16 * n) : x >> 16 * n & 65535;
    return x;
}

static uint32_t sdwa_result(uint32_t r, uint32_t old, const char *selector, const char *unused)
{
    int n = selector[strlen(selector) - 1] - '0';
    bool is_byte = !strncmp(selector, "BYTE", 4);
    if (!strcmp(selector, "DWORD"))
        return r;
    int width = is_byte ? 8 : 16, shift = width * n;
    uint32_t mask = ((1u << width) - 1) << shift, placed = r << shift & mask;
    if (!strcmp(unused, "UNUSED_PRESERVE"))
        return placed | (old & ~mask);
    if (!strcmp(unused, "UNUSED_SEXT"))
        return (is_byte ? (uint32_t)(int8_t)r : (uint32_t)(int16_t)r) << shift;
    return placed;
}

static void test_sdwa_selectors(void **state)
{
    (void)state;
    static const char *const parts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    static const char *const unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
    for (unsigned i = 0; i < 7 * 7 * 7 * 3; i++) {
        machine *m = machine_new(i);
        const char *dst = parts[i % 7], *src0 = parts[i / 7 % 7], *src1 = parts[i / 49 % 7],
                   *rest = unused[i / 343];
        bool sext = i & 1;
        uint32_t a = machine_lane(m, 0, 17), b = machine_lane(m, 1, 17),
                 old = machine_lane(m, 2, 17);
        uint32_t want =
            sdwa_result(sdwa_part(a, src0, sext) + sdwa_part(b, src1, false), old, dst, rest);
        char text[200];
        snprintf(text, sizeof text,
                 "v_add_u32_sdwa v2, %s, v1 dst_sel:%s dst_unused:%s src0_sel:%s src1_sel:%s",
                 sext ? "sext(v0)" : "v0", dst, rest, src0, src1);
        machine_run(m, text);
        if (machine_lane(m, 2, 17) != want)
            fail_msg("%s: want 0x%x got 0x%x", text, want, machine_lane(m, 2, 17));
        machine_free(m);
    }
}

static void test_sdwa_of_compares_and_scalars(void **state)
{
    (void)state;
    machine *m = machine_new(8);
    m->wave.s[4] = 0x00340012;
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, 0, lane, (uint32_t)lane << 8);
    machine_run(m, "v_cmp_eq_u32_sdwa s[8:9], v0, s4 src0_sel:BYTE_1 src1_sel:WORD_1");
    assert_true(emu_s64(&m->wave, 8) == 1ull << 0x34);
    machine_free(m);
}

static void test_op_sel_picks_halves(void **state)
{
    (void)state;
    machine *m = machine_new(9);
    machine_set_lane(m, 0, 3, 0x00050003), machine_set_lane(m, 1, 3, 0x00070002);
    machine_set_lane(m, 2, 3, 0xdead0000);
    machine_run(m, "v_mad_u16 v2, v0, v1, 1 op_sel:[1,1,0,0]");
    assert_int_equal(machine_lane(m, 2, 3), 0xdead0000 | 36);
    machine_run(m, "v_mad_u16 v2, v0, v1, 1 op_sel:[0,1,0,1]");
    assert_int_equal(machine_lane(m, 2, 3), 22 << 16 | 36);
    machine_run(m, "v_pk_add_u16 v4, v0, v1 op_sel:[1,0] op_sel_hi:[0,1]");
    assert_int_equal(machine_lane(m, 4, 3), 10 << 16 | 7);
    machine_run(m, "v_pk_mad_u16 v4, v0, v1, 1 op_sel_hi:[1,1,0]");
    assert_int_equal(machine_lane(m, 4, 3), 36 << 16 | 7);
    machine_free(m);
}

static void test_clamp_after_the_instruction(void **state)
{
    (void)state;
    machine *m = machine_new(9);
    machine_set_lane(m, 0, 3, machine_bits(1.5f)), machine_set_lane(m, 0, 4, machine_bits(-1.5f));
    machine_run(m, "v_floor_f32_e64 v1, v0 clamp");
    assert_int_equal(machine_lane(m, 1, 3), machine_bits(1));
    assert_int_equal(machine_lane(m, 1, 4), 0);
    machine_run(m, "v_mul_f32_e64 v1, v0, v0 mul:2"); /* ignored: MODE keeps denormals */
    assert_int_equal(machine_lane(m, 1, 3), machine_bits(2.25f));
    m->wave.mode = 0;
    machine_run(m, "v_mul_f32_e64 v1, v0, v0 mul:2");
    assert_int_equal(machine_lane(m, 1, 3), machine_bits(4.5f));
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_lanes),
        cmocka_unit_test(test_choice_by_mask),
        cmocka_unit_test(test_lane_number_by_counting),
        cmocka_unit_test(test_swap_and_pairs),
        cmocka_unit_test(test_dpp_controls),
        cmocka_unit_test(test_dpp_of_64_bits),
        cmocka_unit_test(test_dpp_applies_signs_behind_the_move),
        cmocka_unit_test(test_sdwa_selectors),
        cmocka_unit_test(test_sdwa_of_compares_and_scalars),
        cmocka_unit_test(test_op_sel_picks_halves),
        cmocka_unit_test(test_clamp_after_the_instruction),
    };
    return machine_main("isa cross", tests, sizeof tests / sizeof *tests);
}
