#include "dialect/llmfoundry/llmfoundry.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* "24800ba" are updates, "2ep" epochs; tokens and samples become updates. */
static void take_duration(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    char *end = NULL;
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : NULL;
    int64_t n = it->value->kind == VALUE_INT ? it->value->integer : 0,
            batch = launch_number(t, "/training/global_batch_size", 0),
            length = launch_number(t, "/training/sequence_length", 0);
    double x = text ? strtod(text, &end) : 0;
    const char *unit = text ? end : "ep";
    if (text && x > 0 && x < 1e15)
        n = (int64_t)x;
    if (n > 0 && strcmp(unit, "ep") == 0)
        launch_set(t, "/training/epochs", json_integer((json_int_t)n), it);
    else if (n > 0 && strcmp(unit, "ba") == 0)
        launch_set(t, row->pointer, json_integer((json_int_t)n), it);
    else if (n > 0 && batch > 0 && strcmp(unit, "sp") == 0)
        launch_set(t, row->pointer, json_integer((json_int_t)(n + batch - 1) / batch),
                   it);
    else if (n > 0 && batch > 0 && length > 0 && strcmp(unit, "tok") == 0)
        launch_set(t, row->pointer,
                   json_integer((json_int_t)(n - 1) / length / batch + 1), it);
    else
        launch_leave_out(t, it, "number of ba, ep, sp or tok");
}

static const struct dialect_word optimizers[] = {
    { "decoupled_adamw", "adam" },
    { "adamw", "adam" },
    { "adam", "adam" },
    { "decoupled_sgdw", "sgd" },
    { "decoupled_lionw", "lion" },
    { "lionw", "lion" },
    { "lion", "lion" },
    { "clip_lion", "lion" },
    { "adalr_lion", "lion" },
    { "sgd", "sgd" },
    { "decoupled_adamw_8b", "adam8bit" },
    { NULL, NULL },
};

/* Composer begins with the whole batch of a GPU, and halves it when memory is short. */
static void take_microbatch(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it)
{
    if (it->value->kind == VALUE_STRING && strcmp(it->value->text, "auto") == 0)
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "%s: \"auto\" is all of a GPU's batch at once; Composer halves it "
                    "until it fits (give --set %s=N)",
                    it->key, row->pointer);
    else
        dialect_take_as(t, row, it, DIALECT_SIZE);
}

static void take_clipping(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it)
{
    dialect_take_as(t, row, it, DIALECT_NORM);
}

/* Norms alone are simulated. */
static void take_clipping_type(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it)
{
    if (it->value->kind != VALUE_STRING || strcmp(it->value->text, "norm") != 0)
        launch_unresolved_item(t, row->pointer, it,
                               "clipping that is simulated (norm)");
}

static bool off_none(const struct value *v)
{
    return launch_is_off(v) ||
           (v->kind == VALUE_STRING && strcmp(v->text, "none") == 0);
}

/* clang-format off */
#define EVALUATES "it evaluates models, which is not simulated (give a configuration with train_loader)"
static const struct dialect_option rows[] = {
    ROW("train_loader.dataset.max_seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("global_train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("device_train_microbatch_size", "/training/micro_batch_size", .take = take_microbatch),
    ROW("max_duration", "/training/steps", .take = take_duration),
    ROW("optimizer.name", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW("algorithms.gradient_clipping.clipping_type", "/training/gradient_clipping", .take = take_clipping_type),
    ROW("algorithms.gradient_clipping.clipping_threshold", "/training/gradient_clipping", .take = take_clipping),
    ROW_END,
};
/* Read together with others. */
#define CKPT "/training/activation_checkpointing"
static const struct dialect_option joint[] = {
    ROW_ACTS("model.name", "/model"), ROW_ACTS("model.pretrained_model_name_or_path", "/model"), ROW_ACTS("model.pretrained_model_name", "/model"),
    ROW_ACTS("model.d_model", "/model"), ROW_ACTS("model.n_heads", "/model"), ROW_ACTS("model.n_layers", "/model"), ROW_ACTS("model.expansion_ratio", "/model"),
    ROW_ACTS("model.mlp_ratio", "/model"), ROW_ACTS("model.vocab_size", "/model"), ROW_ACTS("model.no_bias", "/model"), ROW_ACTS("model.resid_pdrop", "/model"),
    ROW_ACTS("model.learned_pos_emb", "/model"), ROW_ACTS("model.tie_word_embeddings", "/model"), ROW_ACTS("model.head_dim", "/model"),
    ROW_ACTS("model.attn_pdrop", "/model"), ROW_ACTS("model.alibi", "/model"), ROW_ACTS("model.ffn_config.ffn_type", "/model"),
    ROW_ACTS("model.ffn_config.ffn_hidden_size", "/model"), ROW_ACTS("model.attn_config.alibi", "/model"), ROW_ACTS("model.attn_config.rope", "/model"),
    ROW_ACTS("model.attn_config.kv_n_heads", "/model"), ROW_ACTS("model.attn_config.attn_type", "/model"), ROW_ACTS("model.attn_config.attn_pdrop", "/model"),
    ROW_ACTS("model.attn_config.attn_impl", "/training/attention"), ROW_ACTS("model.attn_impl", "/training/attention"),
    ROW_ACTS("model.attn_implementation", "/training/attention"), ROW_ACTS("model.use_flash_attention_2", "/training/attention"), ROW_ACTS("model.attention_patch_type", "/training/attention"),
    ROW_ACTS("model.config_overrides.attn_config.attn_impl", "/training/attention"), ROW_ACTS("model.fc_type", "/training/precision"),
    ROW_ACTS("model.config_overrides.*", "/model"), ROW_ACTS("model.model_config.*", "/model"), ROW_ACTS("model.num_labels", "/training/task"),
    ROW_ACTS("model.peft_config.r", "/training/lora"), ROW_ACTS("model.peft_config.lora_alpha", "/training/lora"), ROW_ACTS("model.peft_config.lora_dropout", "/training/lora"),
    ROW_ACTS("model.peft_config.target_modules", "/training/lora"), ROW_ACTS("model.peft_config.modules_to_save", "/training/lora"), ROW_ACTS("model.peft_config.peft_type", "/training/lora"),
    ROW_ACTS("model.lora.args.r", "/training/lora"), ROW_ACTS("model.lora.args.lora_alpha", "/training/lora"), ROW_ACTS("model.lora.args.lora_dropout", "/training/lora"),
    ROW_ACTS("model.lora.args.target_modules", "/training/lora"), ROW_ACTS("model.max_seq_len", "/model"),
 ROW_ACTS("model.master_weights_dtype", "/training/master_weights"),
    ROW_ACTS("precision", "/training/precision"), ROW_ACTS("fsdp_config.mixed_precision", "/training/precision"), ROW_ACTS("fsdp_config.mixed_precision.*", "/training/precision"),
    ROW_ACTS("fsdp_config.sharding_strategy", WIDE "sharding/strategy"), ROW_ACTS("fsdp_config.limit_all_gathers", WIDE "sharding/limit_all_gathers"),
    ROW_ACTS("fsdp_config.activation_checkpointing", CKPT), ROW_ACTS("fsdp_config.activation_checkpointing_target", CKPT),
    ROW_ACTS("fsdp_config.activation_cpu_offload", WIDE "offload_activations"), ROW_ACTS("fsdp_config.cpu_offload", WIDE "sharding/offload"),
    ROW_ACTS("fsdp_config.data_parallel_shard_degree", WIDE "sharding/degree"), ROW_ACTS("fsdp_config.data_parallel_replicate_degree", WIDE "sharding/degree"),
    ROW_ACTS("tp_config.tensor_parallel_degree", WIDE "tensor"),
    ROW_ACTS("train_loader.dataset.packing_ratio", "/training/sequence_length"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("model.peft_config.use_dora"), ROW_UNSIMULATED("model.peft_config.layers_*"), ROW_UNSIMULATED("model.peft_config.rank_pattern*"),
    ROW("model.peft_config.bias", NULL, .class = DIALECT_UNSIMULATED, .off = off_none), ROW_UNSIMULATED("model.peft_config.trainable_token_indices"), ROW_UNSIMULATED("model.peft_config.target_parameters"),
    ROW_IDLE("model.config_overrides.use_cache"), ROW_IDLE("model.config_overrides.rope_*"), ROW_IDLE("model.config_overrides.torch_dtype"), ROW_IDLE("model.config_overrides.bos_token_id"), ROW_IDLE("model.config_overrides.eos_token_id"), ROW_IDLE("model.config_overrides.pad_token_id"),
    ROW_IDLE("model.config_overrides.attn_config.*"), ROW_IDLE("model.config_overrides.output_router_logits"), ROW_IDLE("model.config_overrides.router_aux_loss_coef"),
    ROW_UNSIMULATED("tp_config*"), ROW_UNSIMULATED("compile_config*"), ROW_UNSIMULATED("deepspeed_config*"), ROW_UNSIMULATED("algorithms.*"),
    ROW_UNSIMULATED("model.attn_config.sliding_window_size"), ROW_UNSIMULATED("model.attn_config.qk_ln"), ROW_UNSIMULATED("model.attn_config.qk_gn"), ROW_UNSIMULATED("model.ffn_config.moe_*"),
    ROW_UNSIMULATED("model.ffn_config.*"), ROW_UNSIMULATED("model.emb_pdrop"), ROW_UNSIMULATED("fsdp_config.te_shard_fp8_weight"), ROW_UNSIMULATED("fsdp_config.keep_low_precision_grads"),
    ROW_UNSIMULATED("fsdp_config.ignored_modules"), ROW_UNSIMULATED("fsdp_config.process_group"), ROW_UNSIMULATED("fsdp_config.auto_microbatching"), ROW_UNSIMULATED("fsdp_config.min_params"),
    ROW_UNSIMULATED("callbacks.optimizer_monitor*"), ROW_UNSIMULATED("callbacks.activation_monitor*"), ROW_UNSIMULATED("callbacks.layer_freezing*"), ROW_UNSIMULATED("freeze_*"), ROW_UNSIMULATED("model.load_in_*"),
    ROW_IDLE("variables.*"), ROW_IDLE("model.*"), ROW_IDLE("fsdp_config.*"), ROW_IDLE("tokenizer*"), ROW_IDLE("train_loader.*"), ROW_IDLE("eval_loader*"), ROW_IDLE("eval_*"),
    ROW_IDLE("optimizer.*"), ROW_IDLE("scheduler*"), ROW_IDLE("algorithms.gradient_clipping.*"), ROW_IDLE("algorithms"), ROW_IDLE("callbacks*"), ROW_IDLE("loggers*"), ROW_IDLE("icl_*"),
    ROW_IDLE("run_name"), ROW_IDLE("seed"), ROW_IDLE("global_seed"), ROW_IDLE("data_local"), ROW_IDLE("data_remote"), ROW_IDLE("data_*"), ROW_IDLE("code_paths"), ROW_IDLE("dist_*"),
    ROW_IDLE("max_split_size_mb"), ROW_IDLE("expandable_segments"), ROW_IDLE("cuda_load_lazy"), ROW_IDLE("device_eval_*"), ROW_IDLE("progress_bar"), ROW_IDLE("log_*"), ROW_IDLE("python_log_level"),
    ROW_IDLE("console_log_interval"), ROW_IDLE("save_*"), ROW_IDLE("load_*"), ROW_IDLE("autoresume"), ROW_IDLE("only_*"), ROW_IDLE("metadata*"), ROW_IDLE("flatten_metadata"), ROW_IDLE("profiler*"),
    ROW_IDLE("spin_dataloaders"), ROW_IDLE("accumulate_train_batch_on_tokens"), ROW_IDLE("train_subset_num_batches"), ROW_IDLE("model_name*"), ROW_IDLE("reset_time"), ROW_IDLE("project_name"),
    ROW_END,
};
const struct dialect_table llmfoundry_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* All of it ------------------------------------------------------------------------ */

static bool evaluates(const struct value *v)
{
    return !value_get(v, "train_loader") &&
           (value_get(v, "icl_tasks") || value_get(v, "models") ||
            value_get(v, "eval_gauntlet"));
}

/* scripts/inference/benchmarking */
static bool infers(const struct value *v)
{
    return value_get(v, "output_lengths") && value_get(v, "input_lengths");
}

/* Composer's networks of pictures (mosaicml/examples: deeplab, resnet, stable_diffusion). */
static bool pictures(const struct value *v)
{
    static const char *const keys[] = { "backbone_arch", "train_unet", "image_key",
                                        "num_classes" };
    const struct value *model = llmfoundry_section(v, "model");
    bool any = false;
    for (size_t i = 0; model && i < sizeof(keys) / sizeof(keys[0]); i++)
        any |= value_get(model, keys[i]) != NULL;
    return any && !value_get(v, "train_loader");
}

bool llmfoundry_recognises(const struct dialect_input *in)
{
    static const char *const marks[] = { "train_loader",
                                         "global_train_batch_size",
                                         "device_train_microbatch_size",
                                         "fsdp_config",
                                         "max_duration",
                                         NULL };
    const struct value *v = in->root;
    const struct value_item *model = value_get(v, "model");
    int found = 0;
    if (in->source != DIALECT_DOCUMENT)
        return false;
    for (const char *const *m = marks; *m; m++)
        found += value_get(v, *m) != NULL;
    bool trains = found > 1 && model && value_get(model->value, "name");
    bool tests = (evaluates(v) && (value_get(v, "device_eval_batch_size") ||
                                   value_get(v, "max_seq_len"))) ||
                 infers(v);
    return trains || tests || llmfoundry_is_run(v);
}

static void refuse(struct launch_context *t, const struct value *v)
{
    diags_add(&t->l->loader->diags,
              launch_diag(t->l, DIAG_NOT_SIMULATED, v->line, v->column), "%s",
              pictures(v) ? "it trains a network of pictures, which is not simulated "
                            "(give a configuration with train_loader)"
              : infers(v) ? "it measures inference, which is not simulated (give a "
                            "configuration with train_loader)"
                          : EVALUATES);
}

/* The keys of the section "model" that made a field, or left it open. */
static void hear_model(struct launch_context *t, const struct value *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        const struct value_item *it = &c->items[i];
        const struct dialect_option *o =
            strncmp(it->key, "model.", 6) == 0
                ? dialect_option_of(llmfoundry_tables, "", it->key)
                : NULL;
        if (o && o->class == DIALECT_ACTS && o->pointer &&
            (launch_has(t, o->pointer) || launch_is_unresolved(t, o->pointer)))
            launch_hear(t, it);
    }
}

static void read_configuration(struct launch_context *t, const struct value *v)
{
    const struct value_item *model = value_get(v, "model"),
                            *section = value_get(v, "fsdp_config");
    const struct value *c = launch_flatten(t->arena, v);
    if (evaluates(v) || infers(v) || pictures(v)) {
        refuse(t, v);
        return;
    }
    launch_take_rows(t, rows, c);
    if (model && model->value->kind == VALUE_DICT)
        llmfoundry_take_model(t, model->value);
    hear_model(t, c);
    llmfoundry_take_states(t, c, section && section->value->kind == VALUE_DICT);
    dialect_report(t, llmfoundry_tables, "", c,
                   (struct dialect_place) { v->line, "", "", true });
}

/* What a command names, with its words in place of values. */
static struct value *of_command(struct launch_context *t,
                                const struct launch_command *c)
{
    struct launch_named named;
    struct value *root =
        launch_names_document(c, &named)
            ? launch_open_document(t->l, c, named.text, named.word->line)
            : NULL;
    if (!root) {
        launch_lost(t->l, named.text, c->command->line,
                    "is no configuration next to the script");
        return NULL;
    }
    launch_take_overrides(t->arena, root, c);
    launch_interpolate(t->l, root);
    return root;
}

void llmfoundry_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *root = in->root;
    const char *title = t->l->title;
    if (!in->command)
        launch_config_title(t, "llm-foundry's configuration");
    if (in->command)
        root = of_command(t, in->command);
    else if (llmfoundry_is_run(root))
        root = llmfoundry_run(t, root);
    if (root)
        read_configuration(t, root);
    if (in->command)
        t->l->title = title;
}

static int64_t integer_at(struct cfg root, const char *pointer)
{
    return (int64_t)json_integer_value(pointer_get(root.json, pointer));
}

/* Composer lowers a microbatch that is more than a GPU's batch
 * (llmfoundry/utils/config_utils.py, calculate_batch_size_info). */
void llmfoundry_settle(struct launch *l, struct cfg root)
{
    static const char micro_at[] = "/training/micro_batch_size";
    int64_t ranks = trainer_gpus_of(json_object_get(root.json, "cluster")) *
                    integer_at(root, "/cluster/count"),
            batch = integer_at(root, "/training/global_batch_size"),
            micro = integer_at(root, micro_at);
    struct err err = { 0 };
    for (int64_t i = 0; i < l->resolved.n; i++) {
        const struct launch_resolved *f = &l->resolved.v[i];
        if (f->replaced || strcmp(f->pointer, micro_at) != 0 ||
            strcmp(f->from, "device_train_microbatch_size") != 0 || ranks < 1 ||
            batch % ranks || batch / ranks >= micro || batch < ranks)
            continue;
        pointer_set(root.json, micro_at, json_integer((json_int_t)(batch / ranks)),
                    &err);
        launch_note(l, f->line, DIAG_ASSUMED,
                    "%s: %" PRId64 " is more than the %" PRId64
                    " sequences of a GPU, which Composer takes at once",
                    f->from, micro, batch / ranks);
        return;
    }
}
