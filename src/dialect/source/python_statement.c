/* Statements of Python source. */
#include "dialect/source/python_parse.h"

#include <inttypes.h>
#include <string.h>

enum { TARGETS_MAX = 8, KEYS_MAX = 8 };

/* name, name.attribute, name["key"]["key"] before "=". */
struct target {
    const char *name;
    int n_keys;
    const char *keys[KEYS_MAX]; /* NULL: not known */
    int64_t line;
};

static bool stopped(const struct python_parser *r)
{
    return r->failed || r->limit;
}

/* Assignments ---------------------------------------------------------------------- */

static bool at_name(const struct python_parser *r)
{
    static const char *const words[] = { "True", "False",  "None",
                                         "not",  "lambda", "await" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (python_at(r, words[i]))
            return false;
    return r->t.kind == TOKEN_NAME;
}

static bool read_target(struct python_parser *r, struct target *t)
{
    *t = (struct target) { .line = r->t.line };
    if (!at_name(r))
        return false;
    t->name = python_path(r);
    while (!stopped(r) && python_at(r, "[") && t->n_keys < KEYS_MAX) {
        python_open(r);
        t->keys[t->n_keys++] = python_key(r, python_expression(r));
        python_close(r, "]");
    }
    return !stopped(r);
}

static void assign(struct python_parser *r, const struct target *t, struct value *v)
{
    if (t->n_keys == 0) {
        python_bind(r, t->name, v);
        return;
    }
    struct value *x = python_find(r, t->name);
    for (int i = 0; x && t->keys[i] && i + 1 < t->n_keys; i++) {
        const struct value_item *it = value_get(x, t->keys[i]);
        x = it ? it->value : NULL;
    }
    const char *key = t->keys[t->n_keys - 1];
    if (!x)
        return;
    if (x->kind == VALUE_DICT && key)
        python_put(r, x, key, t->line, v);
    else
        python_spoil(r, x,
                     arena_printf(r->p->arena,
                                  "an element of it is set at line %" PRId64,
                                  (int64_t)t->line));
}

/* a, b = 1, 2 */
static void assign_all(struct python_parser *r, const struct target *t, int n,
                       const struct value *v)
{
    bool fits = v->kind == VALUE_LIST && v->n == n && !v->gap;
    for (int i = 0; i < n; i++)
        assign(
            r, &t[i],
            fits ? v->items[i].value
                 : python_unknown(r, v->line, "it is unpacked from what is not known"));
}

/* The value after "="; several with commas are a tuple. */
static struct value *read_values(struct python_parser *r)
{
    struct value *v = python_expression(r);
    if (!python_at(r, ","))
        return v;
    struct value *tuple = python_new(r, VALUE_LIST, v->line);
    python_append(r, tuple, v);
    while (!stopped(r) && python_at(r, ",")) {
        python_advance(r);
        if (r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END)
            python_append(r, tuple, python_expression(r));
    }
    return tuple;
}

/* x += 1 and its like: what x is then is not followed. */
static bool augment(struct python_parser *r, const struct target *t)
{
    bool changes = r->t.kind == TOKEN_OP && r->t.n > 1 && r->t.s[r->t.n - 1] == '=' &&
                   !strchr("=!<>:", r->t.s[0]);
    if (!changes)
        return false;
    struct value *x = python_find(r, t->name);
    if (x)
        python_spoil(r, x, "it is changed in place");
    if (!t->n_keys)
        python_bind(r, t->name,
                    python_unknown(r, t->line, "it is arithmetic of \"%.*s\"",
                                   (int)r->t.n, r->t.s));
    python_advance(r);
    python_expression(r);
    return true;
}

/* Over the annotation in "name: type = value". */
static void skip_annotation(struct python_parser *r)
{
    if (!python_at(r, ":"))
        return;
    python_advance(r);
    python_expression(r);
}

/* What an assignment that cannot be read would have said is not known. */
static void assign_unread(struct python_parser *r, const struct target *t, int n)
{
    if (r->limit)
        return;
    for (int i = 0; i < n; i++)
        assign(r, &t[i], python_unknown(r, t[i].line, "its line could not be read"));
    python_note(r, t[0].line, "%.60s: what is assigned could not be read", t[0].name);
}

/* A target and "=", or false with the parser where it was. */
static bool read_chained(struct python_parser *r, struct target *t)
{
    struct python_lexer back = r->lex;
    struct python_token token = r->t;
    if (read_target(r, t) && python_at(r, "=")) {
        python_advance(r);
        return true;
    }
    back.work = r->lex.work;
    r->lex = back;
    r->t = token;
    r->failed = token.kind == TOKEN_BAD;
    return false;
}

/* Reads the targets of "a, b =" up to "=" or another operator. */
static bool read_targets(struct python_parser *r, struct target *t, int *n)
{
    *n = 0;
    do {
        if (*n)
            python_advance(r);
        if (*n == TARGETS_MAX || !read_target(r, &t[(*n)++]))
            return false;
    } while (python_at(r, ","));
    return true;
}

/* Reads an assignment, or false with the parser anywhere. */
static bool read_assignment(struct python_parser *r)
{
    struct target t[TARGETS_MAX], chained[TARGETS_MAX];
    int n, n_chained = 0;
    if (!read_targets(r, t, &n))
        return false;
    if (n == 1 && augment(r, &t[0]))
        return true;
    if (n == 1)
        skip_annotation(r);
    if (stopped(r) || !python_at(r, "="))
        return false;
    python_advance(r);
    while (n_chained < TARGETS_MAX && read_chained(r, &chained[n_chained]))
        n_chained++;
    r->target = n == 1 && !t[0].n_keys ? t[0].name : NULL;
    struct value *v = read_values(r);
    if (stopped(r)) {
        assign_unread(r, t, n);
        return true;
    }
    if (n == 1)
        assign(r, &t[0], v);
    else
        assign_all(r, t, n, v);
    for (int i = 0; i < n_chained; i++)
        assign(r, &chained[i], v);
    return true;
}

/* Other statements ----------------------------------------------------------------- */

/* from a.b import C as D, E: what D and E name, when they are called. */
static void read_imports(struct python_parser *r, const char *from)
{
    bool bracket = python_at(r, "(");
    if (bracket)
        python_open(r);
    while (!stopped(r) && r->t.kind == TOKEN_NAME) {
        int64_t line = r->t.line;
        const char *path = python_path(r), *name = path;
        if (python_at(r, "as")) {
            python_advance(r);
            name = r->t.kind == TOKEN_NAME ? python_path(r) : path;
        }
        if (from || name != path) {
            struct value *v = python_unknown(r, line, "it is imported");
            v->text = from ? arena_printf(r->p->arena, "%s.%s", from, path) : path;
            python_bind(r, name, v);
        }
        if (!python_at(r, ","))
            break;
        python_advance(r);
    }
    if (bracket)
        python_close(r, ")");
    else if (python_at(r, "*"))
        python_advance(r);
}

static void read_import(struct python_parser *r)
{
    const char *from = NULL;
    if (python_at(r, "from")) {
        python_advance(r);
        while (python_at(r, ".") || python_at(r, "..."))
            python_advance(r);
        from =
            r->t.kind == TOKEN_NAME && !python_at(r, "import") ? python_path(r) : ".";
        r->failed |= !python_at(r, "import");
    }
    python_advance(r);
    read_imports(r, from);
}

/* What a loop binds takes many values. */
static void spoil_loop_names(struct python_parser *r)
{
    bool brackets = python_at(r, "(");
    if (brackets)
        python_open(r);
    while (!stopped(r) && r->t.kind == TOKEN_NAME && !python_at(r, "in")) {
        int64_t line = r->t.line;
        python_bind(r, python_path(r), python_unknown(r, line, "a loop changes it"));
        if (python_at(r, ","))
            python_advance(r);
    }
    if (brackets)
        python_close(r, ")");
}

/* "if ...:" up to and with its colon; what follows is a statement or a new line. */
static void read_header(struct python_parser *r)
{
    bool loop = python_at(r, "for");
    bool definition = python_at(r, "def") || python_at(r, "class");
    python_advance(r);
    if (definition) /* its name is no call */
        python_advance(r);
    if (loop)
        spoil_loop_names(r);
    while (!stopped(r) && !python_at(r, ":")) {
        if (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END)
            r->failed = true;
        else if (python_at(r, ",") || python_at(r, "="))
            python_advance(r);
        else
            python_expression(r);
    }
    if (!stopped(r))
        python_advance(r);
}

static bool at_listed(const struct python_parser *r, const char *const *words)
{
    for (; *words; words++)
        if (python_at(r, *words))
            return true;
    return false;
}

/* One simple statement, after its headers. */
static void read_simple(struct python_parser *r)
{
    static const char *const keywords[] = { "return", "raise",    "assert", "del",
                                            "global", "nonlocal", "yield",  NULL };
    static const char *const alone[] = { "pass", "break", "continue", "return", NULL };
    struct python_lexer back = r->lex;
    struct python_token token = r->t;
    r->target = NULL;
    if (python_at(r, "import") || python_at(r, "from")) {
        read_import(r);
        return;
    }
    bool keyword = at_listed(r, keywords), may_end = at_listed(r, alone);
    if (keyword || may_end)
        python_advance(r);
    if (may_end && (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END))
        return;
    if (!keyword && read_assignment(r))
        return;
    if (!keyword) {
        back.work = r->lex.work;
        r->lex = back;
        r->t = token;
        r->failed = token.kind == TOKEN_BAD;
    }
    if (!stopped(r))
        read_values(r);
}

void python_statement(struct python_parser *r)
{
    static const char *const headers[] = { "if",    "elif", "else",   "for",
                                           "while", "try",  "except", "finally",
                                           "with",  "def",  "class",  "async",
                                           NULL };
    while (!stopped(r) && at_listed(r, headers))
        read_header(r);
    if (python_at(r, "@")) /* a decorator */
        python_advance(r);
    while (!stopped(r) && r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END) {
        read_simple(r);
        if (!python_at(r, ";"))
            break;
        python_advance(r);
    }
    r->failed |= r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END;
}
