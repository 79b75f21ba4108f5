/* LLaMA-Factory's finetuning_type "freeze" (hparams/finetuning_args.py, FreezeArguments;
 * model/adapter.py, _setup_freeze_tuning): the last layers are trained, or the first with
 * a number below zero, of these all or some modules, and what is named in addition. */
#include "base/names.h"
#include "dialect/peft/peft_parts.h"

#include <inttypes.h>
#include <string.h>

static const char FROZEN[] = "/training/frozen";
enum { USUAL_LAYERS = 2 };

/* Parts of layers by what LLaMA-Factory calls the modules. */
enum part { ATTENTION = 1, MLP = 2, ALL = 4 };
static const struct name_value modules[] = {
    { "all", ALL },
    { "self_attn", ATTENTION },
    { "attn", ATTENTION },
    { "attention", ATTENTION },
    { "self_attention", ATTENTION },
    { "mlp", MLP },
    { "feed_forward", MLP },
    { "block_sparse_moe", MLP },
    { NULL, 0 },
};

/* A text of words and commas, or a list, one after the other; false: no more. */
static bool next_word(const struct value *v, int64_t i, char word[PEFT_WORD_MAX_B])
{
    if (v->kind == VALUE_LIST) {
        if (i < v->n)
            peft_lower(v->items[i].value, word);
        return i < v->n;
    }
    const char *at = v->kind == VALUE_STRING ? v->text : "";
    for (; i > 0 && at; i--)
        at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    if (!at || !*at)
        return false;
    size_t n = 0;
    for (at += strspn(at, " "); *at && !strchr(", ", *at) && n + 1 < PEFT_WORD_MAX_B;
         at++)
        word[n++] = *at;
    word[n] = '\0';
    return true;
}

static void ask(struct peft *p, const struct value_item *it, const char *what)
{
    launch_add_unresolved(
        p->t, FROZEN, it->value->line,
        "%s: %.40s is no part of a model that is known; a list of what "
        "is frozen answers it (\"embeddings\", \"layers 0-29\", ...)",
        it->key, what);
}

/* Parts that are trained of layers that are; 0: asked for. */
static uint32_t parts_of(struct peft *p)
{
    const struct value_item *it = launch_hyper(p->t, "freeze_trainable_modules");
    char word[PEFT_WORD_MAX_B];
    uint32_t parts = 0;
    int part;
    launch_hear(p->t, it);
    for (int64_t i = 0; it && next_word(it->value, i, word); i++) {
        if (names_find(modules, word, &part) < 0) {
            ask(p, it, word);
            return 0;
        }
        parts |= (uint32_t)part;
    }
    return parts ? parts : ALL;
}

static void add(json_t *list, const char *word, bool frozen)
{
    if (frozen)
        json_array_append_new(list, json_string(word));
}

static bool take_extra(struct peft *p, bool *words, bool *head)
{
    const struct value_item *it = launch_hyper(p->t, "freeze_extra_modules");
    char word[PEFT_WORD_MAX_B];
    launch_hear(p->t, it);
    for (int64_t i = 0; it && next_word(it->value, i, word); i++) {
        bool embeds = strcmp(word, "embed_tokens") == 0 || strcmp(word, "wte") == 0;
        if (!embeds && strcmp(word, "lm_head") != 0) {
            ask(p, it, word);
            return false;
        }
        *(embeds ? words : head) = true;
    }
    return true;
}

/* Whether a pattern is of all parameters of a module: "model.language_model.*". */
static bool covers(const struct value *pattern, const char *module)
{
    static const char *const ends[] = { "", ".", ".*", "\\..*", NULL };
    const char *text = pattern->kind == VALUE_STRING ? pattern->text : "";
    size_t n = strlen(module);
    text += *text == '^';
    return strncmp(text, module, n) == 0 && names_listed(ends, text + n);
}

bool peft_take_unfrozen(struct peft *p, const struct value_item *it)
{
    bool language = false, head = false;
    for (int32_t i = 0; it->value->kind == VALUE_LIST && i < it->value->n; i++) {
        language |= covers(it->value->items[i].value, "model.language_model");
        head |= covers(it->value->items[i].value, "lm_head");
    }
    if (language && head)
        launch_set(p->t, FROZEN, json_pack("[s, s]", "vision_tower", "projector"), it);
    return language && head;
}

bool peft_take_freeze(struct peft *p)
{
    const struct value_item *it = launch_hyper(p->t, "finetuning_type"),
                            *layers = launch_hyper(p->t, "freeze_trainable_layers"),
                            *pro = launch_hyper(p->t, "use_llama_pro");
    char word[PEFT_WORD_MAX_B] = "", run[64];
    bool words = false, head = false;
    int64_t n = USUAL_LAYERS;
    if (it)
        peft_lower(it->value, word);
    if (strcmp(word, "freeze") != 0)
        return false;
    launch_hear(p->t, layers);
    if (layers && !launch_whole(layers->value, &n)) {
        ask(p, layers, "this");
        return true;
    }
    if (pro && launch_true(pro->value)) {
        launch_hear(p->t, pro);
        ask(p, pro, "every so-manyth layer");
        return true;
    }
    uint32_t parts = parts_of(p);
    if (parts == 0 || !take_extra(p, &words, &head))
        return true;
    json_t *list = json_array();
    snprintf(run, sizeof(run), "layers but %s %" PRId64, n < 0 ? "first" : "last",
             n < 0 ? -n : n);
    add(list, "embeddings", !words);
    add(list, "head", !head);
    add(list, run, true);
    bool some = !(parts & ALL);
    add(list, "attention", some && !(parts & ATTENTION));
    add(list, "mlp", some && !(parts & MLP));
    add(list, "router", some && !(parts & MLP));
    add(list, "norms", some);
    launch_set(p->t, FROZEN, list, layers ? layers : it);
    launch_note(p->t->l, it->value->line, DIAG_APPROXIMATE,
                "%s: frozen weights are taken to be held as those that are trained; "
                "LLaMA-Factory holds them in the 16 bits that the model is loaded in",
                it->key);
    return true;
}
