/* tests/emu/test_isa_coverage.c: every instruction that real gfx942 programs use decodes, or has a named reason.
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/machine.h"

#include "emu/isa/rows.h"
#include "emu/isa/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char data[] = "tests/emu/data/gfx942-instructions.txt";

/* What does not decode, and why. */
static const struct {
    const char *mnemonic, *reason;
} missing[] = {
    {"s_set_gpr_idx_on", "VGPR numbers relative to M0 (hand-written assembly only)"},
    {"s_set_gpr_idx_off", "as above"},
    {"s_setvskip", "skipping of vector instructions by a mode (hand-written assembly only)"},
};

static bool is_excused(const char *mnemonic)
{
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (!strcmp(mnemonic, missing[i].mnemonic))
            return true;
    return false;
}

static void check_line(machine *m, const char *line)
{
    char mnemonic[64], encoding[8];
    emu_text_mnemonic(line, mnemonic, encoding);
    m->decoder.n_constants = 0;
    bool decodes = machine_decodes(m, line);
    if (!decodes && !is_excused(mnemonic))
        fail_msg("%s: %s", line, m->decoder.message);
    if (decodes && is_excused(mnemonic))
        fail_msg("%s decodes: take it out of the list of missing ones", mnemonic);
}

static void test_instructions_of_real_programs_decode(void **state)
{
    (void)state;
    FILE *file = fopen(data, "r");
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
        cmocka_unit_test(test_mnemonics_are_unique),
        cmocka_unit_test(test_rows_are_found_by_name),
    };
    return machine_main("isa coverage", tests, sizeof tests / sizeof *tests);
}
