/* Constants of matrix products, per number format. */
#include "calibrate/fit_gemm.h"

#include "base/xmalloc.h"
#include "cost/kernel.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GEMMS_LEAST = 24, GEMMS_MOST = 4000, WAVES_LEAST = 60 };

static const double large_flops = 1e9;
static const double small_weight = 0.35; /* products below 1 GFLOP hardly matter */
static const double waves_better =
    0.8; /* loss of the other wave rule over this one's */

enum gemm_term {
    ETA,
    PORT,
    HBM,
    LAUNCH,
    EPILOGUE,
    MISALIGNED,
    MISALIGNED_BATCH,
    GEMM_TERMS
};

/* Times of the rows but for the launch, by terms that were tried. A fit tries many sets
 * that differ in one term, which most rows may not have. */
struct tried {
    double values[GEMM_TERMS];
    double *times_s; /* [rows] */
};

enum { TRIED = 8 }; /* the last: what a derivative is of, and each of its terms */

struct gemms {
    struct gpu gpu;
    enum dtype dtype;
    int64_t n;
    const struct sample_kernel **rows;
    enum gemm_term *slower; /* [rows] the term of its misalignment; GEMM_TERMS: none */
    double *weights;
    struct tried tried[TRIED];
    int64_t n_tried;
};

static double gemm_time_s(const struct gpu *gpu, const struct sample_kernel *k)
{
    return kernel_gemm_s(gpu, k->dtype, k->m, k->n, k->k, k->batch, false,
                         kernel_alone);
}

static void set_gemm(struct gpu_gemm *g, const double *values)
{
    g->eta = values[ETA];
    g->port_Bps = values[PORT];
    g->hbm_frac = values[HBM];
    g->launch_s = values[LAUNCH];
    g->epilogue = values[EPILOGUE];
    g->misaligned = values[MISALIGNED];
    g->misaligned_batch = values[MISALIGNED_BATCH];
}

/* Whether terms that all rows have are equal. */
static bool is_same(const double *a, const double *b)
{
    return a[ETA] == b[ETA] && a[PORT] == b[PORT] && a[HBM] == b[HBM] &&
           a[EPILOGUE] == b[EPILOGUE];
}

/* The latest whose terms are, so that rows without others have its times; NULL: none. */
static const struct tried *find_tried(const struct gemms *g, const double *values)
{
    for (int64_t i = g->n_tried - 1; i >= 0 && i >= g->n_tried - TRIED; i--)
        if (is_same(g->tried[i % TRIED].values, values))
            return &g->tried[i % TRIED];
    return NULL;
}

static const double *try_terms(struct gemms *g, const double *values)
{
    const struct tried *like = find_tried(g, values);
    struct tried *t = &g->tried[g->n_tried % TRIED];
    double was[GEMM_TERMS + 1] = { 0 }, is[GEMM_TERMS + 1] = { 0 };
    if (!t->times_s)
        t->times_s = xmalloc((size_t)(g->n + 1) * sizeof(*t->times_s));
    memcpy(was, like ? like->values : values, sizeof(t->values));
    memcpy(is, values, sizeof(t->values));
    g->gpu.gemm[g->dtype].launch_s = 0;
    for (int64_t i = 0; i < g->n; i++) {
        bool known = like && was[g->slower[i]] == is[g->slower[i]];
        t->times_s[i] = known ? like->times_s[i] : gemm_time_s(&g->gpu, g->rows[i]);
    }
    memcpy(t->values, is, sizeof(t->values));
    g->n_tried++;
    return t->times_s;
}

static void gemm_residuals(const double *values, double *residuals, void *arg)
{
    struct gemms *g = arg;
    set_gemm(&g->gpu.gemm[g->dtype], values);
    const double *times_s = try_terms(g, values);
    for (int64_t i = 0; i < g->n; i++)
        residuals[i] = log((values[LAUNCH] + times_s[i]) / g->rows[i]->time_s);
}

static void release_tried(struct gemms *g)
{
    for (int i = 0; i < TRIED; i++)
        free(g->tried[i].times_s);
}

static double flops_of(const struct sample_kernel *k)
{
    return 2.0 * (double)k->m * (double)k->n * (double)k->k * (double)k->batch;
}

static enum gemm_term slower_term(const struct sample_kernel *k)
{
    if (kernel_gemm_is_aligned(k->dtype, k->n, k->k, k->batch))
        return GEMM_TERMS;
    return k->batch > 1 ? MISALIGNED_BATCH : MISALIGNED;
}

/* At most GEMMS_MOST of the rows, evenly. */
static void choose_gemms(struct gemms *g, const struct samples *s)
{
    int64_t n = 0, at = 0, kept = 0;
    for (int64_t i = 0; i < s->gemms.n; i++)
        n += s->gemms.v[i].dtype == g->dtype;
    g->n = n < GEMMS_MOST ? n : GEMMS_MOST;
    g->rows = xmalloc((size_t)(g->n + 1) * sizeof(const struct sample_kernel *));
    g->weights = xmalloc((size_t)(g->n + 1) * sizeof(*g->weights));
    g->slower = xmalloc((size_t)(g->n + 1) * sizeof(*g->slower));
    for (int64_t i = 0; i < s->gemms.n && kept < g->n; i++) {
        const struct sample_kernel *k = &s->gemms.v[i];
        if (k->dtype != g->dtype)
            continue;
        if (at * g->n / n >= kept) {
            g->rows[kept] = k;
            g->slower[kept] = slower_term(k);
            g->weights[kept++] = flops_of(k) > large_flops ? 1 : small_weight;
        }
        at++;
    }
    g->n = kept;
}

static struct fit gemm_fit(struct gemms *g)
{
    static const struct fit_param ranges[GEMM_TERMS] = {
        [ETA] = { .name = "eta", .min = 0.05, .max = 1.2 },
        [PORT] = { .name = "port", .min = 2e9, .max = 2e12 },
        [HBM] = { .name = "hbm_frac", .min = 0.05, .max = 1 },
        [LAUNCH] = { .name = "launch", .min = 0.3e-6, .max = 40e-6 },
        [EPILOGUE] = { .name = "epilogue", .min = 0.05, .max = 1 },
        [MISALIGNED] = { .name = "misaligned", .min = 1, .max = 20 },
        [MISALIGNED_BATCH] = { .name = "misaligned_batch", .min = 1, .max = 20 },
    };
    const struct gpu_gemm *base = &g->gpu.gemm[g->dtype];
    const double start[GEMM_TERMS] = {
        base->eta,      base->port_Bps,   base->hbm_frac,        base->launch_s,
        base->epilogue, base->misaligned, base->misaligned_batch
    };
    struct fit fit = { .n_params = GEMM_TERMS,
                       .n = g->n,
                       .weights = g->weights,
                       .residuals = gemm_residuals,
                       .arg = g };
    for (int i = 0; i < GEMM_TERMS; i++) {
        fit.params[i] = ranges[i];
        fit.params[i].start =
            calibration_within(start[i], ranges[i].min, ranges[i].max);
    }
    return fit;
}

static void add_wave_rule(struct calibration *c, const struct gemms *g, bool fractional,
                          bool base, bool identified)
{
    struct calibration_term t = {
        .group = arena_printf(c->arena, "%s products", names_of(dtype_names, g->dtype)),
        .name = "fractional",
        .path = arena_printf(c->arena, "gemm/%s/fractional",
                             names_of(dtype_names, g->dtype)),
        .is_flag = true,
        .value = fractional,
        .base = base,
        .fitted = identified,
        .n = g->n
    };
    if (!identified)
        t.why = "too few products to identify the rule of waves";
    VEC_PUSH(&c->terms, t);
}

static void add_gemm_terms(struct calibration *c, const struct gemms *g,
                           const struct gpu_gemm *base, const struct fit *fit)
{
    const char *dtype = names_of(dtype_names, g->dtype);
    const char *group = arena_printf(c->arena, "%s products", dtype);
    struct calibration_term terms[GEMM_TERMS] = {
        [ETA] = { .base = base->eta },
        [PORT] = { .base = base->port_Bps, .unit = UNIT_BYTES_PER_S },
        [HBM] = { .base = base->hbm_frac },
        [LAUNCH] = { .base = base->launch_s, .unit = UNIT_SECONDS },
        [EPILOGUE] = { .base = base->epilogue },
        [MISALIGNED] = { .base = base->misaligned },
        [MISALIGNED_BATCH] = { .base = base->misaligned_batch },
    };
    for (int i = 0; i < GEMM_TERMS; i++) {
        terms[i].group = group;
        terms[i].name = fit->params[i].name;
        terms[i].path =
            arena_printf(c->arena, "gemm/%s/%s", dtype, fit->params[i].name);
    }
    calibration_add_fit(c, fit, terms);
}

static void add_gemm_figures(struct calibration *c, const struct gpu *fitted,
                             const struct gpu *base, enum dtype dtype,
                             const struct samples *s)
{
    double *v = xmalloc((size_t)(3 * s->gemms.n) * sizeof(*v));
    for (int large = 0; large < 2; large++) {
        double *predicted = v, *before = v + s->gemms.n, *time = v + 2 * s->gemms.n;
        int64_t n = 0;
        for (int64_t i = 0; i < s->gemms.n; i++) {
            const struct sample_kernel *k = &s->gemms.v[i];
            if (k->dtype != dtype || (large && flops_of(k) <= large_flops))
                continue;
            predicted[n] = gemm_time_s(fitted, k);
            before[n] = gemm_time_s(base, k);
            time[n++] = k->time_s;
        }
        calibration_add_figure(c,
                               arena_printf(c->arena, "%s products%s",
                                            names_of(dtype_names, dtype),
                                            large ? " above 1 GFLOP" : ""),
                               predicted, before, time, n);
    }
    free(v);
}

/* Both rules of waves are tried where there is enough to distinguish them. */
static int fit_gemms(struct calibration *c, struct gpu *gpu, struct gemms *g,
                     const struct samples *s, struct err *err)
{
    struct gpu_gemm base = gpu->gemm[g->dtype];
    struct gpu before = *gpu;
    bool identified = g->n >= WAVES_LEAST, fractional = base.partial_waves > 0;
    struct gemms other = *g;
    other.gpu.gemm[g->dtype].partial_waves = !fractional;
    struct fit fit = gemm_fit(g), turned = gemm_fit(&other);
    struct err errs[2] = { { 0 } };
#pragma omp parallel sections
    {
        fit_run_known(&fit, calibration_unreported, &errs[0]);
#pragma omp section
        if (identified)
            fit_run_known(&turned, calibration_unreported, &errs[1]);
    }
    release_tried(g);
    release_tried(&other);
    if (errs[0].set || errs[1].set) {
        *err = errs[errs[0].set ? 0 : 1];
        return -1;
    }
    if (identified && turned.loss < waves_better * fit.loss) {
        fit = turned;
        fractional = !fractional;
    }
    double values[GEMM_TERMS];
    for (int i = 0; i < GEMM_TERMS; i++)
        values[i] = fit.params[i].value;
    set_gemm(&gpu->gemm[g->dtype], values);
    gpu->gemm[g->dtype].partial_waves = fractional;
    add_gemm_terms(c, g, &base, &fit);
    add_wave_rule(c, g, fractional, base.partial_waves > 0, identified);
    add_gemm_figures(c, gpu, &before, g->dtype, s);
    return 0;
}

int fit_gemm_dtype(struct calibration *c, struct gpu *gpu, enum dtype dtype,
                   const struct samples *s, struct err *err)
{
    struct gemms g = { .gpu = *gpu, .dtype = dtype };
    int rc = 0;
    choose_gemms(&g, s);
    if (g.n > 0 && gpu->peak_flops[dtype] <= 0)
        rc = err_set(err, "%s has no peak rate for %s, in which products were measured",
                     gpu->name, names_of(dtype_names, dtype));
    else if (g.n >= GEMMS_LEAST)
        rc = fit_gemms(c, gpu, &g, s, err);
    else if (gpu->peak_flops[dtype] > 0)
        calibration_add_kept(
            c, arena_printf(c->arena, "%s products", names_of(dtype_names, dtype)),
            "all terms", UNIT_NONE, (double)NAN, g.n,
            g.n ? "too few measurements (24 are needed)" : "not measured");
    free(g.rows);
    free(g.slower);
    free(g.weights);
    return rc;
}

/* Clocks --------------------------------------------------------------------------- */

void fit_gemm_clock(struct calibration *c, struct gpu *gpu, enum dtype dtype,
                    const struct samples *s)
{
    double *ratios = xmalloc((size_t)(s->clocks.n + 1) * sizeof(*ratios));
    const char *name = names_of(dtype_names, dtype);
    int64_t n = 0;
    for (int64_t i = 0; i < s->clocks.n; i++)
        if (s->clocks.v[i].dtype == dtype)
            ratios[n++] = s->clocks.v[i].burst_s / s->clocks.v[i].sustained_s;
    struct calibration_term t = {
        .group = arena_printf(c->arena, "%s clock", name),
        .name = "sustained",
        .path = arena_printf(c->arena, "gemm/%s/sustained", name),
        .base = gpu->gemm[dtype].sustained,
        .value = gpu->gemm[dtype].sustained,
        .n = n,
        .why = n ? NULL : "not measured",
    };
    if (n > 0) {
        gsl_sort(ratios, 1, (size_t)n);
        t.value = calibration_within(
            gsl_stats_median_from_sorted_data(ratios, 1, (size_t)n), 0.01, 1.5);
        t.half = (ratios[n - 1] - ratios[0]) / 2;
        t.fitted = true;
        gpu->gemm[dtype].sustained = t.value;
    }
    if (gpu->peak_flops[dtype] > 0)
        VEC_PUSH(&c->terms, t);
    free(ratios);
}
