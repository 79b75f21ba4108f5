/* Whatever bytes come, the reader ends with a value or exactly one error, and what
 * strict JSON takes, it takes to the same tree. Build it with clang's fuzzer, or with
 * -DFUZZ_ALONE for a main that mutates seeds: fuzz_cfg [RUNS [SEED]]. */
#include "base/xmalloc.h"
#include "config/cfg.h"
#include "config/lenient.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* What the lenient reader writes is strict JSON, but for repeated keys. */
static void check_lenient(const char *text, size_t size)
{
    struct lenient l;
    struct err err = { 0 };
    size_t at = 0;
    lenient_init(&l);
    if (lenient_read(&l, text, size, &at, &err) == 0) {
        json_t *tree = json_loadb(l.json.s, l.json.len, JSON_DECODE_ANY, NULL);
        require(tree != NULL);
        json_decref(tree);
    } else {
        require(err.set && at <= size);
    }
    lenient_release(&l);
}

static void visit(struct cfg c, int budget)
{
    int64_t n = 0;
    const char *s = NULL;
    double v = 0;
    cfg_int(c, &n, 0, 10);
    cfg_string(c, &s);
    cfg_quantity(c, UNIT_BYTES, &v, 0, 1e12);
    if (budget == 0)
        return;
    for (void *it = cfg_first(c); it; it = cfg_next(c, it))
        visit(cfg_member(c, it), budget - 1);
    for (int64_t i = 0; cfg_is_array(c) && i < cfg_len(c) && i < 4; i++)
        visit(cfg_at(c, i), budget - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cfg_field fields[] = { CFG_END };
    char *text = memcpy(xmalloc(size + 1), size ? data : (const uint8_t *)"", size);
    text[size] = '\0';
    check_lenient(text, size);
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "fuzz", text, size);
    require((root.json == NULL) == (loader.diags.n_errors == 1));
    size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    bool whole = strlen(text) == size; /* jansson passes over some NUL bytes */
    json_t *strict = whole ? json_loadb(text, size, flags, NULL) : NULL;
    if (strict && root.json)
        require(json_equal(strict, root.json));
    if (strict && !root.json)
        require(strstr(loader.diags.v[0].text, "nested more than") != NULL);
    json_decref(strict);
    visit(root, 4);
    if (root.json) {
        char *assignment = strndup(text, size);
        cfg_set(root, assignment);
        free(assignment);
        struct cfg_field none = fields[0];
        cfg_read(root, &none, NULL);
    }
    cfg_loader_release(&loader);
    free(text);
    return 0;
}

#ifdef FUZZ_ALONE
static const char *const seeds[] = {
    "{\"a\": [1, 2.5e3, true, null], \"b\": {\"c\": \"x\\u00e9\\n\"}}",
    "{'a': (1, 'b', (2)), # note\n \"c\": True, 'd': None, // more\n}",
    "[\"http://x # y\", '40GiB', .5, 5., 1_000, -0, 1e-9, \"\\ud83d\\ude00\"]",
    "/a/b~1c/0=[1, {'d': \"400Gb/s\"}]",
};

static size_t mutate(char *text, size_t n, size_t cap)
{
    static const char bytes[] =
        "{}[]():,'\"\\#/ \n0123456789eE+-._uxTFNtfn\xc3\xa9\xff";
    for (int edits = 1 + rand() % 4; edits > 0; edits--) {
        size_t at = (size_t)rand() % (n + 1);
        char c = bytes[(size_t)rand() % sizeof(bytes)];
        if (rand() % 3 == 0 && n > 0 && at < n) {
            memmove(text + at, text + at + 1, --n - at);
        } else if (rand() % 2 && at < n) {
            text[at] = c;
        } else if (n < cap) {
            memmove(text + at + 1, text + at, n++ - at);
            text[at] = c;
        }
    }
    return n;
}

int main(int argc, char **argv)
{
    long runs = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    srand(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1);
    char text[512];
    size_t n = 0;
    for (long i = 0; i < runs; i++) {
        if (i % 16 == 0) {
            const char *seed = seeds[(size_t)rand() % (sizeof(seeds) / sizeof(*seeds))];
            n = strlen(seed);
            memcpy(text, seed, n);
        }
        n = mutate(text, n, sizeof(text));
        LLVMFuzzerTestOneInput((const uint8_t *)text, n);
    }
    return 0;
}
#endif
