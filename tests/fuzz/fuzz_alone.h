/* A target of the fuzzer as a program of its own: its seeds are mutated by its words for
 * so many seconds. For FUZZ_ALONE. */
#ifndef FUZZ_ALONE_H
#define FUZZ_ALONE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fuzz_alone {
    const char *const *seeds, *const *words;
    size_t n_seeds, n_words;
    const char
        *last; /* file that keeps the text at hand, for after a crash; NULL: none */
    int (*target)(const uint8_t *data, size_t size);
};

static const char *fuzz_pick(const char *const *from, size_t n)
{
    return from[(size_t)rand() % n];
}

static size_t fuzz_mutate(const struct fuzz_alone *f, char *text, size_t n, size_t cap)
{
    for (int edits = 1 + rand() % 4; edits > 0; edits--) {
        const char *w = fuzz_pick(f->words, f->n_words);
        size_t at = (size_t)rand() % (n + 1), m = strlen(w);
        size_t cut = n - at < 12 ? n - at : (size_t)rand() % 12;
        if (rand() % 3 == 0) {
            memmove(text + at, text + at + cut, n - at - cut);
            n -= cut;
        } else if (n + m < cap) {
            memmove(text + at + m, text + at, n - at);
            memcpy(text + at, w, m);
            n += m;
        }
    }
    return n;
}

static void fuzz_keep(const char *file, const char *text, size_t n)
{
    FILE *last = file ? fopen(file, "wb") : NULL;
    if (last) {
        fwrite(text, 1, n, last);
        fclose(last);
    }
}

/* The program's main: [SECONDS [SEED]]. */
__attribute__((unused)) static int fuzz_alone(const struct fuzz_alone *f, int argc,
                                              char **argv)
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 10, runs = 0;
    time_t end = time(NULL) + seconds;
    srand(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
    char text[4096];
    size_t n = 0;
    for (; time(NULL) < end; runs++) {
        if (runs % 32 == 0) {
            const char *seed = fuzz_pick(f->seeds, f->n_seeds);
            n = strlen(seed);
            memcpy(text, seed, n);
        }
        n = fuzz_mutate(f, text, n, sizeof(text));
        fuzz_keep(f->last, text, n);
        f->target((const uint8_t *)text, n);
    }
    fprintf(stderr, "%ld runs\n", runs);
    return 0;
}

/* That main, by arrays of seeds and words, and the file for the text at hand. */
#define FUZZ_MAIN(seeds_, words_, last_)                                           \
    int main(int argc, char **argv)                                                \
    {                                                                              \
        const struct fuzz_alone f = { .seeds = seeds_,                             \
                                      .n_seeds = sizeof(seeds_) / sizeof(*seeds_), \
                                      .words = words_,                             \
                                      .n_words = sizeof(words_) / sizeof(*words_), \
                                      .last = last_,                               \
                                      .target = LLVMFuzzerTestOneInput };          \
        return fuzz_alone(&f, argc, argv);                                         \
    }

#endif
