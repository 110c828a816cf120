/* tests/emu/test_isa_ds.c: LDS and lane permutations against plain bytes.    SPDX-License-Identifier: MIT
 */
#include "tests/emu/memory.h"

#include <stdio.h>
#include <string.h>

enum { ADDRESS = 10, DATA = 20, OTHER = 30, LOADED = 40, LDS_BYTES = 8192 };

static uint8_t lds[LDS_BYTES + 64], reference[LDS_BYTES + 64];

static machine *machine_with_lds(uint64_t seed)
{
    machine *m = machine_new(seed);
    memory_fill(m, lds, sizeof lds);
    m->wave.lds = lds;
    m->wave.lds_bytes = LDS_BYTES;
    return m;
}

/* Half of the patterns reach beyond the LDS here. */
static void aim(machine *m, int pattern, int bytes, uint32_t at[MACHINE_LANES])
{
    memory_offsets(m, pattern, bytes, at);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, ADDRESS, lane, at[lane]);
}

/* Where lane l's element lies, or NULL when it is not wholly inside. */
static uint8_t *inside(uint8_t *base, uint32_t at, uint32_t offset, int bytes)
{
    uint64_t end = (uint64_t)at + offset + (uint64_t)bytes;
    return end <= LDS_BYTES ? base + at + offset : NULL;
}

static void check_read(machine *m, const access *a, int pattern, uint64_t exec)
{
    char text[128], registers[24];
    uint32_t at[MACHINE_LANES];
    const uint8_t *from[MACHINE_LANES];
    aim(m, pattern, a->bytes, at);
    machine_set_exec(m, exec);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        from[lane] = inside(lds, at[lane], 24, a->bytes);
    snprintf(text, sizeof text, "\tds_read_%s %s, v10 offset:24", a->ds,
             memory_registers(LOADED, memory_dwords(a->bytes), registers));
    machine *before = memory_clone(m);
    machine_run(m, text);
    memory_expect_loaded(before, m, a, LOADED, from, exec, text);
    machine_free(before);
}

static void check_write(machine *m, const access *a, int pattern, uint64_t exec)
{
    char text[128], registers[24];
    uint32_t at[MACHINE_LANES];
    uint8_t *to[MACHINE_LANES];
    aim(m, pattern, a->bytes, at);
    machine_set_exec(m, exec);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        to[lane] = inside(reference, at[lane], 24, a->bytes);
    snprintf(text, sizeof text, "\tds_write_%s v10, %s offset:24", a->ds,
             memory_registers(DATA, memory_dwords(a->bytes), registers));
    memcpy(reference, lds, sizeof lds);
    memory_store(m, a, DATA, to, exec);
    machine_run(m, text);
    if (memcmp(lds, reference, LDS_BYTES) != 0)
        fail_msg("%s, exec %llx: LDS differs", text, (unsigned long long)exec);
}

static void check_all(void (*check)(machine *, const access *, int, uint64_t),
                      const access *accesses, int n)
{
    machine *m = machine_with_lds(31);
    for (int i = 0; i < n; i++)
        for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++)
            for (int mask = 0; mask < machine_n_masks; mask++)
                check(m, &accesses[i], pattern, machine_masks[mask]);
    machine_free(m);
}

static void test_reads(void **state)
{
    (void)state;
    check_all(check_read, memory_loads, memory_n_loads);
}

static void test_writes(void **state)
{
    (void)state;
    check_all(check_write, memory_stores, memory_n_stores);
}

/* --- two elements --- */

static const access b32 = {"", "b32", 4, false, WHOLE}, b64 = {"", "b64", 8, false, WHOLE};

static void check_two(machine *m, const access *a, const char *form, uint32_t unit, int pattern,
                      uint64_t exec)
{
    char text[128], first[24], second[24], both[24];
    uint32_t at[MACHINE_LANES];
    const uint8_t *from[2][MACHINE_LANES];
    uint8_t *to[2][MACHINE_LANES];
    int n = memory_dwords(a->bytes);
    aim(m, pattern, a->bytes, at);
    machine_set_exec(m, exec);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t offset = (i ? 5 : 2) * unit;
            from[i][lane] = inside(lds, at[lane], offset, a->bytes);
            to[i][lane] = inside(reference, at[lane], offset, a->bytes);
        }
    snprintf(text, sizeof text, "\tds_write2%s_%s v10, %s, %s offset0:2 offset1:5", form, a->ds,
             memory_registers(DATA, n, first), memory_registers(OTHER, n, second));
    memcpy(reference, lds, sizeof lds);
    memory_store(m, a, DATA, to[0], exec);
    memory_store(m, a, OTHER, to[1], exec);
    machine_run(m, text);
    if (memcmp(lds, reference, LDS_BYTES) != 0)
        fail_msg("%s, exec %llx: LDS differs", text, (unsigned long long)exec);
    snprintf(text, sizeof text, "\tds_read2%s_%s %s, v10 offset0:2 offset1:5", form, a->ds,
             memory_registers(ADDRESS, 2 * n, both)); /* over its address */
    machine *before = memory_clone(m);
    machine_run(m, text);
    memory_expect_loaded(before, m, a, ADDRESS, from[0], exec, text);
    memory_expect_loaded(before, m, a, ADDRESS + n, from[1], exec, text);
    machine_free(before);
}

static void test_two_elements(void **state)
{
    (void)state;
    machine *m = machine_with_lds(32);
    for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++)
        for (int mask = 0; mask < machine_n_masks; mask++) {
            check_two(m, &b32, "", 4, pattern, machine_masks[mask]);
            check_two(m, &b64, "", 8, pattern, machine_masks[mask]);
            check_two(m, &b32, "st64", 256, pattern, machine_masks[mask]);
            check_two(m, &b64, "st64", 512, pattern, machine_masks[mask]);
        }
    machine_free(m);
}

/* --- atomics --- */

/* "min|i32" as ds_min_i32 or ds_min_rtn_i32; compare-and-swap takes the comparison first. */
static void check_atomic(machine *m, const atomic *a, bool returns, int pattern, uint64_t exec)
{
    char text[160], data[24], other[24], loaded[24];
    uint32_t at[MACHINE_LANES];
    uint64_t old[MACHINE_LANES];
    uint8_t *to[MACHINE_LANES];
    int dwords = a->bits / 32, name = (int)strcspn(a->ds, "|");
    memory_offsets(m, pattern, a->bits / 8, at);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        machine_set_lane(m, ADDRESS, lane, at[lane] &= ~7u);
        to[lane] = inside(reference, at[lane], 8, a->bits / 8);
    }
    machine_set_exec(m, exec);
    memory_registers(DATA, dwords, data);
    memory_registers(OTHER, dwords, other);
    snprintf(text, sizeof text, "\tds_%.*s%s_%s %s%sv10, %s%s%s offset:8", name, a->ds,
             returns ? "_rtn" : "", a->ds + name + 1,
             returns ? memory_registers(LOADED, dwords, loaded) : "", returns ? ", " : "", data,
             a->compares ? ", " : "", a->compares ? other : "");
    memcpy(reference, lds, sizeof lds);
    if (a->compares)
        memory_apply(m, a, OTHER, DATA, to, exec, old);
    else
        memory_apply(m, a, DATA, OTHER, to, exec, old);
    machine_run(m, text);
    if (memcmp(lds, reference, LDS_BYTES) != 0)
        fail_msg("%s: LDS differs", text);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        if (returns && exec >> lane & 1 && memory_value(m, a, LOADED, lane) != old[lane])
            fail_msg("%s, lane %d: want %llx got %llx", text, lane, (unsigned long long)old[lane],
                     (unsigned long long)memory_value(m, a, LOADED, lane));
}

/* Small numbers, so that comparisons succeed and sums of floats mean something. */
static void tame(machine *m, const atomic *a)
{
    for (size_t i = 0; i < LDS_BYTES; i += (size_t)a->bits / 8) {
        double number = machine_random(m) % 8;
        uint64_t bits = a->bits == 32 ? machine_bits((float)number) : machine_bits64(number);
        memcpy(lds + i, &bits, (size_t)a->bits / 8);
    }
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (int r = DATA; r <= OTHER; r += OTHER - DATA)
            if (a->bits == 32)
                machine_set_lane(m, r, lane, machine_bits((float)(machine_random(m) % 8)));
            else
                machine_set_lane64(m, r, lane, machine_bits64(machine_random(m) % 8));
}

static void test_atomics(void **state)
{
    (void)state;
    machine *m = machine_with_lds(33);
    for (int i = 0; i < memory_n_atomics; i++)
        for (int pattern = 0; pattern < MEMORY_PATTERNS; pattern++)
            for (int mask = 0; mask < machine_n_masks; mask++) {
                tame(m, &memory_atomics[i]);
                check_atomic(m, &memory_atomics[i], (pattern + mask) % 2, pattern,
                             machine_masks[mask]);
            }
    machine_free(m);
}

/* --- exchanges --- */

static uint64_t word_at(const uint8_t *p, int bytes)
{
    uint64_t word = 0;
    if (p)
        memcpy(&word, p, (size_t)bytes);
    return word;
}

static uint64_t lane_word(const machine *m, int vgpr, int lane, int bytes)
{
    return bytes == 4 ? machine_lane(m, vgpr, lane) : machine_lane64(m, vgpr, lane);
}

/* Both places of a lane are read, then both are written, lane by lane. */
static void check_exchange2(machine *m, const char *form, int bytes, uint32_t unit, uint64_t exec)
{
    char text[160], first[24], second[24], loaded[24];
    uint64_t old[MACHINE_LANES][2];
    int n = bytes / 4;
    machine *before = memory_clone(m);
    memcpy(reference, lds, sizeof lds);
    machine_set_exec(m, exec);
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint32_t at = machine_lane(m, ADDRESS, lane);
        uint8_t *p[] = {inside(reference, at, 2 * unit, bytes),
                        inside(reference, at, 5 * unit, bytes)};
        for (int i = 0; i < 2; i++)
            old[lane][i] = word_at(p[i], bytes);
        for (int i = 0; i < 2 && exec >> lane & 1; i++) {
            uint64_t data = lane_word(m, i ? OTHER : DATA, lane, bytes);
            if (p[i])
                memcpy(p[i], &data, (size_t)bytes);
        }
    }
    snprintf(text, sizeof text, "\tds_wrxchg2%s_rtn_b%d %s, v10, %s, %s offset0:2 offset1:5", form,
             8 * bytes, memory_registers(LOADED, 2 * n, loaded), memory_registers(DATA, n, first),
             memory_registers(OTHER, n, second));
    machine_run(m, text);
    if (memcmp(lds, reference, LDS_BYTES) != 0)
        fail_msg("%s: LDS differs", text);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (int i = 0; i < 2; i++)
            assert_true(
                lane_word(m, LOADED + n * i, lane, bytes) ==
                (exec >> lane & 1 ? old[lane][i] : lane_word(before, LOADED + n * i, lane, bytes)));
    machine_free(before);
}

static void test_two_exchanges(void **state)
{
    (void)state;
    machine *m = machine_with_lds(37);
    for (int mask = 0; mask < machine_n_masks; mask++)
        for (int bytes = 4; bytes <= 8; bytes += 4)
            for (int far = 0; far < 2; far++) {
                /* Places shared by lanes at the near form; some lanes of either reach beyond the LDS. */
                for (int lane = 0; lane < MACHINE_LANES; lane++)
                    machine_set_lane(m, ADDRESS, lane,
                                     lane % 9 ? machine_random(m) % 64 * 8
                                              : LDS_BYTES - machine_random(m) % 64 * 8);
                check_exchange2(m, far ? "st64" : "", bytes, (uint32_t)bytes * (far ? 64 : 1),
                                machine_masks[mask]);
            }
    machine_free(m);
}

/* Words whose data have the top bit set are exchanged for the other 31 bits. */
static void test_conditional_exchange(void **state)
{
    (void)state;
    machine *m = machine_with_lds(38);
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        machine_set_lane(m, ADDRESS, lane,
                         lane == 7 ? LDS_BYTES : 16 * (uint32_t)lane + machine_random(m) % 8);
    memcpy(reference, lds, sizeof lds);
    machine_set_exec(m, ~0ull << 2);
    machine *before = memory_clone(m);
    machine_run(m, "\tds_condxchg32_rtn_b64 v[40:41], v10, v[20:21] offset:24");
    for (int lane = 0; lane < MACHINE_LANES; lane++)
        for (int i = 0; i < 2; i++) {
            uint8_t *p = lane == 7 ? NULL : reference + 16 * lane + 24 + 4 * i;
            uint32_t data = machine_lane(m, DATA + i, lane);
            assert_int_equal(machine_lane(m, LOADED + i, lane),
                             lane < 2 ? machine_lane(before, LOADED + i, lane) : word_at(p, 4));
            data &= 0x7fffffff;
            if (lane >= 2 && p && machine_lane(m, DATA + i, lane) >> 31)
                memcpy(p, &data, 4);
        }
    assert_memory_equal(lds, reference, LDS_BYTES);
    machine_free(before);
    machine_free(m);
}

/* Lane l's word is at M0[15:0] + offset + 4 * l; the last lanes here are beyond the LDS. */
static void test_addresses_by_lane_number(void **state)
{
    (void)state;
    machine *m = machine_with_lds(39);
    uint32_t first = LDS_BYTES - 4 * 40;
    memcpy(reference, lds, sizeof lds);
    m->wave.s[EMU_S_M0] = 0xabcd0000 | (first - 24);
    machine_set_exec(m, ~0ull << 2);
    machine *before = memory_clone(m);
    machine_run(m, "\tds_read_addtid_b32 v40 offset:24");
    machine_run(m, "\tds_write_addtid_b32 v20 offset:24");
    for (int lane = 0; lane < MACHINE_LANES; lane++) {
        uint8_t *p = inside(reference, first, 4 * (uint32_t)lane, 4);
        uint32_t data = machine_lane(before, DATA, lane);
        assert_int_equal(machine_lane(m, LOADED, lane),
                         lane < 2 ? machine_lane(before, LOADED, lane) : word_at(p, 4));
        if (lane >= 2 && p)
            memcpy(p, &data, 4);
    }
    assert_memory_equal(lds, reference, LDS_BYTES);
    machine_free(before);
    machine_free(m);
}

/* --- permutations --- */

static void test_bpermute_fetches_and_permute_sends(void **state)
{
    (void)state;
    machine *m = machine_new(34);
    for (int mask = 0; mask < machine_n_masks; mask++) {
        uint64_t exec = machine_masks[mask];
        machine_set_exec(m, exec);
        machine *before = memory_clone(m);
        machine_run(m, "\tds_bpermute_b32 v40, v10, v20 offset:12");
        machine_run(m, "\tds_permute_b32 v41, v10, v20");
        for (int lane = 0; lane < MACHINE_LANES; lane++) {
            uint32_t fetched = machine_lane(before, LOADED, lane),
                     sent = machine_lane(before, LOADED + 1, lane);
            if (exec >> lane & 1) {
                int from = (int)((machine_lane(before, ADDRESS, lane) + 12) / 4 % 64);
                fetched = exec >> from & 1 ? machine_lane(before, DATA, from) : 0;
                sent = 0;
                for (int other = 0; other < MACHINE_LANES; other++)
                    if (exec >> other & 1 &&
                        (int)(machine_lane(before, ADDRESS, other) / 4 % 64) == lane)
                        sent = machine_lane(before, DATA, other);
            }
            assert_int_equal(machine_lane(m, LOADED, lane), fetched);
            assert_int_equal(machine_lane(m, LOADED + 1, lane), sent);
        }
        machine_free(before);
    }
    machine_free(m);
}

/* Lanes that each pattern of the offset field makes 0, 1, 5 and 37 read. */
static void test_swizzle_patterns(void **state)
{
    (void)state;
    static const struct {
        unsigned pattern;
        int lane[4];
    } cases[] = {
        {0x041f, {1, 0, 4, 36}},    /* masks: exchange neighbours */
        {0x401f, {16, 17, 21, 53}}, /* exchange halves of 32 */
        {0x0018, {0, 0, 0, 32}},    /* keep bits 4:3 */
        {0x80e4, {0, 1, 5, 37}},    /* quad permutation: the identity */
        {0x801b, {3, 2, 6, 38}},    /* quads reversed */
        {0xc020, {1, 2, 6, 38}},    /* rotate by 1 */
        {0xc420, {31, 0, 4, 36}},   /* rotate the other way */
        {0xe000, {0, 16, 20, 52}},  /* butterfly order: five bits reversed */
    };
    static const int lanes[] = {0, 1, 5, 37};
    machine *m = machine_new(35);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine_run_words(m, "\tds_swizzle_b32 v40, v20 offset:0", cases[i].pattern, 0);
        for (int l = 0; l < 4; l++)
            if (machine_lane(m, LOADED, lanes[l]) != machine_lane(m, DATA, cases[i].lane[l]))
                fail_msg("pattern %x, lane %d: want lane %d", cases[i].pattern, lanes[l],
                         cases[i].lane[l]);
    }
    machine_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_two_elements),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_two_exchanges),
        cmocka_unit_test(test_conditional_exchange),
        cmocka_unit_test(test_addresses_by_lane_number),
        cmocka_unit_test(test_bpermute_fetches_and_permute_sends),
        cmocka_unit_test(test_swizzle_patterns),
    };
    return machine_main("isa_ds", tests, sizeof tests / sizeof *tests);
}
