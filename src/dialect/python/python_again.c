/* Text of Python source that is valued again: items of comprehensions, and what is
 * in the braces of formatted strings. */
#include "dialect/python/python_parse.h"

#include <string.h>

enum { TARGETS_MAX = 8, FORMATTED_MAX = 4 };

/* Targets of loops ----------------------------------------------------------------- */

/* What is in brackets among targets. */
struct target {
    const char *name; /* NULL: several, which begin at `place` */
    struct python_place place;
};

static void bind_several(struct python_parser *r, const struct target *t, int n,
                         const struct value *v)
{
    bool fits = v->kind == VALUE_LIST && v->n == n && !v->gap;
    for (int i = 0; i < n && !r->limit; i++) {
        struct value *one =
            fits ? v->items[i].value
                 : python_unknown(r, v->line, "%s",
                                  v->why ? v->why
                                         : "it is unpacked from what is not "
                                           "known");
        if (t[i].name) {
            python_bind(r, t[i].name, one);
        } else {
            struct python_place here = python_here(r);
            python_go(r, &t[i].place);
            python_bind_targets(r, one);
            python_go(r, &here);
        }
    }
}

static void read_target(struct python_parser *r, struct target *t)
{
    *t = (struct target) { .name = NULL };
    if (python_at(r, "(") || python_at(r, "[")) {
        struct python_place before = python_here(r);
        python_open(r);
        t->place = python_here(r);
        python_go(r, &before);
        python_skip_brackets(r);
    } else if (r->t.kind == TOKEN_NAME && !python_at(r, "in")) {
        t->name = python_path(r);
    } else {
        r->failed = true;
    }
}

void python_bind_targets(struct python_parser *r, struct value *v)
{
    struct target t[TARGETS_MAX];
    int n = 0;
    bool comma = false;
    r->failed |= r->in.nested > 2 * PYTHON_DEPTH_MAX;
    while (!python_stopped(r)) {
        if (python_at(r, "*"))
            python_advance(r);
        if (n == TARGETS_MAX)
            r->failed = true;
        else
            read_target(r, &t[n++]);
        if (!python_at(r, ","))
            break;
        comma = true;
        python_advance(r);
        if (python_at(r, "in") || python_at(r, ")") || python_at(r, "="))
            break;
    }
    if (python_stopped(r))
        return;
    r->in.nested++;
    if (n == 1 && !comma && t[0].name)
        python_bind(r, t[0].name, v);
    else if (n == 1 && !comma) { /* (a, b) */
        struct python_place here = python_here(r);
        python_go(r, &t[0].place);
        python_bind_targets(r, v);
        python_go(r, &here);
    } else {
        bind_several(r, t, n, v);
    }
    r->in.nested--;
}

/* Comprehensions ------------------------------------------------------------------- */

struct comprehension {
    struct python_place item;
    bool pairs;
    struct value *made;
    const char *why; /* it is not known; NULL: it is */
};

static void add_item(struct python_parser *r, struct comprehension *c)
{
    python_go(r, &c->item);
    struct value *v = python_expression(r), *key = v;
    if (c->pairs) {
        r->failed |= !python_at(r, ":");
        if (!python_stopped(r)) {
            python_advance(r);
            v = python_expression(r);
        }
        const char *name = python_key(r, key);
        if (name && !python_stopped(r))
            python_put(r, c->made, name, key->line, v);
        else
            c->why = key->why ? key->why : "a key of it is no literal";
    } else if (!python_stopped(r)) {
        python_append(r, c->made, v);
    }
}

static void run_clauses(struct python_parser *r, struct comprehension *c);

/* Conditions after a clause, then the next clause or the item. */
static void run_rest(struct python_parser *r, struct comprehension *c)
{
    while (python_at(r, "if") && !python_stopped(r)) {
        python_advance(r);
        const struct value *condition = python_choice(r);
        int truth = python_truth(condition);
        if (truth < 0)
            c->why = condition->why ? condition->why : "a condition of it is not known";
        if (truth != 1)
            return;
    }
    if (python_at(r, "for"))
        run_clauses(r, c);
    else
        add_item(r, c);
}

/* "for" targets "in" values: the rest for each. */
static void run_clauses(struct python_parser *r, struct comprehension *c)
{
    python_advance(r);
    struct python_place targets = python_here(r);
    python_bind_targets(r, python_unknown(r, r->t.line, "a loop changes it"));
    r->failed |= !python_at(r, "in");
    if (python_stopped(r))
        return;
    python_advance(r);
    const struct value *over = python_choice(r);
    struct python_place rest = python_here(r);
    const struct value *list =
        over->kind == VALUE_UNKNOWN ? NULL : python_items(r, over);
    if (!list)
        c->why = over->why ? over->why : "it is a comprehension";
    for (int32_t i = 0; list && i < list->n && !c->why && !python_stopped(r); i++) {
        if (!python_may_repeat(r)) {
            c->why = "it is a comprehension that is too long";
            return;
        }
        python_go(r, &targets);
        python_bind_targets(r, list->items[i].value);
        python_go(r, &rest);
        run_rest(r, c);
    }
}

/* Over the clauses, to the closing bracket. */
static void skip_clauses(struct python_parser *r)
{
    static const char *const ends[] = { ")", "]", "}", NULL };
    static const char *const opens[] = { "(", "[", "{", NULL };
    while (!python_stopped(r) && !python_at_any(r, ends)) {
        if (r->t.kind == TOKEN_END || r->t.kind == TOKEN_NEWLINE)
            r->failed = true;
        else if (python_at_any(r, opens))
            python_skip_brackets(r);
        else
            python_advance(r);
    }
}

struct value *python_comprehension(struct python_parser *r,
                                   const struct python_place *item, bool pairs,
                                   int64_t line)
{
    struct comprehension c = {
        .item = *item,
        .pairs = pairs,
        .made = python_new(r, pairs ? VALUE_DICT : VALUE_LIST, line),
    };
    struct python_place clauses = python_here(r);
    skip_clauses(r);
    struct python_place end = python_here(r);
    if (python_stopped(r) || python_at(r, "async"))
        return python_unknown(r, line, "it is a comprehension");
    int64_t scope = r->in.scope, names = r->p->names.n;
    r->in.scope = names;
    python_go(r, &clauses);
    python_unbuild(r, item);
    if (python_at(r, "for"))
        run_clauses(r, &c);
    else
        c.why = "it is a comprehension";
    bool read = !r->failed;
    r->failed = false;
    python_leave_scope(r, names);
    r->in.scope = scope;
    python_go(r, &end);
    return c.why || !read
               ? python_unknown(r, line, "%s", c.why ? c.why : "it is a comprehension")
               : c.made;
}

/* Formatted strings ---------------------------------------------------------------- */

struct value *python_evaluate(struct python_parser *r, const char *text, int64_t line)
{
    struct python_place here = python_here(r);
    bool failed = r->failed;
    r->lex = (struct python_lexer) { .s = text,
                                     .n = strlen(text),
                                     .line = line,
                                     .brackets = here.lex.brackets + 1,
                                     .work = here.lex.work,
                                     .arena = here.lex.arena };
    python_advance(r);
    struct value *v = python_expression(r);
    bool whole = !r->failed && r->t.kind == TOKEN_END;
    python_go(r, &here);
    r->failed = failed;
    return whole ? v : python_unknown(r, line, "it is text that could not be read");
}

/* exec("steps = 4"): what the text says is read as if it stood there. */
struct value *python_execute(struct python_parser *r, const struct value *v,
                             int64_t line)
{
    enum { DEEP_MAX = 3 };
    bool known = v && v->kind == VALUE_STRING && r->executed < DEEP_MAX;
    if (!known)
        return python_new(r, VALUE_NONE, line);
    struct python_place here = python_here(r);
    struct python_context outer = r->in;
    bool failed = r->failed;
    r->lex = (struct python_lexer) { .s = v->text,
                                     .n = strlen(v->text),
                                     .line = line,
                                     .still = line,
                                     .work = here.lex.work,
                                     .arena = here.lex.arena };
    r->t = (struct python_token) { .kind = TOKEN_NEWLINE, .line = line };
    r->executed++;
    r->read_suite(r, -1);
    r->executed--;
    here.built = r->built.n;
    python_go(r, &here);
    outer.stop = r->in.stop;
    r->in = outer;
    r->failed = failed;
    return python_new(r, VALUE_NONE, line);
}

/* How long the expression in braces is: up to ":", "!" or "}" outside brackets and
 * quotes. */
static size_t expression_length(const char *s)
{
    int depth = 0;
    char quote = '\0';
    for (size_t i = 0; s[i]; i++) {
        char c = s[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (!depth && (c == '}' || c == ':' || (c == '!' && s[i + 1] != '=')))
            return i;
        else
            depth += strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
    }
    return strlen(s);
}

/* {expression!r:spec} at s, after the brace; returns its length with the closing
 * brace, 0 when it is none. */
static size_t add_field(struct python_parser *r, struct strbuf *b, const char *s,
                        int64_t line, const char **why)
{
    size_t n = expression_length(s), m = n;
    struct arena *arena = r->p->arena;
    const char *spec = "";
    if (!s[n] || n == 0)
        return 0;
    if (s[m] == '!')
        m += 2;
    if (s[m - (m > n)] && s[m] == ':') {
        size_t k = strcspn(s + m + 1, "}");
        spec = arena_strndup(arena, s + m + 1, k);
        m += 1 + k;
    }
    if (strlen(s) <= m || s[m] != '}')
        return 0;
    bool names = s[n - 1] == '='; /* f"{x=}" */
    struct value *v =
        python_evaluate(r, arena_strndup(arena, s, names ? n - 1 : n), line);
    const char *text = strchr(spec, '{') || (s[n] == '!' && s[n + 1] == 'r')
                           ? NULL
                           : python_by_spec(r, v, spec);
    if (names)
        strbuf_add(b, s, n);
    if (text)
        strbuf_addstr(b, text);
    else /* as it is written */
        strbuf_printf(b, "{%.*s", (int)m + 1, s);
    if (!text && !*why)
        *why = v->why ? v->why : "it is a string made by running";
    return m + 1;
}

struct value *python_formatted(struct python_parser *r, const char *text, int64_t line)
{
    struct strbuf b;
    const char *why = r->in.nested > 2 * PYTHON_DEPTH_MAX - FORMATTED_MAX
                          ? "it is a string made by running"
                          : NULL;
    strbuf_init(&b);
    r->in.nested++;
    for (const char *s = why ? "" : text; *s && b.len < PYTHON_STRING_MAX; s++) {
        if ((*s == '{' || *s == '}') && s[1] == *s) {
            strbuf_addch(&b, *s++);
        } else if (*s == '{') {
            size_t n = add_field(r, &b, s + 1, line, &why);
            if (!n) {
                why = "it is a string made by running";
                break;
            }
            s += n;
        } else {
            strbuf_addch(&b, *s);
        }
    }
    r->in.nested--;
    if (!why && b.len >= PYTHON_STRING_MAX)
        why = "it is too long a string";
    struct value *v =
        why ? python_unknown(r, line, "%s", why)
            : python_text(r, line, arena_strndup(r->p->arena, strbuf_get(&b), b.len));
    if (why) /* known in part */
        v->text = b.len ? arena_strndup(r->p->arena, strbuf_get(&b), b.len) : text;
    strbuf_release(&b);
    return v;
}
