/* Names of modules that adapters are next to, or that are trained whole: as PEFT takes
 * them (peft/tuners/tuners_utils.py, check_target_module_exists: a name is held to the
 * end of a module's path, a text that is no list to the whole path, as a regular
 * expression). */
#include "dialect/peft/peft.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "model/lora.h"

#include <regex.h>
#include <string.h>

enum { PATTERN_MAX_B = 1000, WORDS_MAX = 64 };

struct making {
    struct launch_context *t;
    const char *pointer;
    const struct value_item *it;
    uint32_t (*of)(const char *);
    json_t *out;
    bool open;           /* what there is is not known, which is said */
    const char *strange; /* the first name that is no product's; NULL */
};

static bool is_all(const char *word)
{
    static const char *const all[] = { "all-linear", "all_linear",        "all",
                                       "ALL",        "all-linear-layers", NULL };
    return names_listed(all, word);
}

/* Adapters of embeddings are none of the simulated. */
static bool is_embedding(const struct making *m, const char *word)
{
    return m->of == lora_target_of && lora_trained_of(word) & LORA_TRAINS_EMBEDDINGS;
}

static void add(struct making *m, const char *word)
{
    if (m->of == lora_target_of && is_all(word)) {
        json_array_append_new(m->out, json_string("all-linear"));
    } else if (m->of(word)) {
        json_array_append_new(m->out, json_string(word));
    } else if (is_embedding(m, word)) {
        launch_note(m->t->l, m->it->value->line, DIAG_NOT_SIMULATED,
                    "%s: adapters of embeddings (%.60s) are not simulated", m->it->key,
                    word);
    } else if (!m->strange) {
        m->strange = word;
    }
}

/* PEFT passes over a name that no module has where another's is found
 * (tuners_utils.py, inject_adapter: it fails where none is). */
static void say_strange(struct making *m)
{
    if (!m->strange || m->open)
        return;
    if (m->of == lora_target_of && json_array_size(m->out)) {
        launch_note(m->t->l, m->it->value->line, DIAG_NOT_SIMULATED,
                    "%s: no product is known as \"%.80s\": without adapters there",
                    m->it->key, m->strange);
        return;
    }
    launch_add_unresolved(m->t, m->pointer, m->it->value->line,
                          "%s: no product is known as \"%.80s\"", m->it->key,
                          m->strange);
    m->open = true;
}

/* Regular expressions -------------------------------------------------------------- */

/* Python's as POSIX has it; false: it has what that has not. */
static bool translate(struct strbuf *out, const char *text)
{
    strbuf_addstr(out, "^(");
    for (const char *c = text; *c; c++) {
        if (c[0] == '(' && c[1] == '?' && c[2] == ':')
            strbuf_addch(out, '('), c += 2;
        else if (c[0] == '(' && c[1] == '?')
            return false;
        else if (c[0] == '\\' && c[1] == 'd')
            strbuf_addstr(out, c > text && c[-1] == '[' ? "0-9" : "[0-9]"), c++;
        else if (c[0] == '\\' && c[1] == 'w')
            strbuf_addstr(out, "[a-z0-9_]"), c++;
        else if (strchr("*+?}", c[0]) && c[1] == '?')
            strbuf_addch(out, c[0]), c++;
        else if ((c[0] != '^' || c != text) && (c[0] != '$' || c[1]))
            strbuf_addch(out, c[0]);
    }
    strbuf_addstr(out, ")$");
    return true;
}

/* Where a family's module of that name may be. */
static bool fits(const regex_t *regex, const char *word)
{
    static const char *const before[] = {
        "",
        "model.layers.0.self_attn.",
        "model.layers.0.mlp.",
        "model.layers.0.cross_attn.",
        "model.layers.0.block_sparse_moe.experts.0.",
        "model.layers.0.mlp.experts.0.",
        "model.language_model.layers.0.self_attn.",
        "model.language_model.layers.0.mlp.",
        "model.language_model.layers.0.cross_attn.",
        "model.text_model.layers.0.self_attn.",
        "model.text_model.layers.0.mlp.",
        "language_model.model.layers.0.self_attn.",
        "language_model.model.layers.0.mlp.",
        "transformer.h.0.attn.",
        "transformer.h.0.mlp.",
        "gpt_neox.layers.0.attention.",
        "gpt_neox.layers.0.mlp.",
        "encoder.layer.0.attention.self.",
        "base_model.model.model.layers.0.self_attn.",
        "base_model.model.model.layers.0.mlp.",
    };
    char path[200];
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", before[i], word);
        if (regexec(regex, path, 0, NULL, 0) == 0)
            return true;
    }
    return false;
}

/* The products that a regular expression over paths is of. */
static void add_matching(struct making *m, const char *text)
{
    struct strbuf pattern;
    regex_t regex;
    const char *word;
    bool sound;
    strbuf_init(&pattern);
    sound = strlen(text) <= PATTERN_MAX_B && translate(&pattern, text) &&
            regcomp(&regex, strbuf_get(&pattern), REG_EXTENDED | REG_NOSUB) == 0;
    for (int32_t i = 0; sound && (word = lora_target_name(i)); i++)
        if (!is_all(word) && fits(&regex, word))
            json_array_append_new(m->out, json_string(word));
    if (sound)
        regfree(&regex);
    strbuf_release(&pattern);
    if (!json_array_size(m->out)) {
        launch_add_unresolved(m->t, m->pointer, m->it->value->line,
                              "%s: no product is known of \"%.80s\"", m->it->key, text);
        m->open = true;
    }
}

/* Text ----------------------------------------------------------------------------- */

static bool is_pattern(const char *text)
{
    return strpbrk(text, "()|*^$\\+") != NULL;
}

/* "q_proj,v_proj", "[q_proj, v_proj]", "['q_proj', 'v_proj']" */
static void add_text(struct making *m, const char *text)
{
    char *words = arena_strdup(m->t->arena, text), *state = NULL;
    if (m->of == lora_target_of && is_pattern(text)) {
        add_matching(m, text);
        return;
    }
    for (char *w = strtok_r(words, " ,[]'\"\t\n", &state); w;
         w = strtok_r(NULL, " ,[]'\"\t\n", &state))
        add(m, w);
}

/* A function of the script that finds the model's linear layers, by its name, or as
 * artidoro/qlora's find_all_linear_names, which gathers them in a set. */
static bool finds_all(const struct value *v)
{
    return v->kind == VALUE_UNKNOWN && v->why &&
           (strstr(v->why, "linear") || strncmp(v->why, "set(", 4) == 0);
}

json_t *peft_modules(struct launch_context *t, const char *pointer,
                     const struct value_item *it, uint32_t (*of)(const char *))
{
    struct making m = { t, pointer, it, of, json_array(), false, NULL };
    const struct value *v = it->value;
    if (of == lora_target_of && finds_all(v)) {
        launch_note(t->l, v->line, DIAG_ASSUMED,
                    "%s: %.80s; taken to be all linear layers", it->key, v->why);
        add(&m, "all-linear");
    } else if (v->kind == VALUE_STRING) {
        add_text(&m, v->text);
    } else if (v->kind == VALUE_LIST) {
        for (int32_t i = 0; i < v->n && i < WORDS_MAX; i++)
            if (v->items[i].value->kind != VALUE_STRING) {
                const struct value_item inner = { it->key, it->line,
                                                  v->items[i].value };
                launch_unresolved_item(t, pointer, &inner, "name of a module");
                m.open = true;
                break;
            } else if (v->n == 1) {
                add_text(&m, v->items[i].value->text);
            } else {
                add(&m, v->items[i].value->text);
            }
    } else {
        launch_unresolved_item(t, pointer, it, "list of modules");
        m.open = true;
    }
    say_strange(&m);
    if (m.open || !json_array_size(m.out)) {
        json_decref(m.out);
        return NULL;
    }
    return m.out;
}
