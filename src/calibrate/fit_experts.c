/* Constants of experts by device, software and format: MODEL.md (16.12). */
#include "calibrate/calibration.h"
#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"
#include "config/datadir.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 40, MANY_TOKENS = 1024, FLOOR_MOST = 4000 };

static const double few_weight = 0.35;
static const double residual_most = 0.7; /* what is far off counts no more */

enum {
    ETA,
    PORT,
    HBM,
    START,
    EPILOGUE,
    PARTIAL,
    LOCAL,
    ALL,
    SLOT,
    EXPERT,
    FOREIGN,
    TERMS
};

struct row {
    const struct sample_experts *sample;
    struct experts_shape shape;
};

/* One device, software and format. */
struct set {
    const struct gpu *gpu;
    struct experts_kernel kernel;
    int64_t n, n_fit; /* those fitted to come first */
    struct row *rows;
    double *weights;
};

static struct experts_shape shape_of(const struct sample_experts *s)
{
    const struct expert_routing routing = { .tokens = (double)s->tokens,
                                            .experts = s->experts,
                                            .experts_per_token = s->topk,
                                            .ranks = s->ranks,
                                            .exponent = s->exponent };
    return (struct experts_shape) { .hidden = s->hidden,
                                    .width = s->ffn / s->tensor,
                                    .gated = experts_are_gated(s->hidden, s->ffn),
                                    .tokens = (double)s->tokens,
                                    .experts = s->experts / s->ranks,
                                    .load = expert_load_of(&routing) };
}

static double predicted_s(const struct set *s, const struct row *r)
{
    return experts_s(s->gpu, &s->kernel, &r->shape);
}

static void set_terms(struct experts_kernel *k, const double *v)
{
    k->eta = v[ETA];
    k->port_Bps = v[PORT];
    k->hbm_frac = v[HBM];
    k->start_s = v[START];
    k->epilogue = v[EPILOGUE];
    k->partial_waves = v[PARTIAL];
    k->local_passes = v[LOCAL];
    k->all_passes = v[ALL];
    k->slot_s = v[SLOT];
    k->expert_s = v[EXPERT];
    k->foreign = v[FOREIGN];
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->kernel, values);
    for (int64_t i = 0; i < s->n_fit; i++) {
        double r = log(predicted_s(s, &s->rows[i]) / s->rows[i].sample->time_s);
        out[i] = fmax(-residual_most, fmin(r, residual_most));
    }
}

/* Starts are the same for all GPUs, but for the port, which grows with the rate of an
 * SM. The law has several local minima, by which of its terms binds. */
static int fit_starts(struct set *s, struct fit *best, struct err *err)
{
    static const struct fit_param ranges[TERMS] = {
        [ETA] = { .min = 0.02, .max = 1 },
        [PORT] = { .min = 1e9, .max = 2e12 },
        [HBM] = { .start = 0.7, .min = 0.05, .max = 1 },
        [START] = { .start = 30e-6, .min = 1e-6, .max = 5e-4 },
        [EPILOGUE] = { .start = 0.5, .min = 0.01, .max = 3 },
        [PARTIAL] = { .min = 0.02, .max = 1 },
        [LOCAL] = { .start = 0.5, .min = 1e-3, .max = 20 },
        [ALL] = { .start = 0.5, .min = 1e-3, .max = 20 },
        [SLOT] = { .start = 0.2e-9, .min = 1e-13, .max = 1e-7 },
        [EXPERT] = { .start = 1e-8, .min = 1e-11, .max = 2e-6 },
        [FOREIGN] = { .start = 0.01, .min = 1e-4, .max = 1 },
    };
    static const struct {
        double eta, per_port, partial;
    } starts[] = { { 0.6, 60, 0.5 }, { 0.4, 40, 0.9 }, { 0.75, 120, 0.3 } };
    double sm_flops = s->gpu->peak_flops[DTYPE_BF16] / (double)s->gpu->n_sms;
    best->loss = INFINITY;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct fit fit = { .n_params = TERMS,
                           .n = s->n_fit,
                           .weights = s->weights,
                           .residuals = residuals,
                           .arg = s };
        memcpy(fit.params, ranges, sizeof(ranges));
        fit.params[ETA].start = starts[i].eta;
        fit.params[PORT].start = sm_flops / starts[i].per_port;
        fit.params[PARTIAL].start = starts[i].partial;
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
        s->weights[i] = s->rows[i].sample->tokens >= MANY_TOKENS ? 1 : few_weight;
    if (fit_starts(s, &fit, err))
        return -1;
    for (int i = 0; i < TERMS; i++)
        values[i] = fit_rounded(fit.params[i].value);
    set_terms(&s->kernel, values);
    return 0;
}

/* Figures -------------------------------------------------------------------------- */

static int64_t sum_up(const struct set *s, int64_t from, int64_t to, double *median,
                      double *mean)
{
    double *errors = xmalloc((size_t)(to - from + 1) * sizeof(*errors));
    int64_t n = 0;
    for (int64_t i = from; i < to; i++)
        if (s->rows[i].sample->tokens >= MANY_TOKENS)
            errors[n++] =
                fabs(predicted_s(s, &s->rows[i]) / s->rows[i].sample->time_s - 1);
    fit_sum_up(errors, n, median, mean);
    free(errors);
    return n;
}

static bool is_same(const struct sample_experts *a, const struct sample_experts *b)
{
    return a->tokens == b->tokens && a->hidden == b->hidden && a->ffn == b->ffn &&
           a->topk == b->topk && a->experts == b->experts && a->tensor == b->tensor &&
           a->ranks == b->ranks && a->exponent == b->exponent &&
           a->format == b->format && strcmp(a->device, b->device) == 0;
}

/* What equal rows of other software differ by from those of the set. */
static void add_floor(struct calibration_experts *p, const struct set *set,
                      const struct samples *s)
{
    double errors[FLOOR_MOST];
    for (int64_t i = 0; i < set->n; i++) {
        const struct sample_experts *a = set->rows[i].sample;
        for (int64_t j = 0; a->tokens >= MANY_TOKENS && j < s->experts.n; j++) {
            const struct sample_experts *b = &s->experts.v[j];
            if (p->errors.n_floor < FLOOR_MOST && is_same(a, b) &&
                strcmp(a->software, b->software) != 0)
                errors[p->errors.n_floor++] = fabs(b->time_s / a->time_s - 1);
        }
    }
    fit_sum_up(errors, p->errors.n_floor, &p->errors.floor_median,
               &p->errors.floor_mean);
}

/* Sets ----------------------------------------------------------------------------- */

int experts_half(const struct sample_experts *s)
{
    char text[256];
    snprintf(text, sizeof(text),
             "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
             " %" PRId64 " %g",
             s->tokens, s->hidden, s->ffn, s->topk, s->experts, s->tensor, s->ranks,
             s->exponent);
    return fit_half(text);
}

static bool belongs(const struct calibration_experts *p, const struct sample_experts *r)
{
    return p->kernel.format == r->format && strcmp(p->device, r->device) == 0 &&
           strcmp(p->kernel.software, r->software) == 0;
}

static void list_sets(struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->experts.n; i++) {
        const struct sample_experts *r = &s->experts.v[i];
        bool known = false;
        for (int64_t k = c->experts.n - 1; k >= 0 && !known; k--)
            known = belongs(&c->experts.v[k], r);
        if (!known)
            VEC_PUSH(&c->experts,
                     ((struct calibration_experts) {
                         .device = r->device,
                         .kernel = { .software = r->software, .format = r->format } }));
    }
}

static void choose_rows(struct set *set, const struct calibration_experts *p,
                        const struct samples *s)
{
    size_t most = (size_t)s->experts.n + 1;
    set->rows = xmalloc(most * sizeof(*set->rows));
    set->weights = xmalloc(most * sizeof(*set->weights));
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 0; i < s->experts.n; i++) {
            const struct sample_experts *r = &s->experts.v[i];
            if (belongs(p, r) && experts_half(r) == half)
                set->rows[set->n++] = (struct row) { r, shape_of(r) };
        }
        if (half == 0)
            set->n_fit = set->n;
    }
}

static int fit_one(struct calibration_experts *p, const struct gpu *gpu,
                   const struct samples *s, struct err *err)
{
    struct set set = { .gpu = gpu, .kernel = p->kernel };
    int rc = 0;
    choose_rows(&set, p, s);
    if (product_peak_flops(gpu, p->kernel.format) <= 0) {
        p->why = "the GPU has no peak rate of this format";
    } else if (set.n_fit < ROWS_LEAST) {
        p->why = "too few measurements (40 of those to fit are needed)";
    } else {
        rc = fit_set(&set, err);
        p->kernel = set.kernel;
        p->errors.n_fit =
            sum_up(&set, 0, set.n_fit, &p->errors.fit_median, &p->errors.fit_mean);
        p->errors.n_held = sum_up(&set, set.n_fit, set.n, &p->errors.held_median,
                                  &p->errors.held_mean);
        add_floor(p, &set, s);
    }
    free(set.weights);
    free(set.rows);
    return rc;
}

/* The GPUs, and what is shipped of their experts. */
static int find_gpus(struct calibration *c, struct cfg_loader *loader,
                     const struct gpu **gpus)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    for (int64_t i = 0; i < c->experts.n; i++) {
        struct calibration_experts *p = &c->experts.v[i];
        if (fit_find_gpu(&gpus[i], &p->gpu, &p->why, loader, c->arena, p->device))
            return -1;
        if (!gpus[i] || !fit_is_shipped(c->arena, "topologies/experts", p->gpu))
            continue;
        const struct experts_kernels *shipped = experts_get(loader, p->gpu, nowhere);
        if (!shipped)
            return -1;
        const struct experts_kernel *found =
            experts_find(shipped, p->kernel.software, p->kernel.format->name);
        if (found && strcmp(found->software, p->kernel.software) == 0)
            p->shipped = found;
    }
    return 0;
}

static int fit_set_of(struct calibration *c, int64_t i, const struct gpu *gpu,
                      const struct samples *s, struct err *err)
{
    return fit_one(&c->experts.v[i], gpu, s, err);
}

int calibrate_experts(struct calibration *c, struct cfg_loader *loader,
                      const struct samples *s, struct err *err)
{
    list_sets(c, s);
    return fit_sets(c, c->experts.n, loader, s, find_gpus, fit_set_of, err);
}
