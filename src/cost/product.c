#include "cost/product.h"

#include "cost/gemm.h"

#include <math.h>

/* (3.16) The power limit acts within milliseconds: products well below loop_half run at
 * the clocks of a cool GPU, those well above it at lower ones. */
static double looped_s(const struct product *p, double alone_s)
{
    double x = pow(alone_s / p->loop_half_s, 4);
    return alone_s * (1 + p->loop_loss * x / (1 + x));
}

/* (3.17) One thread block for each row, which takes its least time where rows are
 * short. */
static double quantize_s(const struct gpu *gpu, const struct product *p, double m,
                         double k)
{
    double step = p->quantize_step > 0 ? (double)p->quantize_step : 1;
    double whole = ceil(k / step) * step;
    double row_s =
        product_quantize_B(p->format) * whole / (p->quantize_frac * gpu->hbm_Bps);
    return m * fmax(p->quantize_row_s, row_s);
}

double product_s(const struct gpu *gpu, const struct product *p, int64_t m, int64_t n,
                 int64_t k, bool loop)
{
    const struct gemm g = {
        .m = (double)m,
        .n = (double)n,
        .batch = 1,
        .k = k,
        .sms = (double)gpu->n_sms,
        .flops = p->gemm.eta * product_peak_flops(gpu, p->format) / (double)gpu->n_sms,
        .port_Bps = p->gemm.port_Bps,
        .port_gain = p->gemm.port_gain,
        .latency_s = p->gemm.latency_s,
        .hbm_Bps = p->gemm.hbm_frac * gpu->hbm_Bps,
        .element_B = product_element_B(p->format),
        .result_B = 2,
        .launch_s = p->gemm.launch_s,
        .split_s = p->gemm.split_s,
        .epilogue = p->gemm.epilogue,
        .partial_waves = p->gemm.partial_waves,
        .tiles = p->tiles,
    };
    double t = gemm_s(&g);
    if (loop && p->loop_loss > 0)
        t = looped_s(p, t);
    if (p->quantize_frac > 0)
        t += quantize_s(gpu, p, g.m, (double)k);
    return fmax(t, p->host_s); /* (3.18) */
}
