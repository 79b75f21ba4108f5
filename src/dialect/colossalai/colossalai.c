#include "dialect/colossalai/colossalai.h"

#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Plugins -------------------------------------------------------------------------- */

enum kind { ZERO, GEMINI, HYBRID, FSDP, DDP };

/* clang-format off */
static const struct plugin {
    const char *word;
    enum kind kind;
    int stage; /* of ZERO; 0: another option says it */
    bool offload, half; /* half: it converts to fp16 by default */
} plugins[] = {
    { "gemini", GEMINI, 0, false, true }, { "gemini_auto", GEMINI, 0, false, true }, { "gemini_cuda", GEMINI, 0, false, true },
    { "gemini_cpu", GEMINI, 0, true, true },
    { "low_level_zero", ZERO, 1, false, true }, { "zero1", ZERO, 1, false, true }, { "zero1_cpu", ZERO, 1, true, true },
    { "zero2", ZERO, 2, false, true }, { "zero2_cpu", ZERO, 2, true, true }, { "zero", ZERO, 0, false, true },
    { "3d", HYBRID, 0, false, true }, { "3d_cpu", HYBRID, 0, true, true }, { "hybrid", HYBRID, 0, false, true },
    { "hybrid_parallel", HYBRID, 0, false, true }, { "moe_hybrid", HYBRID, 0, false, true },
    { "fsdp", FSDP, 0, false, true }, { "fsdp_cpu", FSDP, 0, true, true }, { "torch_fsdp", FSDP, 0, false, true },
    { "torch_ddp_fp16", DDP, 0, false, true }, { "torch_ddp", DDP, 0, false, false }, { "ddp", DDP, 0, false, false },
};
/* clang-format on */

static const struct plugin *plugin_of(const char *word)
{
    for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
        if (strcmp(plugins[i].word, word) == 0)
            return &plugins[i];
    return NULL;
}

/* Programs whose parsers are known, distinguished by an option that the others lack. */
struct program {
    const char *name, *mark, *model, *plugin, *precision; /* the last three: defaults */
    int64_t length, batch, accumulation;                  /* likewise; 0: not known */
    int64_t pipeline, expert, stage;                      /* likewise */
    double norm;
    bool inside;     /* degrees are in its text */
    bool classifies; /* GLUE */
};

/* clang-format off */
static const struct program programs[] = {
    /* examples/language/mixtral and deepseek; bert; llama and gpt */
    { .name = "benchmark", .mark = "ep", .plugin = "3d", .precision = "bf16", .length = 4096, .batch = 1 },
    { .name = "benchmark", .mark = "model_type", .plugin = "torch_ddp", .inside = true, .classifies = true },
    { .name = "benchmark", .mark = "", .model = "7b", .plugin = "gemini", .precision = "bf16", .length = 4096, .batch = 2 },
    /* applications/Colossal-LLaMA, ColossalChat, ColossalMoE */
    { .name = "train", .mark = "pretrained", .plugin = "gemini", .precision = "fp16", .length = 8192, .batch = 2, .norm = 1 },
    { .name = "train_sft", .mark = "pretrain", .plugin = "gemini", .precision = "bf16", .length = 512, .batch = 4, .accumulation = 8, .norm = 1 },
    { .name = "train", .mark = "model_name", .plugin = "hybrid", .precision = "bf16", .length = 2048, .batch = 1, .pipeline = 2, .expert = 2, .stage = 2 },
    /* examples/language/bert, gpt/hybridparallelism, opt */
    { .name = "finetune", .mark = "target_f1", .plugin = "torch_ddp", .length = 128, .batch = 32, .stage = 1, .inside = true, .classifies = true },
    { .name = "opt_train_demo", .mark = "", .plugin = "gemini", .batch = 32, .inside = true },
    { .name = "opt_benchmark", .mark = "", .plugin = "gemini", .batch = 32, .inside = true },
    { .name = NULL, .inside = true },
};

/* Rows ----------------------------------------------------------------------------- */

/* benchmark.py and train.py of llama call options by one letter; -x has a value where it
 * is the precision (examples/language/llama2/pretrain.py of 2023). */
static const struct { const char *letter, *name; } letters[] = {
    { "-c", "config" }, { "-p", "plugin" }, { "-b", "batch_size" }, { "-g", "grad_checkpoint" }, { "-l", "max_length" }, { "-x", "xformers" },
    { "-s", "num_steps" }, { "-i", "ignore_steps" }, { "-w", "warmup_ratio" }, { "-m", "memory_limit" }, { "-a", "flash_attention" },
    { "-d", "dataset" }, { "-t", "task_name" }, { "-e", "num_epochs" }, { "-o", "save_dir" }, { "-f", "load" }, { "-r", "tensorboard_dir" },
};
static const struct dialect_word precisions[] = {
    { "bf16", "bf16" }, { "fp16", "fp16" }, { "fp32", "fp32" }, { NULL, NULL },
};
static const struct dialect_word styles[] = {
    { "1f1b", "1f1b" }, { "interleaved", "interleaved" }, { NULL, NULL },
};
static const struct dialect_option rows[] = {
    ROW("tp", WIDE "tensor", .kind = DIALECT_DEGREE), ROW("tp_size", WIDE "tensor", .kind = DIALECT_DEGREE),
    ROW("pp", WIDE "pipeline", .kind = DIALECT_DEGREE), ROW("pp_size", WIDE "pipeline", .kind = DIALECT_DEGREE),
    ROW("ep", WIDE "expert", .kind = DIALECT_DEGREE), ROW("ep_size", WIDE "expert", .kind = DIALECT_DEGREE),
    ROW("n_chunks", WIDE "virtual_stages", .kind = DIALECT_DEGREE), ROW("num_model_chunks", WIDE "virtual_stages", .kind = DIALECT_DEGREE),
    ROW("pp_style", WIDE "schedule", .kind = DIALECT_WORD, .words = styles, .wanted = "schedule that is simulated (1f1b, interleaved)"),
    ROW("max_length", "/training/sequence_length", .kind = DIALECT_SIZE), ROW("max_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("max_seq_length", "/training/sequence_length", .kind = DIALECT_SIZE), ROW("seq_length", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("seq_len", "/training/sequence_length", .kind = DIALECT_SIZE),
    ROW("mixed_precision", "/training/precision", .kind = DIALECT_WORD, .words = precisions, .wanted = "precision that is known"),
    ROW("precision", "/training/precision", .kind = DIALECT_WORD, .words = precisions, .wanted = "precision that is known"),
    ROW("accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE),
    ROW("gradient_accumulation_steps", "/training/gradient_accumulation_steps", .kind = DIALECT_SIZE),
    ROW("grad_clip", "/training/gradient_clipping", .kind = DIALECT_NORM), ROW("max_norm", "/training/gradient_clipping", .kind = DIALECT_NORM),
    ROW("num_steps", "/training/steps", .kind = DIALECT_POSITIVE), ROW("max_steps", "/training/steps", .kind = DIALECT_POSITIVE),
    ROW("num_epochs", "/training/epochs", .kind = DIALECT_POSITIVE), ROW("num_epoch", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW("max_epochs", "/training/epochs", .kind = DIALECT_POSITIVE), ROW("epochs", "/training/epochs", .kind = DIALECT_POSITIVE),
    ROW_END,
};
/* Read together with others. */
static const struct dialect_option joint[] = {
    ROW_ACTS("plugin", WIDE "library"), ROW_ACTS("zero", WIDE "sharding/strategy"), ROW_ACTS("zero_stage", WIDE "sharding/strategy"),
    ROW_ACTS("sp", WIDE "context"), ROW_ACTS("sp_size", WIDE "context"), ROW_ACTS("sp_mode", WIDE "context_comm"), ROW_ACTS("enable_sequence_parallelism", WIDE "sequence_parallel"),
    ROW_ACTS("num_microbatches", "/training/micro_batch_size"), ROW_ACTS("mbs", "/training/micro_batch_size"), ROW_ACTS("microbatch_size", "/training/micro_batch_size"), ROW_ACTS("batch_size", "/training/micro_batch_size"),
    ROW_ACTS("micro_batch_size", "/training/micro_batch_size"), ROW_ACTS("grad_checkpoint", "/training/activation_checkpointing"),
    ROW_ACTS("use_grad_checkpoint", "/training/activation_checkpointing"), ROW_ACTS("gradient_checkpointing", "/training/activation_checkpointing"),
    ROW_ACTS("xformers", "/training/attention"), ROW_ACTS("use_flash_attn", "/training/attention"), ROW_ACTS("flash_attention", "/training/attention"),
    ROW_ACTS("zero_cpu_offload", WIDE "sharding/offload"), ROW_ACTS("offload_optim_frac", WIDE "sharding/offload"), ROW_ACTS("offload_param_frac", WIDE "sharding/offload"),
    ROW_ACTS("lora_rank", "/training/lora/rank"), ROW_ACTS("config", "/model"), ROW_ACTS("pretrained", "/model"), ROW_ACTS("pretrain", "/model"),
    ROW_ACTS("model_name_or_path", "/model"), ROW_ACTS("model_name", "/model"), ROW_ACTS("model_type", "/model"), ROW_ACTS("model_path", "/model"), ROW_ACTS("model", "/model"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW("shard_param_frac", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_from_one), ROW("extra_dp", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one),
    ROW("dp_size", NULL, .class = DIALECT_UNSIMULATED, .off = dialect_off_at_one), ROW_UNSIMULATED("custom_ckpt"), ROW_UNSIMULATED("use_fp8*"), ROW_UNSIMULATED("disable_async_reduce"),
    ROW_UNSIMULATED("prefetch_num"), ROW_UNSIMULATED("overlap_allgather"), ROW_UNSIMULATED("no_cache"), ROW_UNSIMULATED("use_kernel"), ROW_UNSIMULATED("use_layernorm_kernel"),
    ROW_UNSIMULATED("load_balance*"), ROW_UNSIMULATED("comm_overlap"), ROW_UNSIMULATED("hierarchical_alltoall"), ROW_UNSIMULATED("freeze_non_embeds_params"), ROW_UNSIMULATED("lora_config"),
    ROW_UNSIMULATED("enable_jit_fused"), ROW_UNSIMULATED("placement_policy"), ROW_UNSIMULATED("shard_param_frac"), ROW_UNSIMULATED("fp8_communication"), ROW_UNSIMULATED("make_vocab_size_divisible_by"),
    ROW_IDLE("initial_scale"), ROW_IDLE("min_scale"), ROW_IDLE("max_scale"), ROW_IDLE("growth_*"), ROW_IDLE("backoff_factor"), ROW_IDLE("hysteresis"), ROW_IDLE("custom_policy"), ROW_IDLE("verbose"), ROW_IDLE("parallel_output"),
    ROW_IDLE("enable_fused_normalization"), ROW_IDLE("pin_memory"), ROW_IDLE("strict_ddp_mode"), ROW_IDLE("search_range_m"), ROW_IDLE("hidden_dim"), ROW_IDLE("chunk_*"), ROW_IDLE("norm_type"), ROW_IDLE("reduce_bucket_size_in_m"), ROW_UNSIMULATED("memory_limit"), ROW_UNSIMULATED("warmup_ratio"), ROW_UNSIMULATED("use_neft"), ROW_UNSIMULATED("cap"),
    ROW_IDLE("overlap_p2p"), ROW_IDLE("ignore_steps"), ROW_IDLE("profile"), ROW_IDLE("nsys"), ROW_IDLE("dataset*"), ROW_IDLE("eval_*"), ROW_IDLE("task*"), ROW_IDLE("target_f1"),
    ROW_IDLE("save*"), ROW_IDLE("load*"), ROW_IDLE("log*"), ROW_IDLE("output*"), ROW_IDLE("tensorboard_dir"), ROW_IDLE("config_file"), ROW_IDLE("checkpoint_path"), ROW_IDLE("use_wandb"), ROW_IDLE("lr"),
    ROW_IDLE("learning_rate"), ROW_IDLE("weight_decay"), ROW_IDLE("warmup_steps"), ROW_IDLE("seed"), ROW_IDLE("pad_token"), ROW_IDLE("padding_mode"), ROW_IDLE("tokenizer_dir"),
    ROW_IDLE("skip_save_each_epoch"), ROW_IDLE("disable_loss_mask"), ROW_IDLE("num_samples"), ROW_IDLE("benchmark"), ROW_IDLE("router_*"), ROW_IDLE("num_workers"), ROW_IDLE("max_train_*"),
    ROW_END,
};
const struct dialect_table colossalai_tables[] = {
    { "", rows, DIALECT_UNKNOWN_NEAR_WARNED }, { "", joint, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", others, DIALECT_UNKNOWN_NEAR_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_NEAR_WARNED },
};
/* clang-format on */

/* Words of the command ------------------------------------------------------------- */

static void put(struct arena *arena, struct value *d, const char *key, int64_t line,
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
static struct value *words_of(struct launch_context *t, const struct launch_command *c)
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
        if (key)
            put(arena, out, key, w[i].line,
                equals ? launch_word_value(arena, &w[i], equals + 1)
                       : values_of(arena, &w[i], n));
    }
    return out;
}

static const struct value_item *any(const struct value *c, const char *const *names)
{
    const struct value_item *it = NULL;
    for (; *names && !it; names++)
        it = value_get(c, *names);
    return it;
}

static int64_t whole(struct launch_context *t, const struct value *c,
                     const char *const *names, const char *pointer, int64_t otherwise)
{
    const struct value_item *it = any(c, names);
    int64_t n = otherwise;
    launch_hear(t, it);
    if (it && (!launch_whole(it->value, &n) || n < 0)) {
        launch_unresolved_item(t, pointer, it, "whole number");
        return otherwise;
    }
    return n;
}

static bool is_on(struct launch_context *t, const struct value *c,
                  const char *const *names)
{
    const struct value_item *it = any(c, names);
    bool on = it && it->value->kind != VALUE_UNKNOWN && launch_true(it->value);
    launch_hear(t, it);
    return on;
}

/* A program of the table without an option that marks it is another. */
static const struct program *program_of(const char *path, const struct value *c)
{
    const char *name = launch_last_part(path);
    size_t n = strcspn(name, ".");
    const struct program *p = programs;
    for (; p->name; p++)
        if (strlen(p->name) == n && strncmp(p->name, name, n) == 0 &&
            (!*p->mark || value_get(c, p->mark)))
            return p;
    return p;
}

/* The model ------------------------------------------------------------------------ */

/* A size of the llama benchmark, or a checkpoint. */
static void take_model(struct launch_context *t, const struct value *c,
                       const struct program *program)
{
    static const char *const names[] = { "config",     "pretrained",
                                         "pretrain",   "model_name_or_path",
                                         "model_name", "model_path",
                                         "model",      "model_type",
                                         NULL };
    static const struct dialect_option row = ROW("config", "/model");
    const struct value_item *it = any(c, names);
    const char *usual = program->model && !it ? program->model : "";
    const char *word = it && it->value->kind == VALUE_STRING ? it->value->text : usual;
    struct cfg known = launch_flavor(t, "colossalai", word);
    const char *id = NULL;
    bool named = known.json && !cfg_is_object(known) && cfg_string(known, &id) == 0;
    struct value v = { .kind = VALUE_STRING, .line = t->l->line, .text = id };
    const struct value_item from = { it ? it->key : "config's default",
                                     it ? it->line : t->l->line, &v };
    launch_hear(t, it);
    if (cfg_is_object(known) && program->model) {
        launch_set(t, "/model", json_deep_copy(known.json), &from);
        launch_note(t->l, from.line, DIAG_ASSUMED,
                    "config: \"%.20s\" is taken to be of examples/language/llama (give "
                    "--set /model=... for another)",
                    word);
    } else if (cfg_is_object(known))
        launch_add_unresolved(
            t, "/model", from.line,
            "config: the sizes of \"%.20s\" are in the program's text", word);
    else if (named)
        trainer_take_model(t, &row, &from);
    else if (it && it->value->kind == VALUE_STRING && *word)
        trainer_take_model(t, &row, it);
}

static void take_lora(struct launch_context *t, const struct value *c)
{
    static const char *const names[] = { "lora_rank", NULL };
    int64_t rank = whole(t, c, names, "/training/lora", 0);
    if (rank < 1)
        return;
    launch_set(t, "/training/lora/rank", json_integer((json_int_t)rank), any(c, names));
    launch_assume(t, "/training/lora/alpha", json_integer(32),
                  "the example's lora_alpha");
}

/* Degrees and states --------------------------------------------------------------- */

/* Of hybrid parallelism: two ways split activations inside a tensor group, two split the
 * sequence over ranks of their own. */
static void take_sequence(struct launch_context *t, const struct value *c)
{
    static const char *const sizes[] = { "sp", "sp_size", NULL },
                             *const modes[] = { "sp_mode", NULL },
                             *const enables[] = { "enable_sequence_parallelism", NULL };
    int64_t n = whole(t, c, sizes, WIDE "context", 1);
    bool on = n > 1 || is_on(t, c, enables);
    const struct value_item *mode = any(c, modes), *it = any(c, sizes);
    const char *word =
        mode && mode->value->kind == VALUE_STRING ? mode->value->text : "";
    bool own = strcmp(word, "all_to_all") == 0 || strcmp(word, "ring_attn") == 0;
    launch_hear(t, mode);
    if (!on)
        return;
    if (own && n > 1) {
        launch_set(t, WIDE "context", json_integer((json_int_t)n), it);
        launch_set(t, WIDE "context_comm",
                   json_string(word[0] == 'a' ? "alltoall" : "ring"), mode);
    } else if (launch_has(t, WIDE "tensor")) {
        launch_set(t, WIDE "sequence_parallel", json_true(),
                   mode ? mode
                   : it ? it
                        : any(c, enables));
    }
}

static void take_hybrid(struct launch_context *t, const struct value *c,
                        const struct program *program, const struct value_item *plugin)
{
    static const char *const stages[] = { "zero", "zero_stage", NULL };
    static const char *const strategies[] = { "none", "optimizer", "gradients" };
    int64_t stage = whole(t, c, stages, WIDE "sharding/strategy", program->stage);
    static const char *const cut[] = { WIDE "tensor", WIDE "pipeline", NULL };
    for (const char *const *at = cut; program->inside && *at; at++)
        if (!launch_has(t, *at))
            launch_add_unresolved(t, *at, plugin->line,
                                  "plugin: the degrees of this program's "
                                  "HybridParallelPlugin are in its text (1 is none)");
    if (program->pipeline > 1)
        launch_assume(t, WIDE "pipeline", json_integer((json_int_t)program->pipeline),
                      "pp_size's default");
    if (program->expert > 1)
        launch_assume(t, WIDE "expert", json_integer((json_int_t)program->expert),
                      "ep_size's default");
    take_sequence(t, c);
    launch_assume(t, WIDE "library", json_string("megatron"),
                  "HybridParallelPlugin as Megatron's");
    if (stage > 2)
        launch_wrong_option(t, any(c, stages), DIAG_OUT_OF_RANGE,
                            "HybridParallelPlugin has stages 0, 1 and 2");
    else if (any(c, stages))
        launch_set(t, WIDE "sharding/strategy", json_string(strategies[stage]),
                   any(c, stages));
    else
        launch_assume(t, WIDE "sharding/strategy", json_string(strategies[stage]),
                      "zero_stage's default");
}

/* Host memory has all of the states, or a share of them. */
static void take_offload(struct launch_context *t, const struct value *c,
                         const struct plugin *p, const struct value_item *plugin)
{
    static const char at[] = WIDE "sharding/offload";
    static const char *const switches[] = { "zero_cpu_offload", NULL };
    const struct value_item *states = value_get(c, "offload_optim_frac"),
                            *params = value_get(c, "offload_param_frac"), *it;
    double of_states = 0, of_params = 0;
    bool on = is_on(t, c, switches);
    launch_hear(t, states);
    launch_hear(t, params);
    if (states)
        launch_real(states->value, &of_states);
    if (params)
        launch_real(params->value, &of_params);
    it = of_params > 0   ? params
         : of_states > 0 ? states
         : on            ? any(c, switches)
                         : plugin;
    if (!on && !p->offload && of_states <= 0 && of_params <= 0)
        return;
    launch_set(t, at, json_string(of_params > 0 ? "parameters" : "optimizer"), it);
    if ((of_states > 0 && of_states < 1) || (of_params > 0 && of_params < 1))
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: a share of the states in host memory is taken as all of them",
                    it->key);
}

static void take_plugin(struct launch_context *t, const struct value *c,
                        const struct program *program, const struct plugin *p,
                        const struct value_item *it)
{
    static const char *const libraries[] = {
        [ZERO] = "deepspeed", [GEMINI] = "deepspeed", [HYBRID] = "megatron",
        [FSDP] = "fsdp",      [DDP] = "ddp",
    };
    static const char *const kept[] = { NULL, "optimizer", "gradients" };
    const struct value_item from = { "plugin's default", t->l->line,
                                     value_new(t->arena, VALUE_NONE, t->l->line, 0) };
    it = it ? it : &from;
    if (p->kind == HYBRID)
        take_hybrid(t, c, program, it);
    launch_assume(t, WIDE "library", json_string(libraries[p->kind]), it->key);
    if (p->kind == ZERO && p->stage)
        launch_set(t, WIDE "sharding/strategy", json_string(kept[p->stage]), it);
    if (p->kind == GEMINI || p->kind == FSDP)
        launch_set(t, WIDE "sharding/strategy", json_string("full"), it);
    take_offload(t, c, p, it);
    if (p->kind != DDP && p->kind != FSDP)
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "plugin: Colossal-AI's \"%s\" is taken as %s: chunks, kernels and "
                    "the host's times are not its own",
                    p->word,
                    p->kind == HYBRID ? "Megatron's parallelism"
                    : p->kind == ZERO ? "DeepSpeed's ZeRO"
                                      : "DeepSpeed's ZeRO-3");
}

/* Batches, precision, memory ------------------------------------------------------- */

/* With a pipeline a batch of a replica is cut into microbatches. */
static void take_batch(struct launch_context *t, const struct value *c,
                       const struct program *program, bool hybrid)
{
    static const char at[] = "/training/micro_batch_size";
    static const char *const batches[] = { "batch_size", "micro_batch_size", NULL },
                             *const parts[] = { "mbs", "microbatch_size", NULL };
    const struct value_item *it = any(c, batches), *part = any(c, parts);
    int64_t batch = whole(t, c, batches, at, program->batch), micro;
    if (batch < 1)
        return;
    if (!hybrid || launch_number(t, WIDE "pipeline", 1) < 2) {
        if (it)
            launch_set(t, at, json_integer((json_int_t)batch), it);
        else
            launch_assume(t, at, json_integer((json_int_t)batch),
                          "batch_size's default");
        return;
    }
    micro = whole(t, c, parts, at, 1);
    if (micro < 1 || batch % micro) {
        launch_add_unresolved(
            t, at, part ? part->line : t->l->line,
            "microbatch_size: the batch of a replica is no multiple of "
            "it");
        return;
    }
    if (part)
        launch_set(t, at, json_integer((json_int_t)micro), part);
    else
        launch_assume(t, at, json_integer((json_int_t)micro),
                      "microbatch_size's default");
    if (it)
        launch_set(t, "/training/microbatches",
                   json_integer((json_int_t)(batch / micro)), it);
    else
        launch_assume(t, "/training/microbatches",
                      json_integer((json_int_t)(batch / micro)),
                      "batch_size's default");
}

static void take_rest(struct launch_context *t, const struct value *c,
                      const struct program *program, const struct plugin *p)
{
    static const char *const again[] = { "grad_checkpoint", "use_grad_checkpoint",
                                         "gradient_checkpointing", NULL },
                             *const flash[] = { "xformers", "use_flash_attn",
                                                "flash_attention", NULL };
    static const char checkpoints[] = "/training/activation_checkpointing";
    const char *usual = program->precision ? program->precision
                        : p->half          ? "fp16"
                                           : "fp32";
    bool autocast = p->kind == DDP && strcmp(usual, "fp32") != 0;
    if (is_on(t, c, again))
        launch_set(t, checkpoints, json_string("full"), any(c, again));
    else
        launch_assume(t, checkpoints, json_string("none"), "grad_checkpoint's default");
    if (is_on(t, c, flash))
        launch_set(t, "/training/attention", json_string("flash"), any(c, flash));
    launch_assume(t, "/training/precision",
                  autocast ? json_sprintf("amp_%s", usual) : json_string(usual),
                  program->precision ? "mixed_precision's default"
                                     : "plugin's default");
    if (program->length)
        launch_assume(t, "/training/sequence_length",
                      json_integer((json_int_t)program->length),
                      "max_length's default");
    if (program->accumulation > 1)
        launch_assume(t, "/training/gradient_accumulation_steps",
                      json_integer((json_int_t)program->accumulation),
                      "accumulation_steps' default");
    if (program->norm > 0)
        launch_assume(t, "/training/gradient_clipping", json_real(program->norm),
                      "grad_clip's default");
    launch_assume(t, "/training/optimizer", json_string("adam"), "HybridAdam");
}

/* All of it ------------------------------------------------------------------------ */

/* Plugins by their classes, and what their arguments are called in the rows
 * (colossalai/booster/plugin, ColossalAI 0.4 and 0.5). */
static const struct {
    const char *class, *word;
} classes[] = {
    { "HybridParallelPlugin", "3d" },  { "MoeHybridParallelPlugin", "3d" },
    { "LowLevelZeroPlugin", "zero" },  { "GeminiPlugin", "gemini" },
    { "TorchDDPPlugin", "torch_ddp" }, { "TorchFSDPPlugin", "fsdp" },
};
static const struct {
    const char *argument, *name;
} arguments[] = {
    { "enable_flash_attention", "use_flash_attn" },
    { "enable_all_optimization", "use_flash_attn" },
    { "sequence_parallelism_mode", "sp_mode" },
    { "cpu_offload", "zero_cpu_offload" },
    { "stage", "zero_stage" },
    { "extra_dp_size", "extra_dp" },
};

/* The arguments by the rows' names, and the batch of the loader; of several of a name the
 * one that is on. */
static struct value *words_of_call(struct launch_context *t, const struct value *given,
                                   const struct value *batch, int64_t line)
{
    struct value *c = value_new(t->arena, VALUE_DICT, line, 0);
    for (int32_t i = 0; i < given->n; i++) {
        const struct value_item *it = &given->items[i], *old;
        const char *name = it->key;
        for (size_t j = 0; j < sizeof(arguments) / sizeof(arguments[0]); j++)
            name =
                strcmp(arguments[j].argument, it->key) == 0 ? arguments[j].name : name;
        old = value_get(c, name);
        if (it->value->kind == VALUE_NONE || (old && launch_true(old->value)))
            continue;
        put(t->arena, c, name, line, it->value);
    }
    if (batch)
        put(t->arena, c, "batch_size", line, (struct value *)(uintptr_t)batch);
    return c;
}

/* Which of several plugins LowLevelZeroPlugin is, its stage says: 1 without one. */
static const struct plugin *plugin_of_class(const struct value *c, const char *class)
{
    const struct value_item *stage = value_get(c, "zero_stage");
    const char *word = "";
    int64_t n = 1;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        word = strcmp(classes[i].class, class) == 0 ? classes[i].word : word;
    if (strcmp(word, "zero") == 0 && stage)
        launch_whole(stage->value, &n);
    return plugin_of(strcmp(word, "zero") != 0 ? word : n == 2 ? "zero2" : "zero1");
}

bool colossalai_has_class(const char *class)
{
    for (size_t i = 0; class && i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strcmp(classes[i].class, class) == 0)
            return true;
    return false;
}

void colossalai_take_call(struct launch_context *t, const struct value *given,
                          const struct value *batch, int64_t line)
{
    static const char *const stages[] = { "zero_stage", NULL };
    const struct program none = { .name = "" };
    struct value *c = words_of_call(t, given, batch, line);
    const struct plugin *p = plugin_of_class(c, given->text);
    struct value v = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { given->text, line, &v };
    const struct value_item *parts = value_get(c, "num_microbatches"),
                            *policy = value_get(c, "placement_policy");
    int64_t n = 1, size;
    launch_take_rows(t, rows, c);
    if (parts && launch_whole(parts->value, &n) && n > 0 && batch &&
        launch_whole(batch, &size) &&
        size % n == 0) { /* the batch is cut into so many */
        struct value *each = value_new(t->arena, VALUE_INT, line, 0);
        each->integer = size / n;
        put(t->arena, c, "microbatch_size", line, each);
        launch_hear(t, value_get(c, "num_microbatches"));
    }
    if (p->kind == ZERO)
        launch_hear(t, any(c, stages));
    take_plugin(t, c, &none, p, &from);
    if (policy && policy->value->kind == VALUE_STRING &&
        strcmp(policy->value->text, "auto") == 0)
        launch_hear(t, policy); /* what fits stays on the GPU */
    take_batch(t, c, &none, p->kind == HYBRID);
    if (is_on(t, c, (const char *const[]) { "use_flash_attn", NULL }))
        launch_set(t, "/training/attention", json_string("flash"),
                   value_get(c, "use_flash_attn"));
    if (p->half)
        launch_assume(t, "/training/precision", json_string("fp16"),
                      "precision's default");
    t->converts = p->kind != DDP;
    dialect_report(t, colossalai_tables, "", c,
                   (struct dialect_place) { line, "", "", true });
}

static bool starts_it(const struct launch_command *c)
{
    for (int32_t i = 0; i < c->script; i++)
        if (strcmp(launch_last_part(c->command->words[i].text), "colossalai") == 0)
            return true;
    return false;
}

/* `colossalai run`, or a plugin of Colossal-AI. */
bool colossalai_recognises(const struct dialect_input *in)
{
    const struct launch_command *c = in->command;
    const struct value_item *it = value_get(in->root, "--plugin");
    if (in->source != DIALECT_COMMAND || !c)
        return false;
    return starts_it(c) ||
           (it && it->value->kind == VALUE_STRING && plugin_of(it->value->text));
}

/* GLUE is classification; a program that is none of the table asks. */
static void take_task(struct launch_context *t, const struct launch_command *c,
                      const struct program *program)
{
    const char *path = c->command->words[c->script].text;
    struct value v = { .line = c->command->line };
    const struct value_item from = { launch_last_part(path), v.line, &v };
    if (program->classifies)
        launch_set(t, "/training/task", json_string("classification"), &from);
    else if (!program->name)
        launch_take_entry(t, path, &from);
}

void colossalai_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *c = words_of(t, in->command);
    const char *path = in->command->command->words[in->command->script].text;
    const struct program *program = program_of(path, c);
    const struct value_item *it = value_get(c, "plugin");
    const char *word = launch_word(c, "plugin", program->plugin ? program->plugin : "");
    const struct plugin *p = plugin_of(word);
    take_task(t, in->command, program);
    launch_take_rows(t, rows, c);
    take_model(t, c, program);
    take_lora(t, c);
    launch_hear(t, it);
    if (!p) {
        launch_add_unresolved(
            t, WIDE "library", it ? it->line : t->l->line,
            "plugin: %s%.40s%s is no plugin of Colossal-AI that is known "
            "(ddp, fsdp, deepspeed or megatron comes near)",
            *word ? "\"" : "", *word ? word : "it", *word ? "\"" : "");
        p = plugin_of("torch_ddp_fp16");
    } else {
        take_plugin(t, c, program, p, it);
    }
    take_batch(t, c, program, p->kind == HYBRID);
    take_rest(t, c, program, p);
    dialect_report(t, colossalai_tables, "", c,
                   (struct dialect_place) { t->l->line, "", "", true });
}

bool colossalai_is_flag(const char *option)
{
    static const char *const flags[] = {
        "--grad-checkpoint",
        "--use-grad-checkpoint",
        "--use-flash-attn",
        "--xformers",
        "--zero-cpu-offload",
        "--enable-sequence-parallelism",
        NULL,
    };
    return names_listed(flags, option);
}
