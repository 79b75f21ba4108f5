/* Fits recover the truth: measurements made from known profiles, with noise, give the
 * profile back within the confidence that the fit states. Noise is from seeded
 * streams. */
#include "calibrate/calibration.h"

#include "config/datadir.h"
#include "cost/kernel.h"

#include <CUnit/CUnit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void test_calibrate_register(void);

/* 95 % is 1.96 standard deviations; a dozen terms are allowed 3. */
static const double allowed = 1.55;

struct bench {
    struct cfg_loader loader;
    struct samples samples;
    struct calibration found;
    struct err err;
    gsl_rng *rng;
};

static void bench_init(struct bench *b, unsigned long seed)
{
    const struct samples_hints hints = { .op = -1 };
    b->err = (struct err) { 0 };
    cfg_loader_init(&b->loader);
    samples_init(&b->samples, &b->loader, &hints);
    b->samples.file = "synthetic";
    calibration_init(&b->found, &b->loader.arena);
    b->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(b->rng, seed);
}

static void bench_release(struct bench *b)
{
    gsl_rng_free(b->rng);
    calibration_release(&b->found);
    samples_release(&b->samples);
    cfg_loader_release(&b->loader);
}

static double noisy(struct bench *b, double time_s, double sd)
{
    return time_s * exp(gsl_ran_gaussian(b->rng, sd));
}

static int64_t log_uniform(struct bench *b, double lo, double hi)
{
    return (int64_t)(lo * pow(hi / lo, gsl_rng_uniform(b->rng)));
}

static const struct calibration_term *term(const struct bench *b, const char *path)
{
    for (int64_t i = 0; i < b->found.terms.n; i++)
        if (b->found.terms.v[i].path && strcmp(b->found.terms.v[i].path, path) == 0)
            return &b->found.terms.v[i];
    return NULL;
}

static void assert_recovered(const struct bench *b, const char *path, double truth)
{
    const struct calibration_term *t = term(b, path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    CU_ASSERT(t->fitted);
    CU_ASSERT(t->half < 0.25 * truth);
    if (fabs(t->value - truth) > allowed * t->half)
        printf("\n%s: %g -+ %g, truth %g\n", path, t->value, t->half, truth);
    CU_ASSERT(fabs(t->value - truth) <= allowed * t->half);
}

/* --- the fit itself --------------------------------------------------------------- */

struct curve {
    int64_t n;
    double x[200], y[200];
};

static void curve_residuals(const double *v, double *residuals, void *arg)
{
    struct curve *c = arg;
    for (int64_t i = 0; i < c->n; i++)
        residuals[i] = log((v[0] + c->x[i] / v[1]) / c->y[i]);
}

static struct fit_param param(const char *name, double start, double min, double max)
{
    return (struct fit_param) { .name = name, .start = start, .min = min, .max = max };
}

/* A tenth of the points are three times too slow: they must not move it. */
static void test_outliers(void)
{
    struct bench b;
    struct curve c = { .n = 200 };
    bench_init(&b, 7);
    for (int64_t i = 0; i < c.n; i++) {
        c.x[i] = pow(10, 8 * gsl_rng_uniform(b.rng));
        c.y[i] = noisy(&b, 4e-6 + c.x[i] / 2e11, 0.02) * (i % 10 == 3 ? 3 : 1);
    }
    struct fit fit = {
        .n_params = 2, .n = c.n, .residuals = curve_residuals, .arg = &c
    };
    fit.params[0] = param("alpha", 1e-5, 1e-7, 1e-3);
    fit.params[1] = param("rate", 1e10, 1e8, 1e13);
    CU_ASSERT_EQUAL_FATAL(fit_run(&fit, &b.err), 0);
    CU_ASSERT(fabs(fit.params[0].value - 4e-6) <= allowed * fit.params[0].half);
    CU_ASSERT(fabs(fit.params[1].value - 2e11) <= allowed * fit.params[1].half);
    CU_ASSERT(fit.params[0].half < 0.05 * 4e-6);
    bench_release(&b);
}

static void test_unidentified(void)
{
    struct bench b;
    struct curve c = { .n = 100 };
    bench_init(&b, 8);
    for (int64_t i = 0; i < c.n; i++) { /* so large that the latency is not seen */
        c.x[i] = 1e9 * (1 + gsl_rng_uniform(b.rng));
        c.y[i] = noisy(&b, c.x[i] / 2e11, 0.05);
    }
    struct fit fit = {
        .n_params = 2, .n = c.n, .residuals = curve_residuals, .arg = &c
    };
    fit.params[0] = param("alpha", 3e-6, 1e-7, 1e-2);
    fit.params[1] = param("rate", 1e11, 1e8, 1e13);
    CU_ASSERT_EQUAL_FATAL(fit_run_known(&fit, 0.5, &b.err), 0);
    CU_ASSERT(fit.params[0].fixed && fit.params[0].value <= 3e-6);
    CU_ASSERT(fabs(fit.params[1].value / 2e11 - 1) < 0.03);
    bench_release(&b);
}

static void test_too_few(void)
{
    struct bench b;
    struct curve c = { .n = 2, .x = { 1, 2 }, .y = { 1, 2 } };
    bench_init(&b, 9);
    struct fit fit = {
        .n_params = 2, .n = c.n, .residuals = curve_residuals, .arg = &c
    };
    fit.params[0] = param("alpha", 1, 0.1, 10);
    fit.params[1] = param("rate", 1, 0.1, 10);
    CU_ASSERT_EQUAL(fit_run(&fit, &b.err), -1);
    CU_ASSERT(b.err.set);
    bench_release(&b);
}

/* --- GPUs ------------------------------------------------------------------------- */

static struct gpu shipped(struct bench *b, const char *name)
{
    const struct gpu *gpu = gpu_get(&b->loader, name, (struct cfg) { 0 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
    return *gpu;
}

static void add_gemms(struct bench *b, const struct gpu *truth, enum dtype dtype, int n)
{
    for (int i = 0; i < n; i++) {
        struct sample_kernel k = { .dtype = dtype,
                                   .m = log_uniform(b, 16, 16384),
                                   .n = log_uniform(b, 64, 16384) / 8 * 8,
                                   .k = log_uniform(b, 64, 8192) / 8 * 8,
                                   .batch = i % 5 == 4 ? 8 : 1 };
        k.n += i % 6 == 3; /* rows of whole pieces no more */
        k.time_s = noisy(
            b, kernel_gemm_s(truth, dtype, k.m, k.n, k.k, k.batch, false, kernel_alone),
            0.03);
        VEC_PUSH(&b->samples.gemms, k);
    }
}

static void add_streams(struct bench *b, const struct gpu *truth, int n)
{
    for (int i = 0; i < n; i++) {
        struct sample_stream k = { .name = "copy",
                                   .bytes = pow(2, 12 + 20 * gsl_rng_uniform(b->rng)) };
        k.time_s = noisy(b, kernel_stream_s(truth, k.bytes, kernel_alone), 0.03);
        VEC_PUSH(&b->samples.streams, k);
    }
}

static void add_flashes(struct bench *b, const struct gpu *truth, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t s = log_uniform(b, 512, 16384);
        struct sample_kernel k = { DTYPE_BF16, s,          s,         i % 3 ? 128 : 64,
                                   32,         i % 2 == 0, i % 4 < 2, 0 };
        const struct kernel_flash flash = { .dtype = k.dtype,
                                            .m = k.m,
                                            .n = k.n,
                                            .head_dim = k.k,
                                            .heads = k.batch,
                                            .causal = k.causal,
                                            .backward = k.backward };
        k.time_s = noisy(b, kernel_flash_s(truth, &flash, kernel_alone), 0.03);
        VEC_PUSH(&b->samples.flashes, k);
    }
}

static void check_gemm(const struct bench *b, const char *dtype,
                       const struct gpu_gemm *g)
{
    char path[64];
    const struct {
        const char *name;
        double truth;
    } rows[] = { { "eta", g->eta },
                 { "port", g->port_Bps },
                 { "hbm_frac", g->hbm_frac },
                 { "launch", g->launch_s },
                 { "epilogue", g->epilogue },
                 { "misaligned", g->misaligned },
                 { "misaligned_batch", g->misaligned_batch } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(path, sizeof(path), "gemm/%s/%s", dtype, rows[i].name);
        assert_recovered(b, path, rows[i].truth);
    }
}

/* A GPU like `name` but for every constant, and its rule of waves turned. */
static void recover_gpu(const char *name, unsigned long seed)
{
    struct bench b;
    bench_init(&b, seed);
    struct gpu base = shipped(&b, name), truth = base, fitted = base;
    struct gpu_gemm *g = &truth.gemm[DTYPE_BF16];
    g->eta *= 0.88;
    g->port_Bps *= 0.8;
    g->hbm_frac *= 0.9;
    g->launch_s *= 1.4;
    g->epilogue = 0.75;
    g->misaligned = 2.5;
    g->misaligned_batch = 4;
    g->partial_waves = g->partial_waves > 0 ? 0 : 1;
    truth.stream_frac *= 0.93;
    truth.kernel_s *= 1.3;
    truth.flash_frac[GPU_FLASH_ANY][false] *= 1.2;
    truth.flash_frac[GPU_FLASH_ANY][true] *= 0.85;
    add_gemms(&b, &truth, DTYPE_BF16, 400);
    add_streams(&b, &truth, 60);
    /* attention starts as products do: the launch is theirs */
    add_flashes(&b, &truth, 40);
    VEC_PUSH(&b.samples.clocks, ((struct sample_clock) { DTYPE_BF16, 0.9, 1.0 }));
    b.samples.context_B = 700 << 20;
    CU_ASSERT_EQUAL_FATAL(calibrate_gpu(&b.found, &fitted, &b.samples, &b.err), 0);
    check_gemm(&b, "bf16", g);
    CU_ASSERT_EQUAL(fitted.gemm[DTYPE_BF16].partial_waves, g->partial_waves);
    CU_ASSERT_EQUAL(fitted.gemm[DTYPE_FP16].eta, fitted.gemm[DTYPE_BF16].eta);
    assert_recovered(&b, "kernel", truth.kernel_s);
    assert_recovered(&b, "stream_frac", truth.stream_frac);
    assert_recovered(&b, "flash_forward_frac", truth.flash_frac[GPU_FLASH_ANY][false]);
    assert_recovered(&b, "flash_backward_frac", truth.flash_frac[GPU_FLASH_ANY][true]);
    CU_ASSERT_DOUBLE_EQUAL(fitted.gemm[DTYPE_BF16].sustained, 0.9, 1e-12);
    CU_ASSERT_EQUAL(fitted.context_B, 700 << 20);
    CU_ASSERT_EQUAL(fitted.gemm[DTYPE_TF32].eta, base.gemm[DTYPE_TF32].eta);
    bench_release(&b);
}

static void test_a100(void)
{
    recover_gpu("A100-SXM4-80GB", 1);
}

static void test_h100(void)
{
    recover_gpu("H100-SXM5-80GB", 2);
}

static void test_little_data(void)
{
    struct bench b;
    bench_init(&b, 3);
    struct gpu base = shipped(&b, "A100-SXM4-80GB"), fitted = base;
    add_gemms(&b, &base, DTYPE_BF16, 5);
    add_streams(&b, &base, 3);
    CU_ASSERT_EQUAL_FATAL(calibrate_gpu(&b.found, &fitted, &b.samples, &b.err), 0);
    CU_ASSERT_EQUAL(fitted.gemm[DTYPE_BF16].eta, base.gemm[DTYPE_BF16].eta);
    CU_ASSERT_EQUAL(fitted.stream_frac, base.stream_frac);
    for (int64_t i = 0; i < b.found.terms.n; i++) {
        CU_ASSERT(!b.found.terms.v[i].fitted);
        CU_ASSERT_PTR_NOT_NULL(b.found.terms.v[i].why);
    }
    bench_release(&b);
}

/* The table that the shipped A100 was fitted to: the fit comes out as good. */
static void test_published(void)
{
    struct bench b;
    const struct samples_hints hints = { .op = -1 };
    bench_init(&b, 4);
    struct gpu fitted = shipped(&b, "A100-SXM4-80GB");
    const char *file = arena_printf(
        &b.loader.arena, "%s/validate/data/aiconfigurator_gemm_bf16_a100.csv",
        datadir_root(&b.loader.arena));
    CU_ASSERT_EQUAL_FATAL(samples_load(&b.samples, file, &hints), 0);
    int64_t kept = 0; /* every twentieth row will do */
    for (int64_t i = 0; i < b.samples.gemms.n; i += 20)
        b.samples.gemms.v[kept++] = b.samples.gemms.v[i];
    b.samples.gemms.n = kept;
    CU_ASSERT_EQUAL_FATAL(calibrate_gpu(&b.found, &fitted, &b.samples, &b.err), 0);
    CU_ASSERT_EQUAL_FATAL(b.found.figures.n, 2);
    const struct calibration_figure *large = &b.found.figures.v[1];
    CU_ASSERT(large->median <= large->base_median + 0.002);
    CU_ASSERT(large->median < 0.05);
    CU_ASSERT_EQUAL(fitted.gemm[DTYPE_BF16].partial_waves, 0);
    bench_release(&b);
}

/* What is written is read back as it was fitted. */
static void test_profile(void)
{
    struct bench b;
    char path[] = "/tmp/smsim-calibrate-XXXXXX";
    bench_init(&b, 5);
    struct gpu base = shipped(&b, "H100-SXM5-80GB"), fitted = base;
    base.stream_frac = 0.7;
    add_streams(&b, &base, 40);
    CU_ASSERT_EQUAL_FATAL(calibrate_gpu(&b.found, &fitted, &b.samples, &b.err), 0);
    struct cfg file = datadir_load(&b.loader, "topologies/gpus", "H100-SXM5-80GB",
                                   (struct cfg) { 0 });
    json_t *tree = calibration_profile(&b.found, file, &b.samples);
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CU_ASSERT_EQUAL(json_dump_file(tree, path, JSON_INDENT(4)), 0);
    json_decref(tree);
    const struct gpu *again = gpu_get(&b.loader, path, (struct cfg) { 0 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(again);
    CU_ASSERT_DOUBLE_EQUAL(again->stream_frac, fitted.stream_frac, 1e-3);
    CU_ASSERT_DOUBLE_EQUAL(again->gemm[DTYPE_BF16].eta, base.gemm[DTYPE_BF16].eta, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(again->provenance, "memory-bound: kernel"));
    CU_ASSERT_EQUAL(again->provenance_kind, PROVENANCE_FITTED);
    unlink(path);
    bench_release(&b);
}

static void test_names(void)
{
    static const struct {
        const char *device, *profile;
        double memory_GB;
    } rows[] = { { "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB", 0 },
                 { "NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB", 0 },
                 { "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB", 85 },
                 { "NVIDIA H200", "H200-SXM-141GB", 150 },
                 { "Tesla V100-SXM2-16GB", "V100-SXM2-16GB", 17 },
                 { "NVIDIA B200", "B200-SXM-180GB", 190 },
                 { "NVIDIA H100 PCIe", "H100-PCIe-80GB", 85 },
                 { "NVIDIA A100 80GB PCIe", "A100-PCIe-80GB", 85 },
                 { "NVIDIA A100-PCIE-40GB", "A100-PCIe-40GB", 42 },
                 { "NVIDIA H100 NVL", "H100-NVL-94GB", 100 },
                 { "A100", "A100-SXM4-40GB", 0 },
                 { "NVIDIA GeForce RTX 4090", "RTX-4090", 25 },
                 { "NVIDIA RTX A6000", "RTX-A6000", 51 },
                 { "NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada", 51 },
                 { "NVIDIA RTX PRO 6000 Blackwell Server Edition",
                   "RTX-PRO-6000-Server-96GB", 102 },
                 { "NVIDIA GeForce RTX 4070", NULL, 12 },
                 { "NVIDIA L40", "L40", 48 },
                 { "NVIDIA A10", "A10", 24 },
                 { "NVIDIA A10G", "A10G", 24 },
                 { "AMD Instinct MI300X", NULL, 192 } };
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *name = calibration_gpu_of(&arena, rows[i].device,
                                              (int64_t)(rows[i].memory_GB * 1e9));
        if (rows[i].profile) {
            CU_ASSERT_PTR_NOT_NULL_FATAL(name);
            CU_ASSERT_STRING_EQUAL(name, rows[i].profile);
        } else {
            CU_ASSERT_PTR_NULL(name);
        }
    }
    arena_release(&arena);
}

/* A log's GPU and a job's: one of another number, maker's series or module is another. */
static void test_may_be(void)
{
    static const struct {
        const char *device, *gpu;
        bool may;
    } rows[] = { { "NVIDIA A100-SXM4-80GB", "A100-SXM4-40GB", true },
                 { "NVIDIA A100-PCIE-40GB", "A100-SXM4-40GB", false },
                 { "NVIDIA A100-SXM4-40GB", "A10", false },
                 { "NVIDIA A10G", "A10", false },
                 { "NVIDIA L40S", "L4", false },
                 { "NVIDIA GeForce RTX 3090", "RTX-4090", false },
                 { "NVIDIA GeForce RTX 4090", "RTX-4090", true },
                 { "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB", true },
                 { "NVIDIA H100 NVL", "H100-SXM5-80GB", false },
                 { "NVIDIA GH200 480GB", "GH200-96GB", true },
                 { "Tesla V100-SXM2-16GB", "V100-SXM3-32GB", true },
                 { "", "L4", true } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CU_ASSERT_EQUAL(calibration_may_be(rows[i].device, rows[i].gpu), rows[i].may);
}

/* --- links and fabrics ------------------------------------------------------------ */

static void test_link(void)
{
    struct bench b;
    bench_init(&b, 6);
    for (double size = 256; size <= 0x1p30; size *= 2) {
        double t = 9e-6 + fmin(size, 1 << 20) / 8e9 + fmax(0, size - (1 << 20)) / 22e9;
        VEC_PUSH(&b.samples.links, ((struct sample_link) { "pinned host to gpu0", size,
                                                           noisy(&b, t, 0.01) }));
    }
    CU_ASSERT_EQUAL_FATAL(calibrate_links(&b.found, &b.samples, &b.err), 0);
    CU_ASSERT_EQUAL_FATAL(b.found.links.n, 1);
    const struct calibration_link *l = &b.found.links.v[0];
    CU_ASSERT_EQUAL_FATAL(l->n_knees, 1);
    CU_ASSERT(l->knee_B[0] >= 1 << 19 && l->knee_B[0] <= 1 << 21);
    CU_ASSERT(fabs(l->alpha_s - 9e-6) <= allowed * l->alpha_half_s);
    CU_ASSERT(fabs(l->rate_Bps[1] - 22e9) <= allowed * l->rate_half_Bps);
    CU_ASSERT(fabs(l->rate_Bps[0] / 8e9 - 1) < 0.05);
    bench_release(&b);
}

/* All-reduces of 2, 4 and 8 GPUs of each node, as the plans of a fabric predict
 * them. */
static void add_colls(struct bench *b, const struct cluster *cluster,
                      const struct fabric *fabric, int least, double from_B)
{
    struct instance inst = *cluster->groups[0].instance;
    struct cluster copy = *cluster;
    struct arena arena;
    int64_t nodes = copy.n_instances;
    if (fabric_is_inside(fabric))
        inst.inside = fabric;
    else
        copy.fabric = fabric;
    copy.groups[0].instance = &inst;
    arena_init(&arena);
    struct net *net = net_new(&copy, true, &b->err);
    for (int ranks = least; ranks <= 8; ranks *= 2)
        for (double size = from_B; size <= 0x1p30; size *= 3) {
            struct coll_group group = coll_group_world(&copy);
            struct coll_plan plan;
            group.spans[0].n_gpus = ranks;
            struct coll_request request = { .op = COLL_ALL_REDUCE,
                                            .protocol = -1,
                                            .size_B = size,
                                            .groups = &group,
                                            .n_groups = 1 };
            CU_ASSERT_EQUAL_FATAL(coll_plan_make(&plan, &arena, net, &request, &b->err),
                                  0);
            VEC_PUSH(&b->samples.colls,
                     ((struct sample_coll) {
                         COLL_ALL_REDUCE, ranks * nodes, nodes, size,
                         noisy(b, coll_plan_time_s(&plan, net), 0.01), 1 }));
        }
    net_free(net);
    arena_release(&arena);
}

static void test_fabric(void)
{
    struct bench b;
    struct cluster cluster;
    bench_init(&b, 11);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&cluster, &b.loader, "p4d.24xlarge"), 0);
    struct fabric truth = *cluster.groups[0].instance->inside, fitted = truth;
    truth.efficiency = 0.86;
    truth.proto[FABRIC_PROTO_LL].base_s *= 1.5;
    truth.proto[FABRIC_PROTO_LL].step_s *= 0.7;
    add_colls(&b, &cluster, &truth, 2, 256);
    CU_ASSERT_EQUAL_FATAL(
        calibrate_fabric(&b.found, &fitted, &cluster, &b.samples, &b.err), 0);
    assert_recovered(&b, "efficiency", truth.efficiency);
    assert_recovered(&b, "protocols/ll/base", truth.proto[FABRIC_PROTO_LL].base_s);
    assert_recovered(&b, "protocols/ll/step", truth.proto[FABRIC_PROTO_LL].step_s);
    for (int64_t i = 0; i < b.found.figures.n; i++)
        CU_ASSERT(b.found.figures.v[i].median < 0.015);
    bench_release(&b);
}

/* Few rows of many terms: within 3 %. */
static void assert_near(const struct bench *b, const char *path, double truth)
{
    const struct calibration_term *t = term(b, path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    CU_ASSERT(t->fitted);
    CU_ASSERT_DOUBLE_EQUAL(t->value, truth, 0.03 * truth);
}

/* Trees between nodes: their terms, not those of rings, which nothing ran. Of a few
 * large sizes, rates alone; of two sizes, nothing. */
static void test_fabric_trees(void)
{
    for (int few = 0; few < 2; few++) {
        struct bench b;
        struct cluster cluster;
        bench_init(&b, 13);
        CU_ASSERT_EQUAL_FATAL(cluster_parse(&cluster, &b.loader, "dgx-h100:2"), 0);
        struct fabric truth = *cluster.fabric, fitted = truth;
        struct fabric_law *tree = truth.laws.of[FABRIC_TREE];
        struct fabric_law *nvls = &truth.laws.of[FABRIC_NVLS_TREE][FABRIC_PROTO_SIMPLE];
        nvls->max_Bps *= 0.5;
        if (!few)
            tree[FABRIC_PROTO_LL].base_s *= 1.5;
        add_colls(&b, &cluster, &truth, 8, few ? 0x1p23 : 256);
        CU_ASSERT_EQUAL_FATAL(
            calibrate_fabric(&b.found, &fitted, &cluster, &b.samples, &b.err), 0);
        assert_near(&b, "nvls_tree/simple/max", nvls->max_Bps);
        if (!few)
            assert_near(&b, "tree/ll/base", tree[FABRIC_PROTO_LL].base_s);
        for (int64_t i = 0; i < b.found.terms.n; i++)
            if (strncmp(b.found.terms.v[i].path, "protocols/", 10) == 0 ||
                (few && b.found.terms.v[i].unit == UNIT_SECONDS))
                CU_ASSERT(!b.found.terms.v[i].fitted);
        b.samples.colls.n = 2;
        CU_ASSERT_EQUAL(
            calibrate_fabric(&b.found, &fitted, &cluster, &b.samples, &b.err), -1);
        CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "2 measurements"));
        bench_release(&b);
    }
}

static void test_fabric_too_small(void)
{
    struct bench b;
    struct cluster cluster;
    bench_init(&b, 12);
    CU_ASSERT_EQUAL_FATAL(cluster_parse(&cluster, &b.loader, "p3.8xlarge"), 0);
    struct fabric fitted = *cluster.groups[0].instance->inside;
    for (int i = 0; i < 20; i++)
        VEC_PUSH(&b.samples.colls,
                 ((struct sample_coll) { COLL_ALL_REDUCE, 8, 1, 1 << i, 1e-5, 1 }));
    CU_ASSERT_EQUAL(calibrate_fabric(&b.found, &fitted, &cluster, &b.samples, &b.err),
                    -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(b.err.text, "p3.8xlarge"));
    bench_release(&b);
}

void test_calibrate_register(void)
{
    CU_pSuite suite = CU_add_suite("calibrate", NULL, NULL);
    CU_add_test(suite, "outliers do not move a fit", test_outliers);
    CU_add_test(suite, "a term that is not identified keeps its start",
                test_unidentified);
    CU_add_test(suite, "too few measurements", test_too_few);
    CU_add_test(suite, "an A100 is recovered", test_a100);
    CU_add_test(suite, "an H100 is recovered", test_h100);
    CU_add_test(suite, "little data keeps the defaults", test_little_data);
    CU_add_test(suite, "the published A100 table", test_published);
    CU_add_test(suite, "a profile is read back", test_profile);
    CU_add_test(suite, "names of devices", test_names);
    CU_add_test(suite, "GPUs that a device may be", test_may_be);
    CU_add_test(suite, "a link with a knee", test_link);
    CU_add_test(suite, "a fabric is recovered", test_fabric);
    CU_add_test(suite, "trees of a network are recovered", test_fabric_trees);
    CU_add_test(suite, "ranks that the machine has not", test_fabric_too_small);
}
