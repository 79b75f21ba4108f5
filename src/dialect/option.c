/* Rows of options: which is meant, how a value is read by it, and what is said of keys
 * that did nothing. */
#include "dialect/option.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_shell.h"

#include <inttypes.h>
#include <string.h>

/* Which row ------------------------------------------------------------------------ */

/* How many characters of a word a row's name fixes; 0: it is another's. */
static size_t fits(const char *name, const char *word)
{
    size_t n = strlen(name);
    bool open = n && name[n - 1] == '*';
    for (size_t i = 0; i < n - open; i++) {
        char a = word[i] == '-' ? '_' : word[i], b = name[i] == '-' ? '_' : name[i];
        if (a != b)
            return 0;
    }
    return open ? n - 1 : word[n] ? 0 : n + 1;
}

const struct dialect_option *dialect_option_of(const struct dialect_table *tables,
                                               const char *path, const char *word)
{
    const struct dialect_option *best = NULL;
    size_t longest = 0;
    for (; tables->path; tables++)
        for (const struct dialect_option *o = tables->options;
             strcmp(tables->path, path) == 0 && o->name; o++) {
            size_t n = fits(o->name, word);
            if (n > longest) {
                longest = n;
                best = o;
            }
        }
    return best;
}

const char *dialect_option_begun(const struct dialect_table *tables, const char *path,
                                 const char *word)
{
    const char *found = NULL;
    size_t n = strlen(word);
    if (dialect_option_of(tables, path, word))
        return NULL;
    for (; tables->path; tables++)
        for (const struct dialect_option *o = tables->options;
             strcmp(tables->path, path) == 0 && o->name; o++) {
            bool begun = strncmp(o->name, word, n) == 0;
            if (begun && found && strcmp(found, o->name) != 0)
                return NULL;
            found = begun ? o->name : found;
        }
    return found;
}

/* The name that a word nearly is; NULL. */
static const char *nearest(struct arena *arena, const struct dialect_table *tables,
                           const char *path, const char *word)
{
    VEC(struct name_value) names = { 0 };
    for (; tables->path; tables++)
        for (const struct dialect_option *o = tables->options;
             strcmp(tables->path, path) == 0 && o->name; o++)
            if (!strchr(o->name, '*'))
                VEC_PUSH(&names, ((struct name_value) { o->name, 1 }));
    VEC_PUSH(&names, ((struct name_value) { NULL, 0 }));
    const char *near = names_nearest(names.v, word);
    near = near ? arena_strdup(arena, near) : NULL;
    VEC_RELEASE(&names);
    return near;
}

/* Values --------------------------------------------------------------------------- */

static const char *wanted_of(const struct dialect_option *o, const char *otherwise)
{
    return o->wanted ? o->wanted : otherwise;
}

static void take_whole(struct launch_context *t, const struct dialect_option *o,
                       const struct value_item *it)
{
    int64_t n;
    if (!launch_whole(it->value, &n))
        launch_unresolved_item(t, o->pointer, it, wanted_of(o, "whole number"));
    else if (o->kind != DIALECT_POSITIVE || n > 0)
        launch_set(t, o->pointer, json_integer((json_int_t)n), it);
}

static void take_size(struct launch_context *t, const struct dialect_option *o,
                      const struct value_item *it)
{
    const char *text = it->value->text;
    int64_t n;
    if (!launch_whole(it->value, &n) || n < 1)
        launch_wrong_option(t, it, DIAG_WRONG_TYPE,
                            "%s%.40s%s is no whole number of at least 1",
                            text ? "\"" : "it", text ? text : "", text ? "\"" : "");
    else if (o->kind != DIALECT_DEGREE || n > 1)
        launch_set(t, o->pointer, json_integer((json_int_t)n), it);
}

static void take_real(struct launch_context *t, const struct dialect_option *o,
                      const struct value_item *it)
{
    bool share = o->kind == DIALECT_PROBABILITY;
    double x;
    if (!launch_real(it->value, &x) || x < 0 || (share && x > 1))
        launch_wrong_option(t, it, DIAG_WRONG_TYPE,
                            share ? "it is no probability (write 0 to 1)"
                                  : "it is no norm of at least 0 (0 is none)");
    else
        launch_set(t, o->pointer, json_real(x), it);
}

static void take_word(struct launch_context *t, const struct dialect_option *o,
                      const struct value_item *it)
{
    const char *text = it->value->kind == VALUE_STRING ? it->value->text : "";
    const struct dialect_word *w = o->words;
    while (w && w->word && !fits(w->word, text))
        w++;
    if (!w && it->value->kind == VALUE_STRING)
        launch_set(t, o->pointer, json_string(text), it);
    else if (w && w->word)
        launch_set(t, o->pointer, json_string(w->value), it);
    else
        launch_unresolved_item(t, o->pointer, it, wanted_of(o, "single word"));
}

json_t *dialect_constant(const struct dialect_option *o)
{
    json_t *v = o->value ? json_loads(o->value, JSON_DECODE_ANY, NULL) : json_true();
    return v ? v : json_string(o->value);
}

static void take_switch(struct launch_context *t, const struct dialect_option *o,
                        const struct value_item *it)
{
    bool on = o->kind == DIALECT_FLAG || launch_switch(t, o->pointer, it, false);
    if (on)
        launch_set(t, o->pointer, dialect_constant(o), it);
    else if (strcmp(o->pointer, "/training/activation_checkpointing") == 0 &&
             !(o->value && strcmp(o->value, "none") == 0))
        t->kept = it;
}

void dialect_take(struct launch_context *t, const struct dialect_option *o,
                  const struct value_item *it)
{
    static void (*const takes[])(struct launch_context * t,
                                 const struct dialect_option *o,
                                 const struct value_item *it) = {
        [DIALECT_WHOLE] = take_whole, [DIALECT_POSITIVE] = take_whole,
        [DIALECT_SIZE] = take_size,   [DIALECT_DEGREE] = take_size,
        [DIALECT_NORM] = take_real,   [DIALECT_PROBABILITY] = take_real,
        [DIALECT_TEXT] = take_word,   [DIALECT_WORD] = take_word,
        [DIALECT_FLAG] = take_switch, [DIALECT_SWITCH] = take_switch,
    };
    bool flag = o->kind == DIALECT_FLAG;
    if (o->take)
        o->take(t, o, it);
    else if (o->kind == DIALECT_OWN || it->value->kind == VALUE_NONE)
        return;
    else if (it->value->kind == VALUE_UNKNOWN && !flag)
        launch_unresolved_item(t, o->pointer, it, "");
    else
        takes[o->kind](t, o, it);
}

void dialect_take_as(struct launch_context *t, const struct dialect_option *o,
                     const struct value_item *it, enum dialect_kind kind)
{
    struct dialect_option as = *o;
    as.take = NULL;
    as.kind = kind;
    dialect_take(t, &as, it);
}

/* What did nothing ----------------------------------------------------------------- */

bool dialect_off_at_one(const struct value *v)
{
    double x;
    return launch_is_off(v) || (launch_real(v, &x) && x <= 1);
}

bool dialect_off_from_one(const struct value *v)
{
    double x;
    return v->kind == VALUE_NONE || (launch_real(v, &x) && x >= 1);
}

bool dialect_is_off(const struct dialect_option *o, const struct value *v)
{
    const struct value_item *on = value_get(v, "enabled");
    if (on)
        return !launch_true(on->value);
    return o->off ? o->off(v) : launch_is_off(v);
}

struct report {
    struct launch_context *t;
    const struct dialect_table *tables;
    const char *path;
    const struct value *dict;
    struct dialect_place at;
    struct launch_idle idle, open;
};

static void add_idle(struct report *r, const struct value_item *it)
{
    launch_idle_add(&r->idle, "%s%s", r->at.section, it->key);
}

/* Options by whose names a part of the model is not trained: --freeze-embedding,
 * trainable_params, encoder_trainable. */
static bool freezes(const char *key)
{
    size_t n = strlen(key), begins = strspn(key, "-");
    static const char last[] = "_trainable";
    size_t m = sizeof(last) - 1;
    return strstr(key, "freeze") || strstr(key, "frozen") ||
           strncmp(key + begins, "trainable_", m) == 0 ||
           strncmp(key + begins, "trainable-", m) == 0 ||
           (n > m && strcmp(key + n - m, last) == 0);
}

static bool asks_frozen(struct report *r, const struct value_item *it)
{
    bool list = it->value->kind == VALUE_LIST && it->value->n == 0;
    if (!freezes(it->key) || launch_is_off(it->value) || list)
        return false;
    int64_t before = launch_said(r->t);
    launch_ask_frozen(r->t, it);
    return launch_said(r->t) > before;
}

/* The n characters of a word, or their beginning of three letters, among a key's. */
static bool has_word(const char *key, const char *word, size_t n)
{
    enum { SAME = 3 };
    for (const char *s = key; *s; s += strspn(s, "-_.")) {
        size_t m = strcspn(s, "-_.");
        if (m > 0 && (m == n ? strncmp(s, word, n) == 0
                             : m >= SAME && n >= SAME && strncmp(s, word, SAME) == 0))
            return true;
        s += m;
    }
    return false;
}

static bool has_words(const char *key, const char *of)
{
    for (const char *s = of + strspn(of, "-_."); *s; s += strspn(s, "-_.")) {
        size_t n = strcspn(s, "-_.");
        if (!has_word(key, s, n))
            return false;
        s += n;
    }
    return true;
}

/* A number under a key that is nearly one that acts, by its words, may be that: it is asked
 * for. data_parallel_size is no context_parallel_size. */
static bool asks_near(struct report *r, const char *near, const struct value_item *it)
{
    const struct dialect_option *o =
        near ? dialect_option_of(r->tables, r->path, near) : NULL;
    bool size = o && (o->kind == DIALECT_SIZE || o->kind == DIALECT_DEGREE ||
                      o->kind == DIALECT_WHOLE || o->kind == DIALECT_POSITIVE);
    int64_t n;
    if (!size || !(has_words(near, it->key) || has_words(it->key, near)) ||
        o->class != DIALECT_ACTS || !o->pointer || !launch_whole(it->value, &n) ||
        launch_has(r->t, o->pointer) || launch_is_unresolved(r->t, o->pointer))
        return false;
    launch_add_unresolved(r->t, o->pointer, it->line,
                          "%s%s%.60s is not known, and may be %.60s", r->at.prefix,
                          r->at.section, it->key, near);
    launch_add_example(r->t, o->pointer, arena_printf(r->t->arena, "%" PRId64, n));
    return true;
}

/* One of a key that no row has. */
static void report_unknown(struct report *r, const struct value_item *it,
                           enum dialect_unknown how)
{
    const char *near = nearest(r->t->arena, r->tables, r->path, it->key);
    bool each = how == DIALECT_UNKNOWN_WARNED || how == DIALECT_UNKNOWN_WRONG;
    bool strict = how == DIALECT_UNKNOWN_NEAR_WRONG || how == DIALECT_UNKNOWN_WRONG;
    bool wrong = strict && near;
    struct launch *l = r->t->l;
    bool comment = it->key[0] == '_' || it->key[0] == '#' || it->key[0] == '/';
    if (!comment && (asks_frozen(r, it) || (!strict && asks_near(r, near, it))))
        return;
    if (how == DIALECT_UNKNOWN_OPEN && !comment && !launch_is_off(it->value)) {
        launch_idle_add(&r->open, "%s%s", r->at.section, it->key);
        return;
    }
    if (how == DIALECT_UNKNOWN_OPEN || how == DIALECT_UNKNOWN_IDLE || comment ||
        (!near && !each)) {
        add_idle(r, it);
        return;
    }
    diags_add(&l->loader->diags,
              diag_at_line(wrong ? DIAG_ERROR : DIAG_WARNING, DIAG_UNKNOWN_KEY, l->file,
                           it->line),
              "%s%s%.60s: %s%s%s%s", r->at.prefix, r->at.section, it->key,
              wrong ? "unknown key" : "not known, and passed over",
              near ? " (did you mean \"" : "", near ? near : "",
              near                           ? "\"?)"
              : how == DIALECT_UNKNOWN_WRONG ? " (newer versions refuse it)"
                                             : "");
}

/* Whether a row that is refused is of a field whose value would settle it, and the file
 * leaves that open, or has only what the row's value is by itself: it is asked for. */
static bool asks_instead(struct report *r, const struct dialect_option *o,
                         const struct value_item *it)
{
    struct launch_context *t = r->t;
    const char *said =
        o->pointer ? json_string_value(pointer_get(t->tree, o->pointer)) : NULL;
    if (!o->pointer || (said && (!o->value || strcmp(said, o->value) != 0)))
        return false;
    if (said) {
        const char *last = strrchr(o->pointer, '/');
        json_object_del(
            pointer_get(t->tree, arena_strndup(t->arena, o->pointer,
                                               (size_t)(last - o->pointer))),
            last + 1);
        launch_forget(t, o->pointer);
    }
    launch_add_unresolved(t, o->pointer, it->line, "%s%s%.60s: %s", r->at.prefix,
                          r->at.section, it->key, o->why);
    return true;
}

static void report_row(struct report *r, const struct dialect_option *o,
                       const struct value_item *it)
{
    struct launch *l = r->t->l;
    const struct value_item *on = o->needs ? value_get(r->dict, o->needs) : NULL;
    bool off = o->needs && !(on && launch_true(on->value));
    bool open = o->kind == DIALECT_SWITCH && it->value->kind == VALUE_UNKNOWN;
    if (off || (o->class == DIALECT_REFUSED && dialect_is_off(o, it->value)))
        add_idle(r, it);
    else if (o->class == DIALECT_REFUSED && open)
        launch_note(l, it->line, DIAG_LEFT_OUT, "%s%s%.60s: %s; it is taken to be off",
                    r->at.prefix, r->at.section, it->key, it->value->why);
    else if (o->class == DIALECT_REFUSED && asks_instead(r, o, it))
        return;
    else if (o->class == DIALECT_REFUSED)
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, l->file, it->line),
                  "%s%s%.60s: %s", r->at.prefix, r->at.section, it->key, o->why);
    else if (o->class == DIALECT_UNSIMULATED && !dialect_is_off(o, it->value) &&
             !asks_frozen(r, it))
        launch_note(l, it->line, DIAG_NOT_SIMULATED, "%s%s%.60s: is not simulated",
                    r->at.prefix, r->at.section, it->key);
    else if (o->class == DIALECT_IDLE ||
             (r->at.heard && o->class == DIALECT_ACTS && !dialect_is_off(o, it->value)))
        add_idle(r, it);
}

/* Whether what was read of an item came to nothing: its row's field is not there, nor
 * asked for. */
static bool came_to_nothing(const struct report *r, const struct dialect_option *o,
                            const struct value_item *it)
{
    return o && o->only && !dialect_is_off(o, it->value) &&
           !launch_has(r->t, o->pointer) && !launch_is_unresolved(r->t, o->pointer);
}

void dialect_report(struct launch_context *t, const struct dialect_table *tables,
                    const char *path, const struct value *dict, struct dialect_place at)
{
    struct report r = {
        .t = t, .tables = tables, .path = path, .dict = dict, .at = at
    };
    const struct dialect_table *first = tables;
    while (first->path && strcmp(first->path, path) != 0)
        first++;
    launch_idle_init(&r.idle, t->l, at.line, at.prefix);
    launch_idle_init(&r.open, t->l, at.line, at.prefix);
    r.open.open = true;
    for (int32_t i = 0; dict->kind == VALUE_DICT && i < dict->n; i++) {
        const struct value_item *it = &dict->items[i];
        const struct dialect_option *o = dialect_option_of(tables, path, it->key);
        if (launch_is_heard(t, it)) {
            if (came_to_nothing(&r, o, it))
                add_idle(&r, it);
            continue;
        }
        if (o)
            report_row(&r, o, it);
        else
            report_unknown(&r, it, first->unknown);
    }
    launch_idle_end(&r.idle);
    launch_idle_end(&r.open);
}
