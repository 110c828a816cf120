/* tests/tuner/test_planted.c: a fast variant with a bug never wins.
 *
 * The family is a copy of moe_gemm whose space has two configurations: tile_k 32, and tile_k 128, which is faster.
 * Bugs are planted in the fast one only.  Without a bug it wins, so only verification keeps it from winning with
 * one.  The race of the last case shows only where waves interleave.                SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "base/file.h"
#include "tuner/tuner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAST "Config::tile_k == 128"

static const struct plant {
    const char *what, *file, *before, *after;
    bool race; /* else wrong */
    const char *says;
} plants[] = {
    {"no barrier in front of a step", "common/pipeline.h",
     "        lds_barrier();\n        if (fetch)",
     "        if (!(" FAST "))\n            lds_barrier();\n        if (fetch)", false, "want"},
    {"no barrier from the fifth step on", "common/pipeline.h",
     "        lds_barrier();\n        if (fetch)",
     "        if (!(" FAST ") || s < 4)\n            lds_barrier();\n        if (fetch)", false,
     "want"},
    {"no barrier between tiles", "common/pipeline.h", "        lds_barrier(); /* of the tile",
     "        if (!(" FAST "))\n            lds_barrier(); /* of the tile", false, "want"},
    {"rows behind an expert's last are written", "moe_gemm/moe_gemm.hip",
     "if (row > tile.last_row)", "if (!(" FAST ") && row > tile.last_row)", false, ""},
    {"columns behind the last are written", "moe_gemm/moe_gemm.hip",
     "const int cols = out_cols(args) - col;",
     "const int cols = " FAST " ? 8 : out_cols(args) - col;", false, ""},
    {"the remainder of K is not masked", "common/pipeline.h", "const int lead = all * tile_k - k;",
     "const int lead = tile_k == 128 ? 0 : all * tile_k - k;", false, "want"},
    {"the swizzle leaves its row", "common/load.h", "% keys;",
     "% (TileK == 128 ? 4 * keys : keys);", false, "want"},
    {"waves share a word without a barrier", "moe_gemm/moe_gemm.hip",
     "    const int lane = lane_id();\n    for (int i = 0; i < G::blocks_m; i++) {\n"
     "        const int row = tile.first_row + G::wave_row()",
     "    const int lane = lane_id();\n    __shared__ volatile int shared[64];\n"
     "    shared[lane] = G::wave_row();\n"
     "    const int wave_row = " FAST " ? shared[lane] : G::wave_row();\n"
     "    for (int i = 0; i < G::blocks_m; i++) {\n"
     "        const int row = tile.first_row + wave_row",
     true, "switching order"},
};
enum { N_PLANTS = sizeof plants / sizeof plants[0] };

static const char workload_text[] =
    "{\"name\":\"planted\",\"moe\":[{\"dtype\":\"bf16\",\"hidden\":512,\"expert_ffn\":128,"
    "\"experts\":4,\"top_k\":1,\"tokens\":96,\"passes\":\"gate_up\"}]}";

/* --- the family --- */

static void copy_templates(void **state)
{
    char *from = file_data_folder("templates");
    char *command = str_format("mkdir -p '%s/data' && cp -r '%s' '%s/data/templates'",
                               (char *)*state, from, (char *)*state);
    assert_non_null(from);
    assert_int_equal(0, system(command));
    free(command);
    free(from);
}

static void set_value(cJSON *parameters, const char *name, int value, int other)
{
    cJSON *values = cJSON_CreateArray();
    cJSON_AddItemToArray(values, cJSON_CreateNumber(value));
    if (other)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(other));
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(parameters, name, values));
}

static void narrow_space(const char *path)
{
    static const struct {
        const char *name;
        int value, other;
    } values[] = {
        {"tile_m", 32, 0},    {"tile_n", 64, 0}, {"tile_k", 32, 128},  {"waves", 2, 0},
        {"waves_m", 2, 0},    {"mfma", 16, 0},   {"stages", 2, 0},     {"prefetch", 1, 0},
        {"lds_layout", 1, 0}, {"vec", 8, 0},     {"xcd_order", 1, 0},  {"group_m", 1, 0},
        {"split_k", 1, 0},    {"combine", 0, 0}, {"wgs_per_cu", 1, 0},
    };
    moesaic_text err;
    cJSON *space;
    assert_status(MOESAIC_OK, json_read(path, &space, &err), &err);
    cJSON *parameters = cJSON_GetObjectItemCaseSensitive(space, "parameters");
    cJSON *usual = cJSON_GetObjectItemCaseSensitive(space, "default");
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        set_value(parameters, values[i].name, values[i].value, values[i].other);
        cJSON_ReplaceItemInObjectCaseSensitive(usual, values[i].name,
                                               cJSON_CreateNumber(values[i].value));
    }
    char *text = cJSON_Print(space);
    write_text(path, text);
    free(text);
    cJSON_Delete(space);
}

static void replace_in(const char *path, const char *before, const char *after)
{
    str text = {0}, changed = {0};
    read_text(path, &text);
    const char *at = strstr(str_text(&text), before);
    if (!at)
        fail_msg("%s does not hold \"%s\" any more", path, before);
    str_add_bytes(&changed, text.s, (size_t)(at - text.s));
    str_add(&changed, after);
    str_add(&changed, at + strlen(before));
    write_text(path, changed.s);
    str_free(&text);
    str_free(&changed);
}

/* --- tuning it --- */

/* What became of the two configurations. */
typedef struct outcome {
    bool fast_won, from_database;
    db_trial_status fast_status;
    double fast_us, slow_us;
    char reason[300];
} outcome;

static bool look(const db_trial_row *row, void *user)
{
    outcome *o = user;
    bool fast = strstr(row->config, "\"tile_k\":128") != NULL;
    *(fast ? &o->fast_us : &o->slow_us) = row->time_us;
    if (!fast)
        return true;
    o->fast_status = row->status;
    snprintf(o->reason, sizeof o->reason, "%s", row->reason);
    return true;
}

static void open_both(void **state, workload **work, db **database)
{
    moesaic_text err;
    write_text(in_folder(state, "w.json"), workload_text);
    assert_status(MOESAIC_OK, workload_read(in_folder(state, "w.json"), work, &err), &err);
    assert_status(MOESAIC_OK, db_open(in_folder(state, "t.db"), DB_WRITE, database, &err), &err);
}

static const tuner_options options = {.strategy = "exhaustive", .seed = 1};

static outcome tune(void **state)
{
    moesaic_text err;
    workload *work;
    db *database;
    tuner_report report;
    outcome o = {0};
    open_both(state, &work, &database);
    assert_status(MOESAIC_OK, tuner_run(work, database, &options, &report, &err), &err);
    assert_int_equal(1, report.n_results);
    const db_trial_row *winner = &report.results[0].winner;
    o.from_database = report.results[0].from_database;
    o.fast_won = strstr(winner->config, "\"tile_k\":128") != NULL;
    assert_status(MOESAIC_OK,
                  db_trials(database, winner->problem_id, winner->device_id, winner->template_id,
                            look, &o, &err),
                  &err);
    tuner_report_free(&report);
    db_close(database);
    workload_free(work);
    return o;
}

static int set_up(void **state)
{
    char *data;
    if (folder_make(state) != 0)
        return -1;
    copy_templates(state);
    narrow_space(in_folder(state, "data/templates/moe_gemm/space.json"));
    data = str_format("%s/data", (char *)*state);
    int rc = setenv("MOESAIC_DATA", data, 1);
    free(data);
    return rc;
}

static int tear_down(void **state)
{
    setenv("MOESAIC_DATA", ".", 1);
    return folder_remove(state);
}

static void test_without_a_bug_the_fast_one_wins(void **state)
{
    outcome o = tune(state);
    assert_int_equal(DB_TRIAL_OK, o.fast_status);
    assert_true(o.fast_us < o.slow_us);
    assert_true(o.fast_won);
    assert_false(o.from_database);
}

/* The usual number of trials is more than there are configurations. */
static void test_a_small_space_is_answered_from_the_database(void **state)
{
    outcome first = tune(state), second = tune(state);
    assert_false(first.from_database);
    assert_true(second.from_database);
    assert_true(second.fast_won);
}

static void check_plant(void **state, const struct plant *p)
{
    char name[64];
    snprintf(name, sizeof name, "data/templates/%s", p->file);
    replace_in(in_folder(state, name), p->before, p->after);
    outcome o = tune(state);
    bool found = p->race ? o.fast_status == DB_TRIAL_RACE
                         : o.fast_status == DB_TRIAL_WRONG || o.fast_status == DB_TRIAL_RACE;
    if (o.fast_won || !found || !strstr(o.reason, p->says))
        fail_msg("%s: %s, %s: %s", p->what, o.fast_won ? "it wins" : "it does not win",
                 db_trial_status_name(o.fast_status), o.reason);
    assert_true(o.slow_us > 0);
}

#define PLANT_TEST(name, i)                                                                        \
    static void test_##name##_never_wins(void **state)                                             \
    {                                                                                              \
        check_plant(state, &plants[i]);                                                            \
    }
PLANT_TEST(missing_barrier, 0)
PLANT_TEST(missing_barrier_of_late_steps, 1)
PLANT_TEST(missing_barrier_between_tiles, 2)
PLANT_TEST(wrong_remainder_of_rows, 3)
PLANT_TEST(wrong_remainder_of_columns, 4)
PLANT_TEST(wrong_remainder_of_k, 5)
PLANT_TEST(wrong_swizzle, 6)
PLANT_TEST(race_of_one_order, 7)
_Static_assert(N_PLANTS == 8, "each plant has its test");

/* Eight configurations that are all wrong say more about the reference than about themselves. */
static void test_when_most_are_wrong_the_reference_is_suspected(void **state)
{
    moesaic_text err;
    workload *work;
    db *database;
    cJSON *space;
    tuner_report report;
    const char *path = in_folder(state, "data/templates/moe_gemm/space.json");
    assert_status(MOESAIC_OK, json_read(path, &space, &err), &err);
    cJSON *parameters = cJSON_GetObjectItemCaseSensitive(space, "parameters");
    set_value(parameters, "stages", 1, 2);
    set_value(parameters, "vec", 4, 8);
    char *text = cJSON_Print(space);
    write_text(path, text);
    free(text);
    cJSON_Delete(space);
    replace_in(in_folder(state, "data/templates/common/load.h"), "% keys;", "% (4 * keys);");
    open_both(state, &work, &database);
    assert_status(MOESAIC_E_STATE, tuner_run(work, database, &options, &report, &err), &err);
    assert_says(&err, "suspect");
    assert_int_equal(0, report.n_results);
    tuner_report_free(&report);
    db_close(database);
    workload_free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_without_a_bug_the_fast_one_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_small_space_is_answered_from_the_database, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_barrier_never_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_barrier_of_late_steps_never_wins, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_missing_barrier_between_tiles_never_wins, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_remainder_of_rows_never_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_remainder_of_columns_never_wins, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_remainder_of_k_never_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_swizzle_never_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_race_of_one_order_never_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_when_most_are_wrong_the_reference_is_suspected, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
