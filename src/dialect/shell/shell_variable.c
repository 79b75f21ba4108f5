/* Variables of a shell script under way. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_SHOWN = 40, MAY_MAX = 2000, REFERENCES_MAX = 8 };

static struct shell_variable *own_place(const struct shell_machine *m, const char *name)
{
    for (int64_t i = 0; i < m->variables.n; i++)
        if (strcmp(m->variables.v[i].name, name) == 0)
            return &m->variables.v[i];
    return NULL;
}

/* The name that is meant, where one is another's (declare -n). */
static const char *meant(const struct shell_machine *m, const char *name)
{
    const struct shell_variable *x = own_place(m, name);
    for (int n = 0; x && x->refers && n < REFERENCES_MAX; n++) {
        name = x->refers;
        x = own_place(m, name);
    }
    return name;
}

static struct shell_variable *place_of(const struct shell_machine *m, const char *name)
{
    return own_place(m, meant(m, name));
}

struct shell_variable *shell_find(const struct shell_machine *m, const char *name)
{
    struct shell_variable *x = place_of(m, name);
    return x && !x->absent ? x : NULL;
}

static struct shell_variable *find_or_add_own(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = own_place(m, name);
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

static struct shell_variable *find_or_add(struct shell_machine *m, const char *name)
{
    return find_or_add_own(m, meant(m, name));
}

struct shell_texts shell_keep_all(struct shell_machine *m, const struct shell_texts *t,
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

/* X="$X more" or X="more $X": the old text where it was, and what is more. */
static bool goes_on_from(const struct shell_text *t, const struct shell_text *old,
                         struct shell_text *more)
{
    int32_t n = t->n - old->n;
    if (!old->n || n < 0)
        return false;
    bool first = same_chars(t->v, old->v, old->n),
         last = !first && same_chars(t->v + n, old->v, old->n);
    *more = (struct shell_text) { .v = t->v + (first ? old->n : 0), .n = n };
    return first || last;
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
    struct shell_text more;
    bool adds = old && !append && given && !x->array && goes_on_from(given, old, &more);
    bool goes_on = old && (append || adds);
    shell_works(m, old && given ? given->n : 0);
    struct shell_texts all = with_reason(m, x->name, goes_on && !x->array ? old : NULL,
                                         adds ? &more : given, place);
    x->values = shell_keep_all(m, &all, goes_on && x->array ? &x->values : NULL);
    shell_texts_release(&all);
}

/* What an integer comes to when it is given that, or that is added. */
static struct shell_texts calculated(struct shell_machine *m,
                                     const struct shell_variable *x,
                                     const struct shell_texts *given, bool append)
{
    struct shell_texts all = { .v = ARENA_NEW(m->arena, struct shell_text), .n = 1 };
    struct shell_text t = { 0 }, made = { 0 };
    struct shell_char place = { .line = 1 };
    int64_t v = 0;
    int32_t why = 0;
    if (append && x->values.n && x->values.v[0].n) {
        shell_append(m, &t, &x->values.v[0]);
        shell_add_string(m, &t, "+", place);
    }
    if (given->n)
        shell_append(m, &t, &given->v[0]);
    place = t.n ? t.v[t.n - 1] : place;
    place.unknown = 0;
    if (t.n == 0 || m->hooks->calculate(m, &t, &v, &why)) {
        shell_add_string(m, &made, arena_printf(m->arena, "%" PRId64, v), place);
    } else {
        place.c = '?';
        place.unknown = why;
        shell_push(m, &made, place);
    }
    *all.v = shell_keep(m, &made);
    shell_text_release(&t);
    shell_text_release(&made);
    return all;
}

/* The variable that is set now; NULL: it is fixed, or nothing is set. */
static struct shell_variable *to_assign(struct shell_machine *m, const char *name)
{
    if (m->passing && !shell_find(m, name)) {
        struct shell_passed *one = ARENA_NEW(m->arena, struct shell_passed);
        *one = (struct shell_passed) { arena_strdup(m->arena, name), m->passed };
        m->passed = one;
        shell_works(m, 1);
    }
    struct shell_variable *x =
        m->mode == SHELL_SKIP || m->failed ? NULL : find_or_add(m, name);
    if (!x || x->fixed)
        return NULL;
    x->set = ++m->sets;
    x->gone = false;
    return x;
}

void shell_assign(struct shell_machine *m, const char *name,
                  const struct shell_texts *values, bool array, bool append)
{
    struct shell_variable *x = to_assign(m, name);
    if (!x)
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
    if (x->integer && !x->array) {
        x->values = calculated(m, x, values, append);
        return;
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
        x->values = shell_keep_all(m, &one, NULL);
        shell_text_release(&joined);
    } else {
        x->values = shell_keep_all(m, values, append ? &x->values : NULL);
    }
}

/* Declared ------------------------------------------------------------------------- */

void shell_declare_integer(struct shell_machine *m, const char *name)
{
    if (m->mode == SHELL_SKIP || m->failed)
        return;
    struct shell_variable *x = place_of(m, name);
    bool absent = !x || x->absent;
    x = find_or_add(m, name);
    if (!x || x->fixed)
        return;
    x->absent = absent;
    x->integer = true;
    if (!absent && !x->array && x->values.n && m->mode == SHELL_RUN)
        x->values = calculated(m, x, &x->values, false);
}

bool shell_declare_reference(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = own_place(m, name);
    if (!x || x->fixed || m->mode == SHELL_SKIP)
        return true;
    const struct shell_text *t = x->values.n == 1 ? &x->values.v[0] : NULL;
    bool is_name = m->mode == SHELL_RUN && t && t->n && !x->array &&
                   !isdigit((unsigned char)t->v[0].c);
    for (int32_t i = 0; is_name && i < t->n; i++)
        is_name =
            !t->v[i].unknown && (isalnum((unsigned char)t->v[i].c) || t->v[i].c == '_');
    if (!is_name || shell_is(t, name))
        return false;
    x->refers = shell_string(m, t, false);
    return true;
}

void shell_unset_reference(struct shell_machine *m, const char *name)
{
    struct shell_variable *x = own_place(m, name);
    if (x && x->refers && m->mode == SHELL_RUN)
        *x =
            (struct shell_variable) { .name = x->name, .gone = true, .set = ++m->sets };
}

/* Associative arrays --------------------------------------------------------------- */

/* Where bash keeps a key: its values come in that order, the newest of a place first
 * (hashlib.c, hash_string; assoc.h, ASSOC_HASH_BUCKETS). */
static uint32_t bucket_of(const char *key)
{
    uint32_t h = 2166136261u;
    for (; *key; key++)
        h = (h * 16777619u) ^ (uint8_t)*key;
    return h & 1023;
}

int32_t shell_key(const struct shell_variable *x, const char *key)
{
    for (int32_t i = 0; x->keys && i < x->values.n; i++)
        if (strcmp(x->keys[i], key) == 0)
            return i;
    return -1;
}

/* Makes room for a key; its number. */
static int32_t add_key(struct shell_machine *m, struct shell_variable *x,
                       const char *key)
{
    int32_t n = x->values.n, at = 0;
    const char **keys = ARENA_ARRAY(m->arena, n + 1, const char *);
    struct shell_text *v = ARENA_ARRAY(m->arena, n + 1, struct shell_text);
    while (at < n && bucket_of(x->keys[at]) < bucket_of(key))
        at++;
    for (int32_t i = 0; i < n; i++) {
        keys[i + (i >= at)] = x->keys[i];
        v[i + (i >= at)] = x->values.v[i];
    }
    keys[at] = arena_strdup(m->arena, key);
    x->keys = keys;
    x->values.v = v;
    x->values.n++;
    shell_works(m, x->values.n);
    if (x->values.n > SHELL_WORDS_MAX)
        shell_fail(m, NULL, "an array of more than %d elements (leave some out)",
                   SHELL_WORDS_MAX);
    return at;
}

void shell_assign_key(struct shell_machine *m, const char *name, const char *key,
                      const struct shell_text *value)
{
    struct shell_variable *x = to_assign(m, name);
    if (!x)
        return;
    if (!x->keys) {
        x->values = (struct shell_texts) { 0 };
        x->keys = ARENA_ARRAY(m->arena, 1, const char *);
    }
    x->array = true;
    shell_works(m, x->values.n);
    int32_t i = shell_key(x, key);
    if (i < 0)
        i = add_key(m, x, key);
    else
        x->values = shell_keep_all(m, &x->values, NULL);
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

struct shell_texts shell_one_unknown(struct shell_machine *m, int32_t why)
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
    x->values = shell_one_unknown(m, why);
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
    struct shell_variable *x = own_place(m, name);
    x = x && !x->absent ? x : NULL;
    struct shell_local l = { .had = x != NULL };
    l.was = x ? *x : (struct shell_variable) { .name = name };
    if (!shell_works(m, 1) && m->locals.n < SHELL_WORDS_MAX)
        VEC_PUSH(&m->locals, l);
}

void shell_give_back(struct shell_machine *m, int64_t n)
{
    while (m->locals.n > n) {
        const struct shell_local *l = &m->locals.v[--m->locals.n];
        struct shell_variable *x = find_or_add_own(m, l->was.name);
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
        struct shell_variable *x = own_place(m, l->was.name), now;
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
