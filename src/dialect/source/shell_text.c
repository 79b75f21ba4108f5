/* Texts of a shell script under way, its variables, and what of them is not known. */
#include "dialect/source/shell_machine.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS_MAX = 4096, NOTES_MAX = 50, NAME_SHOWN = 40 };

/* The end of reading --------------------------------------------------------------- */

void shell_fail(struct shell_machine *m, const struct shell_char *at, const char *fmt,
                ...)
{
    char text[200];
    va_list ap;
    if (m->failed || m->ended)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    m->failed = true;
    if (at)
        err_set_at(m->err, (int)at->line, (int)at->column, "%s", text);
    else
        err_set(m->err, "%s", text);
}

bool shell_works(struct shell_machine *m, int64_t n)
{
    m->work += n;
    if (m->work > SHELL_WORK_MAX)
        shell_fail(m, m->at.i < m->at.n ? &m->at.v[m->at.i] : NULL,
                   "reading takes too long: loops or functions repeat too much (give "
                   "the part that starts the training)");
    return m->failed;
}

void shell_note(struct shell_machine *m, int64_t line, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    if (m->out->notes.n >= NOTES_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    VEC_PUSH(&m->out->notes,
             ((struct shell_note) { line, arena_strdup(m->arena, text) }));
}

/* Texts ---------------------------------------------------------------------------- */

void shell_text_release(struct shell_text *t)
{
    free(t->v);
    *t = (struct shell_text) { 0 };
}

void shell_texts_release(struct shell_texts *t)
{
    for (int32_t i = 0; i < t->n; i++)
        shell_text_release(&t->v[i]);
    free(t->v);
    *t = (struct shell_texts) { 0 };
}

/* A text that grows too long ends in a piece that is not known. */
void shell_push(struct shell_machine *m, struct shell_text *t, struct shell_char c)
{
    if (t->n > SHELL_VALUE_MAX || shell_works(m, 1))
        return;
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 32;
        t->v = xrealloc(t->v, (size_t)t->cap, sizeof(*t->v));
    }
    if (t->n == SHELL_VALUE_MAX)
        c.unknown = shell_not_known(m, "...", false, "it is longer than %d characters",
                                    SHELL_VALUE_MAX);
    t->v[t->n++] = c;
}

void shell_append(struct shell_machine *m, struct shell_text *t,
                  const struct shell_text *more)
{
    for (int32_t i = 0; i < more->n && !m->failed; i++)
        shell_push(m, t, more->v[i]);
}

void shell_add_string(struct shell_machine *m, struct shell_text *t, const char *s,
                      struct shell_char place)
{
    for (place.unknown = 0; *s && !m->failed; s++) {
        place.c = *s;
        shell_push(m, t, place);
    }
}

void shell_texts_take(struct shell_machine *m, struct shell_texts *list,
                      struct shell_text *t)
{
    if (shell_works(m, 1) || list->n >= SHELL_WORDS_MAX) {
        shell_fail(m, t->n ? &t->v[0] : NULL, "more than %d words (leave some out)",
                   SHELL_WORDS_MAX);
        shell_text_release(t);
        return;
    }
    if (list->n == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 8;
        list->v = xrealloc(list->v, (size_t)list->cap, sizeof(*list->v));
    }
    list->v[list->n++] = *t;
    *t = (struct shell_text) { 0 };
}

struct shell_text shell_keep(struct shell_machine *m, const struct shell_text *t)
{
    struct shell_text kept = { .n = t->n };
    kept.v = ARENA_ARRAY(m->arena, t->n + 1, struct shell_char);
    if (t->n)
        memcpy(kept.v, t->v, (size_t)t->n * sizeof(*t->v));
    return kept;
}

const char *shell_string(struct shell_machine *m, const struct shell_text *t, bool null)
{
    struct strbuf b;
    strbuf_init(&b);
    for (int32_t i = 0; i < t->n && !shell_works(m, 1); i++) {
        if (!t->v[i].unknown)
            strbuf_addch(&b, t->v[i].c);
        else
            strbuf_addstr(&b, null ? "null" : m->unknowns.v[t->v[i].unknown - 1].name);
    }
    const char *text = arena_strdup(m->arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

bool shell_is(const struct shell_text *t, const char *word)
{
    for (int32_t i = 0; i < t->n; i++)
        if (t->v[i].unknown || !word[i] || t->v[i].c != word[i])
            return false;
    return word[t->n] == '\0';
}

/* What is not known ---------------------------------------------------------------- */

const struct shell_unknown *shell_unknown_of(const struct shell_machine *m,
                                             const struct shell_text *t)
{
    for (int32_t i = 0; i < t->n; i++)
        if (t->v[i].unknown)
            return &m->unknowns.v[t->v[i].unknown - 1];
    return NULL;
}

int32_t shell_not_known(struct shell_machine *m, const char *name, bool unset,
                        const char *fmt, ...)
{
    char why[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    shell_works(m, m->unknowns.n / 8); /* each is compared */
    for (int64_t i = m->unknowns.n; i-- > 0;)
        if ((m->unknowns.n >= UNKNOWNS_MAX && i == 0) ||
            (strcmp(m->unknowns.v[i].why, why) == 0 &&
             strcmp(m->unknowns.v[i].name, name) == 0))
            return (int32_t)i + 1;
    VEC_PUSH(&m->unknowns,
             ((struct shell_unknown) { .name = arena_strdup(m->arena, name),
                                       .why = arena_strdup(m->arena, why),
                                       .unset = unset }));
    return (int32_t)m->unknowns.n;
}

const char *shell_why(const struct shell_machine *m, int32_t unknown)
{
    return unknown ? m->unknowns.v[unknown - 1].why : "it is not read";
}

/* Variables ------------------------------------------------------------------------ */

struct shell_variable *shell_find(const struct shell_machine *m, const char *name)
{
    for (int64_t i = 0; i < m->variables.n; i++)
        if (strcmp(m->variables.v[i].name, name) == 0)
            return &m->variables.v[i];
    return NULL;
}

static struct shell_variable *find_or_add(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = shell_find(m, name);
    if (x)
        return x;
    if (m->variables.n >= SHELL_NAMES_MAX) {
        shell_fail(m, NULL, "more than %d variables (leave some out)", SHELL_NAMES_MAX);
        return NULL;
    }
    VEC_PUSH(&m->variables, ((struct shell_variable) { .name = name }));
    return &m->variables.v[m->variables.n - 1];
}

static struct shell_texts keep_all(struct shell_machine *m, const struct shell_texts *t,
                                   const struct shell_texts *before)
{
    int32_t n0 = before ? before->n : 0;
    struct shell_texts kept = { .n = n0 + t->n };
    kept.v = ARENA_ARRAY(m->arena, kept.n + 1, struct shell_text);
    for (int32_t i = 0; i < n0; i++)
        kept.v[i] = before->v[i];
    for (int32_t i = 0; i < t->n; i++)
        kept.v[n0 + i] = shell_keep(m, &t->v[i]);
    shell_works(m, kept.n);
    if (kept.n > SHELL_WORDS_MAX)
        shell_fail(m, NULL, "an array of more than %d elements (leave some out)",
                   SHELL_WORDS_MAX);
    return kept;
}

/* The text, then a piece that is not known. */
static struct shell_texts with_reason(struct shell_machine *m, const char *name,
                                      const struct shell_text *text,
                                      struct shell_char place)
{
    struct shell_text t = { 0 };
    struct shell_texts all = { 0 };
    if (text) {
        shell_append(m, &t, text);
        shell_add_string(m, &t, " ", place);
    }
    place.unknown =
        shell_not_known(m, arena_printf(m->arena, "$%.*s", NAME_SHOWN, name), false,
                        "$%.*s is set under a condition (%s)", NAME_SHOWN, name,
                        shell_why(m, m->because));
    place.c = '?';
    shell_push(m, &t, place);
    shell_texts_take(m, &all, &t);
    return all;
}

static bool same_chars(const struct shell_char *a, const struct shell_char *b,
                       int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i].c != b[i].c || a[i].line != b[i].line)
            return false;
    return true;
}

/* X="$X more" or X="more $X": the old text where it was. */
static bool goes_on_from(const struct shell_text *t, const struct shell_text *old)
{
    return old->n && old->n <= t->n &&
           (same_chars(t->v, old->v, old->n) ||
            same_chars(t->v + t->n - old->n, old->v, old->n));
}

/* What is set under a condition that is not known: what goes on from the old value
 * leaves that in place. */
static void assign_perhaps(struct shell_machine *m, struct shell_variable *x,
                           const struct shell_texts *values, bool append)
{
    struct shell_char place = { .c = '?', .line = m->at.n ? m->at.v[0].line : 1 };
    const struct shell_text *old = x->values.n ? &x->values.v[0] : NULL;
    const struct shell_text *given = values->n ? &values->v[0] : NULL;
    if (given && given->n)
        place = given->v[0];
    bool goes_on = old && (append || (given && !x->array && goes_on_from(given, old)));
    shell_works(m, old && given ? given->n : 0);
    struct shell_texts all =
        with_reason(m, x->name, goes_on && !x->array ? old : NULL, place);
    x->values = keep_all(m, &all, goes_on && x->array ? &x->values : NULL);
    shell_texts_release(&all);
}

void shell_assign(struct shell_machine *m, const char *name,
                  const struct shell_texts *values, bool array, bool append)
{
    if (m->mode == SHELL_SKIP || m->failed)
        return;
    struct shell_variable *x = find_or_add(m, name);
    if (!x || x->fixed)
        return;
    x->array |= array;
    if (m->mode == SHELL_MAYBE) {
        assign_perhaps(m, x, values, append);
        return;
    }
    if (!append) {
        x->array = array;
        x->keys = NULL;
    }
    if (append && !array && x->values.n && values->n) { /* X+=text */
        struct shell_text joined = { 0 };
        shell_append(m, &joined, &x->values.v[0]);
        shell_append(m, &joined, &values->v[0]);
        x->values.v[0] = shell_keep(m, &joined);
        shell_text_release(&joined);
    } else {
        x->values = keep_all(m, values, append ? &x->values : NULL);
    }
}

/* Associative arrays --------------------------------------------------------------- */

int32_t shell_key(const struct shell_variable *x, const char *key)
{
    for (int32_t i = 0; x->keys && i < x->values.n; i++)
        if (strcmp(x->keys[i], key) == 0)
            return i;
    return -1;
}

static void add_key(struct shell_machine *m, struct shell_variable *x, const char *key)
{
    const char **keys = ARENA_ARRAY(m->arena, x->values.n + 1, const char *);
    struct shell_text *v = ARENA_ARRAY(m->arena, x->values.n + 1, struct shell_text);
    for (int32_t i = 0; i < x->values.n; i++) {
        keys[i] = x->keys[i];
        v[i] = x->values.v[i];
    }
    keys[x->values.n] = arena_strdup(m->arena, key);
    x->keys = keys;
    x->values.v = v;
    x->values.n++;
    shell_works(m, x->values.n);
    if (x->values.n > SHELL_WORDS_MAX)
        shell_fail(m, NULL, "an array of more than %d elements (leave some out)",
                   SHELL_WORDS_MAX);
}

void shell_assign_key(struct shell_machine *m, const char *name, const char *key,
                      const struct shell_text *value)
{
    if (m->mode == SHELL_SKIP || m->failed)
        return;
    struct shell_variable *x = find_or_add(m, name);
    if (!x || x->fixed)
        return;
    if (!x->keys) {
        x->values = (struct shell_texts) { 0 };
        x->keys = ARENA_ARRAY(m->arena, 1, const char *);
    }
    x->array = true;
    shell_works(m, x->values.n);
    int32_t i = shell_key(x, key);
    if (i < 0) {
        i = x->values.n;
        add_key(m, x, key);
    }
    x->values.v[i] = shell_keep(m, value);
    if (m->mode == SHELL_MAYBE) {
        struct shell_texts unsure = with_reason(
            m, name, NULL, value->n ? value->v[0] : (struct shell_char) { .c = '?' });
        x->values.v[i] = shell_keep(m, &unsure.v[0]);
        shell_texts_release(&unsure);
    }
}
