/* $(getopt -o n: --long nodes: -- "$@"): what it prints for `eval set --` (getopt(1) of
 * util-linux): options first, "--", then the other words, each quoted. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

/* A call: its letters, its long names ("nodes:,help"), and the words it sorts. */
struct getopt {
    struct shell_machine *m;
    const char *letters, *names;
    struct shell_texts *words;
    int32_t i; /* of the words */
    struct shell_text options, others;
};

static void put(struct getopt *g, struct shell_text *to, const struct shell_text *t)
{
    struct shell_char place = t->n ? t->v[0] : (struct shell_char) { .line = 1 };
    shell_add_string(g->m, to, " '", place);
    for (int32_t i = 0; i < t->n; i++) {
        if (t->v[i].c == '\'' && !t->v[i].unknown)
            shell_add_string(g->m, to, "'\\'", place);
        shell_push(g->m, to, t->v[i]);
    }
    shell_add_string(g->m, to, "'", place);
}

static void put_string(struct getopt *g, const char *s, struct shell_char place)
{
    struct shell_text t = { 0 };
    shell_add_string(g->m, &t, s, place);
    put(g, &g->options, &t);
    shell_text_release(&t);
}

/* The name in a list "nodes:,gpus::,help", or the only one that begins so: its text up
 * to "," or the end; NULL. */
static const char *find_name(const char *names, const char *name, size_t n)
{
    const char *found = NULL;
    for (const char *s = names; *s; s += strcspn(s, ","), s += *s == ',') {
        size_t len = strcspn(s, ":,");
        if (len == n && strncmp(s, name, n) == 0)
            return s;
        if (len > n && n && strncmp(s, name, n) == 0)
            found = found ? names + strlen(names) : s;
    }
    return found && *found ? found : NULL;
}

static void take_value(struct getopt *g, const struct shell_text *rest, bool has,
                       const char *colons)
{
    struct shell_text none = { 0 };
    if (has)
        put(g, &g->options, rest);
    else if (colons[1] == ':')
        put(g, &g->options, &none);
    else if (g->i < g->words->n)
        put(g, &g->options, &g->words->v[g->i++]);
}

/* "--nodes 4", "--nodes=4" */
static bool take_long(struct getopt *g, const struct shell_text *w)
{
    int32_t equals = 2;
    while (equals < w->n && (w->v[equals].unknown || w->v[equals].c != '='))
        equals++;
    struct shell_text head = { .v = w->v, .n = equals },
                      rest = { .v = w->v + equals + 1, .n = w->n - equals - 1 };
    if (shell_unknown_of(g->m, &head))
        return false;
    const char *text = shell_string(g->m, &head, false),
               *row = find_name(g->names, text + 2, strlen(text + 2));
    if (!row)
        return false;
    const char *name = arena_strndup(g->m->arena, row, strcspn(row, ":,"));
    put_string(g, arena_printf(g->m->arena, "--%s", name), w->v[0]);
    row += strlen(name);
    if (*row == ':')
        take_value(g, &rest, equals < w->n, row);
    return true;
}

/* "-n 4", "-n4", "-vx" */
static bool take_letters(struct getopt *g, const struct shell_text *w)
{
    for (int32_t i = 1; i < w->n; i++) {
        char c = w->v[i].c;
        const char *row = w->v[i].unknown || c == ':' ? NULL : strchr(g->letters, c);
        struct shell_text rest = { .v = w->v + i + 1, .n = w->n - i - 1 };
        if (!row)
            return false;
        put_string(g, arena_printf(g->m->arena, "-%c", c), w->v[i]);
        if (row[1] != ':')
            continue;
        take_value(g, &rest, rest.n > 0, row + 1);
        return true;
    }
    return true;
}

/* False: a word is not known, or no option of the call. */
static bool sort_words(struct getopt *g)
{
    bool options = true;
    while (g->i < g->words->n && !g->m->failed) {
        const struct shell_text *w = &g->words->v[g->i++];
        bool dash = options && w->n > 1 && w->v[0].c == '-' && !w->v[0].unknown;
        if (w->n == 1 && w->v[0].unknown)
            return false;
        if (dash && shell_is(w, "--"))
            options = false;
        else if (!dash)
            put(g, &g->others, w);
        else if (w->v[1].c == '-' ? !take_long(g, w) : !take_letters(g, w))
            return false;
    }
    return true;
}

/* The call's own options; i is after its "--". False: others, that are not followed. */
static bool take_call(struct getopt *g)
{
    for (g->i = 1; g->i < g->words->n; g->i++) {
        const struct shell_text *w = &g->words->v[g->i];
        const char *s = shell_string(g->m, w, false), *equals = strchr(s, '=');
        bool letters = strncmp(s, "-o", 2) == 0 || strncmp(s, "--opt", 5) == 0,
             names = strncmp(s, "-l", 2) == 0 || strncmp(s, "--long", 6) == 0,
             label = strncmp(s, "-n", 2) == 0 || strncmp(s, "--name", 6) == 0;
        if (shell_is(w, "--")) {
            g->i++;
            return true;
        }
        if (!letters && !names && !label)
            return false;
        const char *joined = s[1] == '-' ? (equals ? equals + 1 : NULL)
                             : s[2] != 0 ? s + 2
                                         : NULL;
        if (!joined && g->i + 1 >= g->words->n)
            return false;
        joined = joined ? joined : shell_string(g->m, &g->words->v[++g->i], false);
        g->letters = letters ? joined : g->letters;
        g->names = names && *g->names
                       ? arena_printf(g->m->arena, "%s,%s", g->names, joined)
                   : names ? joined
                           : g->names;
    }
    return false;
}

/* Arguments that nobody gave: they may be any, after "--". */
static bool is_open(struct getopt *g)
{
    const struct shell_text *t = g->i < g->words->n ? &g->words->v[g->i] : NULL;
    const struct shell_unknown *u =
        t && g->i + 1 == g->words->n && t->n == 1 ? shell_unknown_of(g->m, t) : NULL;
    if (!u || !u->argument)
        return false;
    shell_note(g->m, t->v[0].line, "getopt finds no options: %s", u->why);
    shell_append(g->m, &g->others, t);
    return true;
}

bool shell_getopt(struct shell_machine *m, struct shell_texts *words,
                  struct shell_text *out)
{
    struct getopt g = { .m = m, .letters = "", .names = "", .words = words };
    bool done = take_call(&g) && (is_open(&g) || sort_words(&g)) && !m->failed;
    if (done) {
        shell_append(m, out, &g.options);
        shell_add_string(m, out, " -- ",
                         words->v[0].n ? words->v[0].v[0]
                                       : (struct shell_char) { .line = 1 });
        shell_append(m, out, &g.others);
    }
    shell_text_release(&g.options);
    shell_text_release(&g.others);
    return done;
}
