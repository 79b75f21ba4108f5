/* $1, $2 and so on of a shell script and its functions: shift, set --, getopts. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 1000, SHOWN = 40 };

static bool is_all(const struct shell_machine *m, const struct shell_text *t)
{
    const struct shell_unknown *u =
        t->n == 1 && t->v[0].unknown ? &m->unknowns.v[t->v[0].unknown - 1] : NULL;
    return u && u->argument &&
           (strcmp(u->name, "$@") == 0 || strcmp(u->name, "$*") == 0);
}

struct shell_arguments shell_arguments_of(struct shell_machine *m,
                                          const struct shell_texts *words, int32_t i)
{
    struct shell_arguments a = { .lost = 0 };
    int32_t n = words->n > i ? words->n - i : 0;
    a.values.v = ARENA_ARRAY(m->arena, n + 1, struct shell_text);
    shell_works(m, n);
    for (; i < words->n && !m->failed; i++) {
        const struct shell_text *t = &words->v[i];
        if (is_all(m, t) && i + 1 < words->n) {
            a.lost = t->v[0].unknown;
        } else if (is_all(m, t)) {
            a.open = true;
            a.shifted = m->arguments.shifted + m->arguments.values.n - a.values.n;
        } else {
            a.values.v[a.values.n++] = shell_keep(m, t);
        }
    }
    return a;
}

/* Those before it are not known, where nobody gave them. */
void shell_give_argument(struct shell_machine *m, int32_t number,
                         const struct shell_text *value)
{
    struct shell_arguments *a = &m->arguments;
    int32_t n = number > a->values.n ? number : a->values.n;
    if (number < 1 || number > ARGUMENTS_MAX)
        return;
    struct shell_text *v = ARENA_ARRAY(m->arena, n, struct shell_text);
    for (int32_t i = 0; i < n; i++) {
        struct shell_text t = { 0 };
        struct shell_char x = { .c = '?', .line = 1 };
        if (i < a->values.n) {
            v[i] = a->values.v[i];
            continue;
        }
        x.unknown = shell_argument_unknown(m, arena_printf(m->arena, "%d", (int)i + 1));
        shell_push(m, &t, x);
        v[i] = shell_keep(m, &t);
        shell_text_release(&t);
    }
    v[number - 1] = shell_keep(m, value);
    a->values = (struct shell_texts) { .v = v, .n = n };
}

static void lose(struct shell_machine *m, const char *what)
{
    m->sets++;
    m->arguments.lost =
        shell_not_known(m, "$@", false, "the arguments are %s under a condition (%s)",
                        what, shell_why(m, m->because));
}

enum shell_status shell_do_shift(struct shell_machine *m, const struct shell_texts *w)
{
    struct shell_arguments *a = &m->arguments;
    int64_t n = w->n > 1 ? shell_word_number(&w->v[1], -1) : 1;
    m->sets++;
    if (a->lost)
        return SHELL_DONE;
    if (m->mode == SHELL_MAYBE || n < 0) {
        lose(m, "shifted");
        return SHELL_DONE;
    }
    if (n > a->values.n && !a->open)
        return SHELL_NO;
    int32_t step = n < a->values.n ? (int32_t)n : a->values.n;
    a->values.v += step;
    a->values.n -= step;
    a->shifted += n < ARGUMENTS_MAX ? (int32_t)n : ARGUMENTS_MAX;
    return SHELL_YES;
}

/* set -e -o pipefail -- a b: the words after the options. */
enum shell_status shell_do_set(struct shell_machine *m, const struct shell_texts *w)
{
    int32_t i = 1;
    bool all = false;
    while (i < w->n && !all) {
        const struct shell_text *t = &w->v[i];
        char sign = t->n && !t->v[0].unknown ? t->v[0].c : '\0';
        all = shell_is(t, "--");
        if (!all && sign != '-' && sign != '+')
            break;
        i += !all && t->v[t->n - 1].c == 'o' && t->n > 1 ? 2 : 1;
    }
    if (!all && i >= w->n)
        return SHELL_DONE;
    m->sets++;
    if (m->mode == SHELL_MAYBE)
        lose(m, "set");
    else
        m->arguments = shell_arguments_of(m, w, i);
    return SHELL_DONE;
}

/* getopts -------------------------------------------------------------------------- */

static void set_text(struct shell_machine *m, const char *name, const char *text,
                     struct shell_char place)
{
    struct shell_text t = { 0 };
    struct shell_texts one = { &t, 1, 0 };
    shell_add_string(m, &t, text, place);
    shell_assign(m, name, &one, false, false);
    shell_text_release(&t);
}

struct getopts {
    const char *letters, *name; /* "n:v", opt */
    struct shell_texts words;
    int64_t at; /* of the words, from 1: OPTIND */
};

static void set_index(struct shell_machine *m, int64_t at, struct shell_char place)
{
    set_text(m, "OPTIND", arena_printf(m->arena, "%ld", (long)at), place);
}

/* The value of a letter that has one: the rest of its word, or the next word. */
static bool take_value(struct shell_machine *m, struct getopts *g, int32_t from)
{
    const struct shell_text *w = &g->words.v[g->at - 1];
    struct shell_text rest = { .v = w->v + from, .n = w->n - from };
    const struct shell_text *value = &rest;
    m->option_at = 0;
    g->at++;
    if (rest.n == 0) {
        if (g->at > g->words.n)
            return false;
        value = &g->words.v[g->at++ - 1];
    }
    struct shell_text kept = shell_keep(m, value);
    struct shell_texts one = { &kept, 1, 0 };
    shell_assign(m, "OPTARG", &one, false, false);
    return true;
}

static enum shell_status next_option(struct shell_machine *m, struct getopts *g)
{
    const struct shell_text *w = g->at <= g->words.n ? &g->words.v[g->at - 1] : NULL;
    struct shell_char place = w && w->n ? w->v[0] : shell_peek(m, 0);
    if (!w || w->n < 2 || w->v[0].c != '-' || shell_is(w, "--")) {
        g->at += w && shell_is(w, "--");
        set_index(m, g->at, place);
        set_text(m, g->name, "?", place);
        return SHELL_NO;
    }
    int32_t i = m->option_at ? m->option_at : 1;
    char letter[2] = { w->v[i].c, '\0' };
    const char *known = letter[0] == ':' ? NULL : strchr(g->letters, letter[0]);
    bool value = known && known[1] == ':', given = true;
    if (value) {
        given = take_value(m, g, i + 1);
    } else {
        m->option_at = i + 1 < w->n ? i + 1 : 0;
        g->at += m->option_at == 0;
    }
    set_text(m, g->name, known && given ? letter : "?", place);
    set_index(m, g->at, place);
    return SHELL_YES;
}

/* Where nobody gave the arguments there are none, which is for the caller to say. */
enum shell_status shell_do_getopts(struct shell_machine *m, const struct shell_texts *w)
{
    const struct shell_variable *index = shell_find(m, "OPTIND");
    struct shell_arguments a = w->n > 3 ? shell_arguments_of(m, w, 3) : m->arguments;
    struct shell_char place = w->v[0].n ? w->v[0].v[0] : shell_peek(m, 0);
    struct getopts g = { .at = 1, .words = a.values };
    if (index && index->values.n == 1)
        g.at = shell_word_number(&index->values.v[0], -1);
    if (w->n < 3 || a.lost || g.at < 1 || m->mode == SHELL_MAYBE ||
        shell_unknown_of(m, &w->v[1]) || shell_unknown_of(m, &w->v[2])) {
        m->because = a.lost ? a.lost : m->because;
        return SHELL_UNKNOWN;
    }
    g.letters = shell_string(m, &w->v[1], false);
    g.name = shell_string(m, &w->v[2], false);
    if (a.open && g.words.n == 0) {
        set_index(m, 1, place);
        m->because = shell_argument_unknown(m, "@");
        return SHELL_UNKNOWN;
    }
    bool known = g.at > g.words.n || !shell_unknown_of(m, &g.words.v[g.at - 1]) ||
                 g.words.v[g.at - 1].n > 1;
    if (known && (!m->option_at || m->option_at < g.words.v[g.at - 1].n))
        return next_option(m, &g);
    m->because = g.at <= g.words.n && g.words.v[g.at - 1].n
                     ? g.words.v[g.at - 1].v[0].unknown
                     : m->because;
    return SHELL_UNKNOWN;
}

/* Looked up ------------------------------------------------------------------------ */

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
        row = shell_not_known(m, arena_printf(m->arena, "$%.*s", SHOWN, shown), true,
                              "$%.*s is an argument of the script (--set "
                              "/shell/%.*s=VALUE gives it)",
                              SHOWN, shown, SHOWN, shown);
    } else {
        row = shell_not_known(m, arena_printf(m->arena, "$%.*s", SHOWN, name), true,
                              "$%.*s asks for the arguments of the script (--set "
                              "'/shell/@=A B' gives them)",
                              SHOWN, name);
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
    struct shell_texts more = shell_one_unknown(m, shell_argument_unknown(m, "@"));
    return made(m, shell_keep_all(m, &more, &a->values));
}

/* After those that are known, what the caller of the script may add is taken to be none. */
static bool may_be_more(const struct shell_machine *m, const struct shell_arguments *a)
{
    bool known = a->values.n > 0;
    for (int32_t i = 0; i < a->values.n; i++) {
        const struct shell_unknown *u = shell_unknown_of(m, &a->values.v[i]);
        known &= !(u && u->argument);
    }
    return a->open && !known;
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
        return made(m, shell_one_unknown(m, a->lost));
    if (all)
        return all_arguments(m);
    if (!is_number)
        return may_be_more(m, a) ? NULL : number(m, a->values.n);
    if (i < a->values.n)
        return made(m, (struct shell_texts) { .v = a->values.v + i, .n = 1 });
    return a->open ? NULL : made(m, (struct shell_texts) { 0 });
}
