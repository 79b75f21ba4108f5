/* The words of a command as options: see launch_words.h. */
#include "dialect/launch/launch_words.h"

#include "dialect/launch/launch_shell.h"

#include <ctype.h>
#include <string.h>

enum { OPTIONS_MAX = 2000, UNKNOWN_SHOWN = 4 };

/* -dp, and not the number -1. */
static bool is_letters(const struct shell_word *w)
{
    return w->text[0] == '-' && isalpha((unsigned char)w->text[1]);
}

static bool is_any(const struct shell_word *w)
{
    return launch_is_option(w) || is_letters(w);
}

/* As argparse has it, the last of several goes. */
static void put(struct launch_words *o, const char *key, int64_t line,
                struct value *value, int64_t column)
{
    int32_t i = 0;
    if (key[1] != '-') {
        value_add(o->t->arena, &o->letters, key, line, value);
        return;
    }
    while (i < o->dict.n && strcmp(o->dict.items[i].key, key) != 0)
        i++;
    if (i == OPTIONS_MAX)
        return;
    o->dict.items[i] = (struct value_item) { key, line, value };
    o->columns[i] = column;
    o->dict.n += i == o->dict.n;
}

static struct value *list_of(struct arena *arena, const struct shell_word *w, int32_t n)
{
    struct value *v = ARENA_NEW(arena, struct value);
    *v = (struct value) { .kind = VALUE_LIST, .line = w->line };
    v->items = ARENA_ARRAY(arena, n, struct value_item);
    for (v->n = 0; v->n < n; v->n++)
        v->items[v->n] =
            (struct value_item) { NULL, w[v->n].line,
                                  launch_word_value(arena, &w[v->n], w[v->n].text) };
    return v;
}

static void lose(struct launch_words *o, const struct shell_word *w)
{
    if (o->n_lost < LAUNCH_LOST_MAX)
        o->lost[o->n_lost] = w;
    o->n_lost++;
}

/* --name, --name value, --name=value or --name value value, and likewise of one dash;
 * returns the words used. */
static int32_t take_option(struct launch_words *o, const struct shell_word *w,
                           int32_t left)
{
    struct arena *arena = o->t->arena;
    const char *equals = strchr(w->text, '=');
    size_t n = equals ? (size_t)(equals - w->text) : strlen(w->text);
    char *key = arena_strndup(arena, w->text, n);
    int32_t values = 0;
    for (char *s = key; *s; s++)
        *s = *s == '_' ? '-' : *s;
    bool flag = dialect_is_flag(key);
    while (!equals && 1 + values < left && !is_any(&w[1 + values]) &&
           !(w[1 + values].whole && (flag || values)))
        values++;
    if (equals)
        put(o, key, w->line,
            launch_word_value(arena, w, arena_strdup(arena, equals + 1)),
            w->column + (int64_t)n + 1);
    else if (values == 1)
        put(o, key, w->line, launch_word_value(arena, &w[1], w[1].text), w[1].column);
    else if (values > 1)
        put(o, key, w->line, list_of(arena, &w[1], values), w[1].column);
    if (equals || values)
        return 1 + values;
    struct value *on = ARENA_NEW(arena, struct value);
    *on = (struct value) { .kind = VALUE_BOOL, .line = w->line, .integer = 1 };
    put(o, key, w->line, on, w->column);
    return 1;
}

void launch_take_options(struct launch_words *o, const struct shell_command *c,
                         int32_t from)
{
    o->dict = (struct value) { .kind = VALUE_DICT, .line = c->line };
    o->letters = o->dict;
    int32_t most = c->n - from < OPTIONS_MAX ? c->n - from : OPTIONS_MAX;
    o->dict.items = ARENA_ARRAY(o->t->arena, most + 1, struct value_item);
    o->columns = ARENA_ARRAY(o->t->arena, most + 1, int64_t);
    for (int32_t i = from; i < c->n;) {
        if (is_any(&c->words[i])) {
            i += take_option(o, &c->words[i], c->n - i);
            continue;
        }
        if (c->words[i].whole)
            lose(o, &c->words[i]);
        i++;
    }
}

/* Of the options in a text, those that change time or memory by the dialect's rows:
 * "--fp16, --bf16"; NULL: none. */
static const char *options_in(const struct dialect *d, struct arena *arena,
                              const char *text)
{
    char *words = arena_strdup(arena, text), *state = NULL;
    const char *out = NULL;
    for (char *w = strtok_r(words, " \t\n\\", &state); w;
         w = strtok_r(NULL, " \t\n\\", &state)) {
        const struct dialect_option *row = NULL;
        if (strncmp(w, "--", 2) != 0)
            continue;
        w[strcspn(w, "=")] = '\0';
        if (d->tables)
            row = dialect_option_of(d->tables, "", w);
        if (d->tables && !row)
            row = dialect_option_of(d->tables, "", w + 2);
        if ((!d->tables || (row && row->class != DIALECT_IDLE)) &&
            !(out && strstr(out, w)))
            out = arena_printf(arena, "%s%s%s", out ? out : "", out ? ", " : "", w);
    }
    return out;
}

/* Options that the script sets under a condition are asked for by what decides it. */
static bool ask_lost(struct launch_context *t, const struct dialect *d,
                     const struct shell_word *w)
{
    const char *pointer =
        w->ask ? arena_printf(t->arena, "/shell/%.60s", w->ask) : NULL;
    const char *may = w->may && pointer ? options_in(d, t->arena, w->may) : NULL;
    if (may && !launch_is_unresolved(t, pointer))
        launch_add_unresolved(t, pointer, w->line, "it decides of %.200s", may);
    return may != NULL;
}

/* Whether a dialect takes options of two dashes alone: programs of its own may have
 * others, as a program's text may. */
static bool has_no_others(const struct dialect *d)
{
    return !d->reads_program && !d->programs && !d->own_documents && !d->starts;
}

void launch_note_lost(const struct launch_words *o, const struct dialect *d)
{
    int shown = 0, more = 0;
    for (int32_t i = 0; d && has_no_others(d) && i < o->letters.n; i++)
        launch_note(o->t->l, o->letters.items[i].line, DIAG_UNKNOWN_KEY,
                    "%.60s: not known, and passed over", o->letters.items[i].key);
    for (int32_t i = 0; i < o->n_lost && i < LAUNCH_LOST_MAX; i++) {
        const struct shell_word *w = o->lost[i];
        if (ask_lost(o->t, d, w))
            continue;
        if (shown++ < UNKNOWN_SHOWN)
            launch_note(o->t->l, w->line, DIAG_UNKNOWN_KEY,
                        "%s is taken to be no option: %s", w->text, w->why);
        else
            more++;
    }
    if (more)
        launch_note(o->t->l, o->lost[0]->line, DIAG_UNKNOWN_KEY,
                    "so are %d more words that are not known", more);
}
