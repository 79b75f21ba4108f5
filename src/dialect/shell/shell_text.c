/* Texts of a shell script under way, its variables, and what of them is not known. */
#include "dialect/shell/shell_machine.h"

#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWNS_MAX = 4096, NOTES_MAX = 50 };

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
    VEC_PUSH(&m->out->notes, ((struct shell_note) {
                                 .line = line, .text = arena_strdup(m->arena, text) }));
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

int64_t shell_word_number(const struct shell_text *t, int64_t otherwise)
{
    int64_t v = 0;
    for (int32_t i = 0; i < t->n; i++)
        if (t->v[i].unknown || t->v[i].c < '0' || t->v[i].c > '9' || t->n > 6)
            return otherwise;
        else
            v = v * 10 + (t->v[i].c - '0');
    return t->n ? v : otherwise;
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

void shell_compares(struct shell_machine *m, const struct shell_text *t,
                    const struct shell_text *word)
{
    const struct shell_unknown *u =
        t->n == 1 && t->v[0].unknown ? &m->unknowns.v[t->v[0].unknown - 1] : NULL;
    if (!u || !u->ask || !word->n || shell_unknown_of(m, word) ||
        m->out->choices.n >= SHELL_CHOICES_MAX)
        return;
    for (int32_t i = 0; i < word->n; i++)
        if (strchr("*?[]", word->v[i].c)) /* a pattern is no value */
            return;
    const char *value = shell_string(m, word, false);
    VEC_PUSH(&m->out->choices, ((struct shell_choice) { u->ask, value }));
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
