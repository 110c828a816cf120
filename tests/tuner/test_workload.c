/* tests/tuner/test_workload.c: expansion of workload files, and what is refused with which words.
 * SPDX-License-Identifier: MIT
 */
#include "tests/tuner/support.h"

#include "tuner/moe.h"
#include "tuner/workload.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(more)                                                                                \
    "{\"name\":\"t\",\"moe\":[{\"dtype\":\"bf16\",\"hidden\":64,\"expert_ffn\":32,\"experts\":4,"  \
    "\"top_k\":1" more "}]}"

static moesaic_status read_as(void **state, const char *text, workload **out, moesaic_text *err)
{
    write_text(in_folder(state, "w.json"), text);
    return workload_read(in_folder(state, "w.json"), out, err);
}

static void test_tokens_routings_and_passes_are_crossed(void **state)
{
    moesaic_text err;
    workload *w;
    static const char *const labels[] = {
        "gate_up tokens=8 uniform",  "down tokens=8 uniform",    "gate_up tokens=8 zipf:1.2",
        "down tokens=8 zipf:1.2",    "gate_up tokens=9 uniform", "down tokens=9 uniform",
        "gate_up tokens=9 zipf:1.2", "down tokens=9 zipf:1.2",
    };
    assert_status(
        MOESAIC_OK,
        read_as(state, ENTRY(",\"tokens\":[8,9],\"routing\":[\"uniform\",\"zipf:1.2\"]"), &w, &err),
        &err);
    assert_int_equal(8, w->n_problems);
    for (int i = 0; i < 8; i++)
        assert_string_equal(labels[i], w->problems[i].label);
    workload_free(w);
}

/* The routing is in the key, unless it is the default; what describes an entry is not. */
static void test_keys_hold_what_counts(void **state)
{
    moesaic_text err;
    workload *w;
    assert_status(MOESAIC_OK,
                  read_as(state,
                          ENTRY(",\"tokens\":8,\"status\":\"stated\",\"note\":\"n\",\"passes\":"
                                "\"down\",\"routing\":[\"uniform\",\"zipf:1.20\"]"),
                          &w, &err),
                  &err);
    assert_int_equal(2, w->n_problems);
    assert_null(strstr(w->problems[0].key, "routing"));
    assert_null(strstr(w->problems[0].key, "stated"));
    assert_non_null(strstr(w->problems[1].key, "\"routing\":\"zipf:1.2\""));
    workload_free(w);
}

static void test_bad_files_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{\"name\":\"t\",", "w.json:1:"},
        {"[]", "object"},
        {"{\"name\":\"t\"}", "no entry"},
        {"{\"moe\":[]}", "\"name\" is missing"},
        {"{\"name\":\"t\",\"attention\":[{}]}", "\"attention\": there is no kernel family"},
        {"{\"name\":\"t\",\"moe\":7}", "must be a list"},
        {"{\"name\":\"t\",\"moe\":[7]}", "moe[0]"},
        {ENTRY(""), "\"tokens\" is missing"},
        {ENTRY(",\"tokens\":[]"), "\"tokens\" is missing or empty"},
        {ENTRY(",\"tokens\":[\"8\"]"), "\"tokens\" must hold numbers"},
        {ENTRY(",\"tokens\":[-8]"), "-8"},
        {ENTRY(",\"tokens\":[0]"), "tokens = 0"},
        {ENTRY(",\"tokens\":[1e300]"), "tokens"},
        {ENTRY(",\"tokens\":[8.5]"), "8.5"},
        {ENTRY(",\"tokens\":8,\"hidden_size\":3"), "hidden_size"},
        {ENTRY(",\"tokens\":8,\"routing\":\"even\""), "even"},
        {ENTRY(",\"tokens\":8,\"routing\":[3]"), "\"routing\" must hold names"},
        {ENTRY(",\"tokens\":8,\"passes\":[\"sideways\"]"), "sideways"},
        {"{\"name\":\"t\",\"moe\":[{\"dtype\":\"w4a4\",\"hidden\":64,\"expert_ffn\":32,\"experts\":"
         "4,"
         "\"top_k\":1,\"tokens\":8}]}",
         "w4a4"},
        {"{\"name\":\"t\",\"moe\":[{\"dtype\":\"bf16\",\"hidden\":64,\"expert_ffn\":32,\"experts\":"
         "4,"
         "\"top_k\":5,\"tokens\":8}]}",
         "top_k = 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        moesaic_text err = {""};
        workload *w;
        moesaic_status status = read_as(state, cases[i].text, &w, &err);
        if (status != MOESAIC_E_INPUT || w)
            fail_msg("case %zu: want E_INPUT, got %s: %s", i, status_name(status), err.s);
        assert_says(&err, cases[i].says);
    }
}

static void test_a_missing_file_is_an_io_error(void **state)
{
    moesaic_text err;
    workload *w;
    assert_status(MOESAIC_E_IO, workload_read(in_folder(state, "none.json"), &w, &err), &err);
    assert_says(&err, "none.json");
}

static void test_a_glob_selects(void **state)
{
    moesaic_text err;
    workload *w;
    assert_status(MOESAIC_OK, read_as(state, ENTRY(",\"tokens\":[8,9]"), &w, &err), &err);
    assert_status(MOESAIC_OK, workload_select(w, "down tokens=9 *", &err), &err);
    assert_int_equal(1, w->n_problems);
    assert_string_equal("down tokens=9 uniform", w->problems[0].label);
    assert_status(MOESAIC_E_INPUT, workload_select(w, "nothing", &err), &err);
    assert_says(&err, "down tokens=9 uniform");
    workload_free(w);
}

static void test_every_shipped_workload_is_read(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(0, glob("workloads/*.json", 0, NULL, &found));
    assert_true(found.gl_pathc >= 5);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        moesaic_text err;
        workload *w;
        moe_shape shape;
        assert_status(MOESAIC_OK, workload_read(found.gl_pathv[i], &w, &err), &err);
        for (int p = 0; p < w->n_problems; p++)
            assert_status(MOESAIC_OK,
                          moe_shape_of(w->problems[p].pass, w->problems[p].fields, &shape, &err),
                          &err);
        workload_free(w);
    }
    globfree(&found);
}

static void test_zaya1_is_twelve_problems(void **state)
{
    (void)state;
    moesaic_text err;
    workload *w;
    assert_status(MOESAIC_OK, workload_read("workloads/zaya1.json", &w, &err), &err);
    assert_int_equal(12, w->n_problems);
    workload_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tokens_routings_and_passes_are_crossed, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(test_keys_hold_what_counts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_bad_files_are_refused, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_a_missing_file_is_an_io_error, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(test_a_glob_selects, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(test_every_shipped_workload_is_read, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(test_zaya1_is_twelve_problems, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
