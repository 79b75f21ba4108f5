/* Tables and rows of measurements, format by format: each column and member is read from
 * its own place, in any order, and none may be missing or wrong. */
#include "calibrate/samples.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_samples_register(void);

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct loaded {
    struct cfg_loader loader;
    struct samples s;
    int rc;
};

static void load_text(struct loaded *l, const char *text)
{
    static const struct samples_hints hints = { .op = -1 };
    char path[] = "/tmp/smsim-samples-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_EQUAL_FATAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    cfg_loader_init(&l->loader);
    samples_init(&l->s, &l->loader, &hints);
    l->rc = samples_load(&l->s, path, &hints);
    CU_ASSERT_EQUAL(unlink(path), 0);
}

static void unload(struct loaded *l)
{
    samples_release(&l->s);
    cfg_loader_release(&l->loader);
}

static int64_t count_all(const struct samples *s)
{
    return s->gemms.n + s->products.n + s->attentions.n + s->transfers.n +
           s->experts.n + s->flashes.n + s->streams.n + s->links.n + s->colls.n +
           s->clocks.n;
}

/* --- tables ----------------------------------------------------------------------- */

enum { COLUMNS_MAX = 12 };

/* What a column holds: text that may not be empty, a word of a list, a whole number, a
 * number; of those marked, a table without the column is of no format. */
enum column_kind { TEXT, WORD, WHOLE, REAL };

struct table_case {
    int64_t samples;
    bool (*is_right)(const struct samples *s);
    struct {
        const char *name, *cell;
        enum column_kind kind;
        bool needed;
    } columns[COLUMNS_MAX];
};

static bool gemm_is_right(const struct samples *s)
{
    const struct sample_kernel *k = s->gemms.v;
    return s->gemms.n == 1 && k->m == 11 && k->n == 12 && k->k == 13 &&
           k->batch == 14 && k->dtype == DTYPE_FP16 && k->time_s == 15 * 1e-6;
}

static bool flash_is_right(const struct samples *s)
{
    const struct sample_kernel *k = s->flashes.v;
    return s->flashes.n == 1 && k->m == 512 && k->n == 512 && k->k == 64 &&
           k->batch == 2 * 16 && k->causal && k->time_s == 15 * 1e-6;
}

static bool coll_is_right(const struct samples *s)
{
    const struct sample_coll *k = s->colls.v;
    return s->colls.n == 1 && k->op == COLL_ALL_GATHER && k->bytes == 1024 &&
           k->n_ranks == 16 && k->n_nodes == 2 && k->time_s == 15 * 1e-6;
}

static bool product_is_right(const struct samples *s)
{
    const struct sample_product *k = s->products.v;
    return s->products.n == 1 && k->m == 11 && k->n == 12 && k->k == 13 &&
           k->format == product_format_find("fp8") && strcmp(k->device, "H100") == 0 &&
           strcmp(k->software, "trtllm") == 0 && k->time_s == 15 * 1e-6;
}

static bool attention_is_right(const struct samples *s)
{
    const struct sample_attention *k = s->attentions.v;
    return s->attentions.n == 1 && k->shape.batch == 2 && k->shape.sequence == 512 &&
           k->shape.heads == 16 && k->shape.kv_heads == 4 && k->shape.head_dim == 96 &&
           strcmp(k->device, "H100") == 0 && strcmp(k->software, "vllm") == 0 &&
           k->time_s == 15 * 1e-6;
}

static bool transfer_is_right(const struct samples *s)
{
    const struct sample_transfer *k = s->transfers.v;
    return s->transfers.n == 2 && k[0].kind != k[1].kind && k[0].shape.hidden == 7168 &&
           k[0].shape.tokens == 4096 && k[0].shape.topk == 8 &&
           k[0].shape.experts == 256 && k[0].shape.sms == 24 && k[0].shape.ranks == 4 &&
           k[0].time_s == 15 * 1e-6 && k[1].time_s == 16 * 1e-6;
}

static bool experts_are_right(const struct samples *s)
{
    const struct sample_experts *k = s->experts.v;
    return s->experts.n == 1 && k->tokens == 64 && k->hidden == 4096 &&
           k->ffn == 1536 && k->topk == 8 && k->experts == 128 && k->tensor == 2 &&
           k->ranks == 4 && k->exponent == 1.2 && k->time_s == 15 * 1e-6;
}

static const struct table_case tables[] = {
    { 1,
      gemm_is_right,
      { { "op", "gemm", TEXT, false },
        { "m", "11", WHOLE, true },
        { "n", "12", WHOLE, true },
        { "k", "13", WHOLE, true },
        { "batch", "14", WHOLE, false },
        { "dtype", "half", WORD, false },
        { "latency_us", "15", REAL, true } } },
    { 1,
      flash_is_right,
      { { "isl", "512", WHOLE, true },
        { "num_heads", "16", WHOLE, true },
        { "head_dim", "64", WHOLE, false },
        { "batch_size", "2", WHOLE, false },
        { "attn_dtype", "bf16", WORD, false },
        { "time_us", "15", REAL, true } } },
    { 1,
      coll_is_right,
      { { "op", "all_gather", WORD, true },
        { "size_B", "1024", REAL, true },
        { "num_gpus", "16", REAL, true },
        { "nodes", "2", WHOLE, false },
        { "time_us_oop", "15", REAL, true } } },
    { 1,
      product_is_right,
      { { "device", "H100", TEXT, false },
        { "software", "trtllm", TEXT, false },
        { "gemm_dtype", "fp8", WORD, false },
        { "m", "11", WHOLE, true },
        { "n", "12", WHOLE, true },
        { "k", "13", WHOLE, true },
        { "latency_us", "15", REAL, true } } },
    { 1,
      attention_is_right,
      { { "gpu", "H100", TEXT, true },
        { "software", "vllm", TEXT, true },
        { "sequence", "512", WHOLE, true },
        { "heads", "16", WHOLE, true },
        { "kv_heads", "4", WHOLE, false },
        { "head_dim", "96", WHOLE, false },
        { "batch_size", "2", WHOLE, false },
        { "latency_us", "15", REAL, true } } },
    { 2,
      transfer_is_right,
      { { "device", "GB200", TEXT, true },
        { "software", "deepep", TEXT, true },
        { "hidden", "7168", WHOLE, false },
        { "tokens_per_rank", "4096", WHOLE, false },
        { "topk", "8", WHOLE, false },
        { "experts", "256", WHOLE, false },
        { "dispatch_sms", "24", WHOLE, false },
        { "dispatch_us", "15", REAL, true },
        { "combine_us", "16", REAL, true } } },
    { 1,
      experts_are_right,
      { { "device", "H100", TEXT, true },
        { "software", "vllm", TEXT, true },
        { "dtype", "bfloat16", WORD, true },
        { "tokens", "64", WHOLE, true },
        { "hidden", "4096", WHOLE, false },
        { "ffn", "1536", WHOLE, true },
        { "topk", "8", WHOLE, false },
        { "experts", "128", WHOLE, true },
        { "tensor", "2", WHOLE, false },
        { "expert_parallel", "4", WHOLE, false },
        { "distribution", "power_law_1.2", WORD, false },
        { "latency_us", "15", REAL, true } } },
};

static int count_columns(const struct table_case *t)
{
    int n = 0;
    while (n < COLUMNS_MAX && t->columns[n].name)
        n++;
    return n;
}

/* The table with its columns from the first-th on, without one of them (-1: all), and
 * with another cell in one of them (-1: none). The caller frees it. */
static char *table_text(const struct table_case *t, int first, int without, int other,
                        const char *cell)
{
    struct strbuf b;
    const int n = count_columns(t);
    strbuf_init(&b);
    for (int line = 0; line < 2; line++) {
        for (int i = 0, put = 0; i < n; i++) {
            int c = (first + i) % n;
            if (c == without)
                continue;
            strbuf_printf(&b, "%s%s", put++ ? "," : "",
                          line == 0    ? t->columns[c].name
                          : c == other ? cell
                                       : t->columns[c].cell);
        }
        strbuf_addstr(&b, "\n");
    }
    char *text = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

static void check_refused(char *text)
{
    struct loaded l;
    load_text(&l, text);
    if (l.rc == 0)
        fprintf(stderr, "%s", text);
    CU_ASSERT_EQUAL(l.rc, -1);
    CU_ASSERT(l.loader.diags.n_errors > 0);
    unload(&l);
    free(text);
}

static void test_tables(void)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct table_case *t = &tables[i];
        for (int first = 0; first < count_columns(t); first++) {
            struct loaded l;
            char *text = table_text(t, first, -1, -1, NULL);
            load_text(&l, text);
            CU_ASSERT_EQUAL_FATAL(l.rc, 0);
            CU_ASSERT_EQUAL(count_all(&l.s), t->samples);
            CU_ASSERT(t->is_right(&l.s));
            unload(&l);
            free(text);
        }
    }
}

static void test_wrong_cells(void)
{
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct table_case *t = &tables[i];
        for (int c = 0; c < count_columns(t); c++) {
            enum column_kind kind = t->columns[c].kind;
            if (t->columns[c].needed)
                check_refused(table_text(t, 0, c, -1, NULL));
            if (kind == WORD || kind == WHOLE || kind == REAL)
                check_refused(table_text(t, 0, -1, c, "no_such"));
            if (kind == WHOLE || kind == REAL) {
                check_refused(table_text(t, 0, -1, c, "0"));
                check_refused(table_text(t, 0, -1, c, "-3"));
                check_refused(table_text(t, 0, -1, c, "12x"));
            }
            if (kind == WHOLE)
                check_refused(table_text(t, 0, -1, c, "12.5"));
            if (kind == TEXT && strcmp(t->columns[c].name, "software") == 0)
                check_refused(table_text(t, 0, -1, c, ""));
        }
    }
}

/* --- rows of the measuring program ------------------------------------------------ */

enum { MEMBERS_MAX = 11 };

static const struct row_case {
    int64_t samples;
    const char *members[MEMBERS_MAX]; /* "key": value */
    int optional;                     /* so many of the last */
} rows[] = {
    { 1,
      { "\"kind\": \"gemm\"", "\"dtype\": \"bf16\"", "\"m\": 1", "\"n\": 2", "\"k\": 3",
        "\"batch\": 4", "\"time_s\": 1e-5" },
      0 },
    { 1,
      { "\"kind\": \"flash\"", "\"dtype\": \"bf16\"", "\"queries\": 1", "\"keys\": 2",
        "\"head_dim\": 3", "\"heads\": 4", "\"time_s\": 1e-5", "\"library\": true",
        "\"causal\": true", "\"backward\": false" },
      2 },
    { 1,
      { "\"kind\": \"stream\"", "\"name\": \"copy\"", "\"bytes\": 5",
        "\"time_s\": 1e-5" },
      0 },
    { 1,
      { "\"kind\": \"link\"", "\"name\": \"gpu0 to gpu1\"", "\"bytes\": 5",
        "\"time_s\": 1e-5" },
      0 },
    { 1,
      { "\"kind\": \"collective\"", "\"op\": \"all_reduce\"", "\"ranks\": 8",
        "\"bytes\": 5", "\"time_s\": 1e-5" },
      0 },
    { 1,
      { "\"kind\": \"clock\"", "\"dtype\": \"bf16\"", "\"burst_s\": 1e-3",
        "\"sustained_s\": 2e-3" },
      0 },
};

/* The row, without one member (-1: all), or with null in its place. */
static char *row_text(const struct row_case *r, int without, bool null)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, "{\"format\": \"smsim-measure\", \"version\": 1, \"devices\": [ "
                      "{\"name\": \"NVIDIA H200\", \"sm_arch\": 90, \"sms\": 132, "
                      "\"memory_bytes\": 150000000000, \"l2_bytes\": 50000000} ], "
                      "\"rows\": [ {");
    for (int i = 0, put = 0; i < MEMBERS_MAX && r->members[i]; i++) {
        if (i == without && !null)
            continue;
        strbuf_addstr(&b, put++ ? ", " : "");
        if (i == without)
            strbuf_printf(&b, "%.*s: [null]",
                          (int)(strchr(r->members[i], ':') - r->members[i]),
                          r->members[i]);
        else
            strbuf_addstr(&b, r->members[i]);
    }
    strbuf_addstr(&b, "} ] }");
    char *text = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

static int load_row(const struct row_case *r, int without, bool null, int64_t *n)
{
    struct loaded l;
    char *text = row_text(r, without, null);
    load_text(&l, text);
    int rc = l.rc;
    *n = count_all(&l.s);
    unload(&l);
    free(text);
    return rc;
}

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t n, members = 0;
        while (members < MEMBERS_MAX && rows[i].members[members])
            members++;
        CU_ASSERT_EQUAL(load_row(&rows[i], -1, false, &n), 0);
        CU_ASSERT_EQUAL(n, rows[i].samples);
        for (int k = 0; k < members; k++) {
            bool optional = k >= members - rows[i].optional;
            bool library = strstr(rows[i].members[k], "library") != NULL;
            CU_ASSERT_EQUAL(load_row(&rows[i], k, true, &n), -1);
            if (!library) /* without it the kernel is the program's own */
                CU_ASSERT_EQUAL(load_row(&rows[i], k, false, &n), optional ? 0 : -1);
        }
    }
}

void test_samples_register(void)
{
    CU_pSuite suite = CU_add_suite("samples", NULL, NULL);
    CU_add_test(suite, "tables, their columns in any order", test_tables);
    CU_add_test(suite, "columns that are missing or wrong", test_wrong_cells);
    CU_add_test(suite, "rows of the measuring program", test_rows);
}
