/* Layers of experts in a step: what moves tokens, what the host reads and issues, loads
 * and capacities. */
#include "cost/kernel.h"
#include "model/summary.h"
#include "scenario_bench.h"
#include "simulate/simulate.h"

#include <math.h>

void test_moe_register(void);

/* DeepSeek-V2's sizes, 8 of its layers, on two machines of 8 B200. */
static const char deepseek_text[] =
    "{ 'model': { 'model_type': 'deepseek_v2', 'num_hidden_layers': 8,"
    "   'first_k_dense_replace': 1, 'hidden_size': 5120, 'num_attention_heads': 128,"
    "   'intermediate_size': 12288, 'moe_intermediate_size': 1536,"
    "   'n_routed_experts': 160, 'num_experts_per_tok': 6, 'n_shared_experts': 2,"
    "   'q_lora_rank': 1536, 'kv_lora_rank': 512, 'qk_nope_head_dim': 128,"
    "   'qk_rope_head_dim': 64, 'v_head_dim': 128, 'vocab_size': 102400 },"
    "  'cluster': { 'instance': 'p6-b200.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "   'microbatches': 4, 'precision': 'bf16', 'attention': 'flash',"
    "   'framework': 'megatron-core-2025' },"
    "  'parallelism': { 'library': 'megatron', 'expert': 8,"
    "   'sharding': { 'strategy': 'optimizer' } } }";

/* GPT-OSS 120B's sizes, 4 of its layers, on four trays of GB200. */
static const char oss_text[] =
    "{ 'model': { 'model_type': 'gpt_oss', 'num_hidden_layers': 4,"
    "   'hidden_size': 2880, 'num_attention_heads': 64, 'num_key_value_heads': 8,"
    "   'head_dim': 64, 'intermediate_size': 2880, 'num_local_experts': 128,"
    "   'num_experts_per_tok': 4, 'vocab_size': 201088 },"
    "  'cluster': { 'instance': 'dgx-gb200', 'count': 4 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "   'microbatches': 4, 'precision': 'bf16', 'attention': 'flash',"
    "   'framework': 'megatron-bridge' },"
    "  'parallelism': { 'library': 'megatron', 'expert': 16,"
    "   'sharding': { 'strategy': 'optimizer' } } }";

struct layer {
    struct cfg_loader loader;
    struct scenario s;
    struct op_list list;
    const struct op_block *block; /* the one with experts */
};

static void layer_load_of(struct layer *l, const char *text, const char *changes)
{
    struct err err = { 0 };
    bench_scenario(&l->loader, &l->s, text, "/parallelism/", changes);
    const struct op_settings settings = scenario_op_settings(&l->s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&l->list, &l->loader.arena, &l->s.model, &settings, &err), 0);
    l->block = NULL;
    for (int32_t i = 0; i < l->list.n_blocks; i++)
        for (int32_t k = 0; k < l->list.blocks[i].n_forward; k++)
            if (strcmp(l->list.blocks[i].forward[k].name, "route") == 0)
                l->block = &l->list.blocks[i];
    CU_ASSERT_PTR_NOT_NULL_FATAL(l->block);
}

static void layer_load(struct layer *l, const char *changes)
{
    layer_load_of(l, deepseek_text, changes);
}

static void layer_unload(struct layer *l)
{
    cfg_loader_release(&l->loader);
}

/* NULL: the layer has no such operator. */
static const struct op *op_of(const struct layer *l, const char *name, bool backward)
{
    const struct op *ops = backward ? l->block->backward : l->block->forward;
    int32_t n = backward ? l->block->n_backward : l->block->n_forward;
    for (int32_t i = 0; i < n; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

static const double rows_B = 4096.0 * 6 * 5120 * 2; /* M: of all experts of a token */

/* Tokens that come from other ranks are sorted by expert, and back, once each way; a
 * layer whose experts are all its own sorts nothing. */
static void test_sorted(void)
{
    struct layer l;
    layer_load(&l, "expert=8");
    const char *const names[] = { "expert_sort", "expert_unsort", "expert_sort_bwd",
                                  "expert_unsort_bwd" };
    for (int i = 0; i < 4; i++) {
        const struct op *op = op_of(&l, names[i], i >= 2);
        CU_ASSERT_PTR_NOT_NULL_FATAL(op);
        CU_ASSERT_DOUBLE_EQUAL(op->read_B, rows_B, 1);
        CU_ASSERT_DOUBLE_EQUAL(op->write_B, rows_B, 1);
    }
    CU_ASSERT_PTR_NULL(op_of(&l, "combine_sum", false)); /* one kernel permutes */
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_pad", false));  /* bf16 */
    layer_unload(&l);
    layer_load(&l, "expert=8 /training/framework=megatron-core");
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "combine_sum", false));
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "dispatch_sum_bwd", true));
    layer_unload(&l);
    layer_load(&l, "expert=1");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_sort", false));
    layer_unload(&l);
    layer_load(&l, "expert=8 /training/framework=fsdp-torch2 library=smp-v2 "
                   "sharding={\"strategy\":\"full\"}");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_sort", false)); /* its profile has none */
    layer_unload(&l);
}

/* Whatever moves them, one tensor of the products' input is kept; of what comes out of
 * them one, where shares do not weigh the activation. */
static void test_kept(void)
{
    const char *const changes[] = { "expert=1", "expert=8",
                                    "expert=8 /training/framework=megatron-core" };
    int64_t kept_B[3];
    for (int i = 0; i < 3; i++) {
        struct layer l;
        layer_load(&l, changes[i]);
        kept_B[i] = op_block_kept_B(l.block);
        layer_unload(&l);
    }
    CU_ASSERT_EQUAL(kept_B[0], kept_B[1]);
    CU_ASSERT_DOUBLE_EQUAL((double)(kept_B[2] - kept_B[0]), rows_B, 1);
}

/* 20 experts of the rank: their products one by one, over four streams, gate and up as
 * one; the router's kernels one by one. */
static void test_host(void)
{
    struct layer l;
    layer_load(&l, "expert=8");
    const struct framework_experts *fw = &l.s.training.framework->experts;
    const char *const products[] = { "up",         "down",     "up_dgrad",
                                     "down_dgrad", "up_wgrad", "down_wgrad" };
    for (int i = 0; i < 6; i++) {
        const struct op *op = op_of(&l, products[i], i >= 2);
        CU_ASSERT_PTR_NOT_NULL_FATAL(op);
        CU_ASSERT_EQUAL(op->loops, 20);
        CU_ASSERT_EQUAL(op->launches, 5);
    }
    CU_ASSERT_EQUAL(op_of(&l, "gate", false)->loops, 0);
    CU_ASSERT_EQUAL(op_of(&l, "shared_up", false)->loops, 0);
    CU_ASSERT_EQUAL(op_of(&l, "route", false)->eager, (int32_t)fw->router_kernels[0]);
    CU_ASSERT_EQUAL(op_of(&l, "route_bwd", true)->eager,
                    (int32_t)fw->router_kernels[1]);
    CU_ASSERT(op_of(&l, "dispatch", false)->reads_counts);
    layer_unload(&l);
    layer_load(&l, "expert=8 expert_capacity=1 expert_padding=true");
    CU_ASSERT_FALSE(op_of(&l, "dispatch", false)->reads_counts);
    layer_unload(&l);
    layer_load(&l, "expert=8 expert_capacity=1");
    CU_ASSERT(op_of(&l, "dispatch", false)->reads_counts); /* what is left varies */
    layer_unload(&l);
}

/* Rows of fp8 products are padded by copies, where counts vary. */
static void test_padded(void)
{
    struct layer l;
    layer_load(&l, "/training/precision=fp8 expert_load=balanced");
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "expert_pad", false));
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "expert_unpad_bwd", true));
    layer_unload(&l);
    layer_load(&l, "/training/precision=fp8 expert_capacity=1.5 expert_padding=true");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_pad", false));
    layer_unload(&l);
}

/* DeepEP and Hybrid-EP move tokens as they lie: one copy brings them into order, though
 * the rank has one expert, and Hybrid-EP's pads rows, too. */
static void test_dispatched(void)
{
    const char *const changes[] = { "expert_dispatcher=deepep",
                                    "expert_dispatcher=hybridep",
                                    "expert_dispatcher=deepep expert=16 "
                                    "/model/n_routed_experts=16" };
    for (int i = 0; i < 3; i++) {
        struct layer l;
        char text[200];
        snprintf(text, sizeof(text), "/training/precision=fp8 %s", changes[i]);
        layer_load(&l, text);
        CU_ASSERT_PTR_NOT_NULL_FATAL(op_of(&l, "expert_sort", false));
        CU_ASSERT_DOUBLE_EQUAL(op_of(&l, "expert_sort", false)->read_B, rows_B, 1);
        CU_ASSERT(op_of(&l, "dispatch", false)->read_B < 0.1 * rows_B);
        CU_ASSERT(op_of(&l, "dispatch", false)->reads_counts);
        CU_ASSERT(op_of(&l, "combine", false)->read_B < 0.1 * rows_B);
        CU_ASSERT(op_of(&l, "combine_bwd", true)->write_B < 0.1 * rows_B);
        CU_ASSERT(op_of(&l, "dispatch_bwd", true)->read_B < 0.1 * rows_B);
        CU_ASSERT_EQUAL(op_of(&l, "expert_pad", false) == NULL, i == 1);
        CU_ASSERT_EQUAL(op_of(&l, "expert_unpad_bwd", true) == NULL, i == 1);
        CU_ASSERT_PTR_NULL(op_of(&l, "combine_sum", false));
        layer_unload(&l);
    }
    struct layer l;
    layer_load(&l, "expert=1 expert_dispatcher=alltoall");
    CU_ASSERT_DOUBLE_EQUAL(op_of(&l, "dispatch", false)->read_B, rows_B, 1);
    layer_unload(&l);
}

/* Megatron's first product makes gate and up: its gradient is one, where experts of two
 * products have two to add. */
static void test_joined(void)
{
    struct layer l;
    layer_load(&l, "expert=8");
    CU_ASSERT_PTR_NULL(op_of(&l, "gate_sum_bwd", true));
    layer_unload(&l);
    layer_load(&l, "expert=8 /training/framework=fsdp-torch2 library=smp-v2 "
                   "sharding={\"strategy\":\"full\"}");
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "gate_sum_bwd", true));
    layer_unload(&l);
}

/* GPT-OSS: limits before the gate, and biases in fp32 after the last product, are
 * operators of their own where the profile has them so; models without biases have
 * none. */
static void test_biases(void)
{
    struct layer l;
    const double slots = 4096.0 * 4, each = slots * 2880;
    layer_load_of(&l, oss_text, "expert=16");
    CU_ASSERT_PTR_NOT_NULL_FATAL(op_of(&l, "expert_bias", false));
    const struct op *bias = op_of(&l, "expert_bias", false),
                    *back = op_of(&l, "expert_bias_bwd", true),
                    *limit = op_of(&l, "gate_clamp", false);
    CU_ASSERT_DOUBLE_EQUAL(bias->read_B + bias->write_B, 28 * each, 1);
    CU_ASSERT_DOUBLE_EQUAL(back->read_B + back->write_B, 40 * each, 1);
    CU_ASSERT_DOUBLE_EQUAL(limit->read_B + limit->write_B, 16 * each, 1);
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "gate_clamp_bwd", true));
    layer_unload(&l);
    layer_load_of(&l, oss_text,
                  "/training/framework=fsdp-torch2 library=smp-v2 "
                  "sharding={\"strategy\":\"full\"}");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_bias", false));
    layer_unload(&l);
    layer_load(&l, "expert=8");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_bias", false));
    CU_ASSERT_PTR_NULL(op_of(&l, "gate_clamp", false));
    layer_unload(&l);
}

/* torchtitan adds rows up by index, of tokens and of biases' gradients, at a rate of SMs;
 * shares weigh results before, in one kernel or three. */
static void test_scattered(void)
{
    static const char *const stacks[] = {
        "/training/framework=torchtitan-2025 library=fsdp "
        "sharding={\"strategy\":\"full\"}",
        "/training/framework=torchtitan-2025-eager library=fsdp "
        "sharding={\"strategy\":\"full\"}",
    };
    const double weighs[] = { 4, 20 };
    for (int i = 0; i < 2; i++) {
        struct layer l;
        layer_load_of(&l, oss_text, stacks[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(op_of(&l, "dispatch_bwd", true));
        const struct op *combine = op_of(&l, "combine", false),
                        *back = op_of(&l, "dispatch_bwd", true),
                        *bias = op_of(&l, "expert_bias_sums_bwd", true),
                        *weigh = op_of(&l, "expert_weights", false);
        double all = (weigh->read_B + weigh->write_B) / weighs[i];
        CU_ASSERT(combine->scattered && back->scattered && bias->scattered);
        CU_ASSERT_DOUBLE_EQUAL(combine->read_B + combine->write_B, 6 * all, 1);
        CU_ASSERT_DOUBLE_EQUAL(back->read_B + back->write_B, 6 * all, 1);
        CU_ASSERT_DOUBLE_EQUAL(bias->read_B + bias->write_B, 18 * all, 1);
        CU_ASSERT_DOUBLE_EQUAL((double)combine->outs[0].size_B, 2 * all / 4, 1);
        const struct gpu *gpu = l.s.cluster.groups[0].instance->gpu;
        struct framework fw = *l.s.training.framework;
        double s = kernel_framework_s(gpu, &fw, true, back, kernel_alone);
        CU_ASSERT_DOUBLE_EQUAL(
            s,
            6 * all /
                (fw.experts.scatter_sm_B * gpu_clock_Hz(gpu) * (double)gpu->n_sms),
            0.05 * s);
        layer_unload(&l);
    }
    struct layer l;
    layer_load_of(&l, oss_text, "expert=16");
    CU_ASSERT_PTR_NULL(op_of(&l, "expert_weights", false));
    layer_unload(&l);
}

/* A loop over experts (transformers 4): products one by one, what the host reads before
 * each, sums of all tokens' gradients for each, and shares in 16 bits. */
static void test_turns(void)
{
    static const char *const stacks[] = {
        "/training/framework=fsdp-transformers-4 library=fsdp expert=1 "
        "sharding={\"strategy\":\"full\"}",
        "/training/framework=fsdp-eager library=fsdp expert=1 "
        "sharding={\"strategy\":\"full\"}",
    };
    for (int i = 0; i < 2; i++) {
        struct layer l;
        layer_load_of(&l, oss_text, stacks[i]);
        const struct op *sums = op_of(&l, "expert_sums_bwd", true),
                        *combine = op_of(&l, "combine", false),
                        *up = op_of(&l, "up", false);
        CU_ASSERT_PTR_NOT_NULL_FATAL(combine);
        CU_ASSERT_PTR_NOT_NULL_FATAL(up);
        int32_t experts = (int32_t)l.s.model.mlp.experts;
        CU_ASSERT_EQUAL(combine->turns, i ? 0 : experts);
        CU_ASSERT_EQUAL(up->loops, i ? 0 : experts);
        CU_ASSERT_EQUAL(sums != NULL, i == 0);
        if (sums) {
            const struct op *weigh = op_of(&l, "expert_weights", false);
            double all_B = (weigh->read_B + weigh->write_B) / 2; /* M */
            double tokens_B = all_B / (double)l.s.model.mlp.experts_per_token;
            CU_ASSERT_EQUAL(up->launches, experts);
            CU_ASSERT_EQUAL(sums->launches, 2 * experts);
            CU_ASSERT_DOUBLE_EQUAL(sums->read_B, 2 * tokens_B * experts, 1);
            CU_ASSERT_DOUBLE_EQUAL(sums->write_B, 2 * tokens_B * experts, 1);
        }
        /* a model counted without any ranks */
        struct model_summary sum;
        struct err err = { 0 };
        CU_ASSERT_EQUAL(model_summarise(&sum, &l.loader.arena, &l.s.model, 128,
                                        l.s.training.framework, l.s.training.attention,
                                        &err),
                        0);
        CU_ASSERT(sum.parameters > 0);
        layer_unload(&l);
    }
}

/* Yarn scales cosines and sines, which Megatron's fused kernel takes no scale for: the
 * embedding is several kernels, where Qwen3's is one. Attention with a learned score of
 * nothing has a rate of its own. */
static void test_scaled_rope(void)
{
    struct layer l;
    layer_load_of(&l, oss_text, "expert=16");
    CU_ASSERT_PTR_NULL(op_of(&l, "rope", false));
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "rope_query", false));
    struct framework fw = *l.s.training.framework;
    const struct op *flash = op_of(&l, "flash", false);
    const struct gpu *gpu = l.s.cluster.groups[0].instance->gpu;
    double rate = fw.rates.flash_sinks,
           with_s = kernel_framework_s(gpu, &fw, true, flash, kernel_alone);
    CU_ASSERT(flash->sinks && rate > 0 && rate < 1);
    fw.rates.flash_sinks = 1;
    double without_s = kernel_framework_s(gpu, &fw, true, flash, kernel_alone);
    CU_ASSERT_DOUBLE_EQUAL(with_s * rate, without_s, 1e-12);
    layer_unload(&l);
    layer_load(&l, "expert=8");
    CU_ASSERT_FALSE(op_of(&l, "flash", false)->sinks);
    layer_unload(&l);
    layer_load_of(&l, oss_text,
                  "/model/model_type=qwen3_moe /model/num_experts=128 "
                  "/model/moe_intermediate_size=2880");
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "rope", false));
    layer_unload(&l);
}

/* Where shares weigh the activation, the last product's result is not kept. */
static void test_weighted(void)
{
    const char *const profiles[] = { "expert=8 /training/framework=megatron-core",
                                     "expert=8 /training/framework=megatron-core-2025",
                                     "expert=8 /training/framework=megatron-bridge" };
    int64_t kept_B[3];
    for (int i = 0; i < 3; i++) {
        struct layer l;
        layer_load(&l, profiles[i]);
        kept_B[i] = op_block_kept_B(l.block);
        layer_unload(&l);
    }
    CU_ASSERT_DOUBLE_EQUAL((double)(kept_B[0] - kept_B[1]), rows_B, 1);
    CU_ASSERT_EQUAL(kept_B[1], kept_B[2]);
}

/* Fused, quantized experts write the activation in its products' form: what is left is
 * the cast of what comes in, and of the gradient that comes in. */
static void test_fused(void)
{
    struct layer l;
    const char *const fused = "/training/framework=megatron-bridge-fused "
                              "/training/precision=mxfp8";
    layer_load(&l, fused);
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "gate_input_fp8", false));
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "down_grad_fp8", true));
    CU_ASSERT_PTR_NULL(op_of(&l, "down_input_fp8", false));
    CU_ASSERT_PTR_NULL(op_of(&l, "gate_grad_fp8", true));
    CU_ASSERT_PTR_NULL(op_of(&l, "up_grad_fp8", true));
    CU_ASSERT_DOUBLE_EQUAL(op_of(&l, "activation", false)->read_B, 0, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(op_of(&l, "activation_bwd", true)->write_B, 0, 1e-9);
    CU_ASSERT_EQUAL(op_of(&l, "up", false)->loops, 0);
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "shared_down_input_fp8", false)); /* no expert's */
    int64_t kept_B = op_block_kept_B(l.block);
    layer_unload(&l);
    layer_load(&l, "/training/framework=megatron-bridge /training/precision=mxfp8");
    CU_ASSERT_PTR_NOT_NULL(op_of(&l, "down_input_fp8", false));
    CU_ASSERT_EQUAL(op_block_kept_B(l.block), kept_B);
    layer_unload(&l);
    layer_load(&l,
               "/training/framework=megatron-bridge-fused"); /* in 16 bits: not so */
    CU_ASSERT(op_of(&l, "activation", false)->read_B > 0);
    layer_unload(&l);
}

/* 5,462 rows of an expert of 384 (Kimi-K2): rows of quantized products are padded, so
 * that no gradient of a weight is one of odd rows. */
static void test_odd_rows(void)
{
    struct layer l;
    layer_load(&l, "/training/precision=mxfp8 /model/n_routed_experts=384 "
                   "/model/num_experts_per_tok=8 expert=16");
    const struct op *wgrad = op_of(&l, "up_wgrad", true);
    CU_ASSERT_EQUAL(wgrad->k % 32, 0);
    CU_ASSERT(wgrad->k >= 4096 * 16 * 8 / 384 && wgrad->k < 4096 * 16 * 8 / 384 + 33);
    layer_unload(&l);
}

/* Kernels that quantize an expert's rows: the largest value, its scale and the cast, in
 * two calls, or the cast alone where blocks have scales of their own. */
static void test_casts(void)
{
    struct layer l;
    layer_load(&l, "/training/framework=megatron-bridge /training/precision=mxfp8");
    CU_ASSERT_EQUAL(op_of(&l, "down_input_fp8", false)->loops, 20);
    layer_unload(&l);
    layer_load(&l,
               "/training/framework=megatron-bridge /training/precision=fp8_current");
    CU_ASSERT_EQUAL(op_of(&l, "down_input_fp8", false)->loops, 40);
    CU_ASSERT_EQUAL(op_of(&l, "down_input_fp8", false)->launches, 80);
    layer_unload(&l);
}

static double expert_flops(const char *changes)
{
    struct layer l;
    layer_load(&l, changes);
    double flops = op_of(&l, "up", false)->flops;
    layer_unload(&l);
    return flops;
}

/* Padded experts compute their capacity, others at most that. */
static void test_capacity(void)
{
    double all = expert_flops("expert=8");
    CU_ASSERT_DOUBLE_EQUAL(
        expert_flops("expert_capacity=1.25 expert_padding=true") / all, 1.25, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(expert_flops("expert_capacity=1.25") / all, 1, 1e-6);
    CU_ASSERT_DOUBLE_EQUAL(expert_flops("expert_capacity=0.5") / all, 0.5, 1e-3);
}

static double imbalance(const char *changes)
{
    struct layer l;
    layer_load(&l, changes);
    double slower = op_of(&l, "up", false)->slower;
    CU_ASSERT_DOUBLE_EQUAL(op_of(&l, "expert_sort", false)->slower, slower, 1e-12);
    CU_ASSERT(op_of(&l, "dispatch", false)->slower <= 1); /* of its own tokens */
    layer_unload(&l);
    return slower;
}

/* Loads by word and by number; capacities bound them. */
static void test_load(void)
{
    CU_ASSERT_DOUBLE_EQUAL(imbalance("expert=8"), 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(imbalance("expert_load=1.7"), 1.7, 1e-12);
    double law = imbalance("expert_load=power-law");
    CU_ASSERT(law > 1.3 && law < 8);
    CU_ASSERT_DOUBLE_EQUAL(imbalance("expert_load=power-law expert_capacity=1.25"),
                           1.25, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(
        imbalance("expert_load=power-law expert_capacity=2 expert_padding=true"), 1,
        1e-12);
}

/* What is kept of experts' rows, on the fullest rank: a passed row and what is inside
 * grow with its load, the stream does not. */
static void test_load_memory(void)
{
    const char *const names[] = { "dispatch", "expert_sort", "up", "combine" };
    const double grows[] = { 2, 2, 2, 1 };
    for (int i = 0; i < 4; i++) {
        int64_t made[2];
        for (int full = 0; full < 2; full++) {
            struct layer l;
            layer_load(&l, full ? "expert=8 expert_load=2" : "expert=8");
            const struct op *op = op_of(&l, names[i], false);
            made[full] = 0;
            for (int k = 0; k < op->n_outs; k++)
                made[full] += op->outs[k].size_B;
            layer_unload(&l);
        }
        CU_ASSERT_FATAL(made[0] > 0);
        CU_ASSERT_DOUBLE_EQUAL((double)made[1] / (double)made[0], grows[i], 1e-9);
    }
}

/* Optimizer states of one GPU. */
static double states_B(const char *changes)
{
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { 0 };
    bench_scenario(&loader, &s, deepseek_text, "/parallelism/", changes);
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader.arena, &s, &how, &err), 0);
    double bytes = (double)reps.steps[0].ledger.live_B[LEDGER_OPTIMIZER];
    reps_release(&reps);
    cfg_loader_release(&loader);
    return bytes;
}

/* 16 replicas shard all states over 16; with experts over groups of 8, each GPU has an
 * eighth of them, whose states are over the 2 that hold the same: as much. */
static void test_sharded_states(void)
{
#define SHARDED "/cluster/count=2 sharding={\"strategy\":\"optimizer\"} "
    double alone_B = states_B(SHARDED "expert=1"),
           groups_B = states_B(SHARDED "expert=8");
    CU_ASSERT(alone_B > 1e6);
    CU_ASSERT_DOUBLE_EQUAL(groups_B / alone_B, 1, 0.01);
}

/* A step, with the host's reads or without; 16 microbatches are folded. */
static struct simulate_result step(const char *changes, double read_s)
{
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct simulate_options options = { .network = FIDELITY_FLOW };
    struct err err = { 0 };
    bench_scenario(&loader, &s, deepseek_text, "/parallelism/", changes);
    struct framework fw = *s.training.framework;
    fw.host.launch_jitter = 0;
    fw.experts.read_counts_s = read_s;
    s.training.framework = &fw;
    int rc = simulate(&r, &loader.arena, &s, &options, &err);
    if (rc)
        fprintf(stderr, "simulate: %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    cfg_loader_release(&loader);
    return r;
}

/* A read takes the host's lead away in each of 7 layers with experts of each microbatch,
 * and once more where they are computed again: what the GPU waits for is the host's. */
static void test_reads(void)
{
    static const double long_s = 2e-3; /* more than the rest hides */
    const struct simulate_result none = step("expert=8", 0),
                                 some = step("expert=8", 10e-6),
                                 slow = step("expert=8", long_s),
                                 again = step("expert=8 /training/"
                                              "activation_checkpointing=\"full\"",
                                              long_s);
    const double layers = 7 * 4;
    CU_ASSERT(some.step_time_s > none.step_time_s);
    CU_ASSERT(some.parts_s[CATEGORY_OTHER] > none.parts_s[CATEGORY_OTHER]);
    double lost_s = slow.step_time_s - some.step_time_s;
    CU_ASSERT(lost_s > 0.5 * layers * long_s && lost_s < 1.1 * layers * long_s);
    double waited_s = slow.parts_s[CATEGORY_OTHER] - some.parts_s[CATEGORY_OTHER];
    CU_ASSERT(waited_s > 0.98 * lost_s && waited_s < 1.1 * layers * long_s);
    CU_ASSERT(again.parts_s[CATEGORY_OTHER] >
              slow.parts_s[CATEGORY_OTHER] + 0.5 * layers * long_s);
}

/* In a pipeline's stages, whose passes are replayed alone, as in whole steps. */
static void test_stages(void)
{
    const char *const stages = "expert=8 pipeline=2 schedule=1f1b";
    double none_s = step(stages, 0).step_time_s,
           slow_s = step(stages, 2e-3).step_time_s;
    CU_ASSERT(slow_s > none_s + 3 * 4 * 1e-3);
}

/* Of 512 tokens the host binds, and takes the profile's factors of a layer of experts;
 * a graph of the whole iteration has none of it. */
static double hosted_s(const char *changes, double host, double pairs)
{
    struct cfg_loader loader;
    struct scenario s;
    struct simulate_result r;
    struct simulate_options options = { .network = FIDELITY_FLOW };
    struct err err = { 0 };
    bench_scenario(&loader, &s, oss_text, "/parallelism/", changes);
    struct framework fw = *s.training.framework;
    fw.experts.host = host;
    fw.experts.host_pairs = pairs;
    s.training.framework = &fw;
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &options, &err), 0);
    cfg_loader_release(&loader);
    return r.step_time_s;
}

static void test_host_factor(void)
{
    const char *const few = "/training/sequence_length=512",
                      *const pairs = "/training/sequence_length=512 "
                                     "expert_overlap=microbatches",
                      *const graph = "/training/sequence_length=512 "
                                     "/training/cuda_graphs=full_iteration";
    double one_s = hosted_s(few, 0, 0), three_s = hosted_s(few, 3, 0);
    CU_ASSERT(three_s > 2 * one_s && three_s < 3 * one_s);
    CU_ASSERT_DOUBLE_EQUAL(hosted_s(few, 3, 2), three_s, 1e-9);
    CU_ASSERT(hosted_s(pairs, 3, 2) > 1.6 * hosted_s(pairs, 3, 0));
    CU_ASSERT_DOUBLE_EQUAL(hosted_s(graph, 3, 2), hosted_s(graph, 0, 0), 1e-9);
}

static void expect_error(const char *change, const char *text)
{
    struct cfg_loader loader;
    struct scenario s;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", deepseek_text, strlen(deepseek_text));
    CU_ASSERT_EQUAL_FATAL(cfg_set(root, change), 0);
    CU_ASSERT_NOT_EQUAL(scenario_read(&s, &loader, root), 0);
    CU_ASSERT_FATAL(loader.diags.n_errors > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(diags_error_text(&loader.diags, 0), text));
    cfg_loader_release(&loader);
}

static void test_refused(void)
{
    expect_error("/parallelism/expert_load=skewed", "is no load of experts");
    expect_error("/parallelism/expert_load=0.5", "expert_load");
    expect_error("/parallelism/expert_padding=true", "expert_capacity");
    expect_error("/parallelism/expert_capacity=0", "expert_capacity");
}

void test_moe_register(void)
{
    CU_pSuite suite = CU_add_suite("moe", NULL, NULL);
    CU_add_test(suite, "tokens are sorted by expert", test_sorted);
    CU_add_test(suite, "one input of experts is kept", test_kept);
    CU_add_test(suite, "what the host issues of experts", test_host);
    CU_add_test(suite, "rows of fp8 experts are padded", test_padded);
    CU_add_test(suite, "kernels that dispatch", test_dispatched);
    CU_add_test(suite, "gate and up as one product", test_joined);
    CU_add_test(suite, "biases of experts", test_biases);
    CU_add_test(suite, "rows added up by index", test_scattered);
    CU_add_test(suite, "experts one after the other", test_turns);
    CU_add_test(suite, "what the host takes of layers of experts", test_host_factor);
    CU_add_test(suite, "scaled rotary embeddings and sinks", test_scaled_rope);
    CU_add_test(suite, "shares that weigh the activation", test_weighted);
    CU_add_test(suite, "quantized experts in fused kernels", test_fused);
    CU_add_test(suite, "odd rows of quantized experts", test_odd_rows);
    CU_add_test(suite, "casts of experts one by one", test_casts);
    CU_add_test(suite, "capacities", test_capacity);
    CU_add_test(suite, "loads", test_load);
    CU_add_test(suite, "loads in memory", test_load_memory);
    CU_add_test(suite, "states of experts are sharded over fewer", test_sharded_states);
    CU_add_test(suite, "the host reads counts", test_reads);
    CU_add_test(suite, "the host reads counts in stages", test_stages);
    CU_add_test(suite, "loads and capacities that are refused", test_refused);
}
