/* DeepSpeed-Chat's arguments: --zero_stage, --offload and the like, of which its programs
 * make DeepSpeed's configuration (deepspeedai/DeepSpeedExamples,
 * applications/DeepSpeed-Chat of 2026: dschat/utils/ds_utils.py, get_train_ds_config;
 * training/step1_supervised_finetuning/main.py). */
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "model/hub.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct value_item *option(const struct value *v, const char *key)
{
    return value_get(v, key);
}

bool trainer_chat_is(const struct value *options)
{
    const struct value_item *on = option(options, "deepspeed");
    bool stage = option(options, "zero-stage") || option(options, "actor-zero-stage");
    /* copies whose programs always shard have no switch */
    if (!on && stage && !option(options, "deepspeed-config"))
        return option(options, "per-device-train-batch-size") &&
               option(options, "gradient-accumulation-steps");
    return on && on->value->kind == VALUE_BOOL && (stage || option(options, "offload"));
}

static struct value *dict_of(struct launch_context *t, int64_t line)
{
    return value_new(t->arena, VALUE_DICT, line, 0);
}

static void put_whole(struct launch_context *t, struct value *dict, const char *key,
                      int64_t line, int64_t n)
{
    struct value *v = value_new(t->arena, VALUE_INT, line, 0);
    v->integer = n;
    value_add(t->arena, dict, key, line, v);
}

static void put_true(struct launch_context *t, struct value *dict, const char *key,
                     int64_t line)
{
    struct value *v = value_new_bool(t->arena, true, line);
    value_add(t->arena, dict, key, line, v);
}

/* The section zero_optimization; memory_efficient_linear changes no shape. */
static struct value *zero_of(struct launch_context *t, const struct value *options,
                             int64_t line)
{
    struct value *zero = dict_of(t, line), *cpu = dict_of(t, line);
    const struct value_item *stage = option(options, "zero-stage"),
                            *offload = option(options, "offload");
    launch_hear(t, stage);
    launch_hear(t, offload);
    if (stage)
        value_add(t->arena, zero, "stage", stage->line, stage->value);
    else
        put_whole(t, zero, "stage", line, 0);
    int64_t n = 0;
    put_true(t, zero, "overlap_comm", line);
    if (stage && launch_whole(stage->value, &n) && n == 3) {
        put_whole(t, zero, "stage3_param_persistence_threshold", line, 10000);
        put_whole(t, zero, "stage3_max_live_parameters", line, 30000000);
    }
    value_add(t->arena, cpu, "device", line,
              value_new_string(t->arena, "cpu", line, 0));
    if (!offload || launch_is_off(offload->value))
        return zero;
    value_add(t->arena, zero, "offload_param", offload->line, cpu);
    value_add(t->arena, zero, "offload_optimizer", offload->line, cpu);
    return zero;
}

/* Its LinearLayer_LoRA freezes the matrix that it adapts, and nothing else. */
static void take_rest(struct launch_context *t, const struct value_item *rank)
{
    launch_set(t, PEFT_TRAINED, json_pack("[sss]", "embeddings", "norms", "head"),
               rank);
    launch_note(t->l, rank->line, DIAG_LEFT_OUT,
                "without only_optimize_lora, what has no adapter is trained too: "
                "embeddings, norms and the head, and biases, which are not counted");
}

/* The path of the linear layers of a family's blocks (transformers, modeling_*.py); GPT-2's
 * are none, but Conv1D. */
static const struct {
    const char *family, *path;
} block_paths[] = {
    { "opt", "model.decoder.layers." },  { "bloom", "transformer.h." },
    { "llama", "model.layers." },        { "mistral", "model.layers." },
    { "qwen2", "model.layers." },        { "qwen3", "model.layers." },
    { "phi3", "model.layers." },         { "gemma", "model.layers." },
    { "gemma2", "model.layers." },       { "gpt_neox", "gpt_neox.layers." },
    { "gpt_neo", "transformer.h." },     { "gptj", "transformer.h." },
    { "falcon", "transformer.h." },      { "gpt2", "" },
    { "gpt_bigcode", "transformer.h." }, { "chatglm", "transformer.encoder.layers." },
};

/* Of the model that the options name; NULL: it is not known. */
static const char *blocks_of(struct launch_context *t, const struct value *options)
{
    const struct value_item *it = option(options, "model-name-or-path");
    struct hub_id id;
    if (!it || it->value->kind != VALUE_STRING ||
        !hub_find(&id, t->l->loader, it->value->text))
        return NULL;
    const char *family = id.family;
    struct cfg config = family ? (struct cfg) { 0 }
                               : hub_load(t->l->loader, id.name, (struct cfg) { 0 });
    if (!family && cfg_string(cfg_get(config, "model_type"), &family))
        return NULL;
    for (size_t i = 0; i < sizeof(block_paths) / sizeof(block_paths[0]); i++)
        if (strcmp(block_paths[i].family, family) == 0)
            return block_paths[i].path;
    return NULL;
}

/* Whether no layer has the name in its path, so that no adapter is made; alone: nothing
 * else is trained. */
static bool makes_none(struct launch_context *t, const struct value *options,
                       const struct value_item *rank, const char *name, bool alone)
{
    const char *blocks = blocks_of(t, options);
    bool path = strstr(name, "layers") || strstr(name, "h.");
    if (!blocks || !path || (*blocks && strstr(blocks, name)))
        return false;
    launch_note(t->l, rank->line, DIAG_APPROXIMATE,
                "%s: no linear layer of this model has \"%.60s\" in its path%s%s: no "
                "adapter is made, and %s",
                rank->key, name, *blocks ? ", which is " : "", blocks,
                alone ? "only_optimize_lora leaves nothing to train"
                      : "all weights are trained");
    return true;
}

/* dschat/utils/module/lora.py: all linear layers whose path has the name; alone they are
 * trained with --only_optimize_lora. */
void trainer_take_chat_adapters(struct launch_context *t, const struct value *options)
{
    const struct value_item *rank = option(options, "lora-dim"),
                            *of = option(options, "lora-module-name"),
                            *only = option(options, "only-optimize-lora");
    const char *name =
        of && of->value->kind == VALUE_STRING ? of->value->text : "decoder.layers.";
    bool alone = only && !launch_is_off(only->value);
    int64_t n;
    launch_hear(t, rank);
    launch_hear(t, of);
    launch_hear(t, only);
    if (!rank || (launch_whole(rank->value, &n) && n <= 0))
        return;
    if (!launch_whole(rank->value, &n)) {
        launch_unresolved_item(t, PEFT_LORA, rank, "whole number");
    } else if (makes_none(t, options, of ? of : rank, name, alone)) {
        t->adapters = true; /* it is known what they are */
        if (alone)
            launch_unresolved_item(t, PEFT_TARGETS, of ? of : rank, "path of layers");
    } else {
        t->adapters = true;
        launch_set(t, PEFT_RANK, json_integer((json_int_t)n), rank);
        launch_set(t, PEFT_ALPHA, json_real(1), rank);
        launch_set(t, PEFT_DROPOUT, json_real(0), rank);
        if (strstr(name, "layers") || strstr(name, "h."))
            launch_set(t, PEFT_TARGETS, json_string("all-linear"), of ? of : rank);
        else
            launch_unresolved_item(t, PEFT_TARGETS, of, "path of layers");
        if (!alone)
            take_rest(t, rank);
    }
}

/* fp16 is the default, and was all there was before --dtype. */
void trainer_take_chat_configuration(struct launch_context *t,
                                     const struct value *options, int64_t line)
{
    struct value *root = dict_of(t, line), *half = dict_of(t, line);
    const struct value_item *type = option(options, "dtype");
    bool bf16 = type && type->value->kind == VALUE_STRING &&
                strcmp(type->value->text, "bf16") == 0;
    launch_hear(t, type);
    put_true(t, half, "enabled", line);
    value_add(t->arena, root, "zero_optimization", line, zero_of(t, options, line));
    value_add(t->arena, root, bf16 ? "bf16" : "fp16", type ? type->line : line, half);
    put_whole(t, root, "gradient_clipping", line, 1);
    deepspeed_take(t, root, "get_train_ds_config: ");
}

/* Its steps: the folder, and an option that the others do not have. */
static const struct chat_step {
    const char *folder, *option, *task; /* NULL: not simulated */
} steps[] = {
    { "step3_rlhf", "actor-model-name-or-path", NULL },
    { "step2_reward_model", "num-padding-at-beginning", "reward" },
    { "step2_dpo", "beta", "dpo" },
    { "step1_supervised_finetuning", "data-split", "causal-lm" },
};

/* The one step that has data, by "--data_split 0,0,1", from 1; 0: several, or not known
 * (dschat/utils/data/data_utils.py, get_raw_dataset_split_index). */
static int only_step(const struct value *options)
{
    const struct value_item *it = option(options, "data-split");
    const char *s = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    int only = 0;
    for (int i = 1; i <= 3 && *s; i++) {
        char *end;
        double share = strtod(s, &end);
        if (end == s || (*end && *end != ',') || (share > 0 && only))
            return 0;
        only = share > 0 ? i : only;
        s = end + (*end == ',');
    }
    return only;
}

static const struct chat_step *step_by(const char *folder)
{
    const struct chat_step *s = steps;
    while (strcmp(s->folder, folder) != 0)
        s++;
    return s;
}

/* The step that the folder names, else the first whose option is there; NULL. Of data for
 * one alone it is that one. */
static const struct chat_step *step_of(const struct launch_context *t,
                                       const char *program, const struct value *options,
                                       bool *named)
{
    const struct chat_step *end = steps + sizeof(steps) / sizeof(steps[0]);
    *named = true;
    for (const struct chat_step *s = steps; s < end; s++)
        if (strstr(t->l->file, s->folder) || strstr(program, s->folder))
            return s;
    *named = false;
    const struct chat_step *found = NULL;
    for (const struct chat_step *s = steps; !found && s < end; s++)
        found = option(options, s->option) ? s : NULL;
    int only = only_step(options);
    if (!found || strcmp(found->option, "data-split") != 0 || only < 2)
        return found;
    return step_by(only == 2 ? "step2_reward_model" : "step3_rlhf");
}

void trainer_take_chat_step(struct launch_context *t, const struct launch_command *c,
                            const struct value *options)
{
    const char *program = c->command->words[c->script].text;
    int64_t line = c->command->words[c->script].line;
    struct value v = { .line = line };
    bool named;
    const struct chat_step *s = step_of(t, program, options, &named);
    if (s && !s->task) {
        launch_refuse_entry(t->l, program,
                            option(options, "beta") /* DPO's alone */
                                ? launch_trains_on_pairs
                                : "trains on rollouts (reinforcement learning)",
                            line);
        return;
    }
    if (!s)
        return;
    const struct value_item from = { s->folder, line, &v };
    launch_set(t, "/training/task", json_string(s->task), &from);
    if (!named)
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%.60s is taken to be DeepSpeed-Chat's %s, by --%s (give --set "
                    "/training/task=... for another)",
                    launch_last_part(program), s->folder,
                    option(options, s->option) ? s->option : "data-split");
}

void trainer_take_chat(struct launch_context *t, const struct launch_command *c,
                       const struct value *options)
{
    const struct value_item *on = option(options, "deepspeed");
    trainer_take_chat_step(t, c, options);
    launch_hear(t, on);
    trainer_take_chat_adapters(t, options);
    trainer_take_chat_configuration(t, options, on ? on->line : c->command->line);
}
