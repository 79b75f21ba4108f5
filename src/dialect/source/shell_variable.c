/* Variables of a shell script under way. */
#include "dialect/source/shell_machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 40, MAY_MAX = 2000 };

static struct shell_variable *place_of(const struct shell_machine *m, const char *name)
{
    for (int64_t i = 0; i < m->variables.n; i++)
        if (strcmp(m->variables.v[i].name, name) == 0)
            return &m->variables.v[i];
    return NULL;
}

struct shell_variable *shell_find(const struct shell_machine *m, const char *name)
{
    struct shell_variable *x = place_of(m, name);
    return x && !x->absent ? x : NULL;
}

static struct shell_variable *find_or_add(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = place_of(m, name);
    if (x) {
        x->absent = false;
        return x;
    }
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

/* What a row of the unknowns may hold, and what would decide it. */
static void remember(struct shell_machine *m, int32_t row, const char *name,
                     const struct shell_text *value)
{
    struct shell_unknown *u = &m->unknowns.v[row - 1];
    const struct shell_unknown *why =
        m->because ? &m->unknowns.v[m->because - 1] : NULL;
    const char *more = value ? shell_string(m, value, false) : "";
    u = &m->unknowns.v[row - 1];
    u->ask = why && why->ask ? why->ask : name;
    if (*more && (!u->may || (!strstr(u->may, more) && strlen(u->may) < MAY_MAX)))
        u->may = arena_printf(m->arena, "%s%s%s", u->may ? u->may : "",
                              u->may ? " " : "", more);
}

/* The text, then a piece that is not known: it may be the value. */
static struct shell_texts with_reason(struct shell_machine *m, const char *name,
                                      const struct shell_text *text,
                                      const struct shell_text *value,
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
    remember(m, place.unknown, name, value);
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
        with_reason(m, x->name, goes_on && !x->array ? old : NULL, given, place);
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
    x->set = ++m->sets;
    x->gone = false;
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
        struct shell_texts one = { &joined, 1, 0 };
        if (x->array) { /* its first element; the others stay */
            one.v = ARENA_ARRAY(m->arena, x->values.n, struct shell_text);
            memcpy(one.v, x->values.v, (size_t)x->values.n * sizeof(*one.v));
            one.v[0] = joined;
            one.n = x->values.n;
        }
        x->values = keep_all(m, &one, NULL);
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
    x->set = ++m->sets;
    x->gone = false;
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
    } else {
        x->values = keep_all(m, &x->values, NULL);
    }
    x->values.v[i] = shell_keep(m, value);
    if (m->mode == SHELL_MAYBE) {
        struct shell_texts unsure =
            with_reason(m, name, NULL, value,
                        value->n ? value->v[0] : (struct shell_char) { .c = '?' });
        x->values.v[i] = shell_keep(m, &unsure.v[0]);
        shell_texts_release(&unsure);
    }
}

/* Taken away, or not known any more ------------------------------------------------ */

static struct shell_texts one_unknown(struct shell_machine *m, int32_t why)
{
    struct shell_texts all = { .n = 1 };
    all.v = ARENA_NEW(m->arena, struct shell_text);
    all.v->n = 1;
    all.v->v = ARENA_ARRAY(m->arena, 2, struct shell_char);
    all.v->v[0] = (struct shell_char) {
        .c = '?', .line = m->at.i < m->at.n ? m->at.v[m->at.i].line : 1, .unknown = why
    };
    return all;
}

static void lose(struct shell_machine *m, struct shell_variable *x, int32_t why)
{
    x->values = one_unknown(m, why);
    x->keys = NULL;
    x->gone = false;
    x->set = ++m->sets;
}

void shell_void(struct shell_machine *m, const char *name, int32_t why)
{
    struct shell_variable *x =
        m->mode == SHELL_SKIP || m->failed ? NULL : find_or_add(m, name);
    if (x && !x->fixed)
        lose(m, x, why);
}

void shell_void_since(struct shell_machine *m, int64_t mark, const char *where,
                      int32_t why)
{
    for (int64_t i = 0; i < m->variables.n && !shell_works(m, 1); i++) {
        struct shell_variable *x = &m->variables.v[i];
        if (x->set > mark && !x->fixed && !x->absent)
            lose(m, x,
                 shell_not_known(m,
                                 arena_printf(m->arena, "$%.*s", NAME_SHOWN, x->name),
                                 false, "$%.*s is set in %s (%s)", NAME_SHOWN, x->name,
                                 where, shell_why(m, why)));
    }
}

void shell_unset(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = shell_find(m, name);
    if (!x || x->fixed || m->mode == SHELL_SKIP)
        return;
    if (m->mode == SHELL_MAYBE) {
        lose(m, x,
             shell_not_known(m, arena_printf(m->arena, "$%.*s", NAME_SHOWN, name),
                             false, "$%.*s is unset under a condition (%s)", NAME_SHOWN,
                             name, shell_why(m, m->because)));
        return;
    }
    *x = (struct shell_variable) { .name = x->name, .gone = true, .set = ++m->sets };
}

/* Of a function -------------------------------------------------------------------- */

void shell_put_aside(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = shell_find(m, name);
    struct shell_local l = { .had = x != NULL };
    l.was = x ? *x : (struct shell_variable) { .name = name };
    if (!shell_works(m, 1) && m->locals.n < SHELL_WORDS_MAX)
        VEC_PUSH(&m->locals, l);
}

void shell_give_back(struct shell_machine *m, int64_t n)
{
    while (m->locals.n > n) {
        const struct shell_local *l = &m->locals.v[--m->locals.n];
        struct shell_variable *x = find_or_add(m, l->was.name);
        if (!x || x->fixed)
            continue;
        *x = l->was;
        x->absent |= !l->had;
        x->set = ++m->sets;
    }
}

void shell_swap_aside(struct shell_machine *m, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        struct shell_local *l = &m->locals.v[i];
        struct shell_variable *x = place_of(m, l->was.name), now;
        if (!x || x->fixed)
            continue;
        now = *x;
        *x = l->was;
        x->absent |= !l->had;
        l->was = now;
        l->had = true;
    }
}

void shell_forget_aside(struct shell_machine *m, int64_t from, int64_t to)
{
    int64_t n = m->locals.n - to;
    if (n > 0)
        memmove(&m->locals.v[from], &m->locals.v[to], (size_t)n * sizeof(*m->locals.v));
    m->locals.n -= to - from;
}

/* $1, $@ and the like -------------------------------------------------------------- */

static const struct shell_variable *made(struct shell_machine *m,
                                         struct shell_texts values)
{
    struct shell_variable *x = ARENA_NEW(m->arena, struct shell_variable);
    *x = (struct shell_variable) { .values = values, .gone = values.n == 0 };
    shell_works(m, 8);
    return x;
}

static const struct shell_variable *number(struct shell_machine *m, int64_t v)
{
    struct shell_texts one = { .n = 1 };
    struct shell_text t = { 0 };
    shell_add_string(m, &t, arena_printf(m->arena, "%" PRId64, v),
                     (struct shell_char) { .line = 1 });
    one.v = ARENA_NEW(m->arena, struct shell_text);
    *one.v = shell_keep(m, &t);
    shell_text_release(&t);
    return made(m, one);
}

int32_t shell_argument_unknown(struct shell_machine *m, const char *name)
{
    const char *shown = name;
    int32_t row;
    if (isdigit((unsigned char)*name)) {
        shown = arena_printf(m->arena, "%ld",
                             strtol(name, NULL, 10) + (long)m->arguments.shifted);
        row =
            shell_not_known(m, arena_printf(m->arena, "$%.*s", NAME_SHOWN, shown), true,
                            "$%.*s is an argument of the script (--set "
                            "/shell/%.*s=VALUE gives it)",
                            NAME_SHOWN, shown, NAME_SHOWN, shown);
    } else {
        row =
            shell_not_known(m, arena_printf(m->arena, "$%.*s", NAME_SHOWN, name), true,
                            "$%.*s asks for the arguments of the script (--set "
                            "'/shell/@=A B' gives them)",
                            NAME_SHOWN, name);
    }
    m->unknowns.v[row - 1].argument = true;
    m->unknowns.v[row - 1].ask = shown;
    return row;
}

/* All of them; where more may follow, a piece that is not known does. */
static const struct shell_variable *all_arguments(struct shell_machine *m)
{
    const struct shell_arguments *a = &m->arguments;
    if (!a->open)
        return made(m, a->values);
    if (a->values.n == 0)
        return NULL;
    struct shell_texts more = one_unknown(m, shell_argument_unknown(m, "@"));
    return made(m, keep_all(m, &more, &a->values));
}

const struct shell_variable *shell_look(struct shell_machine *m, const char *name)
{
    const struct shell_arguments *a = &m->arguments;
    bool is_number = *name >= '1' && *name <= '9',
         all = strcmp(name, "@") == 0 || strcmp(name, "*") == 0;
    int64_t i = is_number ? strtol(name, NULL, 10) - 1 : 0;
    if (strcmp(name, "?") == 0 && m->status != SHELL_UNKNOWN)
        return number(m, m->status == SHELL_NO);
    if (!is_number && !all && strcmp(name, "#") != 0)
        return shell_find(m, name);
    if (a->lost)
        return made(m, one_unknown(m, a->lost));
    if (all)
        return all_arguments(m);
    if (!is_number)
        return a->open ? NULL : number(m, a->values.n);
    if (i < a->values.n)
        return made(m, (struct shell_texts) { .v = a->values.v + i, .n = 1 });
    return a->open ? NULL : made(m, (struct shell_texts) { 0 });
}
