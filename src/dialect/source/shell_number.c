/* Arithmetic of a shell script: whole numbers of 64 bits. */
#include "dialect/source/shell_machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 30, SHOWN = 40 };

struct sum {
    struct shell_machine *m;
    const struct shell_text *t;
    int32_t i;
    int depth;
    int32_t why; /* of what is not known; 0: all is */
};

static const struct operation {
    const char *word;
    int level; /* binds more the higher it is */
} operations[] = {
    { "||", 1 }, { "&&", 2 }, { "==", 3 }, { "!=", 3 }, { "<=", 4 },
    { ">=", 4 }, { "<", 4 },  { ">", 4 },  { "+", 5 },  { "-", 5 },
    { "*", 6 },  { "/", 6 },  { "%", 6 },
};

static int64_t expression(struct sum *s, int level);

static char peek(const struct sum *s)
{
    return s->i < s->t->n ? s->t->v[s->i].c : '\0';
}

static void skip(struct sum *s)
{
    while (s->i < s->t->n && !s->t->v[s->i].unknown && isspace((unsigned char)peek(s)))
        s->i++;
}

static int64_t give_up(struct sum *s, const char *what)
{
    if (!s->why)
        s->why = shell_not_known(s->m, "$((...))", false, "$((...)) %s", what);
    s->i = s->t->n;
    return 0;
}

/* A variable means the expression it holds. */
static int64_t named(struct sum *s)
{
    int32_t from = s->i;
    while (s->i < s->t->n && (isalnum((unsigned char)peek(s)) || peek(s) == '_'))
        s->i++;
    char *name = arena_alloc(s->m->arena, (size_t)(s->i - from) + 1, 1);
    for (int32_t i = from; i < s->i; i++)
        name[i - from] = s->t->v[i].c;
    const struct shell_variable *x = shell_find(s->m, name);
    if (!x || !x->values.n)
        return give_up(s, arena_printf(s->m->arena,
                                       "needs $%.*s, which is not set in the script "
                                       "(--set /shell/%.*s=VALUE gives it)",
                                       SHOWN, name, SHOWN, name));
    struct sum inner = { s->m, &x->values.v[0], 0, s->depth + 1, 0 };
    if (s->depth > DEPTH_MAX || shell_works(s->m, inner.t->n + 1))
        return give_up(s, "has variables that refer to each other");
    int64_t v = expression(&inner, 0);
    skip(&inner);
    if (!inner.why && inner.i < inner.t->n)
        return give_up(s, "has a variable that is no number");
    s->why = s->why ? s->why : inner.why;
    return v;
}

static int64_t number(struct sum *s)
{
    char digits[32];
    char *end;
    int32_t n = 0;
    while (s->i < s->t->n && n < 31 && isalnum((unsigned char)peek(s)))
        digits[n++] = s->t->v[s->i++].c;
    digits[n] = '\0';
    errno = 0;
    int64_t v = strtoll(digits, &end, 0);
    return *end || errno ? give_up(s, "has a number that cannot be held") : v;
}

/* A number, a variable, a sign, brackets. */
static int64_t operand(struct sum *s)
{
    skip(s);
    char c = peek(s);
    if (s->i >= s->t->n || ++s->depth > DEPTH_MAX || shell_works(s->m, 1))
        return give_up(s, "is no sum that is read");
    int64_t v = 0;
    if (s->t->v[s->i].unknown) {
        s->why = s->why ? s->why : s->t->v[s->i].unknown;
        s->i++;
    } else if (isdigit((unsigned char)c)) {
        v = number(s);
    } else if (isalpha((unsigned char)c) || c == '_') {
        v = named(s);
    } else if (c == '-' || c == '+' || c == '!') {
        s->i++;
        v = operand(s);
        v = c == '!' ? !v : c == '-' && v != INT64_MIN ? -v : v;
    } else if (c == '(') {
        s->i++;
        v = expression(s, 0);
        skip(s);
        if (peek(s) != ')')
            return give_up(s, "has a bracket that is not closed");
        s->i++;
    } else {
        v = give_up(s, "has an operator that is not read");
    }
    s->depth--;
    return v;
}

static const struct operation *operation(struct sum *s)
{
    skip(s);
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        const char *w = operations[i].word;
        bool first = s->i < s->t->n && !s->t->v[s->i].unknown && peek(s) == w[0];
        bool second = !w[1] || (s->i + 1 < s->t->n && s->t->v[s->i + 1].c == w[1]);
        if (first && second)
            return &operations[i];
    }
    return NULL;
}

static int64_t apply(struct sum *s, const char *op, int64_t a, int64_t b)
{
    int64_t v = 0;
    bool bad = false;
    if (strchr("/%", *op) && (b == 0 || b == -1)) {
        bad = b == 0 || a == INT64_MIN;
        v = *op == '/' && !bad ? -a : 0;
    } else if (*op == '+') {
        bad = __builtin_add_overflow(a, b, &v);
    } else if (*op == '-') {
        bad = __builtin_sub_overflow(a, b, &v);
    } else if (*op == '*') {
        bad = __builtin_mul_overflow(a, b, &v);
    } else if (*op == '/') {
        v = a / b;
    } else if (*op == '%') {
        v = a % b;
    } else if (strcmp(op, "||") == 0) {
        v = a || b;
    } else if (strcmp(op, "&&") == 0) {
        v = a && b;
    } else {
        v = op[0] == '='   ? a == b
            : op[0] == '!' ? a != b
            : op[0] == '<' ? a < b
                           : a > b;
        v |= op[1] == '=' && op[0] != '=' && op[0] != '!' && a == b;
    }
    return bad && !s->why ? give_up(s, "is no number that can be held") : v;
}

/* Operators of that level and above, from the left; "?" and ":" bind least. */
static int64_t expression(struct sum *s, int level)
{
    int64_t v = operand(s);
    const struct operation *op;
    while ((op = operation(s)) != NULL && op->level >= level) {
        s->i += (int32_t)strlen(op->word);
        v = apply(s, op->word, v, expression(s, op->level + 1));
    }
    if (level > 0 || peek(s) != '?' || s->i >= s->t->n || s->t->v[s->i].unknown)
        return v;
    s->i++;
    int64_t yes = expression(s, 0);
    skip(s);
    if (peek(s) != ':')
        return give_up(s, "has an operator that is not read");
    s->i++;
    int64_t no = expression(s, 0);
    return v ? yes : no;
}

bool shell_calculate(struct shell_machine *m, const struct shell_text *t, int64_t *v,
                     int32_t *why)
{
    struct sum s = { .m = m, .t = t };
    *v = expression(&s, 0);
    skip(&s);
    if (!s.why && s.i < t->n)
        give_up(&s, "has an operator that is not read");
    *why = s.why;
    return s.why == 0;
}

bool shell_arithmetic(struct shell_machine *m, int64_t *v, int32_t *why)
{
    struct shell_text t = { 0 };
    struct shell_char place = shell_peek(m, -1);
    int32_t from = m->at.i;
    if (!shell_skip_brackets(m, '(', ')') || !shell_at(m, ")")) {
        shell_fail(m, &place, "the arithmetic is never closed (add ))");
        return false;
    }
    struct shell_cursor inner = { m->at.v, m->at.i - 1, from, -1, -1 };
    m->at.i++;
    shell_expand_within(m, inner, &t);
    bool known = shell_calculate(m, &t, v, why);
    shell_text_release(&t);
    return known && !m->failed;
}
