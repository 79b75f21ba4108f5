/* Kernel constants of a GPU: the terms of MODEL.md, "Kernels", fitted to measured times
 * with the same functions that predict them. */
#include "calibrate/fit_gemm.h"

#include "base/xmalloc.h"
#include "cost/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_LEAST = 8, FLASHES_LEAST = 6 };

static const double flash_flops_least = 1e9; /* less is launch and wrapper, no rate */

/* Memory-bound kernels ------------------------------------------------------------- */

struct streams {
    struct gpu gpu;
    const struct samples *s;
};

static void stream_residuals(const double *values, double *residuals, void *arg)
{
    struct streams *g = arg;
    g->gpu.kernel_s = values[0];
    g->gpu.stream_frac = values[1];
    for (int64_t i = 0; i < g->s->streams.n; i++) {
        const struct sample_stream *k = &g->s->streams.v[i];
        residuals[i] =
            log(kernel_stream_s(&g->gpu, k->bytes, kernel_alone) / k->time_s);
    }
}

static void add_stream_figure(struct calibration *c, const struct gpu *fitted,
                              const struct gpu *base, const struct samples *s)
{
    int64_t n = s->streams.n;
    double *v = xmalloc((size_t)(3 * n) * sizeof(*v));
    for (int64_t i = 0; i < n; i++) {
        const struct sample_stream *k = &s->streams.v[i];
        v[i] = kernel_stream_s(fitted, k->bytes, kernel_alone);
        v[n + i] = kernel_stream_s(base, k->bytes, kernel_alone);
        v[2 * n + i] = k->time_s;
    }
    calibration_add_figure(c, "memory-bound kernels", v, v + n, v + 2 * n, n);
    free(v);
}

static int fit_streams(struct calibration *c, struct gpu *gpu, const struct samples *s,
                       struct err *err)
{
    struct gpu base = *gpu;
    struct streams g = { *gpu, s };
    struct fit fit = {
        .n_params = 2, .n = s->streams.n, .residuals = stream_residuals, .arg = &g
    };
    static const char group[] = "memory-bound";
    const struct calibration_term terms[] = {
        { .group = group,
          .name = "kernel",
          .path = "kernel",
          .unit = UNIT_SECONDS,
          .base = gpu->kernel_s },
        { .group = group,
          .name = "stream_frac",
          .path = "stream_frac",
          .base = gpu->stream_frac },
    };
    if (fit.n < STREAMS_LEAST) {
        for (int i = 0; i < 2; i++)
            calibration_add_kept(
                c, group, terms[i].name, terms[i].unit, terms[i].base, fit.n,
                fit.n ? "too few measurements (8 are needed)" : "not measured");
        return 0;
    }
    fit.params[0] =
        (struct fit_param) { .name = "kernel",
                             .start = calibration_within(base.kernel_s, 1e-6, 1e-4),
                             .min = 3e-7,
                             .max = 1e-3 };
    fit.params[1] = (struct fit_param) {
        .name = "stream_frac", .start = base.stream_frac, .min = 0.05, .max = 1
    };
    if (fit_run_known(&fit, calibration_unreported, err))
        return -1;
    gpu->kernel_s = fit.params[0].value;
    gpu->stream_frac = fit.params[1].value;
    calibration_add_fit(c, &fit, terms);
    add_stream_figure(c, gpu, &base, s);
    return 0;
}

/* Fused attention ------------------------------------------------------------------ */

struct flashes {
    struct gpu gpu;
    bool backward;
    int64_t n;
    const struct sample_kernel **rows;
};

static double flash_time_s(const struct gpu *gpu, const struct sample_kernel *k)
{
    const struct kernel_flash flash = { .dtype = k->dtype,
                                        .m = k->m,
                                        .n = k->n,
                                        .head_dim = k->k,
                                        .heads = k->batch,
                                        .causal = k->causal,
                                        .backward = k->backward };
    return kernel_flash_s(gpu, &flash, kernel_alone);
}

static void flash_residuals(const double *values, double *residuals, void *arg)
{
    struct flashes *g = arg;
    g->gpu.flash_frac[GPU_FLASH_ANY][g->backward] = values[0];
    for (int64_t i = 0; i < g->n; i++)
        residuals[i] = log(flash_time_s(&g->gpu, g->rows[i]) / g->rows[i]->time_s);
}

static void add_flash_figure(struct calibration *c, const struct flashes *g,
                             const struct gpu *fitted, const struct gpu *base)
{
    double *v = xmalloc((size_t)(3 * g->n) * sizeof(*v));
    for (int64_t i = 0; i < g->n; i++) {
        v[i] = flash_time_s(fitted, g->rows[i]);
        v[g->n + i] = flash_time_s(base, g->rows[i]);
        v[2 * g->n + i] = g->rows[i]->time_s;
    }
    calibration_add_figure(
        c, g->backward ? "fused attention, backward" : "fused attention", v, v + g->n,
        v + 2 * g->n, g->n);
    free(v);
}

static bool is_rate(const struct sample_kernel *k)
{
    double pairs = (double)k->m * (double)k->n * (k->causal ? 0.5 : 1);
    return 4 * pairs * (double)k->k * (double)k->batch > flash_flops_least;
}

/* One direction. */
static int fit_flash(struct calibration *c, struct gpu *gpu, bool backward,
                     const struct samples *s, struct err *err)
{
    struct gpu base = *gpu;
    struct flashes g = { .gpu = *gpu, .backward = backward };
    const char *name = backward ? "flash_backward_frac" : "flash_forward_frac";
    const struct calibration_term term = {
        .group = "fused attention",
        .name = name,
        .path = name,
        .base = gpu->flash_frac[GPU_FLASH_ANY][backward]
    };
    int rc = 0;
    g.rows = xmalloc((size_t)(s->flashes.n + 1) * sizeof(const struct sample_kernel *));
    for (int64_t i = 0; i < s->flashes.n; i++)
        if (s->flashes.v[i].backward == backward && is_rate(&s->flashes.v[i]))
            g.rows[g.n++] = &s->flashes.v[i];
    if (g.n < FLASHES_LEAST) {
        calibration_add_kept(c, term.group, name, UNIT_NONE, term.base, g.n,
                             g.n ? "too few measurements (6 are needed)"
                                 : "no library's kernel was measured");
    } else {
        struct fit fit = {
            .n_params = 1, .n = g.n, .residuals = flash_residuals, .arg = &g
        };
        fit.params[0] =
            (struct fit_param) { .name = name,
                                 .start = calibration_within(term.base, 0.02, 0.99),
                                 .min = 0.01,
                                 .max = 1 };
        rc = fit_run_known(&fit, calibration_unreported, err);
        if (rc == 0) {
            gpu->flash_frac[GPU_FLASH_ANY][backward] = fit.params[0].value;
            calibration_add_fit(c, &fit, &term);
            add_flash_figure(c, &g, gpu, &base);
        }
    }
    free(g.rows);
    return rc;
}

/* All ------------------------------------------------------------------------------ */

static void set_context(struct calibration *c, struct gpu *gpu, const struct samples *s)
{
    struct calibration_term t = { .group = "memory",
                                  .name = "context",
                                  .path = "context",
                                  .unit = UNIT_BYTES,
                                  .base = (double)gpu->context_B,
                                  .value = (double)gpu->context_B,
                                  .why = "not measured" };
    if (s->context_B > 0 && s->context_B < gpu->memory_B) {
        t.value = (double)s->context_B;
        t.fitted = true;
        t.why = NULL;
        t.n = 1;
        gpu->context_B = s->context_B;
    }
    VEC_PUSH(&c->terms, t);
}

/* The 16-bit formats run alike: where one was measured, the other is as it. */
static void copy_alike(struct calibration *c, struct gpu *gpu, enum dtype from,
                       enum dtype to)
{
    const char *source = names_of(dtype_names, from), *name = names_of(dtype_names, to);
    const char *prefix = arena_printf(c->arena, "gemm/%s/", source);
    for (int64_t i = 0, n = c->terms.n; i < n; i++) {
        struct calibration_term t = c->terms.v[i];
        if (!t.fitted || !t.path || strncmp(t.path, prefix, strlen(prefix)) != 0)
            continue;
        t.group = arena_printf(c->arena, "%s as %s", name, source);
        t.path = arena_printf(c->arena, "gemm/%s/%s", name, t.name);
        VEC_PUSH(&c->terms, t);
    }
    gpu->gemm[to] = gpu->gemm[from];
}

static int64_t count_gemms(const struct samples *s, enum dtype dtype)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->gemms.n; i++)
        n += s->gemms.v[i].dtype == dtype;
    return n;
}

/* The format whose measurements represent those of `dtype`, which has none; or
 * itself. */
static enum dtype measured_as(const struct gpu *gpu, enum dtype dtype,
                              const struct samples *s)
{
    enum dtype other = dtype == DTYPE_FP16   ? DTYPE_BF16
                       : dtype == DTYPE_BF16 ? DTYPE_FP16
                                             : dtype;
    bool has_both = gpu->peak_flops[dtype] > 0 && gpu->peak_flops[other] > 0;
    return has_both && count_gemms(s, dtype) == 0 && count_gemms(s, other) > 0 ? other
                                                                               : dtype;
}

int calibrate_gpu(struct calibration *c, struct gpu *gpu, const struct samples *s,
                  struct err *err)
{
    c->base = gpu->name;
    for (int d = 0; d < DTYPE_N; d++) {
        enum dtype dtype = (enum dtype)d;
        if (measured_as(gpu, dtype, s) != dtype)
            continue;
        if (fit_gemm_dtype(c, gpu, dtype, s, err))
            return -1;
        fit_gemm_clock(c, gpu, dtype, s);
    }
    for (int d = 0; d < DTYPE_N; d++)
        if (measured_as(gpu, (enum dtype)d, s) != (enum dtype)d)
            copy_alike(c, gpu, measured_as(gpu, (enum dtype)d, s), (enum dtype)d);
    if (fit_streams(c, gpu, s, err) || fit_flash(c, gpu, false, s, err) ||
        fit_flash(c, gpu, true, s, err))
        return -1;
    set_context(c, gpu, s);
    return 0;
}
