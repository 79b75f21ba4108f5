/* Arithmetic of a shell script: whole numbers of 64 bits. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 30, SHOWN = 40 };

struct sum {
    struct shell_machine *m;
    const struct shell_text *t;
    int32_t i;
    int depth;
    int32_t why; /* of what is not known; 0: all is */
    int dry;     /* of a branch that is not taken: nothing is assigned */
};

static const struct operation {
    const char *word;
    int level; /* binds more the higher it is */
} operations[] = {
    { "||", 1 },  { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<<", 8 },
    { ">>", 8 },  { "<=", 7 }, { ">=", 7 }, { "<", 7 },  { ">", 7 },
    { "|", 3 },   { "^", 4 },  { "&", 5 },  { "+", 9 },  { "-", 9 },
    { "**", 11 }, { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static int64_t expression(struct sum *s, int level);

static char peek(const struct sum *s)
{
    return s->i < s->t->n ? s->t->v[s->i].c : '\0';
}

static void skip(struct sum *s)
{
    while (s->i < s->t->n && !s->t->v[s->i].unknown &&
           (isspace((unsigned char)peek(s)) || peek(s) == '"')) /* (( "$#" )) */
        s->i++;
}

static int64_t give_up(struct sum *s, const char *what)
{
    if (!s->why)
        s->why = shell_not_known(s->m, "$((...))", false, "$((...)) %s", what);
    s->i = s->t->n;
    return 0;
}

/* Assignments ----------------------------------------------------------------------- */

static int64_t apply(struct sum *s, const char *op, int64_t a, int64_t b);

/* What the name holds from now on; with `why`, that it is not known. */
static void assign(struct sum *s, const char *name, int64_t v, struct shell_char place)
{
    struct shell_text t = { 0 };
    struct shell_texts one = { 0 };
    if (s->dry)
        return;
    if (s->why) {
        place.unknown = s->why;
        place.c = '?';
        shell_push(s->m, &t, place);
    } else {
        place.unknown = 0;
        shell_add_string(s->m, &t, arena_printf(s->m->arena, "%" PRId64, v), place);
    }
    shell_texts_take(s->m, &one, &t);
    shell_assign(s->m, name, &one, false, false);
    shell_texts_release(&one);
}

static bool at(const struct sum *s, const char *word)
{
    int32_t n = (int32_t)strlen(word);
    for (int32_t i = 0; i < n; i++)
        if (s->i + i >= s->t->n || s->t->v[s->i + i].unknown ||
            s->t->v[s->i + i].c != word[i])
            return false;
    return true;
}

/* "=" or "+=" and the like at the cursor, stepped over: the operator, "" of the first;
 * NULL: none. */
static const char *assignment(struct sum *s)
{
    static const char *const words[] = { "+",  "-", "*", "/", "%", "<<",
                                         ">>", "&", "|", "^", "" };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        int32_t n = (int32_t)strlen(words[i]), from = s->i;
        bool is = at(s, words[i]);
        s->i += n;
        if (is && at(s, "=") && !(s->i++, at(s, "=")))
            return words[i];
        s->i = from;
    }
    return NULL;
}

static int64_t value_of(struct sum *s, const char *name);

/* x = 2, x += 2, x++ and x alone; the cursor is after the name. */
static int64_t changed(struct sum *s, const char *name, struct shell_char place)
{
    skip(s);
    bool more = at(s, "++"), less = at(s, "--");
    const char *op = more || less ? NULL : assignment(s);
    int64_t old = op && !*op ? 0 : value_of(s, name), v = 0;
    if (more || less) {
        s->i += 2;
        v = s->why ? 0 : apply(s, more ? "+" : "-", old, 1);
        assign(s, name, v, place);
        return old;
    }
    if (!op)
        return old;
    v = expression(s, 0);
    v = *op && !s->why ? apply(s, op, old, v) : v;
    assign(s, name, v, place);
    return v;
}

/* A name at the cursor; NULL: it is none. */
static const char *name_at(struct sum *s)
{
    int32_t from = s->i;
    while (s->i < s->t->n && !s->t->v[s->i].unknown &&
           (isalnum((unsigned char)peek(s)) || peek(s) == '_'))
        s->i++;
    char *name = arena_alloc(s->m->arena, (size_t)(s->i - from) + 1, 1);
    for (int32_t i = from; i < s->i; i++)
        name[i - from] = s->t->v[i].c;
    name[s->i - from] = '\0';
    return s->i > from ? name : NULL;
}

/* ++x and --x, the cursor at the sign. */
static int64_t stepped(struct sum *s)
{
    bool more = at(s, "++");
    s->i += 2;
    skip(s);
    struct shell_char place =
        s->i < s->t->n ? s->t->v[s->i] : (struct shell_char) { 0 };
    const char *name = name_at(s);
    if (!name)
        return give_up(s, "has an operator that is not read");
    int64_t v = value_of(s, name);
    v = s->why ? 0 : apply(s, more ? "+" : "-", v, 1);
    assign(s, name, v, place);
    return v;
}

static int64_t lacks(struct sum *s, const char *name)
{
    bool first = !s->why;
    give_up(s, arena_printf(s->m->arena,
                            "needs $%.*s, which is not set in the script (--set "
                            "/shell/%.*s=VALUE gives it)",
                            SHOWN, name, SHOWN, name));
    if (first)
        s->m->unknowns.v[s->why - 1].ask = name;
    return 0;
}

/* A variable means the expression it holds. */
static int64_t value_of(struct sum *s, const char *name)
{
    const struct shell_variable *x = shell_find(s->m, name);
    if (!x || !x->values.n)
        return lacks(s, name);
    struct sum inner = { s->m, &x->values.v[0], 0, s->depth + 1, 0, s->dry };
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
        struct shell_char place = s->t->v[s->i];
        v = changed(s, name_at(s), place);
    } else if (at(s, "++") || at(s, "--")) {
        v = stepped(s);
    } else if (c == '-' || c == '+' || c == '!' || c == '~') {
        s->i++;
        v = operand(s);
        v = c == '!' ? !v : c == '~' ? ~v : c == '-' && v != INT64_MIN ? -v : v;
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
        bool assigns = first && second && !strchr("=!<>", w[0]) &&
                       s->i + (int32_t)strlen(w) < s->t->n &&
                       s->t->v[s->i + (int32_t)strlen(w)].c == '=';
        if (first && second && !assigns)
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
    } else if (strcmp(op, "**") == 0) {
        bad = b < 0;
        v = 1;
        for (int64_t i = 0; i < b && !bad && (i < 64 || (a != 1 && a != 0)); i++)
            bad = i >= 64 || __builtin_mul_overflow(v, a, &v);
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
    } else if (strcmp(op, "<<") == 0 || strcmp(op, ">>") == 0) {
        bad = b < 0 || b > 62 || a < 0 || (*op == '<' && a > INT64_MAX >> b);
        v = bad ? 0 : *op == '<' ? a << b : a >> b;
    } else if (*op == '&' || *op == '|' || *op == '^') {
        v = *op == '&' ? (a & b) : *op == '|' ? (a | b) : (a ^ b);
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
        bool decided = (op->level == 1 && v) || (op->level == 2 && !v);
        int32_t why = s->why;
        s->dry += decided;
        int64_t right = expression(s, op->level + (op->level < 11));
        s->dry -= decided;
        s->why = decided ? why : s->why;
        v = apply(s, op->word, v, right);
    }
    if (level > 0 || peek(s) != '?' || s->i >= s->t->n || s->t->v[s->i].unknown)
        return v;
    s->i++;
    int32_t why = s->why;
    s->dry += !v;
    int64_t yes = expression(s, 0);
    s->dry -= !v;
    int32_t of_yes = s->why;
    skip(s);
    if (peek(s) != ':')
        return give_up(s, "has an operator that is not read");
    s->i++;
    s->why = why;
    s->dry += v != 0;
    int64_t no = expression(s, 0);
    s->dry -= v != 0;
    s->why = why ? why : v ? of_yes : s->why;
    return v ? yes : no;
}

bool shell_calculate(struct shell_machine *m, const struct shell_text *t, int64_t *v,
                     int32_t *why)
{
    struct sum s = { .m = m, .t = t };
    *v = expression(&s, 0);
    for (skip(&s); peek(&s) == ','; skip(&s)) {
        s.i++;
        *v = expression(&s, 0);
    }
    if (!s.why && s.i < t->n)
        give_up(&s, "has an operator that is not read");
    *why = s.why;
    return s.why == 0;
}

bool shell_calculate_within(struct shell_machine *m, struct shell_cursor inner,
                            int64_t *v, int32_t *why)
{
    struct shell_text t = { 0 };
    shell_expand_within(m, inner, &t);
    bool known = shell_calculate(m, &t, v, why);
    shell_text_release(&t);
    return known && !m->failed;
}

bool shell_arithmetic(struct shell_machine *m, int64_t *v, int32_t *why)
{
    struct shell_char place = shell_peek(m, -1);
    int32_t from = m->at.i;
    if (!shell_skip_brackets(m, '(', ')') || !shell_at(m, ")")) {
        shell_fail(m, &place, "the arithmetic is never closed (add ))");
        return false;
    }
    struct shell_cursor inner = { m->at.v, m->at.i - 1, from, -1, -1 };
    m->at.i++;
    return shell_calculate_within(m, inner, v, why);
}
