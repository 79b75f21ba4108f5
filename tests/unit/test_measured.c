/* Attention, dispatch and combine as measured software runs them: the law, its files, its fits. */
#include "calibrate/calibration.h"
#include "config/datadir.h"
#include "cost/attention.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_measured_register(void);

static const struct cfg nowhere = { NULL, NULL, "" };

/* (3.22) written out: 4 sequences of 2048 tokens, 16 heads of 128, 4 of keys. */
static void test_law(void)
{
    const struct gpu gpu = { .n_sms = 100 };
    struct attention a = { .product_flops = 500e12,
                           .softmax_s = 20e-12,
                           .tail = 0.5,
                           .start_s = 10e-6,
                           .moved_Bps = 2e12,
                           .block_s = 1e-6,
                           .token_s = 1e-9 };
    struct attention_shape shape = { 4, 2048, 16, 4, 128 };
    double pair_s = 128 * 128 * (4 * 128 * 100 / 500e12 + 20e-12);
    double pairs = 64 * 136 / 100.0 + 0.5 * 16; /* 136 of 16 rows of tiles */
    double moved_B = 2.0 * 4 * 2048 * 128 * (2 * 16 + 2 * 4);
    double t = 10e-6 + pair_s * pairs + moved_B / 2e12 + 1e-6 * 64 * 16 / 100 +
               1e-9 * 4 * 2048;
    CU_ASSERT_DOUBLE_EQUAL(attention_s(&gpu, &a, &shape), t, 1e-12);
    /* one head: its longest row of tiles alone */
    shape = (struct attention_shape) { 1, 2048, 1, 1, 128 };
    t = 10e-6 + pair_s * 16 + 2.0 * 2048 * 128 * 4 / 2e12 + 1e-6 * 16 / 100 +
        1e-9 * 2048;
    CU_ASSERT_DOUBLE_EQUAL(attention_s(&gpu, &a, &shape), t, 1e-12);
    a.half_blocks = 128; /* its last block has half the rows */
    CU_ASSERT_DOUBLE_EQUAL(attention_s(&gpu, &a, &shape), t - pair_s * 8, 1e-12);
    a.half_blocks = 256;
    CU_ASSERT_DOUBLE_EQUAL(attention_s(&gpu, &a, &shape), t, 1e-12);
    a.keys_Bps = 1e12; /* one head of keys and one of values at half the rate */
    CU_ASSERT_DOUBLE_EQUAL(attention_s(&gpu, &a, &shape),
                           t + 2.0 * 2048 * 128 * 2 / 2e12, 1e-12);
}

/* Shipped rows compute below their GPU's peak, and slower with half the columns a
 * head: softmax does not shrink. */
static void test_shipped(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    int64_t n = 0;
    for (const char **name = datadir_list(&loader.arena, "topologies/attention"); *name;
         name++) {
        const struct gpu *g = gpu_get(&loader, *name, nowhere);
        const struct attentions *all = attentions_get(&loader, *name, nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        for (int64_t i = 0; i < all->n; i++, n++) {
            struct attention_shape s = { 4, 16384, 32, 8, 128 };
            double flops = 2.0 * 4 * 32 * 16384 * 16384 * 128;
            double wide_s = attention_s(g, &all->v[i], &s);
            s.head_dim = 64;
            s.heads = 64; /* and as many columns */
            s.kv_heads = 16;
            double narrow_s = attention_s(g, &all->v[i], &s);
            CU_ASSERT(flops / wide_s < g->peak_flops[DTYPE_BF16]);
            CU_ASSERT(flops / wide_s > 0.2 * g->peak_flops[DTYPE_BF16]);
            CU_ASSERT(narrow_s > 0.99 * wide_s);
        }
        CU_ASSERT_STRING_EQUAL(attentions_find(all, "vllm 9.9")->software,
                               strcmp(*name, "A100-SXM4-80GB") ? "vllm 0.24.0"
                                                               : "vllm 0.14.0");
    }
    CU_ASSERT_EQUAL(n, 26);
    cfg_loader_release(&loader);
}

/* The table in the repository gives back what is shipped of two devices. */
static void expect_shipped(const char *device)
{
    const struct samples_hints hints = { .op = -1, .device = device };
    struct cfg_loader loader;
    struct samples s;
    struct calibration found;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    calibration_init(&found, &loader.arena);
    const char *table = arena_printf(
        &loader.arena, "%s/validate/data/silicon_attention_forward_bf16.csv",
        datadir_root(&loader.arena));
    CU_ASSERT_EQUAL_FATAL(samples_load(&s, table, &hints), 0);
    CU_ASSERT_EQUAL_FATAL(calibrate_attentions(&found, &loader, &s, &err), 0);
    CU_ASSERT_EQUAL(found.attentions.n, 3);
    for (int64_t i = 0; i < found.attentions.n; i++) {
        const struct calibration_attention *p = &found.attentions.v[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(p->shipped);
        CU_ASSERT(p->set.errors.n_fit > 70 && p->set.errors.n_held == 0);
        CU_ASSERT_DOUBLE_EQUAL(p->attention.product_flops / p->shipped->product_flops,
                               1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->attention.softmax_s / p->shipped->softmax_s, 1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->attention.start_s / p->shipped->start_s, 1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->attention.moved_Bps / p->shipped->moved_Bps, 1, 1e-3);
        CU_ASSERT(p->set.errors.fit_mean < 0.09);
    }
    calibration_release(&found);
    samples_release(&s);
    cfg_loader_release(&loader);
}

static void test_recover(void)
{
    expect_shipped("NVIDIA H100");
    expect_shipped("NVIDIA H200");
}

/* Halves are of shapes, and about equal. */
static void test_halves(void)
{
    int64_t n[2] = { 0, 0 };
    for (int64_t b = 1; b <= 64; b++)
        for (int64_t h = 1; h <= 64; h++)
            n[attention_half(&(struct attention_shape) { b, 4096, h, 1, 128 })]++;
    CU_ASSERT(n[0] > 1900 && n[1] > 1900);
}

/* (C16) written out, and copies by hand. */
static void test_transfer_law(void)
{
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct(8, 256, 1), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct(4, 8, 2), 4 * (1 - 6.0 * 5 / (8 * 7)),
                           1e-12);
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct(8, 8, 8), 8, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(transfer_distinct(1, 64, 6), 1, 1e-12);
    const struct transfer t = { .kind = TRANSFER_DISPATCH,
                                .start_s = 30e-6,
                                .token_s = 0.4e-6,
                                .token_Bps = 100e9,
                                .copy_s = 0.05e-6,
                                .copy_Bps = 30e9,
                                .rate_Bps = 500e9 };
    const struct transfer_shape shape = { 8, 4096, 7168, 8, 256, 20 };
    double u = transfer_distinct(8, 256, 8), token_B = 7168 + 56 * 4;
    double sms_s =
        4096 / 20.0 * (0.4e-6 + token_B / 100e9 + u * (0.05e-6 + token_B / 30e9));
    CU_ASSERT(u > 5.2 && u < 5.4);
    CU_ASSERT_DOUBLE_EQUAL(transfer_s(&t, &shape),
                           30e-6 + hypot(sms_s, 4096 * u * token_B / 500e9), 1e-12);
}

/* Every shipped GPU has both directions; more SMs are faster, and combine moves twice
 * the bytes. */
static void test_transfers_shipped(void)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    int64_t n = 0;
    for (const char **name = datadir_list(&loader.arena, "topologies/transfers"); *name;
         name++, n++) {
        const struct gpu *g = gpu_get(&loader, *name, nowhere);
        const struct transfers *all = transfers_get(&loader, *name, nowhere);
        CU_ASSERT_PTR_NOT_NULL_FATAL(g);
        CU_ASSERT_PTR_NOT_NULL_FATAL(all);
        const struct transfer *to = transfers_find(all, NULL, TRANSFER_DISPATCH);
        const struct transfer *back = transfers_find(all, NULL, TRANSFER_COMBINE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(to);
        CU_ASSERT_PTR_NOT_NULL_FATAL(back);
        struct transfer_shape few = { 8, 4096, 7168, 8, 256, 8 }, many = few;
        many.sms = 24;
        CU_ASSERT(transfer_s(to, &many) < 0.6 * transfer_s(to, &few));
        CU_ASSERT(transfer_s(back, &many) > 1.2 * transfer_s(to, &many));
    }
    CU_ASSERT_EQUAL(n, 6);
    cfg_loader_release(&loader);
}

/* The table in the repository gives back what is shipped, of all devices. */
static void test_transfers_recover(void)
{
    const struct samples_hints hints = { .op = -1 };
    struct cfg_loader loader;
    struct samples s;
    struct calibration found;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    samples_init(&s, &loader, &hints);
    calibration_init(&found, &loader.arena);
    const char *table =
        arena_printf(&loader.arena, "%s/validate/data/silicon_deepep.csv",
                     datadir_root(&loader.arena));
    CU_ASSERT_EQUAL_FATAL(samples_load(&s, table, &hints), 0);
    CU_ASSERT_EQUAL_FATAL(calibrate_transfers(&found, &loader, &s, &err), 0);
    CU_ASSERT_EQUAL(found.transfers.n, 12);
    for (int64_t i = 0; i < found.transfers.n; i++) {
        const struct calibration_transfer *p = &found.transfers.v[i];
        CU_ASSERT_PTR_NOT_NULL_FATAL(p->shipped);
        CU_ASSERT(p->set.errors.n_fit > 100 && p->set.errors.n_held == 0);
        CU_ASSERT_DOUBLE_EQUAL(p->transfer.start_s / p->shipped->start_s, 1, 1e-3);
        CU_ASSERT_DOUBLE_EQUAL(p->transfer.rate_Bps / p->shipped->rate_Bps, 1, 1e-3);
        CU_ASSERT(p->set.errors.fit_median < 0.08 && p->set.errors.fit_mean < 0.12);
    }
    calibration_release(&found);
    samples_release(&s);
    cfg_loader_release(&loader);
}

void test_measured_register(void)
{
    CU_pSuite suite = CU_add_suite("measured", NULL, NULL);
    CU_add_test(suite, "attention written out", test_law);
    CU_add_test(suite, "attention that is shipped", test_shipped);
    CU_add_test(suite, "attention is fitted again", test_recover);
    CU_add_test(suite, "halves of attention", test_halves);
    CU_add_test(suite, "transfers written out", test_transfer_law);
    CU_add_test(suite, "transfers that are shipped", test_transfers_shipped);
    CU_add_test(suite, "transfers are fitted again", test_transfers_recover);
}
