/* Experts as measured software runs them: loads, the law, its files, its fits. */
#include "calibrate/calibration.h"
#include "config/datadir.h"
#include "cost/experts.h"
#include "cost/gemm.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <string.h>

void test_experts_register(void);

static const struct cfg nowhere = { NULL, NULL, "" };

/* The busiest rank's slots over the mean rank's. */
static double imbalance(const struct expert_routing *r)
{
    struct expert_load l = expert_load_of(r);
    return l.slots * (double)r->ranks / l.all;
}

/* DeepSeek-V3's 256 experts on 64 ranks, 8 a token, 16,384 tokens of all ranks. */
static void test_balanced(void)
{
    const struct expert_routing r = {
        .tokens = 16384, .experts = 256, .experts_per_token = 8, .ranks = 64
    };
    const struct expert_load l = expert_load_of(&r);
    CU_ASSERT_DOUBLE_EQUAL(l.all, 131072, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(l.slots, 2048, 1e-9); /* 4 experts of 512 */
    CU_ASSERT_DOUBLE_EQUAL(l.experts, 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(l.blocks[7], 4 * 4, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(l.blocks[8], 4 * 2, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(imbalance(&r), 1, 1e-12);
}

/* Tokens are not lost, no expert has more than there are, and groups round up. */
static void test_power_law(void)
{
    struct expert_routing r = { .tokens = 16384,
                                .experts = 256,
                                .experts_per_token = 8,
                                .ranks = 1,
                                .exponent = 1.2 };
    const struct expert_load one = expert_load_of(&r);
    CU_ASSERT_DOUBLE_EQUAL(one.slots / one.all, 1, 1e-3);
    CU_ASSERT(one.experts > 200 && one.experts <= 256);
    CU_ASSERT(one.blocks[7] > one.slots / 128 + 64); /* half a tile an expert */
    CU_ASSERT_DOUBLE_EQUAL(one.blocks[0], one.slots, 1);
    double before = 1;
    for (r.ranks = 2; r.ranks <= 256; r.ranks *= 2) {
        double now = imbalance(&r);
        CU_ASSERT(now > before && now <= (double)r.ranks);
        before = now;
    }
    r.ranks = 256;
    r.exponent = 1.01;
    CU_ASSERT(imbalance(&r) < before); /* nearer to alike */
    r.exponent = 1;
    CU_ASSERT(isfinite(imbalance(&r)));
    /* one expert a token, of few: each may have all tokens at most */
    r = (struct expert_routing) { .tokens = 1024,
                                  .experts = 8,
                                  .experts_per_token = 2,
                                  .ranks = 8,
                                  .exponent = 1.2 };
    CU_ASSERT(expert_load_of(&r).slots <= 1024);
}

/* A grouped product of groups of 128 rows is a product of all rows, but for the
 * matrices that it reads; of groups of 129 it computes twice as many tiles of 128. */
static void test_grouped(void)
{
    double blocks[LOAD_TILES_N];
    struct gemm g = { .m = 32 * 128,
                      .n = 2048,
                      .batch = 1,
                      .k = 4096,
                      .sms = 100,
                      .flops = 5e12,
                      .port_Bps = 1e12,
                      .hbm_Bps = 1e30,
                      .element_B = 2,
                      .result_B = 2,
                      .partial_waves = 1,
                      .tiles = GEMM_TILES_GROUPED };
    double alone_s = gemm_s(&g);
    g.blocks = blocks;
    g.groups = 32;
    for (int i = 0; i < LOAD_TILES_N; i++)
        blocks[i] = 32 * ceil(128.0 / (1 << i));
    CU_ASSERT_DOUBLE_EQUAL(gemm_s(&g) / alone_s, 1, 1e-9);
    for (int i = 0; i < LOAD_TILES_N; i++)
        blocks[i] = 32 * ceil(129.0 / (1 << i));
    CU_ASSERT_DOUBLE_EQUAL(gemm_s(&g) / alone_s, 144 / 128.0,
                           1e-9); /* by tiles of 16 */
    g.hbm_Bps = 1e12;
    double matrices_s = 2.0 * 32 * 2048 * 4096 / 1e12;
    CU_ASSERT(gemm_s(&g) > matrices_s);
}

/* Shipped rows compute below their GPU's peak; a skewed load and more ranks of the
 * same tokens take longer than their share. */
static void test_shipped(void)
{
    struct cfg_loader loader;
    int64_t n = 0;
    cfg_loader_init(&loader);
    for (const char **name = datadir_list(&loader.arena, "topologies/experts"); *name;
         name++) {
        const struct gpu *gpu = gpu_get(&loader, *name, nowhere);
        const struct experts_kernels *all = experts_get(&loader, *name, nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        for (int64_t i = 0; i < all->n; i++, n++) {
            struct expert_routing r = {
                .tokens = 16384, .experts = 128, .experts_per_token = 8, .ranks = 1
            };
            struct experts_shape s = { .hidden = 4096,
                                       .width = 1536,
                                       .gated = true,
                                       .tokens = r.tokens,
                                       .experts = 128,
                                       .load = expert_load_of(&r) };
            double even_s = experts_s(gpu, &all->v[i], &s);
            double flops = 6.0 * 4096 * 1536 * r.tokens * 8;
            CU_ASSERT(flops / even_s < product_peak_flops(gpu, all->v[i].format));
            CU_ASSERT(flops / even_s >
                      0.05 * product_peak_flops(gpu, all->v[i].format));
            r.ranks = 16;
            s.experts = 8;
            s.load = expert_load_of(&r);
            double part_s = experts_s(gpu, &all->v[i], &s);
            CU_ASSERT(part_s > even_s / 16 && part_s <= even_s);
            r.exponent = 1.2;
            s.load = expert_load_of(&r);
            CU_ASSERT(experts_s(gpu, &all->v[i], &s) >= part_s);
        }
        CU_ASSERT_PTR_NULL(experts_find(all, "vllm 0.24.0", "nvfp4"));
        CU_ASSERT_PTR_NOT_NULL(experts_find(all, "sglang 0.5", "bf16"));
    }
    CU_ASSERT_EQUAL(n, 24);
    cfg_loader_release(&loader);
}

/* The table in the repository gives back what is shipped. */
static void expect_shipped(const char *device, int64_t sets)
{
    const struct samples_hints hints = { .op = -1, .device = device };
    struct cfg_loader loader;
    struct samples s;
    struct calibration found;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    calibration_init(&found, &loader.arena);
    const char *table = arena_printf(&loader.arena, "%s/validate/data/silicon_moe.csv",
                                     datadir_root(&loader.arena));
    CU_ASSERT_EQUAL_FATAL(samples_load(&s, table, &hints), 0);
    CU_ASSERT_EQUAL_FATAL(calibrate_experts(&found, &loader, &s, &err), 0);
    CU_ASSERT_EQUAL(found.experts.n, sets);
    for (int64_t i = 0; i < found.experts.n; i++) {
        const struct calibration_experts *p = &found.experts.v[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(p->shipped);
        CU_ASSERT(p->set.errors.n_fit > 50 && p->set.errors.n_held == 0);
        CU_ASSERT_DOUBLE_EQUAL(p->kernel.eta / p->shipped->eta, 1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->kernel.port_Bps / p->shipped->port_Bps, 1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->kernel.start_s / p->shipped->start_s, 1, 1e-3);
        CU_ASSERT(p->set.errors.fit_mean < 0.15);
    }
    calibration_release(&found);
    samples_release(&s);
    cfg_loader_release(&loader);
}

static void test_recover(void)
{
    expect_shipped("NVIDIA B200", 2);
}

/* Halves are of shapes, and about equal. */
static void test_halves(void)
{
    int64_t n[2] = { 0, 0 };
    for (int64_t t = 1; t <= 64; t++)
        for (int64_t e = 1; e <= 64; e++)
            n[experts_half(&(struct sample_experts) {
                .tokens = 256 * t, .hidden = 4096, .experts = 8 * e, .ranks = 1 })]++;
    CU_ASSERT(n[0] > 1900 && n[1] > 1900);
}

void test_experts_register(void)
{
    CU_pSuite suite = CU_add_suite("experts", NULL, NULL);
    CU_add_test(suite, "tokens of experts that are alike", test_balanced);
    CU_add_test(suite, "tokens by a power law", test_power_law);
    CU_add_test(suite, "grouped products", test_grouped);
    CU_add_test(suite, "experts that are shipped", test_shipped);
    CU_add_test(suite, "experts are fitted again", test_recover);
    CU_add_test(suite, "halves of experts", test_halves);
}
