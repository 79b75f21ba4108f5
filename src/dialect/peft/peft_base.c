/* How the frozen model is stored: bits by words, by the checkpoint's name, by types. */
#include "dialect/peft/peft_parts.h"

#include "base/names.h"
#include "config/pointer.h"

#include <string.h>

/* "4bit", true (8 bits: llama-recipes' first form), 4 and 8; NULL: not quantized. */
static const char *bits_of(struct peft *p, const struct value_item *it)
{
    char word[PEFT_WORD_MAX_B];
    int64_t n = 0;
    peft_lower(it->value, word);
    if (launch_is_off(it->value))
        return NULL;
    if (strcmp(word, "4bit") == 0 || (launch_whole(it->value, &n) && n == 4))
        return "nf4";
    if (strcmp(word, "8bit") == 0 || n == 8 ||
        (it->value->kind != VALUE_INT && launch_true(it->value)))
        return "int8";
    if (n < 16)
        launch_unresolved_item(p->t, PEFT_BASE, it, "number of bits that is simulated");
    return NULL;
}

/* What the name of a checkpoint says of its weights: "nf4" or "int8", with "?" what is
 * not simulated. */
static const struct {
    const char *part, *base;
} checkpoints[] = {
    { "bnb-4bit", "nf4" }, { "bnb-nf4", "nf4" }, { "bnb-8bit", "int8" },
    { "gptq", "?" },       { "awq", "?" },       { "aqlm", "?" },
    { "gguf", "?" },       { "ggml", "?" },      { "exl2", "?" },
    { "hqq", "?" },        { "eetq", "?" },      { "int4", "?" },
    { "int8", "?" },       { "w4a16", "?" },     { "w8a8", "?" },
    { "nvfp4", "?" },      { "mxfp4", "?" },     { "-fp8", "?" },
};

static const char *of_checkpoint(struct peft *p, const struct value_item **from)
{
    static const char *const names[] = { "model_name_or_path", "base_model",
                                         "model_name", "model_id",
                                         "pretrained_model_name" };
    const struct value_item *it = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !it; i++)
        it = launch_hyper(p->t, names[i]);
    const char *text = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    for (size_t i = 0; i < sizeof(checkpoints) / sizeof(checkpoints[0]); i++)
        if (peft_has(text, checkpoints[i].part)) {
            *from = it;
            return checkpoints[i].base;
        }
    return NULL;
}

/* What the words say: "nf4" or "int8", and by which of them; NULL: neither. */
const char *peft_quantized(struct peft *p, const struct value_item **from)
{
    for (const struct dialect_option *row = peft_rows; row->name; row++) {
        const struct value_item *it = peft_given(p, PEFT_BASE, &row);
        const char *base = NULL;
        if (!it)
            break;
        launch_hear(p->t, it);
        if (it->value->kind == VALUE_UNKNOWN)
            launch_unresolved_item(p->t, PEFT_BASE, it, "Boolean");
        else if (row->kind == DIALECT_WHOLE)
            base = bits_of(p, it);
        else if (launch_true(it->value))
            base = row->value;
        *from = it;
        if (base)
            return base;
    }
    *from = p->asks;
    return p->quantized ? "nf4" : of_checkpoint(p, from);
}

static void take_double(struct peft *p)
{
    const struct value_item *it = peft_first(p, PEFT_DOUBLE),
                            *inner =
                                it ? value_get(it->value, "bnb_4bit_use_double_quant")
                                   : NULL;
    launch_hear(p->t, it);
    it = inner ? inner : it && it->value->kind == VALUE_DICT ? NULL : it;
    if (it && it->value->kind == VALUE_UNKNOWN)
        launch_leave_out(p->t, it, "Boolean");
    else if (it)
        launch_set(p->t, PEFT_DOUBLE, json_boolean(launch_true(it->value)), it);
    else if (p->kind->double_quantization)
        peft_assume(p, PEFT_DOUBLE, json_true(), "double quantization");
}

/* Other software than bitsandbytes. */
static void ask_method(struct peft *p)
{
    static const char *const own[] = { "bitsandbytes", "bnb", "", NULL };
    static const char *const switches[] = { "gptq",     "use_mxfp4", "mxfp4", "use_awq",
                                            "use_gptq", "use_hqq",   NULL };
    const struct value_item *it = launch_hyper(p->t, "quantization_method");
    char word[PEFT_WORD_MAX_B] = "";
    if (it)
        peft_lower(it->value, word);
    if (it && names_listed(own, word)) {
        launch_hear(p->t, it);
        it = NULL;
    }
    for (const char *const *s = switches; *s && !it; s++) {
        it = launch_hyper(p->t, *s);
        it = it && launch_true(it->value) ? it : NULL;
    }
    if (!it)
        return;
    launch_hear(p->t, it);
    launch_add_unresolved(p->t, PEFT_BASE, it->value->line,
                          "%s: weights that are quantized so are not simulated; "
                          "bitsandbytes' are nf4 or int8, dequantized ones bf16",
                          it->key);
}

void peft_take_base(struct peft *p)
{
    const struct value_item *from;
    const char *base = peft_quantized(p, &from);
    ask_method(p);
    if (base && *base == '?')
        launch_add_unresolved(
            p->t, PEFT_BASE, from->value->line,
            "%s: the checkpoint's weights are quantized, which is not "
            "simulated; bitsandbytes' are nf4 or int8",
            from->key);
    if (!base || launch_is_unresolved(p->t, PEFT_BASE))
        return;
    launch_set(p->t, PEFT_BASE, json_string(base), from);
    if (strcmp(base, "nf4") == 0)
        take_double(p);
}

void peft_take_half(struct launch_context *t, const struct dialect_option *row,
                    const struct value_item *it, const char *type)
{
    bool apart = !t->converts && !launch_has(t, PEFT_BASE) &&
                 !launch_is_unresolved(t, PEFT_BASE);
    launch_set(t, row->pointer, json_sprintf("%s%s", apart ? "amp_" : "", type), it);
    if (apart)
        launch_set(t, PEFT_BASE, json_string(type), it);
}

/* "torch.bfloat16" and the like as a scenario's word; NULL: none of 16 bits. */
static const char *half_of(const struct value_item *it)
{
    char word[PEFT_WORD_MAX_B];
    if (!it)
        return NULL;
    peft_lower(it->value, word);
    const char *name = strncmp(word, "torch.", 6) == 0 ? word + 6 : word;
    static const char *const bf16[] = { "bfloat16", "bf16", "auto", NULL },
                             *const fp16[] = { "float16", "fp16", "half", NULL };
    return names_listed(bf16, name) ? "bf16" : names_listed(fp16, name) ? "fp16" : NULL;
}

/* What bitsandbytes computes in, where the Trainer has no word for it or is not to
 * convert: bf16=False (bitsandbytes/nn/modules.py, 0.48, Linear4bit). */
static void settle_compute(struct launch_context *t)
{
    static const char at[] = "/training/precision";
    const struct value_item *it = launch_hyper(t, "bnb_4bit_compute_dtype");
    const char *type = half_of(it), *now = json_string_value(pointer_get(t->tree, at));
    bool whole = now && (strcmp(now, "fp32") == 0 || strcmp(now, "tf32") == 0);
    if (!type || (launch_has(t, at) && !whole) || launch_is_unresolved(t, at))
        return;
    launch_forget(t, at);
    launch_set(t, at, json_sprintf("amp_%s", type), it);
    launch_hear(t, it);
}

/* Of a model that is loaded in 16 bits and trained without autocast: PEFT makes the
 * adapters fp32 all the same, from 0.12 on (peft/tuners/tuners_utils.py,
 * _cast_adapter_dtype). */
static void settle_type(struct launch_context *t, const struct value_item *loaded,
                        const char *type)
{
    const struct value_item *casts = launch_hyper(t, "autocast_adapter_dtype");
    launch_set(t, "/training/precision", json_string(type), loaded);
    launch_hear(t, casts);
    if (casts && launch_is_off(casts->value))
        return;
    launch_set(t, PEFT_DTYPE, json_string("fp32"), casts ? casts : loaded);
    if (!casts)
        launch_note(t->l, loaded->value->line, DIAG_ASSUMED,
                    "adapters are taken to be fp32, as PEFT makes them from 0.12 on "
                    "(give --set " PEFT_DTYPE "=%s for an older one)",
                    type);
}

/* Of a model that is loaded in 16 bits and computes in those of autocast. */
static void set_half_base(struct launch_context *t, const struct value_item *loaded,
                          const char *type, const char *computes)
{
    if (strcmp(type, computes) != 0)
        launch_note(t->l, loaded->value->line, DIAG_NOT_SIMULATED,
                    "the model is loaded in %s and computes in %s: its weights are "
                    "taken to be of the latter, without their casts",
                    type, computes);
    launch_set(t, PEFT_BASE, json_string(computes), loaded);
}

/* Whether what shards keeps the weights as they are loaded: FSDP without mixed precision
 * does (accelerate/accelerator.py, prepare_model). */
static bool is_kept(struct launch_context *t, const char *precision)
{
    const char *library =
        json_string_value(pointer_get(t->tree, "/parallelism/library"));
    return !precision && library && strcmp(library, "fsdp") == 0;
}

void peft_settle(struct launch_context *t)
{
    static const char precision[] = "/training/precision";
    const struct value_item *it = launch_hyper(t, "torch_dtype");
    it = it ? it : launch_hyper(t, "dtype");
    const char *type = half_of(it);
    const char *now = json_string_value(pointer_get(t->tree, precision));
    if (!t->adapters || launch_is_unresolved(t, PEFT_BASE))
        return;
    launch_hear(t, it);
    if (launch_has(t, PEFT_BASE)) {
        settle_compute(t);
        return;
    }
    if ((t->converts && !is_kept(t, now)) || launch_is_unresolved(t, precision))
        return;
    if (!type && it && it->value->kind == VALUE_UNKNOWN) {
        launch_add_unresolved(t, PEFT_BASE, it->value->line,
                              "%s: %s: bf16, fp16 or fp32", it->key, it->value->why);
        launch_add_example(t, PEFT_BASE, "bf16");
    }
    if (!type)
        return;
    if (it->value->kind == VALUE_STRING && strcmp(it->value->text, "auto") == 0)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: \"auto\" is the checkpoint's own type, taken to be bfloat16",
                    it->key);
    if (!now)
        settle_type(t, it, type);
    else if (strncmp(now, "amp_", 4) == 0)
        set_half_base(t, it, type, now + 4);
}
