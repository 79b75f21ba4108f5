/* Tables of kernels and collectives as CSV: the columns of ai-dynamo/aiconfigurator and
 * of the tables in validate/data, found by name. */
#include "calibrate/samples.h"

#include "config/csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct samples *s;
    struct csv csv;
    int64_t row;
    int64_t n_paged; /* rows of attention that are left out */
};

/* Names that tables give one thing; NULL ends. */
static const char *const time_columns[] = { "latency_us", "time_us_oop", "time_us",
                                            NULL };
static const char *const size_columns[] = { "size_bytes", "size_B", "size", NULL };
static const char *const gpus_columns[] = { "num_gpus", "gpus", "ranks", NULL };
static const char *const device_columns[] = { "device", "gpu", "instance", NULL };
static const char *const dtype_columns[] = { "dtype", "attn_dtype", "gemm_dtype",
                                             NULL };

static const struct name_value dtype_words[] = {
    { "bfloat16", DTYPE_BF16 },
    { "bf16", DTYPE_BF16 },
    { "float16", DTYPE_FP16 },
    { "fp16", DTYPE_FP16 },
    { "half", DTYPE_FP16 },
    { "float32", DTYPE_FP32 },
    { "fp32", DTYPE_FP32 },
    { "tf32", DTYPE_TF32 },
    { "fp8", DTYPE_FP8 },
    { "float8", DTYPE_FP8 },
    { NULL, 0 },
};

static int64_t column(const struct csv *csv, const char *const *names)
{
    int64_t c = -1;
    for (int i = 0; names[i] && c < 0; i++)
        c = csv_column(csv, names[i]);
    return c;
}

static const char *cell(const struct table *t, int64_t c)
{
    return csv_cell(&t->csv, t->row, c);
}

static int fail(const struct table *t, int64_t c, enum diag_code code, const char *what)
{
    diags_add(&t->s->loader->diags,
              diag_at_line(DIAG_ERROR, code, t->csv.file, t->csv.lines[t->row]),
              "column %s: \"%s\" %s", t->csv.columns[c], cell(t, c), what);
    return -1;
}

static int number(const struct table *t, int64_t c, double *v)
{
    char *end;
    *v = strtod(cell(t, c), &end);
    if (end == cell(t, c) || *end || !isfinite(*v) || *v <= 0)
        return fail(t, c, DIAG_OUT_OF_RANGE, "is not a positive number");
    return 0;
}

static int whole(const struct table *t, const char *name, int64_t otherwise, int64_t *v)
{
    int64_t c = csv_column(&t->csv, name);
    double real;
    *v = otherwise;
    if (c < 0)
        return 0;
    if (number(t, c, &real))
        return -1;
    if (real > 1e12 || real != floor(real))
        return fail(t, c, DIAG_WRONG_TYPE, "is not a whole number");
    *v = (int64_t)real;
    return 0;
}

static int time_of(const struct table *t, double *time_s)
{
    if (number(t, column(&t->csv, time_columns), time_s))
        return -1;
    *time_s *= 1e-6;
    return 0;
}

static int dtype_of(const struct table *t, enum dtype *dtype)
{
    int64_t c = column(&t->csv, dtype_columns);
    int v = DTYPE_BF16;
    if (c >= 0 && names_find(dtype_words, cell(t, c), &v))
        return fail(t, c, DIAG_UNKNOWN_NAME,
                    "is no number format known here (bfloat16, float16, float32, "
                    "tf32, fp8)");
    *dtype = (enum dtype)v;
    return 0;
}

static int read_gemm(struct table *t)
{
    struct sample_kernel k = { 0 };
    if (whole(t, "m", 1, &k.m) || whole(t, "n", 1, &k.n) || whole(t, "k", 1, &k.k) ||
        whole(t, "batch", 1, &k.batch) || time_of(t, &k.time_s) ||
        dtype_of(t, &k.dtype))
        return -1;
    VEC_PUSH(&t->s->gemms, k);
    return 0;
}

/* What the formats of products are called in tables; others as product_formats. */
static const char *format_name(const char *word)
{
    return strcmp(word, "bfloat16") == 0 ? "bf16" : word;
}

/* A table of several devices and releases of software, which are kept apart. */
static int read_product(struct table *t)
{
    int64_t dtype = column(&t->csv, dtype_columns);
    int64_t software = csv_column(&t->csv, "software");
    struct sample_product p = {
        .device = cell(t, column(&t->csv, device_columns)),
        .software = cell(t, software),
        .format = product_format_find(format_name(cell(t, dtype))),
    };
    if (!p.format)
        return fail(t, dtype, DIAG_UNKNOWN_NAME,
                    "is no number format of products (bfloat16, fp8, fp8_block, "
                    "mxfp8, nvfp4)");
    if (!*p.software)
        return fail(t, software, DIAG_MISSING, "names no software");
    if (whole(t, "m", 1, &p.m) || whole(t, "n", 1, &p.n) || whole(t, "k", 1, &p.k) ||
        time_of(t, &p.time_s))
        return -1;
    VEC_PUSH(&t->s->products, p);
    return 0;
}

/* With fewer heads, rows of vLLM's paged cache are so short that reading them binds: up
 * to twice slower, which is no property of attention in training. */
enum { PAGED_HEADS = 12 };

/* aiconfigurator's tables are of the forward pass, causal. */
static int read_attention(struct table *t)
{
    struct sample_kernel k = { .causal = true };
    int64_t batch, heads;
    if (whole(t, "isl", 1, &k.m) || whole(t, "head_dim", 128, &k.k) ||
        whole(t, "batch_size", 1, &batch) || whole(t, "num_heads", 1, &heads) ||
        time_of(t, &k.time_s) || dtype_of(t, &k.dtype))
        return -1;
    k.n = k.m;
    k.batch = batch * heads;
    if (heads >= PAGED_HEADS)
        VEC_PUSH(&t->s->flashes, k);
    else
        t->n_paged++;
    return 0;
}

/* The same of several devices and releases of software, which are kept apart. */
static int read_attention_of(struct table *t)
{
    int64_t software = csv_column(&t->csv, "software");
    struct sample_attention a = {
        .device = cell(t, column(&t->csv, device_columns)),
        .software = cell(t, software),
    };
    if (!*a.software)
        return fail(t, software, DIAG_MISSING, "names no software");
    if (whole(t, "batch_size", 1, &a.shape.batch) ||
        whole(t, "sequence", 1, &a.shape.sequence) ||
        whole(t, "heads", 1, &a.shape.heads) ||
        whole(t, "kv_heads", a.shape.heads, &a.shape.kv_heads) ||
        whole(t, "head_dim", 128, &a.shape.head_dim) || time_of(t, &a.time_s))
        return -1;
    if (a.shape.heads % a.shape.kv_heads)
        return fail(t, csv_column(&t->csv, "kv_heads"), DIAG_NOT_DIVISIBLE,
                    "does not divide the heads");
    VEC_PUSH(&t->s->attentions, a);
    return 0;
}

/* GPUs of a node, which the rows do not say: what DeepEP's benchmark was started with. */
static int64_t ranks_of(const char *device)
{
    enum { OF_HGX = 8, OF_TRAY = 4 };
    return strstr(device, "GB200") || strstr(device, "GB300") ? OF_TRAY : OF_HGX;
}

/* A row is a dispatch and a combine. */
static int read_transfer(struct table *t)
{
    static const char *const times[] = { "dispatch_us", "combine_us" };
    int64_t software = csv_column(&t->csv, "software"), nodes;
    struct sample_transfer a = {
        .device = cell(t, column(&t->csv, device_columns)),
        .software = cell(t, software),
    };
    if (!*a.software)
        return fail(t, software, DIAG_MISSING, "names no software");
    if (whole(t, "nodes", 1, &nodes) || whole(t, "hidden", 1, &a.shape.hidden) ||
        whole(t, "tokens_per_rank", 1, &a.shape.tokens) ||
        whole(t, "topk", 1, &a.shape.topk) ||
        whole(t, "experts", 1, &a.shape.experts) ||
        whole(t, "dispatch_sms", 1, &a.shape.sms))
        return -1;
    if (nodes > 1)
        return fail(t, csv_column(&t->csv, "nodes"), DIAG_NOT_SIMULATED,
                    "is more than one NVLink domain");
    if (a.shape.topk > a.shape.experts)
        return fail(t, csv_column(&t->csv, "topk"), DIAG_OUT_OF_RANGE,
                    "is more than there are experts");
    a.shape.ranks = ranks_of(a.device);
    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        a.kind = (enum transfer_kind)kind;
        if (number(t, csv_column(&t->csv, times[kind]), &a.time_s))
            return -1;
        a.time_s *= 1e-6;
        VEC_PUSH(&t->s->transfers, a);
    }
    return 0;
}

/* "balanced", or "power_law_" and its exponent. */
static int exponent_of(const struct table *t, double *exponent)
{
    static const char prefix[] = "power_law_";
    int64_t c = csv_column(&t->csv, "distribution");
    const char *text = c < 0 ? "balanced" : cell(t, c);
    char *end;
    *exponent = 0;
    if (strcmp(text, "balanced") == 0)
        return 0;
    if (strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
        *exponent = strtod(text + sizeof(prefix) - 1, &end);
        if (!*end && *exponent > 0 && *exponent <= 10)
            return 0;
    }
    return fail(t, c, DIAG_UNKNOWN_NAME,
                "is no distribution known here (balanced, power_law_1.2)");
}

static int read_experts_sizes(struct table *t, struct sample_experts *e)
{
    return whole(t, "tokens", 1, &e->tokens) || whole(t, "hidden", 1, &e->hidden) ||
           whole(t, "ffn", 1, &e->ffn) || whole(t, "topk", 1, &e->topk) ||
           whole(t, "experts", 1, &e->experts) || whole(t, "tensor", 1, &e->tensor) ||
           whole(t, "expert_parallel", 1, &e->ranks) || exponent_of(t, &e->exponent);
}

static int read_experts(struct table *t)
{
    int64_t dtype = column(&t->csv, dtype_columns);
    int64_t software = csv_column(&t->csv, "software");
    int64_t experts = csv_column(&t->csv, "experts");
    struct sample_experts e = {
        .device = cell(t, column(&t->csv, device_columns)),
        .software = cell(t, software),
        .format = product_format_find(format_name(cell(t, dtype))),
    };
    if (!e.format)
        return fail(t, dtype, DIAG_UNKNOWN_NAME,
                    "is no number format of products (bfloat16, fp8, fp8_block, "
                    "mxfp8, nvfp4)");
    if (!*e.software)
        return fail(t, software, DIAG_MISSING, "names no software");
    if (read_experts_sizes(t, &e) || time_of(t, &e.time_s))
        return -1;
    if (e.experts > LOAD_EXPERTS_MAX || e.experts % e.ranks || e.topk > e.experts)
        return fail(t, experts, DIAG_OUT_OF_RANGE,
                    "is more than 4096, fewer than a token's, or no multiple of "
                    "expert_parallel");
    if (e.ffn % e.tensor)
        return fail(t, csv_column(&t->csv, "ffn"), DIAG_OUT_OF_RANGE,
                    "is no multiple of tensor");
    VEC_PUSH(&t->s->experts, e);
    return 0;
}

static int read_collective(struct table *t)
{
    struct sample_coll k = { 0 };
    double gpus;
    int op;
    int64_t c = csv_column(&t->csv, "op");
    if (names_find(coll_op_names, cell(t, c), &op))
        return fail(t, c, DIAG_UNKNOWN_NAME,
                    "is no operation known here (all_reduce, all_gather, ...)");
    if (number(t, column(&t->csv, gpus_columns), &gpus) ||
        number(t, column(&t->csv, size_columns), &k.bytes) ||
        whole(t, "nodes", 0, &k.n_nodes) || time_of(t, &k.time_s))
        return -1;
    k.op = (enum coll_op)op;
    k.n_ranks = (int64_t)gpus;
    VEC_PUSH(&t->s->colls, k);
    return 0;
}

typedef int read_row_fn(struct table *t);

/* What a table is of, by its columns. */
static read_row_fn *reader_of(const struct csv *csv)
{
    if (csv_column(csv, "dispatch_us") >= 0 && csv_column(csv, "combine_us") >= 0 &&
        csv_column(csv, "software") >= 0 && column(csv, device_columns) >= 0)
        return read_transfer;
    if (column(csv, time_columns) < 0)
        return NULL;
    if (csv_column(csv, "m") >= 0 && csv_column(csv, "n") >= 0 &&
        csv_column(csv, "k") >= 0) {
        bool many = csv_column(csv, "software") >= 0 &&
                    column(csv, device_columns) >= 0 && column(csv, dtype_columns) >= 0;
        return many ? read_product : read_gemm;
    }
    if (csv_column(csv, "isl") >= 0 && csv_column(csv, "num_heads") >= 0)
        return read_attention;
    if (csv_column(csv, "sequence") >= 0 && csv_column(csv, "heads") >= 0 &&
        csv_column(csv, "software") >= 0 && column(csv, device_columns) >= 0)
        return read_attention_of;
    if (csv_column(csv, "experts") >= 0 && csv_column(csv, "tokens") >= 0 &&
        csv_column(csv, "ffn") >= 0 && csv_column(csv, "software") >= 0 &&
        column(csv, device_columns) >= 0 && column(csv, dtype_columns) >= 0)
        return read_experts;
    if (csv_column(csv, "op") >= 0 && column(csv, size_columns) >= 0 &&
        column(csv, gpus_columns) >= 0)
        return read_collective;
    return NULL;
}

static void note_rows(const struct table *t, int64_t n_unnamed)
{
    struct samples *s = t->s;
    if (n_unnamed && n_unnamed < t->csv.n_rows)
        VEC_PUSH(&s->notes,
                 arena_printf(&s->loader->arena,
                              "%s: %" PRId64 " rows name no device: %s", t->csv.file,
                              n_unnamed,
                              s->filter ? "left out" : "taken for that of the others"));
    if (t->n_paged)
        VEC_PUSH(
            &s->notes,
            arena_printf(&s->loader->arena,
                         "%s: rows of attention with fewer than %d heads left out, "
                         "%" PRId64 ": a server's paged cache binds them",
                         t->csv.file, PAGED_HEADS, t->n_paged));
}

int samples_load_csv(struct samples *s, const char *file,
                     const struct samples_hints *hints)
{
    struct table t = { .s = s };
    (void)hints;
    if (csv_load(&t.csv, s->loader, file))
        return -1;
    read_row_fn *read_row = reader_of(&t.csv);
    if (!read_row) {
        diags_error(
            &s->loader->diags, DIAG_UNKNOWN_FORMAT,
            "%s:1: is no table of kernels or collectives (columns m, n, k and "
            "latency_us; isl, num_heads and latency_us; sequence, heads, device, "
            "software and latency_us; hidden, tokens_per_rank, topk, experts, "
            "dispatch_sms, device, software, dispatch_us and combine_us; experts, "
            "tokens, ffn, device, software, dtype and latency_us; or op, size_B, gpus "
            "and "
            "time_us)",
            file);
        return -1;
    }
    int64_t device = column(&t.csv, device_columns), unnamed = 0;
    for (t.row = 0; t.row < t.csv.n_rows; t.row++) {
        bool blank = device >= 0 && !*cell(&t, device);
        unnamed += blank;
        int wanted = device < 0 || blank ? !(blank && s->filter)
                     : read_row == read_product || read_row == read_attention_of ||
                             read_row == read_transfer || read_row == read_experts
                         ? samples_wants(s, cell(&t, device))
                         : samples_device(s, cell(&t, device), file);
        if (wanted < 0 || (wanted && read_row(&t)))
            return -1;
    }
    note_rows(&t, unnamed);
    return 0;
}
