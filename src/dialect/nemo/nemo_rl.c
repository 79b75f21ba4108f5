/* NeMo-RL's configurations of supervised fine-tuning and DPO (NVIDIA-NeMo/RL of 2026-08,
 * examples/configs/sft.yaml and dpo.yaml): under Megatron-Core in its words, under DTensor as
 * torch's FSDP2. Sources: nemo_rl/models/automodel/setup.py (weights are loaded in fp32,
 * reduced in fp32), nemo_rl/models/megatron/setup.py (recomputation). */
#include "base/names.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define POLICY "policy."
#define TENSOR POLICY "dtensor_cfg."
#define MEGATRON POLICY "megatron_cfg."
#define WIDE "/parallelism/"
#define MICRO "/training/micro_batch_size"

static bool is_empty(const struct value *v)
{
    return v->kind == VALUE_LIST && v->n == 0;
}

/* clang-format off */
static const struct dialect_word optimizers[] = {
    { "torch.optim.AdamW", "adamw" }, { "torch.optim.Adam", "adam" }, { "transformer_engine.pytorch.optimizers.fused_adam.FusedAdam", "adamw" }, { "torch.optim.SGD", "sgd" }, { NULL, NULL },
};
static const struct dialect_option rows[] = {
    ROW("cluster.num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("cluster.gpus_per_node", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW("sft.max_num_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("dpo.max_num_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW(POLICY "model_name", "/model", .take = trainer_take_model),
    ROW(POLICY "train_global_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW(POLICY "max_total_sequence_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW(POLICY "max_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW(POLICY "optimizer.name", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW(TENSOR "tensor_parallel_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW(TENSOR "context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW(TENSOR "expert_parallel_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW(TENSOR "sequence_parallel", WIDE "sequence_parallel", .kind = DIALECT_SWITCH),
    ROW(TENSOR "activation_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW_END,
};
static const struct dialect_option adapter_rows[] = {
    ROW(TENSOR "lora_cfg.dim", "/training/lora/rank", .kind = DIALECT_SIZE),
    ROW(TENSOR "lora_cfg.alpha", "/training/lora/alpha", .kind = DIALECT_NORM),
    ROW(TENSOR "lora_cfg.dropout", "/training/lora/dropout", .kind = DIALECT_PROBABILITY),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_ACTS(POLICY "train_micro_batch_size", MICRO), ROW_ACTS(POLICY "sequence_packing.enabled", MICRO), ROW_ACTS(POLICY "sequence_packing.train_mb_tokens", MICRO),
    ROW_ACTS(POLICY "dynamic_batching.enabled", MICRO), ROW_ACTS(POLICY "dynamic_batching.train_mb_tokens", MICRO), ROW_ACTS(POLICY "precision", "/training/precision"),
    ROW_ACTS(MEGATRON "enabled", WIDE "library"), ROW_ACTS(TENSOR "enabled", WIDE "library"), ROW_ACTS(TENSOR "cpu_offload", WIDE "sharding/offload"), ROW_ACTS(TENSOR "dp_replicate_size", WIDE "sharding/degree"),
    ROW_ACTS(TENSOR "lora_cfg.enabled", "/training/lora"), ROW_ACTS(TENSOR "lora_cfg.target_modules", "/training/lora/target_modules"), ROW_ACTS(TENSOR "lora_cfg.match_all_linear", "/training/lora/target_modules"),
    ROW_ACTS("dpo", "/training/task"), ROW(TENSOR "lora_cfg.exclude_modules", NULL, .class = DIALECT_UNSIMULATED, .off = is_empty), ROW_UNSIMULATED(TENSOR "custom_parallel_plan"), ROW_UNSIMULATED(TENSOR "automodel_kwargs.*"),
    ROW_UNSIMULATED(POLICY "hf_config_overrides.*"), ROW_IDLE(MEGATRON "*"), ROW_IDLE("policy.*"), ROW_IDLE("sft.*"), ROW_IDLE("dpo.*"), ROW_IDLE("checkpointing*"), ROW_IDLE("data*"), ROW_IDLE("logger*"),
    ROW_IDLE("cluster*"), ROW_IDLE("defaults"), ROW_IDLE("env*"),
    ROW_END,
};
const struct dialect_table nemo_rl_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", adapter_rows, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* Megatron-Core's words by the sections that they are in. */
static const struct { const char *from, *to; } moved[] = {
    { "cluster.num_nodes", "trainer.num_nodes" }, { "cluster.gpus_per_node", "trainer.devices" }, { POLICY "model_name", "model.class" },
    { "sft.max_num_steps", "trainer.max_steps" }, { "dpo.max_num_steps", "trainer.max_steps" },
    { POLICY "train_global_batch_size", "train.global_batch_size" }, { POLICY "max_total_sequence_length", "model.seq_length" },
    { MEGATRON "optimizer.", "optimizer." }, { MEGATRON "distributed_data_parallel_config.", "ddp." }, { MEGATRON "peft.", "peft." },
};
/* Of its own section: what is taken otherwise, or does nothing. */
static const char *const apart[] = {
    "enabled", "activation_checkpointing", "recompute_granularity", "recompute_modules", "pipeline_dtype", "force_reconvert_from_hf", "empty_unused_memory_level", "converter_type", "moe_per_layer_logging",
    "use_gloo_process_groups", "env_vars", "checkpoint", "cuda_graph_modules", "cuda_graph_warmup_steps", "defer_fp32_logits", "fused_linear_logprobs_chunk_size", "freeze_moe_router", NULL,
};
/* clang-format on */

/* Items ------------------------------------------------------------------------------ */

static bool is_on(const struct value *c, const char *path)
{
    const struct value_item *it = value_get(c, path);
    return it && launch_true(it->value);
}

static void add_text(struct arena *arena, struct value *to, const char *key,
                     const char *text, int64_t line)
{
    value_add(arena, to, key, line, value_new_string(arena, text, line, 0));
}

/* Sequences of a microbatch: of packed ones and of dynamic batches, as many of the full
 * length as its tokens. NULL: it is not said. */
static const struct value_item *micro_of(struct launch_context *t,
                                         const struct value *c)
{
    static const char *const kinds[] = { "sequence_packing", "dynamic_batching" };
    const struct value_item *it = value_get(c, POLICY "train_micro_batch_size"),
                            *length = value_get(c, POLICY "max_total_sequence_length");
    int64_t tokens, each;
    launch_hear(t, it);
    for (int i = 0; i < 2; i++) {
        const char *on = arena_printf(t->arena, POLICY "%s.enabled", kinds[i]);
        const struct value_item *many =
            value_get(c, arena_printf(t->arena, POLICY "%s.train_mb_tokens", kinds[i]));
        launch_hear(t, value_get(c, on));
        launch_hear(t, many);
        if (!is_on(c, on) || !many || !length || !launch_whole(many->value, &tokens) ||
            !launch_whole(length->value, &each) || each < 1)
            continue;
        struct value_item *own = ARENA_NEW(t->arena, struct value_item);
        *own = *many;
        own->value = value_new(t->arena, VALUE_INT, many->line, 0);
        own->value->integer = tokens >= each ? tokens / each : 1;
        return own;
    }
    if (it)
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "each sequence is taken to be of the full length (give --set "
                    "/training/sequence_length=N for a shorter mean)");
    return it;
}

/* Megatron-Core ---------------------------------------------------------------------- */

static void add_recompute(struct arena *arena, struct value *to, const struct value *c)
{
    const struct value_item *on = value_get(c, MEGATRON "activation_checkpointing"),
                            *parts = value_get(c, MEGATRON "recompute_modules");
    const char *kind = launch_word(c, MEGATRON "recompute_granularity", "full");
    if (!on || !launch_true(on->value))
        return;
    add_text(arena, to, "model.recompute_granularity", kind, on->line);
    if (strcmp(kind, "full") == 0) {
        struct value *one = value_new(arena, VALUE_INT, on->line, 0);
        one->integer = 1;
        add_text(arena, to, "model.recompute_method", "uniform", on->line);
        value_add(arena, to, "model.recompute_num_layers", on->line, one);
    } else if (parts && parts->value->kind == VALUE_LIST) {
        value_add(arena, to, "model.recompute_modules", parts->line, parts->value);
    }
}

static void add_moved(struct arena *arena, struct value *to,
                      const struct value_item *it, bool adapters)
{
    for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
        size_t n = strlen(moved[i].from);
        bool section = moved[i].from[n - 1] == '.';
        if (strncmp(it->key, moved[i].from, n) != 0 || (!section && it->key[n]) ||
            (!adapters && strcmp(moved[i].to, "peft.") == 0))
            continue;
        bool empty = it->value->kind == VALUE_LIST && it->value->n == 0;
        if (!empty && !strstr(it->key, "peft.enabled"))
            value_add(arena, to,
                      arena_printf(arena, "%s%.80s", moved[i].to, it->key + n),
                      it->line, it->value);
    }
}

/* Degrees and all else of its own section, by Megatron-Core's names. */
static void add_own(struct arena *arena, struct value *to, const struct value *c)
{
    size_t n = strlen(MEGATRON);
    for (int32_t i = 0; i < c->n; i++) {
        const struct value_item *it = &c->items[i];
        if (strncmp(it->key, MEGATRON, n) == 0 && !strchr(it->key + n, '.') &&
            !names_listed(apart, it->key + n) && it->value->kind != VALUE_NONE)
            value_add(arena, to, arena_printf(arena, "model.%.80s", it->key + n),
                      it->line, it->value);
    }
}

static void read_megatron(struct launch_context *t, const struct value *c)
{
    struct value *to = value_new(t->arena, VALUE_DICT, 1, 0);
    const struct value_item *micro = micro_of(t, c);
    bool adapters = is_on(c, MEGATRON "peft.enabled");
    for (int32_t i = 0; i < c->n; i++)
        add_moved(t->arena, to, &c->items[i], adapters);
    add_own(t->arena, to, c);
    if (micro)
        value_add(t->arena, to, "train.micro_batch_size", micro->line, micro->value);
    if (adapters)
        add_text(t->arena, to, "peft.class", "lora",
                 value_get(c, MEGATRON "peft.enabled")->line);
    add_recompute(t->arena, to, c);
    add_text(t->arena, to, "mixed_precision.precision", "bf16-mixed", 1);
    if (is_on(c, MEGATRON "fp8_cfg.enabled"))
        launch_add_unresolved(t, "/training/precision", 1,
                              "%sfp8_cfg.enabled: which products are in 8 bits is not "
                              "read",
                              MEGATRON);
    core_read(t, to, "NeMo-RL's configuration of Megatron-Core");
}

/* DTensor ---------------------------------------------------------------------------- */

/* The GPUs that share a model's states, by counts that a file may have beyond all bounds;
 * 0: they are not known. */
static int64_t sharing_ranks(const struct launch_context *t)
{
    int64_t ranks, split;
    bool beyond = __builtin_mul_overflow(
                      launch_number(t, "/cluster/count", 1),
                      launch_number(t, "/cluster/gpus_per_instance", 1), &ranks) ||
                  __builtin_mul_overflow(launch_number(t, WIDE "tensor", 1),
                                         launch_number(t, WIDE "context", 1), &split);
    return beyond || split < 1 ? 0 : ranks / split;
}

static void take_sharding(struct launch_context *t, const struct value *c)
{
    const struct value_item *copies = value_get(c, TENSOR "dp_replicate_size"),
                            *moves = value_get(c, TENSOR "cpu_offload");
    int64_t ranks = sharing_ranks(t), n = 1;
    launch_assume(t, WIDE "library", json_string("fsdp"), "NeMo-RL's DTensor");
    launch_assume(t, WIDE "sharding/strategy", json_string("full"),
                  "NeMo-RL's DTensor");
    if (copies && launch_whole(copies->value, &n) && n > 1 && ranks > 0 &&
        ranks % n == 0)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)(ranks / n)),
                   copies);
    if (moves && launch_true(moves->value))
        launch_set(t, WIDE "sharding/offload", json_string("parameters"), moves);
    launch_hear(t, copies);
    launch_hear(t, moves);
}

static void take_adapters(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/lora/target_modules";
    const struct value_item *to = value_get(c, TENSOR "lora_cfg.target_modules");
    if (!is_on(c, TENSOR "lora_cfg.enabled"))
        return;
    launch_take_rows(t, adapter_rows, c);
    launch_note(t->l, t->l->line, DIAG_APPROXIMATE,
                TENSOR
                "lora_cfg: NeMo-RL keeps the frozen weights in fp32; 16 bits are "
                "simulated");
    if (to && to->value->kind == VALUE_LIST && to->value->n &&
        !is_on(c, TENSOR "lora_cfg.match_all_linear"))
        launch_set(t, at, launch_json(t, to->value, at), to);
    launch_assume(t, at, json_string("all-linear"), "match_all_linear");
}

static void read_tensor(struct launch_context *t, const struct value *c)
{
    static const struct dialect_option micro_row =
        ROW(POLICY "train_micro_batch_size", MICRO, .kind = DIALECT_SIZE);
    bool packs = is_on(c, POLICY "sequence_packing.enabled");
    launch_take_rows(t, rows, c);
    const struct value_item *micro = micro_of(t, c);
    if (micro)
        dialect_take_as(t, &micro_row, micro, DIALECT_SIZE);
    take_sharding(t, c);
    take_adapters(t, c);
    launch_assume(t, "/training/gradient_dtype", json_string("fp32"), "reduce_dtype");
    launch_assume(t, "/training/activation_checkpointing", json_string("none"),
                  "activation_checkpointing");
    if (packs)
        launch_assume(t, "/training/attention", json_string("flash_attention_2"),
                      "packed sequences");
}

/* Both ------------------------------------------------------------------------------- */

static void take_precision(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = value_get(c, POLICY "precision");
    const char *word = launch_word(c, POLICY "precision", "bfloat16");
    launch_hear(t, it);
    if (strcmp(word, "bfloat16") == 0)
        launch_assume(t, at, json_string("bf16"), "precision, weights in fp32");
    else if (strcmp(word, "float32") == 0)
        launch_assume(t, at, json_string("fp32"), "precision");
    else
        launch_unresolved_item(t, at, it, "bfloat16 or float32");
}

bool nemo_rl_recognises(const struct value *root)
{
    const struct value *policy = value_member(root, "policy");
    return value_get(policy, "model_name") &&
           (value_get(root, "sft") || value_get(root, "dpo")) &&
           (value_get(policy, "train_global_batch_size") ||
            value_get(policy, "dtensor_cfg") || value_get(policy, "megatron_cfg"));
}

void nemo_rl_read(struct launch_context *t, const struct value *root)
{
    const struct value *c = launch_flatten(t->arena, root);
    const struct value_item *dpo = value_get(root, "dpo");
    launch_config_title(t, "NeMo-RL's configuration");
    if (dpo)
        trainer_take_method(t, dpo, "dpo");
    if (is_on(c, MEGATRON "enabled")) {
        read_megatron(t, c);
        return;
    }
    take_precision(t, c);
    read_tensor(t, c);
    launch_assume(t, "/training/task", json_string("causal-lm"), "NeMo-RL's SFT");
    dialect_report(t, nemo_rl_tables, "", c,
                   (struct dialect_place) { 1, "", "", true });
}
