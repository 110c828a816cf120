/* tuner/compile.c: compiling in a worker, because a compiler may abort its process.    SPDX-License-Identifier: MIT */
#include "tuner/evaluate.h"

#include <stdio.h>
#include <string.h>

/* A template takes about a second; LLVM has been seen to loop. */
#define COMPILE_LIMIT_S 120.0

typedef struct compile_header {
    char kernel[64];
} compile_header;

moesaic_status compile_serve(void *user, void **state, const void *request, size_t n_bytes,
                             str *answer, moesaic_text *err)
{
    (void)user, (void)state, (void)n_bytes;
    const compile_header *header = request;
    device_kernel_info kernel = {0};
    str elf = {0};
    ASSERT(n_bytes > sizeof *header);
    moesaic_status status = device_compile(NULL, (const char *)request + sizeof *header,
                                           "variant.hip", &elf, NULL, err);
    if (status == MOESAIC_OK)
        status = device_kernel_metadata(elf.s, elf.n, header->kernel, &kernel, err);
    if (status == MOESAIC_OK) {
        str_add_bytes(answer, &kernel, sizeof kernel);
        str_add_bytes(answer, elf.s, elf.n);
    }
    str_free(&elf);
    return status;
}

moesaic_status compile_send(worker *w, const char *kernel, const char *source, moesaic_text *err)
{
    str request = {0};
    compile_header header = {0};
    snprintf(header.kernel, sizeof header.kernel, "%s", kernel);
    str_add_bytes(&request, &header, sizeof header);
    str_add_bytes(&request, source, strlen(source) + 1);
    moesaic_status status = request.failed
                                ? moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a source")
                                : worker_send(w, request.s, request.n, err);
    str_free(&request);
    return status;
}

moesaic_status compile_receive(worker *w, compiled *out, moesaic_text *err)
{
    str answer = {0};
    *out = (compiled){0};
    moesaic_status status = worker_receive(w, COMPILE_LIMIT_S, &answer, err);
    if (status == MOESAIC_OK) {
        memcpy(&out->kernel, answer.s, sizeof out->kernel);
        str_add_bytes(&out->elf, answer.s + sizeof out->kernel, answer.n - sizeof out->kernel);
        if (out->elf.failed)
            status = moesaic_fail(err, MOESAIC_E_NOMEM, "no memory for a code object");
    }
    str_free(&answer);
    return status;
}
