/* What a whole step puts on the wire, computes and keeps, against formulas that know
 * nothing of operator lists: bytes of each kind of group (Narayanan et al. 2021,
 * Korthikanti et al. 2022, Rajbhandari et al. 2020), FLOPs, activations. */
#include "scenario/scenario.h"
#include "simulate/simulate.h"
#include "step/reps.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_conserve_register(void);

/* Four microbatches: all are in the program, none represents others. */
static const char base_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 256 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
    "'fp16', 'attention': 'flash', 'microbatches': 4 } }";

static const char experts_text[] =
    "{ 'model': { 'model_type': 'mixtral', 'num_hidden_layers': 8, 'hidden_size': 512,"
    "             'num_attention_heads': 16, 'num_key_value_heads': 16,"
    "             'intermediate_size': 1024, 'vocab_size': 8192,"
    "             'max_position_embeddings': 256, 'num_local_experts': 8,"
    "             'num_experts_per_tok': 2 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
    "'fp16', 'attention': 'flash', 'microbatches': 4 } }";

/* Queries and keys of 16 x 24 columns, values of 16 x 8. */
static const char latent_text[] =
    "{ 'model': { 'model_type': 'deepseek_v2', 'num_hidden_layers': 8,"
    "             'hidden_size': 512, 'num_attention_heads': 16, 'vocab_size': 8192,"
    "             'intermediate_size': 1024, 'moe_intermediate_size': 256,"
    "             'n_routed_experts': 8, 'num_experts_per_tok': 2,"
    "             'first_k_dense_replace': 2, 'kv_lora_rank': 64,"
    "             'qk_nope_head_dim': 16, 'qk_rope_head_dim': 8, 'v_head_dim': 8 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "
    "'fp16', 'attention': 'flash', 'microbatches': 4 } }";

#define JOB_OF(precision, framework, optimizer)                                     \
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 8, 'n_embd': 512, 'n_head': 16," \
    "             'vocab_size': 8192, 'n_positions': 256 },"                        \
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"                      \
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "  \
    "'" precision "', 'attention': 'sdpa', 'microbatches': 4, "                     \
    "'activation_checkpointing': 'full', 'framework': '" framework "', "            \
    "'optimizer': '" optimizer "' } }"
#define JOB(precision, framework) JOB_OF(precision, framework, "adam")

#define LLAMA_ON(framework)                                                           \
    "{ 'model': { 'model_type': 'llama', 'num_hidden_layers': 8, 'hidden_size': 512," \
    "             'num_attention_heads': 16, 'num_key_value_heads': 16,"              \
    "             'intermediate_size': 1024, 'vocab_size': 8192,"                     \
    "             'max_position_embeddings': 256 },"                                  \
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"                        \
    "  'training': { 'sequence_length': 256, 'micro_batch_size': 2, 'precision': "    \
    "'fp16', 'attention': 'sdpa', 'microbatches': 4, 'framework': '" framework "' } }"

static const char tensors_text[] = JOB("fp16", "deepspeed-zero3");
static const char lists_text[] = JOB("fp16", "deepspeed-zero3-2021");

enum { L = 8, H = 512, V = 8192, S = 256, B = 2, M = 4, E = 2 };

static const double x_B = (double)B * S * H * E; /* the residual stream */
static const double layer = 12.0 * H * H + 13.0 * H;
static const double ends = (double)V * H + S * H + 2 * H;
static const double expert = 3.0 * H * 1024;

struct job {
    struct cfg_loader loader;
    struct scenario s;
};

static void load(struct job *j, const char *text, const char *changes)
{
    bench_scenario(&j->loader, &j->s, text, "/parallelism/", changes);
}

static void check(const char *text, const char *changes, enum channel channel,
                  enum coll_op op, double expected_B)
{
    struct job j;
    load(&j, text, changes);
    double got_B = bench_comm_B(&j.loader, &j.s, channel, op);
    bool same = fabs(got_B - expected_B) <= 1e-12 * expected_B;
    if (!same)
        fprintf(stderr, "%s: %.17g bytes, expected %.17g\n", changes, got_B,
                expected_B);
    CU_ASSERT_TRUE(same);
    cfg_loader_release(&j.loader);
}

static void test_tensor(void)
{
    double losses_B = 3.0 * B * S * 4;
    check(base_text, "tensor=4", CHANNEL_TENSOR, COLL_ALL_REDUCE,
          M * ((4 * L + 2) * x_B + losses_B));
    check(base_text, "tensor=4 sequence_parallel=true", CHANNEL_TENSOR,
          COLL_REDUCE_SCATTER, M * (4 * L + 2) * x_B);
}

/* Of Llama's layer q, k, v, gate and up have an input's gradient each, which profiles
 * sum one by one, or those of one input together. */
static void test_tensor_sums(void)
{
    double losses_B = 3.0 * B * S * 4;
    check(LLAMA_ON("megatron-deepspeed"), "tensor=4", CHANNEL_TENSOR, COLL_ALL_REDUCE,
          M * (((2 + 2) * L + 2) * x_B + losses_B));
    check(LLAMA_ON("atorch-deepspeed"), "tensor=4", CHANNEL_TENSOR, COLL_ALL_REDUCE,
          M * (((2 + 5) * L + 2) * x_B + losses_B));
}

/* With sequence parallelism backward gathers gradients at out and down, and inputs of
 * qkv and up once more where they are not kept gathered; the head's twice at most. */
static void test_tensor_gathers(void)
{
    check(LLAMA_ON("megatron-2022"), "tensor=4 sequence_parallel=true", CHANNEL_TENSOR,
          COLL_ALL_GATHER, M * (6 * L + 2) * x_B);
    check(LLAMA_ON("torchtitan"), "tensor=4 sequence_parallel=true", CHANNEL_TENSOR,
          COLL_ALL_GATHER, M * (4 * L + 2) * x_B);
}

static void test_pipeline(void)
{
    check(base_text, "pipeline=4", CHANNEL_NEXT, COLL_SENDRECV, 3 * M * x_B);
    check(base_text, "pipeline=4", CHANNEL_BACK, COLL_SENDRECV, 3 * M * x_B);
    check(base_text, "pipeline=2 virtual_stages=2 schedule=\"interleaved\"",
          CHANNEL_NEXT, COLL_SENDRECV, 3 * M * x_B);
    check(base_text, "pipeline=4 tensor=2", CHANNEL_NEXT, COLL_SENDRECV,
          3 * M * x_B / 2);
}

/* Every rank of a pipeline has each microbatch's logits. */
static void test_outputs(void)
{
    check(base_text,
          "pipeline=4 library=\"smp\" schedule=\"smp-interleaved\" "
          "broadcast_outputs=\"logits\"",
          CHANNEL_MODEL, COLL_BROADCAST, 4.0 * M * B * S * V * E);
}

#define SHARDING(s) "library=\"deepspeed\" sharding={\"strategy\":\"" s "\"}"

static void test_data(void)
{
    double all_B = (L * layer + ends) * E;
    /* DeepSpeed sums on all ranks, ZeRO 2 in every microbatch */
    check(base_text, SHARDING("optimizer"), CHANNEL_SHARD, COLL_ALL_REDUCE, all_B);
    check(base_text, SHARDING("gradients"), CHANNEL_SHARD, COLL_ALL_REDUCE, M * all_B);
    check(base_text, SHARDING("optimizer"), CHANNEL_SHARD, COLL_ALL_GATHER, all_B);
    check(base_text, "library=\"smp\" sharding={\"strategy\":\"optimizer\"}",
          CHANNEL_SHARD, COLL_REDUCE, all_B);
    check(base_text, "library=\"smp\" sharding={\"strategy\":\"optimizer\"}",
          CHANNEL_SHARD, COLL_ALL_GATHER, all_B);
    check(base_text, "context=2 " SHARDING("optimizer"), CHANNEL_SHARD, COLL_ALL_REDUCE,
          all_B);
    check(base_text, "sharding={\"strategy\":\"full\"}", CHANNEL_SHARD, COLL_ALL_GATHER,
          M * (2 * L * layer + ends) * E);
    check(base_text, "sharding={\"strategy\":\"full\"}", CHANNEL_SHARD,
          COLL_REDUCE_SCATTER, M * all_B);
    /* FSDP's SHARD_GRAD_OP: gathered once a microbatch, kept until backward */
    check(base_text, "library=\"fsdp\" sharding={\"strategy\":\"gradients\"}",
          CHANNEL_SHARD, COLL_ALL_GATHER, M * all_B);
    check(base_text, "library=\"fsdp\" sharding={\"strategy\":\"gradients\"}",
          CHANNEL_SHARD, COLL_REDUCE_SCATTER, M * all_B);
}

/* ZeRO-3 gathers tensor by tensor: again for backward, but for each layer's last
 * tensor, where none is near enough to be kept. */
static void test_tensor_by_tensor(void)
{
    static const char near[] = "library=\"deepspeed\" sharding={\"strategy\":\"full\","
                               "\"param_persistence_elements\":0}";
    static const char far[] =
        "library=\"deepspeed\" sharding={\"strategy\":\"full\","
        "\"param_persistence_elements\":0,\"max_reuse_elements\":1}";
    static const char matrices[] =
        "library=\"deepspeed\" sharding={\"strategy\":\"full\","
        "\"param_persistence_elements\":100000,\"max_reuse_elements\":1}";
    static const char all[] = "library=\"deepspeed\" sharding={\"strategy\":\"full\","
                              "\"param_persistence_elements\":100000000}";
    double all_B = (L * layer + ends) * E, last_B = H * E; /* the bias of `down` */
    for (int i = 0; i < 2; i++) {
        const char *text = i ? lists_text : tensors_text;
        check(text, near, CHANNEL_SHARD, COLL_ALL_GATHER,
              M * (2 * L * layer + ends) * E);
        check(text, far, CHANNEL_SHARD, COLL_ALL_GATHER,
              M * ((3 * L * layer + ends) * E - L * last_B));
        check(text, far, CHANNEL_SHARD, COLL_REDUCE_SCATTER, M * all_B);
        /* what stays whole is scattered like the others, gathered after the update */
        check(text, matrices, CHANNEL_SHARD, COLL_REDUCE_SCATTER, M * all_B);
        check(text, all, CHANNEL_SHARD, COLL_REDUCE_SCATTER, M * all_B);
        check(text, all, CHANNEL_SHARD, COLL_ALL_GATHER, all_B);
    }
}

/* Time on the host, from a part of a list a rank: 4 matrices of a layer (gathered in
 * forward, again for recomputation; scattered) and 2 of the ends, 16 ranks, 11 us
 * each. */
static void test_lists(void)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    int64_t host_ps = 0;
    load(&j, lists_text, SHARDING("full"));
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    const struct program *p = &reps.steps[0].program;
    for (int64_t k = 0; k < p->tasks.n; k++)
        if (p->tasks.v[k].tag.label &&
            !strcmp(p->tasks.v[k].tag.label, "lists of parts"))
            host_ps += p->tasks.v[k].host_ps;
    reps_release(&reps);
    cfg_loader_release(&j.loader);
    double parts = 16.0 * M * (3 * L * 4 + 2 * 2);
    CU_ASSERT_DOUBLE_EQUAL((double)host_ps * 1e-12, parts * 11e-6, 1e-9);
}

/* Peak of the passes where gradients are zeroed, not freed, between steps and the
 * update takes nothing. */
static int64_t passes_peak_B(const char *text)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    load(&j, text, "");
    struct framework fw = *j.s.training.framework;
    fw.gradients.keeps_gradients = true;
    fw.gradients.update_16bit_B = 0;
    j.s.training.framework = &fw;
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    int64_t peak_B = reps.steps[0].ledger.peak_B;
    reps_release(&reps);
    cfg_loader_release(&j.loader);
    return peak_B;
}

/* DeepSpeed's bf16 optimizer holds 8 B of gradients a parameter, its fp16 one 2; what
 * backward makes before they are summed is 2 B in both. */
static void test_gradient_sums(void)
{
    int64_t wide_B = passes_peak_B(JOB("bf16", "megatron-deepspeed-bf16"));
    int64_t narrow_B = passes_peak_B(JOB("fp16", "megatron-deepspeed"));
    CU_ASSERT_EQUAL(wide_B - narrow_B, (int64_t)(6 * (L * layer + ends)));
}

static int64_t buffers_B(const char *text, bool dummies)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    load(&j, text, "");
    struct framework fw = *j.s.training.framework;
    CU_ASSERT(fw.gradients.dummy_gradients);
    fw.gradients.dummy_gradients = dummies;
    j.s.training.framework = &fw;
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    int64_t size_B = reps.steps[0].ledger.live_B[LEDGER_BUFFERS];
    reps_release(&reps);
    cfg_loader_release(&j.loader);
    return size_B;
}

/* One 16-bit tensor for each weight of a layer: q, k, v and out, 4 H^2, and the MLP's,
 * 8 H^2; those of all layers are the same. */
static void test_dummies(void)
{
    static const char text[] = JOB("bf16", "megatron-core-2025");
    CU_ASSERT_EQUAL(buffers_B(text, true) - buffers_B(text, false), 2 * 12 * H * H);
}

/* In a pipeline what is gathered stays, and is scattered once: the last stage has an
 * embedding of its own. Where forward reshards, each gathers its layers, and the first
 * backward: those that follow it find them there. */
static void test_sharded_stages(void)
{
    double all_B = (L * layer + ends + (double)V * H) * E;
    static const char *const kept[] = {
        "pipeline=4 sharding={\"strategy\":\"full\"}",
        "pipeline=4 schedule=\"gpipe\" sharding={\"strategy\":\"full\"}",
        "pipeline=2 virtual_stages=4 schedule=\"interleaved\" "
        "sharding={\"strategy\":\"full\"}",
    };
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        check(base_text, kept[i], CHANNEL_SHARD, COLL_ALL_GATHER, all_B);
        check(base_text, kept[i], CHANNEL_SHARD, COLL_REDUCE_SCATTER, all_B);
    }
    check(base_text,
          "pipeline=4 schedule=\"gpipe\" "
          "sharding={\"strategy\":\"full\",\"reshard_after_forward\":true}",
          CHANNEL_SHARD, COLL_ALL_GATHER, all_B + M * L * layer * E);
    check(base_text, "pipeline=2 sharding={\"strategy\":\"full\",\"degree\":4}",
          CHANNEL_REPLICA, COLL_ALL_REDUCE, all_B / 4);
    check(base_text, "pipeline=2 sharding={\"strategy\":\"full\"}", CHANNEL_EMBEDDING,
          COLL_ALL_REDUCE, 2.0 * V * H * E / 8);
}

/* In buffers when the most is allocated. */
static double held_at_peak_B(const char *changes)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    load(&j, base_text, changes);
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    double held_B = (double)reps.steps[0].ledger.at_peak_B[LEDGER_BUFFERS];
    reps_release(&reps);
    cfg_loader_release(&j.loader);
    return held_B;
}

/* Without a sum in each of the four microbatches gradients are scattered once, and the
 * whole ones of all layers wait for it (MODEL.md, R8.3.2). */
static void test_no_sync(void)
{
#define SHARDS(more) "library=\"fsdp\" sharding={\"strategy\":\"full\"" more "}"
    double all_B = (L * layer + ends) * E;
    check(base_text, SHARDS(""), CHANNEL_SHARD, COLL_REDUCE_SCATTER, M * all_B);
    check(base_text, SHARDS(",\"no_sync\":true"), CHANNEL_SHARD, COLL_REDUCE_SCATTER,
          all_B);
    check(base_text, SHARDS(",\"no_sync\":true"), CHANNEL_SHARD, COLL_ALL_GATHER,
          M * (2 * L * layer + ends) * E);
    double held_B =
        held_at_peak_B(SHARDS(",\"no_sync\":true")) - held_at_peak_B(SHARDS(""));
    CU_ASSERT(held_B > (L - 3) * layer * E);
    CU_ASSERT(held_B < L * layer * E + ends * E);
#undef SHARDS
}

/* Updated within backward, no gradient of a tensor stays (MODEL.md, 5.4.1). */
static void test_early_updates(void)
{
    static const char one[] = "/cluster/gpus_per_instance=1 /cluster/count=1 "
                              "/training/microbatches=1";
    const char *changes[] = { one, one };
    double most_B[2];
    for (int early = 0; early < 2; early++) {
        struct job j;
        struct reps reps;
        struct err err = { 0 };
        const struct reps_options how = { .detail = true };
        load(&j, base_text, changes[early]);
        j.s.training.updates_in_backward = early;
        CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
        most_B[early] = (double)reps.steps[0].ledger.peak_B;
        CU_ASSERT(!early || reps.steps[0].ledger.at_peak_B[LEDGER_GRADIENTS] == 0);
        reps_release(&reps);
        cfg_loader_release(&j.loader);
    }
    CU_ASSERT(most_B[0] - most_B[1] > 4.0 * V * H);
}

static double update_host_s(const char *text)
{
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = true };
    int64_t host_ps = 0;
    load(&j, text, "");
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    const struct program *p = &reps.steps[0].program;
    for (int64_t k = 0; k < p->tasks.n; k++)
        if (p->tasks.v[k].part == CATEGORY_OPTIMIZER)
            host_ps += p->tasks.v[k].host_ps;
    reps_release(&reps);
    cfg_loader_release(&j.loader);
    return (double)host_ps * 1e-12;
}

/* Kernels on each tensor: 11 of AdamW at 8 us, 24 of Adafactor at 11, one of 8-bit Adam
 * at the 95 us of its own; one kernel of all is dispatched once. */
static void test_updates(void)
{
    double adam_s = update_host_s(JOB("fp32", "transformers-2021"));
    double factor_s = update_host_s(JOB_OF("fp32", "transformers-2021", "adafactor"));
    double bits_s = update_host_s(JOB_OF("fp32", "transformers-2021", "adam8bit"));
    double fused_s = update_host_s(JOB("fp32", "megatron-deepspeed"));
    CU_ASSERT_DOUBLE_EQUAL(factor_s / adam_s, 24.0 * 11 / (11 * 8), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(bits_s / adam_s, 95.0 / (11 * 8), 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(fused_s, 8e-6, 1e-12);
}

static void test_context(void)
{
    for (int c = 2; c <= 8; c *= 2) {
        char ring[64], gather[96], heads[96];
        double keys_B = 2 * x_B / c;
        snprintf(ring, sizeof(ring), "context=%d context_comm=\"ring\"", c);
        snprintf(gather, sizeof(gather), "context=%d context_comm=\"all-gather\"", c);
        snprintf(heads, sizeof(heads), "context=%d context_comm=\"alltoall\"", c);
        check(base_text, ring, CHANNEL_CONTEXT, COLL_SENDRECV,
              M * L * 3 * (c - 1) * keys_B);
        check(base_text, gather, CHANNEL_CONTEXT, COLL_ALL_GATHER,
              M * L * 2 * c * keys_B);
        check(base_text, gather, CHANNEL_CONTEXT, COLL_REDUCE_SCATTER,
              M * L * c * keys_B);
        /* queries, keys, values and what attention makes of them, and their gradients
         */
        check(base_text, heads, CHANNEL_CONTEXT, COLL_ALLTOALL,
              M * L * 2 * 4 * x_B / c);
        check(latent_text, heads, CHANNEL_CONTEXT, COLL_ALLTOALL,
              M * L * 2 * (2 * 16 * 24 + 2 * 16 * 8) * x_B / H / c);
    }
    /* both: heads among `inner` neighbours, keys round the c / inner groups; of one inner
     * rank a ring, of all an all-to-all */
    for (int inner = 1; inner <= 8; inner *= 2) {
        char both[128];
        const int c = 8;
        snprintf(both, sizeof(both),
                 "context=%d context_comm=\"alltoall+ring\" context_inner=%d", c,
                 inner);
        bool ring = inner<c, heads = inner> 1;
        check(base_text, both, heads ? CHANNEL_CONTEXT_OUTER : CHANNEL_CONTEXT,
              COLL_SENDRECV, ring ? M * L * 3 * (c / inner - 1) * 2 * x_B / c : 0);
        check(base_text, both, ring ? CHANNEL_CONTEXT_INNER : CHANNEL_CONTEXT,
              COLL_ALLTOALL, heads ? M * L * 2 * 4 * x_B / c : 0);
    }
}

static void test_experts(void)
{
    check(experts_text, "expert=4", CHANNEL_EXPERT, COLL_ALLTOALL, M * L * 4 * 2 * x_B);
    check(experts_text, "expert=4 " SHARDING("optimizer"), CHANNEL_EXPERT_DATA,
          COLL_ALL_REDUCE, L * 2 * expert * E);
    const double shared_B = (L * (4.0 * H * H + 2 * H + 8 * H) + 2.0 * V * H + H) * E;
    check(experts_text, "expert=4 " SHARDING("optimizer"), CHANNEL_SHARD,
          COLL_ALL_REDUCE, shared_B);
    check(experts_text, "expert=4 " SHARDING("full"), CHANNEL_EXPERT_DATA,
          COLL_ALL_GATHER, M * 2 * L * 2 * expert * E);
    check(experts_text, "expert=4 " SHARDING("full"), CHANNEL_SHARD,
          COLL_REDUCE_SCATTER, M * shared_B);
}

/* Folded over tensor ranks: each sends its own tokens, holds whole experts, and only
 * attention's activations are the tensor group's. Gradients are summed in 4 bytes. */
static void test_folded_experts(void)
{
#define FOLDED SHARDING("optimizer") " sequence_parallel=true library=\"megatron\""
    double part_B = L * 4 * 2 * x_B;
    check(experts_text, "tensor=4 expert=8 expert_tensor=1 " FOLDED, CHANNEL_EXPERT,
          COLL_ALLTOALL, M * part_B / 4);
    check(experts_text, "tensor=4 expert=8 expert_tensor=1 " FOLDED,
          CHANNEL_EXPERT_DATA, COLL_REDUCE_SCATTER, L * expert * 4);
    check(experts_text, "tensor=4 expert=2 expert_tensor=1 " FOLDED,
          CHANNEL_EXPERT_DATA, COLL_REDUCE_SCATTER, L * 4 * expert * 4);
    check(experts_text, "tensor=4 expert=4 expert_tensor=2 " FOLDED, CHANNEL_EXPERT,
          COLL_ALLTOALL, M * part_B / 4);
    check(experts_text, "tensor=4 expert=4 expert_tensor=2 " FOLDED,
          CHANNEL_EXPERT_TENSOR, COLL_ALL_GATHER, M * part_B / 2 / 4 * 2);
    check(experts_text, "tensor=4 expert=4 expert_tensor=2 " FOLDED,
          CHANNEL_EXPERT_DATA, COLL_REDUCE_SCATTER, L * 2 * expert / 2 * 4);
    check(experts_text, "tensor=2 expert=8 expert_tensor=1 " FOLDED, CHANNEL_TENSOR,
          COLL_REDUCE_SCATTER, (M * (L * 2 + 2)) * x_B);
#undef FOLDED
}

static void simulate_job(const char *text, const char *changes,
                         struct simulate_result *r)
{
    struct job j;
    struct err err = { 0 };
    struct simulate_options options = { .network = FIDELITY_FLOW };
    load(&j, text, changes);
    CU_ASSERT_EQUAL_FATAL(simulate(r, &j.loader.arena, &j.s, &options, &err), 0);
    cfg_loader_release(&j.loader);
}

/* However the work is divided, its sum is the same; and what a rank keeps of it. */
static void test_shares(void)
{
    static const struct {
        const char *text, *changes;
        double share, kept;
    } cases[] = {
        { base_text, "tensor=4", 4, 0 },
        { base_text, "context=2", 2, 2 },
        { base_text, "context=8", 8, 8 },
        { base_text, "context=4 context_comm=\"all-gather\"", 4, 4 },
        { base_text, "context=4 context_comm=\"alltoall\"", 4, 0 },
        { experts_text, "expert=8 /training/framework=\"pytorch-ddp\"", 1, 1 },
        { experts_text,
          "tensor=4 sequence_parallel=true expert=8 expert_tensor=1 "
          "library=\"megatron\"",
          4, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct simulate_result whole, part;
        simulate_job(cases[i].text, "", &whole);
        simulate_job(cases[i].text, cases[i].changes, &part);
        double flops = part.executed_flops * cases[i].share;
        double kept_B = (double)part.layer.activations_B * cases[i].kept;
        CU_ASSERT_DOUBLE_EQUAL(flops / whole.executed_flops, 1, 1e-9);
        if (cases[i].kept > 0)
            CU_ASSERT_DOUBLE_EQUAL(kept_B / (double)whole.layer.activations_B, 1, 1e-3);
    }
}

/* Bytes that a tensor group sums or gathers for latent attention, of ranks of such a
 * key-value width and length. */
static double latent_B(int64_t kv, const char *extra, enum coll_op op)
{
    struct job j;
    char changes[256];
    snprintf(changes, sizeof(changes),
             "library=\"megatron\" overlap_tensor=false tensor=4 "
             "/training/framework=\"megatron-core\" /model/q_lora_rank=96 "
             "/model/kv_lora_rank=%d%s",
             (int)kv, extra);
    bench_scenario(&j.loader, &j.s, latent_text, "/parallelism/", changes);
    double bytes = bench_comm_B(&j.loader, &j.s, CHANNEL_TENSOR, op);
    cfg_loader_release(&j.loader);
    return bytes;
}

/* Work and parameters of attention, of the layers of one rank. */
static void latent_work(const char *changes, double *flops, int64_t *parameters)
{
    struct job j;
    struct op_list list;
    struct err err = { 0 };
    bench_scenario(&j.loader, &j.s, latent_text, "/parallelism/", changes);
    struct op_settings settings = scenario_op_settings(&j.s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&list, &j.loader.arena, &j.s.model, &settings, &err), 0);
    static const char *const names[] = { "query", "kv_", "latent", "out" };
    *flops = 0;
    *parameters = 0;
    for (int32_t b = 0; b < list.n_blocks; b++) {
        const struct op_block *block = &list.blocks[b];
        for (int32_t i = 0; i < block->n_forward; i++)
            if (block->forward[i].module == OP_ATTENTION && op_block_is_layer(block))
                *flops += block->forward[i].flops * (double)block->repeat;
        for (int32_t i = 0; i < block->n_params; i++)
            for (int32_t k = 0; k < 4 && op_block_is_layer(block); k++)
                if (strncmp(block->params[i].name, names[k], strlen(names[k])) == 0)
                    *parameters += block->params[i].elements * block->repeat;
    }
    cfg_loader_release(&j.loader);
}

/* Latent attention over a tensor group: sums without sequence parallelism (backward),
 * gathers with it (forward, and for gradients of weights), as wide as what the up
 * products read; attention's work is divided, but for down products that each rank does
 * where it has all tokens; their weights are on each. */
static void test_latent_groups(void)
{
    const double columns_B =
        8.0 * 4 * 512 * 2; /* layers, microbatches, tokens, 16 bits */
    static const char along[] = " sequence_parallel=true";
    double flops[3];
    int64_t whole[3];
    CU_ASSERT_DOUBLE_EQUAL(latent_B(128, "", COLL_ALL_REDUCE) -
                               latent_B(64, "", COLL_ALL_REDUCE),
                           64 * columns_B, 1);
    CU_ASSERT_DOUBLE_EQUAL(latent_B(128, along, COLL_ALL_GATHER) -
                               latent_B(64, along, COLL_ALL_GATHER),
                           2 * 64 * columns_B, 1);
    CU_ASSERT_DOUBLE_EQUAL(latent_B(128, along, COLL_REDUCE_SCATTER) -
                               latent_B(64, along, COLL_REDUCE_SCATTER),
                           64 * columns_B, 1);
    latent_work("library=\"megatron\"", &flops[0], &whole[0]);
    latent_work("library=\"megatron\" tensor=4", &flops[1], &whole[1]);
    latent_work("library=\"megatron\" tensor=4 sequence_parallel=true", &flops[2],
                &whole[2]);
    const double down = 2.0 * 512 * 512 * (64 + 8) * 8;
    CU_ASSERT_DOUBLE_EQUAL(4 * flops[2] / flops[0], 1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(4 * flops[1] - flops[0], 3 * down, 1e-9 * flops[0]);
    const int64_t kept = 8 * (512 * (64 + 8) + 64); /* down product and its norm */
    CU_ASSERT_EQUAL(4 * (whole[1] - kept), whole[0] - kept);
    CU_ASSERT(whole[0] > 2 * kept);
    CU_ASSERT_EQUAL(whole[2], whole[1]);
}

/* What the events of one kind come to: releases are below 0. */
static int64_t events_B(const struct ledger *l, enum ledger_kind kind, int64_t *held_B)
{
    int64_t sum_B = 0, own = 0;
    for (int64_t i = 0; i < l->runs.n; i++) {
        const struct ledger_run *r = &l->runs.v[i];
        for (int64_t k = 0; k < r->n; k++) {
            const struct ledger_event *e =
                r->change ? &r->change->events[k] : &l->events.v[own + k];
            if (e->kind != kind)
                continue;
            sum_B += e->size_B;
            *held_B += e->size_B > 0 ? e->size_B : 0;
        }
        own += r->change ? 0 : r->n;
    }
    return sum_B;
}

/* Of the microbatches that are recorded, what the host frees late is freed: of a first
 * stage whose host leads, with the last of them, too. */
static void test_late(void)
{
    static const char text[] =
        "{ 'model': 'llama2-7b', 'cluster': { 'instance': 'p4d.24xlarge' },"
        "  'training': { 'sequence_length': 2048, 'micro_batch_size': 4,"
        "                'microbatches': 16, 'precision': 'bf16' },"
        "  'parallelism': { 'library': 'nanotron', 'pipeline': 2, 'tensor': 4,"
        "                   'sequence_parallel': true } }";
    struct job j;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { .detail = false };
    int64_t held_B = 0;
    load(&j, text, "");
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &j.loader.arena, &j.s, &how, &err), 0);
    CU_ASSERT_EQUAL(events_B(&reps.steps[0].ledger, LEDGER_LATE, &held_B), 0);
    CU_ASSERT(held_B > 0);
    reps_release(&reps);
    cfg_loader_release(&j.loader);
}

void test_conserve_register(void)
{
    CU_pSuite s = CU_add_suite("conserve", NULL, NULL);
    CU_add_test(s, "tensor groups exchange the residual stream", test_tensor);
    CU_add_test(s, "modules of a tensor group sum one by one", test_tensor_sums);
    CU_add_test(s, "inputs of products are gathered once more", test_tensor_gathers);
    CU_add_test(s, "stages hand on the residual stream", test_pipeline);
    CU_add_test(s, "outputs of all microbatches", test_outputs);
    CU_add_test(s, "gradients and shards go over the wire", test_data);
    CU_add_test(s, "ZeRO-3 gathers tensor by tensor", test_tensor_by_tensor);
    CU_add_test(s, "sums of gradients are held, not made", test_gradient_sums);
    CU_add_test(s, "layers share their dummies of gradients", test_dummies);
    CU_add_test(s, "what is freed late is freed", test_late);
    CU_add_test(s, "kernels of the update", test_updates);
    CU_add_test(s, "lists of parts cost the host time", test_lists);
    CU_add_test(s, "stages gather and scatter their shards", test_sharded_stages);
    CU_add_test(s, "updates within backward", test_early_updates);
    CU_add_test(s, "whole gradients wait for the last microbatch", test_no_sync);
    CU_add_test(s, "context groups exchange keys and values", test_context);
    CU_add_test(s, "latent attention over tensor groups", test_latent_groups);
    CU_add_test(s, "expert groups exchange tokens", test_experts);
    CU_add_test(s, "experts folded over tensor ranks", test_folded_experts);
    CU_add_test(s, "shares of work and memory", test_shares);
}
