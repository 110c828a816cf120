/* tests/runtime/support.c: see support.h.    SPDX-License-Identifier: MIT */
#include "tests/runtime/support.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

device *world_device;
str world_probe;

static char root[] = "/tmp/moesaic-runtime-XXXXXX";

const char usual_fields[] = "dtype=bf16,aligned=1,hidden=64,expert_ffn=32,experts=4,top_k=2";

const char probe_launch[] =
    "{\"kernels\":[{\"kernel\":\"moe_gemm\",\"block\":[64,1,1],\"grid\":[2,1,1],\"lds_bytes\":0},"
    "{\"kernel\":\"moe_combine\",\"block\":[64,1,1],\"grid\":[1,1,1],\"lds_bytes\":0}],"
    "\"arguments\":[{\"name\":\"x\",\"type\":\"ptr\"},{\"name\":\"w\",\"type\":\"ptr\"},"
    "{\"name\":\"out\",\"type\":\"ptr\"},{\"name\":\"offsets\",\"type\":\"ptr\"},"
    "{\"name\":\"token_index\",\"type\":\"ptr\"},{\"name\":\"routing_weight\",\"type\":\"ptr\"},"
    "{\"name\":\"row_of_slot\",\"type\":\"ptr\"},{\"name\":\"workspace\",\"type\":\"ptr\"},"
    "{\"name\":\"ldx\",\"type\":\"i64\"},{\"name\":\"ldw\",\"type\":\"i64\"},"
    "{\"name\":\"ldout\",\"type\":\"i64\"},{\"name\":\"tokens\",\"type\":\"i64\"},"
    "{\"name\":\"hidden\",\"type\":\"i32\"},{\"name\":\"ffn\",\"type\":\"i32\"},"
    "{\"name\":\"experts\",\"type\":\"i32\"},{\"name\":\"top_k\",\"type\":\"i32\"}],"
    "\"workspace\":{\"fixed_bytes\":64,\"per_row_bytes\":256}}";

/* The argument struct as templates/moe_gemm/moe_gemm.hip declares it. */
static const char probe_source[] =
    "struct moe_gemm_args {\n"
    "    const void *x, *w;\n"
    "    unsigned long *out;\n"
    "    const int *offsets, *token_index;\n"
    "    const float *routing_weight;\n"
    "    const int *row_of_slot;\n"
    "    float *workspace;\n"
    "    long ldx, ldw, ldout, tokens;\n"
    "    int hidden, ffn, experts, top_k;\n"
    "};\n"
    "extern \"C\" __global__ void moe_gemm(moe_gemm_args a) {\n"
    "    if (threadIdx.x || blockIdx.x) return;\n"
    "    unsigned long *o = a.out;\n"
    "    o[0] = (unsigned long)a.x; o[1] = (unsigned long)a.w; o[2] = (unsigned long)a.out;\n"
    "    o[3] = (unsigned long)a.offsets; o[4] = (unsigned long)a.token_index;\n"
    "    o[5] = (unsigned long)a.routing_weight; o[6] = (unsigned long)a.row_of_slot;\n"
    "    o[7] = (unsigned long)a.workspace; o[8] = a.ldx; o[9] = a.ldw; o[10] = a.ldout;\n"
    "    o[11] = a.tokens; o[12] = a.hidden; o[13] = a.ffn; o[14] = a.experts; o[15] = a.top_k;\n"
    "    o[16] = 1000 + gridDim.x;\n"
    "}\n"
    "extern \"C\" __global__ void moe_combine(moe_gemm_args a) {\n"
    "    if (!threadIdx.x) a.out[17] = a.out[16] + a.top_k;\n"
    "}\n";

/* --- world --- */

static int compile_probe(void)
{
    moesaic_text err = {""};
    if (device_compile(world_device, probe_source, "probe.hip", &world_probe, NULL, &err) ==
        MOESAIC_OK)
        return 0;
    fprintf(stderr, "%s\n", err.s);
    return 1;
}

int world_make(void **state)
{
    moesaic_text err = {""};
    const char *mode = getenv("MODE");
    (void)state;
    if (!mkdtemp(root) || file_make_folder(in_world("moesaic"), NULL) != MOESAIC_OK)
        return 1;
    setenv("XDG_DATA_HOME", root, 1);
    unsetenv("MOESAIC_DB");
    if (device_open(0, &world_device, &err) == MOESAIC_OK)
        return compile_probe();
    /* A sanitizer keeps the C library that it was built for, and a private HIP brings its own. */
    if (mode && strstr(mode, "san")) {
        world_remove(NULL);
        printf("no HIP under a sanitizer: %s\n", err.s);
        exit(77);
    }
    fprintf(stderr, "%s\n", err.s);
    return 1;
}

int world_remove(void **state)
{
    (void)state;
    char *command = str_format("rm -rf '%s'", root);
    int status = system(command);
    free(command);
    str_free(&world_probe);
    device_close(world_device);
    return status;
}

const char *in_world(const char *name)
{
    static char paths[4][256];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

void check_status(moesaic_status want, moesaic_status got, const moesaic_text *err,
                  const char *expression, const char *file, int line)
{
    if (want != got)
        print_error("%s:%d: %s: want %s got %s (%s)\n", file, line, expression, status_name(want),
                    status_name(got), err ? err->s : "");
    _assert_true(want == got, expression, file, line);
}

/* --- databases --- */

static int64_t put_device(db *database, const winner *w)
{
    moesaic_text err = {""};
    const device_info *info = device_get_info(world_device);
    const db_device where = {.kind = device_kind_name(info->kind),
                             .target = w->target ? w->target : info->target,
                             .partition = info->partition,
                             .driver = info->driver,
                             .hip_version = info->hip_version,
                             .compiler = w->compiler ? w->compiler : info->compiler,
                             .model_version = info->model_version,
                             .pci_device_id = info->pci_device_id,
                             .cu_count = info->cu_count + w->more_cus,
                             .memory_bytes = (int64_t)info->memory_bytes};
    int64_t id;
    assert_status(MOESAIC_OK, db_device_put(database, &where, &id, &err), &err);
    return id;
}

static int64_t put_problem(db *database, const winner *w)
{
    moesaic_text err = {""};
    cJSON *fields, *more, *item;
    str key = {0};
    int64_t id;
    assert_status(MOESAIC_OK, json_from_pairs(usual_fields, &fields, &err), &err);
    assert_status(MOESAIC_OK, json_from_pairs(w->fields, &more, &err), &err);
    while ((item = cJSON_DetachItemFromArray(more, 0)) != NULL) {
        cJSON_DeleteItemFromObjectCaseSensitive(fields, item->string);
        cJSON_AddItemToObject(fields, item->string, item);
    }
    assert_status(MOESAIC_OK, db_problem_key(fields, &key, &err), &err);
    assert_status(MOESAIC_OK, db_problem_put(database, "moe_gemm", w->pass, key.s, &id, &err),
                  &err);
    cJSON_Delete(fields);
    cJSON_Delete(more);
    str_free(&key);
    return id;
}

static void put_winner(db *database, const winner *w, int64_t run_id, int64_t template_id)
{
    moesaic_text err = {""};
    const db_code_object code = {.elf = world_probe.s,
                                 .n_bytes = world_probe.n,
                                 .target = "gfx942",
                                 .compiler = "test",
                                 .launch_abi = "moe_gemm"};
    db_trial_result result = {.status = DB_TRIAL_OK,
                              .time_us = w->time_us > 0 ? w->time_us : 10,
                              .time_kind = "modelled",
                              .model_version = "0",
                              .reason = "",
                              .launch = w->launch ? w->launch : probe_launch,
                              .verified = true,
                              .verified_full = true};
    int64_t config_id, trial_id, deaths, device_id = put_device(database, w);
    int64_t problem_id = put_problem(database, w);
    bool known;
    assert_status(
        MOESAIC_OK,
        db_config_put(database, template_id, w->config ? w->config : "{}", &config_id, &err), &err);
    assert_status(MOESAIC_OK, db_code_object_put(database, &code, &result.code_object_id, &err),
                  &err);
    assert_status(MOESAIC_OK,
                  db_trial_begin(database, run_id, problem_id, config_id, device_id, false,
                                 &trial_id, &known, &deaths, &err),
                  &err);
    assert_status(MOESAIC_OK, db_trial_end(database, trial_id, &result, &err), &err);
    assert_status(MOESAIC_OK,
                  db_winner_choose(database, problem_id, device_id, template_id, &trial_id, &err),
                  &err);
}

void make_database(const char *path, const winner *winners, size_t n)
{
    moesaic_text err = {""};
    db *database;
    int64_t run_id, template_id;
    assert_status(MOESAIC_OK, db_open(path, DB_WRITE, &database, &err), &err);
    assert_status(MOESAIC_OK, db_run_begin(database, "test", "{}", &run_id, &err), &err);
    assert_status(MOESAIC_OK, db_template_put(database, "moe_gemm", "0123", &template_id, &err),
                  &err);
    for (size_t i = 0; i < n; i++)
        put_winner(database, &winners[i], run_id, template_id);
    db_close(database);
}

void collect_code(const char *path)
{
    moesaic_text err = {""};
    db *database;
    int64_t n;
    assert_status(MOESAIC_OK, db_open(path, DB_WRITE, &database, &err), &err);
    assert_status(MOESAIC_OK, db_code_objects_collect(database, &n, &err), &err);
    assert_int_not_equal(n, 0);
    db_close(database);
}

/* --- contexts and operands --- */

moesaic_moe_gemm usual_shape(moesaic_pass pass, int64_t tokens)
{
    return (moesaic_moe_gemm){.size_bytes = sizeof(moesaic_moe_gemm),
                              .pass = pass,
                              .tokens = tokens,
                              .hidden = 64,
                              .ffn = 32,
                              .experts = 4,
                              .top_k = 2};
}

moesaic_context *open_or_fail(const char *database, uint32_t flags)
{
    moesaic_text err = {""};
    moesaic_context *context;
    const moesaic_options options = {
        .size_bytes = sizeof options, .flags = flags, .database = database};
    assert_status(MOESAIC_OK, moesaic_open(&options, &context, &err), &err);
    return context;
}

operands make_operands(int64_t tokens, size_t workspace_bytes)
{
    enum { PART_BYTES = 1 << 12, N_PARTS = 7 };
    moesaic_text err = {""};
    operands o = {0};
    size_t n = N_PARTS * PART_BYTES + workspace_bytes;
    assert_status(MOESAIC_OK, device_alloc(world_device, n, &o.memory, &err), &err);
    assert_status(MOESAIC_OK, device_fill(world_device, o.memory, 0, n, &err), &err);
    char *at = o.memory;
    o.b = (moesaic_moe_gemm_buffers){.size_bytes = sizeof o.b,
                                     .tokens = tokens,
                                     .out = at,
                                     .x = at + PART_BYTES,
                                     .w = at + 2 * PART_BYTES,
                                     .offsets = (void *)(at + 3 * PART_BYTES),
                                     .token_index = (void *)(at + 4 * PART_BYTES),
                                     .routing_weight = (void *)(at + 5 * PART_BYTES),
                                     .row_of_slot = (void *)(at + 6 * PART_BYTES),
                                     .workspace = at + N_PARTS * PART_BYTES,
                                     .workspace_bytes = workspace_bytes};
    return o;
}

void read_probe(const operands *o, uint64_t words[PROBE_WORDS])
{
    moesaic_text err = {""};
    assert_status(MOESAIC_OK, device_synchronize(world_device, NULL, &err), &err);
    assert_status(MOESAIC_OK,
                  device_copy_out(world_device, words, o->b.out, PROBE_WORDS * sizeof *words, &err),
                  &err);
}

void free_operands(operands *o)
{
    device_free(world_device, o->memory);
    *o = (operands){0};
}
