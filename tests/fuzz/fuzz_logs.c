/* Whatever bytes come as a log of nccl-tests, or as the JSON it writes, reading ends
 * with measurements that are finite and above zero, or with an error. Build it with
 * clang's fuzzer, or with -DFUZZ_ALONE for a main that mutates the logs it is given:
 * fuzz_logs SECONDS SEED FILE... */
#include "calibrate/ncclog.h"

#include "base/xmalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct samples *s, int rc)
{
    require((rc != 0) == (s->loader->diags.n_errors > 0));
    for (int64_t i = 0; i < s->colls.n; i++) {
        const struct sample_coll *k = &s->colls.v[i];
        require(isfinite(k->time_s) && k->time_s > 0 && k->bytes > 0);
        require(k->n_ranks > 1 && k->n_nodes >= 0);
        require(k->op < COLL_OP_N);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct samples_hints hints = { .op = -1 };
    char *text = memcpy(xmalloc(size + 1), size ? data : (const uint8_t *)"", size);
    struct cfg_loader loader;
    struct samples s;
    text[size] = '\0';
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    if (*text == '{') {
        struct cfg root = cfg_parse(&loader, "fuzz", text, size);
        if (cfg_present(root))
            check(&s, ncclog_read_json(&s, "fuzz", root, &hints));
    } else {
        check(&s, ncclog_read(&s, "fuzz", text, &hints));
    }
    samples_release(&s);
    cfg_loader_release(&loader);
    free(text);
    return 0;
}

#ifdef FUZZ_ALONE
#include "base/file.h"

#include <stdio.h>
#include <time.h>

static const char *const words[] = {
    " ",
    "\n",
    "#",
    "0",
    "-1",
    "N/A",
    "nan",
    "inf",
    "1e308",
    "9",
    "float",
    "none",
    "sum",
    "[0]",
    "\033[",
    "Rank",
    "nranks 3 ",
    "Group  1",
    "device",
    "]",
    "root",
    "type",
    "algbw",
    "Pid",
    "cputime",
    "bytes",
    "\r\n",
    ">:",
    "nan ",
    "->",
    "_perf",
    "gather",
    "nThread minBytes",
    ".",
    "\"",
    ":",
    "{",
    "99999999999999999999",
    "\xff",
    "\t",
};

static size_t mutate(char *text, size_t n, size_t cap)
{
    for (int edits = 1 + rand() % 6; edits > 0; edits--) {
        const char *word = words[(size_t)rand() % (sizeof(words) / sizeof(*words))];
        size_t at = (size_t)rand() % (n + 1), length = strlen(word);
        size_t cut = rand() % 2 ? (size_t)rand() % 12 : 0;
        cut = cut > n - at ? n - at : cut;
        if (rand() % 8 == 0)
            cut = n - at; /* the end is missing */
        memmove(text + at, text + at + cut, n - at - cut);
        n -= cut;
        if (n + length > cap)
            continue;
        memmove(text + at + length, text + at, n - at);
        memcpy(text + at, word, length);
        n += length;
    }
    return n;
}

int main(int argc, char **argv)
{
    enum { CAP = 1 << 16 };
    static char text[CAP];
    time_t end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : 10);
    long runs = 0;
    srand(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
    for (size_t n = 0; argc > 3 && time(NULL) < end; runs++) {
        if (runs % 8 == 0) {
            struct err err = { 0 };
            char *seed = file_read(argv[3 + rand() % (argc - 3)], CAP / 2, &n, &err);
            require(seed != NULL);
            memcpy(text, seed, n);
            free(seed);
        }
        n = mutate(text, n, CAP);
        LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    }
    printf("%ld runs\n", runs);
    return 0;
}
#endif
