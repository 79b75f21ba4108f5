#include "dialect/colossalai/colossalai_parts.h"

#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

/* Plugins -------------------------------------------------------------------------- */

/* clang-format off */
static const struct colossalai_plugin plugins[] = {
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

/* Before 0.3.5 Chat's programs had --strategy colossalai_zero2. */
static const char chat[] = "colossalai_";

const struct colossalai_plugin *colossalai_plugin(const char *word)
{
    word += strncmp(word, chat, sizeof(chat) - 1) == 0 ? sizeof(chat) - 1 : 0;
    for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
        if (strcmp(plugins[i].word, word) == 0)
            return &plugins[i];
    return NULL;
}

/* clang-format off */
static const struct colossalai_program programs[] = {
    /* examples/language/mixtral and deepseek; bert; llama and gpt */
    { .name = "benchmark", .mark = "ep", .plugin = "3d", .precision = "bf16", .length = 4096, .batch = 1 },
    { .name = "benchmark", .mark = "model_type", .plugin = "torch_ddp", .inside = true, .classifies = true },
    { .name = "benchmark", .mark = "", .model = "7b", .plugin = "gemini", .precision = "bf16", .length = 4096, .batch = 2 },
    /* applications/Colossal-LLaMA, ColossalChat, ColossalMoE */
    { .name = "train", .mark = "pretrained", .plugin = "gemini", .precision = "fp16", .length = 8192, .batch = 2, .norm = 1, .split = "split_gather" },
    { .name = "train_sft", .mark = "pretrain", .plugin = "gemini", .precision = "bf16", .length = 512, .batch = 4, .accumulation = 8, .norm = 1, .split = "split_gather" },
    { .name = "train", .mark = "model_name", .plugin = "hybrid", .precision = "bf16", .length = 2048, .batch = 1, .pipeline = 2, .expert = 2, .stage = 2 },
    /* examples/language/bert, gpt/hybridparallelism, opt */
    { .name = "finetune", .mark = "target_f1", .plugin = "torch_ddp", .length = 128, .batch = 32, .stage = 1, .inside = true, .classifies = true },
    { .name = "opt_train_demo", .mark = "", .plugin = "gemini", .batch = 32, .inside = true },
    { .name = "opt_benchmark", .mark = "", .plugin = "gemini", .batch = 32, .inside = true },
    { .name = NULL, .inside = true },
};

/* What all read with -------------------------------------------------------------- */

const struct value_item *colossalai_any(const struct value *c, const char *const *names)
{
    const struct value_item *it = NULL;
    for (; *names && !it; names++)
        it = value_get(c, *names);
    return it;
}

static int64_t whole(struct launch_context *t, const struct value *c,
                     const char *const *names, const char *pointer, int64_t otherwise)
{
    const struct value_item *it = colossalai_any(c, names);
    int64_t n = otherwise;
    launch_hear(t, it);
    if (it && (!launch_whole(it->value, &n) || n < 0)) {
        launch_unresolved_item(t, pointer, it, "whole number");
        return otherwise;
    }
    return n;
}

bool colossalai_is_on(struct launch_context *t, const struct value *c,
                  const char *const *names)
{
    const struct value_item *it = colossalai_any(c, names);
    bool on = it && it->value->kind != VALUE_UNKNOWN && launch_true(it->value);
    launch_hear(t, it);
    return on;
}

/* A program of the table without an option that marks it is another. */
static const struct colossalai_program *program_of(const char *path, const struct value *c)
{
    const char *name = launch_last_part(path);
    size_t n = strcspn(name, ".");
    const struct colossalai_program *p = programs;
    for (; p->name; p++)
        if (strlen(p->name) == n && strncmp(p->name, name, n) == 0 &&
            (!*p->mark || value_get(c, p->mark)))
            return p;
    return p;
}

/* The model ------------------------------------------------------------------------ */

/* A size of the llama benchmark, or a checkpoint. */
static void take_model(struct launch_context *t, const struct value *c,
                       const struct colossalai_program *program)
{
    static const char *const names[] = { "config",     "pretrained",
                                         "pretrain",   "model_name_or_path",
                                         "model_name", "model_path",
                                         "model",      "model_type",
                                         NULL };
    static const struct dialect_option row = ROW("config", "/model");
    const struct value_item *it = colossalai_any(c, names);
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

/* Chat's programs give all linear modules adapters, the head among them (applications/
 * ColossalChat/coati/models/lora.py, convert_to_lora_module). */
static bool is_of_chat(const char *program)
{
    static const char *const ends[] = { "_sft", "_dpo", "_kto", "_orpo", "_simpo",
                                        "_reward_model" };
    const char *name = launch_last_part(program), *rest = strchr(name, '_');
    bool known = strncmp(name, "train_", 6) == 0 || strncmp(name, "benchmark_", 10) == 0;
    for (size_t i = 0; known && i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strncmp(rest, ends[i], strlen(ends[i])) == 0)
            return true;
    return false;
}

static void take_lora(struct launch_context *t, const struct value *c,
                      const char *program)
{
    static const char *const names[] = { "lora_rank", NULL };
    const struct value_item *it = colossalai_any(c, names);
    int64_t rank = whole(t, c, names, "/training/lora", 0);
    if (rank < 1)
        return;
    launch_set(t, "/training/lora/rank", json_integer((json_int_t)rank), it);
    if (is_of_chat(program)) {
        launch_assume(t, "/training/lora/target_modules", json_string("all-linear"),
                      "coati's own adapters");
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: the head has adapters, too, which are left out", it->key);
    }
    launch_assume(t, "/training/lora/alpha", json_integer(32),
                  "the example's lora_alpha");
}

/* Degrees and states --------------------------------------------------------------- */

/* Of hybrid parallelism: two ways split activations inside a tensor group, two split the
 * sequence over ranks of their own. */
static void take_sequence(struct launch_context *t, const struct value *c,
                          const struct colossalai_program *program)
{
    static const char *const sizes[] = { "sp", "sp_size", NULL },
                             *const modes[] = { "sp_mode", NULL },
                             *const enables[] = { "enable_sequence_parallelism", NULL };
    int64_t n = whole(t, c, sizes, WIDE "context", 1);
    bool on = n > 1 || colossalai_is_on(t, c, enables);
    const struct value_item *mode = colossalai_any(c, modes), *it = colossalai_any(c, sizes);
    /* booster/plugin/hybrid_parallel_plugin.py */
    const char *usual = program->split ? program->split : n > 1 ? "all_to_all" : "";
    const char *word =
        mode && mode->value->kind == VALUE_STRING ? mode->value->text : usual;
    bool own = strcmp(word, "all_to_all") == 0 || strcmp(word, "ring_attn") == 0,
         inside = strcmp(word, "split_gather") == 0 || strcmp(word, "ring") == 0;
    if (!on)
        return;
    launch_hear(t, mode);
    if (mode && !own && !inside)
        launch_unresolved_item(t, WIDE "context_comm", mode, "mode that is known");
    if (own && n > 1) {
        launch_set(t, WIDE "context", json_integer((json_int_t)n), it);
        launch_set(t, WIDE "context_comm",
                   json_string(word[0] == 'a' ? "alltoall" : "ring"),
                   mode ? mode : it);
    } else if (launch_has(t, WIDE "tensor")) {
        if (!mode && !program->split)
            launch_note(t->l, t->l->line, DIAG_ASSUMED,
                        "enable_sequence_parallelism without a mode splits the tensor "
                        "group's activations, as until ColossalAI 0.3.6; later it does "
                        "nothing without sp_size (--set " WIDE
                        "sequence_parallel=false)");
        launch_set(t, WIDE "sequence_parallel", json_true(),
                   mode ? mode
                   : it ? it
                        : colossalai_any(c, enables));
    }
}

static void take_hybrid(struct launch_context *t, const struct value *c,
                        const struct colossalai_program *program, const struct value_item *plugin)
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
    take_sequence(t, c, program);
    launch_assume(t, WIDE "placement", json_string("DPT"),
                  "HybridParallelPlugin's mesh of data, pipeline and tensor ranks");
    launch_assume(t, WIDE "library", json_string("megatron"),
                  "HybridParallelPlugin as Megatron's");
    if (stage > 2)
        launch_wrong_option(t, colossalai_any(c, stages), DIAG_OUT_OF_RANGE,
                            "HybridParallelPlugin has stages 0, 1 and 2");
    else if (launch_is_unresolved(t, WIDE "sharding/strategy"))
        return;
    else if (colossalai_any(c, stages))
        launch_set(t, WIDE "sharding/strategy", json_string(strategies[stage]),
                   colossalai_any(c, stages));
    else
        launch_assume(t, WIDE "sharding/strategy", json_string(strategies[stage]),
                      "zero_stage's default");
}

/* Host memory has all of the states, or a share of them. */
static void take_offload(struct launch_context *t, const struct value *c,
                         const struct colossalai_plugin *p, const struct value_item *plugin)
{
    static const char at[] = WIDE "sharding/offload";
    static const char *const switches[] = { "zero_cpu_offload", NULL };
    const struct value_item *states = value_get(c, "offload_optim_frac"),
                            *params = value_get(c, "offload_param_frac"), *it;
    double of_states = 0, of_params = 0;
    bool on = colossalai_is_on(t, c, switches);
    launch_hear(t, states);
    launch_hear(t, params);
    if ((states && !launch_real(states->value, &of_states)) ||
        (params && !launch_real(params->value, &of_params))) {
        launch_unresolved_item(t, at, of_states > 0 || !states ? params : states, "share");
        return;
    }
    it = of_params > 0   ? params
         : of_states > 0 ? states
         : on            ? colossalai_any(c, switches)
                         : plugin;
    if (!on && !p->offload && of_states <= 0 && of_params <= 0)
        return;
    launch_set(t, at, json_string(of_params > 0 ? "parameters" : "optimizer"), it);
    if ((of_states > 0 && of_states < 1) || (of_params > 0 && of_params < 1))
        launch_note(t->l, it->line, DIAG_APPROXIMATE,
                    "%s: a share of the states in host memory is taken as all of them",
                    it->key);
}

void colossalai_take_plugin(struct launch_context *t, const struct value *c,
                        const struct colossalai_program *program, const struct colossalai_plugin *p,
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
void colossalai_take_batch(struct launch_context *t, const struct value *c,
                       const struct colossalai_program *program, bool hybrid)
{
    static const char at[] = "/training/micro_batch_size";
    static const char *const batches[] = { "batch_size", "micro_batch_size",
                                              "per_device_train_batch_size", NULL },
                             *const parts[] = { "mbs", "microbatch_size", NULL };
    const struct value_item *it = colossalai_any(c, batches), *part = colossalai_any(c, parts);
    int64_t batch = whole(t, c, batches, at, program->batch), micro;
    if (batch < 1 || launch_is_unresolved(t, at))
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
    if (launch_is_unresolved(t, at))
        return;
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
                      const struct colossalai_program *program, const struct colossalai_plugin *p)
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
    if (colossalai_is_on(t, c, again))
        launch_set(t, checkpoints, json_string("full"), colossalai_any(c, again));
    else
        launch_assume(t, checkpoints, json_string("none"), "grad_checkpoint's default");
    if (colossalai_is_on(t, c, flash))
        launch_set(t, "/training/attention", json_string("flash"), colossalai_any(c, flash));
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
    if (in->source == DIALECT_CALLS)
        return colossalai_is_configuration(in->python);
    const struct value_item *it = value_get(in->root, "--plugin"),
                            *of_chat = value_get(in->root, "--strategy");
    if (in->source != DIALECT_COMMAND || !c)
        return false;
    return starts_it(c) ||
           (of_chat && of_chat->value->text &&
            strncmp(of_chat->value->text, chat, sizeof(chat) - 1) == 0) ||
           (it && it->value->kind == VALUE_STRING && colossalai_plugin(it->value->text));
}

/* GLUE is classification; a program that is none of the table asks. */
static void take_task(struct launch_context *t, const struct launch_command *c,
                      const struct colossalai_program *program)
{
    const char *path = c->command->words[c->script].text;
    struct value v = { .line = c->command->line };
    const struct value_item from = { launch_last_part(path), v.line, &v };
    if (program->classifies)
        launch_set(t, "/training/task", json_string("classification"), &from);
    else if (!program->name)
        launch_take_entry(t, path, &from);
}

/* Degrees that the plugin does not take. */
static void drop_degrees(struct launch_context *t, struct value *c,
                         const struct colossalai_plugin *p)
{
    static const char *const degrees[] = { "tp", "tp_size", "pp", "pp_size", "ep", "ep_size",
                                           "n_chunks", "num_model_chunks", "pp_style" };
    for (size_t i = 0; p->kind != HYBRID && i < sizeof(degrees) / sizeof(degrees[0]); i++) {
        const struct value_item *it = value_get(c, degrees[i]);
        int64_t n = 0;
        if (!it || (p->kind == GEMINI && i < 2)) /* that has tensor ranks, too */
            continue;
        if (!launch_whole(it->value, &n) || n != 1)
            launch_note(t->l, it->line, DIAG_WITHOUT_EFFECT,
                        "%s: without effect: plugin \"%s\" does not take it", it->key, p->word);
        colossalai_leave_out(c, degrees[i]);
    }
}

void colossalai_read(struct launch_context *t, const struct dialect_input *in)
{
    if (in->source == DIALECT_CALLS) {
        colossalai_read_configuration(t, in->python);
        return;
    }
    struct value *c = colossalai_words(t, in->command);
    const char *path = in->command->command->words[in->command->script].text;
    struct colossalai_program it_is = *program_of(path, c);
    const struct colossalai_program *program = &it_is;
    const struct value_item *it = value_get(c, "plugin");
    const char *word = launch_word(c, "plugin", program->plugin ? program->plugin : "");
    const struct colossalai_plugin *p = colossalai_plugin(word);
    if (strncmp(word, chat, sizeof(chat) - 1) == 0) { /* what its strategy makes */
        it_is.precision = NULL;
        it_is.norm = 0;
    }
    it_is.inside &= !colossalai_read_program(t, in->command, c, p, program->batch);
    take_task(t, in->command, program);
    if (p)
        drop_degrees(t, c, p);
    launch_take_rows(t, colossalai_rows, c);
    take_model(t, c, program);
    take_lora(t, c, in->command->command->words[in->command->script].text);
    launch_hear(t, it);
    if (!p) {
        launch_add_unresolved(
            t, WIDE "library", it ? it->line : t->l->line,
            "plugin: %s%.40s%s is no plugin of Colossal-AI that is known "
            "(ddp, fsdp, deepspeed or megatron comes near)",
            *word ? "\"" : "", *word ? word : "it", *word ? "\"" : "");
        p = colossalai_plugin("torch_ddp_fp16");
    } else {
        colossalai_take_plugin(t, c, program, p, it);
    }
    colossalai_take_batch(t, c, program, p->kind == HYBRID);
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
