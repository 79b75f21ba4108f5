/* Products as software that was measured runs them: the terms around the law of tiles,
 * which release represents another, and constants that a fit gives back. */
#include "cost/product.h"

#include "calibrate/calibration.h"
#include "config/datadir.h"
#include "cost/kernel.h"
#include "hardware/gpu_rule.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_product_register(void);

static const struct cfg nowhere = { NULL, NULL, "" };

static struct gpu h100(void)
{
    struct gpu g = { .name = "H100", .sm_arch = 90, .n_sms = 132, .hbm_Bps = 3350e9 };
    g.peak_flops[DTYPE_BF16] = 989e12;
    g.peak_flops[DTYPE_FP8] = 1979e12;
    return g;
}

static struct product product(const char *format)
{
    return (struct product) { .software = "bench 1.0",
                              .format = product_format_find(format),
                              .tiles = GEMM_TILES_HOPPER,
                              .gemm = { .eta = 0.85,
                                        .sustained = 1,
                                        .port_Bps = 127e9,
                                        .hbm_frac = 0.87,
                                        .launch_s = 2.5e-6,
                                        .epilogue = 0.57,
                                        .partial_waves = 1,
                                        .misaligned = 1,
                                        .misaligned_batch = 1,
                                        .split_s = 2.87e-6,
                                        .latency_s = 1.36e-9 } };
}

/* In 16 bits, without loop and host, it is kernel_gemm_s with the same constants. */
static void test_same_law(void)
{
    static const int64_t sizes[][3] = { { 1024, 4096, 4096 },
                                        { 2049, 768, 65536 },
                                        { 32768, 12288, 1536 },
                                        { 17, 512, 64 } };
    struct gpu g = h100();
    struct product p = product("bf16");
    g.gemm[DTYPE_BF16] = p.gemm;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const int64_t *s = sizes[i];
        double law =
            kernel_gemm_s(&g, DTYPE_BF16, s[0], s[1], s[2], 1, false, kernel_alone);
        CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, s[0], s[1], s[2], true), law,
                               1e-12 * law);
    }
}

/* Whole waves take the longest, partial ones the shortest; shares lie between. */
static void test_partial_waves(void)
{
    struct gpu g = h100();
    struct product p = product("bf16");
    for (int64_t m = 1024; m <= 8192; m += 384) {
        double last = INFINITY;
        for (int i = 1; i <= 10; i++) {
            p.gemm.partial_waves = 0.1 * i;
            double t = product_s(&g, &p, m, 3072, 4096, false);
            CU_ASSERT(t <= last);
            last = t;
        }
    }
}

/* Tiles whose loads bind: where SMs are idle the busy ones have their part of L2 too, so
 * many times at most. Where none is idle, or arithmetic binds, nothing changes. */
static void test_port_gain(void)
{
    struct gpu g = h100();
    struct product p = product("fp8");
    p.tiles = GEMM_TILES_CUTLASS; /* no splits */
    p.gemm.port_Bps = 1e9;
    p.gemm.launch_s = p.gemm.epilogue = 0;
    double few = product_s(&g, &p, 256, 128, 65536, false);
    double quarter = product_s(&g, &p, 4224, 128, 8192, false);
    double all = product_s(&g, &p, 16896, 128, 8192, false);
    p.gemm.port_gain = 1;
    CU_ASSERT_EQUAL(product_s(&g, &p, 256, 128, 65536, false), few);
    p.gemm.port_gain = 4;
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 256, 128, 65536, false), few / 4,
                           1e-3 * few);
    CU_ASSERT_EQUAL(product_s(&g, &p, 16896, 128, 8192, false), all);
    /* of 132 SMs 132 with tiles of 64 + 64, then 33 with 128 + 128 at four times */
    p.gemm.port_gain = 16;
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 4224, 128, 8192, false), quarter / 2,
                           1e-3 * quarter);
    g.peak_flops[DTYPE_FP8] = 1e12; /* arithmetic binds */
    double slow = product_s(&g, &p, 256, 128, 65536, false);
    p.gemm.port_Bps = 1e13;
    CU_ASSERT_EQUAL(product_s(&g, &p, 256, 128, 65536, false), slow);
}

/* 2 x 1 clusters of 128 rows compute 2049 rows as 2304, and 2305 as 2560. */
static void test_clusters(void)
{
    struct gpu g = h100();
    struct product p = product("fp8");
    p.tiles = GEMM_TILES_CUTLASS_HOPPER;
    p.gemm.hbm_frac = 1;
    double even = product_s(&g, &p, 2304, 8192, 8192, false);
    double odd = product_s(&g, &p, 2049, 8192, 8192, false);
    double next = product_s(&g, &p, 2305, 8192, 8192, false);
    CU_ASSERT_DOUBLE_EQUAL(odd, even, 0.002 * even);
    CU_ASSERT_DOUBLE_EQUAL(next / even, 10.0 / 9, 0.01);
}

static void test_quantization(void)
{
    struct gpu g = h100();
    struct product p = product("fp8");
    double plain = product_s(&g, &p, 4096, 1024, 8192, false);
    p.quantize_frac = 0.4;
    p.quantize_row_s = 7e-9;
    /* 3 B an element: 2 read, 1 written; rows of 8192 take longer than 7 ns */
    double all = 4096.0 * 8192 * 3 / (0.4 * g.hbm_Bps);
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 4096, 1024, 8192, false) - plain, all,
                           1e-9 * all);
    double narrow = product_s(&g, &p, 4096, 1024, 512, false);
    p.quantize_step = 2048; /* 6144 numbers count, where the product has 5120 */
    p.quantize_frac = 0;
    double bare = product_s(&g, &p, 4096, 1024, 5120, false);
    p.quantize_frac = 0.4;
    all = 4096.0 * 6144 * 3 / (0.4 * g.hbm_Bps);
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 4096, 1024, 5120, false) - bare, all,
                           1e-9 * all);
    p.quantize_frac = 0;
    CU_ASSERT_DOUBLE_EQUAL(narrow - product_s(&g, &p, 4096, 1024, 512, false),
                           4096 * 7e-9, 1e-12);
}

static void test_loop_and_host(void)
{
    struct gpu g = h100();
    struct product p = product("bf16");
    double burst = product_s(&g, &p, 16384, 16384, 8192, true);
    p.loop_loss = 0.2;
    p.loop_half_s = burst;
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 16384, 16384, 8192, false), burst, 0);
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 16384, 16384, 8192, true), 1.1 * burst,
                           1e-9 * burst);
    p.loop_half_s = 100 * burst;
    CU_ASSERT_DOUBLE_EQUAL(product_s(&g, &p, 16384, 16384, 8192, true), burst,
                           1e-7 * burst);
    p.host_s = 90e-6;
    CU_ASSERT_EQUAL(product_s(&g, &p, 128, 512, 512, true), 90e-6);
    CU_ASSERT(product_s(&g, &p, 16384, 16384, 8192, true) > 90e-6);
}

/* Formats move fewer bytes and have higher peaks: B200's products rise in this order. */
static void test_formats(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct gpu *g = gpu_get(&loader, "B200-SXM-180GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    static const char *const faster[] = { "bf16", "fp8_block", "fp8", "nvfp4" };
    double last = INFINITY;
    for (int i = 0; i < 4; i++) {
        struct product p = product(faster[i]);
        p.gemm.port_Bps = 1e12;
        double memory = product_s(g, &p, 64, 16384, 16384, false);
        double time = product_s(g, &p, 8192, 16384, 16384, false);
        CU_ASSERT(memory < last || i == 0);
        CU_ASSERT(time > 0);
        last = memory;
    }
    CU_ASSERT_PTR_NULL(product_format_find("int3"));
    cfg_loader_release(&loader);
}

/* A release that was not measured is as another of the same software, then as any. */
static void test_find(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct products *all = products_get(&loader, "H100-SXM5-80GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    CU_ASSERT_STRING_EQUAL(products_find(all, "sglang 0.5.14", "bf16")->software,
                           "sglang 0.5.14");
    CU_ASSERT_STRING_EQUAL(products_find(all, "trtllm 9.9", "bf16")->software,
                           "trtllm 1.3.0rc20");
    CU_ASSERT_STRING_EQUAL(products_find(all, "sglang 0.5.14", "fp8")->software,
                           "vllm 0.24.0");
    CU_ASSERT_PTR_NULL(products_find(all, "vllm 0.24.0", "nvfp4"));
    cfg_loader_release(&loader);
}

/* All shipped rows are of formats that their GPU has, and of plausible constants. */
static void test_shipped(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const char **name = datadir_list(&loader.arena, "topologies/products");
    int64_t n = 0;
    for (; *name; name++) {
        const struct gpu *g = gpu_get(&loader, *name, nowhere);
        const struct products *all = products_get(&loader, *name, nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        for (int64_t i = 0; i < all->n; i++, n++) {
            const struct product *p = &all->v[i];
            double t = product_s(g, p, 8192, 8192, 8192, false);
            double rate = 2.0 * 8192 * 8192 * 8192 / t;
            CU_ASSERT(rate < product_peak_flops(g, p->format));
            CU_ASSERT(rate > 0.1 * product_peak_flops(g, p->format));
        }
    }
    CU_ASSERT(n >= 47);
    cfg_loader_release(&loader);
}

/* A GPU from its datasheet -------------------------------------------------------------- */

/* Each measured GPU has the one as nearest that shares most with it, never itself. */
static void test_nearest(void)
{
    static const char *const pairs[][2] = {
        { "A100-SXM4-80GB", "H100-SXM5-80GB" },
        { "L40S", "H100-SXM5-80GB" },
        { "H100-SXM5-80GB", "H200-SXM-141GB" },
        { "H200-SXM-141GB", "H100-SXM5-80GB" },
        { "B200-SXM-180GB", "GB200-NVL-186GB" },
        { "GB200-NVL-186GB", "B200-SXM-180GB" },
        { "B300-SXM-288GB", "GB300-NVL-279GB" },
        { "GB300-NVL-279GB", "B300-SXM-288GB" },
        { "RTX-PRO-6000-Server-96GB", "GB300-NVL-279GB" },
        { "RTX-4090", "L40S" },
        { "RTX-A6000", "A100-SXM4-80GB" },
        { "Quadro-RTX-8000", "V100-SXM2-16GB" },
        { "H800-SXM5-80GB", "H100-SXM5-80GB" },
    };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct gpu *g = gpu_get(&loader, pairs[i][0], nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        CU_ASSERT_STRING_EQUAL(gpu_nearest(&loader, g, nowhere)->name, pairs[i][1]);
    }
    cfg_loader_release(&loader);
}

/* B200's datasheet alone gives products that are as measured ones within 12 % in the
 * median; it is graded as inferred, and warned of. The shipped B200 is its nearest. */
static void test_datasheet(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct gpu *g =
        gpu_get(&loader, "tests/measure/datasheet-b200.json", nowhere);
    const struct gpu *b200 = gpu_get(&loader, "B200-SXM-180GB", nowhere);
    const struct gpu *gb200 = gpu_get(&loader, "GB200-NVL-186GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(gb200);
    CU_ASSERT_EQUAL(g->provenance_kind, PROVENANCE_INFERRED);
    CU_ASSERT_EQUAL(loader.diags.n_warnings, 1);
    CU_ASSERT_EQUAL(g->context_B, b200->context_B);
    CU_ASSERT_DOUBLE_EQUAL(g->gemm[DTYPE_BF16].eta, b200->gemm[DTYPE_BF16].eta, 1e-12);
    const struct products *own = products_get(&loader, "B200-SXM-180GB", nowhere);
    const struct products *other = products_get(&loader, "GB200-NVL-186GB", nowhere);
    double sum = 0;
    int n = 0;
    for (int64_t m = 1024; m <= 16384; m *= 2)
        for (int64_t k = 1024; k <= 16384; k *= 2, n++) {
            const struct product *a = products_find(own, "trtllm 1", "bf16");
            const struct product b =
                gpu_rule_product(b200, gb200, products_find(other, "trtllm 1", "bf16"));
            sum += fabs(log(product_s(b200, &b, m, 4096, k, true) /
                            product_s(b200, a, m, 4096, k, true)));
        }
    CU_ASSERT(sum / n < 0.12);
    cfg_loader_release(&loader);
}

/* A sustained clock speeds products and attention up, and their port with them. Cards of
 * one architecture have one port an SM, though GeForce's tensor cores have half the rate. */
static void test_sustained_clock(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct gpu *rtx = gpu_get(&loader, "RTX-4090", nowhere);
    const struct gpu *l40s = gpu_get(&loader, "L40S", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rtx);
    CU_ASSERT_PTR_NOT_NULL_FATAL(l40s);
    struct gpu slow = *rtx;
    slow.long_clock_Hz = 0;
    const struct gpu_gemm *bf16 = &l40s->gemm[DTYPE_BF16];
    struct gpu_gemm fast = gpu_rule_gemm(rtx, l40s, bf16),
                    listed = gpu_rule_gemm(&slow, l40s, bf16);
    double gain = rtx->long_clock_Hz / gpu_clock_Hz(rtx);
    CU_ASSERT(gain > 1.03 && gain < 1.1);
    CU_ASSERT_DOUBLE_EQUAL(fast.eta, gain * listed.eta, 1e-12);
    CU_ASSERT_EQUAL(fast.sustained, 1);
    CU_ASSERT_DOUBLE_EQUAL(listed.port_Bps,
                           bf16->port_Bps * gpu_clock_Hz(rtx) / gpu_clock_Hz(l40s), 1);
    CU_ASSERT_DOUBLE_EQUAL(fast.port_Bps, gain * listed.port_Bps, 1);
    CU_ASSERT_EQUAL(rtx->gemm[DTYPE_BF16].eta, fast.eta);
    CU_ASSERT_EQUAL(rtx->flash_sustained, 1);
    CU_ASSERT_DOUBLE_EQUAL(rtx->flash_frac[GPU_FLASH_ANY][false],
                           gain * l40s->flash_frac[GPU_FLASH_ANY][false], 1e-12);
    cfg_loader_release(&loader);
}

/* On Ada vLLM takes tiles of 256 x 128 for 4,097 to 8,192 columns alone, which take longer
 * to write: short loops are slower there than with half or twice the columns. */
static void test_columns(void)
{
    static const struct {
        int64_t n;
        double least, most; /* times half the columns */
    } rows[] = { { 4096, 1.8, 2.2 }, { 8192, 2.5, 4 }, { 16384, 1, 1.7 } };
    struct gpu g = h100();
    struct product p = product("fp8");
    p.tiles = GEMM_TILES_CUTLASS_ADA;
    p.gemm.epilogue = 1;
    p.gemm.partial_waves = 0.5;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double ratio = product_s(&g, &p, 16384, rows[i].n, 512, false) /
                       product_s(&g, &p, 16384, rows[i].n / 2, 512, false);
        CU_ASSERT(ratio > rows[i].least && ratio < rows[i].most);
    }
}

/* MXFP8's products have fp8's constants and a slower main loop. */
static void test_mxfp8(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct gpu *g = gpu_get(&loader, "GB300-NVL-279GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    double fp8_s =
               kernel_gemm_s(g, DTYPE_FP8, 8192, 16384, 16384, 1, true, kernel_alone),
           mx_s =
               kernel_gemm_s(g, DTYPE_MXFP8, 8192, 16384, 16384, 1, true, kernel_alone);
    CU_ASSERT_EQUAL(g->gemm[DTYPE_MXFP8].sustained, g->gemm[DTYPE_FP8].sustained);
    CU_ASSERT(mx_s / fp8_s > 1.035 && mx_s / fp8_s < 1.055);
    cfg_loader_release(&loader);
}

/* Fits ----------------------------------------------------------------------------- */

/* Products of H100 in two formats as `bench 1.0` would measure them, with a noise of 2 %
 * that is a hash of the shape. */
static void add_rows(struct samples *s, const struct gpu *g, const struct product *p)
{
    static const int64_t rows[] = {
        64, 512, 1024, 1281, 2049, 3072, 4353, 8192, 32768
    };
    static const int64_t others[] = { 512, 1536, 4096, 7168, 12288, 16384 };
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 6; k++) {
                int64_t m = rows[i], n = others[j], d = others[k];
                double noise =
                    0.02 * ((double)((m * 31 + n * 17 + d * 7) % 41) / 20 - 1);
                VEC_PUSH(&s->products,
                         ((struct sample_product) {
                             .device = "NVIDIA H100 80GB HBM3",
                             .software = "bench 1.0",
                             .format = p->format,
                             .m = m,
                             .n = n,
                             .k = d,
                             .time_s = product_s(g, p, m, n, d, true) * exp(noise) }));
            }
}

static void test_recover(void)
{
    const struct samples_hints hints = { .op = -1 };
    struct cfg_loader loader;
    struct samples s;
    struct calibration found;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    calibration_init(&found, &loader.arena);
    const struct gpu *g = gpu_get(&loader, "H100-SXM5-80GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    struct product bf16 = product("bf16"), fp8 = product("fp8");
    bf16.loop_loss = 0.12;
    bf16.loop_half_s = 1e-3;
    fp8.tiles = GEMM_TILES_CUTLASS_HOPPER;
    fp8.quantize_frac = 0.4;
    fp8.quantize_row_s = 7e-9;
    add_rows(&s, g, &bf16);
    add_rows(&s, g, &fp8);
    CU_ASSERT_EQUAL_FATAL(calibrate_products(&found, &loader, &s, &err), 0);
    CU_ASSERT_EQUAL_FATAL(found.products.n, 2);
    for (int i = 0; i < 2; i++) {
        const struct calibration_product *p = &found.products.v[i];
        CU_ASSERT_STRING_EQUAL(p->set.gpu, "H100-SXM5-80GB");
        CU_ASSERT(p->set.errors.n_fit > 60 && p->set.errors.n_held > 60);
        CU_ASSERT_EQUAL(p->set.errors.n_fit + p->set.errors.n_held, 7 * 36);
        CU_ASSERT(p->set.errors.fit_mean < 0.015 && p->set.errors.held_mean < 0.018);
        CU_ASSERT_EQUAL(p->set.errors.n_floor, 0);
    }
    const struct product *a = &found.products.v[0].product;
    CU_ASSERT_DOUBLE_EQUAL(a->gemm.eta, 0.85, 0.02);
    CU_ASSERT_DOUBLE_EQUAL(a->gemm.hbm_frac, 0.87, 0.05);
    CU_ASSERT_DOUBLE_EQUAL(a->loop_loss, 0.12, 0.03);
    CU_ASSERT_EQUAL(a->quantize_frac, 0);
    const struct product *b = &found.products.v[1].product;
    CU_ASSERT_EQUAL(b->tiles, GEMM_TILES_CUTLASS_HOPPER);
    CU_ASSERT_DOUBLE_EQUAL(b->quantize_frac, 0.4, 0.03);
    CU_ASSERT_DOUBLE_EQUAL(b->quantize_row_s, 7e-9, 0.7e-9);
    calibration_release(&found);
    samples_release(&s);
    cfg_loader_release(&loader);
}

/* Rows that Python limits identify its time, and nothing else. */
static void test_host_alone(void)
{
    const struct samples_hints hints = { .op = -1 };
    struct cfg_loader loader;
    struct samples s;
    struct calibration found;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    calibration_init(&found, &loader.arena);
    const struct gpu *g = gpu_get(&loader, "H100-SXM5-80GB", nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(g);
    struct product p = product("fp8_block");
    p.host_s = 0.1;
    add_rows(&s, g, &p);
    CU_ASSERT_EQUAL_FATAL(calibrate_products(&found, &loader, &s, &err), 0);
    CU_ASSERT_EQUAL_FATAL(found.products.n, 1);
    const struct calibration_product *f = &found.products.v[0];
    CU_ASSERT(f->host_alone);
    CU_ASSERT_DOUBLE_EQUAL(f->product.host_s, 0.1, 0.001);
    CU_ASSERT_EQUAL(f->product.gemm.eta, 0.8);
    CU_ASSERT_EQUAL(f->set.errors.n_fit + f->set.errors.n_held, 0);
    calibration_release(&found);
    samples_release(&s);
    cfg_loader_release(&loader);
}

/* Halves are of shapes, so that equal rows of other software are in the same one. */
static void test_halves(void)
{
    int64_t n[2] = { 0, 0 };
    for (int64_t m = 1024; m < 1124; m++)
        for (int64_t k = 512; k < 612; k++)
            n[product_half(m, 4096, k)]++;
    CU_ASSERT(n[0] > 4800 && n[1] > 4800);
    CU_ASSERT_EQUAL(product_half(2048, 768, 2048), product_half(2048, 768, 2048));
}

/* Steps on GPUs whose products were measured take those constants, and what the row
 * says itself goes before. */
static void test_steps_measured(void)
{
    static const struct {
        const char *gpu, *format;
        double port_Bps; /* 0: as measured */
    } rows[] = { { "GB200-NVL-186GB", "bf16", 0 },      { "GB200-NVL-186GB", "fp8", 0 },
                 { "GB300-NVL-279GB", "nvfp4", 800e9 }, { "B300-SXM-288GB", "fp8", 0 },
                 { "B200-SXM-180GB", "nvfp4", 800e9 },  { "L40S", "bf16", 0 } };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct gpu *g = gpu_get(&loader, rows[i].gpu, (struct cfg) { 0 });
        const struct products *all =
            products_get(&loader, rows[i].gpu, (struct cfg) { 0 });
        CU_ASSERT_FATAL(g && all);
        const struct product *p = products_find(all, "vllm 0.24.0", rows[i].format);
        const struct gpu_gemm *m = &g->gemm[product_format_find(rows[i].format)->dtype];
        CU_ASSERT_EQUAL(m->eta, p->gemm.eta);
        CU_ASSERT_EQUAL(m->partial_waves, p->gemm.partial_waves);
        CU_ASSERT_EQUAL(m->port_gain, p->gemm.port_gain);
        CU_ASSERT_EQUAL(m->tiles, p->tiles);
        CU_ASSERT(m->sustained < 1);
        CU_ASSERT_DOUBLE_EQUAL(
            m->port_Bps, rows[i].port_Bps > 0 ? rows[i].port_Bps : p->gemm.port_Bps, 1);
    }
    const struct gpu *a = gpu_get(&loader, "GB300-NVL-279GB", (struct cfg) { 0 });
    CU_ASSERT_EQUAL(a->gemm[DTYPE_FP16].eta, a->gemm[DTYPE_BF16].eta);
    CU_ASSERT_EQUAL(a->gemm[DTYPE_MXFP8].port_Bps, a->gemm[DTYPE_FP8].port_Bps);
    cfg_loader_release(&loader);
}

void test_product_register(void)
{
    CU_pSuite suite = CU_add_suite("product", NULL, NULL);
    CU_ADD_TEST(suite, test_same_law);
    CU_ADD_TEST(suite, test_partial_waves);
    CU_ADD_TEST(suite, test_port_gain);
    CU_ADD_TEST(suite, test_clusters);
    CU_ADD_TEST(suite, test_quantization);
    CU_ADD_TEST(suite, test_loop_and_host);
    CU_ADD_TEST(suite, test_formats);
    CU_ADD_TEST(suite, test_find);
    CU_ADD_TEST(suite, test_shipped);
    CU_ADD_TEST(suite, test_nearest);
    CU_ADD_TEST(suite, test_datasheet);
    CU_ADD_TEST(suite, test_sustained_clock);
    CU_ADD_TEST(suite, test_columns);
    CU_ADD_TEST(suite, test_mxfp8);
    CU_ADD_TEST(suite, test_recover);
    CU_ADD_TEST(suite, test_host_alone);
    CU_ADD_TEST(suite, test_halves);
    CU_ADD_TEST(suite, test_steps_measured);
}
