#include "hardware/gpu_rule.h"

#include "config/cache.h"
#include "config/datadir.h"

#include <math.h>
#include <string.h>

/* The share of the peak grows with the power that the datasheet gives a FLOP, as clocks
 * fall at the power limit; fitted to measured GPUs, each of which is left out once
 * (docs/validation/silicon_gemm.md). */
static const double power_exponent = 0.2;
static const double eta_most = 0.95;

/* Volta and Turing, whose tiles pass through registers on their way to shared memory;
 * Ampere; Ada and Hopper; Blackwell. */
static int generation(int64_t sm_arch)
{
    return sm_arch < 80 ? 0 : sm_arch < 89 ? 1 : sm_arch < 100 ? 2 : 3;
}

static double half_precision_flops(const struct gpu *gpu)
{
    return fmax(gpu->peak_flops[DTYPE_BF16], gpu->peak_flops[DTYPE_FP16]);
}

static double power_ratio(const struct gpu *to, const struct gpu *from)
{
    return (to->tdp_w / half_precision_flops(to)) /
           (from->tdp_w / half_precision_flops(from));
}

/* Generations count most, then compute capability, then NVLink, then power. */
static double distance(const struct gpu *a, const struct gpu *b)
{
    return 100.0 * abs(generation(a->sm_arch) - generation(b->sm_arch)) +
           10 * (a->sm_arch != b->sm_arch) +
           3 * ((a->nvlink_links > 0) != (b->nvlink_links > 0)) +
           fmin(fabs(log(power_ratio(a, b))), 2);
}

static bool is_measured(struct cfg_loader *loader, const char *gpu)
{
    const char **name = datadir_list(&loader->arena, "topologies/products");
    while (*name && strcmp(*name, gpu) != 0)
        name++;
    return *name != NULL;
}

/* Whether products of any GPU of a generation were measured. */
static bool generation_is_measured(struct cfg_loader *loader, int of, struct cfg where)
{
    const char **name = datadir_list(&loader->arena, "topologies/products");
    for (; *name; name++) {
        const struct gpu *gpu = gpu_get(loader, *name, where);
        if (gpu && generation(gpu->sm_arch) == of)
            return true;
    }
    return false;
}

/* A GPU whose kernels others may take: they are its own, and were measured as products or,
 * where those of no GPU of its generation were, fitted to whole steps. NULL: others may
 * not, or after reporting. */
static const struct gpu *lender(struct cfg_loader *loader, const char *name,
                                struct cfg where)
{
    struct cfg file = datadir_load(loader, "topologies/gpus", name, where);
    if (!cfg_present(cfg_get(file, "gemm")))
        return NULL;
    const struct gpu *gpu = gpu_get(loader, name, where);
    if (!gpu || is_measured(loader, name))
        return gpu;
    bool is_fitted = gpu->provenance_kind == PROVENANCE_FITTED ||
                     gpu->provenance_kind == PROVENANCE_MEASURED;
    return is_fitted && !generation_is_measured(loader, generation(gpu->sm_arch), where)
               ? gpu
               : NULL;
}

const struct gpu *gpu_nearest(struct cfg_loader *loader, const struct gpu *gpu,
                              struct cfg where)
{
    const struct gpu *best = NULL;
    const char **name = datadir_list(&loader->arena, "topologies/gpus");
    if (half_precision_flops(gpu) <= 0)
        return NULL;
    for (; *name; name++) {
        const struct gpu *other =
            strcmp(*name, gpu->name) == 0 ? NULL : lender(loader, *name, where);
        if (other && (!best || distance(gpu, other) < distance(gpu, best)))
            best = other;
    }
    return best;
}

static double sm_rate(const struct gpu *gpu)
{
    return half_precision_flops(gpu) / (double)gpu->n_sms;
}

/* Batched products of odd rows are without tensor cores (MODEL.md, 8.7), whose rate over
 * that of fp32 is the GPU's own. */
static double misaligned_batch(const struct gpu *to, const struct gpu *from, double its)
{
    double own = half_precision_flops(to) / to->peak_flops[DTYPE_FP32],
           lent = half_precision_flops(from) / from->peak_flops[DTYPE_FP32];
    return its > 1 ? fmax(1, its * own / lent) : its;
}

/* Clock of long products over the data sheet's, on which the peak rests. */
static double clock_gain(const struct gpu *gpu)
{
    return gpu->long_clock_Hz > 0 ? gpu->long_clock_Hz / gpu_clock_Hz(gpu) : 1;
}

/* Tensor FLOPs of an SM in a clock over those of the other's. */
static double tensor_gain(const struct gpu *to, const struct gpu *from)
{
    return sm_rate(to) / gpu_clock_Hz(to) / (sm_rate(from) / gpu_clock_Hz(from));
}

/* The port feeds the arithmetic of its SM, with which it has grown. GeForce's SMs have
 * the port of their architecture, though their tensor cores are sold with half the rate;
 * 0.75 separates that from data sheets' rounded rates. */
static double port_gain(const struct gpu *to, const struct gpu *from)
{
    bool is_halved = to->sm_arch == from->sm_arch && tensor_gain(to, from) < 0.75;
    return is_halved ? gpu_clock_Hz(to) / gpu_clock_Hz(from)
                     : sm_rate(to) / sm_rate(from);
}

struct gpu_gemm gpu_rule_gemm(const struct gpu *to, const struct gpu *from,
                              const struct gpu_gemm *gemm)
{
    struct gpu_gemm g = *gemm;
    double power = power_ratio(to, from);
    g.eta = fmin(fmax(eta_most, g.eta), g.eta * pow(power, power_exponent));
    if (power > 1)
        g.sustained = fmin(fmax(1, g.sustained), g.sustained * sqrt(power));
    g.port_Bps *= port_gain(to, from);
    if (to->long_clock_Hz > 0)
        g.sustained = 1;
    g.eta *= clock_gain(to);
    g.port_Bps *= clock_gain(to);
    g.misaligned_batch = misaligned_batch(to, from, gemm->misaligned_batch);
    return g;
}

struct product gpu_rule_product(const struct gpu *to, const struct gpu *from,
                                const struct product *product)
{
    struct product p = *product;
    p.gemm = gpu_rule_gemm(to, from, &product->gemm);
    return p;
}

static const void *make_products(struct cfg_loader *loader, const char *name,
                                 struct cfg where)
{
    const struct gpu *gpu = gpu_get(loader, name, where);
    if (!gpu)
        return NULL;
    if (is_measured(loader, gpu->name))
        return products_get(loader, gpu->name, where);
    const struct gpu *from = gpu_nearest(loader, gpu, where);
    const struct products *measured = from && is_measured(loader, from->name)
                                          ? products_get(loader, from->name, where)
                                          : NULL;
    if (!measured)
        return NULL;
    struct product *v = ARENA_ARRAY(&loader->arena, measured->n + 1, struct product);
    for (int64_t i = 0; i < measured->n; i++)
        v[i] = gpu_rule_product(gpu, from, &measured->v[i]);
    struct products *made = ARENA_NEW(&loader->arena, struct products);
    *made = (struct products) { measured->n, v, measured->provenance };
    return made;
}

const struct products *gpu_rule_products(struct cfg_loader *loader, const char *gpu,
                                         struct cfg where)
{
    return cache_get(loader, "products by rule", gpu, where, make_products);
}

/* Flash-attention's time is the products' and that of the scores between them, which
 * take no tensor core: an SM's clocks for a score are the lender's (MODEL.md, 3.23). */
static double rule_flash(const struct gpu *to, const struct gpu *from, double frac)
{
    if (frac <= 0)
        return 0;
    double products = 1 / fmax(eta_most, frac);
    return 1 / (products + (1 / frac - products) * tensor_gain(to, from));
}

/* Rates of fused attention that the file leaves open. All of them run, too, at the clock
 * of long products. */
static void fill_flash(struct gpu *gpu, const struct gpu *from)
{
    for (int version = 0; version < GPU_FLASH_N; version++)
        for (int backward = 0; backward < 2; backward++) {
            double *frac = &gpu->flash_frac[version][backward],
                   its = from->flash_frac[version][backward];
            if (*frac <= 0)
                *frac = version == GPU_FLASH_ANY ? its : rule_flash(gpu, from, its);
            *frac *= clock_gain(gpu);
        }
}

static void fill_gemm(struct gpu *gpu, const struct gpu *from)
{
    for (int d = 0; d < DTYPE_N; d++) {
        bool has = from->peak_flops[d] > 0;
        if (gpu->peak_flops[d] > 0)
            gpu->gemm[d] =
                gpu_rule_gemm(gpu, from, &from->gemm[has ? d : (int)DTYPE_BF16]);
    }
}

static bool lacks(struct cfg file, const char *key)
{
    return !cfg_present(cfg_get(file, key));
}

int gpu_rule_fill(struct cfg_loader *loader, struct gpu *gpu, struct cfg file)
{
    const struct gpu *from = gpu_nearest(loader, gpu, file);
    if (!from)
        return cfg_error(
            file, DIAG_MISSING,
            "\"gemm\" is missing, and there is no measured GPU by which to "
            "fill it (\"peak\" needs a rate of bf16 or fp16)");
    fill_gemm(gpu, from);
    if (lacks(file, "stream_frac"))
        gpu->stream_frac = from->stream_frac;
    if (lacks(file, "kernel"))
        gpu->kernel_s = from->kernel_s;
    fill_flash(gpu, from);
    if (lacks(file, "flash_sustained"))
        gpu->flash_sustained = from->flash_sustained;
    if (gpu->long_clock_Hz > 0)
        gpu->flash_sustained = 1;
    if (lacks(file, "context"))
        gpu->context_B = from->context_B;
    gpu->by_rule = true;
    if (gpu->provenance_kind == PROVENANCE_TRANSFERRED && gpu->long_clock_Hz > 0)
        return 0; /* by intent: its file says from where, and has the clock it keeps */
    gpu->provenance_kind = PROVENANCE_INFERRED;
    gpu->provenance = arena_printf(&loader->arena, "kernels of %s by rule", from->name);
    cfg_warn(
        file, DIAG_ASSUMED,
        "no \"gemm\": kernels are %s's by rule (measured GPUs that are left out have "
        "median errors of 3 to 11 %% of products in 16 bits, and L40S 28 %%)",
        from->name);
    return 0;
}
