#include "dialect/gptneox/gptneox.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"

#include <string.h>

#define WIDE "/parallelism/"

static const struct value_item *given(const struct value *c, const char *key)
{
    const struct value_item *it = value_get(c, key);
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

static bool on(const struct value *c, const char *key)
{
    const struct value_item *it = given(c, key);
    return it && launch_true(it->value);
}

/* What is trained ------------------------------------------------------------------ */

/* megatron/training.py: the losses of train_impl; a soft prompt trains a few rows. */
static void take_task(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = given(c, "train_impl"),
                            *prompt = given(c, "soft_prompt_tuning"),
                            *text = given(c, "text_gen_type"),
                            *teacher = given(c, "do_distillation");
    const char *word = launch_word(c, "train_impl", "normal");
    bool prompts = prompt && value_get(prompt->value, "enabled") &&
                   launch_true(value_get(prompt->value, "enabled")->value);
    launch_hear(t, it);
    launch_hear(t, prompts ? prompt : NULL);
    if (strcmp(word, "normal") != 0 && !trainer_take_method(t, it, word))
        trainer_refuse(t, it, word);
    if (prompts)
        trainer_refuse(t, prompt, "the training of a soft prompt alone");
    if (teacher && launch_true(teacher->value))
        trainer_refuse(t, teacher, "distillation from a second model");
    if (text && !given(c, "num_layers") && !given(c, "train_iters"))
        trainer_refuse(t, text, "generation of text");
}

/* DeepSpeed's part ----------------------------------------------------------------- */

static void put(struct launch_context *t, struct value *d, const char *key,
                int64_t line, struct value *v)
{
    for (int32_t i = 0; i < d->n; i++)
        if (strcmp(d->items[i].key, key) == 0) {
            d->items[i].value = v;
            return;
        }
    value_add(t->arena, d, key, line, v);
}

/* What `precision` enables, in the section that is there or in one of its own. */
static void enable(struct launch_context *t, struct value *d, const char *key,
                   const struct value_item *word)
{
    const struct value_item *it = value_get(d, key);
    struct value *of = it ? it->value : value_new(t->arena, VALUE_DICT, word->line, 0),
                 *yes = value_new_bool(t->arena, true, word->line);
    if (of->kind == VALUE_DICT)
        put(t, of, "enabled", word->line, yes);
    put(t, d, key, word->line, of);
}

/* A section without what DeepSpeed passes over in it: "fp16": {"fp16": true, "type"}. */
static struct value *section(struct launch_context *t, const struct value *v)
{
    static const char *const passed[] = { "fp16", "bf16", "type", NULL };
    struct value *out = value_new(t->arena, VALUE_DICT, v->line, v->column);
    for (int32_t i = 0; i < v->n; i++)
        if (!names_listed(passed, v->items[i].key))
            value_add(t->arena, out, v->items[i].key, v->items[i].line,
                      v->items[i].value);
    return out;
}

/* The section that one of 16 bits is: "fp16": {"type": "bfloat16"} enables bf16. */
static const char *section_name(const char *key, const struct value *v)
{
    bool fp16 = strcmp(key, "fp16") == 0 && v->kind == VALUE_DICT;
    return fp16 && strcmp(launch_word(v, "type", ""), "bfloat16") == 0 ? "bf16" : key;
}

/* The configuration that gpt-neox hands on; `precision` is the one that it enables, and
 * deepspeed_extra_args goes before all else. Tuned, its section of ZeRO is none. */
static const struct value *deepspeed_of(struct launch_context *t, const struct value *c,
                                        bool tuned)
{
    struct value *d = value_new(t->arena, VALUE_DICT, c->line, 0);
    const struct value_item *word = given(c, "precision"),
                            *extra = given(c, "deepspeed_extra_args");
    const char *precision = launch_word(c, "precision", "");
    for (const char *const *key = gptneox_deepspeed; *key; key++) {
        const struct value_item *it = given(c, *key);
        launch_hear(t, it);
        if (tuned && strcmp(*key, "zero_optimization") == 0)
            continue;
        bool half = strcmp(*key, "fp16") == 0 || strcmp(*key, "bf16") == 0;
        if (it)
            value_add(t->arena, d, section_name(*key, it->value), it->line,
                      half && it->value->kind == VALUE_DICT ? section(t, it->value)
                                                            : it->value);
    }
    for (int32_t i = 0;
         extra && extra->value->kind == VALUE_DICT && i < extra->value->n; i++)
        put(t, d, extra->value->items[i].key, extra->value->items[i].line,
            extra->value->items[i].value);
    if (strcmp(precision, "fp16") == 0)
        enable(t, d, "fp16", word);
    if (strcmp(precision, "bfloat16") == 0)
        enable(t, d, "bf16", word);
    launch_hear(t, word);
    launch_hear(t, extra);
    return d;
}

/* A stage that an autotuner tries is none. */
static bool is_tuned(struct launch_context *t, const struct value *c)
{
    const struct value_item *zero = given(c, "zero_optimization"),
                            *stage = zero ? value_get(zero->value, "stage") : NULL;
    bool list = stage && (stage->value->kind == VALUE_LIST ||
                          (stage->value->kind == VALUE_STRING &&
                           strcmp(stage->value->text, "all") == 0));
    if (list)
        launch_add_unresolved(t, WIDE "sharding/strategy", stage->line,
                              "zero_optimization.stage: several stages are tried, one "
                              "is simulated (none, optimizer, gradients or full)");
    return list;
}

static void take_deepspeed(struct launch_context *t, const struct value *c)
{
    const struct value *d = deepspeed_of(t, c, is_tuned(t, c));
    if (on(c, "use_bnb_optimizer"))
        launch_set(t, "/training/optimizer", json_string("adam8bit"),
                   given(c, "use_bnb_optimizer"));
    launch_hear(t, given(c, "use_bnb_optimizer"));
    if (d->n > 0)
        deepspeed_take(t, d, "");
    launch_assume(t, WIDE "library", json_string("deepspeed"), "DeepSpeed's own");
    if (!launch_is_unresolved(t, "/training/optimizer"))
        launch_assume(t, "/training/optimizer", json_string("adam"),
                      "optimizer's default");
    launch_assume(t, "/training/gradient_clipping", json_real(1),
                  "gradient_clipping's default");
    const struct value_item *word = given(c, "precision");
    if (word && !launch_has(t, "/training/precision") &&
        strcmp(launch_word(c, "precision", ""), "fp32") != 0)
        launch_unresolved_item(t, "/training/precision", word,
                               "precision of gpt-neox (fp16, bfloat16 or fp32)");
    launch_assume(t, "/training/precision", json_string("fp32"), "precision's default");
    if (!launch_has(t, "/training/global_batch_size"))
        launch_assume(t, "/training/gradient_accumulation_steps", json_integer(1),
                      "gradient_accumulation_steps' default");
}

/* bf16 is DeepSpeed's BF16_Optimizer without ZeRO, and with stage 1 where gradients are
 * summed in fp32 (deepspeed/runtime/engine.py, _do_optimizer_sanity_check, 0.16); it
 * shards states as stage 1 does. */
static void take_framework(struct launch_context *t, const struct value *c)
{
    const json_t *word = pointer_get(t->tree, "/training/precision"),
                 *stage = pointer_get(t->tree, WIDE "sharding/strategy");
    const struct value_item *types = given(c, "data_types"),
                            *sum = types ? value_get(types->value, "grad_accum_dtype")
                                         : NULL;
    bool bf16 = word && strcmp(json_string_value(word), "bf16") == 0,
         full = stage && strcmp(json_string_value(stage), "full") == 0,
         low = !stage || strcmp(json_string_value(stage), "optimizer") == 0,
         wide = sum && sum->value->kind == VALUE_STRING &&
                strcmp(sum->value->text, "fp32") == 0,
         own = bf16 && low && (!stage || wide);
    if (launch_is_unresolved(t, WIDE "sharding/strategy") ||
        launch_is_unresolved(t, "/training/precision"))
        return;
    launch_hear(t, own && wide ? types : NULL);
    if (own && !stage)
        launch_assume(t, WIDE "sharding/strategy", json_string("optimizer"),
                      "BF16_Optimizer's own");
    if (!full) /* ZeRO-3 has its own */
        launch_assume(
            t, "/training/framework",
            json_string(own ? "megatron-deepspeed-bf16" : "megatron-deepspeed"),
            "gpt-neox's Megatron and DeepSpeed");
}

/* Recomputation, stages ------------------------------------------------------------ */

static void take_checkpointing(struct launch_context *t, const struct value *c)
{
    static const char at[] = "/training/activation_checkpointing";
    const struct value_item *it = given(c, "checkpoint_activations"),
                            *count = given(c, "checkpoint_num_layers"),
                            *parts = given(c, "partition_activations"),
                            *host = given(c, "checkpoint_in_cpu");
    int64_t n = 1;
    if (launch_is_unresolved(t, at))
        return;
    if (!it || !launch_true(it->value)) {
        if (it)
            launch_set(t, at, json_string("none"), it);
        else
            launch_assume(t, at, json_string("none"),
                          "checkpoint_activations' default");
        launch_hear(t, it);
        return;
    }
    launch_hear(t, it);
    launch_hear(t, count);
    if (count && (!launch_whole(count->value, &n) || n < 1))
        launch_unresolved_item(t, at, count, "whole number of at least 1");
    else
        launch_set(t, at,
                   n == 1 ? json_string("full")
                          : json_pack("{s:I}", "group", (json_int_t)n),
                   n == 1 ? it : count);
    if (host && launch_true(host->value)) {
        launch_set(t, WIDE "offload_activations", json_true(), host);
        launch_hear(t, host);
    }
    if (parts && launch_true(parts->value) && launch_has(t, WIDE "tensor")) {
        launch_note(t->l, parts->line, DIAG_APPROXIMATE,
                    "partition_activations: checkpoints are taken to be whole on every "
                    "rank of a tensor group");
        launch_hear(t, parts);
    }
}

/* "type:transformer|mlp", the default, counts layers as "type:transformer" does. */
static void take_partition(struct launch_context *t, const struct value *c)
{
    static const char at[] = WIDE "partition";
    const struct value_item *it = given(c, "pipe_partition_method");
    const char *word = launch_word(c, "pipe_partition_method", "type:transformer|mlp");
    if (!launch_has(t, WIDE "pipeline"))
        return;
    launch_hear(t, it);
    if (strncmp(word, "type:transformer", 16) == 0)
        word = "type:transformer";
    if (it)
        launch_set(t, at, json_string(word), it);
    else
        launch_assume(t, at, json_string(word), "pipe_partition_method's default");
}

/* All of it ------------------------------------------------------------------------ */

bool gptneox_recognises(const struct dialect_input *in)
{
    static const char *const own[] = {
        "pipe_parallel_size",
        "model_parallel_size",
        "gpt_j_residual",
        "output_layer_parallelism",
        "checkpoint_factor",
        "data_impl",
        "synchronize_each_layer",
        "text_gen_type",
        "attention_config",
        "checkpoint_validation_with_forward_pass",
        "scaled_upper_triang_masked_softmax_fusion",
        "no_weight_tying",
        "rotary_pct",
        "mlp_multiple_of",
        "train_impl",
        NULL,
    },
                             *const usual[] = { "num_layers",
                                                "train_iters",
                                                "lr_decay_iters",
                                                "train_micro_batch_size_per_gpu",
                                                "tokenizer_type",
                                                "vocab_file",
                                                "data_path",
                                                "merge_file",
                                                "lr_decay_style",
                                                "checkpoint_activations",
                                                "pos_emb",
                                                "save",
                                                "log_dir",
                                                "maximum_tokens",
                                                "prompt_end",
                                                NULL };
    int n = 0, known = 0;
    if (in->source != DIALECT_DOCUMENT)
        return false;
    for (int32_t i = 0; i < in->root->n; i++) {
        char key[64];
        snprintf(key, sizeof(key), "%.60s", in->root->items[i].key);
        for (char *s = key; *s; s++)
            *s = *s == '-' ? '_' : *s;
        n += names_listed(own, key);
        known += names_listed(usual, key);
    }
    return n > 1 || (n == 1 && known > 1);
}

/* The script that deepy.py starts, evaluate.py and generate.py too. */
static void take_script(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_command *command = c->command;
    if (c->script + 1 >= command->n)
        return;
    const char *script = command->words[c->script + 1].text;
    struct launch_entry e = launch_entry_of(t, script);
    if (e.refused)
        launch_refuse_entry(t->l, script, e.refused, command->line);
}

void gptneox_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct value *c;
    launch_config_title(t, "gpt-neox's configuration");
    if (in->command) {
        t->l->line = in->command->command->line;
        take_script(t, in->command);
        launch_take_directives(t, in->command);
        c = gptneox_join(t, in->command);
    } else {
        c = gptneox_plain(t->arena, in->root);
    }
    launch_take_rows(t, gptneox_rows, c);
    take_task(t, c);
    gptneox_take_model(t, c);
    gptneox_take_attention(t, c);
    take_deepspeed(t, c);
    take_framework(t, c);
    take_checkpointing(t, c);
    take_partition(t, c);
    dialect_report(t, gptneox_tables, "", c,
                   (struct dialect_place) { t->l->line, "", "", true });
}
