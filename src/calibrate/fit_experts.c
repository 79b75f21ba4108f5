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

enum { MANY_TOKENS = 1024, FLOOR_MOST = 4000 };

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

/* A row, and its shape: the load of experts takes long to find. */
struct row {
    const struct sample_experts *sample;
    struct experts_shape shape;
};

/* One device, software and format. */
struct set {
    const struct gpu *gpu;
    struct experts_kernel kernel;
    int64_t n_fit; /* those fitted to come first */
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

static double ratio(const struct set *s, const struct row *r)
{
    return experts_s(s->gpu, &s->kernel, &r->shape) / r->sample->time_s;
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
        double r = log(ratio(s, &s->rows[i]));
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

/* Of many tokens alone. */
static double error(const void *set, int64_t i)
{
    const struct row *r = &((const struct set *)set)->rows[i];
    return r->sample->tokens >= MANY_TOKENS ? fabs(ratio(set, r) - 1) : (double)NAN;
}

static bool is_same(const struct sample_experts *a, const struct sample_experts *b)
{
    return a->tokens == b->tokens && a->hidden == b->hidden && a->ffn == b->ffn &&
           a->topk == b->topk && a->experts == b->experts && a->tensor == b->tensor &&
           a->ranks == b->ranks && a->exponent == b->exponent &&
           a->format == b->format && strcmp(a->device, b->device) == 0;
}

/* What equal rows of other software differ by from those of the set. */
static void add_floor(struct calibration_errors *e, const struct fit_rows *rows,
                      const struct samples *s)
{
    double errors[FLOOR_MOST];
    for (int64_t i = 0; i < rows->n; i++) {
        const struct sample_experts *a = &s->experts.v[rows->at[i]];
        for (int64_t j = 0; a->tokens >= MANY_TOKENS && j < s->experts.n; j++) {
            const struct sample_experts *b = &s->experts.v[j];
            if (e->n_floor < FLOOR_MOST && is_same(a, b) &&
                strcmp(a->software, b->software) != 0)
                errors[e->n_floor++] = fabs(b->time_s / a->time_s - 1);
        }
    }
    fit_sum_up(errors, e->n_floor, &e->floor_median, &e->floor_mean);
}

static int fit(struct calibration *c, int64_t i, const struct gpu *gpu,
               const struct samples *s, const struct fit_rows *rows, struct err *err)
{
    struct calibration_experts *p = &c->experts.v[i];
    struct set set = { .gpu = gpu,
                       .kernel = p->kernel,
                       .n_fit = rows->n_fit,
                       .rows = xmalloc((size_t)rows->n * sizeof(*set.rows)),
                       .weights = xmalloc((size_t)rows->n * sizeof(*set.weights)) };
    for (int64_t k = 0; k < rows->n; k++) {
        const struct sample_experts *r = &s->experts.v[rows->at[k]];
        set.rows[k] = (struct row) { r, shape_of(r) };
    }
    int rc = fit_set(&set, err);
    p->kernel = set.kernel;
    fit_sum_up_set(&p->set.errors, rows, error, &set);
    add_floor(&p->set.errors, rows, s);
    free(set.weights);
    free(set.rows);
    return rc;
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

static int64_t count(const struct samples *s)
{
    return s->experts.n;
}

static int half(const struct samples *s, int64_t row)
{
    return experts_half(&s->experts.v[row]);
}

static struct calibration_set *set_of(struct calibration *c, int64_t i)
{
    return i < c->experts.n ? &c->experts.v[i].set : NULL;
}

static void add(struct calibration *c, const struct samples *s, int64_t row)
{
    const struct sample_experts *r = &s->experts.v[row];
    VEC_PUSH(&c->experts,
             ((struct calibration_experts) {
                 .set.device = r->device,
                 .kernel = { .software = r->software, .format = r->format } }));
}

static bool belongs(const struct calibration *c, int64_t i, const struct samples *s,
                    int64_t row)
{
    const struct calibration_experts *p = &c->experts.v[i];
    const struct sample_experts *r = &s->experts.v[row];
    return p->kernel.format == r->format && strcmp(p->set.device, r->device) == 0 &&
           strcmp(p->kernel.software, r->software) == 0;
}

static double peak_flops(const struct calibration *c, int64_t i, const struct gpu *gpu)
{
    return product_peak_flops(gpu, c->experts.v[i].kernel.format);
}

static int find_shipped(struct calibration *c, int64_t i, struct cfg_loader *loader,
                        const struct gpu *gpu)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    struct calibration_experts *p = &c->experts.v[i];
    const struct experts_kernels *shipped = experts_get(loader, gpu->name, nowhere);
    if (!shipped)
        return -1;
    const struct experts_kernel *found =
        experts_find(shipped, p->kernel.software, p->kernel.format->name);
    if (found && strcmp(found->software, p->kernel.software) == 0)
        p->shipped = found;
    return 0;
}

static const struct fit_kind experts = {
    .folder = "topologies/experts",
    .rows_least = 40,
    .count = count,
    .half = half,
    .set = set_of,
    .add = add,
    .belongs = belongs,
    .peak_flops = peak_flops,
    .find_shipped = find_shipped,
    .fit = fit,
};

int calibrate_experts(struct calibration *c, struct cfg_loader *loader,
                      const struct samples *s, struct err *err)
{
    return fit_sets(c, &experts, loader, s, err);
}
