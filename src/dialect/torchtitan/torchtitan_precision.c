/* torchtitan's formats: parameters, gradients, and converters of products (torchtitan/
 * components/quantization, v0.1 to v0.2.2: float8.py, mx.py). */
#include "base/names.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_torchao.h"
#include "dialect/torchtitan/torchtitan.h"

#include <string.h>

static const char at[] = "/training/precision";

bool torchtitan_has_word(const struct value_item *it, const char *word)
{
    const struct value *v = it ? it->value : NULL;
    for (int32_t i = 0; v && v->kind == VALUE_LIST && i < v->n; i++)
        if (v->items[i].value->kind == VALUE_STRING &&
            strstr(v->items[i].value->text, word))
            return true;
    return v && v->kind == VALUE_STRING && strstr(v->text, word);
}

/* Converters, by the words that the versions have for them. Those of grouped products
 * (quantize.grouped_mm.*) convert experts alone. */
struct converters {
    const struct value_item *all, *old;
    bool float8, mx, others, grouped;
};

static bool is_linear(const struct value_item *it, const char *old, const char *name)
{
    const struct value *v = it ? it->value : NULL;
    for (int32_t i = 0; v && v->kind == VALUE_LIST && i < v->n; i++) {
        const char *word = v->items[i].value->text;
        if (word && (strcmp(word, old) == 0 || strcmp(word, name) == 0))
            return true;
    }
    return v && v->kind == VALUE_STRING &&
           (strcmp(v->text, old) == 0 || strcmp(v->text, name) == 0);
}

static struct converters converters_of(const struct value *c)
{
    const struct value_item *all = value_get(c, "model.converters"),
                            *old = value_get(c, "float8.enable_float8_linear");
    return (struct converters) {
        .all = all,
        .old = old,
        .float8 = is_linear(all, "float8", "quantize.linear.float8") ||
                  (old && launch_true(old->value)),
        .mx = is_linear(all, "mx", "quantize.linear.mx"),
        .others = torchtitan_has_word(all, "nvfp4"),
        .grouped = torchtitan_has_word(all, "quantize.grouped_mm"),
    };
}

static const struct value_item *recipe_of(const struct value *c, bool mx)
{
    const struct value_item *new =
        value_get(c, mx ? "quantize.linear.mx.recipe_name"
                        : "quantize.linear.float8.recipe_name");
    return new ? new : value_get(c, mx ? "mx.recipe_name" : "float8.recipe_name");
}

/* In which format products run; NULL: in that of parameters. */
static const char *converted(struct launch_context *t, const struct value *c,
                             const struct converters *by)
{
    const struct value_item *recipe = recipe_of(c, by->mx);
    const char *word = by->mx && !recipe ? "mxfp8" : NULL;
    if (by->grouped)
        launch_note(t->l, by->all->line, DIAG_NOT_SIMULATED,
                    "model.converters: formats of grouped products are not simulated: "
                    "experts have the others'");
    if (by->others || (!by->float8 && !by->mx))
        return NULL;
    word = word ? word : launch_torchao_precision(t, recipe);
    if (!word)
        launch_unresolved_item(t, at, recipe, "recipe that is simulated");
    return word;
}

static const struct name_value dtypes[] = { { "bfloat16", 16 },
                                            { "float32", 32 },
                                            { NULL, 0 } };

/* How many bits a key's format has; asks for the field where it is another. */
static int bits_of(struct launch_context *t, const struct value *c, const char *key,
                   const char *pointer, int otherwise)
{
    const struct value_item *it = value_get(c, key);
    int bits = otherwise;
    launch_hear(t, it);
    if (it && (it->value->kind != VALUE_STRING ||
               names_find(dtypes, it->value->text, &bits) != 0))
        launch_unresolved_item(t, pointer, it, "format that is simulated");
    return bits;
}

/* training.dtype is what parameters are held in, and with them the optimizer's states
 * (torchtitan/config/configs.py); whether it is 16 bits. */
static bool take_held(struct launch_context *t, const struct value *c, bool wide)
{
    static const char held[] = "/training/master_weights";
    int bits = bits_of(t, c, "training.dtype", held, 32);
    if (bits == 16 && wide)
        launch_add_unresolved(t, held, value_get(c, "training.dtype")->line,
                              "training.dtype: parameters in 16 bits that are computed "
                              "in fp32 are not simulated");
    else if (bits == 16)
        launch_set(t, held, json_false(), value_get(c, "training.dtype"));
    return bits == 16;
}

/* Names of converters that are none of those above. */
static void note_others(const struct launch_context *t, const struct value_item *all)
{
    static const char *const known[] = { "float8", "mx", "quantize.", "nvfp4",
                                         "unknown" };
    const struct value *v = all ? all->value : NULL;
    for (int32_t i = 0; v && v->kind == VALUE_LIST && i < v->n; i++) {
        const char *word = v->items[i].value->text;
        bool is_known = !word;
        for (size_t k = 0; !is_known && k < sizeof(known) / sizeof(known[0]); k++)
            is_known = strncmp(word, known[k], strlen(known[k])) == 0;
        if (!is_known)
            launch_note(t->l, all->line, DIAG_NOT_SIMULATED,
                        "model.converters: %.60s is not simulated", word);
    }
}

/* fully_shard casts parameters to bf16; DDP autocasts. */
void torchtitan_take_precision(struct launch_context *t, const struct value *c)
{
    const struct value_item *it = value_get(c, "training.mixed_precision_param");
    struct converters by = converters_of(c);
    bool wide = strcmp(launch_word(c, "training.mixed_precision_param", "bfloat16"),
                       "float32") == 0,
         shards = launch_has(t, "/parallelism/sharding/strategy");
    const char *word = converted(t, c, &by);
    bool narrow = take_held(t, c, wide);
    launch_hear(t, by.old);
    int reduced = bits_of(t, c, "training.mixed_precision_reduce",
                          "/training/gradient_dtype", 32);
    if (by.others)
        launch_add_unresolved(t, at, by.all->line,
                              "model.converters: NVFP4 of torchao is not simulated");
    else
        launch_hear(t, by.all);
    note_others(t, by.all);
    if (word && !shards) {
        launch_note(t->l, by.all ? by.all->line : by.old->line, DIAG_NOT_SIMULATED,
                    "model.converters: next to parameters in fp32, scales are "
                    "simulated as those of the steps before");
        word = "amp_fp8";
    }
    launch_settle_item(t, at,
                       json_string(wide               ? "fp32"
                                   : word             ? word
                                   : shards || narrow ? "bf16"
                                                      : "amp_bf16"),
                       word ? by.all ? by.all : by.old : it,
                       "mixed_precision_param's default");
    if (!wide)
        launch_settle_item(t, "/training/gradient_dtype",
                           json_string(reduced == 16 ? "bf16" : "fp32"),
                           value_get(c, "training.mixed_precision_reduce"),
                           "mixed_precision_reduce's default");
}
