/* What a text changes of a model that it loads: sizes that from_pretrained(...) is given,
 * layers that it leaves out, words that it adds, other heads and attention.
 *
 * transformers/modeling_utils.py (4.57): from_pretrained hands arguments that it does not
 * know to the configuration; resize_token_embeddings; set_attn_implementation. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_tokenizer.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static const char model_at[] = "/model";

/* Gives the model so far a member of its own, called as its class calls it; the value is
 * stolen, NULL: it is not known yet. Its pointer; NULL: which configuration the model has,
 * is not known. */
static const char *set_member(struct launch_context *t, const char *key, json_t *value,
                              const struct value_item *from)
{
    json_t *now = pointer_get(t->tree, model_at);
    const char *name = json_string_value(now);
    const char *like = name ? name : json_string_value(json_object_get(now, "like"));
    json_t *config = like ? user_script_configuration(t, like) : json_incref(now),
           *model = name ? json_pack("{s:s}", "like", name) : json_deep_copy(now);
    const char *own =
        json_is_object(config)
            ? arena_strdup(t->arena, user_script_own_member(t, config, key))
            : NULL;
    if (own && value)
        json_object_set(model, own, value);
    if (own) {
        launch_forget(t, model_at);
        launch_set(t, model_at, json_incref(model), from);
    }
    json_decref(value);
    json_decref(config);
    json_decref(model);
    return own ? launch_pointer(t, model_at, own) : NULL;
}

/* A call or attribute of what another call made, by the name that it has. */
static bool is_of(const struct python_call *made, const struct python_call *c)
{
    const char *target = made ? made->target : NULL;
    size_t n = target ? strlen(target) : 0;
    return n > 0 && !c->quoted && strncmp(c->function, target, n) == 0 &&
           c->function[n] == '.';
}

/* Takes a size; false: it is none, or not known. */
static bool take_size(struct launch_context *t, const struct user_script *g,
                      const struct value_item *it)
{
    static const char *const sizes[] = {
        "num_hidden_layers",
        "n_layer",
        "hidden_size",
        "n_embd",
        "intermediate_size",
        "num_attention_heads",
        "vocab_size",
        "n_head",
        NULL,
    };
    struct value at = *it->value;
    at.line = g->line ? g->line : it->line;
    const struct value_item from = { it->key, at.line, &at };
    int64_t n;
    return names_listed(sizes, it->key) && launch_whole(it->value, &n) &&
           set_member(t, it->key, json_integer((json_int_t)n), &from);
}

/* Sizes among the arguments of from_pretrained(...). */
static void take_sizes(struct launch_context *t, const struct user_script *g)
{
    const struct value *given = g->parts[SCRIPT_MODEL]->arguments;
    for (int32_t i = 0; i < given->n; i++)
        if (take_size(t, g, &given->items[i]))
            launch_hear(t, &given->items[i]);
}

/* Words of a tokenizer that is another model's; 0: it is the model's own, or not known. */
static int64_t words_of_tokenizer(struct launch_context *t, const struct user_script *g)
{
    const struct value *model =
        user_script_given(g->parts[SCRIPT_MODEL], "pretrained_model_name_or_path", "0");
    int64_t n = 0;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct value *id =
            user_script_given(c, "pretrained_model_name_or_path", "0");
        if (c->quoted || !id || id->kind != VALUE_STRING ||
            !names_ends(c->function, "Tokenizer.from_pretrained"))
            continue;
        if (model && model->kind == VALUE_STRING && strcmp(model->text, id->text) == 0)
            return 0;
        n = launch_words_of_hub(t, id->text);
    }
    return n;
}

/* model.resize_token_embeddings(len(tokenizer)): few words more of the model's own. */
static void take_words(struct launch_context *t, const struct user_script *g,
                       const struct python_call *c, const struct value_item *from)
{
    const struct value *size = user_script_given(c, "new_num_tokens", "0");
    int64_t n = 0;
    bool known = size && launch_whole(size, &n) && n > 0;
    n = known ? n : words_of_tokenizer(t, g);
    if (n > 0)
        set_member(t, "vocab_size", json_integer((json_int_t)n), from);
}

static void ask_layers(struct launch_context *t, const struct python_call *c,
                       const struct value_item *from)
{
    const char *at = set_member(t, "num_hidden_layers", NULL, from);
    if (at && !launch_is_unresolved(t, at))
        launch_add_unresolved(
            t, at, from->line,
            "%.80s is changed: how many layers are left, is not known", c->function);
}

/* Attention that is chosen after the model is loaded. */
static void take_attention(struct launch_context *t, const struct python_call *c,
                           const struct value_item *from)
{
    static const char at[] = "/training/attention";
    static const struct dialect_option row = { .name = "attn_implementation",
                                               .pointer = at };
    const struct value *word = user_script_given(c, "attn_implementation", "0");
    const struct value_item as = { from->key, from->line,
                                   (struct value *)(uintptr_t)word };
    if (!word || word->kind != VALUE_STRING)
        return;
    launch_forget(t, at);
    trainer_take_attention(t, &row, &as);
}

static const char *const attention[] = { "attn_implementation", "_attn_implementation",
                                         "set_attn_implementation", NULL };

/* What an edit does, by the last part of what is called or assigned to. */
static void take_edit(struct launch_context *t, const struct user_script *g,
                      const struct python_call *c)
{
    static const char *const layers[] = { "layers", "h", "layer", "blocks", NULL },
                             *const heads[] = { "lm_head", "embed_out", "classifier",
                                                "score", NULL };
    const char *last = python_last_part(c->function);
    struct value v = { .line = g->line ? g->line : c->line };
    const struct value_item from = { last, v.line, &v };
    if (names_listed(layers, last))
        ask_layers(t, c, &from);
    else if (names_listed(heads, last))
        launch_note(t->l, v.line, DIAG_NOT_SIMULATED,
                    "%.80s is replaced: the head is taken to be the model's own",
                    c->function);
    else if (names_listed(attention, last))
        take_attention(t, c, &from);
    else if (strcmp(last, "resize_token_embeddings") == 0)
        take_words(t, g, c, &from);
}

const char *const user_script_attributes[] = {
    "self_attn",    "attn",      "attention", "self_attention",  "mlp",
    "experts",      "q_proj",    "k_proj",    "v_proj",          "o_proj",
    "qkv_proj",     "c_attn",    "c_proj",    "query_key_value", "gate_proj",
    "up_proj",      "down_proj", "query",     "q_lin",           "v_lin",
    "feed_forward", NULL,
};

/* Whether one of the model's modules is assigned to, and not one of a class of the
 * text's own. */
static bool replaces_module(const struct user_script *g, const struct python_call *c)
{
    static const char *const anybody[] = { "attention", "experts", "query", "mlp",
                                           NULL };
    const struct value *v = value_member(c->arguments, "0");
    return !c->quoted && c->arguments->n == 1 && v &&
           (v->kind == VALUE_UNKNOWN || v->kind == VALUE_DICT) &&
           strchr(c->function, '.') && strncmp(c->function, "self.", 5) != 0 &&
           names_listed(user_script_attributes, python_last_part(c->function)) &&
           (is_of(g->parts[SCRIPT_MODEL], c) ||
            !names_listed(anybody, python_last_part(c->function)));
}

static void note_replaced(struct launch_context *t, const struct user_script *g,
                          const struct python_call *c)
{
    launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                "%.80s is replaced in the loaded model, which is taken to be as it was "
                "(adapters of the program's own: --set /training/lora=...)",
                c->function);
}

void user_script_take_edits(struct launch_context *t, const struct user_script *g)
{
    if (!g->parts[SCRIPT_MODEL] || !launch_has(t, model_at))
        return;
    if (strcmp(python_last_part(g->parts[SCRIPT_MODEL]->function), "from_pretrained") ==
        0)
        take_sizes(t, g);
    const char *noted = NULL;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        bool chosen = c < g->parts[SCRIPT_MODEL] &&
                      names_listed(attention, python_last_part(c->function));
        if (is_of(g->parts[SCRIPT_MODEL], c) ||
            (chosen && is_of(user_script_configured(g), c)))
            take_edit(t, g, c);
        if (replaces_module(g, c) && !(noted && strcmp(noted, c->function) == 0)) {
            note_replaced(t, g, c);
            noted = c->function;
        }
    }
}
