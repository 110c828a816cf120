/* tests/gen/test_emit.c: emitted files: byte for byte a golden one, each header once, the configuration filled in.
 * MOESAIC_GOLDEN=rewrite (`make golden`) writes the golden file anew.    SPDX-License-Identifier: MIT
 */
#include "tests/gen/support.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char golden[] = "tests/gen/golden/scale.hip";

static void emit_once(const char *name, const char *pass, const char *problem, const char *config,
                      str *out)
{
    cJSON *fields = object_of(problem), *given = object_of(config), *complete, *full;
    gen_family *family;
    moesaic_text err;
    assert_status(MOESAIC_OK, gen_family_open(name, &family, &err), &err);
    assert_status(MOESAIC_OK, gen_problem_complete(family, pass, fields, &complete, &err), &err);
    assert_status(MOESAIC_OK, gen_config_complete(family, NULL, given, &full, &err), &err);
    assert_status(MOESAIC_OK, gen_emit(family, pass, complete, full, out, &err), &err);
    cJSON_Delete(full);
    cJSON_Delete(complete);
    cJSON_Delete(given);
    cJSON_Delete(fields);
    gen_family_free(family);
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

static void test_a_variant_is_the_golden_file(void **state)
{
    str got = {0}, want = {0};
    moesaic_text err;
    (void)state;
    emit_once(SCALE, "run", "rows=10,dtype=f64,note=ends*/here", "waves=1,vec=8,unroll=2", &got);
    const char *mode = getenv("MOESAIC_GOLDEN");
    if (mode && strcmp(mode, "rewrite") == 0)
        assert_status(MOESAIC_OK, file_replace(golden, got.s, got.n, &err), &err);
    assert_status(MOESAIC_OK, file_read(golden, 1 << 20, &want, &err), &err);
    assert_string_equal(str_text(&want), str_text(&got));
    str_free(&got);
    str_free(&want);
}

static void test_the_same_input_gives_the_same_bytes(void **state)
{
    static const char problem[] = "hidden=2048,expert_ffn=2048,experts=16,top_k=1,tokens=4096";
    str first = {0}, again = {0};
    (void)state;
    emit_once("moe_gemm", "down", problem, "combine=1,split_k=2", &first);
    emit_once("moe_gemm", "down", problem, "combine=1,split_k=2", &again);
    assert_string_equal(str_text(&first), str_text(&again));
    str_free(&first);
    str_free(&again);
}

static void test_each_header_is_in_it_once(void **state)
{
    static const char *const headers[] = {"epilogue", "load",     "mma",
                                          "pipeline", "schedule", "types"};
    str text = {0};
    (void)state;
    emit_once("moe_gemm", "gate_up", "hidden=64,expert_ffn=64,experts=4,top_k=2,tokens=8", "vec=4",
              &text);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char opening[64];
        snprintf(opening, sizeof opening, "/* templates/common/%s.h:", headers[i]);
        assert_int_equal(1, count(str_text(&text), opening));
    }
    assert_int_equal(0, count(str_text(&text), "#include \""));
    str_free(&text);
}

static void test_the_configuration_is_filled_in(void **state)
{
    static const char *const lines[] = {"int pass = 1;",    "int dtype = 0;",   "int tile_m = 256;",
                                        "int waves = 8;",   "int waves_m = 4;", "int mfma = 16;",
                                        "int split_k = 4;", "int combine = 1;", "int vec = 4;"};
    str text = {0};
    (void)state;
    emit_once("moe_gemm", "down", "hidden=64,expert_ffn=64,experts=4,top_k=2,tokens=8",
              "tile_m=256,waves=8,waves_m=4,mfma=16,split_k=4,combine=1,vec=4", &text);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_int_equal(1, count(str_text(&text), lines[i]));
    str_free(&text);
}

/* --- templates that cannot be emitted, in a folder of their own --- */

typedef struct own_family {
    char folder[40];
    char *space, *kernel;
} own_family;

static void own_make(own_family *f, const char *kernel)
{
    cJSON *json = scale_json();
    char *text = cJSON_PrintUnformatted(json);
    moesaic_text err;
    strcpy(f->folder, "/tmp/moesaic-test-gen.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->space = str_format("%s/space.json", f->folder);
    f->kernel = str_format("%s/scale.hip", f->folder);
    assert_status(MOESAIC_OK, file_replace(f->space, text, strlen(text), &err), &err);
    assert_status(MOESAIC_OK, file_replace(f->kernel, kernel, strlen(kernel), &err), &err);
    cJSON_free(text);
    cJSON_Delete(json);
}

static void own_remove(own_family *f)
{
    assert_int_equal(0, unlink(f->space) | unlink(f->kernel) | rmdir(f->folder));
    free(f->space);
    free(f->kernel);
}

static void check_refused(const char *kernel, const char *says)
{
    own_family f;
    opened o;
    str text = {0};
    moesaic_text err;
    own_make(&f, kernel);
    open_or_fail(&o, f.folder, "run", "rows=1");
    const cJSON *usual = cJSON_GetObjectItemCaseSensitive(gen_family_json(o.family), "default");
    moesaic_status status = gen_emit(o.family, "run", o.problem, usual, &text, &err);
    assert_status(MOESAIC_E_INPUT, status, &err);
    assert_says(&err, says);
    assert_string_equal("", str_text(&text));
    str_free(&text);
    opened_free(&o);
    own_remove(&f);
}

static void test_templates_without_a_whole_block_are_refused(void **state)
{
    (void)state;
    check_refused("", "0 of 4 parameters");
    check_refused("// moesaic:config\n", "\"// moesaic:end\" is missing");
    check_refused("// moesaic:config\nstatic constexpr int waves = 1;\n// moesaic:end\n",
                  "1 of 4 parameters");
    check_refused(
        "// moesaic:config\nint waves = 1, vec = 2, whole = 3, unroll = 4;\n// moesaic:end\n",
        "0 of 4 parameters");
}

static void check_not_opened(const char *kernel, moesaic_status want, const char *says)
{
    own_family f;
    gen_family *family;
    moesaic_text err;
    own_make(&f, kernel);
    assert_status(want, gen_family_open(f.folder, &family, &err), &err);
    assert_says(&err, says);
    assert_null(family);
    own_remove(&f);
}

static void test_includes_that_cannot_be_followed_are_errors(void **state)
{
    str many = {0};
    (void)state;
    check_not_opened("#include \"nowhere.h\"\n", MOESAIC_E_IO, "nowhere.h");
    for (int i = 0; i < 100; i++)
        str_printf(&many, "#include \"common/%dtypes.h\"\n", i);
    check_not_opened(str_text(&many), MOESAIC_E_IO, "0types.h");
    str_free(&many);
}

static void test_another_template_has_another_hash(void **state)
{
    own_family a, b;
    gen_family *first, *second;
    moesaic_text err;
    (void)state;
    own_make(&a, "// one\n");
    own_make(&b, "// two\n");
    assert_status(MOESAIC_OK, gen_family_open(a.folder, &first, &err), &err);
    assert_status(MOESAIC_OK, gen_family_open(b.folder, &second, &err), &err);
    assert_string_not_equal(gen_family_hash(first)->s, gen_family_hash(second)->s);
    gen_family_free(second);
    own_remove(&b);
    own_make(&b, "// one\n");
    assert_status(MOESAIC_OK, gen_family_open(b.folder, &second, &err), &err);
    assert_string_equal(gen_family_hash(first)->s, gen_family_hash(second)->s);
    gen_family_free(first);
    gen_family_free(second);
    own_remove(&a);
    own_remove(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_variant_is_the_golden_file),
        cmocka_unit_test(test_the_same_input_gives_the_same_bytes),
        cmocka_unit_test(test_each_header_is_in_it_once),
        cmocka_unit_test(test_the_configuration_is_filled_in),
        cmocka_unit_test(test_templates_without_a_whole_block_are_refused),
        cmocka_unit_test(test_includes_that_cannot_be_followed_are_errors),
        cmocka_unit_test(test_another_template_has_another_hash),
    };
    return cmocka_run_group_tests(tests, use_own_templates, NULL);
}
