/* Constants of products by device, software and format: MODEL.md (16.9). */
#include "calibrate/calibration.h"
#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"
#include "config/datadir.h"
#include "cost/gemm.h"
#include "cost/product.h"
#include "hardware/gpu_rule.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNBOUND_LEAST = 10, WEIGHTED_SIZES = 3 };

static const double other_weight = 0.35; /* of shapes that training does not have */
static const double host_bound_weight = 0.02;
static const double host_share = 3; /* rows count from three host times on */
static const double host_small_flops = 3e10;
static const double host_least_s = 30e-6; /* a graph's products take less */

enum { ETA, PORT, HBM, LAUNCH, EPILOGUE, PARTIAL, LOSS, HALF, QUANTIZE, ROW, TERMS };

/* One device, software and format. */
struct set {
    const struct gpu *gpu;
    const struct samples *samples;
    const struct fit_rows *rows;
    struct product product;
    double *weights;
};

static const struct sample_product *row_of(const struct set *s, int64_t i)
{
    return &s->samples->products.v[s->rows->at[i]];
}

int product_half(int64_t m, int64_t n, int64_t k)
{
    char text[64];
    snprintf(text, sizeof(text), "%" PRId64 " %" PRId64 " %" PRId64, m, n, k);
    return fit_half(text);
}

static bool is_training(const struct sample_product *r)
{
    return r->m >= 1024 && r->n >= 512 && r->k >= 512;
}

static double flops_of(const struct sample_product *r)
{
    return 2.0 * (double)r->m * (double)r->n * (double)r->k;
}

static double ratio(const struct set *s, const struct sample_product *r)
{
    return product_s(s->gpu, &s->product, r->m, r->n, r->k, true) / r->time_s;
}

/* What is fixed, and the start --------------------------------------------------------- */

/* Latency of a tile's loads by architecture, as (3.2) has it on A100 and H100; between
 * for GPUs with GDDR. */
static double latency_s(int64_t sm_arch)
{
    return sm_arch == 80 ? 3.5e-9 : sm_arch >= 90 && sm_arch < 120 ? 1.36e-9 : 2.9e-9;
}

enum { ADA = 89 };

static enum gemm_tiles tiles_of(const struct gpu *gpu, const struct product_format *f)
{
    bool hopper = gpu->sm_arch >= 90 && gpu->sm_arch < 100;
    bool blackwell = gpu->sm_arch >= 100 && gpu->sm_arch < 120;
    if (strcmp(f->name, "fp8") != 0)
        return gemm_tiles_of(gpu->sm_arch);
    return hopper                ? GEMM_TILES_CUTLASS_HOPPER
           : blackwell           ? GEMM_TILES_CUTLASS_BLACKWELL
           : gpu->sm_arch == ADA ? GEMM_TILES_CUTLASS_ADA
                                 : GEMM_TILES_CUTLASS;
}

/* (3.2) A tile's loads have more of L2 where other SMs are idle: cuBLAS's kernels without
 * clusters show it in 16 bits, and CUTLASS's on Ada. Rows do not identify how much more at most. */
static double port_gain(const struct product *p)
{
    bool is_alone = (p->tiles == GEMM_TILES_AMPERE && p->format->dtype == DTYPE_BF16) ||
                    p->tiles == GEMM_TILES_CUTLASS_ADA;
    return is_alone ? 4 : 1;
}

/* The host's time, where it limits small products: their median. */
static double host_s(const struct set *s)
{
    double *times = xmalloc((size_t)(s->rows->n_fit + 1) * sizeof(*times)), host = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < s->rows->n_fit; i++)
        if (flops_of(row_of(s, i)) < host_small_flops)
            times[n++] = row_of(s, i)->time_s;
    if (n > 0) {
        gsl_sort(times, 1, (size_t)n);
        if (gsl_stats_quantile_from_sorted_data(times, 1, (size_t)n, 0.1) >
            host_least_s)
            host = gsl_stats_median_from_sorted_data(times, 1, (size_t)n);
    }
    free(times);
    return host;
}

static void set_fixed(struct set *s)
{
    s->product.gemm = (struct gpu_gemm) { .sustained = 1,
                                          .misaligned = 1,
                                          .misaligned_batch = 1,
                                          .split_s = 2.87e-6,
                                          .latency_s = latency_s(s->gpu->sm_arch) };
    s->product.tiles = tiles_of(s->gpu, s->product.format);
    s->product.gemm.port_gain = port_gain(&s->product);
    s->product.host_s = host_s(s);
}

static void set_terms(struct product *p, const double *v)
{
    p->gemm.eta = v[ETA];
    p->gemm.port_Bps = v[PORT];
    p->gemm.hbm_frac = v[HBM];
    p->gemm.launch_s = v[LAUNCH];
    p->gemm.epilogue = v[EPILOGUE];
    p->gemm.partial_waves = v[PARTIAL];
    p->loop_loss = v[LOSS];
    p->loop_half_s = v[HALF];
    p->quantize_frac = v[QUANTIZE];
    p->quantize_row_s = v[ROW];
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->product, values);
    for (int64_t i = 0; i < s->rows->n_fit; i++)
        out[i] = log(ratio(s, row_of(s, i)));
}

/* Starts are the same for all GPUs, but for the port, which grows with the rate of an
 * SM. */
static struct fit fit_of(struct set *s)
{
    static const struct fit_param ranges[TERMS] = {
        [ETA] = { .start = 0.8, .min = 0.05, .max = 1 },
        [PORT] = { .min = 5e9, .max = 1e12 },
        [HBM] = { .start = 0.8, .min = 0.05, .max = 1 },
        [LAUNCH] = { .start = 2.6e-6, .min = 0.3e-6, .max = 40e-6 },
        [EPILOGUE] = { .start = 0.5, .min = 0.02, .max = 1 },
        [PARTIAL] = { .start = 0.5, .min = 0.02, .max = 1 },
        [LOSS] = { .start = 0.08, .min = 0.002, .max = 2 },
        [HALF] = { .start = 1e-3, .min = 1e-4, .max = 1e-2 },
        [QUANTIZE] = { .start = 0.5, .min = 0.02, .max = 2 },
        [ROW] = { .start = 4e-9, .min = 1e-10, .max = 5e-8 },
    };
    double bf16_flops = s->gpu->peak_flops[DTYPE_BF16] / (double)s->gpu->n_sms;
    struct fit fit = { .n_params = TERMS,
                       .n = s->rows->n_fit,
                       .weights = s->weights,
                       .residuals = residuals,
                       .arg = s };
    memcpy(fit.params, ranges, sizeof(ranges));
    fit.params[PORT].start = bf16_flops / 60;
    if (s->gpu->sm_arch == 80) { /* whole waves; pairs of small tiles */
        fit.params[PARTIAL].fixed = true;
        fit.params[PARTIAL].start = 0;
    }
    if (product_quantize_B(s->product.format) <= 0) {
        fit.params[QUANTIZE].fixed = fit.params[ROW].fixed = true;
        fit.params[QUANTIZE].start = fit.params[ROW].start = 0;
    }
    return fit;
}

/* The best from a few starts: the law has several local minima, by which of the port
 * and the arithmetic binds. */
static int fit_starts(struct set *s, struct fit *best, struct err *err)
{
    static const struct {
        double eta, port, partial;
    } starts[] = { { 1, 1, 1 }, { 0.6, 1.5, 0.6 }, { 1.15, 0.5, 0.4 } };
    best->loss = INFINITY;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct fit fit = fit_of(s);
        fit.params[ETA].start *= starts[i].eta;
        fit.params[PORT].start *= starts[i].port;
        fit.params[PARTIAL].start *= starts[i].partial;
        if (fit_simplex(&fit, err))
            return -1;
        if (fit.loss < best->loss)
            *best = fit;
    }
    return 0;
}

/* By one scale a tensor, rows quantized number by number and by a block's 2,048 at once;
 * the better. */
static int fit_steps(struct set *s, struct fit *best, struct err *err)
{
    enum { BLOCK_STEP = 2048 };
    struct fit fit;
    if (fit_starts(s, best, err))
        return -1;
    if (s->product.format->dtype != DTYPE_FP8)
        return 0;
    s->product.quantize_step = BLOCK_STEP;
    if (fit_starts(s, &fit, err))
        return -1;
    if (fit.loss < best->loss)
        *best = fit;
    else
        s->product.quantize_step = 0;
    return 0;
}

/* Sets the weights; how many rows the host does not limit. */
static int64_t weigh(struct set *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->rows->n_fit; i++) {
        const struct sample_product *r = row_of(s, i);
        bool bound = r->time_s < host_share * s->product.host_s;
        n += !bound;
        s->weights[i] = bound ? host_bound_weight : is_training(r) ? 1 : other_weight;
    }
    return n;
}

/* Where the host limits nearly all rows, they identify its time alone: the other terms
 * stay at their starts. */
static int fit_set(struct set *s, bool *host_alone, struct err *err)
{
    double values[TERMS];
    set_fixed(s);
    *host_alone = weigh(s) < UNBOUND_LEAST;
    struct fit fit = fit_of(s);
    if (!*host_alone && fit_steps(s, &fit, err))
        return -1;
    for (int i = 0; i < TERMS; i++)
        values[i] =
            fit_rounded(*host_alone ? fit.params[i].start : fit.params[i].value);
    set_terms(&s->product, values);
    s->product.host_s = fit_rounded(s->product.host_s);
    return 0;
}

/* Figures -------------------------------------------------------------------------- */

static double error(const void *set, int64_t i)
{
    const struct set *s = set;
    const struct sample_product *r = row_of(s, i);
    bool counts = is_training(r) && r->time_s >= host_share * s->product.host_s;
    return counts ? fabs(ratio(s, r) - 1) : (double)NAN;
}

static bool is_same(const struct sample_product *a, const struct sample_product *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->format == b->format &&
           strcmp(a->device, b->device) == 0;
}

/* What equal rows of other software differ by from those of the set. */
static void add_floor(struct calibration_errors *e, const struct set *set)
{
    const struct samples *s = set->samples;
    int64_t most = WEIGHTED_SIZES * set->rows->n;
    double *errors = xmalloc((size_t)(most + 1) * sizeof(*errors));
    for (int64_t i = 0; i < set->rows->n; i++)
        for (int64_t j = 0; is_training(row_of(set, i)) && j < s->products.n; j++) {
            const struct sample_product *a = row_of(set, i), *b = &s->products.v[j];
            if (e->n_floor < most && b->n == a->n && is_same(a, b) &&
                strcmp(a->software, b->software) != 0)
                errors[e->n_floor++] = fabs(b->time_s / a->time_s - 1);
        }
    fit_sum_up(errors, e->n_floor, &e->floor_median, &e->floor_mean);
    free(errors);
}

static void add_figures(struct calibration_product *p, const struct set *set)
{
    fit_sum_up_set(&p->set.errors, set->rows, error, set);
    if (p->shipped) {
        struct set shipped = *set;
        shipped.product = *p->shipped;
        fit_sum_up_rows(error, &shipped, 0, set->rows->n_fit, &p->shipped_median,
                        &p->shipped_mean);
    }
    if (p->rule_gpu) {
        struct set ruled = *set;
        ruled.product = p->ruled;
        ruled.product.host_s = p->product.host_s; /* no property of a GPU */
        fit_sum_up_rows(error, &ruled, 0, set->rows->n, &p->rule_median, &p->rule_mean);
    }
    add_floor(&p->set.errors, set);
}

static int fit(struct calibration *c, int64_t i, const struct gpu *gpu,
               const struct samples *s, const struct fit_rows *rows, struct err *err)
{
    struct calibration_product *p = &c->products.v[i];
    struct set set = { .gpu = gpu,
                       .samples = s,
                       .rows = rows,
                       .product = p->product,
                       .weights = xmalloc((size_t)rows->n * sizeof(*set.weights)) };
    int rc = fit_set(&set, &p->host_alone, err);
    p->product = set.product;
    add_figures(p, &set);
    free(set.weights);
    return rc;
}

/* Sets ----------------------------------------------------------------------------- */

static int64_t count(const struct samples *s)
{
    return s->products.n;
}

static int half(const struct samples *s, int64_t row)
{
    const struct sample_product *r = &s->products.v[row];
    return product_half(r->m, r->n, r->k);
}

static struct calibration_set *set_of(struct calibration *c, int64_t i)
{
    return i < c->products.n ? &c->products.v[i].set : NULL;
}

static void add(struct calibration *c, const struct samples *s, int64_t row)
{
    const struct sample_product *r = &s->products.v[row];
    VEC_PUSH(&c->products,
             ((struct calibration_product) {
                 .set.device = r->device,
                 .product = { .software = r->software, .format = r->format } }));
}

static bool belongs(const struct calibration *c, int64_t i, const struct samples *s,
                    int64_t row)
{
    const struct calibration_product *p = &c->products.v[i];
    const struct sample_product *r = &s->products.v[row];
    return p->product.format == r->format && strcmp(p->set.device, r->device) == 0 &&
           strcmp(p->product.software, r->software) == 0;
}

static double peak_flops(const struct calibration *c, int64_t i, const struct gpu *gpu)
{
    return product_peak_flops(gpu, c->products.v[i].product.format);
}

/* What is shipped of the set, and what the rule makes of another GPU's. */
static int find_shipped(struct calibration *c, int64_t i, struct cfg_loader *loader,
                        const struct gpu *gpu)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    struct calibration_product *p = &c->products.v[i];
    const struct products *shipped = products_get(loader, gpu->name, nowhere);
    const struct gpu *other = gpu_nearest(loader, gpu, nowhere);
    if (!shipped || !other)
        return -1;
    const struct products *others = products_get(loader, other->name, nowhere);
    if (!others)
        return -1;
    const char *software = p->product.software, *format = p->product.format->name;
    const struct product *found = products_find(shipped, software, format);
    if (found && strcmp(found->software, software) == 0)
        p->shipped = found;
    found = products_find(others, software, format);
    if (found) {
        p->rule_gpu = other->name;
        p->ruled = gpu_rule_product(gpu, other, found);
    }
    return 0;
}

static const struct fit_kind products = {
    .folder = "topologies/products",
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

int calibrate_products(struct calibration *c, struct cfg_loader *loader,
                       const struct samples *s, struct err *err)
{
    return fit_sets(c, &products, loader, s, err);
}
