/* Constants of fused attention by device and software: MODEL.md (16.10). */
#include "calibrate/calibration.h"
#include "calibrate/fit_sets.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "config/datadir.h"
#include "cost/attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_SEQUENCE = 1024 };

static const double short_weight = 0.3;
static const double residual_most = 0.5; /* what is far off counts no more */

/* Kernels that a software falls back on where its own do not take the heads. Those that
 * depend on more than the heads are identified by their rate. */
static const struct {
    const char *software; /* the name without its release; NULL: all */
    int64_t sm_from, sm_to, head_from, head_to;
    double below_flops; /* of calls of 1e11 operations and more; 0: all */
} fallbacks[] = {
    { NULL, 0, 999, 257, INT64_MAX, 0 },  { "sglang ", 89, 89, 64, 64, 0 },
    { "sglang ", 120, 120, 64, 64, 0 },   { "sglang ", 89, 89, 192, 192, 0 },
    { "sglang ", 100, 120, 192, 192, 0 }, { "sglang ", 100, 110, 256, 256, 250e12 },
};
static const double fallback_flops = 1e11;

enum { PRODUCTS, SOFTMAX, TAIL, START, MOVED, BLOCK, TOKEN, KEYS, TERMS };

/* One device and software. */
struct set {
    const struct gpu *gpu;
    const struct samples *samples;
    const struct fit_rows *rows;
    struct attention attention;
    double *weights;
};

static const struct sample_attention *row_of(const struct set *s, int64_t i)
{
    return &s->samples->attentions.v[s->rows->at[i]];
}

static double ratio(const struct set *s, const struct sample_attention *r)
{
    return attention_s(s->gpu, &s->attention, &r->shape) / r->time_s;
}

static void set_terms(struct attention *a, const double *v)
{
    a->product_flops = v[PRODUCTS];
    a->softmax_s = v[SOFTMAX];
    a->tail = v[TAIL];
    a->start_s = v[START];
    a->moved_Bps = v[MOVED];
    a->block_s = v[BLOCK];
    a->token_s = v[TOKEN];
    a->keys_Bps = v[KEYS];
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->attention, values);
    for (int64_t i = 0; i < s->rows->n_fit; i++)
        out[i] = fmax(-residual_most, fmin(log(ratio(s, row_of(s, i))), residual_most));
}

/* Starts are shares of the GPU's rates, so that they are the same rule for all. */
static int fit_starts(struct set *s, struct fit *best, struct err *err)
{
    static const struct {
        double products, softmax; /* of the peak; of a tile pair's products at peak */
    } starts[] = { { 0.9, 0.5 }, { 1.6, 0.8 }, { 0.7, 0.15 } };
    double peak = s->gpu->peak_flops[DTYPE_BF16];
    double score_s = 4 * 128 * (double)s->gpu->n_sms / peak;
    best->loss = INFINITY;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct fit fit = {
            .n_params = TERMS,
            .n = s->rows->n_fit,
            .weights = s->weights,
            .residuals = residuals,
            .arg = s,
            .params = {
                [PRODUCTS] = { .start = starts[i].products * peak,
                               .min = 0.05 * peak,
                               .max = 4 * peak },
                [SOFTMAX] = { .start = starts[i].softmax * score_s,
                              .min = 1e-3 * score_s,
                              .max = 10 * score_s },
                [TAIL] = { .start = 0.5, .min = 1e-3, .max = 3 },
                [START] = { .start = 10e-6, .min = 1e-7, .max = 1e-4 },
                [MOVED] = { .start = 0.7 * s->gpu->hbm_Bps,
                            .min = 0.1 * s->gpu->hbm_Bps,
                            .max = 10 * s->gpu->hbm_Bps },
                [BLOCK] = { .start = 1e-6, .min = 1e-9, .max = 2e-5 },
                [KEYS] = { .start = 0.4 * s->gpu->hbm_Bps,
                           .min = 0.02 * s->gpu->hbm_Bps,
                           .max = 10 * s->gpu->hbm_Bps },
                [TOKEN] = { .start = 3e-10, .min = 1e-13, .max = 2e-8 },
            },
        };
        if (fit_simplex(&fit, err))
            return -1;
        if (fit.loss < best->loss)
            *best = fit;
    }
    return 0;
}

static int fit_set(struct set *s, struct err *err)
{
    static const int64_t from[] = { 0, 256, 128, 64 }; /* of half_blocks */
    struct fit fit, best = { .loss = INFINITY };
    double values[TERMS];
    int64_t halves = 0;
    for (int64_t i = 0; i < s->rows->n_fit; i++)
        s->weights[i] =
            row_of(s, i)->shape.sequence >= LONG_SEQUENCE ? 1 : short_weight;
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        s->attention.half_blocks = from[i];
        if (fit_starts(s, &fit, err))
            return -1;
        if (fit.loss >= best.loss)
            continue;
        best = fit;
        halves = from[i];
    }
    for (int i = 0; i < TERMS; i++)
        values[i] = fit_rounded(best.params[i].value);
    set_terms(&s->attention, values);
    s->attention.half_blocks = halves;
    return 0;
}

/* Of long sequences alone. */
static double error(const void *set, int64_t i)
{
    const struct sample_attention *r = row_of(set, i);
    return r->shape.sequence >= LONG_SEQUENCE ? fabs(ratio(set, r) - 1) : (double)NAN;
}

static int fit(struct calibration *c, int64_t i, const struct gpu *gpu,
               const struct samples *s, const struct fit_rows *rows, struct err *err)
{
    struct calibration_attention *p = &c->attentions.v[i];
    struct set set = { .gpu = gpu,
                       .samples = s,
                       .rows = rows,
                       .attention = p->attention,
                       .weights = xmalloc((size_t)rows->n * sizeof(*set.weights)) };
    int rc = fit_set(&set, err);
    p->attention = set.attention;
    fit_sum_up_set(&p->set.errors, rows, error, &set);
    free(set.weights);
    return rc;
}

/* Sets ----------------------------------------------------------------------------- */

int attention_half(const struct attention_shape *s)
{
    char text[160];
    snprintf(text, sizeof(text),
             "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, s->batch,
             s->sequence, s->heads, s->kv_heads, s->head_dim);
    return fit_half(text);
}

static int64_t count(const struct samples *s)
{
    return s->attentions.n;
}

static int half(const struct samples *s, int64_t row)
{
    return attention_half(&s->attentions.v[row].shape);
}

static struct calibration_set *set_of(struct calibration *c, int64_t i)
{
    return i < c->attentions.n ? &c->attentions.v[i].set : NULL;
}

static void add(struct calibration *c, const struct samples *s, int64_t row)
{
    const struct sample_attention *r = &s->attentions.v[row];
    VEC_PUSH(&c->attentions,
             ((struct calibration_attention) { .set.device = r->device,
                                               .attention.software = r->software }));
}

static bool belongs(const struct calibration *c, int64_t i, const struct samples *s,
                    int64_t row)
{
    const struct calibration_attention *p = &c->attentions.v[i];
    const struct sample_attention *r = &s->attentions.v[row];
    return strcmp(p->set.device, r->device) == 0 &&
           strcmp(p->attention.software, r->software) == 0;
}

static bool is_fallback(const struct gpu *gpu, const struct samples *s, int64_t row)
{
    const struct sample_attention *r = &s->attentions.v[row];
    const struct attention_shape *a = &r->shape;
    double flops = 2.0 * (double)(a->batch * a->heads * a->head_dim) *
                   (double)a->sequence * (double)a->sequence;
    for (size_t i = 0; i < sizeof(fallbacks) / sizeof(fallbacks[0]); i++) {
        const char *name = fallbacks[i].software;
        bool is_slow =
            fallbacks[i].below_flops <= 0 ||
            (flops >= fallback_flops && flops < fallbacks[i].below_flops * r->time_s);
        if ((!name || strncmp(r->software, name, strlen(name)) == 0) &&
            gpu->sm_arch >= fallbacks[i].sm_from &&
            gpu->sm_arch <= fallbacks[i].sm_to &&
            a->head_dim >= fallbacks[i].head_from &&
            a->head_dim <= fallbacks[i].head_to && is_slow)
            return true;
    }
    return false;
}

static double peak_flops(const struct calibration *c, int64_t i, const struct gpu *gpu)
{
    (void)c;
    (void)i;
    return gpu->peak_flops[DTYPE_BF16];
}

static int find_shipped(struct calibration *c, int64_t i, struct cfg_loader *loader,
                        const struct gpu *gpu)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    struct calibration_attention *p = &c->attentions.v[i];
    const struct attentions *shipped = attentions_get(loader, gpu->name, nowhere);
    if (!shipped)
        return -1;
    const struct attention *found = attentions_find(shipped, p->attention.software);
    if (strcmp(found->software, p->attention.software) == 0) {
        p->shipped = found;
        p->attention.kernel = found->kernel;
    }
    return 0;
}

static const struct fit_kind attention = {
    .folder = "topologies/attention",
    .rows_least = 20,
    .count = count,
    .half = half,
    .set = set_of,
    .add = add,
    .belongs = belongs,
    .leaves_out = is_fallback,
    .peak_flops = peak_flops,
    .find_shipped = find_shipped,
    .fit = fit,
};

int calibrate_attentions(struct calibration *c, struct cfg_loader *loader,
                         const struct samples *s, struct err *err)
{
    return fit_sets(c, &attention, loader, s, err);
}
