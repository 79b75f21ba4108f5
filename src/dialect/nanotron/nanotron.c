#include "dialect/nanotron/nanotron.h"

#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_word engines[] = { { "1f1b", "1f1b" }, { "afab", "gpipe" }, { NULL, NULL } };
static const struct dialect_word optimizers[] = { { "adamW", "adam" }, { "adamw", "adam" }, { "adam", "adam" }, { "sgd", "sgd" }, { NULL, NULL } };
/* nanotron/nn/attention.py */
static const struct dialect_word attentions[] = {
    { "flash_attention_2", "flash" }, { "llama3_ring_attention", "flash" }, { "ring_flash_triton", "flash" }, { "sdpa", "sdpa" }, { "eager", "unfused" }, { NULL, NULL },
};

/* Before nanotron was public ("brrr"), attention's core or all of a layer. */
static const struct dialect_word granularities[] = {
    { "selective", "selective" }, { "SELECTIVE", "selective" }, { "full", "full" }, { "FULL", "full" }, { NULL, NULL },
};

static bool off_true(const struct value *v)
{
    return v->kind == VALUE_NONE || launch_true(v);
}

static const struct dialect_option rows[] = {
    ROW("tokens.sequence_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("tokens.micro_batch_size", "/training/micro_batch_size", .kind = DIALECT_SIZE),
    ROW("tokens.train_steps", "/training/steps", .kind = DIALECT_SIZE),
    ROW("optimizer.optimizer_factory.name", "/training/optimizer", .kind = DIALECT_WORD, .words = optimizers, .wanted = "optimizer that is simulated"),
    ROW("optimizer.clip_grad", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("parallelism.tp", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("parallelism.pp", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("parallelism.context_parallel_size", WIDE "context", .kind = DIALECT_DEGREE),
    ROW("parallelism.recompute_layer", "/training/activation_checkpointing", .kind = DIALECT_SWITCH, .value = "full"),
    ROW("parallelism.recompute_granularity", "/training/activation_checkpointing", .kind = DIALECT_WORD, .words = granularities, .wanted = "granularity that is known"),
    ROW("model.model_config._attn_implementation", "/training/attention", .kind = DIALECT_WORD, .words = attentions, .wanted = "attention that is simulated"),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("parallelism.dp", "/training/global_batch_size"), ROW_ACTS("tokens.batch_accumulation_per_replica", "/training/gradient_accumulation_steps"),
    ROW("parallelism.expert_parallel_size", WIDE "expert", .off = dialect_off_at_one), ROW_ONLY("parallelism.pp_engine", WIDE "schedule"), ROW_ONLY("parallelism.tp_mode", WIDE "sequence_parallel"),
    ROW_ONLY("parallelism.tp_linear_async_communication", WIDE "overlap_tensor"),
    ROW_ACTS("optimizer.zero_stage", WIDE "sharding/strategy"), ROW_ACTS("optimizer.accumulate_grad_in_fp32", "/training/gradient_dtype"),
    ROW_ACTS("model.dtype", "/training/precision"), ROW_ACTS("model.make_vocab_size_divisible_by", "/training/vocab_padding"), ROW_ACTS("model.ddp_bucket_cap_mb", WIDE "bucket_size"),
    ROW_ACTS("model.model_config.hidden_size", "/model"), ROW_ACTS("model.model_config.intermediate_size", "/model"), ROW_ACTS("model.model_config.num_hidden_layers", "/model"),
    ROW_ACTS("model.model_config.num_attention_heads", "/model"), ROW_ACTS("model.model_config.num_key_value_heads", "/model"), ROW_ACTS("model.model_config.num_kv_heads", "/model"),
    ROW_ACTS("model.model_config.grouped_query", "/model"), ROW_ACTS("model.model_config.vocab_size", "/model"), ROW_ACTS("model.model_config.hidden_act", "/model"),
    ROW_ACTS("model.model_config.max_position_embeddings", "/model"), ROW_ACTS("model.model_config.tie_word_embeddings", "/model"), ROW_ACTS("model.model_config.attention_bias", "/model"),
    ROW_ACTS("model.model_config.sliding_window_size", "/model"), ROW_ACTS("model.model_config.is_*", "/model"), ROW_ACTS("model.model_config.moe_config.num_experts", "/model"),
    ROW_ACTS("model.model_config.moe_config.top_k", "/model"), ROW_ACTS("model.model_config.moe_config.moe_intermediate_size", "/model"), ROW_ACTS("model.model_config.moe_config.shared_expert_intermediate_size", "/model"),
    ROW_ACTS("model.model_config.moe_config.enable_shared_expert", "/model"), ROW_ACTS("model.model_config.moe_config.layers", "/model"),
    ROW_ACTS("doremi.ref_model_checkpoint_path", "/training/task"), ROW_ACTS("doremi.ref_model_resume_checkpoint_path", "/training/task"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED("infini_attention.segment_length"), ROW_IDLE("infini_attention.*"), /* of its branch infini-context-length */
    ROW("parallelism.tp_recompute_allgather", NULL, .class = DIALECT_UNSIMULATED, .off = off_true),
    ROW_UNSIMULATED("parallelism.moe_layer_recompute"), ROW_UNSIMULATED("model.model_config._use_doc_masking"), ROW_UNSIMULATED("model.model_config.flex_attention_mask"),
    ROW("optimizer.optimizer_factory.torch_adam_is_fused", NULL, .class = DIALECT_UNSIMULATED, .off = off_true), ROW("optimizer.torch_adam_is_fused", NULL, .class = DIALECT_UNSIMULATED, .off = off_true),
    ROW("model.model_config._fused_rms_norm", NULL, .class = DIALECT_UNSIMULATED, .off = off_true), ROW("model.model_config._fused_rotary_emb", NULL, .class = DIALECT_UNSIMULATED, .off = off_true),
    ROW_UNSIMULATED("model.model_config.z_loss_enabled"), ROW_UNSIMULATED("model.model_config.moe_config.token_dispatcher_type"), ROW_UNSIMULATED("doremi.*"),
    ROW_IDLE("model.init_method.*"), /* models_config.py, LlamaConfig, Qwen2Config and Starcoder2Config: others are forks' own */
    ROW_IDLE("model.model_config.bos_token_id"), ROW_IDLE("model.model_config.eos_token_id"), ROW_IDLE("model.model_config.pad_token_id"), ROW_IDLE("model.model_config.initializer_range"), ROW_IDLE("model.model_config.pretraining_tp"), ROW_IDLE("model.model_config.rms_norm_eps"), ROW_IDLE("model.model_config.rope_scaling"), ROW_IDLE("model.model_config.rope_theta"), ROW_IDLE("model.model_config.rope_interleaved"), ROW_IDLE("model.model_config.rope_seq_len_interpolation_factor"), ROW_IDLE("model.model_config.use_cache"), ROW_IDLE("model.model_config.no_rope_layer"), ROW_IDLE("model.model_config.log_attn_probs"), ROW_IDLE("model.model_config.ring_attn_heads_k_stride"), ROW_IDLE("model.model_config._use_qkv_packed"), ROW_IDLE("model.model_config.z_loss_coefficient"), ROW_IDLE("model.model_config.attn_pdrop"), ROW_IDLE("model.model_config.embd_pdrop"), ROW_IDLE("model.model_config.resid_pdrop"), ROW_IDLE("model.model_config.activation_function"), ROW_IDLE("model.model_config.layer_norm_epsilon"), ROW_IDLE("model.model_config.scale_attention_softmax_in_fp32"), ROW_IDLE("model.model_config.scale_attn_weights"), ROW_IDLE("model.model_config.multi_query"), ROW_IDLE("model.model_config.use_rotary_embeddings"), ROW_IDLE("model.model_config.use_position_embeddings"), ROW_IDLE("model.model_config.use_transformer_engine"), ROW_IDLE("model.model_config.global_attn_layers"), ROW_IDLE("model.model_config.moe_config.*"),
    ROW_IDLE("optimizer.adam_*"), ROW_IDLE("optimizer.weight_decay*"), ROW_IDLE("optimizer.learning_rate_scheduler*"), ROW_IDLE("optimizer.optimizer_factory.*"), ROW_IDLE("tokens.val_check_interval"), ROW_IDLE("tokens.limit_*"), ROW_IDLE("general.*"), ROW_IDLE("checkpoints*"), ROW_IDLE("data_stages"), ROW_IDLE("data*"), ROW_IDLE("logging*"),
    ROW_IDLE("metrics_logging*"), ROW_IDLE("tokenizer*"), ROW_IDLE("profiler*"), ROW_IDLE("profile*"), ROW_IDLE("lighteval*"), ROW_IDLE("s3_upload*"), ROW_IDLE("general"), ROW_IDLE("learning_rate_scheduler*"),
    /* "brrr": the model's sizes, which /model has */
    ROW_IDLE("model.n_*"), ROW_IDLE("model.hidden_size"), ROW_IDLE("model.num_*"), ROW_IDLE("model.vocab_size"), ROW_IDLE("model.max_position_embeddings"), ROW_IDLE("model.resid_pdrop"), ROW_IDLE("model.attn_pdrop"), ROW_IDLE("model.embd_pdrop"), ROW_IDLE("model.layer_norm_epsilon"),
    ROW_IDLE("model.scale_attn_weights"), ROW_IDLE("model.activation_function"), ROW_IDLE("model.attention_softmax_in_fp32"), ROW_IDLE("model.pad_key_length"), ROW_IDLE("model.hf_*"), ROW_IDLE("model.seed"), ROW_IDLE("model.tokenizer_*"), ROW_IDLE("brrr_data*"), ROW_IDLE("optimizer.learning_rate"), ROW_IDLE("optimizer.no_load_optim"),
    ROW("parallelism.tp_column_linear_async_communication", NULL, .class = DIALECT_UNSIMULATED),
    ROW_IDLE("experiment_logger*"), ROW_IDLE("slurm*"), ROW_IDLE("kill_switch_path"), ROW_IDLE("model.model_config.moe_config.*"),
    ROW_END,
};
const struct dialect_table nanotron_tables[] = {
    { "", rows, DIALECT_UNKNOWN_WARNED }, { "", joint, DIALECT_UNKNOWN_WARNED },
    { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* Several keys together ------------------------------------------------------------ */

/* A whole number of at least 1, `otherwise` without; 0 after asking. */
static int64_t size_of(struct launch_context *t, const struct value *c, const char *key,
                       const char *pointer, int64_t otherwise)
{
    const struct value_item *it = value_get(c, key);
    int64_t n = otherwise;
    launch_hear(t, it);
    if (!it || it->value->kind == VALUE_NONE)
        return otherwise;
    if (launch_whole(it->value, &n) && n > 0 && n < INT32_MAX)
        return n;
    launch_unresolved_item(t, pointer, it, "whole number of at least 1");
    return 0;
}

/* The microbatches of a pipeline fill it once; without one they are accumulated. The
 * replicas are the file's own, so that the batch holds the cluster to them. */
static void take_batch(struct launch_context *t, const struct value *c)
{
    static const char global[] = "/training/global_batch_size";
    const struct value_item *it = value_get(c, "tokens.batch_accumulation_per_replica"),
                            *dp = value_get(c, "parallelism.dp");
    bool fills = launch_number(t, WIDE "pipeline", 1) > 1;
    const char *at =
        fills ? "/training/microbatches" : "/training/gradient_accumulation_steps";
    int64_t steps = size_of(t, c, "tokens.batch_accumulation_per_replica", at, 1),
            copies = size_of(t, c, "parallelism.dp", global, 1),
            micro = launch_number(t, "/training/micro_batch_size", 0), n;
    if (steps)
        launch_settle_item(t, at, json_integer((json_int_t)steps), it,
                           "batch_accumulation_per_replica");
    if (fills && steps)
        launch_assume(t, "/training/gradient_accumulation_steps", json_integer(1),
                      "one fill of the pipeline");
    if (steps && copies && dp && micro > 0 &&
        !__builtin_mul_overflow(micro, steps, &n) &&
        !__builtin_mul_overflow(n, copies, &n))
        launch_set(t, global, json_integer((json_int_t)n), dp);
    if (copies && dp)
        t->l->replicas =
            (struct launch_replicas) { .n = copies, .line = dp->line, .what = dp->key };
}

/* Ranks of experts are next to the replicas, on the same data. */
static void take_experts(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "parallelism.expert_parallel_size");
    int64_t n;
    if (it && !(launch_whole(it->value, &n) && n == 1) &&
        it->value->kind != VALUE_NONE) {
        launch_add_unresolved(t, WIDE "expert", it->line,
                              "%s: nanotron's groups of experts lie next to the "
                              "replicas, which is not simulated",
                              it->key);
        launch_hear(t, it);
    }
}

static void take_schedule(struct launch_context *t, const struct value *c)
{
    static const struct dialect_option row =
        ROW("parallelism.pp_engine", WIDE "schedule", .words = engines,
            .wanted = "engine that is simulated (1f1b, afab)");
    const struct value_item *it = value_get(c, "parallelism.pp_engine");
    launch_hear(t, it);
    if (launch_number(t, WIDE "pipeline", 1) < 2)
        return;
    if (it && it->value->kind != VALUE_NONE)
        dialect_take_as(t, &row, it, DIALECT_WORD);
    else
        launch_assume(t, WIDE "schedule", json_string("gpipe"),
                      "pp_engine's default, afab");
}

/* ALL_REDUCE by default (parallelism_config.py); vocabularies are padded to a multiple
 * a tensor rank (nanotron/config/utils, _vocab_size_with_padding). */
static void take_tensor(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "parallelism.tp_mode"),
                            *pad = value_get(c, "model.make_vocab_size_divisible_by");
    int64_t tensor = launch_number(t, WIDE "tensor", 1),
            multiple = size_of(t, c, "model.make_vocab_size_divisible_by",
                               "/training/vocab_padding", 1);
    const char *mode = launch_word(c, "parallelism.tp_mode", "ALL_REDUCE");
    launch_hear(t, it);
    if (multiple > 0 && multiple < (1 << 20) && tensor < (1 << 20) &&
        multiple * tensor > 1)
        launch_settle_item(t, "/training/vocab_padding",
                           json_integer((json_int_t)multiple * tensor), pad,
                           "make_vocab_size_divisible_by's default");
    if (tensor < 2)
        return;
    if (strcasecmp(mode, "REDUCE_SCATTER") != 0 && strcasecmp(mode, "ALL_REDUCE") != 0)
        launch_unresolved_item(t, WIDE "sequence_parallel", it, "mode that is known");
    else
        launch_settle_item(t, WIDE "sequence_parallel",
                           json_boolean(strcasecmp(mode, "REDUCE_SCATTER") == 0), it,
                           "tp_mode's default");
}

/* Sums in fp32 with 16-bit parameters: nanotron's own optimizer and reductions. */
static bool sums_wide(const struct value *c)
{
    const struct value_item *sums = value_get(c, "optimizer.accumulate_grad_in_fp32");
    return sums && launch_true(sums->value) &&
           strcmp(launch_word(c, "model.dtype", "bfloat16"), "float32") != 0;
}

/* Without it each gather and sum is waited for (ParallelismArgs of
 * nanotron/config/parallelism_config.py: off by default). */
static void take_overlap(struct launch_context *t, const struct value *c)
{
    const struct value_item *it =
        value_get(c, "parallelism.tp_linear_async_communication");
    bool on = it && launch_true(it->value);
    launch_hear(t, it);
    if (launch_number(t, WIDE "tensor", 1) < 2)
        return;
    if (sums_wide(c))
        launch_decide(t, WIDE "overlap_tensor", json_boolean(on), it,
                      "tp_linear_async_communication's default");
    else if (on)
        launch_note(t->l, it->line, DIAG_LEFT_OUT,
                    "%s: not simulated, as sums are not in fp32", it->key);
}

/* ZeRO-1 alone is there (nanotron/optim/zero.py). DDP's cap counts bytes of parameters;
 * what is reduced has twice as many where sums are in fp32. */
static void take_sharding(struct launch_context *t, const struct value *c)
{
    static const char at[] = WIDE "sharding/strategy";
    const struct value_item *it = value_get(c, "optimizer.zero_stage"),
                            *bucket = value_get(c, "model.ddp_bucket_cap_mb");
    int64_t stage = 0,
            cap = size_of(t, c, "model.ddp_bucket_cap_mb", WIDE "bucket_size", 25);
    launch_hear(t, it);
    if (it && (!launch_whole(it->value, &stage) || stage < 0 || stage > 1))
        launch_unresolved_item(t, at, it, "stage that nanotron has (0, 1)");
    else if (stage == 1)
        launch_set(t, at, json_string("optimizer"), it);
    bool wide = sums_wide(c);
    if (cap > 0 && cap < (1 << 20) && !(wide && stage == 1))
        launch_settle_item(
            t, WIDE "bucket_size",
            json_string(arena_printf(t->arena, "%" PRId64 "MiB", wide ? 2 * cap : cap)),
            bucket, "ddp_bucket_cap_mb's default");
    else if (wide && stage == 1 && bucket)
        launch_note(t->l, bucket->line, DIAG_WITHOUT_EFFECT,
                    "ddp_bucket_cap_mb: without effect, as ZeRO-1 with sums in fp32 "
                    "reduces all gradients at once");
    if (!wide || stage != 1)
        launch_assume(t, WIDE "overlap", json_true(), "DDP's hooks");
}

/* Gradients that are summed in fp32 come with fp32 weights; without, the optimizer
 * updates those of the model (nanotron/helpers.py, init_optimizer_and_grad_accumulator),
 * which Megatron's does not. */
static void take_precision(struct launch_context *t, const struct value *c)
{
    static const char *const known[][2] = { { "bfloat16", "bf16" },
                                            { "float16", "fp16" },
                                            { "float32", "fp32" } };
    const struct value_item *it = value_get(c, "model.dtype"),
                            *sums = value_get(c, "optimizer.accumulate_grad_in_fp32");
    const char *word = launch_word(c, "model.dtype", "bfloat16"), *precision = NULL;
    bool wide = sums && launch_true(sums->value);
    launch_hear(t, it);
    launch_hear(t, sums);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i][0], word) == 0)
            precision = known[i][1];
    if (!precision) {
        launch_unresolved_item(t, "/training/precision", it, "type that is simulated");
        return;
    }
    bool half = strcmp(precision, "fp32") != 0;
    launch_settle_item(t, "/training/precision", json_string(precision), it,
                       "dtype's default");
    if (half)
        launch_settle_item(t, "/training/gradient_dtype",
                           json_string(wide ? "fp32" : precision), sums,
                           "accumulate_grad_in_fp32");
    if (half && !wide)
        launch_settle_item(t, "/training/master_weights", json_false(), sums,
                           "accumulate_grad_in_fp32");
    if (sums_wide(c)) {
        launch_assume(t, WIDE "library", json_string("nanotron"), "nanotron");
        return;
    }
    launch_assume(t, WIDE "library", json_string(half ? "ddp" : "megatron"),
                  "nanotron, as is nearest");
    launch_note(t->l, t->l->line, DIAG_APPROXIMATE,
                "nanotron's profile is of gradients summed in fp32: kernels and the "
                "start of collectives are those of %s",
                half ? "PyTorch's DDP" : "Megatron");
}

static void take_context(struct launch_context *t, const struct value *c)
{
    const char *how = launch_word(c, "model.model_config._attn_implementation", "");
    if (launch_number(t, WIDE "context", 1) > 1 &&
        strcmp(how, "llama3_ring_attention") == 0)
        launch_assume(t, WIDE "context_comm", json_string("all-gather"),
                      "llama3_ring_attention");
}

static void take_doremi(struct launch_context *t, const struct value *c)
{
    const struct value_item *it =
        value_get(c, "doremi.ref_model_resume_checkpoint_path");
    it = it ? it : value_get(c, "doremi.ref_model_checkpoint_path");
    if (it && !launch_is_off(it->value)) {
        launch_add_unresolved(
            t, "/training/task", it->line,
            "%s: a second, frozen model runs, which is not simulated; "
            "/training/task=causal-lm is the step without it",
            it->key);
        launch_hear(t, it);
    }
}

/* Later stages may have longer sequences. */
static void note_stages(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "data_stages");
    int64_t n, length = launch_number(t, "/training/sequence_length", 0);
    for (int32_t i = 0; it && it->value->kind == VALUE_LIST && i < it->value->n; i++) {
        const struct value_item *own =
            value_get(it->value->items[i].value, "sequence_length");
        if (own && launch_whole(own->value, &n) && n != length)
            launch_note(t->l, own->line, DIAG_LEFT_OUT,
                        "data_stages: a stage has sequences of %" PRId64
                        " (give --set /training/sequence_length=%" PRId64 " for it)",
                        n, n);
    }
}

/* All of it ------------------------------------------------------------------------ */

/* The model's sizes lay in "model" before nanotron was public ("brrr", 2023), whose GPT-2
 * had as many heads of keys and values as its code said. */
static const char own_model[] = "n_layer";

bool nanotron_recognises(const struct dialect_input *in)
{
    const struct value_item *wide = value_get(in->root, "parallelism"),
                            *model = value_get(in->root, "model");
    return in->source == DIALECT_DOCUMENT && wide && value_get(wide->value, "dp") &&
           value_get(wide->value, "tp") && value_get(wide->value, "pp") && model &&
           (value_get(model->value, "model_config") ||
            value_get(model->value, own_model));
}

/* Keys of the model that made it, or left it open. */
static void hear_model(struct launch_context *t, const struct value *c)
{
    static const char prefix[] = "model.model_config.";
    for (int32_t i = 0; i < c->n; i++) {
        const struct value_item *it = &c->items[i];
        const struct dialect_option *o =
            strncmp(it->key, prefix, sizeof(prefix) - 1) == 0
                ? dialect_option_of(nanotron_tables, "", it->key)
                : NULL;
        if (o && o->class == DIALECT_ACTS && strcmp(o->pointer, "/model") == 0)
            launch_hear(t, it);
    }
}

static void read_configuration(struct launch_context *t, const struct value *v)
{
    const struct value *c = launch_flatten(t->arena, v);
    const struct value_item *model = value_get(v, "model"),
                            *config = value_get(model->value, "model_config");
    launch_take_rows(t, rows, c);
    if (!config)
        launch_add_unresolved(t, "/model", value_get(model->value, own_model)->line,
                              "model.%s: it is a GPT-2 whose heads of keys and values "
                              "no key says; a config.json of equal sizes would do",
                              own_model);
    else if (config->value->kind == VALUE_DICT)
        nanotron_take_model(t, config);
    hear_model(t, c);
    take_batch(t, c);
    take_experts(t, c);
    take_schedule(t, c);
    take_tensor(t, c);
    take_overlap(t, c);
    take_sharding(t, c);
    take_precision(t, c);
    take_context(t, c);
    take_doremi(t, c);
    note_stages(t, c);
    launch_assume(t, "/training/attention", json_string("flash"),
                  "_attn_implementation's default");
    launch_assume(t, "/training/optimizer", json_string("adam"),
                  "optimizer_factory's AdamW");
    if (launch_has(t, WIDE "tensor") || launch_has(t, WIDE "pipeline") ||
        launch_has(t, WIDE "context"))
        launch_assume(t, WIDE "placement", json_string("PDT"),
                      "the order of its groups");
    dialect_report(t, nanotron_tables, "", c,
                   (struct dialect_place) { v->line, "", "", true });
}

void nanotron_read(struct launch_context *t, const struct dialect_input *in)
{
    struct launch_named named;
    const struct value *root = in->root;
    if (!in->command) {
        launch_config_title(t, "nanotron's configuration");
    } else {
        launch_note_options(t, in->command, "config");
        root =
            launch_names_document(in->command, &named)
                ? launch_open_document(t->l, in->command, named.text, named.word->line)
                : NULL;
    }
    if (root)
        read_configuration(t, root);
}
