/* Linear attention: delta rules and fixed decays, among layers of full attention. */
#include "model/pattern.h"
#include "op_bench.h"
#include "step_bench.h"

void test_linear_register(void);

static int read_text(struct model *m, struct cfg_loader *loader, const char *text)
{
    cfg_loader_init(loader);
    return model_read(m, loader, cfg_parse(loader, "f", text, strlen(text)));
}

#define DELTA_HEADS(values)                                              \
    "'linear_conv_kernel_dim': 4, 'linear_key_head_dim': 128, "          \
    "'linear_num_key_heads': 16, 'linear_num_value_heads': " values ", " \
    "'linear_value_head_dim': 128, 'head_dim': 256"
#define MINIMAX_TYPES "0,0,0,0,0,0,0,1"
#define TEN(x) x "," x "," x "," x "," x "," x "," x "," x "," x "," x

/* clang-format off */
static const struct {
    const char *name;
    double parameters, within; /* as published, without modules that predict further tokens */
    int64_t attention;         /* layers of full attention */
    const char *file;
} published[] = {
    /* safetensors index: 81324862720 with one such module, of 1650471424 */
    { "Qwen3-Next-80B-A3B-Instruct", 81324862720 - 1650471424, 0, 12,
      "{'model_type': 'qwen3_next', 'hidden_size': 2048, 'num_hidden_layers': 48, 'num_attention_heads': 16, "
      "'num_key_value_heads': 2, 'vocab_size': 151936, 'intermediate_size': 5120, 'moe_intermediate_size': 512, "
      "'shared_expert_intermediate_size': 512, 'num_experts': 512, 'num_experts_per_tok': 10, 'full_attention_interval': 4, "
      "'decoder_sparse_step': 1, 'mlp_only_layers': [], " DELTA_HEADS("32") "}" },
    /* safetensors index */
    { "Kimi-Linear-48B-A3B-Instruct", 49122681728, 0, 7,
      "{'model_type': 'kimi_linear', 'hidden_size': 2304, 'num_hidden_layers': 27, 'num_attention_heads': 32, "
      "'num_key_value_heads': 32, 'head_dim': 72, 'vocab_size': 163840, 'intermediate_size': 9216, 'moe_intermediate_size': 1024, "
      "'num_experts': 256, 'num_experts_per_token': 8, 'num_shared_experts': 1, 'first_k_dense_replace': 1, 'moe_layer_freq': 1, "
      "'kv_lora_rank': 512, 'q_lora_rank': null, 'qk_nope_head_dim': 128, 'qk_rope_head_dim': 64, 'v_head_dim': 128, "
      "'linear_attn_config': {'full_attn_layers': [4, 8, 12, 16, 20, 24, 27], 'head_dim': 128, 'num_heads': 32, "
      "'short_conv_kernel_size': 4}}" },
    /* the tensors that transformers 5.16 makes of its defaults (models/olmo_hybrid) */
    { "Olmo-Hybrid-7B", 7430870688, 0, 8,
      "{'model_type': 'olmo_hybrid', 'hidden_size': 3840, 'num_hidden_layers': 32, 'num_attention_heads': 30, "
      "'vocab_size': 100352, 'intermediate_size': 11008}" },
    /* MiniMax-01, arXiv 2501.08313: 456 billion */
    { "MiniMax-Text-01", 456e9, 0.001, 10,
      "{'model_type': 'minimax_text_01', 'hidden_size': 6144, 'num_hidden_layers': 80, 'num_attention_heads': 64, "
      "'num_key_value_heads': 8, 'head_dim': 128, 'vocab_size': 200064, 'intermediate_size': 9216, 'num_local_experts': 32, "
      "'num_experts_per_tok': 2, 'attn_type_list': [" TEN(MINIMAX_TYPES) "], 'shared_intermediate_size': 0}" },
};
/* clang-format on */

static void test_published(void)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, published[i].file), 0);
        double off = (double)m.parameters / published[i].parameters - 1;
        if (fabs(off) > published[i].within)
            printf("\n    %s: %lld", published[i].name, (long long)m.parameters);
        CU_ASSERT(fabs(off) <= published[i].within);
        CU_ASSERT_EQUAL(model_attention_layers(&m), published[i].attention);
        CU_ASSERT_EQUAL(model_state_layers(&m), m.layers - published[i].attention);
        cfg_loader_release(&loader);
    }
}

/* Four layers, of which one attends; experts in all but the second. */
#define SMALL_(family, more)                                                    \
    "{'model_type': '" family "', 'hidden_size': 512, 'num_hidden_layers': 4, " \
    "'num_attention_heads': 8, 'num_key_value_heads': 4, 'vocab_size': 8192, "  \
    "'head_dim': 64, 'intermediate_size': 1024" more
#define DELTA                                                                  \
    ", 'moe_intermediate_size': 256, 'shared_expert_intermediate_size': 256, " \
    "'num_experts': 8, 'num_experts_per_tok': 2, 'mlp_only_layers': [1], "     \
    "'linear_key_head_dim': 64, 'linear_num_key_heads': 4, "                   \
    "'linear_num_value_heads': 8, 'linear_value_head_dim': 32}"
#define NEXT SMALL_("qwen3_next", DELTA)
#define DENSE                                                         \
    SMALL_("qwen3_5_text",                                            \
           ", 'linear_key_head_dim': 64, 'linear_num_key_heads': 4, " \
           "'linear_num_value_heads': 8, 'linear_value_head_dim': 32}")
#define KIMI                                                                    \
    SMALL_("kimi_linear",                                                       \
           ", 'moe_intermediate_size': 256, 'num_experts': 8, "                 \
           "'num_experts_per_token': 2, 'num_shared_experts': 1, "              \
           "'first_k_dense_replace': 1, 'kv_lora_rank': 64, "                   \
           "'qk_nope_head_dim': 64, 'qk_rope_head_dim': 32, 'v_head_dim': 64, " \
           "'linear_attn_config': {'full_attn_layers': [4], 'head_dim': 32, "   \
           "'num_heads': 8, 'short_conv_kernel_size': 4}}")
#define MINIMAX                                                                  \
    SMALL_("minimax", ", 'num_local_experts': 8, 'num_experts_per_tok': 2, "     \
                      "'layer_types': ['linear_attention', 'linear_attention', " \
                      "'linear_attention', 'full_attention']}")
static const char *const small[] = { NEXT, DENSE, KIMI, MINIMAX };
enum { SMALLS = sizeof(small) / sizeof(small[0]) };

static const struct op_block *find_block(const struct op_list *list, const char *with)
{
    for (int32_t i = 0; i < list->n_blocks; i++)
        if (strstr(list->blocks[i].name, with))
            return &list->blocks[i];
    return NULL;
}

static double flops(const struct op *ops, int32_t n, const char *with)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        if (!with || strstr(ops[i].name, with))
            sum += ops[i].flops;
    return sum;
}

/* By hand, a token and head of K keys and V values in chunks of C: forward 3 KV, 3 CK (keys
 * with keys, what is written of them, queries with keys), 2 CV and the inverse's CC / 3;
 * backward writes (CK, CV) and states (2 KV) again, and has their gradients. */
static void test_delta(void)
{
    struct cfg_loader loader;
    struct model m;
    struct arena arena;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, NEXT), 0);
    struct op_settings s = op_settings_of(OP_BF16, &op_fused);
    s.attention = OP_ATTENTION_FLASH;
    struct op_list list = op_make(&arena, &m, s);
    const struct op_block *b = find_block(&list, "state_mlp_layer");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    double tokens = (double)BATCH * SEQ, heads = 8, K = 64, V = 32, C = 64;
    double forward = 3 * K * V + 3 * C * K + 2 * C * V + C * C / 3;
    double again = C * K + C * V + 2 * K * V;
    double back = (C * K + C * V) + 3 * K * V + (3 * K * V + C * V + 3 * C * K) +
                  (5 * C * K + 2 * C * V + 2 * C * C);
    CU_ASSERT_DOUBLE_EQUAL(flops(b->forward, b->n_forward, "delta_") /
                               (2 * tokens * heads * forward),
                           1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(flops(b->backward, b->n_backward, "delta_") /
                               (2 * tokens * heads * (again + back)),
                           1, 1e-12);
    double in = 512 * (2 * 8 * V + 2 * 4 * K + 2 * 8);
    CU_ASSERT_DOUBLE_EQUAL(
        flops(b->forward, b->n_forward, "state_in") / (2 * tokens * in), 1, 1e-12);
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* By hand: products of the indexer, its scores of s / 2 keys a query, and backward 3 times
 * those of the chosen keys; attention as to a window. */
static void test_sparse(void)
{
    static const char file[] =
        "{'model_type': '%s', 'hidden_size': 512, 'num_hidden_layers': 2, "
        "'num_attention_heads': 8, 'vocab_size': 1000, 'intermediate_size': 1024, "
        "'moe_intermediate_size': 256, 'n_routed_experts': 8, 'num_experts_per_tok': "
        "2, "
        "'q_lora_rank': 96, 'kv_lora_rank': 64, 'qk_nope_head_dim': 64, "
        "'qk_rope_head_dim': 32, 'v_head_dim': 64%s}";
    char text[2][800];
    struct cfg_loader loaders[2];
    struct model sparse, full;
    struct arena arena;
    arena_init(&arena);
    snprintf(text[0], sizeof(text[0]), file, "deepseek_v32",
             ", 'index_topk': 32, 'index_n_heads': 4, 'index_head_dim': 16");
    snprintf(text[1], sizeof(text[1]), file, "deepseek_v3", "");
    CU_ASSERT_EQUAL_FATAL(read_text(&sparse, &loaders[0], text[0]), 0);
    CU_ASSERT_EQUAL_FATAL(read_text(&full, &loaders[1], text[1]), 0);
    double weights = 96 * 64 + 512 * (16 + 4), layers = 2;
    CU_ASSERT_EQUAL((double)(sparse.parameters - full.parameters),
                    layers * (weights + 32));
    struct op_settings s = op_settings_of(OP_BF16, &op_fused);
    s.attention = OP_ATTENTION_FLASH;
    struct op_list a = op_make(&arena, &sparse, s), b = op_make(&arena, &full, s);
    const struct op_block *with = find_block(&a, "layer"),
                          *without = find_block(&b, "layer");
    double tokens = (double)BATCH * SEQ, columns = 64, keys = 32;
    CU_ASSERT_DOUBLE_EQUAL(flops(with->forward, with->n_forward, "index_") /
                               (2 * tokens * (weights + SEQ / 2.0 * columns)),
                           1, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(flops(with->backward, with->n_backward, "index_") /
                               (2 * tokens * (weights + 3 * keys * columns)),
                           1, 1e-12);
    double seen = keys - keys * keys / (2 * SEQ), all = SEQ / 2.0;
    CU_ASSERT_DOUBLE_EQUAL(flops(with->forward, with->n_forward, "flash") /
                               flops(without->forward, without->n_forward, "flash"),
                           seen / all, 1e-9);
    CU_ASSERT(op_block_kept_B(with) > op_block_kept_B(without));
    arena_release(&arena);
    cfg_loader_release(&loaders[0]);
    cfg_loader_release(&loaders[1]);
}

/* Queries' product makes the gate, too: half as many columns again of 8 heads of 64, and
 * the gate's result is kept. */
static void test_gate(void)
{
    struct cfg_loader loader;
    struct model gated, plain;
    struct arena arena;
    arena_init(&arena);
    CU_ASSERT_EQUAL_FATAL(read_text(&gated, &loader, DENSE), 0);
    plain = gated;
    plain.attention.gated = false;
    double more = 512 * 512;
    CU_ASSERT_EQUAL((double)(model_parameters(&gated) - model_parameters(&plain)),
                    more);
    CU_ASSERT_EQUAL(model_flops_per_sample(&gated, SEQ, 0, true) -
                        model_flops_per_sample(&plain, SEQ, 0, true),
                    6 * SEQ * more);
    for (int fused = 0; fused < 2; fused++) {
        struct op_settings s = op_settings_of(OP_BF16, fused ? &op_fused : &op_eager);
        struct op_list a = op_make(&arena, &gated, s), b = op_make(&arena, &plain, s);
        const struct op_block *with = find_block(&a, "attention_mlp_layer"),
                              *without = find_block(&b, "attention_mlp_layer");
        CU_ASSERT_EQUAL(op_block_kept_B(with) - op_block_kept_B(without),
                        3 * 2 * BATCH * SEQ * 512);
    }
    arena_release(&arena);
    cfg_loader_release(&loader);
}

/* Ranks of a tensor group have equal parts of all but norms and what decays are made of. */
static void test_tensor(void)
{
    for (int i = 0; i < SMALLS; i++) {
        struct cfg_loader loader;
        struct model m;
        struct arena arena;
        arena_init(&arena);
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, small[i]), 0);
        struct op_settings s = op_settings_of(OP_BF16, &op_fused);
        const struct op_block *one, *four;
        struct op_list a = op_make(&arena, &m, s);
        one = find_block(&a, "state_");
        s.tensor = 4;
        struct op_list b = op_make(&arena, &m, s);
        four = find_block(&b, "state_");
        for (int32_t k = 0; k < one->n_params; k++) {
            const struct op_param *p = &one->params[k], *q = &four->params[k];
            bool whole =
                strstr(p->name, "norm") && m.state.kind != MODEL_STATE_LIGHTNING;
            bool layers = strncmp(p->name, "norm", 4) == 0,
                 router = p->elements == 4096;
            bool low = strcmp(p->name, "state_in.weight") == 0 &&
                       m.state.kind == MODEL_STATE_KDA;
            int64_t share = strstr(p->name, "shared_scale") || router || whole || layers
                                ? p->elements
                                : p->elements / 4;
            if (low)
                share = (p->elements - 512 * 2 * 32) / 4 + 512 * 2 * 32;
            CU_ASSERT_EQUAL(q->elements, share);
        }
        struct err err = { 0 };
        s.tensor = 16;
        CU_ASSERT_EQUAL(op_list_make(&b, &arena, &m, &s, &err), -1);
        s.tensor = 1;
        s.context = 2;
        CU_ASSERT_EQUAL(op_list_make(&b, &arena, &m, &s, &err), -1);
        arena_release(&arena);
        cfg_loader_release(&loader);
    }
}

/* Adapters next to the modules that models have, r (in + out) weights each. */
static void test_lora(void)
{
    static const struct {
        const char *file;
        uint32_t targets;
        int64_t sums; /* of columns in and out, of all layers */
    } cases[] = {
        { NEXT, LORA_STATE_IN, 3 * (512 + 2 * 8 * 32 + 2 * 4 * 64) },
        { NEXT, LORA_STATE_A | LORA_STATE_B, 3 * (512 + 16) },
        { NEXT, LORA_OUT_PROJ, 3 * (512 + 8 * 32) },
        { DENSE, LORA_STATE_QKV, 3 * (512 + 8 * 32 + 2 * 4 * 64) },
        { DENSE, LORA_STATE_GATE | LORA_OUT, 3 * (512 + 8 * 32) + 512 + 512 },
        { DENSE, LORA_QUERY, 512 + 2 * 512 },
        { KIMI, LORA_VALUE, 3 * (512 + 256) },
        { KIMI, LORA_STATE_SELECT | LORA_STATE_STEP, 3 * 2 * (32 + 256) },
        { KIMI, LORA_OUT, 3 * (256 + 512) + 8 * 64 + 512 },
        { MINIMAX, LORA_STATE_GATE, 3 * (512 + 512) },
        { MINIMAX, LORA_OUT_PROJ, 3 * (512 + 512) },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct model m;
        CU_ASSERT_EQUAL_FATAL(read_text(&m, &loader, cases[i].file), 0);
        struct lora l = { .rank = 16, .targets = cases[i].targets };
        CU_ASSERT_EQUAL(lora_parameters(&m, &l), 16 * cases[i].sums);
        l.targets = LORA_ALL_LINEAR;
        CU_ASSERT(lora_parameters(&m, &l) > 16 * cases[i].sums);
        CU_ASSERT(lora_flops_per_sample(&m, &l, SEQ, 0) < 0);
        cfg_loader_release(&loader);
    }
}

/* Steps ------------------------------------------------------------------------------- */

#define JOB                                                                    \
    ",'cluster':{'instance':'p5.48xlarge','count':2},"                         \
    "'training':{'sequence_length':512,'micro_batch_size':1,'microbatches':4," \
    "'precision':'bf16','attention':'flash'%s},'parallelism':{%s}}"

static double step_s(const char *model, const char *training, const char *parallelism,
                     bool unfold, struct simulate_result *r)
{
    char text[4096];
    char tail[1024];
    snprintf(tail, sizeof(tail), JOB, training, parallelism);
    snprintf(text, sizeof(text), "{'model':%s%s", model, tail);
    return job_text_step_s(text, unfold, r);
}

/* Every way to split such a model: one rank of each kind represents all. */
static void test_folded(void)
{
    static const char *const splits[] = {
        "'library':'megatron','tensor':2,'sequence_parallel':true,'pipeline':2",
        "'library':'fsdp','sharding':{'strategy':'full'}",
        "'library':'deepspeed','sharding':{'strategy':'full'}",
        "'library':'ddp'",
    };
    static const char *const trainings[] = {
        "", ",'activation_checkpointing':'full'",
        ",'lora':{'rank':16,'target_modules':['all-linear']}"
    };
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++)
        for (int k = 0; k < SMALLS; k++) {
            const char *training = trainings[(i + (size_t)k) % 3];
            struct simulate_result folded, unfolded;
            double a = step_s(small[k], training, splits[i], false, &folded),
                   b = step_s(small[k], training, splits[i], true, &unfolded);
            CU_ASSERT(job_near(a, b, 1e-9));
            CU_ASSERT(a > 0);
        }
}

/* The same of sparse attention with its indexer: two nodes, four microbatches, experts in
 * groups, dense layers first. */
static void test_sparse_folded(void)
{
    static const char model[] =
        "{'model_type':'deepseek_v32','hidden_size':1024,'num_hidden_layers':4,"
        "'num_attention_heads':16,'vocab_size':4096,'intermediate_size':4096,"
        "'moe_intermediate_size':512,'n_routed_experts':16,'num_experts_per_tok':4,"
        "'n_shared_experts':1,'first_k_dense_replace':2,'q_lora_rank':256,"
        "'kv_lora_rank':128,'qk_nope_head_dim':64,'qk_rope_head_dim':32,"
        "'v_head_dim':64,'index_topk':64,'index_n_heads':8,'index_head_dim':32}";
    static const struct {
        const char *training, *split;
    } cases[] = {
        { "", "'library':'megatron','pipeline':2,'expert':8" },
        { "", "'library':'megatron','expert':4,'sharding':{'strategy':'optimizer'}" },
        { ",'activation_checkpointing':'full'",
          "'library':'megatron','pipeline':4,'expert':2" },
        { "", "'library':'fsdp','sharding':{'strategy':'full'}" },
        { ",'activation_checkpointing':'full'",
          "'library':'deepspeed','sharding':{'strategy':'full'}" },
        { ",'lora':{'rank':16,'target_modules':['all-linear']}",
          "'library':'fsdp','sharding':{'strategy':'full'}" },
        { "", "'library':'ddp'" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simulate_result folded, unfolded;
        double a = step_s(model, cases[i].training, cases[i].split, false, &folded),
               b = step_s(model, cases[i].training, cases[i].split, true, &unfolded);
        CU_ASSERT(a > 0);
        if (!job_near(a, b, 1e-9))
            printf("%s: %.12g folded, %.12g unfolded\n", cases[i].split, a, b);
        CU_ASSERT(job_near(a, b, 1e-9));
        CU_ASSERT_EQUAL(folded.memory.peak_B, unfolded.memory.peak_B);
    }
}

/* Where adapters replace full training, memory and time go down, and full recomputation
 * takes longer. */
static void test_orders(void)
{
    for (int k = 0; k < SMALLS; k++) {
        const char *ddp = "'library':'ddp'";
        struct simulate_result whole, again, adapted;
        double a = step_s(small[k], "", ddp, false, &whole),
               b = step_s(small[k], ",'activation_checkpointing':'full'", ddp, false,
                          &again);
        step_s(small[k],
               ",'lora':{'rank':8,'target_modules':['out_proj','in_proj',"
               "'o_proj','q_proj']}",
               ddp, false, &adapted);
        CU_ASSERT(b > a);
        CU_ASSERT(adapted.memory.peak_B < whole.memory.peak_B);
    }
}

void test_linear_register(void)
{
    CU_pSuite s = CU_add_suite("linear", NULL, NULL);
    CU_add_test(s, "published parameters", test_published);
    CU_add_test(s, "a delta rule by hand", test_delta);
    CU_add_test(s, "attention's output gate", test_gate);
    CU_add_test(s, "sparse attention by hand", test_sparse);
    CU_add_test(s, "over a tensor group", test_tensor);
    CU_add_test(s, "adapters of state mixers", test_lora);
    CU_add_test(s, "folded steps are unfolded ones", test_folded);
    CU_add_test(s, "folded steps with an indexer are unfolded ones",
                test_sparse_folded);
    CU_add_test(s, "recomputation and adapters", test_orders);
}
