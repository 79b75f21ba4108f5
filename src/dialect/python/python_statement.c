/* Statements of Python source. */
#include "base/names.h"
#include "dialect/python/python_target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TARGETS_MAX = 8 };

/* Assignments ---------------------------------------------------------------------- */

/* The innermost object on the way to an attribute, and the rest of the way from it; NULL:
 * the name is bound to none. */
static struct value *object_of(struct python_parser *r, const char *path,
                               const char **rest)
{
    size_t n = strcspn(path, ".");
    struct value *x =
        path[n] ? python_find(r, arena_strndup(r->p->arena, path, n)) : NULL;
    if (!x || x->kind != VALUE_DICT || !x->text || python_find(r, path))
        return NULL;
    *rest = path + n + 1;
    for (n = strcspn(*rest, "."); (*rest)[n]; n = strcspn(*rest, ".")) {
        const struct value_item *it =
            value_get(x, arena_strndup(r->p->arena, *rest, n));
        if (!it || it->value->kind != VALUE_DICT)
            break;
        x = it->value;
        *rest += n + 1;
    }
    return x;
}

/* The element of a dictionary or list by its key; NULL: it has none. */
static struct value *inner_of(const struct value *x, const char *key)
{
    char *end;
    long i = strtol(key, &end, 10);
    const struct value_item *it = value_get(x, key);
    if (x->kind == VALUE_LIST && *key && !*end && i >= 0 && i < x->n && !x->gap)
        return x->items[i].value;
    return it ? it->value : NULL;
}

/* args.max_steps = 10, of args = TrainingArguments(...); trainer.args.max_steps = 10, of
 * trainer = Trainer(args=args). */
static void set_of_call(struct python_parser *r, const struct python_target *t,
                        struct value *v)
{
    const char *dot = strchr(t->name, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;
    const struct value *x = dot ? python_find(r, arena_strndup(r->p->arena, t->name,
                                                               (size_t)(dot - t->name)))
                                : NULL;
    if (second && x)
        x = python_given_to(
            r, x, arena_strndup(r->p->arena, dot + 1, (size_t)(second - dot) - 1));
    dot = second ? second : dot;
    if (x && !strchr(dot + 1, '.'))
        python_set_attribute(r, x, dot + 1, t->line, v);
}

static void assign(struct python_parser *r, const struct python_target *t,
                   struct value *v)
{
    const char *member;
    python_record_attribute(r, t, v);
    if (python_assign_beyond(r, t, v))
        return;
    struct value *x = t->n_keys == 0 ? object_of(r, t->name, &member) : NULL;
    x = x ? x : python_holder(r, t->name, &member);
    if (x && member && t->n_keys == 0) {
        python_put(r, x, member, t->line, v);
        python_set_attribute(r, x, member, t->line, v);
        return;
    }
    if (t->n_keys == 0) {
        set_of_call(r, t, v);
        python_bind(r, t->name, v);
        return;
    }
    if (x && member)
        x = value_get(x, member) ? value_get(x, member)->value : NULL;
    for (int i = 0; x && t->keys[i] && i + 1 < t->n_keys; i++)
        x = inner_of(x, t->keys[i]);
    const char *key = t->keys[t->n_keys - 1];
    char *end;
    long i = key && x && x->kind == VALUE_LIST ? strtol(key, &end, 10) : -1;
    if (!x)
        return;
    if (x->kind == VALUE_DICT && !key && python_put_either(r, x, t->either, v)) {
        return;
    } else if (x->kind == VALUE_DICT && key) {
        python_put(r, x, key, t->line, v);
    } else if (i >= 0 && i < x->n && !x->gap) {
        python_will_change(r, x);
        x->items[i].value = v;
    } else
        python_spoil(r, x,
                     arena_printf(r->p->arena,
                                  "an element of it is set at line %" PRId64,
                                  (int64_t)t->line));
}

/* The items that "*name" takes: so many, from that one. */
static struct value *rest_of(struct python_parser *r, const struct value *v, int from,
                             int n)
{
    struct value *rest = python_new(r, VALUE_LIST, v->line);
    for (int i = from; i < from + n && !r->limit; i++)
        python_append(r, rest, v->items[i].value);
    return rest;
}

/* a, b = 1, 2; a, *b = 1, 2, 3 */
static void assign_all(struct python_parser *r, const struct python_target *t, int n,
                       const struct value *v)
{
    int starred = -1, at = 0;
    for (int i = 0; i < n; i++)
        starred = t[i].starred ? i : starred;
    int more = v->kind == VALUE_LIST ? v->n - (n - 1) : 0; /* of the starred */
    bool fits =
        v->kind == VALUE_LIST && !v->gap && (starred < 0 ? v->n == n : more >= 0);
    for (int i = 0; i < n; i++) {
        struct value *part =
            !fits          ? python_unknown(r, v->line, "%s",
                                   v->why ? v->why
                                                   : "it is unpacked from what is not known")
            : i == starred ? rest_of(r, v, at, more)
                           : v->items[at].value;
        at += i == starred ? more : 1;
        assign(r, &t[i], part);
    }
}

/* The value after "="; several with commas are a tuple. */
static struct value *read_values(struct python_parser *r)
{
    struct value *v = python_expression(r);
    if (!python_at(r, ","))
        return v;
    struct value *tuple = python_new(r, VALUE_LIST, v->line);
    python_append(r, tuple, v);
    while (!python_stopped(r) && python_at(r, ",")) {
        python_advance(r);
        if (r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END)
            python_append(r, tuple, python_expression(r));
    }
    return tuple;
}

/* x += 1 and its like; a list is changed in place. */
static bool augment(struct python_parser *r, const struct python_target *t)
{
    bool changes = r->t.kind == TOKEN_OP && r->t.n > 1 && r->t.s[r->t.n - 1] == '=' &&
                   !strchr("=!<>:", r->t.s[0]);
    changes |= python_at(r, "<<=") || python_at(r, ">>=");
    if (!changes)
        return false;
    const char *op = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n - 1);
    struct value *x = python_target_value(r, t);
    python_advance(r);
    struct value *v = python_expression(r);
    if (python_stopped(r))
        return true;
    if (r->unsure_loops) /* how often is not known */
        v = python_unknown(r, t->line, "a loop changes it");
    if (x && x->kind == VALUE_LIST && strcmp(op, "+") == 0)
        python_extend(r, x, v);
    else if (x && x->kind == VALUE_DICT && strcmp(op, "|") == 0)
        python_merge(r, x, v);
    else
        assign(r, t,
               x ? python_calculate(r, op, x, v)
                 : python_unknown(r, t->line, "it is arithmetic of \"%s=\"", op));
    return true;
}

/* Over the annotation in "name: type = value"; whether no value follows it. */
static bool is_annotated_alone(struct python_parser *r)
{
    if (!python_at(r, ":"))
        return false;
    python_advance(r);
    python_expression(r);
    return !python_stopped(r) &&
           (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END || python_at(r, ";"));
}

/* What an assignment that cannot be read would have said is not known. */
static void assign_unread(struct python_parser *r, const struct python_target *t, int n)
{
    if (r->limit)
        return;
    for (int i = 0; i < n; i++)
        assign(r, &t[i], python_unknown(r, t[i].line, "its line could not be read"));
    python_note(r, t[0].line, "%.60s: what is assigned could not be read", t[0].name);
}

/* A target and "=", or false with the parser where it was. */
static bool read_chained(struct python_parser *r, struct python_target *t)
{
    struct python_place before = python_here(r);
    if (python_read_target(r, t) && python_at(r, "=")) {
        python_advance(r);
        return true;
    }
    r->failed = false;
    python_go(r, &before);
    return false;
}

/* Reads the targets of "a, b =", "(a, b) =" and "(a,) =" up to "=" or another operator;
 * `tuple`: that a comma makes them one. */
static bool read_targets(struct python_parser *r, struct python_target *t, int *n,
                         bool *tuple)
{
    const char *close = python_at(r, "(") ? ")" : python_at(r, "[") ? "]" : NULL;
    if (close)
        python_open(r);
    *n = 0;
    *tuple = false;
    do {
        *tuple |= *n > 0;
        if (*n)
            python_advance(r);
        if (*n && python_at(r, close ? close : "="))
            break;
        if (*n == TARGETS_MAX || !python_read_target(r, &t[(*n)++]))
            return false;
    } while (python_at(r, ","));
    if (close && !python_at(r, close))
        return false;
    if (close)
        python_close(r, close);
    return true;
}

/* Reads an assignment, or false with the parser anywhere. */
static bool read_assignment(struct python_parser *r)
{
    struct python_target t[TARGETS_MAX], chained[TARGETS_MAX];
    int n, n_chained = 0;
    bool tuple;
    if (!read_targets(r, t, &n, &tuple))
        return false;
    if (!tuple && augment(r, &t[0]))
        return true;
    if (!tuple && is_annotated_alone(r))
        return true;
    if (python_stopped(r) || !python_at(r, "="))
        return false;
    python_advance(r);
    while (n_chained < TARGETS_MAX && read_chained(r, &chained[n_chained]))
        n_chained++;
    r->in.target = !tuple && !t[0].n_keys ? t[0].name : NULL;
    struct value *v = read_values(r);
    if (python_stopped(r)) {
        assign_unread(r, t, n);
        return true;
    }
    if (!tuple)
        assign(r, &t[0], v);
    else
        assign_all(r, t, n, v);
    for (int i = 0; i < n_chained; i++)
        assign(r, &chained[i], v);
    return true;
}

/* Other statements ----------------------------------------------------------------- */

/* x["key"] or x[0] of del, after "del" or a comma */
static void delete_one(struct python_parser *r)
{
    struct python_target t;
    struct python_place before = python_here(r);
    python_advance(r);
    bool whole = python_read_target(r, &t);
    if (!whole && !t.n_keys)
        return;
    if (whole && t.beyond) { /* del x[0].y */
        struct value *gone = python_unknown(r, t.line, "it is deleted");
        python_record_attribute(r, &t, gone);
        python_assign_beyond(r, &t, gone);
        return;
    }
    const char *key = t.n_keys ? t.keys[t.n_keys - 1] : NULL;
    struct python_target around = t;
    around.n_keys -= t.n_keys > 0;
    struct value *x = whole && t.n_keys ? python_target_value(r, &around) : NULL;
    if (!x && t.n_keys == 1)
        python_record_attribute(
            r, &around, python_unknown(r, t.line, "an element of it is deleted"));
    if (!whole) { /* del x[2:] */
        r->failed = false;
        python_go(r, &before);
        python_skip_statement(r);
        return;
    }
    for (int32_t i = 0; x && x->kind == VALUE_DICT && key && i < x->n; i++)
        if (strcmp(x->items[i].key, key) == 0) {
            python_remove(r, x, i);
            return;
        }
    if (x && !(x->kind == VALUE_DICT && key))
        python_spoil(r, x, "an element of it is deleted");
}

/* del x["key"], y[0] */
static void delete (struct python_parser *r)
{
    do
        delete_one(r);
    while (python_at(r, ",") && !python_stopped(r));
}

/* return, raise, break, continue, sys.exit(): what follows in the block is not
 * reached. */
static void leave(struct python_parser *r)
{
    static const struct {
        const char *word;
        enum python_stop stop;
    } words[] = { { "return", PYTHON_RETURN },
                  { "raise", PYTHON_RAISE },
                  { "break", PYTHON_BREAK },
                  { "continue", PYTHON_CONTINUE } };
    enum python_stop stop = PYTHON_GOES_ON;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (python_at(r, words[i].word))
            stop = words[i].stop;
    int64_t line = r->t.line;
    python_advance(r);
    bool ends =
        r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END || python_at(r, ";");
    struct value *v = ends ? python_new(r, VALUE_NONE, line) : read_values(r);
    if (python_at(r, "from")) { /* raise X from e */
        python_advance(r);
        python_expression(r);
    }
    if (python_stopped(r))
        return;
    if (stop == PYTHON_RETURN)
        python_return(r, v);
    /* a script that raises on purpose would not be given: something catches it */
    bool raises = stop == PYTHON_RAISE;
    r->may_raise |= raises && r->in.tries && r->maybe >= r->in.tries;
    r->in.stop = raises && !r->maybe && !r->in.tries ? PYTHON_GOES_ON : stop;
}

/* What does not hold by what is read ends the program there: it is said, since what
 * follows is read nevertheless. */
static void read_assert(struct python_parser *r)
{
    int64_t line = r->t.line;
    python_advance(r);
    const struct value *v = python_expression(r);
    if (python_at(r, ","))
        python_skip_statement(r);
    if (python_stopped(r) || r->maybe || r->rest || python_truth(v) != 0)
        return;
    r->p->ended = r->p->ended ? r->p->ended : line;
    python_note(r, line,
                "the assertion does not hold by what is read: the program ends "
                "there, and what follows is read as if it did not");
}

/* global a, b; nonlocal a: assignments that follow in the function are of the names
 * outside. */
static void read_outer(struct python_parser *r)
{
    bool global = python_at(r, "global");
    do {
        python_advance(r);
        if (r->t.kind != TOKEN_NAME || python_stopped(r))
            break;
        struct python_outer *o = ARENA_NEW(r->p->arena, struct python_outer);
        *o = (struct python_outer) { .name = python_path(r), .global = global };
        if (!r->in.frame)
            continue;
        o->next = r->in.frame->outer;
        r->in.frame->outer = o;
    } while (python_at(r, ","));
}

/* One name of those: it is not known, or what is in it where an element is meant; what it
 * leads to stays, as in a.b[0].c = d. */
static void void_target(struct python_parser *r, int64_t line)
{
    const char *name = python_path(r);
    struct value *x = python_find(r, name);
    bool element = python_at(r, "["), whole = true;
    while (!python_stopped(r) && (python_at_bracket(r, "([") || python_at(r, "."))) {
        whole = false;
        element &= !python_at(r, ".");
        if (python_at(r, "."))
            python_advance(r);
        else
            python_skip_brackets(r);
        if (r->t.kind == TOKEN_NAME && !element)
            python_advance(r);
    }
    if (whole)
        python_bind(r, name,
                    python_unknown(r, line, "it is unpacked at line %" PRId64, line));
    else if (element && x)
        python_spoil(r, x,
                     arena_printf(r->p->arena,
                                  "an element of it is set at line %" PRId64, line));
}

/* An assignment to what cannot be read, as in a, (b, c) = d: the names are not known any
 * more, what is assigned is read; `before`: its beginning. */
static void void_targets(struct python_parser *r, const struct python_place *before)
{
    int64_t line = before->t.line;
    python_go(r, before);
    while (!python_stopped(r) && !python_at(r, "=")) {
        bool opens = python_at_bracket(r, "([{"), closes = python_at_bracket(r, ")]}");
        if (python_at_name(r))
            void_target(r, line);
        else if (opens)
            python_open(r);
        else if (closes)
            python_close(r, arena_strndup(r->p->arena, r->t.s, 1));
        else
            python_advance(r);
    }
    while (!python_stopped(r) && python_at(r, "=")) {
        python_advance(r);
        read_values(r);
    }
}

/* One simple statement. */
static void read_simple(struct python_parser *r)
{
    static const char *const leaving[] = { "return", "raise", "break", "continue",
                                           NULL };
    static const char *const keywords[] = { "yield", NULL };
    static const char *const outer[] = { "global", "nonlocal", NULL };
    struct python_place before = python_here(r);
    r->in.target = NULL;
    if (python_at(r, "import") || python_at(r, "from")) {
        python_read_import(r);
        return;
    }
    if (python_at(r, "del")) {
        delete (r);
        return;
    }
    if (python_at_any(r, leaving)) {
        leave(r);
        return;
    }
    if (python_at_any(r, outer)) {
        read_outer(r);
        return;
    }
    if (python_at(r, "assert")) {
        read_assert(r);
        return;
    }
    bool keyword = python_at_any(r, keywords), pass = python_at(r, "pass");
    if (keyword || pass)
        python_advance(r);
    bool bare = keyword && (r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END ||
                            python_at(r, ";"));
    if (pass || bare)
        return;
    if (!keyword && read_assignment(r))
        return;
    if (!keyword) {
        r->failed = false;
        python_go(r, &before);
    }
    if (!python_stopped(r))
        read_values(r);
    if (!keyword && !python_stopped(r) && python_at(r, "="))
        void_targets(r, &before);
}

void python_simple(struct python_parser *r)
{
    if (python_at(r, "@")) { /* a decorator */
        python_advance(r);
        python_note_decorator(r);
    }
    while (!python_stopped(r) && r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END) {
        if (r->in.stop) {
            python_skip_statement(r);
            break;
        }
        read_simple(r);
        if (!python_at(r, ";"))
            break;
        python_advance(r);
    }
    r->failed |= r->t.kind != TOKEN_NEWLINE && r->t.kind != TOKEN_END;
}
