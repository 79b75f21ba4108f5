#include "cost/experts.h"

#include "cost/gemm.h"

static const double loop_latency_s = 1.4e-9; /* of a k, as on Hopper (3.2) */
static const double result_B = 2;

/* One grouped product: n columns of depth k for each slot. */
static double grouped_s(const struct gpu *gpu, const struct experts_kernel *p,
                        const struct expert_load *load, int64_t n, int64_t k)
{
    double blocks[LOAD_TILES_N];
    for (int i = 0; i < LOAD_TILES_N; i++)
        blocks[i] =
            load->blocks[i] + p->foreign * (load->all - load->slots) / (double)(1 << i);
    const struct gemm g = {
        .m = load->slots,
        .n = (double)n,
        .batch = 1,
        .k = k,
        .blocks = blocks,
        .groups = load->experts,
        .sms = (double)gpu->n_sms,
        .flops = p->eta * product_peak_flops(gpu, p->format) / (double)gpu->n_sms,
        .port_Bps = p->port_Bps,
        .latency_s = loop_latency_s,
        .hbm_Bps = p->hbm_frac * gpu->hbm_Bps,
        .element_B = product_element_B(p->format),
        .result_B = result_B,
        .epilogue = p->epilogue,
        .partial_waves = p->partial_waves,
        .tiles = GEMM_TILES_GROUPED,
    };
    return gemm_s(&g);
}

double experts_s(const struct gpu *gpu, const struct experts_kernel *p,
                 const struct experts_shape *s)
{
    double h = (double)s->hidden, f = (double)s->width;
    int64_t up = s->gated ? 2 * s->width : s->width;
    double between_B = result_B * ((double)up + f); /* the gate, a slot */
    double row_B = result_B * h;
    double local_B = s->load.slots * (between_B + 2 * row_B);
    double all_B = s->load.all * (between_B + row_B) + s->tokens * row_B;
    return p->start_s + grouped_s(gpu, p, &s->load, up, s->hidden) +
           grouped_s(gpu, p, &s->load, s->hidden, s->width) +
           (p->local_passes * local_B + p->all_passes * all_B) / gpu->hbm_Bps +
           p->slot_s * s->load.all + p->expert_s * (double)s->experts;
}
