/* What Megatron's options say together of precision: the format and its recipe, what is
 * held and gathered quantized, layers in bf16, formats of gradients and of the
 * optimizer's states (arguments.py and core/transformer/transformer_config.py of
 * Megatron-Core 0.20). */
#include "config/pointer.h"
#include "dialect/megatron/megatron.h"
#include "scenario/scenario.h"

#include <string.h>

/* --fp8-recipe, and the precision of a scenario. Delayed scaling is the default. */
static const struct dialect_word recipes[] = {
    { "delayed", "fp8" },
    { "tensorwise", "fp8_current" },
    { "blockwise", "fp8_blockwise" },
    { "mxfp8", "mxfp8" },
    { NULL, NULL },
};

const char *megatron_recipe(const char *word)
{
    const struct dialect_word *w = recipes;
    while (w->word && strcmp(w->word, word) != 0)
        w++;
    return w->value;
}

static const struct value_item *eight_bits(const struct launch_command *c)
{
    static const char *const words[] = { "--fp8-format", "--fp8-hybrid", "--fp8-e4m3",
                                         NULL };
    return launch_any_option(c, words);
}

/* The precision of options of 8 and 4 bits; NULL where its recipe is unknown. */
static const char *quantized_word(const struct launch_command *c)
{
    const struct value_item *four = launch_option(c, "--fp4-format"),
                            *recipe = launch_option(c, four ? "--fp4-recipe"
                                                            : "--fp8-recipe");
    const char *word = recipe && recipe->value->text ? recipe->value->text : NULL;
    if (four)
        return !recipe || (word && strcmp(word, "nvfp4") == 0) ? "nvfp4" : NULL;
    return !recipe ? "fp8" : word ? megatron_recipe(word) : NULL;
}

static void take_quantized(struct launch_context *t, const struct launch_command *c,
                           const struct value_item *it)
{
    static const char at[] = "/training/precision";
    bool four = launch_option(c, "--fp4-format") != NULL;
    const char *word = quantized_word(c);
    const struct value_item *recipe =
        launch_option(c, four ? "--fp4-recipe" : "--fp8-recipe");
    launch_hear(t, recipe);
    if (word)
        launch_decide(t, at, json_string(word), it, "");
    else
        launch_add_unresolved(
            t, at, recipe->line,
            "%s: this recipe is not simulated (delayed, tensorwise, blockwise, mxfp8 "
            "and, of fp4, nvfp4 are)",
            recipe->key);
}

void megatron_take_gathers(struct launch_context *t, const struct value_item *it)
{
    if (!megatron_is_fsdp(t))
        launch_decide(t, "/training/quantized_parameters", json_true(), it,
                      "param_gather of the precision's function");
    else if (it)
        launch_note(t->l, it->line, DIAG_NOT_SIMULATED,
                    "%s: is not simulated under FSDP, whose units are gathered in 16 "
                    "bits",
                    it->key);
    launch_hear(t, it);
}

/* Weights and gathers as products read them. */
static void take_gathers(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *own =
        launch_option(c, launch_option(c, "--fp4-format") ? "--fp4-param-gather"
                                                          : "--fp8-param-gather");
    if (!own)
        return;
    megatron_take_gathers(t, own);
    launch_hear(t, launch_option(c, "--reuse-grad-buf-for-mxfp8-param-ag"));
}

static int64_t count(struct launch_context *t, const struct launch_command *c,
                     const char *name)
{
    const struct value_item *it = launch_option(c, name);
    int64_t n = 1; /* the default of both */
    launch_hear(t, it);
    if (it)
        launch_whole(it->value, &n);
    return n;
}

static void take_layers(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *on = launch_option(c, "--first-last-layers-bf16");
    if (!on)
        return;
    launch_decide(
        t, "/training/layers_16bit/first",
        json_integer((json_int_t)count(t, c, "--num-layers-at-start-in-bf16")), on, "");
    launch_decide(t, "/training/layers_16bit/last",
                  json_integer((json_int_t)count(t, c, "--num-layers-at-end-in-bf16")),
                  on, "");
}

/* Sums of gradients, which are reduced as they are. */
static void take_gradients(struct launch_context *t, const struct launch_command *c,
                           bool half)
{
    static const char at[] = "/training/gradient_dtype";
    const struct value_item *narrow = launch_option(c, "--grad-reduce-in-bf16"),
                            *wide = launch_option(
                                c, "--accumulate-allreduce-grads-in-fp32"),
                            *sums = launch_option(c, "--main-grads-dtype");
    bool narrow_sums = sums && launch_option_is(c, "--main-grads-dtype", "bf16");
    launch_hear(t, sums);
    if (narrow || (narrow_sums && !wide))
        launch_decide(t, at, json_string("bf16"), narrow ? narrow : sums, "");
    else if (half && !wide) /* bf16 alone is summed in fp32 */
        launch_decide(t, at, json_string("fp16"), launch_option(c, "--fp16"), "");
    else if (half)
        launch_hear(t, wide);
}

/* The fp32 weight is held as what a bf16 parameter lacks of it, unless parameters are
 * not bf16's (optimizer_config.py, use_precision_aware_optimizer_no_fp8_or_ds_fp8). */
static void take_states(struct launch_context *t, const struct launch_command *c,
                        bool remainders)
{
    static const char at[] = "/training/optimizer_states/";
    static const struct {
        const char *option, *key;
    } rows[] = { { "--exp-avg-dtype", "first_moment" },
                 { "--exp-avg-sq-dtype", "second_moment" } };
    const struct value_item *on = launch_option(c, "--use-precision-aware-optimizer");
    bool fp16 = launch_option_is(c, "--main-params-dtype", "fp16");
    if (!on)
        return;
    launch_hear(t, launch_option(c, "--main-params-dtype"));
    launch_decide(t, arena_printf(t->arena, "%smaster_weights", at),
                  json_string(fp16         ? "fp16"
                              : remainders ? "remainders"
                                           : "fp32"),
                  on, "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value_item *it = launch_option(c, rows[i].option);
        if (it && it->value->text)
            launch_decide(t, arena_printf(t->arena, "%s%s", at, rows[i].key),
                          json_string(it->value->text), it, "");
    }
}

/* "--${DTYPE}" where what the variable holds is not known: the format, by all that scripts
 * write so. */
static bool ask_format(struct launch_context *t, const struct launch_command *c)
{
    static const char at[] = "/training/precision";
    const struct shell_command *own = c->command;
    for (int32_t i = c->script + 1; i < own->n; i++) {
        const struct shell_word *w = &own->words[i];
        if (!w->why || strncmp(w->text, "--", 2) != 0 ||
            !memchr(w->text, '$', strcspn(w->text, "=")))
            continue;
        launch_hear(t, launch_option(c, w->text));
        launch_add_unresolved(t, at, w->line,
                              "%.60s: which option that is, is not known (%.160s)",
                              w->text, w->why);
        return true;
    }
    return false;
}

void megatron_take_precision(struct launch_context *t, const struct launch_command *c)
{
    const struct value_item *fp8 = eight_bits(c),
                            *fp4 = launch_option(c, "--fp4-format"),
                            *bf16 = launch_option(c, "--bf16"),
                            *fp16 = launch_option(c, "--fp16");
    const struct value_item *narrow = fp4 ? fp4 : fp8, *it = bf16 ? bf16 : fp16;
    if (bf16 && fp16)
        launch_wrong_option(t, fp16, DIAG_CONTRADICTION,
                            "--bf16 is there, too (keep one)");
    if (fp4 && fp8)
        launch_wrong_option(t, fp4, DIAG_CONTRADICTION,
                            "--fp8-format is there, too (keep one)");
    bool asks = !it && !narrow && ask_format(t, c);
    if (!it && !narrow && !asks)
        launch_note(t->l, c->command->line, DIAG_ASSUMED,
                    "neither --bf16 nor --fp16 is there: the job computes in fp32");
    if (narrow) {
        take_quantized(t, c, narrow);
        take_gathers(t, c);
        take_layers(t, c);
        megatron_take_formats(t, c);
    } else if (!asks)
        launch_decide(t, "/training/precision",
                      json_string(bf16   ? "bf16"
                                  : fp16 ? "fp16"
                                         : "fp32"),
                      it, "without --fp16 and --bf16");
    launch_hear(t, it); /* the 16-bit format with fp8 */
    const char *word = narrow ? quantized_word(c) : "";
    take_gradients(t, c, fp16 && !bf16 && !narrow && !megatron_uses_deepspeed(c));
    take_states(t, c, bf16 && (!narrow || (word && strcmp(word, "fp8") == 0)));
}

/* Written ---------------------------------------------------------------------------- */

static json_t *flag(bool on)
{
    return on ? json_true() : NULL;
}

/* Of --fp8-recipe; NULL: no fp8. */
static const char *recipe_of(const struct scenario *s)
{
    const char *precision = names_of(op_precision_names, (int)s->training.precision);
    for (const struct dialect_word *w = recipes; w->word; w++)
        if (strcmp(w->value, precision) == 0)
            return w->word;
    return NULL;
}

json_t *megatron_give_fp8(const struct scenario *s)
{
    if (!recipe_of(s))
        return NULL;
    return json_string(s->training.precision == OP_MXFP8 ? "e4m3" : "hybrid");
}

json_t *megatron_give_fp4(const struct scenario *s)
{
    return s->training.precision == OP_NVFP4 ? json_string("e2m1") : NULL;
}

json_t *megatron_give_recipe(const struct scenario *s)
{
    const char *word = recipe_of(s);
    return word && s->training.precision != OP_FP8 ? json_string(word) : NULL;
}

json_t *megatron_give_fp8_gather(const struct scenario *s)
{
    return flag(s->training.quantized_parameters && recipe_of(s));
}

json_t *megatron_give_fp4_gather(const struct scenario *s)
{
    return flag(s->training.quantized_parameters && !recipe_of(s));
}

json_t *megatron_give_layers_16bit(const struct scenario *s)
{
    return flag(s->training.first_16bit + s->training.last_16bit > 0);
}

json_t *megatron_give_first_16bit(const struct scenario *s)
{
    json_t *on = megatron_give_layers_16bit(s);
    json_decref(on);
    return on ? json_integer((json_int_t)s->training.first_16bit) : NULL;
}

json_t *megatron_give_last_16bit(const struct scenario *s)
{
    json_t *on = megatron_give_layers_16bit(s);
    json_decref(on);
    return on ? json_integer((json_int_t)s->training.last_16bit) : NULL;
}

json_t *megatron_give_aware(const struct scenario *s)
{
    return flag(s->training.states.first_moment_B > 0);
}
