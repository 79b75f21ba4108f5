/* Precision of NeMo 2 and Megatron-Bridge: the function that makes it or its members, and
 * the formats of the optimizer's states (nemo/collections/llm/recipes/precision/
 * mixed_precision.py; megatron/bridge/training/mixed_precision.py). */
#include "dialect/megatron/megatron.h"
#include "dialect/nemo/nemo.h"

#include <string.h>

/* What a function says by the end of its name: "bf16_with_mxfp8_mixed". */
static const struct made {
    const char *name, *precision;
    bool gathers, gathers_nemo; /* fp8_param_gather; NeMo's own */
    int64_t first, last;        /* layers in bf16 */
} functions[] = {
    { "nanov2_bf16_with_fp8_current_scaling_mixed", "fp8_blockwise", true, true, 2, 2 },
    { "nemotron_h_bf16_with_fp8_current_scaling_mixed", "fp8_current", true, true, 2,
      2 },
    { "nemotron_3_super_bf16_with_nvfp4_mixed", "nvfp4", true, true, 0, 14 },
    { "16_with_fp8_current_scaling_mixed", "fp8_current", true, true, 1, 1 },
    { "16_with_fp8_subchannel_scaling_mixed", "fp8_blockwise", false, false, 0, 0 },
    { "16_with_fp8_delayed_scaling_mixed", "fp8", true, true, 0, 0 },
    { "16_with_fp8_mixed", "fp8", true, true, 0, 0 },
    { "16_with_mxfp8_mixed", "mxfp8", true, false, 0, 0 },
    { "16_with_nvfp4_mixed", "nvfp4", true, true, 0, 0 },
    { "16_mixed", NULL, false, false, 0, 0 },
    { "", NULL, false, false, 0, 0 },
};

/* The row of a name, "-" as "_". */
static const struct made *made_by(const struct nemo *n, const char *word)
{
    char *name = arena_strndup(n->t->arena, word, strlen(word));
    const struct made *row = functions;
    for (char *c = name; *c; c++)
        *c = *c == '-' ? '_' : *c;
    while (!names_ends(name, row->name))
        row++;
    return row;
}

static const struct value_item *mixed(const struct nemo *n, const char *name)
{
    const struct value_item *it = nemo_find(n, NEMO_MIXED, name);
    launch_hear(n->t, it);
    return it;
}

static bool is_given(const struct value_item *it)
{
    return it && (launch_true(it->value) || it->value->kind == VALUE_STRING);
}

/* Of the members; `by`, else, is what the function says. "?": not simulated. */
static const char *quantized_word(const struct nemo *n, const struct made *by,
                                  bool is_nemo)
{
    const struct value_item *fp8 = mixed(n, "fp8"), *fp4 = mixed(n, "fp4"),
                            *recipe = mixed(n, "fp8_recipe");
    if (is_given(fp4))
        return "nvfp4";
    if (fp8 && !is_given(fp8))
        return NULL;
    if ((fp8 || by->precision) && recipe && recipe->value->text) {
        const char *dot = strrchr(recipe->value->text, '.'),
                   *word = megatron_recipe(dot ? dot + 1 : recipe->value->text);
        return word ? word : "?";
    }
    if (by->precision)
        return by->precision;
    return !fp8 ? NULL : is_nemo ? "fp8" : "fp8_current";
}

/* Weights and gathers as products read them. */
static void take_gathers(const struct nemo *n, const char *word, bool otherwise)
{
    static const char *const names[] = { "fp8_param_gather", "fp8_param",
                                         "fp4_param_gather", "fp4_param" };
    int four = strcmp(word, "nvfp4") == 0 ? 2 : 0;
    const struct value_item *it = NULL;
    for (int i = 1; i >= 0; i--)
        it = mixed(n, names[four + i]) ? mixed(n, names[four + i]) : it;
    mixed(n, "reuse_grad_buf_for_mxfp8_param_ag");
    if (it ? launch_true(it->value) : otherwise)
        megatron_take_gathers(n->t, it);
}

static int64_t count(const struct nemo *n, const char *name, int64_t otherwise)
{
    const struct value_item *it = mixed(n, name);
    int64_t k = otherwise;
    if (it)
        launch_whole(it->value, &k);
    return k;
}

static void take_layers(const struct nemo *n, const struct made *by)
{
    const struct value_item *on = mixed(n, "first_last_layers_bf16");
    bool layers = on ? launch_true(on->value) : by->first + by->last > 0;
    int64_t first = count(n, "num_layers_at_start_in_bf16", by->first),
            last = count(n, "num_layers_at_end_in_bf16", by->last);
    if (!layers || first + last <= 0)
        return;
    nemo_set(n, "/training/layers_16bit/first", json_integer((json_int_t)first), on,
             "layers in bf16 of the precision's function");
    nemo_set(n, "/training/layers_16bit/last", json_integer((json_int_t)last), on,
             "layers in bf16 of the precision's function");
}

/* "torch.bfloat16" in the scenario's words. */
static const char *dtype_word(const char *text)
{
    static const char *const words[][2] = {
        { "float32", "fp32" }, { "fp32", "fp32" },    { "bfloat16", "bf16" },
        { "bf16", "bf16" },    { "float16", "fp16" }, { "half", "fp16" },
        { "fp16", "fp16" },    { "uint8", "fp8" },    { "fp8", "fp8" },
    };
    const char *dot = strrchr(text, '.'), *last = dot ? dot + 1 : text;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i][0], last) == 0)
            return words[i][1];
    return NULL;
}

static void take_moment(const struct nemo *n, const char *name, const char *pointer)
{
    const struct value_item *it = nemo_find(n, NEMO_OPTIM, name);
    const char *word = it && it->value->text ? dtype_word(it->value->text) : NULL;
    launch_hear(n->t, it);
    if (it && !word)
        launch_unresolved_item(n->t, pointer, it, "number format");
    else if (it)
        nemo_set(n, pointer, json_string(word), it, "");
}

/* Formats of states act under the precision-aware optimizer alone; the fp32 weight is
 * held as what a bf16 parameter lacks of it where parameters are bf16's. */
static void take_states(const struct nemo *n, bool remainders)
{
    const struct value_item *weights = nemo_find(n, NEMO_OPTIM, "main_params_dtype");
    const char *word =
        weights && weights->value->text ? dtype_word(weights->value->text) : NULL;
    if (!nemo_is_on(n, NEMO_OPTIM, "use_precision_aware_optimizer", false))
        return;
    launch_hear(n->t, weights);
    bool half = word && strcmp(word, "fp16") == 0;
    nemo_set(n, "/training/optimizer_states/master_weights",
             json_string(half         ? "fp16"
                         : remainders ? "remainders"
                                      : "fp32"),
             nemo_find(n, NEMO_OPTIM, "use_precision_aware_optimizer"), "");
    take_moment(n, "exp_avg_dtype", "/training/optimizer_states/first_moment");
    take_moment(n, "exp_avg_sq_dtype", "/training/optimizer_states/second_moment");
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Whether `precision` is none of Lightning's words: "16-mixed", "bf16", 32, ... */
static bool is_no_precision(const struct value_item *own)
{
    int64_t bits = 0;
    if (!own || launch_whole(own->value, &bits))
        return own && bits != 16 && bits != 32;
    const char *text = own->value->kind == VALUE_STRING ? own->value->text : "";
    return strncmp(text, "16", 2) != 0 && strncmp(text, "32", 2) != 0 &&
           !strstr(text, "bf16");
}

void nemo_take_mixed(const struct nemo *n)
{
    static const char at[] = "/training/precision";
    const struct value_item *made = mixed(n, "class"), *own = mixed(n, "precision"),
                            *fp8 = mixed(n, "fp8"),
                            *wire = nemo_find(n, NEMO_MIXED, "grad_reduce_in_fp32"),
                            *it = fp8    ? fp8
                                  : made ? made
                                         : own;
    const char *path = made && made->value->text ? made->value->text : "",
               *name = last_part(path),
               *text = nemo_word(n, NEMO_MIXED, "precision", "");
    const struct made *by = made_by(n, name);
    bool is_nemo = strncmp(path, "nemo.", 5) == 0;
    const char *word = quantized_word(n, by, is_nemo);
    int64_t bits = 0;
    bool half = strstr(name, "fp16") || strncmp(text, "16", 2) == 0 ||
                (own && launch_whole(own->value, &bits) && bits == 16) ||
                nemo_is_on(n, NEMO_MIXED, "fp16", false),
         brain = strstr(name, "bf16") || strstr(text, "bf16") ||
                 nemo_is_on(n, NEMO_MIXED, "bf16", false);
    if (it && it->value->kind == VALUE_UNKNOWN && !it->value->text)
        launch_unresolved_item(n->t, at, it, "precision");
    else if (!word && is_no_precision(own))
        launch_unresolved_item(n->t, at, own, "precision of Lightning's");
    else if (word && strcmp(word, "?") == 0)
        launch_add_unresolved(n->t, at, it->line,
                              "%.60s: this recipe is not simulated (delayed, "
                              "tensorwise, blockwise and mxfp8 are)",
                              nemo_word(n, NEMO_MIXED, "fp8_recipe", ""));
    else
        nemo_set(n, at,
                 json_string(word    ? word
                             : brain ? "bf16"
                             : half  ? "fp16"
                                     : "fp32"),
                 it, "no precision is given");
    if (word) {
        take_gathers(n, word, is_nemo ? by->gathers_nemo : by->gathers);
        take_layers(n, by);
    }
    wire = wire ? wire : nemo_find(n, NEMO_DDP, "grad_reduce_in_fp32");
    if (brain || word || half)
        nemo_set(n, "/training/gradient_dtype",
                 json_string(wire && !launch_true(wire->value) ? "bf16" : "fp32"), wire,
                 "grad_reduce_in_fp32's default");
    launch_hear(n->t, nemo_find(n, NEMO_DDP, "grad_reduce_in_fp32"));
    take_states(n, brain && (!word || strcmp(word, "fp8") == 0));
}
