/* Whatever bytes come as the body of a request to smsim serve, reading ends with a
 * command line within its bounds, whose words are no other command's, or with an error.
 * Build it with clang's fuzzer, or with -DFUZZ_ALONE for a main that mutates seeds:
 * fuzz_serve [SECONDS [SEED]]. */
#include "serve/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct serve_option options[] = { { "top", SERVE_NUMBER },
                                               { "fix", SERVE_TEXTS },
                                               { "for", SERVE_TEXT },
                                               { "unfold", SERVE_FLAG },
                                               { NULL, SERVE_TEXT } };
static const struct serve_command commands[] = {
    { "plan", "plan", NULL, SERVE_RESULT, 0, 2, .options = options },
    { "list", "list", NULL, SERVE_WORDS, 0, 0, .word = true, .options = options },
};
static const struct serve_file files[] = { { "mine.sh", "/srv/mine.sh" },
                                           { NULL, NULL } };

/* A word is one of a known option, or leads nowhere outside the request's folder. */
static void check(const char *word)
{
    static const char *const known[] = { "--set=", "--top=", "--fix=", "--for=" };
    if (strcmp(word, "--unfold") == 0 || strcmp(word, files[0].path) == 0)
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(word, known[i], strlen(known[i])) == 0)
            return;
    if (word[0] == '-' || word[0] == '/' || strstr(word, "../"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct serve_request r;
        struct err err = { 0 };
        int rc =
            serve_request_read(&r, &commands[i], files, (const char *)data, size, &err);
        if (rc && !err.set)
            abort();
        for (int k = 1; rc == 0 && k < r.argc; k++)
            check(r.argv[k]);
        free(serve_request_words(&r));
        serve_request_release(&r);
    }
    return 0;
}

#ifdef FUZZ_ALONE
#include "fuzz_alone.h"

static const char *const seeds[] = {
    "{\"job\":\"gpt2\",\"to\":\"mine.sh\",\"set\":[\"/a=1\"],\"page\":true}",
    "{\"job\":{\"name\":\"a.sh\",\"text\":\"#!/bin/sh\\n\"},\"options\":{\"top\":3,"
    "\"fix\":[\"tensor=8\"],\"for\":\"ddp\",\"unfold\":true}}",
    "{\"word\":\"models\",\"options\":{}}",
};

static const char *const words[] = {
    "\"job\":",  "\"to\":",  "\"set\":", "\"options\":", "\"word\":", "\"name\":",
    "\"text\":", "\"../x\"", "\"/etc\"", "\"--json=x\"", "[",         "]",
    "{",         "}",        ",",        "\\u0000",      "\\ud800",   "1e999",
    "-1",        "\xff",     "true",     "null",         "\"top\":",  "\"fix\":",
};

FUZZ_MAIN(seeds, words, NULL)
#endif
