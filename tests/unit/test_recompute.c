/* What is computed again in backward: modules of each layer, and layers of a chunk. */
#include "model/regions.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_recompute_register(void);

static const char experts[] =
    "{ 'model': { 'model_type': 'deepseek_v3', 'num_hidden_layers': 8,"
    "             'first_k_dense_replace': 0, 'hidden_size': 2048,"
    "             'num_attention_heads': 16, 'vocab_size': 32000,"
    "             'intermediate_size': 8192, 'moe_intermediate_size': 1024,"
    "             'n_routed_experts': 16, 'n_shared_experts': 1,"
    "             'num_experts_per_tok': 4, 'q_lora_rank': 512, 'kv_lora_rank': 256,"
    "             'qk_nope_head_dim': 128, 'qk_rope_head_dim': 64, 'v_head_dim': 128,"
    "             'max_position_embeddings': 4096 },"
    "  'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'microbatches': 4, 'precision': 'bf16' },"
    "  'parallelism': { 'library': 'megatron', 'pipeline': 2, 'expert': 4,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";
static const char dense[] =
    "{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'microbatches': 8, 'precision': 'bf16' },"
    "  'parallelism': { 'library': 'megatron', 'tensor': 2, 'pipeline': 4,"
    "                   'sequence_parallel': true,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";

/* Nemotron 3 Nano, and FLUX.1-dev at 1024 x 1024 pixels with 512 tokens of text. */
static const char hybrid[] =
    "{ 'model': { 'model_type': 'nemotron_h', 'num_hidden_layers': 52,"
    "             'hybrid_override_pattern': "
    "               'MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME',"
    "             'hidden_size': 2688, 'num_attention_heads': 32, 'head_dim': 128,"
    "             'num_key_value_heads': 2, 'mamba_num_heads': 64, 'n_groups': 8,"
    "             'mamba_head_dim': 64, 'ssm_state_size': 128, 'chunk_size': 128,"
    "             'intermediate_size': 1856, 'moe_intermediate_size': 1856,"
    "             'n_routed_experts': 128, 'num_experts_per_tok': 6,"
    "             'n_shared_experts': 1, 'moe_shared_expert_intermediate_size': 3712,"
    "             'vocab_size': 131072, 'tie_word_embeddings': false },"
    "  'cluster': { 'instance': 'dgx-h100', 'count': 2 },"
    "  'training': { 'sequence_length': 8192, 'micro_batch_size': 1,"
    "                'microbatches': 4, 'precision': 'bf16', 'attention': 'flash' },"
    "  'parallelism': { 'library': 'megatron', 'expert': 8,"
    "                   'sharding': { 'strategy': 'optimizer' } } }";
/* Three delta rules and an attention, four times (Qwen3.5's dense layers). */
static const char delta[] =
    "{ 'model': { 'model_type': 'qwen3_5_text', 'num_hidden_layers': 16,"
    "             'hidden_size': 2048, 'intermediate_size': 6144,"
    "             'num_attention_heads': 8, 'num_key_value_heads': 2,"
    "             'linear_num_key_heads': 16, 'linear_num_value_heads': 16,"
    "             'linear_key_head_dim': 128, 'linear_value_head_dim': 128,"
    "             'linear_conv_kernel_dim': 4, 'vocab_size': 32000 },"
    "  'cluster': { 'instance': 'p5.48xlarge' },"
    "  'training': { 'sequence_length': 4096, 'micro_batch_size': 1,"
    "                'microbatches': 4, 'precision': 'bf16', 'attention': 'flash' },"
    "  'parallelism': { 'library': 'megatron',"
    "                   'sharding': { 'strategy': 'optimizer' } } }";
static const char pictures[] =
    "{ 'model': { '_class_name': 'FluxTransformer2DModel', 'attention_head_dim': 128,"
    "             'guidance_embeds': true, 'in_channels': 64, 'patch_size': 1,"
    "             'joint_attention_dim': 4096, 'num_attention_heads': 24,"
    "             'num_layers': 19, 'num_single_layers': 38,"
    "             'pooled_projection_dim': 768 },"
    "  'cluster': { 'instance': 'p5en.48xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 4608,"
    "                'micro_batch_size': 1, 'microbatches': 4, 'precision': 'bf16',"
    "                'attention': 'flash' },"
    "  'parallelism': { 'library': 'fsdp', 'sharding': { 'strategy': 'full' } } }";

struct ran {
    double flops; /* of all stages */
    double step_s, compute_s;
    int64_t allocated_B;
    int64_t kept_B;           /* of a layer */
    double again_s, exchange; /* time of what is run again; collectives in it */
};

static struct ran run(const char *text, const char *changes)
{
    struct job j;
    struct reps reps;
    const struct reps_options how = { .detail = true };
    struct simulate_result r;
    struct ran out = { 0 };
    bench_scenario(&j.loader, &j.s, text, "/parallelism/", changes);
    validation_job_run(&j, &r);
    out.again_s = r.parts_s[CATEGORY_RECOMPUTE];
    out.kept_B = r.layer.activations_B;
    out.allocated_B = r.memory.allocated_B;
    out.step_s = r.step_time_s;
    out.compute_s = r.parts_s[CATEGORY_COMPUTE];
    job_reps(&j, &how, &reps);
    for (int32_t k = 0; k < reps.n_steps; k++) {
        const struct program *p = &reps.steps[k].program;
        out.flops += reps.steps[k].flops;
        for (int32_t i = 0; i < p->tasks.n; i++)
            out.exchange += p->tasks.v[i].comm >= 0 &&
                            p->comms.v[p->tasks.v[i].comm].channel == CHANNEL_EXPERT;
    }
    reps_release(&reps);
    job_unload(&j);
    return out;
}

/* FLOPs of a layer's region and bytes that it does not keep, by the operator list. */
static void sum_region(const char *text, uint32_t regions, double *flops,
                       int64_t *kept_B)
{
    struct job j;
    struct op_list list;
    struct err err = { 0 };
    bench_scenario(&j.loader, &j.s, text, "/parallelism/", "");
    struct op_settings settings = scenario_op_settings(&j.s);
    CU_ASSERT_EQUAL_FATAL(
        op_list_make(&list, &j.loader.arena, &j.s.model, &settings, &err), 0);
    *flops = 0;
    *kept_B = 0;
    for (int32_t b = 0; b < list.n_blocks; b++) {
        const struct op_block *block = &list.blocks[b];
        for (int32_t i = 0; i < block->n_forward; i++) {
            if (op_region_of(block, i, regions) < 0)
                continue;
            *flops += block->forward[i].flops * (double)block->repeat;
            for (int32_t k = 0; k < block->forward[i].n_outs; k++)
                if (op_region_drops(block, i, k, regions))
                    *kept_B += block->forward[i].outs[k].size_B;
        }
    }
    job_unload(&j);
}

/* A step runs each module's operators once more a microbatch, and keeps less by what
 * they make; experts' tokens travel again with the whole of their layer alone. */
static void test_modules(void)
{
    static const struct {
        const char *text, *words;
        uint32_t regions;
        int microbatches, data;
        bool travels;
    } cases[] = {
        { experts, "\"moe_act\"", 1 << OP_REGION_MOE_ACT, 4, 1, false },
        { experts, "\"layernorm\"", 1 << OP_REGION_NORMS, 4, 1, false },
        { experts, "\"mla_up_proj\"", 1 << OP_REGION_LATENT, 4, 1, false },
        { experts, "\"shared_experts\"", 1 << OP_REGION_SHARED, 4, 1, false },
        { experts, "\"core_attn\"", 1 << OP_REGION_CORE, 4, 1, false },
        { experts, "\"moe\"", 1 << OP_REGION_MOE, 4, 1, true },
        { experts, "\"moe_act\",\"layernorm\",\"mla_up_proj\"",
          1 << OP_REGION_MOE_ACT | 1 << OP_REGION_NORMS | 1 << OP_REGION_LATENT, 4, 1,
          false },
        { dense, "\"mlp\"", 1 << OP_REGION_MLP, 8, 1, false },
        { dense, "\"core_attn\",\"mlp\"", 1 << OP_REGION_CORE | 1 << OP_REGION_MLP, 8,
          1, false },
    };
    struct ran plain[2] = { run(experts, ""), run(dense, "") };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ran *before = &plain[cases[i].text == dense];
        char changes[256];
        double flops;
        int64_t kept_B;
        snprintf(changes, sizeof(changes),
                 "/training/activation_checkpointing={\"modules\":[%s]}",
                 cases[i].words);
        struct ran after = run(cases[i].text, changes);
        sum_region(cases[i].text, cases[i].regions, &flops, &kept_B);
        CU_ASSERT(kept_B > 0);
        CU_ASSERT_DOUBLE_EQUAL(after.flops - before->flops,
                               flops * cases[i].microbatches, 1e-9 * before->flops);
        CU_ASSERT_EQUAL(before->kept_B - after.kept_B, kept_B);
        CU_ASSERT(after.again_s > 0 && before->again_s <= 0);
        CU_ASSERT_EQUAL(after.exchange > before->exchange, cases[i].travels);
    }
}

/* Layers of several kinds, and those of pictures and text: each module is run again in
 * the layers that have it, the step is longer by what that takes, and less is kept. */
static void test_kinds(void)
{
    static const struct {
        const char *text, *words;
        uint32_t regions;
    } cases[] = {
        { hybrid, "\"moe\",\"layernorm\"", 1 << OP_REGION_MOE | 1 << OP_REGION_NORMS },
        { hybrid, "\"moe_act\"", 1 << OP_REGION_MOE_ACT },
        { hybrid, "\"shared_experts\"", 1 << OP_REGION_SHARED },
        { hybrid, "\"core_attn\"", 1 << OP_REGION_CORE },
        { pictures, "\"core_attn\"", 1 << OP_REGION_CORE },
        { pictures, "\"mlp\"", 1 << OP_REGION_MLP },
        { delta, "\"gdn_norm_out\"", 1 << OP_REGION_DELTA_NORM },
        { delta, "\"gdn\"", 1 << OP_REGION_DELTA },
    };
    struct ran plain[3] = { run(hybrid, ""), run(pictures, ""), run(delta, "") };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ran *before = &plain[cases[i].text == pictures ? 1
                                          : cases[i].text == delta  ? 2
                                                                    : 0];
        char changes[256];
        double flops;
        int64_t kept_B;
        snprintf(changes, sizeof(changes),
                 "/training/activation_checkpointing={\"modules\":[%s]}",
                 cases[i].words);
        struct ran after = run(cases[i].text, changes);
        sum_region(cases[i].text, cases[i].regions, &flops, &kept_B);
        CU_ASSERT(kept_B > 0);
        CU_ASSERT_DOUBLE_EQUAL(after.flops - before->flops, flops * 4,
                               1e-9 * before->flops);
        CU_ASSERT(after.again_s > 0 && before->again_s <= 0);
        CU_ASSERT(after.step_s > before->step_s);
        CU_ASSERT(after.allocated_B < before->allocated_B); /* segments may stay */
    }
}

/* A forward that is run again quantizes its inputs in one order alone, as no gradient of
 * a weight follows it; in 16 bits there is nothing to save. */
static void test_ungraded(void)
{
    static const char *const again[] = {
        "/training/activation_checkpointing={\"modules\":[\"moe\"]}",
        "/training/activation_checkpointing=\"full\"",
    };
    const char *fp8 = "/training/precision=\"fp8_current\"";
    double wide_s = run(hybrid, "").compute_s, narrow_s = run(hybrid, fp8).compute_s;
    for (int i = 0; i < 2; i++) {
        char changes[256];
        snprintf(changes, sizeof(changes), "%s %s", again[i], fp8);
        double saved = 1 - run(hybrid, changes).compute_s / narrow_s;
        CU_ASSERT(saved > 0.002 && saved < 0.03);
        CU_ASSERT_DOUBLE_EQUAL(run(hybrid, again[i]).compute_s, wide_s, 1e-3 * wide_s);
    }
}

/* The first n layers of each chunk, whatever the chunks are. */
static void test_block(void)
{
    static const struct {
        const char *changes;
        int layers; /* that are computed again, of 32 */
    } cases[] = {
        { "/training/activation_checkpointing={\"block\":3}", 4 * 3 },
        { "/training/activation_checkpointing={\"block\":8}", 32 },
        { "/training/activation_checkpointing={\"block\":20}", 32 },
        { "/training/activation_checkpointing={\"block\":3} virtual_stages=2 "
          "schedule=\"interleaved\"",
          8 * 3 },
        { "/training/activation_checkpointing={\"block\":3} partition=[2,10,10,10]",
          2 + 3 * 3 },
    };
    struct ran none = run(dense, ""),
               full = run(dense, "/training/activation_checkpointing=\"full\"");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ran some = run(dense, cases[i].changes);
        CU_ASSERT_DOUBLE_EQUAL((some.flops - none.flops) / (full.flops - none.flops),
                               cases[i].layers / 32.0, 1e-9);
    }
}

/* Modules that no layer has are said by name; those that are there are not. */
static void test_modules_absent(void)
{
    static const struct {
        const char *text, *modules;
        int32_t notes;
    } cases[] = {
        { dense, "\"mla_up_proj\",\"mlp\",\"moe_act\"", 2 },
        { experts, "\"mla_up_proj\",\"moe_act\",\"layernorm\"", 0 },
        { experts, "\"mlp\"", 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job j;
        char changes[200];
        int32_t notes = 0;
        snprintf(changes, sizeof(changes),
                 "/training/activation_checkpointing={\"modules\":[%s]}",
                 cases[i].modules);
        bench_scenario(&j.loader, &j.s, cases[i].text, "", changes);
        for (int32_t k = 0; k < j.s.n_notes; k++)
            notes += strstr(j.s.notes[k].pointer ? j.s.notes[k].pointer : "",
                            "/modules/") != NULL;
        CU_ASSERT_EQUAL(notes, cases[i].notes);
        job_unload(&j);
    }
}

void test_recompute_register(void)
{
    CU_pSuite s = CU_add_suite("recompute", NULL, NULL);
    CU_add_test(s, "modules of layers are computed again", test_modules);
    CU_add_test(s, "modules of layers of several kinds", test_kinds);
    CU_add_test(s, "casts of a forward that is run again", test_ungraded);
    CU_add_test(s, "modules that no layer has", test_modules_absent);
    CU_add_test(s, "the first layers of chunks are computed again", test_block);
}
