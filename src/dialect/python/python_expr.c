/* Expressions of Python source: operators between terms. What is not understood is read
 * over to its end, and gives a value that is not known. */
#include "dialect/python/python_parse.h"

#include <string.h>

static const char literal_mend[] = "it is no literal";

static struct value *read_unary(struct python_parser *r);

static struct value *read_power(struct python_parser *r)
{
    struct value *v = python_term(r);
    if (!python_at(r, "**") || python_stopped(r))
        return v;
    python_advance(r);
    return python_calculate(r, "**", v, read_unary(r));
}

/* Signs, so many as brackets may be. */
static struct value *read_unary(struct python_parser *r)
{
    bool negative = python_at(r, "-");
    int64_t line = r->t.line;
    if (!negative && !python_at(r, "+") && !python_at(r, "~"))
        return read_power(r);
    bool inverts = python_at(r, "~");
    r->failed |= r->in.nested++ > 2 * PYTHON_DEPTH_MAX;
    python_advance(r);
    struct value *v =
        python_stopped(r) ? python_unknown(r, line, "%s", literal_mend) : read_unary(r);
    r->in.nested--;
    if (inverts)
        return python_unknown(r, line, "it is arithmetic with \"~\"");
    return negative ? python_calculate(r, "-", python_int(r, line, 0), v) : v;
}

/* Binary operators of numbers, those that bind loosest first. */
static struct value *read_binary(struct python_parser *r, int level)
{
    static const char *const operators[][6] = {
        { "|", NULL },        { "^", NULL },      { "&", NULL },
        { "<<", ">>", NULL }, { "+", "-", NULL }, { "*", "/", "//", "%", "@", NULL },
    };
    enum { LEVELS = sizeof(operators) / sizeof(operators[0]) };
    if (level == LEVELS)
        return read_unary(r);
    struct value *v = read_binary(r, level + 1);
    while (!python_stopped(r) && r->t.kind == TOKEN_OP &&
           python_at_any(r, operators[level])) {
        const char *op = arena_strndup(r->p->arena, r->t.s, (size_t)r->t.n);
        python_advance(r);
        v = python_calculate(r, op, v, read_binary(r, level + 1));
    }
    return v;
}

/* The operator of comparison at the token, stepped over; NULL: there is none. */
static const char *comparison(struct python_parser *r)
{
    static const char *const operators[] = { "==", "!=", "<=", ">=", "<",
                                             ">",  "in", "is", "not" };
    const char *op = NULL;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]) && !op; i++)
        if (python_at(r, operators[i]))
            op = operators[i];
    if (!op)
        return NULL;
    python_advance(r);
    if (strcmp(op, "not") == 0) { /* x not in y */
        r->failed |= !python_at(r, "in");
        python_advance(r);
        return "not in";
    }
    if (strcmp(op, "is") == 0 && python_at(r, "not")) {
        python_advance(r);
        return "is not";
    }
    return op;
}

/* a < b < c is a < b and b < c. */
static struct value *read_comparison(struct python_parser *r)
{
    struct value *left = read_binary(r, 0), *all = NULL;
    const char *op;
    while (!python_stopped(r) && (op = comparison(r)) != NULL && !python_stopped(r)) {
        struct value *right = read_binary(r, 0),
                     *one = python_compare(r, op, left, right);
        all = !all || python_truth(all) == 1 ? one : all;
        left = right;
    }
    return all ? all : left;
}

static struct value *read_not(struct python_parser *r)
{
    int64_t line = r->t.line;
    int n = 0;
    for (; python_at(r, "not") && !python_stopped(r); n++)
        python_advance(r);
    struct value *v = read_comparison(r);
    int truth = n ? python_truth(v) : -1;
    if (n == 0)
        return v;
    return truth < 0 ? python_unknown(r, line, "%s", v->why ? v->why : "it is a choice")
                     : python_bool(r, line, n % 2 ? !truth : truth);
}

/* and, or: the value that decides; one that is not known hides those after it, unless
 * the end is the same. */
/* Calls that an operand made, from the `from`-th up to the `to`-th: 0, it is not evaluated,
 * and has none; -1, that is not known. */
static void settle_calls(struct python_parser *r, int64_t from, int64_t to,
                         int evaluated, const char *condition)
{
    int64_t n = r->p->calls.n;
    to = to < n ? to : n;
    for (int64_t i = from; i < to && evaluated < 0; i++) {
        struct python_call *c = &r->p->calls.v[i];
        c->condition = c->unsure ? c->condition : condition;
        c->unsure = true;
    }
    if (evaluated != 0 || from >= to)
        return;
    memmove(&r->p->calls.v[from], &r->p->calls.v[to],
            (size_t)(n - to) * sizeof(r->p->calls.v[0]));
    r->p->calls.n -= to - from;
}

static struct value *read_logic(struct python_parser *r, bool both)
{
    const char *start = r->t.s;
    struct value *v = both ? read_not(r) : read_logic(r, true);
    while (!python_stopped(r) && python_at(r, both ? "and" : "or")) {
        const char *written = python_written(r, start);
        python_advance(r);
        int64_t from = r->p->calls.n;
        struct value *next = both ? read_not(r) : read_logic(r, true);
        int truth = python_truth(v), after = python_truth(next);
        settle_calls(r, from, r->p->calls.n, truth < 0 ? -1 : truth == both, written);
        if (truth == both)
            v = next;
        else if (truth < 0 && after == !both && next->kind == VALUE_BOOL)
            v = next; /* x and False, x or True */
    }
    return v;
}

struct value *python_choice(struct python_parser *r)
{
    return read_logic(r, false);
}

/* How long a name is without a version at its end: Backend.flash of Backend.flash_3. */
static size_t unversioned(const char *name)
{
    size_t n = strlen(name), k = n;
    while (k > 0 && name[k - 1] >= '0' && name[k - 1] <= '9')
        k--;
    return k > 1 && k < n && name[k - 1] == '_' ? k - 1 : n;
}

bool python_put_either(struct python_parser *r, struct value *dict,
                       const struct value *key, struct value *v)
{
    bool either = key->kind == VALUE_UNKNOWN && key->integer == PYTHON_EITHER;
    for (int32_t i = 0; either && i < key->n; i++)
        python_put(r, dict, key->items[i].value->text, key->line, v);
    return either;
}

/* One of two values, of which it is not known which. Of two attributes that differ in a
 * version alone the name is known. */
static struct value *either(struct python_parser *r, const struct value *condition,
                            const struct value *a, const struct value *b)
{
    struct value *v =
        python_unknown(r, a->line, "it is a choice: %s",
                       condition->why ? condition->why : "its condition is not known");
    bool named =
        a->kind == VALUE_UNKNOWN && b->kind == VALUE_UNKNOWN && a->text && b->text;
    size_t n = named ? unversioned(a->text) : 0;
    if (named && n == unversioned(b->text) && strncmp(a->text, b->text, n) == 0)
        v->text = arena_strndup(r->p->arena, a->text, n);
    python_keep_either(r, v, a, b);
    return v;
}

/* A if B else C */
static struct value *read_ternary(struct python_parser *r)
{
    int64_t first = r->p->calls.n;
    struct value *v = python_choice(r);
    if (!python_at(r, "if") || python_stopped(r))
        return v;
    python_advance(r);
    int64_t asked = r->p->calls.n;
    const char *from = r->t.s;
    const struct value *condition = python_choice(r);
    if (!python_at(r, "else")) {
        r->failed = true;
        return v;
    }
    const char *written = python_written(r, from);
    python_advance(r);
    r->failed |= r->in.nested++ > 2 * PYTHON_DEPTH_MAX;
    int64_t second = r->p->calls.n;
    struct value *other = python_stopped(r) ? v : read_ternary(r);
    r->in.nested--;
    int truth = python_truth(condition);
    settle_calls(r, second, r->p->calls.n, truth < 0 ? -1 : !truth, written);
    settle_calls(r, first, asked, truth, written);
    if (truth >= 0 || python_same(v, other))
        return truth != 0 ? v : other;
    return either(r, condition, v, other);
}

struct value *python_expression(struct python_parser *r)
{
    static const char *const words[] = { "for", "async", "as", "if", "else", NULL };
    int64_t line = r->t.line;
    if (r->in.nested >= 2 * PYTHON_DEPTH_MAX || python_ends_value(r))
        r->failed = true;
    if (r->failed || r->limit)
        return python_unknown(r, line, "%s", literal_mend);
    r->in.nested++;
    struct value *v = read_ternary(r);
    if (!python_ends_value(r) && !python_at_any(r, words)) {
        int shown = r->t.n < 20 ? (int)r->t.n : 20;
        v = python_unknown(r, line, "it is an expression with \"%.*s\"", shown, r->t.s);
        python_skip_rest(r);
    }
    r->in.nested--;
    return v;
}
