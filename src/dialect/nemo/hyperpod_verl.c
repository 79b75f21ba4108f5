/* Recipes of SageMaker HyperPod that tune by verl's own trainer of supervised
 * fine-tuning, under FSDP2 (aws/sagemaker-hyperpod-recipes v2.1, verl-sft-*, verl-dpo-*;
 * verl 0.7, workers/config/engine.py, workers/engine/fsdp/transformer_impl.py). */
#include "dialect/launch/launch_shell.h"
#include "dialect/nemo/nemo.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "model/lora.h"

#include <inttypes.h>
#include <string.h>

#define DATA "training_config.data."
#define MODEL "training_config.model."
#define ENGINE "training_config.engine."
#define WIDE "/parallelism/"

static bool without_padding(const struct value *v)
{
    return v->kind == VALUE_STRING && strcmp(v->text, "no_padding") == 0;
}

/* clang-format off */
static const struct dialect_word optimizers[] = { { "AdamW", "adam" }, { "Adam", "adam" }, { "adam", "adam" }, { NULL, NULL } };
static const struct dialect_option rows[] = {
    ROW("trainer.num_nodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("trainer.devices", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW("training_config.trainer.nnodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("training_config.trainer.n_gpus_per_node", "/cluster/gpus_per_instance", .kind = DIALECT_POSITIVE),
    ROW(MODEL "path", "/model", .take = trainer_take_model),
    ROW(MODEL "override_config.attn_implementation", "/training/attention", .take = trainer_take_attention),
    ROW(MODEL "enable_gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW(MODEL "enable_activation_offload", WIDE "offload_activations", .kind = DIALECT_SWITCH),
    ROW(DATA "max_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW(DATA "train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW(ENGINE "ulysses_sequence_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("training_config.optim.clip_grad", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("training_config.optim.optimizer", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW_END,
};
static const struct dialect_option adapter_rows[] = {
    ROW(MODEL "lora_rank", "/training/lora/rank", .kind = DIALECT_SIZE),
    ROW(MODEL "lora_alpha", "/training/lora/alpha", .kind = DIALECT_NORM),
    ROW(MODEL "lora_dropout", "/training/lora/dropout", .kind = DIALECT_PROBABILITY),
    ROW_END,
};
static const struct dialect_option joint[] = {
    ROW_ACTS(MODEL "target_modules", "/training/lora/target_modules"), ROW_ACTS(DATA "micro_batch_size_per_gpu", "/training/micro_batch_size"),
    ROW_ACTS(DATA "max_token_len_per_gpu", "/training/micro_batch_size"), ROW_ACTS(DATA "use_dynamic_bsz", "/training/micro_batch_size"), ROW(DATA "pad_mode", NULL, .class = DIALECT_UNSIMULATED, .off = without_padding),
    ROW_ACTS(ENGINE "_target_", WIDE "library"), ROW_ACTS(ENGINE "strategy", WIDE "library"), ROW_ACTS(ENGINE "dtype", "/training/precision"), ROW_ACTS(ENGINE "model_dtype", "/training/master_weights"),
    ROW_ACTS(ENGINE "reshard_after_forward", WIDE "sharding/strategy"), ROW_ACTS(ENGINE "fsdp_size", WIDE "sharding/degree"), ROW_ACTS(ENGINE "offload_policy", WIDE "sharding/offload"),
    ROW_ACTS(DATA "_target_", "/training/task"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED(MODEL "use_liger"), ROW_UNSIMULATED(MODEL "use_fused_kernels"), ROW_UNSIMULATED(MODEL "tiled_mlp.enabled"), ROW_UNSIMULATED(MODEL "exclude_modules"),
    ROW_UNSIMULATED(MODEL "target_parameters"), ROW_UNSIMULATED(ENGINE "param_offload"), ROW_UNSIMULATED(ENGINE "optimizer_offload"), ROW_UNSIMULATED(ENGINE "use_torch_compile"),
    ROW_UNSIMULATED(ENGINE "forward_prefetch"), ROW_UNSIMULATED(ENGINE "entropy_checkpointing"), ROW_UNSIMULATED(ENGINE "entropy_from_logits_with_chunking"), ROW_UNSIMULATED(ENGINE "full_determinism"),
    ROW_UNSIMULATED(ENGINE "wrap_policy.min_num_params"), ROW_UNSIMULATED("training_config.profiler.enable"), ROW_UNSIMULATED("training_config.optim.override_optimizer_config*"),
    ROW_UNSIMULATED(DATA "custom_cls.path"), ROW_IDLE("training_config.*"), ROW_IDLE("run.*"), ROW_ACTS("instance_type", "/cluster/instance"), ROW_IDLE("instance_types"), ROW_IDLE("display_name"), ROW_IDLE("version"), ROW_IDLE("trainer.*"),
    ROW_IDLE("scale_config.*"), ROW_IDLE("elastic_policy.*"), ROW_IDLE("hydra*"), ROW_IDLE("defaults"), ROW_IDLE("env_vars*"), ROW_IDLE("cluster*"), ROW_IDLE("container*"), ROW_IDLE("git*"),
    ROW_END,
};
const struct dialect_table hyperpod_verl_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", adapter_rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

static bool is_on(struct launch_context *t, const struct value *c, const char *path)
{
    return launch_switch(t, "/training/micro_batch_size", launch_find(t, c, path),
                         false);
}

/* Batches by tokens: as many sequences (or pairs of them) of the full length as fit into a
 * microbatch, and as a rank has. */
static void take_batch(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/micro_batch_size";
    bool dynamic = is_on(t, c, DATA "use_dynamic_bsz");
    const struct value_item *it = launch_find(
        t, c, dynamic ? DATA "max_token_len_per_gpu" : DATA "micro_batch_size_per_gpu");
    int64_t each = strstr(launch_word(c, DATA "_target_", ""), "dpo") ? 2 : 1,
            length = launch_number(t, "/training/sequence_length", 0), n = 0;
    if (!it || length < 1 || !launch_whole(it->value, &n) || n < 1) {
        launch_add_unresolved(t, at, it ? it->line : 1,
                              "%s: it is no whole number of at least 1",
                              it ? it->key : DATA "micro_batch_size_per_gpu");
        return;
    }
    if (dynamic)
        n = launch_sequences(t, n / each, length);
    launch_set(t, at, json_integer((json_int_t)n), it);
    launch_note(t->l, it->line, DIAG_ASSUMED,
                "%s: each sequence is taken to be of the full length (give --set "
                "/training/sequence_length=N for a shorter mean)",
                it->key);
}

/* Parameters, and so Adam's states, are of model_dtype; fp32 without one. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = launch_find(t, c, ENGINE "dtype"),
                            *held = launch_find(t, c, ENGINE "model_dtype");
    const char *word = launch_word(c, ENGINE "dtype", "bfloat16"),
               *own = launch_word(c, ENGINE "model_dtype", held ? "" : "fp32");
    bool half = strcmp(word, "bfloat16") == 0 || strcmp(word, "bf16") == 0;
    if (!half) {
        launch_unresolved_item(t, "/training/precision", it, "bfloat16");
        return;
    }
    if (it)
        launch_set(t, "/training/precision", json_string("bf16"), it);
    else
        launch_assume(t, "/training/precision", json_string("bf16"), "dtype's default");
    launch_assume(t, "/training/gradient_dtype", json_string("fp32"),
                  "verl's reduce_dtype");
    bool whole = strcmp(own, "fp32") == 0 || strcmp(own, "float32") == 0,
         alike = strcmp(own, "bf16") == 0 || strcmp(own, "bfloat16") == 0;
    if (held && held->value->kind != VALUE_NONE && !whole && !alike)
        launch_unresolved_item(t, "/training/master_weights", held,
                               "type of these (bf16, fp32)");
    if (!alike)
        return;
    launch_set(t, "/training/master_weights", json_false(), held);
}

static void take_sharding(struct launch_context *t, const struct value *c)
{
    const struct value_item *again = launch_find(t, c, ENGINE "reshard_after_forward"),
                            *size = launch_find(t, c, ENGINE "fsdp_size"),
                            *how = launch_find(t, c, ENGINE "strategy"),
                            *moved = launch_find(t, c, ENGINE "offload_policy");
    int64_t n = -1;
    launch_find(t, c, ENGINE "_target_");
    if (how)
        launch_set(t, WIDE "library", json_string("fsdp"), how);
    launch_assume(t, WIDE "library", json_string("fsdp"), "verl's FSDP");
    bool kept = !launch_switch(t, WIDE "sharding/strategy", again, true);
    if (again && !launch_is_unresolved(t, WIDE "sharding/strategy"))
        launch_set(t, WIDE "sharding/strategy",
                   json_string(kept ? "gradients" : "full"), again);
    launch_assume(t, WIDE "sharding/strategy", json_string("full"),
                  "reshard_after_forward's default");
    if (size && !launch_whole(size->value, &n))
        launch_unresolved_item(t, WIDE "sharding/degree", size, "whole number");
    else if (size && n > 0)
        launch_set(t, WIDE "sharding/degree", json_integer((json_int_t)n), size);
    if (launch_switch(t, WIDE "sharding/offload", moved, false))
        launch_set(t, WIDE "sharding/offload", json_string("parameters"), moved);
    if (launch_has(t, WIDE "context"))
        launch_assume(t, WIDE "context_comm", json_string("alltoall"), "Ulysses");
}

static void take_adapters(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/lora/target_modules";
    const struct value_item *rank = value_get(c, MODEL "lora_rank"),
                            *to = launch_find(t, c, MODEL "target_modules");
    if (!rank || launch_is_off(rank->value))
        return;
    launch_take_rows(t, adapter_rows, c);
    launch_assume(t, WIDE "sharding/adapter_units", json_false(), "verl's FSDP2");
    if (to)
        launch_set(t, at, peft_modules(t, at, to, lora_target_of), to);
}

bool hyperpod_is_verl(const struct value *flat)
{
    return value_get(flat, ENGINE "_target_") &&
           value_get(flat, DATA "train_batch_size");
}

void hyperpod_verl_read(struct launch_context *t, const struct value *c)
{
    const struct value_item *engine = value_get(c, ENGINE "_target_"),
                            *data = launch_find(t, c, DATA "_target_");
    if (!strstr(launch_word(c, ENGINE "_target_", ""), "FSDP")) {
        diags_add(&t->l->loader->diags,
                  launch_diag(t->l, DIAG_NOT_SIMULATED, engine->line, 0),
                  "%s: verl's engine of Megatron is not read (recipes of FSDP are)",
                  engine->key);
        return;
    }
    t->converts = true;
    launch_take_rows(t, rows, c);
    take_adapters(t, c);
    take_batch(t, c);
    take_precision(t, c);
    take_sharding(t, c);
    launch_assume(t, "/training/activation_checkpointing", json_string("none"),
                  "enable_gradient_checkpointing");
    launch_assume(t, "/training/attention", json_string("flash_attention_2"),
                  "verl's default");
    launch_assume(t, "/training/cast_logits", json_false(),
                  "flash-attn's cross-entropy, verl's");
    if (data && strstr(launch_word(c, DATA "_target_", ""), "dpo"))
        trainer_take_method(t, data, "dpo");
    launch_assume(t, "/training/task", json_string("causal-lm"), "the recipe's model");
    dialect_report(t, hyperpod_verl_tables, "", c,
                   (struct dialect_place) { 1, "", "", true });
}
