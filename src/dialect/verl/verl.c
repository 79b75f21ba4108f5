#include "dialect/verl/verl.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "model/lora.h"

#include <string.h>

#define WIDE "/parallelism/"
#define MICRO "/training/micro_batch_size"

static bool without_padding(const struct value *v)
{
    return v->kind == VALUE_STRING && strcmp(v->text, "no_padding") == 0;
}

/* clang-format off */
static const struct dialect_word attentions[] = {
    { "sdpa", "sdpa" }, { "flash_attention_2", "flash_attention_2" }, { "flash_attention_3", "flash_attention_3" }, { "eager", "eager" }, { NULL, NULL },
};
static const struct dialect_word optimizers[] = { { "AdamW", "adam" }, { "Adam", "adam" }, { NULL, NULL } };
static const struct dialect_option rows[] = {
    ROW("model.partial_pretrain", "/model", .take = trainer_take_model),
    ROW("model.path", "/model", .take = trainer_take_model),
    ROW("model.enable_gradient_checkpointing", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("model.enable_activation_offload", WIDE "offload_activations", .kind = DIALECT_SWITCH),
    ROW("model.override_config.attn_implementation", "/training/attention", .kind = DIALECT_WORD, .words = attentions, .wanted = "attention that is simulated"),
    ROW("data.max_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("data.train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("ulysses_sequence_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("engine.ulysses_sequence_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("optim.clip_grad", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("optim.optimizer", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW("trainer.total_training_steps", "/training/steps", .kind = DIALECT_SIZE),
    ROW_END,
};
static const struct dialect_option adapter_rows[] = {
    ROW("model.lora_rank", "/training/lora/rank", .kind = DIALECT_SIZE),
    ROW("model.lora_alpha", "/training/lora/alpha", .kind = DIALECT_NORM),
    ROW_END,
};
static const struct dialect_option cluster_rows[] = {
    ROW("trainer.nnodes", "/cluster/count", .kind = DIALECT_SIZE),
    ROW("trainer.n_gpus_per_node", "/cluster/gpus_per_instance", .kind = DIALECT_SIZE),
    ROW_END,
};
static const struct dialect_option joint[] = {
    ROW_ACTS("model.target_modules", "/training/lora/target_modules"), ROW_ACTS("data.micro_batch_size_per_gpu", MICRO), ROW_ACTS("data.micro_batch_size", MICRO),
    ROW_ACTS("data.max_token_len_per_gpu", MICRO), ROW_ACTS("data.use_dynamic_bsz", MICRO), ROW_ACTS("engine", WIDE "library"), ROW_ACTS("model.strategy", WIDE "library"), ROW_ACTS("engine.strategy", WIDE "library"),
    ROW_ACTS("model.fsdp_config.model_dtype", "/training/master_weights"), ROW_ACTS("engine.model_dtype", "/training/master_weights"), ROW_ACTS("engine.dtype", "/training/precision"),
    ROW_ACTS("model.fsdp_config.cpu_offload", WIDE "sharding/offload"), ROW_ACTS("model.fsdp_config.offload_params", WIDE "sharding/offload"), ROW_ACTS("engine.offload_policy", WIDE "sharding/offload"),
    ROW_ACTS("engine.reshard_after_forward", WIDE "sharding/strategy"), ROW_ACTS("engine.fsdp_size", WIDE "sharding/degree"),
    ROW("data.pad_mode", NULL, .class = DIALECT_UNSIMULATED, .off = without_padding),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("model.use_liger"), ROW_UNSIMULATED("model.use_fused_kernels"), ROW_UNSIMULATED("model.tiled_mlp.enabled"), ROW_UNSIMULATED("model.exclude_modules"),
    ROW_UNSIMULATED("model.lora_adapter_path"), ROW_UNSIMULATED("model.fsdp_config.wrap_policy.min_num_params"), ROW_UNSIMULATED("engine.param_offload"), ROW_UNSIMULATED("engine.optimizer_offload"),
    ROW_UNSIMULATED("engine.use_torch_compile"), ROW_UNSIMULATED("engine.forward_prefetch"), ROW_UNSIMULATED("engine.entropy_*"), ROW_UNSIMULATED("data.balance_dp_token"), ROW_UNSIMULATED("data.custom_cls.path"),
    ROW_IDLE("data.*"), ROW_IDLE("model.*"), ROW_IDLE("optim*"), ROW_IDLE("trainer.*"), ROW_IDLE("checkpoint*"), ROW_IDLE("use_remove_padding"), ROW_IDLE("engine.*"), ROW_IDLE("profiler*"), ROW_IDLE("hydra*"), ROW_IDLE("defaults"), ROW_IDLE("_target_"),
    ROW_END,
};
const struct dialect_table verl_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", adapter_rows, DIALECT_UNKNOWN_WARNED }, { "", cluster_rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Whether a word after the script sets that key: "key=...", "+key=...". */
static const struct shell_word *word_of(const struct launch_command *c, const char *key)
{
    size_t n = strlen(key);
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const char *s = c->command->words[i].text;
        s += strspn(s, "+");
        if (strncmp(s, key, n) == 0 && s[n] == '=')
            return &c->command->words[i];
    }
    return NULL;
}

/* A document of the trainer's own keys, in sections. */
static bool is_document(const struct value *root)
{
    const struct value *data = value_member(root, "data"),
                       *model = value_member(root, "model"),
                       *optim = value_member(root, "optim"),
                       *trainer = value_member(root, "trainer");
    bool ends = value_get(trainer, "total_epochs") ||
                value_get(trainer, "total_training_steps");
    return value_get(data, "train_batch_size") &&
           (value_get(model, "partial_pretrain") ||
            (value_get(model, "path") && value_get(optim, "lr") &&
             (ends || value_get(data, "train_files"))));
}

/* Its own programs, and those of others that have its words; documents. */
bool verl_recognises(const struct dialect_input *in)
{
    static const char *const programs[] = { "fsdp_sft_trainer.py", "sft_trainer.py",
                                            "sft_trainer_ray.py", NULL };
    const struct launch_command *c = in->command;
    if (in->source == DIALECT_DOCUMENT)
        return is_document(in->root);
    if (in->source != DIALECT_COMMAND || !c)
        return false;
    const char *name = launch_last_part(c->command->words[c->script].text);
    bool data = word_of(c, "data.train_files") || word_of(c, "data.train_batch_size");
    return data && (word_of(c, "model.partial_pretrain") ||
                    (word_of(c, "model.path") && names_listed(programs, name)));
}

/* What both trainers say with words of their own. */
struct verl {
    struct launch_context *t;
    const struct value *c; /* flat */
    bool engine;           /* sft_trainer.py's, with sections of engines */
};

static bool is_on(const struct verl *v, const char *pointer, const char *path,
                  bool usual)
{
    return launch_switch(v->t, pointer, launch_find(v->t, v->c, path), usual);
}

/* sft_trainer.py takes batches by tokens unless use_dynamic_bsz is false. */
static void take_batch(const struct verl *v)
{
    bool dynamic = is_on(v, MICRO, "data.use_dynamic_bsz", v->engine);
    const struct value_item *it =
                                launch_find(v->t, v->c,
                                            dynamic ? "data.max_token_len_per_gpu"
                                                    : "data.micro_batch_size_per_gpu"),
                            *all = launch_find(v->t, v->c, "data.micro_batch_size");
    int64_t n = dynamic ? 8192 : 4,
            length = launch_number(v->t, "/training/sequence_length", 0);
    launch_find(v->t, v->c, "data.micro_batch_size_per_gpu");
    launch_find(v->t, v->c, "data.max_token_len_per_gpu");
    if (it && (!launch_whole(it->value, &n) || n < 1)) {
        launch_unresolved_item(v->t, MICRO, it, "whole number of at least 1");
        return;
    }
    if (!it && all)
        launch_note(v->t->l, all->line, DIAG_ASSUMED,
                    "%s: it is not used (verl 0.5); micro_batch_size_per_gpu is",
                    all->key);
    if (dynamic && length > 0) /* workers/engine/utils.py */
        n = launch_sequences(v->t, n, length);
    if (it)
        launch_set(v->t, MICRO, json_integer((json_int_t)n), it);
    else
        launch_assume(v->t, MICRO, json_integer((json_int_t)n),
                      dynamic ? "max_token_len_per_gpu's default of 8192"
                              : "micro_batch_size_per_gpu's default");
    launch_note(v->t->l, it ? it->line : v->t->l->line, DIAG_ASSUMED,
                "data: each sequence is taken to be of the full length (give --set "
                "/training/sequence_length=N for a shorter mean)");
}

/* Parameters, and so Adam's states, are of model_dtype; products in bf16, gradients
 * reduced in fp32. */
static void take_precision(const struct verl *v)
{
    const char *at = v->engine ? "engine.model_dtype" : "model.fsdp_config.model_dtype";
    const struct value_item *held = launch_find(v->t, v->c, at),
                            *dtype = launch_find(v->t, v->c, "engine.dtype");
    const char *own = launch_word(v->c, at, "fp32"),
               *word = launch_word(v->c, "engine.dtype", "bfloat16");
    if (dtype && strcmp(word, "bfloat16") != 0 && strcmp(word, "bf16") != 0) {
        launch_unresolved_item(v->t, "/training/precision", dtype, "bfloat16");
        return;
    }
    launch_assume(v->t, "/training/precision", json_string("bf16"),
                  "verl's param_dtype");
    launch_assume(v->t, "/training/gradient_dtype", json_string("fp32"),
                  "verl's reduce_dtype");
    if (strcmp(own, "bf16") == 0 || strcmp(own, "bfloat16") == 0)
        launch_set(v->t, "/training/master_weights", json_false(), held);
}

static void take_sharding(const struct verl *v)
{
    const struct value_item *size = launch_find(v->t, v->c, "engine.fsdp_size"),
                            *again =
                                launch_find(v->t, v->c, "engine.reshard_after_forward");
    bool moved = v->engine
                     ? is_on(v, WIDE "sharding/offload", "engine.offload_policy", false)
                     : is_on(v, WIDE "sharding/offload",
                             "model.fsdp_config.cpu_offload", false) &&
                           is_on(v, WIDE "sharding/offload",
                                 "model.fsdp_config.offload_params", false);
    bool kept = again && !launch_true(again->value);
    int64_t n = -1;
    launch_find(v->t, v->c, "model.strategy");
    launch_find(v->t, v->c, "engine.strategy");
    launch_assume(v->t, WIDE "library", json_string("fsdp"), "verl's FSDP");
    launch_assume(v->t, WIDE "sharding/strategy",
                  json_string(kept ? "gradients" : "full"),
                  kept ? again->key : "verl's FSDP");
    if (size && !launch_whole(size->value, &n))
        launch_unresolved_item(v->t, WIDE "sharding/degree", size, "whole number");
    else if (size && n > 0)
        launch_set(v->t, WIDE "sharding/degree", json_integer((json_int_t)n), size);
    if (moved)
        launch_assume(v->t, WIDE "sharding/offload", json_string("parameters"),
                      v->engine ? "offload_policy" : "offload_params");
    if (launch_has(v->t, WIDE "context"))
        launch_assume(v->t, WIDE "context_comm", json_string("alltoall"), "Ulysses");
}

static void take_adapters(const struct verl *v)
{
    static const char at[] = "/training/lora/target_modules";
    const struct value_item *rank = value_get(v->c, "model.lora_rank"),
                            *to = launch_find(v->t, v->c, "model.target_modules");
    if (!rank || launch_is_off(rank->value))
        return;
    launch_take_rows(v->t, adapter_rows, v->c);
    const char *held = launch_word(
        v->c, v->engine ? "engine.model_dtype" : "model.fsdp_config.model_dtype",
        "fp32");
    if (strcmp(held, "fp32") == 0)
        launch_note(
            v->t->l, rank->line, DIAG_APPROXIMATE,
            "%s: verl keeps the frozen weights in fp32 (model_dtype); 16 bits are "
            "simulated",
            rank->key);
    launch_assume(v->t, "/training/lora/alpha", json_real(16), "lora_alpha's default");
    if (to)
        launch_set(v->t, at, peft_modules(v->t, at, to, lora_target_of), to);
    launch_assume(v->t, at, json_string("all-linear"), "target_modules' default");
}

static void take_defaults(struct launch_context *t)
{
    launch_assume(t, "/training/optimizer", json_string("adam"), "verl's AdamW");
    launch_assume(t, "/training/sequence_length", json_integer(1024),
                  "max_length's default");
    launch_assume(t, "/training/global_batch_size", json_integer(256),
                  "train_batch_size' default");
    launch_assume(t, "/training/activation_checkpointing", json_string("full"),
                  "enable_gradient_checkpointing's default");
    launch_assume(t, "/training/gradient_clipping", json_real(1),
                  "clip_grad's default");
    launch_assume(t, "/training/attention", json_string("flash_attention_2"), "verl's");
    launch_assume(t, "/training/task", json_string("causal-lm"), "verl's trainer");
}

/* sft_trainer_ray.py starts its ranks itself (verl 0.6, trainer/config,
 * sft_trainer_engine.yaml); torchrun starts the others'. */
static void take_cluster(struct launch_context *t, const struct value *flat,
                         const char *program)
{
    static const char *const usual[] = { "1", "8" };
    if (strcmp(program, "sft_trainer_ray.py") != 0)
        return;
    for (int i = 0; cluster_rows[i].name; i++) {
        const struct dialect_option *row = &cluster_rows[i];
        const struct value_item *it = launch_find(t, flat, row->name);
        struct value v = { .kind = VALUE_STRING, .line = t->l->line, .text = usual[i] };
        const struct value_item own = {
            arena_printf(t->arena, "%s' default", row->name), v.line, &v
        };
        launch_forget(t, row->pointer);
        json_object_del(json_object_get(t->tree, "cluster"),
                        strrchr(row->pointer, '/') + 1);
        dialect_take(t, row, it ? it : &own);
    }
}

static bool refuse_engine(struct launch_context *t, const char *key, const char *value,
                          int64_t line)
{
    if (strncmp(value, "fsdp", 4) == 0)
        return false;
    diags_add(&t->l->loader->diags, launch_diag(t->l, DIAG_NOT_SIMULATED, line, 0),
              "%s=%.40s: verl's engines but FSDP are not read", key, value);
    return true;
}

static bool is_megatron(struct launch_context *t, const struct launch_command *c)
{
    static const char *const keys[] = { "engine", "model_engine", NULL };
    for (const char *const *k = keys; *k; k++) {
        const struct shell_word *w = word_of(c, *k);
        if (w && refuse_engine(t, *k, strchr(w->text, '=') + 1, w->line))
            return true;
    }
    return false;
}

/* The keys of all, by their paths, of a command's words over nothing, or a document's;
 * NULL after refusing the engine. */
static const struct value *keys_of(struct launch_context *t,
                                   const struct dialect_input *in)
{
    static const char *const keys[] = { "engine", "model_engine", "engine.strategy" };
    const struct launch_command *c = in->command;
    struct value *root = c ? value_new(t->arena, VALUE_DICT, c->command->line, 0)
                           : (struct value *)(uintptr_t)in->root;
    if (c && is_megatron(t, c))
        return NULL;
    if (c) {
        launch_take_overrides(t->arena, root, c);
        launch_interpolate(t->l, root);
    }
    const struct value *flat = launch_flatten(t->arena, root);
    for (size_t i = 0; !c && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct value_item *it = value_get(flat, keys[i]);
        if (it && it->value->kind == VALUE_STRING &&
            refuse_engine(t, keys[i], it->value->text, it->line))
            return NULL;
    }
    return flat;
}

void verl_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    t->l->title = "verl's supervised fine-tuning";
    t->l->line = c ? c->command->line : 1;
    if (!c)
        t->l->what = "the configuration";
    const struct value *flat = keys_of(t, in);
    if (!flat)
        return;
    const struct verl v = { t, flat, value_get(flat, "model.path") != NULL };
    launch_take_rows(t, rows, flat);
    if (c)
        take_cluster(t, flat, launch_last_part(c->command->words[c->script].text));
    else
        launch_take_rows(t, cluster_rows, flat);
    take_defaults(t);
    take_adapters(&v);
    take_batch(&v);
    take_precision(&v);
    take_sharding(&v);
    if (v.engine) /* verl/utils/torch_functional.py, logprobs_from_logits */
        launch_assume(t, "/training/cast_logits", json_false(),
                      "flash-attn's cross-entropy, verl's");
    dialect_report(t, verl_tables, "", flat,
                   (struct dialect_place) { t->l->line, "", "", true });
}
