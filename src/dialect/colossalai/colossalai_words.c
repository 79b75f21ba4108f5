/* Options of programs as rows, and the words of a command. */
#include "dialect/colossalai/colossalai_parts.h"

#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Rows ----------------------------------------------------------------------------- */

/* benchmark.py and train.py of llama call options by one letter; -x has a value where it
 * is the precision (examples/language/llama2/pretrain.py of 2023). */
static const struct {
    const char *letter, *name;
} letters[] = {
    { "-c", "config" },          { "-p", "plugin" },
    { "-b", "batch_size" },      { "-g", "grad_checkpoint" },
    { "-l", "max_length" },      { "-x", "xformers" },
    { "-s", "num_steps" },       { "-i", "ignore_steps" },
    { "-w", "warmup_ratio" },    { "-m", "memory_limit" },
    { "-a", "flash_attention" }, { "-d", "dataset" },
    { "-t", "task_name" },       { "-e", "num_epochs" },
    { "-o", "save_dir" },        { "-f", "load" },
    { "-r", "tensorboard_dir" },
};
static const struct dialect_word precisions[] = {
    { "bf16", "bf16" },
    { "fp16", "fp16" },
    { "fp32", "fp32" },
    { NULL, NULL },
};
static const struct dialect_word styles[] = {
    { "1f1b", "1f1b" },
    { "interleaved", "interleaved" },
    { "zbv", "zb-v" }, /* colossalai/pipeline/schedule/zero_bubble_pp.py */
    { NULL, NULL },
};
const struct dialect_option colossalai_rows[] = {
    ROW("tp", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("tp_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("pp", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("pp_size", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("ep", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("ep_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("n_chunks", WIDE "virtual_stages", .kind = DIALECT_DEGREE),
    ROW("num_model_chunks", WIDE "virtual_stages", .kind = DIALECT_DEGREE),
    ROW("pp_style", WIDE "schedule", .kind = DIALECT_WORD, .words = styles,
        .wanted = "schedule that is simulated (1f1b, interleaved, zbv)"),
    ROW("max_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("mixed_precision", "/training/precision", .kind = DIALECT_WORD,
        .words = precisions, .wanted = "precision that is known"),
    ROW("precision", "/training/precision", .kind = DIALECT_WORD, .words = precisions,
        .wanted = "precision that is known"),
    ROW("accumulation_steps", "/training/gradient_accumulation_steps",
        .kind = DIALECT_SIZE),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps",
        .kind = DIALECT_SIZE),
    ROW("grad_clip", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("max_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("num_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("num_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("num_epoch", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("max_epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("plugin", WIDE "library"),
    ROW_ACTS("zero", WIDE "sharding/strategy"),
    ROW_ACTS("zero_stage", WIDE "sharding/strategy"),
    ROW_ACTS("sp", WIDE "context"),
    ROW_ACTS("sp_size", WIDE "context"),
    ROW_ACTS("sp_mode", WIDE "context_comm"),
    ROW_ACTS("enable_sequence_parallelism", WIDE "sequence_parallel"),
    ROW_ACTS("num_microbatches", "/training/micro_batch_size"),
    ROW_ACTS("mbs", "/training/micro_batch_size"),
    ROW_ACTS("microbatch_size", "/training/micro_batch_size"),
    ROW_ACTS("batch_size", "/training/micro_batch_size"),
    ROW_ACTS("per_device_train_batch_size", "/training/micro_batch_size"),
    ROW_ACTS("micro_batch_size", "/training/micro_batch_size"),
    ROW_ACTS("grad_checkpoint", "/training/activation_checkpointing"),
    ROW_ACTS("use_grad_checkpoint", "/training/activation_checkpointing"),
    ROW_ACTS("gradient_checkpointing", "/training/activation_checkpointing"),
    ROW_ACTS("xformers", "/training/attention"),
    ROW_ACTS("use_flash_attn", "/training/attention"),
    ROW_ACTS("flash_attention", "/training/attention"),
    ROW_ACTS("zero_cpu_offload", WIDE "sharding/offload"),
    ROW_ACTS("offload_optim_frac", WIDE "sharding/offload"),
    ROW_ACTS("offload_param_frac", WIDE "sharding/offload"),
    ROW_ACTS("lora_rank", "/training/lora/rank"),
    ROW_ACTS("config", "/model"),
    ROW_ACTS("pretrained", "/model"),
    ROW_ACTS("pretrain", "/model"),
    ROW_ACTS("model_name_or_path", "/model"),
    ROW_ACTS("model_name", "/model"),
    ROW_ACTS("model_type", "/model"),
    ROW_ACTS("model_path", "/model"),
    ROW_ACTS("model", "/model"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW("shard_param_frac", NULL, .class = DIALECT_UNSIMULATED,
        .off = dialect_off_from_one),
    ROW("extra_dp", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW("dp_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW_UNSIMULATED("custom_ckpt"),
    ROW_UNSIMULATED("use_fp8*"),
    ROW_UNSIMULATED("disable_async_reduce"),
    ROW_UNSIMULATED("prefetch_num"),
    ROW_UNSIMULATED("overlap_allgather"),
    ROW_UNSIMULATED("no_cache"),
    ROW_UNSIMULATED("use_kernel"),
    ROW_UNSIMULATED("use_layernorm_kernel"),
    ROW_UNSIMULATED("load_balance*"),
    ROW_UNSIMULATED("comm_overlap"),
    ROW_UNSIMULATED("hierarchical_alltoall"),
    ROW_UNSIMULATED("freeze_non_embeds_params"),
    ROW_UNSIMULATED("lora_config"),
    ROW_UNSIMULATED("enable_jit_fused"),
    ROW_UNSIMULATED("placement_policy"),
    ROW_UNSIMULATED("shard_param_frac"),
    ROW_UNSIMULATED("fp8_communication"),
    ROW_UNSIMULATED("make_vocab_size_divisible_by"),
    ROW_IDLE("initial_scale"),
    ROW_IDLE("min_scale"),
    ROW_IDLE("max_scale"),
    ROW_IDLE("growth_*"),
    ROW_IDLE("backoff_factor"),
    ROW_IDLE("hysteresis"),
    ROW_IDLE("custom_policy"),
    ROW_IDLE("verbose"),
    ROW_IDLE("parallel_output"),
    ROW_IDLE("enable_fused_normalization"),
    ROW_IDLE("pin_memory"),
    ROW_IDLE("strict_ddp_mode"),
    ROW_IDLE("search_range_m"),
    ROW_IDLE("hidden_dim"),
    ROW_IDLE("chunk_*"),
    ROW_IDLE("norm_type"),
    ROW_IDLE("reduce_bucket_size_in_m"),
    ROW_UNSIMULATED("memory_limit"),
    ROW_UNSIMULATED("warmup_ratio"),
    ROW_UNSIMULATED("use_neft"),
    ROW_UNSIMULATED("cap"),
    ROW_IDLE("overlap_p2p"),
    ROW_IDLE("ignore_steps"),
    ROW_IDLE("profile"),
    ROW_IDLE("nsys"),
    ROW_IDLE("dataset*"),
    ROW_IDLE("eval_*"),
    ROW_IDLE("task*"),
    ROW_IDLE("target_f1"),
    ROW_IDLE("save*"),
    ROW_IDLE("load*"),
    ROW_IDLE("log*"),
    ROW_IDLE("output*"),
    ROW_IDLE("tensorboard_dir"),
    ROW_IDLE("config_file"),
    ROW_IDLE("checkpoint_path"),
    ROW_IDLE("use_wandb"),
    ROW_IDLE("lr"),
    ROW_IDLE("learning_rate"),
    ROW_IDLE("weight_decay"),
    ROW_IDLE("warmup_steps"),
    ROW_IDLE("seed"),
    ROW_IDLE("pad_token"),
    ROW_IDLE("padding_mode"),
    ROW_IDLE("tokenizer_dir"),
    ROW_IDLE("skip_save_each_epoch"),
    ROW_IDLE("disable_loss_mask"),
    ROW_IDLE("num_samples"),
    ROW_IDLE("benchmark"),
    ROW_IDLE("router_*"),
    ROW_IDLE("num_workers"),
    ROW_IDLE("max_train_*"),
    ROW_END,
};
const struct dialect_table colossalai_tables[] = {
    { "", colossalai_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", joint, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", others, DIALECT_UNKNOWN_NEAR_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_NEAR_WARNED },
};
/* clang-format on */

/* Words of the command ------------------------------------------------------------- */

void colossalai_put(struct arena *arena, struct value *d, const char *key, int64_t line,
                    struct value *v)
{
    for (int32_t i = 0; i < d->n; i++)
        if (strcmp(d->items[i].key, key) == 0) {
            d->items[i] = (struct value_item) { key, line, v };
            return;
        }
    value_add(arena, d, key, line, v);
}

/* An option by its letter; NULL: it is none. */
static const char *lettered(const char *word, const char *value)
{
    static const char *const numbers[] = { "bf16", "fp16", "fp32", NULL };
    if (strcmp(word, "-x") == 0 && value && names_listed(numbers, value))
        return "mixed_precision";
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (strcmp(letters[i].letter, word) == 0)
            return letters[i].name;
    return NULL;
}

/* The name of an option, by its letter or in full; NULL: the word is none. */
static const char *name_of(struct arena *arena, const struct shell_word *w,
                           const char *value)
{
    if (strncmp(w->text, "--", 2) != 0)
        return lettered(w->text, value);
    char *key = arena_strndup(arena, w->text + 2, strcspn(w->text + 2, "="));
    for (char *s = key; *s; s++)
        *s = *s == '-' ? '_' : *s;
    return *key ? key : NULL;
}

/* The values after an option: true without one, a list of several. Those of many, which
 * nothing here needs, end with the next word that begins with "-". */
static struct value *values_of(struct arena *arena, const struct shell_word *w,
                               int32_t n)
{
    struct value *v = value_new(arena, n ? VALUE_LIST : VALUE_BOOL, w->line, 0);
    v->integer = n == 0;
    if (n == 1)
        return launch_word_value(arena, &w[1], w[1].text);
    for (int32_t i = 1; i <= n; i++)
        value_add(arena, v, NULL, w[i].line,
                  launch_word_value(arena, &w[i], w[i].text));
    return v;
}

/* All options of the script, with "_" in their names. */
struct value *colossalai_words(struct launch_context *t, const struct launch_command *c)
{
    struct arena *arena = t->arena;
    struct value *out = value_new(arena, VALUE_DICT, c->command->line, 0);
    const struct shell_word *w = c->command->words;
    for (int32_t i = c->script + 1, n; i < c->command->n; i += 1 + n) {
        n = 0;
        if (w[i].text[0] != '-')
            continue;
        const char *equals = strchr(w[i].text, '='), *key;
        while (!equals && i + n + 1 < c->command->n && w[i + n + 1].text[0] != '-')
            n++;
        key = name_of(arena, &w[i], n ? w[i + 1].text : NULL);
        if (key && strcmp(key, "strategy") == 0) /* Chat's, before 0.3.5 */
            key = "plugin";
        if (key)
            colossalai_put(arena, out, key, w[i].line,
                           equals ? launch_word_value(arena, &w[i], equals + 1)
                                  : values_of(arena, &w[i], n));
    }
    return out;
}
