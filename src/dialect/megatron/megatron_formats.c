/* Formats of products by module: --te-precision-config-file, whose patterns select
 * modules by their names (megatron/core/quantization/quant_config.py and
 * core/extensions/transformer_engine.py, TEQuantizationParams; Megatron-LM @d98e8a64),
 * and modules that predict further tokens. */
#include "config/pointer.h"
#include "dialect/launch/launch_override.h"
#include "dialect/megatron/megatron.h"

#include "model/formats.h"
#include "scenario/scenario.h"

#include <fnmatch.h>
#include <string.h>

#define AT "/training/module_precision"

/* What a module is called in Megatron-Core's models: of layers that are alike one. */
static const struct {
    enum op_formatted module;
    const char *path;
} modules[] = {
    { OP_FORMAT_QKV, "decoder.layers.7.self_attention.linear_qkv" },
    { OP_FORMAT_OUT, "decoder.layers.7.self_attention.linear_proj" },
    { OP_FORMAT_MLP, "decoder.layers.7.mlp.linear_fc1" },
    { OP_FORMAT_EXPERTS, "decoder.layers.7.mlp.experts.linear_fc1" },
    { OP_FORMAT_SHARED, "decoder.layers.7.mlp.shared_experts.linear_fc1" },
    { OP_FORMAT_LATENT, "decoder.layers.7.mlp.fc1_latent_proj" },
    { OP_FORMAT_STATE_IN, "decoder.layers.7.mixer.in_proj" },
    { OP_FORMAT_STATE_OUT, "decoder.layers.7.mixer.out_proj" },
    { OP_FORMAT_MTP, "mtp.layers.0.transformer_layer.mlp.linear_fc1" },
};

/* The precision of a configuration's products in training; NULL: it is none that is
 * simulated. */
static const char *precision_of(const struct value *config)
{
    static const struct dialect_word words[] = {
        { "tensorwise", "fp8_current" },
        { "blockwise", "fp8_blockwise" },
        { "mxfp8", "mxfp8" },
        { "nvfp4", "nvfp4" },
        { NULL, NULL },
    };
    const struct value *recipe = value_member(config, "training_recipe");
    const struct value *fp8 = value_member(recipe, "fp8_quantization_recipe"),
                       *fp4 = value_member(recipe, "fp4_quantization_recipe"),
                       *given = fp4 && fp4->text ? fp4 : fp8;
    if (!recipe)
        return NULL;
    if (!given || !given->text)
        return "bf16";
    for (int i = 0; words[i].word; i++)
        if (strcmp(words[i].word, given->text) == 0)
            return words[i].value;
    return NULL;
}

/* The name of the configuration of the first pattern that the module's path matches. */
static const char *matched(const struct value *matchers, const char *path)
{
    for (int32_t i = 0; matchers && i < matchers->n; i++) {
        const struct value *m = matchers->items[i].value;
        const struct value *on = value_member(m, "enabled"),
                           *pattern = value_member(m, "pattern"),
                           *config = value_member(m, "config");
        if (on && launch_true(on) && pattern && pattern->text && config &&
            config->text && fnmatch(pattern->text, path, FNM_NOESCAPE) == 0)
            return config->text;
    }
    return NULL;
}

static void take_module(struct launch_context *t, const struct value_item *it,
                        const struct value *file, size_t at)
{
    const char *name = matched(value_member(file, "matchers"), modules[at].path);
    const struct value *configs = value_member(file, "configs");
    const char *word = name ? precision_of(value_member(configs, name)) : NULL;
    const char *module = op_formatted_names[modules[at].module].name;
    if (word)
        launch_set(t, arena_printf(t->arena, AT "/%s", module), json_string(word), it);
    else if (name)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: %.40s of %s is not simulated; it has the job's format",
                    it->key, name, module);
}

void megatron_take_mtp_format(struct launch_context *t, const struct value_item *it)
{
    static const char *const plain[] = { "fp32", "tf32", "fp16", "bf16" };
    const char *all = json_string_value(pointer_get(t->tree, "/training/precision"));
    if (!it || !launch_true(it->value) || !launch_has(t, "/training/mtp_layers"))
        return; /* the report names it as without effect */
    for (size_t i = 0; all && i < sizeof(plain) / sizeof(*plain); i++)
        if (strcmp(plain[i], all) == 0)
            return;
    launch_decide(t, AT "/mtp", json_string("bf16"), it, "");
    launch_hear(t, it);
}

/* Modules that the model does not have are said to be without effect. */
void megatron_take_formats(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--te-precision-config-file"),
                            *mtp = launch_option(c, "--keep-mtp-spec-in-bf16");
    const char *name = it && it->value->text ? it->value->text : NULL;
    if (name) {
        const struct value *file = launch_open_document(t->l, c, name, it->line);
        if (!file)
            launch_note(t->l, it->line, DIAG_UNREADABLE,
                        "%.60s is not at hand: all products have the job's format (put "
                        "it next to the script)",
                        name);
        for (size_t i = 0; file && i < sizeof(modules) / sizeof(*modules); i++)
            take_module(t, it, file, i);
        launch_hear(t, it);
    }
    megatron_take_mtp_format(t, mtp);
}

json_t *megatron_give_mtp_format(const struct scenario *s)
{
    return s->training.formats.of[OP_FORMAT_MTP] == OP_BF16 + 1 ? json_true() : NULL;
}
