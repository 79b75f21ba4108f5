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

struct ran {
    double flops;             /* of all stages */
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
    CU_add_test(s, "modules that no layer has", test_modules_absent);
    CU_add_test(s, "the first layers of chunks are computed again", test_block);
}
