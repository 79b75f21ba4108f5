/* Whether adapters are trained, and which, of all words that a file gives. */
#include "dialect/peft/peft_parts.h"

#include "base/names.h"
#include "config/pointer.h"
#include "model/lora.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum answer { OPEN, NO, YES, REFUSED };

/* A script of one's own, in which any word of adapters asks for them. */
static const struct peft_kind script = { .from = "PEFT's" };

/* InternVL's internvl/train/internvl_chat_finetune.py and modeling_internvl_chat.py
 * (wrap_llm_lora): --use_llm_lora is the rank, next to all that is frozen. */
static const struct peft_kind internvl = {
    .alpha_ranks = 2, .dropout = 0.05, .targets = "all-linear", .from = "InternVL's"
};

/* Words ---------------------------------------------------------------------------- */

static const struct value_item *word_in(const struct value *dict, const char *name)
{
    for (int32_t i = 0; dict->kind == VALUE_DICT && i < dict->n; i++)
        if (launch_same_word(dict->items[i].key, name))
            return &dict->items[i];
    return NULL;
}

/* The first row of a field, from `*row` on, whose word the file gives; NULL: none. */
const struct value_item *peft_given(const struct peft *p, const char *pointer,
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
const struct value_item *peft_first(const struct peft *p, const char *pointer)
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

void peft_lower(const struct value *v, char out[PEFT_WORD_MAX_B])
{
    size_t n = 0;
    const char *text = v->kind == VALUE_STRING ? v->text : "";
    for (; text[n] && n + 1 < PEFT_WORD_MAX_B; n++)
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
    char word[PEFT_WORD_MAX_B];
    peft_lower(it->value, word);
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
    bool factory = p->kind->asks && strcmp(p->kind->asks, "finetuning_type") == 0;
    if (factory && strcmp(word, "freeze") == 0)
        return NO; /* peft_freeze.c */
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
        const struct value_item *it = peft_given(p, PEFT_LORA, &row);
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
    const struct value_item *rank = peft_first(p, PEFT_RANK);
    int64_t n;
    if (p->kind->usual)
        return YES;
    if (p->kind->asks || (rank && launch_whole(rank->value, &n) && n <= 0))
        return NO;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        for (const struct dialect_option *row = peft_rows; row->name; row++) {
            const struct value_item *it = peft_given(p, fields[i], &row);
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
void peft_assume(struct peft *p, const char *pointer, json_t *value, const char *what)
{
    struct value v = { .kind = VALUE_NONE, .line = p->t->l->line };
    const struct value_item it = {
        arena_printf(p->t->arena, "%s default of %s", p->kind->from, what), v.line, &v
    };
    launch_set(p->t, pointer, value, &it);
}

static void take_rank(struct peft *p)
{
    const struct value_item *it = peft_first(p, PEFT_RANK);
    int64_t n = 0;
    launch_hear(p->t, it);
    if (it && launch_whole(it->value, &n) && n > 0)
        launch_set(p->t, PEFT_RANK, json_integer((json_int_t)n), it);
    else if (it)
        launch_unresolved_item(p->t, PEFT_RANK, it, "rank of at least 1");
    else if (p->kind->rank)
        peft_assume(p, PEFT_RANK, json_integer((json_int_t)p->kind->rank), "the rank");
    else
        launch_add_unresolved(p->t, PEFT_RANK, p->asks->value->line,
                              "%s: adapters are trained, and their rank is not given",
                              p->asks->key);
}

/* Numbers that a step does without where they are not known. */
static void take_numbers(struct peft *p)
{
    const struct value_item *alpha = peft_first(p, PEFT_ALPHA),
                            *dropout = peft_first(p, PEFT_DROPOUT);
    json_t *rank = pointer_get(p->t->tree, PEFT_RANK);
    double x;
    launch_hear(p->t, alpha);
    launch_hear(p->t, dropout);
    if (alpha && launch_real(alpha->value, &x) && x >= 0)
        launch_set(p->t, PEFT_ALPHA, json_real(x), alpha);
    else if (!alpha && (p->kind->alpha || p->kind->alpha_ranks) && rank)
        peft_assume(p, PEFT_ALPHA,
                    json_real((double)(p->kind->alpha + p->kind->alpha_ranks *
                                                            json_integer_value(rank))),
                    "lora_alpha");
    if (dropout && launch_real(dropout->value, &x) && x >= 0 && x < 1)
        launch_set(p->t, PEFT_DROPOUT, json_real(x), dropout);
    else if (dropout)
        launch_leave_out(p->t, dropout, "share below 1");
    else if (p->kind->dropout > 0)
        peft_assume(p, PEFT_DROPOUT, json_real(p->kind->dropout), "lora_dropout");
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

/* Adapters of weights that are no modules, as experts' in one tensor ("mlp.experts.
 * gate_up_proj"): of these products, too (PEFT 0.17, tuners/lora/config.py,
 * target_parameters). */
static const struct value_item *with_parameters(struct peft *p,
                                                const struct value_item *modules)
{
    const struct value_item *more = launch_hyper(p->t, "lora_target_parameters");
    more = more ? more : launch_hyper(p->t, "target_parameters");
    if (!more || more->value->kind != VALUE_LIST || more->value->n == 0 ||
        (modules && modules->value->kind != VALUE_LIST))
        return modules;
    launch_hear(p->t, more);
    if (!modules)
        return more;
    struct value *both = value_new(p->t->arena, VALUE_LIST, modules->line, 0);
    const struct value *lists[] = { modules->value, more->value };
    for (int i = 0; i < 2; i++)
        for (int32_t k = 0; k < lists[i]->n; k++)
            value_add(p->t->arena, both, "", modules->line, lists[i]->items[k].value);
    struct value_item *it = ARENA_NEW(p->t->arena, struct value_item);
    *it = (struct value_item) { modules->key, modules->line, both };
    return it;
}

/* Names that the text collects in a way that is not known, as over named_modules(): where
 * it has none of its own they are taken to be those of all linear layers. */
static bool take_collected(struct peft *p, const struct value_item *it)
{
    if (!it || it->value->kind != VALUE_LIST || !it->value->gap)
        return false;
    int32_t own = 0;
    for (int32_t i = 0; i < it->value->n; i++)
        own += it->value->items[i].value->kind == VALUE_STRING;
    if (own == 0) {
        launch_set(p->t, PEFT_TARGETS, json_string("all-linear"), it);
        launch_note(p->t->l, it->value->line, DIAG_ASSUMED,
                    "%s: line %" PRId64 " gathers names of modules; taken to be all "
                    "linear layers (give --set %s=... for others)",
                    it->key, it->value->gap, PEFT_TARGETS);
        return true;
    }
    launch_add_unresolved(p->t, PEFT_TARGETS, it->value->line,
                          "%s: which names line %" PRId64 " adds is not known; "
                          "\"all-linear\" is all products but the head's",
                          it->key, it->value->gap);
    return true;
}

/* What programs that are known by an option of theirs have without one: LMFlow's is PEFT's
 * default (OptimalScale/LMFlow, src/lmflow/args.py, lora_target_modules). */
static void propose_targets(struct launch_context *t)
{
    static const struct {
        const char *option, *answer;
    } programs[] = { { "disable_group_texts", "null" },
                     { "conversation_template", "null" } };
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        if (launch_hyper(t, programs[i].option))
            launch_add_example(t, PEFT_TARGETS, programs[i].answer);
}

static void take_targets(struct peft *p)
{
    const struct value_item *linear = launch_hyper(p->t, "lora_target_linear"),
                            *it = peft_first(p, PEFT_TARGETS);
    launch_hear(p->t, linear);
    launch_hear(p->t, it);
    it = with_parameters(p, it);
    if (launch_switch(p->t, PEFT_TARGETS, linear, false)) {
        launch_set(p->t, PEFT_TARGETS, json_string("all-linear"), linear);
        launch_hear(p->t, launch_hyper(p->t, "lora_target_modules"));
    } else if (take_collected(p, it)) {
        return;
    } else if (it && !(it->value->kind == VALUE_LIST && it->value->n == 0)) {
        launch_set(p->t, PEFT_TARGETS,
                   peft_modules(p->t, PEFT_TARGETS, it, lora_target_of), it);
    } else if (p->kind->targets) {
        peft_assume(p, PEFT_TARGETS, json_string(p->kind->targets), "target modules");
    } else if (p->kind == &script && !it && !is_left_out(p, PEFT_TARGETS)) {
        launch_add_unresolved(p->t, PEFT_TARGETS, p->asks->value->line,
                              "%s: which modules have adapters is not given; "
                              "\"all-linear\", a list of names, or null for PEFT's "
                              "default",
                              p->asks->key);
        propose_targets(p->t);
    }
}

static void take_trained(struct peft *p)
{
    const struct value_item *it = peft_first(p, PEFT_TRAINED);
    launch_hear(p->t, it);
    if (it && !launch_is_off(it->value) &&
        !(it->value->kind == VALUE_LIST && it->value->n == 0))
        launch_set(p->t, PEFT_TRAINED,
                   peft_modules(p->t, PEFT_TRAINED, it, lora_trained_of), it);
}

/* transformers/trainer.py (4.57): weights in 4 or 8 bits are trained by adapters
 * alone. */
static void refuse_quantized(struct peft *p)
{
    const struct value_item *from = NULL;
    if (peft_quantized(p, &from) && from)
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
        "freeze_parameters",
        "freeze_parameters_ratio",
        "freeze_parameters_regex",
        NULL,
    };
    for (const char *const *w = words; *w; w++) {
        const struct value_item *it = launch_hyper(p->t, *w);
        if (!it || launch_is_off(it->value) ||
            (it->value->kind == VALUE_LIST && it->value->n == 0))
            continue;
        if (!peft_take_unfrozen(p, it))
            launch_ask_frozen(p->t, it);
        return;
    }
}

/* All of it ------------------------------------------------------------------------ */

/* Whether the words are InternVL's: what they freeze then is frozen by the adapters. */
static bool is_internvl(struct launch_context *t)
{
    static const char *const frozen[] = { "freeze_llm", "freeze_backbone", "freeze_mlp",
                                          NULL };
    const struct value_item *rank = launch_hyper(t, "use_llm_lora");
    if (!rank || launch_is_off(rank->value))
        return false;
    for (const char *const *f = frozen; *f; f++)
        launch_hear(t, launch_hyper(t, *f));
    return true;
}

/* InternVL's words without adapters: its backbone is the tower of images, where others
 * call the language model so (internvl/train/internvl_chat_finetune.py). */
static bool take_internvl(struct peft *p)
{
    static const char at[] = "/training/frozen";
    static const struct {
        const char *word, *part;
    } parts[] = { { "freeze_backbone", "vision_tower" },
                  { "freeze_mlp", "projector" } };
    const struct value_item *llm = launch_hyper(p->t, "freeze_llm"),
                            *first = launch_hyper(p->t, parts[0].word);
    if (!llm || !first || !launch_hyper(p->t, parts[1].word) ||
        !launch_is_off(llm->value) || launch_has(p->t, at))
        return false;
    json_t *frozen = json_array();
    launch_hear(p->t, llm);
    for (int i = 0; i < 2; i++) {
        const struct value_item *it = launch_hyper(p->t, parts[i].word);
        launch_hear(p->t, it);
        if (launch_true(it->value))
            json_array_append_new(frozen, json_string(parts[i].part));
    }
    if (json_array_size(frozen))
        launch_set(p->t, at, frozen, first);
    else
        json_decref(frozen);
    return true;
}

bool peft_take(struct launch_context *t, const struct peft_kind *kind)
{
    struct value none = { .kind = VALUE_NONE, .line = t->l->line };
    const struct value_item usual = { "finetuning_type", none.line, &none };
    if (!kind && is_internvl(t))
        kind = &internvl;
    struct peft p = { .t = t, .kind = kind ? kind : &script };
    enum answer is = answer(&p);
    bool said = is != OPEN;
    is = said ? is : implied(&p);
    if (is == NO && p.kind->asks)
        refuse_quantized(&p);
    if (is == NO && !take_internvl(&p) && !peft_take_freeze(&p))
        ask_frozen(&p);
    if (is != YES)
        return said;
    p.asks = p.asks ? p.asks : &usual;
    t->adapters = true;
    take_rank(&p);
    take_numbers(&p);
    take_targets(&p);
    peft_take_base(&p);
    take_trained(&p);
    return true;
}
