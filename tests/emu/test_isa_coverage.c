/* tests/emu/test_isa_coverage.c: every instruction that real gfx942 programs use decodes, every mnemonic that
 * LLVM prints has a row, or there is a named reason.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char instructions[] = "tests/emu/data/gfx942-instructions.txt";
static const char mnemonics[] = "tests/emu/data/gfx942-mnemonics.txt";

/* What does not decode, and why. */
static const struct {
    const char *mnemonic, *reason;
} missing[] = {
    {"s_setvskip", "skipping of vector instructions by a mode (hand-written assembly only)"},
    {"s_setkill", "ends the wave by a mode of the trap handler"},
    {"s_sendmsghalt", "halts the wave until the driver goes on with it"},
    {"s_rfe_b64", "returns from the trap handler, which there is none of"},
    {"s_rfe_restore_b64", "as above"},
    {"s_cbranch_g_fork",
     "forks of the wave on a stack of SGPRs (no compiler has used them for years)"},
    {"s_cbranch_i_fork", "as above"},
    {"s_cbranch_join", "as above"},
    {"s_endpgm_ordered_ps_done", "pixel shaders"},
    {"v_screen_partition_4se_b32", "pixel shaders"},
    {"s_scratch_*", "scratch memory by scalars: LLVM never selects them"},
    {"s_buffer_atomic_*", "atomics by scalars: LLVM never selects them"},
    {"buffer_load_format_*", "typed buffers: formats of images"},
    {"buffer_store_format_*", "as above"},
    {"tbuffer_*", "as above"},
    {"ds_gws_*", "global wave sync: needs the driver's allocation"},
    {"ds_append", "the ISA guide and LLVM disagree on whether M0 counts"},
    {"ds_consume", "as above"},
};

/* "tbuffer_*" stands for all that begin so. */
static bool matches(const char *pattern, const char *mnemonic)
{
    size_t n = strlen(pattern);
    return pattern[n - 1] == '*' ? !strncmp(pattern, mnemonic, n - 1) : !strcmp(pattern, mnemonic);
}

static bool is_excused(const char *mnemonic)
{
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (matches(missing[i].mnemonic, mnemonic))
            return true;
    return false;
}

static void check_line(machine *m, const char *line)
{
    char mnemonic[64], encoding[8];
    emu_text_mnemonic(line, mnemonic, encoding);
    m->decoder.n_constants = 0;
    m->decoder.gpr_index = false;
    bool decodes = machine_decodes(m, line);
    if (!decodes && !is_excused(mnemonic))
        fail_msg("%s: %s", line, m->decoder.message);
    if (decodes && is_excused(mnemonic))
        fail_msg("%s decodes: take it out of the list of missing ones", mnemonic);
}

static void test_instructions_of_real_programs_decode(void **state)
{
    (void)state;
    FILE *file = fopen(instructions, "r");
    char line[512];
    int n = 0;
    assert_non_null(file);
    machine *m = machine_new(1);
    m->decoder.n_vgprs = 512;
    m->decoder.accum_offset = 256;
    while (fgets(line, sizeof line, file)) {
        char *example = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !example)
            continue;
        check_line(m, example + 1);
        n++;
    }
    fclose(file);
    machine_free(m);
    assert_true(n > 400);
}

static void test_every_mnemonic_has_a_row_or_a_reason(void **state)
{
    (void)state;
    FILE *file = fopen(mnemonics, "r");
    char line[160];
    int n = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !line[0])
            continue;
        bool has_row = emu_rows_find(line);
        if (!has_row && !is_excused(line))
            fail_msg("%s has neither a row nor a reason", line);
        if (has_row && is_excused(line))
            fail_msg("%s has a row: take it out of the list of missing ones", line);
        n++;
    }
    fclose(file);
    assert_true(n > 1100);
}

/* Instructions that do nothing here must have no value either: those with one are executed. */
static void test_waits_and_hints_have_no_value(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "s_wakeup",
        "s_cbranch_cdbgsys 16",
        "s_cbranch_cdbguser 16",
        "s_cbranch_cdbgsys_or_user 16",
        "s_cbranch_cdbgsys_and_user 16",
        "v_clrexcp",
        "v_nop",
        "ds_nop",
        "s_nop 3",
    };
    machine *m = machine_new(2);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char mnemonic[64], encoding[8];
        emu_text_mnemonic(texts[i], mnemonic, encoding);
        assert_true(machine_decodes(m, texts[i]));
        assert_int_equal(emu_rows_find(mnemonic)->effect, EMU_EFFECT_NO_VALUE);
    }
    machine_free(m);
}

static int by_mnemonic(const void *a, const void *b)
{
    return strcmp((*(const emu_row *const *)a)->mnemonic, (*(const emu_row *const *)b)->mnemonic);
}

static void test_mnemonics_are_unique(void **state)
{
    (void)state;
    size_t n = emu_rows_count();
    const emu_row **rows = calloc(n, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = emu_rows_at((uint16_t)i);
    qsort(rows, n, sizeof *rows, by_mnemonic);
    for (size_t i = 1; i < n; i++)
        if (!strcmp(rows[i - 1]->mnemonic, rows[i]->mnemonic))
            fail_msg("%s has two rows", rows[i]->mnemonic);
    free(rows);
}

static void test_rows_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < emu_rows_count(); i++) {
        const emu_row *row = emu_rows_at((uint16_t)i);
        assert_ptr_equal(emu_rows_find(row->mnemonic), row);
        assert_int_equal(emu_rows_index(row), i);
        assert_true(row->exec || row->effect & EMU_EFFECT_NO_VALUE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions_of_real_programs_decode),
        cmocka_unit_test(test_every_mnemonic_has_a_row_or_a_reason),
        cmocka_unit_test(test_waits_and_hints_have_no_value),
        cmocka_unit_test(test_mnemonics_are_unique),
        cmocka_unit_test(test_rows_are_found_by_name),
    };
    return machine_main("isa coverage", tests, sizeof tests / sizeof *tests);
}
