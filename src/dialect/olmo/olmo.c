#include "dialect/olmo/olmo.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

static void take_share(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it)
{
    dialect_take_as(t, row, it, DIALECT_PROBABILITY);
}

/* A switch that is on, or off, by default: both values are set. */
static void take_either(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it)
{
    if (it->value->kind == VALUE_NONE)
        return;
    if (it->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, row->pointer, it, "switch");
    else
        launch_set(t, row->pointer, json_boolean(launch_true(it->value)), it);
}

/* clang-format off */
static const struct dialect_word optimizers[] = { { "adamw", "adam" }, { "lionw", "lion" }, { NULL, NULL } };
static const struct dialect_option rows[] = {
    ROW("model.d_model", "/model/d_model", .kind = DIALECT_SIZE),
    ROW("model.n_heads", "/model/n_heads", .kind = DIALECT_SIZE),
    ROW("model.n_kv_heads", "/model/n_kv_heads", .kind = DIALECT_SIZE),
    ROW("model.n_layers", "/model/n_layers", .kind = DIALECT_SIZE),
    ROW("model.mlp_ratio", "/model/mlp_ratio", .kind = DIALECT_SIZE),
    ROW("model.mlp_hidden_size", "/model/mlp_hidden_size", .kind = DIALECT_SIZE),
    ROW("model.activation_type", "/model/activation_type", .kind = DIALECT_TEXT),
    ROW("model.block_type", "/model/block_type", .kind = DIALECT_TEXT),
    ROW("model.layer_norm_type", "/model/layer_norm_type", .kind = DIALECT_TEXT),
    ROW("model.alibi", "/model/alibi", .take = take_either),
    ROW("model.rope", "/model/rope", .take = take_either),
    ROW("model.multi_query_attention", "/model/multi_query_attention", .take = take_either),
    ROW("model.attention_layer_norm", "/model/attention_layer_norm", .take = take_either),
    ROW("model.layer_norm_with_affine", "/model/layer_norm_with_affine", .take = take_either),
    ROW("model.attention_layer_norm_with_affine", "/model/attention_layer_norm_with_affine", .take = take_either),
    ROW("model.bias_for_layer_norm", "/model/bias_for_layer_norm", .take = take_either),
    ROW("model.include_bias", "/model/include_bias", .take = take_either),
    ROW("model.embedding_layer_norm", "/model/embedding_layer_norm", .take = take_either),
    ROW("model.norm_after", "/model/norm_after", .take = take_either),
    ROW("model.weight_tying", "/model/weight_tying", .take = take_either),
    ROW("model.residual_dropout", "/model/residual_dropout", .take = take_share),
    ROW("model.attention_dropout", "/model/attention_dropout", .take = take_share),
    ROW("model.max_sequence_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("global_train_batch_size", "/training/global_batch_size", .kind = DIALECT_SIZE),
    ROW("device_train_microbatch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("max_grad_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("optimizer.name", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("model.vocab_size", "/model/vocab_size"), ROW_ACTS("model.embedding_size", "/model/vocab_size"), ROW_ACTS("model.flash_attention", "/training/attention"),
    ROW_ACTS("precision", "/training/precision"), ROW_ACTS("fsdp.precision", "/training/gradient_dtype"), ROW_ACTS("distributed_strategy", WIDE "library"),
    ROW_ACTS("fsdp.sharding_strategy", WIDE "sharding/strategy"), ROW_ACTS("fsdp.wrapping_strategy", WIDE "sharding/unit"),
    ROW_ACTS("fsdp.hybrid_sharding_num_model_replicas", WIDE "sharding/degree"), ROW_ACTS("activation_checkpointing", "/training/activation_checkpointing"),
    ROW_ACTS("max_duration", "/training/steps"), ROW_ACTS("stop_at", "/training/steps"), ROW_ACTS("ddp", NULL), ROW_ACTS("fsdp", NULL),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("compile"), ROW_IDLE("compile.*"), ROW("model.block_group_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_UNSIMULATED("ddp.find_unused_params"), ROW_UNSIMULATED("fused_loss"), ROW_UNSIMULATED("data.generate_doc_lengths"), ROW_UNSIMULATED("data.generate_attention_mask"),
    ROW_UNSIMULATED("max_grad_norm_ratio"), ROW_UNSIMULATED("optimizer.selective_updates"), ROW_UNSIMULATED("optimizer.record_update_metrics"), ROW_UNSIMULATED("model.clip_qkv"),
    ROW_UNSIMULATED("model.low_cpu_fsdp"), ROW_UNSIMULATED("single"), ROW_UNSIMULATED("single.*"), ROW_UNSIMULATED("python_profiling"), ROW_UNSIMULATED("torch_profiling"), ROW_UNSIMULATED("module_outputs_save_steps"),
    ROW_IDLE("ddp.*"), ROW_IDLE("model.*"), ROW_IDLE("optimizer.*"), ROW_IDLE("scheduler*"), ROW_IDLE("tokenizer*"), ROW_IDLE("data*"), ROW_IDLE("evaluators"), ROW_IDLE("eval_*"), ROW_IDLE("device_eval_batch_size"),
    ROW_IDLE("save_*"), ROW_IDLE("remote_save_folder"), ROW_IDLE("load_*"), ROW_IDLE("restore_*"), ROW_IDLE("reset_*"), ROW_IDLE("try_load_latest_save"), ROW_IDLE("sharded_checkpointer"),
    ROW_IDLE("new_style_checkpoints"), ROW_IDLE("force_save_unsharded"), ROW_IDLE("no_pre_train_checkpoint"), ROW_IDLE("fast_forward_batches"), ROW_IDLE("canceled_check_interval"),
    ROW_IDLE("run_name"), ROW_IDLE("seed"), ROW_IDLE("epoch"), ROW_IDLE("dry_run"), ROW_IDLE("wandb*"), ROW_IDLE("speed_monitor*"), ROW_IDLE("console_log_interval"), ROW_IDLE("gen1_gc_interval"),
    ROW_IDLE("softmax_auxiliary_loss"), ROW_IDLE("auxiliary_loss_multiplier"), ROW_IDLE("time_limit"), ROW_IDLE("extra_steps_after_cancel"), ROW_IDLE("early_stopping_factor"), ROW_IDLE("stop_after"),
    ROW_IDLE("hf_datasets_cache_dir"), ROW_IDLE("fsdp.use_orig_params"), ROW_IDLE("device_train_batch_size"), ROW_IDLE("device_train_grad_accum"),
    ROW_END,
};
const struct dialect_table olmo_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Several keys together ------------------------------------------------------------ */

static const struct value_item *given(const struct value *c, const char *key)
{
    const struct value_item *it = value_get(c, key);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

static bool is_on(const struct value *c, const char *key)
{
    const struct value_item *it = given(c, key);
    return it && launch_true(it->value);
}

/* The embedding's rows are "embedding_size", which null leaves to "vocab_size". */
static void take_model(struct launch_context *t, const struct value *c)
{
    const struct value_item *type = given(c, "model.d_model"),
                            *rows_of = value_get(c, "model.embedding_size"),
                            *words = given(c, "model.vocab_size");
    const struct value_item *it = rows_of && rows_of->value->kind == VALUE_NONE ? words
                                  : rows_of ? rows_of
                                            : NULL;
    int64_t n = 50304; /* embedding_size's default */
    launch_hear(t, rows_of);
    launch_hear(t, it == rows_of ? NULL : words);
    if (it && (!launch_whole(it->value, &n) || n < 1)) {
        launch_unresolved_item(t, "/model/vocab_size", it,
                               "whole number of at least 1");
        return;
    }
    launch_settle_item(t, "/model/vocab_size", json_integer((json_int_t)n), it,
                       "embedding_size's default");
    launch_settle_item(t, "/model/model_type", json_string("olmo_args"), type,
                       "OLMo's model");
    if (!is_on(c, "model.rope") && !is_on(c, "model.alibi"))
        launch_assume(t, "/model/max_sequence_length",
                      json_integer((json_int_t)launch_number(
                          t, "/training/sequence_length", 1024)),
                      "max_sequence_length");
    launch_assume(t, "/model/d_model", json_integer(768), "d_model's default");
    launch_assume(t, "/model/n_heads", json_integer(12), "n_heads' default");
    launch_assume(t, "/model/n_layers", json_integer(12), "n_layers' default");
}

/* FSDP converts parameters, and its "pure" reduces in their type (the default), "mixed"
 * in fp32; without either, and under DDP, operators are autocast. */
static void take_precision(struct launch_context *t, const struct value *c, bool fsdp)
{
    static const struct dialect_word words[] = { { "amp_bf16", "bf16" },
                                                 { "amp_fp16", "fp16" },
                                                 { "fp32", "fp32" },
                                                 { NULL, NULL } };
    const struct value_item *it = given(c, "precision"),
                            *how = value_get(c, "fsdp.precision");
    bool none = how && how->value->kind == VALUE_NONE,
         mixed = strcmp(launch_word(c, "fsdp.precision", "pure"), "mixed") == 0;
    const struct dialect_word *w = words;
    while (it && w->word && strcmp(w->word, launch_word(c, "precision", "")) != 0)
        w++;
    if (it && !w->word) {
        launch_unresolved_item(t, "/training/precision", it,
                               "precision of OLMo (amp_bf16, amp_fp16 or fp32)");
        return;
    }
    const char *word = it ? w->value : "fp32";
    bool wide = strcmp(word, "fp32") == 0, converts = fsdp && !none;
    launch_settle_item(t, "/training/precision",
                       wide || converts ? json_string(word)
                                        : json_sprintf("amp_%s", word),
                       it, "precision's default");
    if (!wide && converts)
        launch_settle_item(t, "/training/gradient_dtype",
                           json_string(mixed ? "fp32" : word), how,
                           "fsdp.precision's default");
    launch_hear(t, fsdp ? how : NULL);
}

static void take_sharding(struct launch_context *t, const struct value *c)
{
    static const struct {
        const char *word, *strategy;
        bool hybrid;
    } words[] = {
        { "FULL_SHARD", "full", false },  { "SHARD_GRAD_OP", "gradients", false },
        { "HYBRID_SHARD", "full", true }, { "_HYBRID_SHARD_ZERO2", "gradients", true },
        { "NO_SHARD", "none", false },
    };
    const struct value_item *it = given(c, "fsdp.sharding_strategy"),
                            *copies =
                                given(c, "fsdp.hybrid_sharding_num_model_replicas"),
                            *unit = value_get(c, "fsdp.wrapping_strategy");
    const char *word = launch_word(c, "fsdp.sharding_strategy", "FULL_SHARD"),
               *wraps = launch_word(c, "fsdp.wrapping_strategy", "");
    size_t i = 0, n = sizeof(words) / sizeof(words[0]);
    while (i < n && strcmp(words[i].word, word) != 0)
        i++;
    if (i == n) {
        launch_unresolved_item(t, WIDE "sharding/strategy", it, "strategy of FSDP");
        return;
    }
    launch_settle_item(t, WIDE "sharding/strategy", json_string(words[i].strategy), it,
                       "sharding_strategy's default");
    if (words[i].hybrid && copies)
        trainer_take_copies(t, copies);
    else if (words[i].hybrid) /* a copy a node */
        trainer_take_hybrid(t, it);
    launch_hear(t, words[i].hybrid ? copies : NULL);
    launch_hear(t, unit);
    if (!*wraps || strcmp(wraps, "size_based") == 0)
        launch_settle_item(t, WIDE "sharding/unit", json_string("model"), unit,
                           "wrapping_strategy's default");
    else if (strncmp(wraps, "by_block", 8) != 0 || strstr(wraps, "group"))
        launch_note(t->l, unit->line, DIAG_APPROXIMATE,
                    "%s: units of several layers are taken as one each", unit->key);
}

/* scripts/train.py: FSDP, DDP or one GPU. */
static bool take_library(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = given(c, "distributed_strategy");
    const char *word = launch_word(c, "distributed_strategy", "fsdp"),
               *sync = launch_word(c, "ddp.grad_sync_mode", "batch");
    bool fsdp = strcmp(word, "fsdp") == 0;
    launch_settle_item(t, WIDE "library", json_string(fsdp ? "fsdp" : "ddp"), it,
                       "distributed_strategy's default");
    if (fsdp)
        launch_assume(t, "/training/framework", json_string("fsdp-torch2"),
                      "OLMo's own modules under FSDP");
    if (!fsdp && strcmp(sync, "micro_batch") == 0)
        launch_note(t->l, value_get(c, "ddp.grad_sync_mode")->line, DIAG_NOT_SIMULATED,
                    "ddp.grad_sync_mode: is not simulated: gradients are taken to be "
                    "reduced once a step");
    if (!fsdp)
        launch_hear(t, value_get(c, "ddp.grad_sync_mode"));
    return fsdp;
}

static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/activation_checkpointing";
    static const struct {
        const char *word;
        int64_t every; /* one in so many layers; 0: another way */
    } words[] = {
        { "whole_layer", 1 },   { "one_in_two", 2 },   { "one_in_three", 3 },
        { "one_in_four", 4 },   { "one_in_eight", 8 }, { "two_in_three", 0 },
        { "three_in_four", 0 }, { "fine_grained", 0 },
    };
    const struct value_item *it = given(c, "activation_checkpointing");
    const char *word = launch_word(c, "activation_checkpointing", "");
    size_t i = 0, n = sizeof(words) / sizeof(words[0]);
    while (it && i < n && strcmp(words[i].word, word) != 0)
        i++;
    launch_hear(t, it);
    if (!it || (it->value->kind == VALUE_BOOL && !it->value->integer))
        launch_settle_item(t, at, json_string("none"), it,
                           "activation_checkpointing's default");
    else if (it->value->kind == VALUE_BOOL || (i < n && words[i].every == 1))
        launch_settle_item(t, at, json_string("full"), it, "");
    else if (i < n && words[i].every)
        launch_settle_item(
            t, at, json_pack("{s:I}", "every", (json_int_t)words[i].every), it, "");
    else if (strcmp(word, "fine_grained") == 0) {
        launch_settle_item(t, at, json_string("selective"), it, "");
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: of attention, norms and activation, which are computed again, "
                    "attention alone is taken",
                    it->key);
    } else {
        launch_add_unresolved(t, at, it->line,
                              "%s: %.40s is not simulated (none, full, selective, or "
                              "{\"every\": N})",
                              it->key, word);
    }
}

/* A number of steps, "2e12T" tokens or "1ep" epochs; "stop_at" is a step. */
static void take_length(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = given(c, "max_duration"), *stop = given(c, "stop_at");
    const char *text = launch_word(c, "max_duration", "");
    double tokens = (double)launch_number(t, "/training/global_batch_size", 0) *
                    (double)launch_number(t, "/training/sequence_length", 0),
           x;
    char *end;
    int64_t n;
    launch_hear(t, it);
    if (stop && launch_whole(stop->value, &n) && n > 0) {
        launch_settle_item(t, "/training/steps", json_integer((json_int_t)n), stop, "");
    } else if (it && launch_whole(it->value, &n) && n > 0) {
        launch_set(t, "/training/steps", json_integer((json_int_t)n), it);
    } else if (*text) {
        x = strtod(text, &end);
        if (strcmp(end, "T") == 0 && tokens > 0 && x / tokens >= 1 && x < 1e16)
            launch_set(t, "/training/steps", json_integer((json_int_t)ceil(x / tokens)),
                       it);
        else if (strcmp(end, "ep") == 0 && x >= 1 && x < 1e6 && floor(x) == x)
            launch_set(t, "/training/epochs", json_integer((json_int_t)x), it);
        else
            launch_leave_out(t, it, "number of steps, tokens (T) or epochs (ep)");
    }
}

/* With a bias PyTorch's attention runs its memory-efficient kernel; the model refuses
 * flash_attn with ALiBi (olmo/model.py, OLMo.__init__). */
static void take_attention(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/attention";
    const struct value_item *it = given(c, "model.flash_attention");
    bool flash = is_on(c, "model.flash_attention"), alibi = is_on(c, "model.alibi");
    if (flash && alibi)
        launch_add_unresolved(t, at, it->line,
                              "%s: OLMo does not run it with ALiBi, but "
                              "\"memory-efficient\"",
                              it->key);
    else
        launch_settle_item(t, at,
                           json_string(flash   ? "flash"
                                       : alibi ? "memory-efficient"
                                               : "sdpa"),
                           alibi ? given(c, "model.alibi") : it,
                           "flash_attention's default");
}

/* Of "compile" each member is off by default, and the section alone compiles. */
static void note_compile(struct launch_context *t, const struct value *root)
{
    const struct value_item *it = value_get(root, "compile");
    if (it && it->value->kind == VALUE_DICT && it->value->n > 0)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED, "compile: is not simulated");
}

/* All of it ------------------------------------------------------------------------ */

bool olmo_recognises(const struct dialect_input *in)
{
    const struct value_item *model = value_get(in->root, "model");
    bool own = value_get(in->root, "global_train_batch_size") ||
               value_get(in->root, "device_train_microbatch_size") ||
               value_get(in->root, "device_eval_batch_size");
    return in->source == DIALECT_DOCUMENT && model && own &&
           (value_get(model->value, "d_model") || value_get(model->value, "n_layers"));
}

static void take_defaults(struct launch_context *t)
{
    launch_assume(t, "/training/sequence_length", json_integer(1024),
                  "max_sequence_length's default");
    launch_assume(t, "/training/global_batch_size", json_integer(512),
                  "global_train_batch_size's default");
    launch_assume(t, "/training/micro_batch_size", json_integer(16),
                  "device_train_microbatch_size's default");
    launch_assume(t, "/training/optimizer", json_string("lion"),
                  "optimizer.name's default, lionw");
}

/* "--fsdp.precision=mixed", and "--save-overwrite" for true (clean_opt of
 * scripts/train.py). */
static void take_word(struct launch_context *t, struct value *root,
                      const struct shell_word *w)
{
    const char *text = w->text + strspn(w->text, "-"), *equals = strchr(text, '=');
    char *key = arena_strndup(t->arena, text, strcspn(text, "="));
    for (char *s = key; *s; s++)
        *s = *s == '-' ? '_' : *s;
    if (strncmp(w->text, "--", 2) == 0 && *key)
        launch_override(t->arena, root, key, w, equals ? equals + 1 : "true");
}

/* The configuration that a command names, with its words in it; NULL: it is not there. */
static struct value *of_command(struct launch_context *t,
                                const struct launch_command *c)
{
    struct launch_named named;
    struct value *root =
        launch_names_document(c, &named)
            ? launch_open_document(t->l, c, named.text, named.word->line)
            : NULL;
    for (int32_t i = c->script + 1; root && i < c->command->n; i++)
        take_word(t, root, &c->command->words[i]);
    if (root)
        launch_interpolate(t->l, root);
    return root;
}

void olmo_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *root = in->command ? of_command(t, in->command) : in->root;
    if (!root)
        return;
    const struct value *c = launch_flatten(t->arena, root);
    if (!in->command)
        launch_config_title(t, "OLMo's configuration");
    launch_take_rows(t, rows, c);
    take_model(t, c);
    take_defaults(t);
    bool fsdp = take_library(t, c);
    if (fsdp)
        take_sharding(t, c);
    take_precision(t, c, fsdp);
    take_checkpointing(t, c);
    take_attention(t, c);
    take_length(t, c);
    note_compile(t, root);
    dialect_report(t, olmo_tables, "", c,
                   (struct dialect_place) { t->l->line, "", "", true });
}
