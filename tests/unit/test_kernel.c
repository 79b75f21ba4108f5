/* Kernel times against an independent implementation of the equations, against the
 * roofline, and in what must rise or fall with sizes and shares. */
#include "cost/kernel.h"

#include <CUnit/CUnit.h>
#include <math.h>

void test_kernel_register(void);

/* A100-SXM4-80GB, H100 and V100 as topologies/gpus has them. */
static struct gpu a100(void)
{
    struct gpu g = { .name = "A100",
                     .sm_arch = 80,
                     .n_sms = 108,
                     .hbm_Bps = 2039e9,
                     .limit_clock = 1,
                     .stream_frac = 0.82,
                     .kernel_s = 2.9e-6,
                     .flash_frac[GPU_FLASH_ANY][false] = 0.61,
                     .flash_frac[GPU_FLASH_ANY][true] = 0.514 };
    g.peak_flops[DTYPE_BF16] = 312e12;
    g.peak_flops[DTYPE_FP32] = 19.5e12;
    g.peak_flops[DTYPE_TF32] = 156e12;
    g.gemm[DTYPE_BF16] =
        (struct gpu_gemm) { 0.96,  0.87, 47e9, 1,      0.735,  2.83e-6,        1,
                            false, 1,    1,    2.1e-6, 4.7e-9, GEMM_TILES_OPEN };
    return g;
}

static struct gpu h100(void)
{
    struct gpu g = a100();
    g.name = "H100";
    g.sm_arch = 90;
    g.n_sms = 132;
    g.hbm_Bps = 3350e9;
    g.peak_flops[DTYPE_BF16] = 989e12;
    g.gemm[DTYPE_BF16] =
        (struct gpu_gemm) { 0.8625, 0.88, 127e9, 1,       0.87,    2.52e-6,        0.57,
                            true,   1,    1,     2.87e-6, 1.36e-9, GEMM_TILES_OPEN };
    return g;
}

static struct gpu v100(void)
{
    struct gpu g = a100();
    g.name = "V100";
    g.sm_arch = 70;
    g.n_sms = 80;
    g.hbm_Bps = 900e9;
    g.peak_flops[DTYPE_FP32] = 15.7e12;
    g.gemm[DTYPE_FP32] =
        (struct gpu_gemm) { 0.9,   1, 25e9, 1,      0.8, 3.5e-6,         1,
                            false, 1, 1,    3.5e-6, 0,   GEMM_TILES_OPEN };
    return g;
}

/* --- the equations once more, written another way, in microseconds --------- */

static double plain_candidate_us(const struct gpu *g, const struct gpu_gemm *c,
                                 double m, double n, double k, double b, double bm,
                                 double bn, double s)
{
    const double e = 2, P = (double)g->n_sms, BW = g->hbm_Bps / 1e6;
    double T = ceil(m / bm) * ceil(n / bn) * b, N = T * s, W = ceil(N / P);
    double ks = 32 * ceil(k / (32 * s));
    double tk = fmax(fmax(2 * bm * bn * P / (c->eta * g->peak_flops[DTYPE_BF16] / 1e6),
                          e * (bm + bn) / (c->port_Bps / 1e6)),
                     c->latency_s * 1e6);
    double tepi = c->epilogue * e * bm * bn * P / (c->hbm_frac * BW);
    double t;
    bool whole = g->sm_arch < 90;
    if (s > 1 && (k / s < 256 || (T > P && (!whole || k < 6000 || T > 8 * P))))
        return (double)INFINITY;
    if (whole && bm * bn <= 16384)
        t = N > P ? 2 * ceil(N / (2 * P)) * (ks * tk + tepi) : 1.06 * ks * tk + tepi;
    else if (whole)
        t = W * (ks * tk + tepi);
    else
        t = N > P ? N / P * ks * tk + W * tepi : ks * tk + tepi;
    if (s > 1)
        t += c->split_s * 1e6 + 4 * s * b * m * n / (c->hbm_frac * BW);
    return t;
}

static double plain_gemm_us(const struct gpu *g, double m, double n, double k, double b)
{
    static const double tiles[][2] = { { 256, 128 }, { 128, 256 }, { 128, 128 },
                                       { 64, 256 },  { 64, 128 },  { 64, 64 },
                                       { 64, 32 } };
    static const double split[] = { 1, 2, 3, 4, 5, 6, 8, 12, 16, 24 };
    const struct gpu_gemm *c = &g->gemm[DTYPE_BF16];
    double best = (double)INFINITY;
    for (int i = 0; i < 8; i++) {
        double bm = i < 7 ? tiles[i][0] : g->sm_arch < 90 ? 32 : 64;
        double bn = i < 7 ? tiles[i][1] : g->sm_arch < 90 ? 32 : 16;
        for (int j = 0; j < 10; j++)
            best = fmin(best, plain_candidate_us(g, c, m, n, k, b, bm, bn, split[j]));
    }
    double d = 2 * b * (m * k + n * k + m * n) / (c->hbm_frac * g->hbm_Bps / 1e6);
    return c->launch_s * 1e6 + pow(pow(best, 4) + pow(d, 4), 0.25);
}

/* --- sizes to try ---------------------------------------------------------------- */

struct shape {
    int64_t m, n, k, batch;
};

static const struct shape shapes[] = {
    { 1, 1, 1, 1 },          { 1, 4096, 4096, 1 },       { 64, 64, 64, 1 },
    { 1536, 1024, 1024, 1 }, { 1536, 4096, 1024, 1 },    { 1536, 1024, 4096, 1 },
    { 1536, 1000, 3000, 1 }, { 384, 384, 64, 64 },       { 384, 64, 384, 64 },
    { 2048, 5120, 8192, 1 }, { 8192, 65536, 4096, 1 },   { 127, 129, 100000, 1 },
    { 33, 65, 257, 3 },      { 16384, 768, 16384, 1 },   { 1024, 1024, 1024, 16 },
    { 100000, 3, 5, 1 },     { 108 * 256, 128, 512, 1 }, { 5, 7, 11, 100000 },
    { 1024, 4096, 5120, 1 }, { 1024, 4096, 8192, 1 },    { 8, 4096, 65536, 1 },
    { 96, 512, 12288, 1 },
};
enum { SHAPES_N = sizeof(shapes) / sizeof(shapes[0]) };

static double gemm_us(const struct gpu *g, struct shape s, bool sustained,
                      struct kernel_share share)
{
    return 1e6 * kernel_gemm_s(g, DTYPE_BF16, s.m, s.n, s.k, s.batch, sustained, share);
}

static void test_equations(void)
{
    const struct gpu gpus[] = { a100(), h100() };
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < SHAPES_N; i++) {
            struct shape s = shapes[i];
            double want = plain_gemm_us(&gpus[g], (double)s.m, (double)s.n, (double)s.k,
                                        (double)s.batch);
            double got = gemm_us(&gpus[g], s, false, kernel_alone);
            CU_ASSERT_DOUBLE_EQUAL(got, want, 1e-9 * want);
        }
}

/* Measured on A100 and H100 (ai-dynamo/aiconfigurator tables), microseconds: large
 * products, and on A100 one of 1.2 waves without and with its k split. */
static void test_measured(void)
{
    const struct gpu a = a100(), h = h100();
    const struct {
        const struct gpu *gpu;
        struct shape shape;
        double us;
    } rows[] = {
        { &a, { 8192, 65536, 4096, 1 }, 15500 },
        { &a, { 1024, 4096, 5120, 1 }, 251.7 },
        { &a, { 1024, 4096, 8192, 1 }, 317.7 },
        { &h, { 32768, 65536, 12288, 1 }, 60324 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CU_ASSERT_DOUBLE_EQUAL(gemm_us(rows[i].gpu, rows[i].shape, false, kernel_alone),
                               rows[i].us, 0.08 * rows[i].us);
}

/* Neither faster than the peak nor than the memory. */
static void test_roofline(void)
{
    const struct gpu gpus[] = { a100(), h100() };
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < SHAPES_N; i++) {
            struct shape s = shapes[i];
            double m = (double)s.m, n = (double)s.n, k = (double)s.k,
                   b = (double)s.batch;
            double t = 1e-6 * gemm_us(&gpus[g], s, false, kernel_alone);
            double flops = 2 * b * m * n * k, bytes = 2 * b * (m * k + n * k + m * n);
            CU_ASSERT_TRUE(t >= flops / gpus[g].peak_flops[DTYPE_BF16]);
            CU_ASSERT_TRUE(t >= bytes / gpus[g].hbm_Bps);
            CU_ASSERT_TRUE(t >= gpus[g].gemm[DTYPE_BF16].launch_s);
        }
}

/* A large square product comes near to what the main loop can do. */
static void test_large_product_reaches_its_efficiency(void)
{
    const struct gpu g = a100();
    double t =
        kernel_gemm_s(&g, DTYPE_BF16, 108 * 256, 8192, 8192, 1, false, kernel_alone);
    double flops = 2.0 * 108 * 256 * 8192 * 8192;
    CU_ASSERT_TRUE(flops / t > 0.90 * 312e12);
    CU_ASSERT_TRUE(flops / t < 0.96 * 312e12);
}

static void test_fp32_on_v100(void)
{
    const struct gpu g = v100();
    double t = kernel_gemm_s(&g, DTYPE_FP32, 8192, 8192, 8192, 1, true, kernel_alone);
    double rate = 2.0 * 8192 * 8192 * 8192 / t;
    CU_ASSERT_TRUE(rate > 0.75 * 15.7e12 && rate < 15.7e12);
}

/* Longer loops and wider outputs, in steps of the largest tile, are never faster. */
static void test_monotone(void)
{
    const struct gpu gpus[] = { a100(), h100() };
    for (int g = 0; g < 2; g++) {
        double by_n = 0, by_k = 0;
        for (int64_t i = 1; i <= 64; i++) {
            struct shape wide = { 2048, 256 * i, 4096, 1 },
                         deep = { 2048, 4096, 512 * i, 1 };
            double n = gemm_us(&gpus[g], wide, true, kernel_alone);
            double k = gemm_us(&gpus[g], deep, true, kernel_alone);
            CU_ASSERT_TRUE(n >= by_n && k >= by_k);
            by_n = n;
            by_k = k;
        }
    }
}

/* A few tiles more than whole waves cost a wave on A100, and little on H100. */
static void test_waves(void)
{
    const struct gpu a = a100();
    struct shape whole = { 256 * 108, 256, 1024, 1 };
    struct shape more = { 256 * 112, 256, 1024, 1 };
    double step = gemm_us(&a, more, false, kernel_alone) /
                  gemm_us(&a, whole, false, kernel_alone);
    CU_ASSERT_TRUE(step > 1.3);
    const struct gpu h = h100();
    whole.m = 256 * 132 * 4;
    more.m = whole.m + 256;
    step = gemm_us(&h, more, false, kernel_alone) /
           gemm_us(&h, whole, false, kernel_alone);
    CU_ASSERT_TRUE(step < 1.1);
}

static void test_shares_slow_down(void)
{
    const struct gpu gpus[] = { a100(), h100() };
    const struct kernel_share half = { 0.5, 1 }, slow = { 1, 0.5 };
    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < SHAPES_N; i++) {
            double alone = gemm_us(&gpus[g], shapes[i], true, kernel_alone);
            CU_ASSERT_TRUE(gemm_us(&gpus[g], shapes[i], true, slow) >= alone);
            CU_ASSERT_TRUE(gemm_us(&gpus[g], shapes[i], false, kernel_alone) <= alone);
        }
        struct shape large = { 8192, 8192, 8192, 1 };
        double alone = gemm_us(&gpus[g], large, true, kernel_alone);
        CU_ASSERT_DOUBLE_EQUAL(gemm_us(&gpus[g], large, true, half), 2 * alone,
                               0.1 * alone);
    }
}

/* What a collective leaves: of SMs the rest, of memory what its traffic does not take
 * of the share that memory-bound kernels reach, and never more than was left before. */
static void test_beside(void)
{
    const struct gpu g = a100();
    double stream_Bps = 0.82 * 2039e9;
    struct kernel_share s =
        kernel_overlapped(&g, kernel_alone, 24.0 / 108, 0.4 * stream_Bps);
    CU_ASSERT_DOUBLE_EQUAL(s.sms, 84.0 / 108, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(s.memory, 0.6, 1e-12);
    struct kernel_share t = kernel_overlapped(&g, s, 0.5, 0.1 * stream_Bps);
    CU_ASSERT_DOUBLE_EQUAL(t.sms, 0.5, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(t.memory, 0.6, 1e-12);
    CU_ASSERT_TRUE(kernel_overlapped(&g, s, 0, 2 * stream_Bps).memory > 0);
}

/* A loop of short kernels keeps its clocks; of long ones it loses the whole share. */
static void test_looped(void)
{
    struct gpu g = a100();
    CU_ASSERT_EQUAL(kernel_looped_s(&g, 1e-3), 1e-3);
    g.loop_loss = 0.21;
    g.loop_half_s = 8.1e-3;
    CU_ASSERT_DOUBLE_EQUAL(kernel_looped_s(&g, 8.1e-3) / 8.1e-3, 1.105, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(kernel_looped_s(&g, 1e-5) / 1e-5, 1, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(kernel_looped_s(&g, 10) / 10, 1.21, 1e-3);
}

/* vLLM's attention of 128 sequences of 512 tokens took 1,768 us with 12 heads; pages
 * cost nothing where heads are many. */
static void test_paged(void)
{
    const struct gpu g = a100();
    const struct kernel_flash k = { .dtype = DTYPE_BF16,
                                    .m = 512,
                                    .n = 512,
                                    .head_dim = 128,
                                    .heads = 128 * 12,
                                    .causal = true };
    double flash = kernel_flash_s(&g, &k, kernel_alone);
    double paged = kernel_paged_s(128 * 512, 12);
    CU_ASSERT_DOUBLE_EQUAL(flash + paged, 1768e-6, 60e-6);
    CU_ASSERT_DOUBLE_EQUAL(kernel_paged_s(1000, 13), 4.8e-6, 1e-12);
    CU_ASSERT_EQUAL(kernel_paged_s(128 * 512, 26), 0);
    CU_ASSERT_EQUAL(kernel_paged_s(128 * 512, 64), 0);
}

static void test_streams(void)
{
    const struct gpu g = a100();
    const struct kernel_share half = { 1, 0.5 };
    double rate = 0.82 * 2039e9;
    CU_ASSERT_DOUBLE_EQUAL(kernel_stream_s(&g, 0, kernel_alone), 2.9e-6, 1e-15);
    CU_ASSERT_DOUBLE_EQUAL(kernel_stream_s(&g, rate, kernel_alone), 1 + 2.9e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(kernel_stream_s(&g, rate, half), 2 + 2.9e-6, 1e-12);

    /* (3.21): what an SM moves in a clock bounds them where the memory gives more, and
     * no product */
    struct framework fw = { .rates = { .stream_factor = 1, .stream_sm_B = 2 } };
    double sms_Bps = 2 * gpu_clock_Hz(&g) * (double)g.n_sms;
    const struct op stream = { .kind = OP_STREAM, .read_B = sms_Bps, .launches = 1 };
    CU_ASSERT_FATAL(sms_Bps < rate / 2);
    CU_ASSERT_DOUBLE_EQUAL(kernel_framework_s(&g, &fw, false, &stream, kernel_alone),
                           1 + 2.9e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(kernel_framework_s(&g, &fw, false, &stream, half),
                           1 + 2.9e-6, 1e-12);
    fw.rates.stream_sm_B = 100;
    CU_ASSERT_DOUBLE_EQUAL(kernel_framework_s(&g, &fw, false, &stream, kernel_alone),
                           kernel_stream_s(&g, sms_Bps, kernel_alone), 1e-15);
}

/* Causal attention forward over as many queries as keys, in a burst. */
static struct kernel_flash causal_flash(int64_t tokens, int64_t head_dim, int64_t heads)
{
    return (struct kernel_flash) { .dtype = DTYPE_BF16,
                                   .m = tokens,
                                   .n = tokens,
                                   .head_dim = head_dim,
                                   .heads = heads,
                                   .causal = true };
}

static double flash_s(const struct gpu *g, struct kernel_flash k)
{
    return kernel_flash_s(g, &k, kernel_alone);
}

/* Causal attention of 4 x 64 heads over 16384 tokens took 99.17 ms, one sequence of
 * them 25.22 ms (vLLM flash-attn on A100). */
static void test_flash(void)
{
    const struct gpu g = a100();
    struct kernel_flash k = causal_flash(16384, 128, 64), other = k;
    double one = flash_s(&g, k);
    CU_ASSERT_DOUBLE_EQUAL(flash_s(&g, causal_flash(16384, 128, 256)), 99.17e-3, 4e-3);
    CU_ASSERT_DOUBLE_EQUAL(one, 25.22e-3, 1e-3);
    other.causal = false;
    CU_ASSERT_DOUBLE_EQUAL(flash_s(&g, other) / one, 2, 0.1);
    other = k;
    other.backward = true;
    CU_ASSERT_DOUBLE_EQUAL(flash_s(&g, other) / one, 2.9, 0.1);
    double padded = flash_s(&g, causal_flash(16384, 80, 64));
    double whole = flash_s(&g, causal_flash(16384, 96, 64));
    CU_ASSERT(padded < whole && padded > 0.98 * whole); /* fewer bytes alone */
    double wide = flash_s(&g, causal_flash(16384, 512, 64));
    CU_ASSERT_DOUBLE_EQUAL(wide / one, 4, 0.1);
}

static double hot_over_cool(const struct gpu *g)
{
    struct kernel_flash k = causal_flash(16384, 128, 256);
    double cool_s = flash_s(g, k);
    k.sustained = true;
    return flash_s(g, k) / cool_s;
}

/* Under the power limit attention has the clock of products, or its own. */
static void test_flash_sustained(void)
{
    struct gpu g = a100();
    CU_ASSERT_DOUBLE_EQUAL(hot_over_cool(&g), 1 / 0.87, 0.01);
    g.flash_sustained = 0.95;
    CU_ASSERT_DOUBLE_EQUAL(hot_over_cool(&g), 1 / 0.95, 0.01);
}

/* (3.23): flash-attention 2 has rates of its own where the GPU knows them, with no clock
 * of products; other kernels, and it on other GPUs, have the profile's factors. */
static void test_flash2(void)
{
    struct gpu g = a100();
    struct framework fw = { .rates = { .flash_forward = 0.5, .flash_backward = 0.25 } };
    const struct op ops[] = {
        { .kind = OP_FLASH,
          .dtype = DTYPE_BF16,
          .m = 16384,
          .n = 16384,
          .k = 128,
          .batch = 256,
          .causal = true },
        { .kind = OP_FLASH,
          .dtype = DTYPE_BF16,
          .m = 16384,
          .n = 16384,
          .k = 128,
          .batch = 256,
          .causal = true,
          .backward = true },
    };
    const double hot = g.gemm[DTYPE_BF16].sustained, by[] = { 2, 4 };
    for (int i = 0; i < 2; i++) {
        double alone = kernel_op_s(&g, &ops[i], 1, kernel_alone);
        g.flash_frac[GPU_FLASH_2][false] = g.flash_frac[GPU_FLASH_2][true] = 0;
        for (int named = 0; named < 2; named++) {
            fw.rates.flash2 = named;
            CU_ASSERT_DOUBLE_EQUAL(
                kernel_framework_s(&g, &fw, false, &ops[i], kernel_alone) / alone,
                by[i], 1e-9);
        }
        g.flash_frac[GPU_FLASH_2][false] = 0.8 * g.flash_frac[GPU_FLASH_ANY][false];
        g.flash_frac[GPU_FLASH_2][true] = 0.8 * g.flash_frac[GPU_FLASH_ANY][true];
        CU_ASSERT_DOUBLE_EQUAL(
            kernel_framework_s(&g, &fw, false, &ops[i], kernel_alone) / alone,
            hot / 0.8, 1e-9);
        struct op third = ops[i];
        g.flash_frac[GPU_FLASH_3][false] = 0.9 * g.flash_frac[GPU_FLASH_ANY][false];
        g.flash_frac[GPU_FLASH_3][true] = 0.9 * g.flash_frac[GPU_FLASH_ANY][true];
        for (int who = 0; who < 3; who++) { /* the job's word, cuDNN, the profile */
            third.flash3 = who == 0;
            third.cudnn = who == 1;
            fw.rates.flash3 = who == 2;
            double faster = who == 0 ? 1 : third.backward ? 1.29 : 1.17;
            CU_ASSERT_DOUBLE_EQUAL(
                kernel_framework_s(&g, &fw, false, &third, kernel_alone) / alone,
                hot / (0.9 * faster), 1e-9);
        }
        fw.rates.flash3 = false;
        third.flash3 = true;
        g.flash_frac[GPU_FLASH_3][false] = g.flash_frac[GPU_FLASH_3][true] = 0;
        CU_ASSERT_DOUBLE_EQUAL(
            kernel_framework_s(&g, &fw, false, &third, kernel_alone) / alone, hot / 0.8,
            1e-9);          /* not known */
        third.cudnn = true; /* (3.30) */
        CU_ASSERT_DOUBLE_EQUAL(
            kernel_framework_s(&g, &fw, false, &third, kernel_alone) / alone, 1 / 1.14,
            1e-9);
    }
}

/* (3.29): half of flash-attention's rate in 16 bits, from sm80 on. */
static void test_flash_efficient(void)
{
    struct gpu g = a100();
    struct framework fw = { .rates = { .flash_forward = 1, .flash_backward = 1 } };
    struct op op = { .kind = OP_FLASH,
                     .dtype = DTYPE_BF16,
                     .m = 4096,
                     .n = 4096,
                     .k = 128,
                     .batch = 64 };
    g.flash_sustained = 1;
    for (int sm_arch = 70; sm_arch <= 90; sm_arch += 10)
        for (int wide = 0; wide < 2; wide++) {
            g.sm_arch = sm_arch;
            op.dtype = wide ? DTYPE_FP32 : DTYPE_BF16;
            op.efficient = false;
            double flash = kernel_framework_s(&g, &fw, false, &op, kernel_alone);
            op.efficient = true;
            CU_ASSERT_DOUBLE_EQUAL(
                kernel_framework_s(&g, &fw, false, &op, kernel_alone) / flash,
                sm_arch >= 80 && !wide ? 2 : 1, 1e-9);
        }
}

/* (3.32): what a head's columns cost, by how much shared memory a block has. */
static void test_flash_efficient_heads(void)
{
    static const double forward[] = { 1.5, 1, 7.0 / 6, 1, 2.25, 2.25 },
                        backward[] = { 1.6, 1, 1.2, 1, 2.25, 2.25 },
                        client[] = { 1.6, 1, 1.2, 2.25, 2.25, 2.25 };
    static const int64_t columns[] = { 32, 64, 96, 128, 160, 256 };
    static const int archs[] = { 80, 86, 89, 90, 100, 120 };
    struct gpu g = a100();
    struct framework fw = { .rates = { .flash_forward = 1, .flash_backward = 1 } };
    g.flash_sustained = 1;
    for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++)
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
            for (int back = 0; back < 2; back++) {
                struct op op = { .kind = OP_FLASH,
                                 .dtype = DTYPE_BF16,
                                 .m = 4096,
                                 .n = 4096,
                                 .k = columns[i],
                                 .batch = 64,
                                 .backward = back };
                g.sm_arch = archs[a];
                bool small = archs[a] == 86 || archs[a] == 89 || archs[a] == 120;
                double want = !back ? forward[i] : small ? client[i] : backward[i];
                if (back && archs[a] == 120 && columns[i] == 96)
                    want *= 2.25; /* sm86 and sm89 alone have a kernel for 96 */
                if (columns[i] == 160)
                    want *= back ? (2 + 3 * 1.6) / 5 : 1.3;
                double flash = kernel_framework_s(&g, &fw, false, &op, kernel_alone);
                op.efficient = true;
                double efficient =
                    kernel_framework_s(&g, &fw, false, &op, kernel_alone);
                CU_ASSERT_DOUBLE_EQUAL(efficient / flash, 2 * want, 1e-9);
            }
}

/* (3.31): backward of latent attention on data-centre Blackwell alone. */
static void test_flash_uneven(void)
{
    static const int arch[] = { 90, 100, 103, 120 };
    struct gpu g = a100();
    struct framework fw = { .rates = { .flash_forward = 1, .flash_backward = 1 } };
    g.flash_sustained = 1;
    for (size_t i = 0; i < sizeof(arch) / sizeof(arch[0]); i++)
        for (int backward = 0; backward < 2; backward++) {
            struct op op = { .kind = OP_FLASH,
                             .dtype = DTYPE_BF16,
                             .m = 4096,
                             .n = 4096,
                             .k = 160,
                             .batch = 64,
                             .backward = backward };
            g.sm_arch = arch[i];
            double even = kernel_framework_s(&g, &fw, false, &op, kernel_alone);
            op.uneven = true;
            bool slower = backward && (arch[i] == 100 || arch[i] == 103);
            CU_ASSERT_DOUBLE_EQUAL(
                kernel_framework_s(&g, &fw, false, &op, kernel_alone) / even,
                slower ? 1.17 : 1, 1e-9);
        }
}

/* (3.27): in fp32 and in tf32 alike, three products each. */
static void test_flash_wide(void)
{
    struct gpu g = a100();
    struct op op = { .kind = OP_FLASH,
                     .dtype = DTYPE_TF32,
                     .m = 16384,
                     .n = 16384,
                     .k = 128,
                     .batch = 256 };
    g.flash_sustained = 1;
    double tf32 = kernel_op_s(&g, &op, 1, kernel_alone);
    op.dtype = DTYPE_FP32;
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, kernel_alone), tf32, 1e-9 * tf32);
    op.dtype = DTYPE_BF16;
    double bf16 = kernel_op_s(&g, &op, 1, kernel_alone);
    CU_ASSERT_DOUBLE_EQUAL(
        tf32 / bf16, 3 * g.peak_flops[DTYPE_BF16] / g.peak_flops[DTYPE_TF32], 0.1);
}

/* (3.28): alone at its own clock, between long products at theirs, and in between less
 * than either; other attention is at one clock. A limit of power slows all alike. */
static void test_flash_between(void)
{
    struct gpu g = a100();
    struct framework fw = { .rates = { .flash_forward = 1, .flash2 = true } };
    struct op op = { .kind = OP_FLASH,
                     .dtype = DTYPE_BF16,
                     .m = 16384,
                     .n = 16384,
                     .k = 128,
                     .batch = 256 };
    double hot = g.gemm[DTYPE_BF16].sustained, last = 0;
    g.flash_sustained = 1;
    g.flash_frac[GPU_FLASH_2][false] = g.flash_frac[GPU_FLASH_ANY][false];
    struct gpu limited = g;
    limited.limit_clock = 0.9;
    limited.gemm[DTYPE_BF16].sustained *= limited.limit_clock;
    double alone = kernel_framework_s(&g, &fw, false, &op, kernel_alone);
    for (int i = 0; i < 4; i++) {
        op.products = (const double[]) { 0, 0.5, 5, 1e6 }[i];
        double s = kernel_framework_s(&g, &fw, false, &op, kernel_alone) / alone;
        CU_ASSERT(s > last);
        last = s;
        s = kernel_framework_s(&limited, &fw, false, &op, kernel_alone) / alone;
        CU_ASSERT_DOUBLE_EQUAL(s, last / limited.limit_clock, 1e-9);
    }
    CU_ASSERT_DOUBLE_EQUAL(last, 1 / hot, 1e-4);
    double of_products = 5 / (g.gemm[DTYPE_BF16].eta * hot),
           share = of_products / (of_products + 1 / g.flash_frac[GPU_FLASH_2][false]);
    op.products = 5;
    CU_ASSERT_DOUBLE_EQUAL(kernel_framework_s(&g, &fw, false, &op, kernel_alone) /
                               alone,
                           cbrt(share / (hot * hot * hot) + 1 - share), 1e-9);
    fw.rates.flash2 = false;
    double other = kernel_framework_s(&g, &fw, false, &op, kernel_alone);
    op.products = 0;
    CU_ASSERT_DOUBLE_EQUAL(kernel_framework_s(&g, &fw, false, &op, kernel_alone), other,
                           1e-12);
}

/* Odd lengths slow a single product's arithmetic, those that are no multiple of 16
 * bytes a batch's; the number of rows does not matter. */
static void test_alignment(void)
{
    struct gpu g = a100();
    g.gemm[DTYPE_BF16].misaligned = 2.4;
    g.gemm[DTYPE_BF16].misaligned_batch = 13;
    static const struct {
        struct shape odd, even;
        double slower;
    } cases[] = {
        { { 4096, 50257, 4096, 1 }, { 4096, 50257 + 1, 4096, 1 }, 2.4 },
        { { 4096, 4096, 50257, 1 }, { 4096, 4096, 50257 + 1, 1 }, 2.4 },
        { { 4095, 4096, 4096, 1 }, { 4096, 4096, 4096, 1 }, 1 },
        { { 2048, 2048, 1020, 64 }, { 2048, 2048, 1024, 64 }, 13 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double odd = gemm_us(&g, cases[i].odd, false, kernel_alone);
        double even = gemm_us(&g, cases[i].even, false, kernel_alone);
        CU_ASSERT_DOUBLE_EQUAL(odd / even, cases[i].slower, 0.2 * cases[i].slower);
    }
}

/* Bias sums ride on a product; launches of streams add up. */
static void test_operators(void)
{
    const struct gpu g = a100();
    struct op op = { .kind = OP_GEMM,
                     .dtype = DTYPE_BF16,
                     .m = 1536,
                     .n = 1024,
                     .k = 1024,
                     .batch = 1,
                     .launches = 1 };
    double operands_B = 2.0 * (1536 * 1024 + 1024 * 1024 + 1536 * 1024);
    op.read_B = operands_B;
    double alone = kernel_op_s(&g, &op, 1, kernel_alone);
    CU_ASSERT_DOUBLE_EQUAL(
        alone, kernel_gemm_s(&g, DTYPE_BF16, 1536, 1024, 1024, 1, true, kernel_alone),
        1e-15);
    op.launches = 2;
    op.write_B = 1e6;
    double extra = kernel_op_s(&g, &op, 1.5, kernel_alone) - alone;
    CU_ASSERT_DOUBLE_EQUAL(extra, kernel_stream_s(&g, 1.5e6, kernel_alone), 1e-15);

    op =
        (struct op) { .kind = OP_STREAM, .read_B = 2e6, .write_B = 1e6, .launches = 3 };
    double stream = kernel_op_s(&g, &op, 2, kernel_alone);
    CU_ASSERT_DOUBLE_EQUAL(stream, kernel_stream_s(&g, 6e6, kernel_alone) + 2 * 2.9e-6,
                           1e-15);
    op = (struct op) { .kind = OP_FLASH,
                       .dtype = DTYPE_BF16,
                       .m = 512,
                       .n = 512,
                       .k = 64,
                       .batch = 64,
                       .causal = true,
                       .launches = 1 };
    struct kernel_flash k = causal_flash(512, 64, 64);
    k.sustained = true;
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, kernel_alone), flash_s(&g, k),
                           1e-15);
}

/* Equation (9) with tiles and columns counted by hand: up to 64 keys are half a tile's
 * work, a head is computed as the next 32 columns, and above 192 as 256; a causal row of
 * tiles ends at its diagonal. */
static void test_flash_by_hand(void)
{
    static const struct {
        int64_t m, n, head_dim;
        bool causal;
        double rows, columns, pairs, width;
    } cases[] = {
        { 4096, 64, 64, false, 32, 1, 16, 64 },
        { 4096, 65, 64, false, 32, 1, 32, 64 },
        { 4096, 128, 64, false, 32, 1, 32, 64 },
        { 4096, 129, 64, false, 32, 2, 64, 64 },
        { 1024, 1024, 80, false, 8, 8, 64, 96 },
        { 1024, 1024, 96, false, 8, 8, 64, 96 },
        { 1024, 1024, 192, false, 8, 8, 64, 192 },
        { 1024, 1024, 193, false, 8, 8, 64, 256 },
        { 1024, 1024, 256, false, 8, 8, 64, 256 },
        { 1024, 1024, 257, false, 8, 8, 64, 288 },
        { 1024, 1024, 128, true, 8, 8, 36, 128 },
        { 512, 1024, 128, true, 4, 8, 26, 128 },
        { 1024, 512, 128, true, 8, 4, 32, 128 },
    };
    const struct gpu g = a100();
    const double heads = 512;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int backward = 0; backward < 2; backward++) {
            double frac = backward ? 0.514 : 0.61;
            double pair_s = 4.0 * 128 * 128 * cases[i].width * (backward ? 2.5 : 1) /
                            (frac * 312e12 / 108);
            double busiest = heads * cases[i].pairs / 108 +
                             (cases[i].causal ? 0.485 * cases[i].columns : 0);
            double moved_B = 2 * heads * (double)cases[i].head_dim * 2 *
                             (double)(cases[i].m + cases[i].n) * (backward ? 2 : 1);
            double want_s = 6.1e-6 + pair_s * fmax(busiest, cases[i].columns) +
                            moved_B / (0.576 * 2039e9) +
                            0.8e-6 * heads * cases[i].rows / 108;
            const struct kernel_flash k = { .dtype = DTYPE_BF16,
                                            .m = cases[i].m,
                                            .n = cases[i].n,
                                            .head_dim = cases[i].head_dim,
                                            .heads = (int64_t)heads,
                                            .causal = cases[i].causal,
                                            .backward = backward };
            double got_s = flash_s(&g, k);
            CU_ASSERT_DOUBLE_EQUAL(got_s / want_s, 1, 1e-12);
        }
}

/* A scan (MODEL.md, 3.20) takes the longer of its arithmetic and its bytes, both on the
 * SMs that it has; bytes are no faster than memory. */
static void test_scan(void)
{
    const struct gpu g = a100();
    const struct kernel_share half = { 0.5, 1 };
    double clock = g.gemm[DTYPE_BF16].sustained;
    double rate = 0.12 * (clock > 0 ? clock : 1) * 312e12, Bps = 3.3 * 19.5e12 / 128;
    struct op op = { .kind = OP_SCAN, .dtype = DTYPE_BF16, .launches = 2 };
    op.flops = 1e12; /* arithmetic is longer */
    op.read_B = 3e8;
    op.write_B = 1e8;
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, kernel_alone),
                           2 * 2.9e-6 + 1e12 / rate, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, half),
                           2 * 2.9e-6 + 1e12 / (rate / 2), 1e-12);
    op.flops = 1e9; /* bytes are */
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, kernel_alone),
                           2 * 2.9e-6 + 4e8 / Bps, 1e-12);
    op.launches = 0; /* one at least */
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&g, &op, 1, kernel_alone), 2.9e-6 + 4e8 / Bps,
                           1e-12);
}

void test_kernel_register(void)
{
    CU_pSuite suite = CU_add_suite("kernel", NULL, NULL);
    CU_ADD_TEST(suite, test_equations);
    CU_ADD_TEST(suite, test_measured);
    CU_ADD_TEST(suite, test_roofline);
    CU_ADD_TEST(suite, test_large_product_reaches_its_efficiency);
    CU_ADD_TEST(suite, test_fp32_on_v100);
    CU_ADD_TEST(suite, test_monotone);
    CU_ADD_TEST(suite, test_waves);
    CU_ADD_TEST(suite, test_shares_slow_down);
    CU_ADD_TEST(suite, test_beside);
    CU_ADD_TEST(suite, test_looped);
    CU_ADD_TEST(suite, test_paged);
    CU_ADD_TEST(suite, test_streams);
    CU_ADD_TEST(suite, test_flash);
    CU_ADD_TEST(suite, test_flash_sustained);
    CU_ADD_TEST(suite, test_flash2);
    CU_ADD_TEST(suite, test_flash_wide);
    CU_ADD_TEST(suite, test_flash_efficient);
    CU_ADD_TEST(suite, test_flash_efficient_heads);
    CU_ADD_TEST(suite, test_flash_uneven);
    CU_ADD_TEST(suite, test_flash_between);
    CU_ADD_TEST(suite, test_flash_by_hand);
    CU_ADD_TEST(suite, test_alignment);
    CU_ADD_TEST(suite, test_operators);
    CU_ADD_TEST(suite, test_scan);
}
