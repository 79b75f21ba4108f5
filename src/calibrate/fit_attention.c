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

enum { ROWS_LEAST = 20, LONG_SEQUENCE = 1024 };

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

enum { PRODUCTS, SOFTMAX, TAIL, START, MOVED, BLOCK, TOKEN, TERMS };

/* One device and software. */
struct set {
    const struct gpu *gpu;
    struct attention attention;
    int64_t n, n_fit; /* those fitted to come first */
    const struct sample_attention **rows;
    double *weights;
};

static double predicted_s(const struct set *s, const struct sample_attention *r)
{
    return attention_s(s->gpu, &s->attention, &r->shape);
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
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->attention, values);
    for (int64_t i = 0; i < s->n_fit; i++) {
        double r = log(predicted_s(s, s->rows[i]) / s->rows[i]->time_s);
        out[i] = fmax(-residual_most, fmin(r, residual_most));
    }
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
            .n = s->n_fit,
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
    struct fit fit;
    double values[TERMS];
    for (int64_t i = 0; i < s->n_fit; i++)
        s->weights[i] = s->rows[i]->shape.sequence >= LONG_SEQUENCE ? 1 : short_weight;
    if (fit_starts(s, &fit, err))
        return -1;
    for (int i = 0; i < TERMS; i++)
        values[i] = fit_rounded(fit.params[i].value);
    set_terms(&s->attention, values);
    return 0;
}

/* Figures -------------------------------------------------------------------------- */

/* Of long sequences, rows from `from` to `to`. */
static int64_t sum_up(const struct set *s, int64_t from, int64_t to, double *median,
                      double *mean)
{
    double *errors = xmalloc((size_t)(to - from + 1) * sizeof(*errors));
    int64_t n = 0;
    for (int64_t i = from; i < to; i++)
        if (s->rows[i]->shape.sequence >= LONG_SEQUENCE)
            errors[n++] = fabs(predicted_s(s, s->rows[i]) / s->rows[i]->time_s - 1);
    fit_sum_up(errors, n, median, mean);
    free(errors);
    return n;
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

static bool belongs(const struct calibration_attention *p,
                    const struct sample_attention *r)
{
    return strcmp(p->device, r->device) == 0 &&
           strcmp(p->attention.software, r->software) == 0;
}

static void list_sets(struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->attentions.n; i++) {
        const struct sample_attention *r = &s->attentions.v[i];
        bool known = false;
        for (int64_t k = c->attentions.n - 1; k >= 0 && !known; k--)
            known = belongs(&c->attentions.v[k], r);
        if (!known)
            VEC_PUSH(&c->attentions, ((struct calibration_attention) {
                                         .device = r->device,
                                         .attention = { .software = r->software } }));
    }
}

static bool is_fallback(const struct gpu *gpu, const struct sample_attention *r)
{
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

static void choose_rows(struct set *set, const struct calibration_attention *p,
                        const struct samples *s)
{
    size_t most = (size_t)s->attentions.n + 1;
    set->rows = xmalloc(most * sizeof(const struct sample_attention *));
    set->weights = xmalloc(most * sizeof(*set->weights));
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 0; i < s->attentions.n; i++) {
            const struct sample_attention *r = &s->attentions.v[i];
            if (belongs(p, r) && !is_fallback(set->gpu, r) &&
                attention_half(&r->shape) == half)
                set->rows[set->n++] = r;
        }
        if (half == 0)
            set->n_fit = set->n;
    }
}

static int fit_one(struct calibration_attention *p, const struct gpu *gpu,
                   const struct samples *s, struct err *err)
{
    struct set set = { .gpu = gpu, .attention = p->attention };
    int rc = 0;
    choose_rows(&set, p, s);
    if (gpu->peak_flops[DTYPE_BF16] <= 0) {
        p->why = "the GPU has no peak rate of bf16";
    } else if (set.n_fit < ROWS_LEAST) {
        p->why = "too few measurements (20 of those to fit are needed)";
    } else {
        rc = fit_set(&set, err);
        p->attention = set.attention;
        p->errors.n_fit =
            sum_up(&set, 0, set.n_fit, &p->errors.fit_median, &p->errors.fit_mean);
        p->errors.n_held = sum_up(&set, set.n_fit, set.n, &p->errors.held_median,
                                  &p->errors.held_mean);
    }
    free(set.weights);
    free(set.rows);
    return rc;
}

/* The GPUs, and what is shipped of their attention. */
static int find_gpus(struct calibration *c, struct cfg_loader *loader,
                     const struct gpu **gpus)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    for (int64_t i = 0; i < c->attentions.n; i++) {
        struct calibration_attention *p = &c->attentions.v[i];
        if (fit_find_gpu(&gpus[i], &p->gpu, &p->why, loader, c->arena, p->device))
            return -1;
        if (!gpus[i] || !fit_is_shipped(c->arena, "topologies/attention", p->gpu))
            continue;
        const struct attentions *shipped = attentions_get(loader, p->gpu, nowhere);
        if (!shipped)
            return -1;
        const struct attention *found = attentions_find(shipped, p->attention.software);
        if (strcmp(found->software, p->attention.software) == 0) {
            p->shipped = found;
            p->attention.kernel = found->kernel;
        }
    }
    return 0;
}

static int fit_set_of(struct calibration *c, int64_t i, const struct gpu *gpu,
                      const struct samples *s, struct err *err)
{
    return fit_one(&c->attentions.v[i], gpu, s, err);
}

int calibrate_attentions(struct calibration *c, struct cfg_loader *loader,
                         const struct samples *s, struct err *err)
{
    list_sets(c, s);
    return fit_sets(c, c->attentions.n, loader, s, find_gpus, fit_set_of, err);
}
