/* Whether adapters are trained, and which, of all words that a file gives. */
#include "dialect/peft/peft.h"

#include "base/names.h"
#include "config/pointer.h"
#include "model/lora.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { WORD_MAX_B = 40 };

enum answer { OPEN, NO, YES, REFUSED };

struct peft {
    struct launch_context *t;
    const struct peft_kind *kind;
    const struct value_item
        *asks;      /* what asks for adapters, or the first word of them */
    bool quantized; /* it asks for QLoRA */
};

/* A script of one's own, in which any word of adapters asks for them. */
static const struct peft_kind script = { .from = "PEFT's" };

/* Words ---------------------------------------------------------------------------- */

static const struct value_item *word_in(const struct value *dict, const char *name)
{
    for (int32_t i = 0; dict->kind == VALUE_DICT && i < dict->n; i++)
        if (launch_same_word(dict->items[i].key, name))
            return &dict->items[i];
    return NULL;
}

/* The first row of a field, from `*row` on, whose word the file gives; NULL: none. */
static const struct value_item *given(const struct peft *p, const char *pointer,
                                      const struct dialect_option **row)
{
    for (; (*row)->name; ++*row) {
        const struct value_item *it;
        if (!(*row)->pointer || strcmp((*row)->pointer, pointer) != 0)
            continue;
        it = launch_hyper(p->t, (*row)->name);
        if (it && it->value->kind != VALUE_NONE)
            return it;
    }
    return NULL;
}

/* A word of a field: of the newest dictionary that has a known one. */
static const struct value_item *first(const struct peft *p, const char *pointer)
{
    const struct value_item *unknown = NULL;
    for (int i = 0; i < p->t->n_hyper; i++)
        for (const struct dialect_option *row = peft_rows; row->name; row++) {
            const struct value_item *it =
                row->pointer && strcmp(row->pointer, pointer) == 0
                    ? word_in(p->t->hyper[i], row->name)
                    : NULL;
            if (it && it->value->kind > VALUE_NONE && it->value->kind != VALUE_UNKNOWN)
                return it;
            if (it && it->value->kind == VALUE_UNKNOWN && !unknown)
                unknown = it;
        }
    return unknown;
}

static void lower(const struct value *v, char out[WORD_MAX_B])
{
    size_t n = 0;
    const char *text = v->kind == VALUE_STRING ? v->text : "";
    for (; text[n] && n + 1 < WORD_MAX_B; n++)
        out[n] = (char)tolower((unsigned char)text[n]);
    out[n] = '\0';
}

/* Whether adapters are trained ----------------------------------------------------- */

static enum answer refuse(struct peft *p, const struct value_item *it, const char *what)
{
    diags_add(
        &p->t->l->loader->diags,
        launch_diag(p->t->l, DIAG_NOT_SIMULATED, it->value->line, it->value->column),
        "%s: %.60s is not simulated (LoRA and QLoRA are, and full training)", it->key,
        what);
    launch_hear(p->t, it);
    return REFUSED;
}

/* A switch, or the name of a method. */
static enum answer answer_of(struct peft *p, const struct value_item *it)
{
    static const char *const low[] = { "lora",   "true",  "1",     "yes",
                                       "rslora", "pissa", "lora+", "loraplus",
                                       "peft",   "dora",  NULL },
                             *const quantized[] = { "qlora", "qdora", NULL },
                             *const none[] = { "full", "none", "no",  "false", "0",
                                               "",     "null", "all", NULL };
    char word[WORD_MAX_B];
    lower(it->value, word);
    if (it->value->kind == VALUE_UNKNOWN) {
        launch_add_unresolved(p->t, PEFT_LORA, it->value->line,
                              "%s: %s, and nothing is run; without adapters it is null",
                              it->key, it->value->why);
        return REFUSED;
    }
    if (it->value->kind != VALUE_STRING)
        return launch_true(it->value) ? YES : NO;
    if (strcmp(word, "dora") == 0 || strcmp(word, "qdora") == 0)
        launch_note(p->t->l, it->value->line, DIAG_NOT_SIMULATED,
                    "%s: the magnitudes of DoRA are not simulated, its adapters are",
                    it->key);
    p->quantized |= names_listed(quantized, word);
    if (names_listed(low, word) || names_listed(quantized, word))
        return YES;
    return names_listed(none, word) ? NO : refuse(p, it, it->value->text);
}

/* Of several words: what is switched off is off, whatever the method is called. */
static enum answer answer(struct peft *p)
{
    static const char *const full[] = { "full_finetune", "full_finetuning", NULL };
    enum answer all = OPEN;
    for (const char *const *f = full; *f; f++) {
        const struct value_item *it = launch_hyper(p->t, *f);
        launch_hear(p->t, it);
        if (it && launch_true(it->value))
            return NO;
    }
    for (const struct dialect_option *row = peft_rows; row->name; row++) {
        const struct value_item *it = given(p, PEFT_LORA, &row);
        if (!it)
            break;
        bool call = strcmp(row->name, "peft_type") == 0;
        if (p->kind->asks && !call && strcmp(p->kind->asks, row->name) != 0)
            continue;
        bool four = row->value != NULL, method = row->kind == DIALECT_TEXT;
        enum answer one = answer_of(p, it);
        launch_hear(p->t, it);
        if (one == REFUSED || (one == YES && all != NO))
            p->asks = it;
        if (one == REFUSED)
            return REFUSED;
        p->quantized |= four && one == YES;
        if (one == YES)
            all = method && all == NO ? NO : YES;
        else if (one == NO && !four && all == OPEN)
            all = NO;
    }
    return all;
}

/* Of a script without a switch, what speaks of adapters; a rank of 0 is none. */
static enum answer implied(struct peft *p)
{
    static const char *const fields[] = { PEFT_RANK, PEFT_ALPHA, PEFT_DROPOUT,
                                          PEFT_TARGETS, PEFT_BASE };
    const struct value_item *rank = first(p, PEFT_RANK);
    int64_t n;
    if (p->kind->usual)
        return YES;
    if (p->kind->asks || (rank && launch_whole(rank->value, &n) && n <= 0))
        return NO;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        for (const struct dialect_option *row = peft_rows; row->name; row++) {
            const struct value_item *it = given(p, fields[i], &row);
            if (!it)
                break;
            if (strcmp(row->name, "target_modules") == 0 ||
                strcmp(row->name, "trainable") == 0 || dialect_is_off(row, it->value))
                continue;
            p->asks = it;
            return YES;
        }
    return NO;
}

/* Fields --------------------------------------------------------------------------- */

/* Sets a field that the file leaves open; the reference is stolen. */
static void assume(struct peft *p, const char *pointer, json_t *value, const char *what)
{
    struct value v = { .kind = VALUE_NONE, .line = p->t->l->line };
    const struct value_item it = {
        arena_printf(p->t->arena, "%s default of %s", p->kind->from, what), v.line, &v
    };
    launch_set(p->t, pointer, value, &it);
}

static void take_rank(struct peft *p)
{
    const struct value_item *it = first(p, PEFT_RANK);
    int64_t n = 0;
    launch_hear(p->t, it);
    if (it && launch_whole(it->value, &n) && n > 0)
        launch_set(p->t, PEFT_RANK, json_integer((json_int_t)n), it);
    else if (it)
        launch_unresolved_item(p->t, PEFT_RANK, it, "rank of at least 1");
    else if (p->kind->rank)
        assume(p, PEFT_RANK, json_integer((json_int_t)p->kind->rank), "the rank");
    else
        launch_add_unresolved(p->t, PEFT_RANK, p->asks->value->line,
                              "%s: adapters are trained, and their rank is not given",
                              p->asks->key);
}

/* Numbers that a step does without where they are not known. */
static void take_numbers(struct peft *p)
{
    const struct value_item *alpha = first(p, PEFT_ALPHA),
                            *dropout = first(p, PEFT_DROPOUT);
    json_t *rank = pointer_get(p->t->tree, PEFT_RANK);
    double x;
    launch_hear(p->t, alpha);
    launch_hear(p->t, dropout);
    if (alpha && launch_real(alpha->value, &x) && x >= 0)
        launch_set(p->t, PEFT_ALPHA, json_real(x), alpha);
    else if (!alpha && (p->kind->alpha || p->kind->alpha_ranks) && rank)
        assume(p, PEFT_ALPHA,
               json_real((double)(p->kind->alpha +
                                  p->kind->alpha_ranks * json_integer_value(rank))),
               "lora_alpha");
    if (dropout && launch_real(dropout->value, &x) && x >= 0 && x < 1)
        launch_set(p->t, PEFT_DROPOUT, json_real(x), dropout);
    else if (dropout)
        launch_leave_out(p->t, dropout, "share below 1");
    else if (p->kind->dropout > 0)
        assume(p, PEFT_DROPOUT, json_real(p->kind->dropout), "lora_dropout");
}

/* Whether a word of a field is there as none: what makes the adapters leaves it out. */
static bool is_left_out(const struct peft *p, const char *pointer)
{
    for (const struct dialect_option *row = peft_rows; row->name; row++) {
        const struct value_item *it = row->pointer && strcmp(row->pointer, pointer) == 0
                                          ? launch_hyper(p->t, row->name)
                                          : NULL;
        if (it && it->value->kind == VALUE_NONE)
            return true;
    }
    return false;
}

static void take_targets(struct peft *p)
{
    const struct value_item *linear = launch_hyper(p->t, "lora_target_linear"),
                            *it = first(p, PEFT_TARGETS);
    launch_hear(p->t, linear);
    launch_hear(p->t, it);
    if (linear && launch_true(linear->value)) {
        launch_set(p->t, PEFT_TARGETS, json_string("all-linear"), linear);
        launch_hear(p->t, launch_hyper(p->t, "lora_target_modules"));
    } else if (it && !(it->value->kind == VALUE_LIST && it->value->n == 0)) {
        launch_set(p->t, PEFT_TARGETS,
                   peft_modules(p->t, PEFT_TARGETS, it, lora_target_of), it);
    } else if (p->kind->targets) {
        assume(p, PEFT_TARGETS, json_string(p->kind->targets), "target modules");
    } else if (p->kind == &script && !it && !is_left_out(p, PEFT_TARGETS)) {
        launch_add_unresolved(p->t, PEFT_TARGETS, p->asks->value->line,
                              "%s: which modules have adapters is not given; "
                              "\"all-linear\", a list of names, or null for PEFT's "
                              "default",
                              p->asks->key);
    }
}

static void take_trained(struct peft *p)
{
    const struct value_item *it = first(p, PEFT_TRAINED);
    launch_hear(p->t, it);
    if (it && !launch_is_off(it->value) &&
        !(it->value->kind == VALUE_LIST && it->value->n == 0))
        launch_set(p->t, PEFT_TRAINED,
                   peft_modules(p->t, PEFT_TRAINED, it, lora_trained_of), it);
}

/* How the frozen model is stored --------------------------------------------------- */

/* "4bit", true (8 bits: llama-recipes' first form), 4 and 8; NULL: not quantized. */
static const char *bits_of(struct peft *p, const struct value_item *it)
{
    char word[WORD_MAX_B];
    int64_t n = 0;
    lower(it->value, word);
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
static const char *quantized(struct peft *p, const struct value_item **from)
{
    for (const struct dialect_option *row = peft_rows; row->name; row++) {
        const struct value_item *it = given(p, PEFT_BASE, &row);
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
    const struct value_item *it = first(p, PEFT_DOUBLE),
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
        assume(p, PEFT_DOUBLE, json_true(), "double quantization");
}

/* Other software than bitsandbytes. */
static void ask_method(struct peft *p)
{
    static const char *const own[] = { "bitsandbytes", "bnb", "", NULL };
    static const char *const switches[] = { "gptq",     "use_mxfp4", "mxfp4", "use_awq",
                                            "use_gptq", "use_hqq",   NULL };
    const struct value_item *it = launch_hyper(p->t, "quantization_method");
    char word[WORD_MAX_B] = "";
    if (it)
        lower(it->value, word);
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

static void take_base(struct peft *p)
{
    const struct value_item *from;
    const char *base = quantized(p, &from);
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

/* transformers/trainer.py (4.57): weights in 4 or 8 bits are trained by adapters
 * alone. */
static void refuse_quantized(struct peft *p)
{
    const struct value_item *from = NULL;
    if (quantized(p, &from) && from)
        diags_add(
            &p->t->l->loader->diags,
            launch_diag(p->t->l, DIAG_CONTRADICTION, from->value->line,
                        from->value->column),
            "%s: quantized weights are trained by adapters alone, and %s asks for "
            "none",
            from->key, p->kind->asks);
}

/* What freezes a part of the model without adapters. */
static void ask_frozen(struct peft *p)
{
    static const char *const words[] = {
        "spectrum_config_path",
        "spectrum_parameters",
        "unfrozen_parameters",
        "lisa_n_layers",
        "use_lisa",
        "freeze_layers",
        "num_freeze_layers",
        "freeze_n_layers",
        "num_layers_to_freeze",
        "freeze_base",
        "freeze_base_model",
        "freeze_encoder",
        NULL,
    };
    for (const char *const *w = words; *w; w++) {
        const struct value_item *it = launch_hyper(p->t, *w);
        if (!it || launch_is_off(it->value) ||
            (it->value->kind == VALUE_LIST && it->value->n == 0))
            continue;
        launch_hear(p->t, it);
        launch_add_unresolved(p->t, PEFT_LORA, it->value->line,
                              "%s: a part of the model is frozen, which is not "
                              "simulated without adapters; null is training of all",
                              it->key);
        return;
    }
}

/* All of it ------------------------------------------------------------------------ */

bool peft_take(struct launch_context *t, const struct peft_kind *kind)
{
    struct value none = { .kind = VALUE_NONE, .line = t->l->line };
    const struct value_item usual = { "finetuning_type", none.line, &none };
    struct peft p = { .t = t, .kind = kind ? kind : &script };
    enum answer is = answer(&p);
    bool said = is != OPEN;
    is = said ? is : implied(&p);
    if (is == NO && p.kind->asks)
        refuse_quantized(&p);
    if (is == NO)
        ask_frozen(&p);
    if (is != YES)
        return said;
    p.asks = p.asks ? p.asks : &usual;
    t->adapters = true;
    take_rank(&p);
    take_numbers(&p);
    take_targets(&p);
    take_base(&p);
    take_trained(&p);
    return true;
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
    char word[WORD_MAX_B];
    if (!it)
        return NULL;
    lower(it->value, word);
    const char *name = strncmp(word, "torch.", 6) == 0 ? word + 6 : word;
    static const char *const bf16[] = { "bfloat16", "bf16", "auto", NULL },
                             *const fp16[] = { "float16", "fp16", "half", NULL };
    return names_listed(bf16, name) ? "bf16" : names_listed(fp16, name) ? "fp16" : NULL;
}

/* What bitsandbytes computes in, where the Trainer has no word for it. */
static void settle_compute(struct launch_context *t)
{
    const struct value_item *it = launch_hyper(t, "bnb_4bit_compute_dtype");
    const char *type = half_of(it);
    if (!type || launch_has(t, "/training/precision") ||
        launch_is_unresolved(t, "/training/precision"))
        return;
    launch_set(t, "/training/precision", json_sprintf("amp_%s", type), it);
    launch_hear(t, it);
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
    if (!type || t->converts || launch_is_unresolved(t, precision))
        return;
    if (it->value->kind == VALUE_STRING && strcmp(it->value->text, "auto") == 0)
        launch_note(t->l, it->value->line, DIAG_ASSUMED,
                    "%s: \"auto\" is the checkpoint's own type, taken to be bfloat16",
                    it->key);
    if (!now)
        launch_set(t, precision, json_string(type), it);
    else if (strncmp(now, "amp_", 4) == 0 && strcmp(now + 4, type) == 0)
        launch_set(t, PEFT_BASE, json_string(type), it);
}
