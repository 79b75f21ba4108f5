/* Layers that keep a state, and models whose layers are of several kinds. */
#include "cost/kernel.h"
#include "model/graphs.h"
#include "model/pattern.h"
#include "op_bench.h"
#include "step_bench.h"

void test_state_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

#define NANO_PATTERN "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"
#define SUPER_PATTERN                                             \
    "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*" \
    "EMEMEMEMEM*EMEMEMEM*EMEMEMEME"

/* clang-format off */
static const struct {
    const char *name;
    double parameters; /* as published */
    const char *file;
} published[] = {
    { "mamba-2.8b", 2768345600,
      "{'model_type': 'mamba', 'hidden_size': 2560, 'num_hidden_layers': 64, 'state_size': 16, 'conv_kernel': 4, "
      "'expand': 2, 'time_step_rank': 160, 'vocab_size': 50280}" },
    { "falcon-mamba-7b", 7272665088,
      "{'model_type': 'falcon_mamba', 'hidden_size': 4096, 'num_hidden_layers': 64, 'state_size': 16, 'conv_kernel': 4, "
      "'expand': 16, 'intermediate_size': 8192, 'time_step_rank': 256, 'vocab_size': 65024, 'tie_word_embeddings': false}" },
    { "mamba2-2.7b", 2702599680,
      "{'model_type': 'mamba2', 'hidden_size': 2560, 'num_hidden_layers': 64, 'num_heads': 80, 'head_dim': 64, "
      "'state_size': 128, 'n_groups': 1, 'vocab_size': 50288, 'tie_word_embeddings': true}" },
    { "Nemotron-H-8B", 8.10e9,
      "{'model_type': 'nemotron_h', 'hidden_size': 4096, 'num_hidden_layers': 52, 'hybrid_override_pattern': "
      "'M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-', 'head_dim': 128, 'num_attention_heads': 32, "
      "'num_key_value_heads': 8, 'mamba_num_heads': 128, 'mamba_head_dim': 64, 'ssm_state_size': 128, 'n_groups': 8, "
      "'intermediate_size': 21504, 'vocab_size': 131072}" },
    { "Nemotron-3-Nano-30B-A3B", 31.6e9,
      "{'model_type': 'nemotron_h', 'hidden_size': 2688, 'num_hidden_layers': 52, 'hybrid_override_pattern': '" NANO_PATTERN "', "
      "'head_dim': 128, 'num_attention_heads': 32, 'num_key_value_heads': 2, 'mamba_num_heads': 64, 'mamba_head_dim': 64, "
      "'intermediate_size': 1856, 'moe_intermediate_size': 1856, 'moe_shared_expert_intermediate_size': 3712, "
      "'n_routed_experts': 128, 'n_shared_experts': 1, 'num_experts_per_tok': 6, 'vocab_size': 131072}" },
    { "Nemotron-3-Super-120B-A12B", 120.6e9,
      "{'model_type': 'nemotron_h', 'hidden_size': 4096, 'num_hidden_layers': 88, 'hybrid_override_pattern': '" SUPER_PATTERN "', "
      "'head_dim': 128, 'num_attention_heads': 32, 'num_key_value_heads': 2, 'mamba_num_heads': 128, 'mamba_head_dim': 64, "
      "'intermediate_size': 2688, 'moe_intermediate_size': 2688, 'moe_shared_expert_intermediate_size': 5376, "
      "'n_routed_experts': 512, 'n_shared_experts': 1, 'num_experts_per_tok': 22, 'moe_latent_size': 1024, 'vocab_size': 131072}" },
    { "Bamba-9B", 9780346368,
      "{'model_type': 'bamba', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
      "'num_key_value_heads': 8, 'attn_layer_indices': [9, 18, 27], 'mamba_n_heads': 128, 'mamba_d_state': 128, 'mamba_n_groups': 1, "
      "'vocab_size': 128256, 'tie_word_embeddings': false}" },
    { "Jamba-v0.1", 51570323328,
      "{'model_type': 'jamba', 'hidden_size': 4096, 'intermediate_size': 14336, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
      "'num_key_value_heads': 8, 'attn_layer_period': 8, 'attn_layer_offset': 4, 'expert_layer_period': 2, 'expert_layer_offset': 1, "
      "'num_experts': 16, 'num_experts_per_tok': 2, 'mamba_dt_rank': 256, 'vocab_size': 65536}" },
    { "Falcon-H1-7B", 7.59e9,
      "{'model_type': 'falcon_h1', 'hidden_size': 3072, 'intermediate_size': 12288, 'num_hidden_layers': 44, 'num_attention_heads': 12, "
      "'num_key_value_heads': 2, 'head_dim': 128, 'mamba_n_heads': 24, 'mamba_d_head': 128, 'mamba_d_ssm': 3072, 'mamba_d_state': 256, "
      "'mamba_n_groups': 1, 'mamba_rms_norm': false, 'vocab_size': 130048}" },
    { "LFM2-1.2B", 1170340608,
      "{'model_type': 'lfm2', 'hidden_size': 2048, 'num_hidden_layers': 16, 'num_attention_heads': 32, 'num_key_value_heads': 8, "
      "'block_ff_dim': 12288, 'block_multiple_of': 256, 'block_ffn_dim_multiplier': 1.0, 'block_auto_adjust_ff_dim': true, "
      "'conv_L_cache': 3, 'vocab_size': 65536, 'layer_types': ['conv','conv','full_attention','conv','conv','full_attention','conv',"
      "'conv','full_attention','conv','full_attention','conv','full_attention','conv','full_attention','conv']}" },
};
/* clang-format on */

static void test_published(void)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, published[i].file), 0);
        double off = (double)m.parameters / published[i].parameters - 1;
        if (fabs(off) > 0.002)
            printf("\n    %s: %lld", published[i].name, (long long)m.parameters);
        CU_ASSERT(fabs(off) <= 0.002);
        cfg_loader_release(&loader);
    }
}

#define SMALL_(pattern, layers)                                                        \
    "{'model_type': 'nemotron_h', 'hidden_size': 512, 'num_hidden_layers': " #layers   \
    ", 'hybrid_override_pattern': '" pattern "', 'head_dim': 64, "                     \
    "'num_attention_heads': 8, 'num_key_value_heads': 8, 'mamba_num_heads': 16, "      \
    "'mamba_head_dim': 64, 'ssm_state_size': 64, 'n_groups': 4, 'chunk_size': 64, "    \
    "'intermediate_size': 1024, 'moe_intermediate_size': 256, 'n_shared_experts': 1, " \
    "'moe_shared_expert_intermediate_size': 512, 'n_routed_experts': 16, "             \
    "'num_experts_per_tok': 2, 'vocab_size': 8192"
#define SMALL SMALL_("MEM*-MEM", 8)

/* Blocks lie in the file's order, equal ones in a row as one. */
static void test_order(void)
{
    static const char *const names[] = {
        "embedding",       "state_layer", "moe_layer", "state_layer", "mlp_layer",
        "attention_layer", "state_layer", "moe_layer", "head"
    };
    static const int64_t repeats[] = { 1, 2, 1, 1, 1, 1, 1, 1, 1 };
    struct cfg_loader loader;
    struct arena arena;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SMALL_("MMEM-*ME", 8) "}"), 0);
    arena_init(&arena);
    struct op_list list = op_make(&arena, &m, op_settings_of(OP_BF16, &op_fused));
    CU_ASSERT_EQUAL_FATAL(list.n_blocks, 9);
    for (int32_t i = 0; i < list.n_blocks; i++) {
        CU_ASSERT_STRING_EQUAL(list.blocks[i].name, names[i]);
        CU_ASSERT_EQUAL(list.blocks[i].repeat, repeats[i]);
    }
    CU_ASSERT_PTR_EQUAL(list.blocks[1].forward, list.blocks[3].forward);
    CU_ASSERT_EQUAL(model_state_layers(&m), 4);
    CU_ASSERT_EQUAL(model_attention_layers(&m), 1);
    CU_ASSERT_EQUAL(model_expert_layers(&m), 2);
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* Words in place of letters say how many layers there are; what Python writes of no
 * limit is passed over where nothing reads it, and refused where a number is read. */
static void test_words(void)
{
    static const char file[] =
        "{'model_type': 'nemotron_h', 'hidden_size': 512, 'layers_block_type': "
        "['mamba', 'moe', 'attention', 'mlp'], 'num_hidden_layers': %s, 'head_dim': "
        "64, "
        "'time_step_limit': [0.0, Infinity], 'num_attention_heads': 8, "
        "'mamba_num_heads': 16, 'intermediate_size': 1024, 'n_routed_experts': 8, "
        "'num_experts_per_tok': 2, 'moe_intermediate_size': 256, 'vocab_size': 8192}";
    static const struct {
        const char *layers, *part; /* of the error; NULL: none */
    } cases[] = {
        { "null", NULL },
        { "4", NULL },
        { "5", "the kinds of 4 layers are listed, for 5 layers" },
        { "Infinity", "Infinity" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct cfg_loader loader;
        struct model m;
        snprintf(text, sizeof(text), file, cases[i].layers);
        CU_ASSERT_EQUAL(read_text(&m, &loader, text), cases[i].part ? -1 : 0);
        const char *said =
            cases[i].part ? diags_error_text(&loader.diags, 0) : "no error";
        CU_ASSERT_PTR_NOT_NULL(
            strstr(said, cases[i].part ? cases[i].part : "no error"));
        CU_ASSERT(cases[i].part || m.layers == 4);
        cfg_loader_release(&loader);
    }
}

static double forward_flops(const struct model *m, enum op_precision p, int64_t tensor)
{
    struct arena arena;
    arena_init(&arena);
    struct op_settings s = op_settings_of(p, &op_fused);
    s.attention = OP_ATTENTION_FLASH;
    s.tensor = tensor;
    struct op_list list = op_make(&arena, m, s);
    double flops = op_list_flops(&list, false);
    arena_release(&arena);
    return flops;
}

/* Layers that are attention or an MLP alone are, two and two, a decoder's. */
static void test_split_decoder(void)
{
    struct cfg_loader a, b;
    struct model split, whole;
    CU_ASSERT_EQUAL_FATAL(read_text(&split, &a, SMALL_("*-*-*-", 6) "}"), 0);
    CU_ASSERT_EQUAL_FATAL(
        read_text(&whole, &b,
                  "{'model_type': 'nemotron', 'hidden_size': 512, 'num_hidden_layers': "
                  "3, 'head_dim': 64, 'num_attention_heads': 8, 'num_key_value_heads': "
                  "8, 'intermediate_size': 1024, 'vocab_size': 8192}"),
        0);
    whole.norms.rms = true;
    CU_ASSERT_EQUAL(split.parameters, model_parameters(&whole));
    CU_ASSERT_EQUAL(model_flops_per_sample(&split, SEQ, 0, true),
                    model_flops_per_sample(&whole, SEQ, 0, true));
    CU_ASSERT_EQUAL(forward_flops(&split, OP_BF16, 1),
                    forward_flops(&whole, OP_BF16, 1));
    cfg_loader_release(&a);
    cfg_loader_release(&b);
}

/* By hand: products of in and out; states from keys, and queries with states; queries
 * with keys in chunks, and half of those with what is mixed. */
static void test_scan(void)
{
    struct cfg_loader loader;
    struct model m;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SMALL_("MM", 2) "}"), 0);
    double tokens = (double)BATCH * SEQ, width = 16 * 64, keys = 4 * 64;
    double in = 512 * (2 * width + 2 * keys + 16), out = width * 512;
    double scan = 2 * width * 64 + 64 * keys + width * 64 / 2;
    double head = 512 * 8192;
    for (int p = OP_BF16; p < OP_PRECISION_N; p++) {
        double flops = forward_flops(&m, (enum op_precision)p, 1);
        CU_ASSERT_DOUBLE_EQUAL(flops / (2 * tokens * (2 * (in + out + scan) + head)), 1,
                               1e-12);
    }
    cfg_loader_release(&loader);
}

/* A tensor group deals heads and groups: its ranks have equal parts of all but norms. */
static void test_tensor(void)
{
    struct cfg_loader loader;
    struct model m;
    struct arena arena;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SMALL "}"), 0);
    arena_init(&arena);
    struct op_settings s = op_settings_of(OP_BF16, &op_fused);
    struct op_list one = op_make(&arena, &m, s);
    s.tensor = 4;
    struct op_list four = op_make(&arena, &m, s);
    double norm = 512;
    CU_ASSERT_EQUAL(one.n_blocks, four.n_blocks);
    CU_ASSERT_STRING_EQUAL(one.blocks[1].name, "state_layer");
    CU_ASSERT_EQUAL((double)op_block_parameters(&four.blocks[1]) - norm,
                    ((double)op_block_parameters(&one.blocks[1]) - norm) / 4);
    struct err err = { 0 };
    s.tensor = 8; /* four groups */
    CU_ASSERT_EQUAL(op_list_make(&four, &arena, &m, &s, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "4 groups"));
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* Experts of latent columns are smaller, and the router is not. */
static void test_latent_experts(void)
{
    struct cfg_loader a, b;
    struct model wide, latent;
    CU_ASSERT_EQUAL_FATAL(read_text(&wide, &a, SMALL "}"), 0);
    CU_ASSERT_EQUAL_FATAL(read_text(&latent, &b, SMALL ", 'moe_latent_size': 128}"), 0);
    double layers = 2, experts = 16 * 2 * 256, saved = experts * (512 - 128);
    double made = 2 * 512 * 128;
    CU_ASSERT_EQUAL((double)(wide.parameters - latent.parameters),
                    layers * (saved - made));
    double each = 2 * 2 * 256 * (512 - 128);
    CU_ASSERT_EQUAL(model_flops_per_sample(&wide, SEQ, 0, true) -
                        model_flops_per_sample(&latent, SEQ, 0, true),
                    6 * SEQ * layers * (each - made));
    CU_ASSERT_DOUBLE_EQUAL(
        (forward_flops(&wide, OP_BF16, 1) - forward_flops(&latent, OP_BF16, 1)) /
            (2 * BATCH * SEQ * layers * (each - made)),
        1, 1e-12);
    cfg_loader_release(&a);
    cfg_loader_release(&b);
}

/* A scan takes its arithmetic or its traffic, whichever is longer, on what collectives
 * leave of the GPU. */
static void test_kernel(void)
{
    struct gpu gpu = { .sm_arch = 90,
                       .n_sms = 100,
                       .hbm_Bps = 1e12,
                       .stream_frac = 0.8,
                       .kernel_s = 1e-6,
                       .peak_flops[DTYPE_BF16] = 1e14,
                       .peak_flops[DTYPE_FP32] = 2.56e13, /* at 1 GHz */
                       .gemm[DTYPE_BF16].sustained = 1 };
    struct op op = { .kind = OP_SCAN,
                     .dtype = DTYPE_BF16,
                     .launches = 1,
                     .flops = 1e9,
                     .read_B = 1e9,
                     .write_B = 1e9 };
    struct kernel_share fifth = { 1, 0.2 };
    double memory = kernel_op_s(&gpu, &op, 1, kernel_alone);
    CU_ASSERT_DOUBLE_EQUAL(memory, 1e-6 + 2e9 / 0.33e12, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&gpu, &op, 1, fifth), 1e-6 + 2e9 / 0.16e12,
                           1e-9);
    op.flops = 1e12;
    double arithmetic = kernel_op_s(&gpu, &op, 1, kernel_alone);
    CU_ASSERT(arithmetic > 5 * memory);
    CU_ASSERT_DOUBLE_EQUAL(kernel_op_s(&gpu, &op, 1, fifth), arithmetic, 1e-12);
}

static void test_graphs(void)
{
    struct cfg_loader loader;
    struct model m;
    struct arena arena;
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, SMALL "}"), 0);
    arena_init(&arena);
    struct op_list list = op_make(&arena, &m, op_settings_of(OP_BF16, &op_fused));
    for (int32_t i = 0; i < list.n_blocks; i++) {
        const struct op_block *b = &list.blocks[i];
        bool state = strcmp(b->name, "state_layer") == 0;
        bool attention = strcmp(b->name, "attention_layer") == 0;
        CU_ASSERT_EQUAL(op_graph_captures(b, false, 1, 1 << OP_GRAPH_STATE), state);
        CU_ASSERT_EQUAL(op_graph_captures(b, false, 1, 1 << OP_GRAPH_ATTENTION),
                        attention);
    }
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* Steps ------------------------------------------------------------------------------- */

#define JOB                                                                    \
    ",'cluster':{'instance':'p5.48xlarge','count':2},"                         \
    "'training':{'sequence_length':512,'micro_batch_size':1,'microbatches':4," \
    "'precision':'bf16','attention':'flash'%s},'parallelism':{%s}}"

static double step_s(const char *training, const char *parallelism, bool unfold,
                     struct simulate_result *r)
{
    char text[4096];
    snprintf(text, sizeof(text), "{'model':" SMALL "}" JOB, training, parallelism);
    return job_text_step_s(text, unfold, r);
}

/* Every way to split a hybrid: one rank of each kind represents all. */
static void test_folded(void)
{
    static const char *const splits[] = {
        "'library':'megatron','tensor':2,'sequence_parallel':true,'pipeline':2,"
        "'expert':4",
        "'library':'megatron','tensor':4,'expert':2",
        "'library':'megatron','pipeline':4,'sharding':{'strategy':'optimizer'}",
        "'library':'megatron','pipeline':2,'virtual_stages':2,"
        "'schedule':'interleaved','expert':8,'expert_tensor':1",
        "'library':'fsdp','sharding':{'strategy':'full'}",
        "'library':'deepspeed','sharding':{'strategy':'full'}",
    };
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
        for (int again = 0; again < 2; again++) {
            static const char full[] = ",'activation_checkpointing':'full'";
            struct simulate_result folded, unfolded;
            double a = step_s(again ? full : "", splits[i], false, &folded),
                   b = step_s(again ? full : "", splits[i], true, &unfolded);
            CU_ASSERT(job_near(a, b, 1e-9));
            CU_ASSERT(a > 0);
        }
}

void test_state_register(void)
{
    CU_pSuite s = CU_add_suite("state", NULL, NULL);
    CU_add_test(s, "published parameters", test_published);
    CU_add_test(s, "layers in their order", test_order);
    CU_add_test(s, "layers in words", test_words);
    CU_add_test(s, "mixers and MLPs alone are a decoder", test_split_decoder);
    CU_add_test(s, "a scan by hand", test_scan);
    CU_add_test(s, "over a tensor group", test_tensor);
    CU_add_test(s, "experts of latent columns", test_latent_experts);
    CU_add_test(s, "a scan's kernel", test_kernel);
    CU_add_test(s, "graphs of layers that keep a state", test_graphs);
    CU_add_test(s, "folded hybrids are unfolded ones", test_folded);
}
