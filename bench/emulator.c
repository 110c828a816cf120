/* bench/emulator.c: how fast the software MI300X computes values: vector instructions, and a bf16 GEMM against sgemm.
 *
 * The GEMM is the default configuration of moe_gemm, pass down, for one expert: tokens x hidden x ffn, from device
 * memory to device memory, all values checked against fp64.  Its peer is OpenBLAS's f32 sgemm of the same size on
 * the same cores, with whichever of its core types is right and fastest; each core type lives in a process of its
 * own, and the two are timed by turns, so that a busy machine hurts both.
 *
 *   emulator [--json] [--repeats N]      writes bench/results/emulator.json
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "base/file.h"
#include "device/device.h"
#include "gen/gen.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TOKENS = 1024,
    HIDDEN = 2048,
    FFN = 1024,
    DEFAULT_REPEATS = 7,
    VALU_LOOPS = 2000,
    VALU_GROUPS = 304
};
static const double flops = 2.0 * TOKENS * HIDDEN * FFN;
static const char *const core_types[] = {"Haswell", "SkylakeX", "Cooperlake", "Sapphirerapids",
                                         "Zen"};
enum { N_CORE_TYPES = sizeof core_types / sizeof *core_types };

/* Inputs and the fp64 result, made before any process forks. */
static float x[TOKENS][FFN], w[HIDDEN][FFN];
static uint16_t x_bf16[TOKENS][FFN], w_bf16[HIDDEN][FFN], out_bf16[TOKENS][HIDDEN];
static double reference[TOKENS][HIDDEN];

static void stop(const char *what, const moesaic_text *err)
{
    fprintf(stderr, "emulator: %s%s%s\n", what, err ? ": " : "", err ? err->s : "");
    exit(1);
}

static float from_bf16(uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

/* Random bf16 in [-1, 1), cut and not rounded: any bf16 will do. */
static void fill(float *values, uint16_t *bits, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        float value = (float)(int32_t)(seed >> 32) * 0x1p-31f;
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        bits[i] = (uint16_t)(word >> 16);
        values[i] = from_bf16(bits[i]);
    }
}

/* Rows of w stride the sums of one token: a transposed copy keeps the inner loop on neighbours. */
static void compute_reference(void)
{
    static float transposed[FFN][HIDDEN];
    for (int n = 0; n < HIDDEN; n++)
        for (int k = 0; k < FFN; k++)
            transposed[k][n] = w[n][k];
#pragma omp parallel for
    for (int m = 0; m < TOKENS; m++)
        for (int k = 0; k < FFN; k++)
            for (int n = 0; n < HIDDEN; n++)
                reference[m][n] += (double)x[m][k] * (double)transposed[k][n];
}

/* Sums of FFN products below 1: f32 rounding of each step, and the rounding of the result itself. */
static bool is_close(double got, double want, double result_rounding)
{
    return fabs(got - want) <= FFN * 0x1p-24 * sqrt(FFN) + result_rounding * fabs(want);
}

/* --- OpenBLAS, one process per core type --- */

typedef struct peer {
    int ask, answer; /* pipe ends */
    pid_t pid;
    bool is_right;
    char core[32]; /* as OpenBLAS names it */
    double best_s;
} peer;

typedef struct hello {
    bool is_right;
    char core[32];
} hello;

typedef void sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint, blasint,
                   blasint, float, const float *, blasint, const float *, blasint, float, float *,
                   blasint);

static void multiply(sgemm *f, float *out)
{
    f(CblasRowMajor, CblasNoTrans, CblasTrans, TOKENS, HIDDEN, FFN, 1, &x[0][0], FFN, &w[0][0], FFN,
      0, out, HIDDEN);
}

/* The core type is chosen when the library is loaded, so it is loaded here and not linked. */
static void serve(const char *core, int ask, int answer)
{
    hello h = {.is_right = false};
    char request;
    float *out = calloc((size_t)TOKENS * HIDDEN, sizeof *out);
    setenv("OPENBLAS_CORETYPE", core, 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!library || !out)
        _exit(1);
    sgemm *f = (sgemm *)(uintptr_t)dlsym(library, "cblas_sgemm");
    char *(*name)(void) = (char *(*)(void))(uintptr_t)dlsym(library, "openblas_get_corename");
    if (!f || !name)
        _exit(1);
    multiply(f, out);
    h.is_right = true;
    for (size_t i = 0; i < (size_t)TOKENS * HIDDEN; i++)
        h.is_right &= is_close((double)out[i], (&reference[0][0])[i], 0);
    snprintf(h.core, sizeof h.core, "%s", name());
    if (write(answer, &h, sizeof h) != sizeof h)
        _exit(1);
    while (read(ask, &request, 1) == 1) {
        double start = clock_now_s();
        multiply(f, out);
        double seconds = clock_now_s() - start;
        if (write(answer, &seconds, sizeof seconds) != sizeof seconds)
            break;
    }
    _exit(0);
}

/* A core type that does not run here ends its process, and is left out. */
static peer start_peer(const char *core)
{
    int ask[2], answer[2];
    peer p = {.best_s = INFINITY};
    hello h;
    if (pipe(ask) || pipe(answer) || (p.pid = fork()) < 0)
        stop("cannot start a process", NULL);
    if (p.pid == 0) {
        close(ask[1]);
        close(answer[0]);
        serve(core, ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    p.ask = ask[1];
    p.answer = answer[0];
    if (read(p.answer, &h, sizeof h) == sizeof h) {
        p.is_right = h.is_right;
        memcpy(p.core, h.core, sizeof p.core);
    }
    return p;
}

static void time_peer(peer *p)
{
    double seconds;
    if (!p->is_right)
        return;
    if (write(p->ask, "", 1) != 1 || read(p->answer, &seconds, sizeof seconds) != sizeof seconds)
        p->is_right = false;
    else if (seconds < p->best_s)
        p->best_s = seconds;
}

/* Later peers hold copies of earlier ones' pipes, so that all are closed before any is waited for. */
static void stop_peers(peer peers[N_CORE_TYPES])
{
    for (int i = 0; i < N_CORE_TYPES; i++)
        close(peers[i].ask);
    for (int i = 0; i < N_CORE_TYPES; i++) {
        waitpid(peers[i].pid, NULL, 0);
        close(peers[i].answer);
    }
}

/* --- the software device --- */

typedef struct gemm_args { /* as moe_gemm.hip declares them */
    void *x, *w, *out, *offsets, *token_index, *routing_weight, *row_of_slot, *workspace;
    int64_t ldx, ldw, ldout, tokens;
    int32_t hidden, ffn, experts, top_k;
} gemm_args;

typedef struct kernel {
    device *dev;
    device_module *module;
    device_function function;
    device_launch launch;
} kernel;

static void check(moesaic_status status, const char *what, const moesaic_text *err)
{
    if (status != MOESAIC_OK)
        stop(what, err);
}

static void *upload(device *dev, const void *data, size_t n)
{
    moesaic_text err;
    void *at;
    check(device_alloc(dev, n, &at, &err), "device memory", &err);
    if (data)
        check(device_copy_in(dev, at, data, n, &err), "copy", &err);
    return at;
}

static kernel build(device *dev, const char *source, const char *name)
{
    kernel k = {.dev = dev, .launch = {.workgroups = {1, 1, 1}, .lanes = {1, 1, 1}}};
    moesaic_text err;
    str code = {0}, log = {0};
    check(device_compile(dev, source, name, &code, &log, &err), "compile", &err);
    check(device_module_load(dev, code.s, code.n, &k.module, &err), "load", &err);
    check(device_module_function(k.module, name, &k.function, &err), "kernel", &err);
    str_free(&code);
    str_free(&log);
    return k;
}

/* Wall seconds from launch to completion. */
static double run(const kernel *k)
{
    moesaic_text err;
    double start = clock_now_s();
    check(device_launch_kernel(k->dev, k->function, &k->launch, NULL, &err), "launch", &err);
    check(device_synchronize(k->dev, NULL, &err), "run", &err);
    return clock_now_s() - start;
}

/* "grid" and "block" of the family's launch description. */
static void read_extent(const cJSON *launch, const char *name, uint32_t out[3])
{
    const cJSON *extent = cJSON_GetObjectItem(launch, name);
    for (int i = 0; i < 3; i++)
        out[i] = (uint32_t)cJSON_GetNumberValue(cJSON_GetArrayItem(extent, i));
}

static kernel build_gemm(device *dev)
{
    moesaic_text err;
    gen_family *family;
    gen_space *space;
    cJSON *fields, *problem, *config, *launch;
    int64_t at;
    str source = {0};
    char text[160];
    snprintf(text, sizeof text, "hidden=%d,expert_ffn=%d,experts=1,top_k=1,tokens=%d", HIDDEN, FFN,
             TOKENS);
    check(json_from_pairs(text, &fields, &err), "problem", &err);
    check(gen_family_open("moe_gemm", &family, &err), "family", &err);
    check(gen_problem_complete(family, "down", fields, &problem, &err), "problem", &err);
    check(gen_space_open(family, "down", problem, &gen_mi300x, &space, &err), "space", &err);
    check(gen_space_default(space, &at, &err), "default", &err);
    check(gen_space_config(space, at, &config, &err), "configuration", &err);
    check(gen_space_launch(space, config, &launch, &err), "launch", &err);
    check(gen_emit(family, "down", problem, config, &source, &err), "emit", &err);
    kernel k = build(dev, source.s, "moe_gemm");
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(launch, "kernels"), 0);
    read_extent(first, "grid", k.launch.workgroups);
    read_extent(first, "block", k.launch.lanes);
    cJSON_Delete(fields);
    cJSON_Delete(problem);
    cJSON_Delete(config);
    cJSON_Delete(launch);
    str_free(&source);
    gen_space_free(space);
    gen_family_free(family);
    return k;
}

static void fill_arguments(device *dev, gemm_args *args)
{
    static int32_t identity[TOKENS], offsets[2] = {0, TOKENS};
    static float ones[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
        identity[i] = i;
        ones[i] = 1;
    }
    *args = (gemm_args){
        .x = upload(dev, x_bf16, sizeof x_bf16),
        .w = upload(dev, w_bf16, sizeof w_bf16),
        .out = upload(dev, NULL, sizeof out_bf16),
        .offsets = upload(dev, offsets, sizeof offsets),
        .token_index = upload(dev, identity, sizeof identity),
        .routing_weight = upload(dev, ones, sizeof ones),
        .row_of_slot = upload(dev, identity, sizeof identity),
        .ldx = FFN,
        .ldw = FFN,
        .ldout = HIDDEN,
        .tokens = TOKENS,
        .hidden = HIDDEN,
        .ffn = FFN,
        .experts = 1,
        .top_k = 1,
    };
}

static void check_gemm(device *dev, const gemm_args *args)
{
    moesaic_text err;
    check(device_copy_out(dev, out_bf16, args->out, sizeof out_bf16, &err), "copy", &err);
    for (int m = 0; m < TOKENS; m++)
        for (int n = 0; n < HIDDEN; n++)
            if (!is_close((double)from_bf16(out_bf16[m][n]), reference[m][n], 0x1p-8)) {
                snprintf(err.s, sizeof err.s, "out[%d][%d] is %g, fp64 says %g", m, n,
                         (double)from_bf16(out_bf16[m][n]), reference[m][n]);
                stop("wrong value", &err);
            }
}

/* Sixteen independent chains of v_fma_f32. */
static const char valu_source[] =
    "extern \"C\" __global__ void chains(float *out, float scale, float add, int n)\n"
    "{\n"
    "    float c[16];\n"
    "    for (int j = 0; j < 16; j++)\n"
    "        c[j] = threadIdx.x + j;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        for (int j = 0; j < 16; j++)\n"
    "            c[j] = __builtin_fmaf(c[j], scale, add);\n"
    "    float sum = 0;\n"
    "    for (int j = 0; j < 16; j++)\n"
    "        sum += c[j];\n"
    "    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;\n"
    "}\n";

typedef struct chain_args {
    void *out;
    float scale, add;
    int32_t n;
} chain_args;

static double time_valu(device *dev, int repeats)
{
    moesaic_text err;
    float got[256];
    chain_args args = {upload(dev, NULL, VALU_GROUPS * sizeof got), 0.999f, 0.001f, VALU_LOOPS};
    kernel k = build(dev, valu_source, "chains");
    k.launch.workgroups[0] = VALU_GROUPS;
    k.launch.lanes[0] = 256;
    k.launch.arguments = &args;
    k.launch.n_argument_bytes = sizeof args;
    double best = INFINITY;
    for (int i = 0; i < repeats; i++)
        best = fmin(best, run(&k));
    check(device_copy_out(dev, got, args.out, sizeof got, &err), "copy", &err);
    for (int lane = 0; lane < 256; lane++) {
        float sum = 0;
        for (int j = 0; j < 16; j++) {
            float c = (float)(lane + j);
            for (int i = 0; i < VALU_LOOPS; i++)
                c = fmaf(c, 0.999f, 0.001f);
            sum += c;
        }
        if (sum != got[lane])
            stop("wrong sum of chains", NULL);
    }
    device_module_free(k.module);
    /* The chains alone; the loop's own instructions are on top. */
    return 16.0 * VALU_LOOPS * VALU_GROUPS * 4 / best;
}

/* Values only: the time model is not what is measured here. */
static device *open_device(void)
{
    moesaic_text err;
    device *dev;
    moesaic_sim_options options = {.size_bytes = sizeof options};
    check(device_open(0, &dev, &err), "device", &err);
    if (!device_sim_get(dev, &options))
        stop("needs the software device: MOESAIC_DEVICE=software", NULL);
    options.mode = MOESAIC_SIM_EXACT;
    options.mfma = MOESAIC_SIM_MFMA_FAST;
    options.host_threads = 0;
    if (!device_sim_set(dev, &options))
        stop("the software device refuses its options", NULL);
    return dev;
}

/* --- report --- */

static void report(double gemm_s, const peer *best, double valu_per_s, bool as_json)
{
    moesaic_text err;
    str text = {0};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "gemm_ratio_openblas", best->best_s / gemm_s);
    cJSON_AddNumberToObject(json, "gemm_gflops", flops / gemm_s * 1e-9);
    cJSON_AddNumberToObject(json, "openblas_gflops", flops / best->best_s * 1e-9);
    cJSON_AddStringToObject(json, "openblas_core", best->core);
    cJSON_AddNumberToObject(json, "valu_wave_instr_per_s", valu_per_s);
    cJSON_AddNumberToObject(json, "host_cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
    json_canonical(json, &text);
    str_add(&text, "\n");
    check(file_make_folder("bench/results", &err), "result", &err);
    check(file_replace("bench/results/emulator.json", text.s, text.n, &err), "result", &err);
    if (!as_json)
        printf("bf16 GEMM %dx%dx%d: %.1f GFLOP/s, %.2f of OpenBLAS sgemm (%s, %.1f GFLOP/s)\n"
               "vector instructions: %.0f M waves/s\n",
               TOKENS, HIDDEN, FFN, flops / gemm_s * 1e-9, best->best_s / gemm_s, best->core,
               flops / best->best_s * 1e-9, valu_per_s * 1e-6);
    fputs(text.s, stdout);
    str_free(&text);
    cJSON_Delete(json);
}

int main(int argc, char **argv)
{
    bool as_json = false;
    int repeats = DEFAULT_REPEATS;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--json"))
            as_json = true;
        else if (!strcmp(argv[i], "--repeats") && i + 1 < argc)
            repeats = atoi(argv[++i]);
    fill(&x[0][0], &x_bf16[0][0], (size_t)TOKENS * FFN, 1);
    fill(&w[0][0], &w_bf16[0][0], (size_t)HIDDEN * FFN, 2);
    compute_reference();
    peer peers[N_CORE_TYPES];
    for (int i = 0; i < N_CORE_TYPES; i++)
        peers[i] = start_peer(core_types[i]);

    device *dev = open_device();
    gemm_args args;
    kernel gemm = build_gemm(dev);
    fill_arguments(dev, &args);
    gemm.launch.arguments = &args;
    gemm.launch.n_argument_bytes = sizeof args;
    double gemm_s = INFINITY;
    for (int r = 0; r < repeats; r++) {
        gemm_s = fmin(gemm_s, run(&gemm));
        for (int i = 0; i < N_CORE_TYPES; i++)
            time_peer(&peers[i]);
    }
    check_gemm(dev, &args);
    const peer *best = &peers[0];
    for (int i = 1; i < N_CORE_TYPES; i++)
        best = peers[i].best_s < best->best_s ? &peers[i] : best;
    stop_peers(peers);
    report(gemm_s, best, time_valu(dev, repeats), as_json);
    device_module_free(gemm.module);
    device_close(dev);
    return 0;
}
