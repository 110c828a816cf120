/* tests/tuner/test_worker.c: answers, deaths, time limits and fresh starts.    SPDX-License-Identifier: MIT */
#include "tests/tuner/support.h"

#include "tuner/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int user_mark;

/* "echo TEXT", "count", "fail", "abort", "exit", "sleep", "big". */
static moesaic_status serve(void *user, void **state, const void *request, size_t n_bytes,
                            str *answer, moesaic_text *err)
{
    const char *word = request;
    int *count = *state ? *state : calloc(1, sizeof *count);
    assert_true(n_bytes > 0 && user == &user_mark && count);
    *state = count;
    ++*count;
    if (!strncmp(word, "echo ", 5))
        str_add(answer, word + 5);
    else if (!strcmp(word, "count"))
        str_printf(answer, "%d", *count);
    else if (!strcmp(word, "fail"))
        return moesaic_fail(err, MOESAIC_E_SHAPE, "no such shape");
    else if (!strcmp(word, "big"))
        for (int i = 0; i < 1 << 16; i++)
            str_add(answer, "0123456789abcdef");
    else if (!strcmp(word, "sleep"))
        sleep(60);
    fprintf(stderr, "first line\nlast words\n");
    if (!strcmp(word, "abort"))
        abort();
    if (!strcmp(word, "exit"))
        _exit(3);
    return MOESAIC_OK;
}

static worker *start(void)
{
    moesaic_text err;
    worker *w;
    assert_status(MOESAIC_OK, worker_new(serve, &user_mark, &w, &err), &err);
    return w;
}

static moesaic_status ask(worker *w, const char *request, double limit_s, str *answer,
                          moesaic_text *err)
{
    str_clear(answer);
    assert_status(MOESAIC_OK, worker_send(w, request, strlen(request) + 1, err), err);
    return worker_receive(w, limit_s, answer, err);
}

static void test_requests_are_answered_by_one_child(void **state)
{
    (void)state;
    moesaic_text err;
    str answer = {0};
    worker *w = start();
    assert_status(MOESAIC_OK, ask(w, "echo hello", 10, &answer, &err), &err);
    assert_string_equal("hello", str_text(&answer));
    assert_status(MOESAIC_E_SHAPE, ask(w, "fail", 10, &answer, &err), &err);
    assert_string_equal("no such shape", err.s);
    assert_status(MOESAIC_OK, ask(w, "count", 10, &answer, &err), &err);
    assert_string_equal("3", str_text(&answer));
    assert_status(MOESAIC_OK, ask(w, "big", 10, &answer, &err), &err);
    assert_int_equal(1 << 20, answer.n);
    worker_free(w);
    str_free(&answer);
}

static void test_a_death_is_told_and_the_next_child_is_fresh(void **state)
{
    (void)state;
    moesaic_text err;
    str answer = {0};
    worker *w = start();
    assert_status(MOESAIC_E_LAUNCH, ask(w, "abort", 10, &answer, &err), &err);
    assert_says(&err, "signal 6");
    assert_says(&err, "last words");
    assert_null(strstr(err.s, "first line"));
    assert_status(MOESAIC_OK, ask(w, "count", 10, &answer, &err), &err);
    assert_string_equal("1", str_text(&answer));
    assert_status(MOESAIC_E_LAUNCH, ask(w, "exit", 10, &answer, &err), &err);
    assert_says(&err, "status 3");
    worker_free(w);
    str_free(&answer);
}

static void test_a_slow_answer_is_not_waited_for(void **state)
{
    (void)state;
    moesaic_text err;
    str answer = {0};
    worker *w = start();
    assert_status(MOESAIC_E_TIMEOUT, ask(w, "sleep", 0.2, &answer, &err), &err);
    assert_status(MOESAIC_OK, ask(w, "count", 10, &answer, &err), &err);
    assert_string_equal("1", str_text(&answer));
    worker_free(w);
    str_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_are_answered_by_one_child),
        cmocka_unit_test(test_a_death_is_told_and_the_next_child_is_fresh),
        cmocka_unit_test(test_a_slow_answer_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
