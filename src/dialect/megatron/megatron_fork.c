/* What forks have of their own: adapters (MindSpeed-LLM, AscendSpeed: arguments of LoRA,
 * with which it trains --lora-target-modules), models that a program or a configuration
 * decides. */
#include "dialect/launch/launch_imports.h"
#include "dialect/megatron/megatron.h"

#include <string.h>

#define LORA "/training/lora"

/* LLaMA's fused gate and up of AscendSpeed is "proj". */
static void add_target(json_t *list, const struct value *v)
{
    if (v->kind == VALUE_STRING && v->text[0])
        json_array_append_new(
            list, json_string(strcmp(v->text, "proj") == 0 ? "linear_fc1" : v->text));
}

static void take_targets(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--lora-target-modules"),
                            *rank = launch_option(c, "--lora-r"),
                            *alpha = launch_option(c, "--lora-alpha");
    int64_t r = 16; /* default of --lora-r */
    double a = 32;  /* of --lora-alpha */
    if (!it)
        return;
    json_t *list = json_array();
    add_target(list, it->value);
    for (int32_t i = 0; it->value->kind == VALUE_LIST && i < it->value->n; i++)
        add_target(list, it->value->items[i].value);
    if (!json_array_size(list) || (rank && (!launch_whole(rank->value, &r) || r < 1)) ||
        (alpha && (!launch_real(alpha->value, &a) || a <= 0))) {
        json_decref(list);
        launch_add_unresolved(t, LORA, it->line, "%s: adapters are not known by it",
                              it->key);
    } else {
        launch_set(t, LORA "/rank", json_integer((json_int_t)r), rank ? rank : it);
        launch_set(t, LORA "/alpha", json_real(a), alpha ? alpha : it);
        launch_set(t, LORA "/target_modules", list, it);
    }
    launch_hear(t, it);
    launch_hear(t, rank);
    launch_hear(t, alpha);
}

/* --llama-swiglu rounds the width as LLaMA does, in a fork that is not public. */
static void ask_width(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--llama-swiglu");
    if (it && !launch_has(t, "/model/ffn_hidden_size"))
        launch_add_unresolved(t, "/model/ffn_hidden_size", it->line,
                              "%s: how it rounds the MLP's width is the fork's own",
                              it->key);
    launch_hear(t, it);
}

/* Whether a program that is here makes its layers of Megatron's options alone
 * (megatron/training/arguments.py). */
static bool is_by_options(struct launch_context *t, const char *program)
{
    const char *text = launch_program_text(t->l, t->arena, program);
    return text && strstr(text, "core_transformer_config_from_args(") &&
           !strstr(text, "gated_linear_unit") && !strstr(text, "add_bias_linear");
}

const char *megatron_kind_of_text(struct launch_context *t,
                                  const struct launch_command *c)
{
    static const char *const others[] = {
        "sop loss",      "encoder_and_decoder", "BertModel", "T5Model", "Bert",
        "decoder_input", "biencoder",           "images",    "vision",  "teacher"
    };
    const char *program = c->command->words[c->script].text,
               *text = launch_program_text(t->l, t->arena, program);
    bool words = text && strstr(text, "megatron") && strstr(text, "pretrain(") &&
                 (strstr(text, "'lm loss'") || strstr(text, "\"lm loss\""));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        words = words && !strstr(text, others[i]);
    if (!words)
        return NULL;
    launch_note(t->l, c->command->line, DIAG_ASSUMED,
                "%.60s is taken to train a GPT, by its loss of words alone (give --set "
                "/training/task=... for another)",
                launch_last_part(program));
    return "gpt";
}

/* A program of a fork's own, in whose layers LLaMA's gate may be without an option. */
static void ask_gate(struct launch_context *t, const struct launch_command *c)
{
    static const char *const gated[] = { "llama",    "qwen",     "mistral",
                                         "baichuan", "intern",   "aquila",
                                         "gemma",    "deepseek", NULL };
    static const struct {
        const char *pointer, *what;
    } open[] = {
        { "/model/swiglu", "the MLP has a gate" },
        { "/model/add_bias_linear", "products have biases" },
    };
    const char *program = launch_last_part(c->command->words[c->script].text);
    bool any = false;
    for (const char *const *name = gated; *name; name++)
        any |= strstr(program, *name) != NULL;
    if (!any || launch_has(t, "/model/swiglu") ||
        is_by_options(t, c->command->words[c->script].text))
        return;
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!launch_has(t, open[i].pointer))
            launch_add_unresolved(t, open[i].pointer, c->command->line,
                                  "no option says whether %s, which %.60s may decide",
                                  open[i].what, program);
}

/* Pai-Megatron-Patch's Qwen3-Next: M is a Gated DeltaNet there, and - experts
 * (megatron_patch/model/qwen3_next/layer_specs.py), which letters do not say here. */
static void ask_letters(struct launch_context *t, const struct launch_command *c)
{
    const char *program = launch_last_part(c->command->words[c->script].text);
    const struct value_item *it = launch_option(c, "--hybrid-override-pattern");
    if (!it || !strstr(program, "qwen3_next"))
        return;
    json_object_del(t->tree, "model");
    launch_add_unresolved(t, "/model", it->line,
                          "%s: what layers its letters are, %.60s decides; the Hub's "
                          "configuration says so",
                          it->key, program);
    launch_add_example(t, "/model", "Qwen/Qwen3-Next-80B-A3B-Instruct");
}

/* Sizes that no option has: a checkpoint's, as --use-checkpoint-args says. */
static void ask_sizes(struct launch_context *t, const struct launch_command *c)
{
    static const char *const sizes[] = { "/model/num_layers", "/model/hidden_size",
                                         "/model/num_attention_heads" };
    const struct value_item *it = launch_option(c, "--use-checkpoint-args");
    bool any = launch_is_unresolved(t, "/model");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        any |= launch_has(t, sizes[i]) || launch_is_unresolved(t, sizes[i]);
    launch_hear(t, it);
    if (it && any)
        launch_note(
            t->l, it->line, DIAG_APPROXIMATE,
            "%s: the model's options are the checkpoint's where it is loaded; "
            "what the command leaves out (groups of keys, biases, a head of its "
            "own) is taken as without them",
            it->key);
    if (any)
        return;
    json_object_del(t->tree, "model");
    launch_add_unresolved(t, "/model", it ? it->line : c->command->line,
                          "%s: no option says how many layers there are and how wide "
                          "they are",
                          it ? it->key
                             : launch_last_part(c->command->words[c->script].text));
}

void megatron_ask_model(struct launch_context *t, const struct launch_command *c)
{
    ask_letters(t, c);
    ask_sizes(t, c);
}

bool megatron_model_is_elsewhere(struct launch_context *t,
                                 const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--load-model-from-hf-config");
    if (!it || launch_option(c, "--num-layers"))
        return false;
    take_targets(t, c);
    launch_hear(t, it);
    launch_add_unresolved(t, "/model", it->line,
                          "%s: the configuration that it reads has the model", it->key);
    return true;
}

void megatron_take_fork(struct launch_context *t, const struct launch_command *c)
{
    take_targets(t, c);
    ask_width(t, c);
    ask_gate(t, c);
}
