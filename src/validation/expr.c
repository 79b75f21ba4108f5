#include "validation/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *text, *at;
    int depth;
    bool only_form; /* values do not matter */
    expr_column_fn *column;
    void *arg;
    struct err *err;
};

static int sum(struct parser *p, double *v);

static int wrong(const struct parser *p, const char *at, const char *what)
{
    return err_set(p->err, "character %d of \"%.200s\": %s", (int)(at - p->text) + 1,
                   p->text, what);
}

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

/* Takes the character when it is next. */
static bool take(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static int number(struct parser *p, double *v)
{
    char *end;
    if (p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
        return wrong(p, p->at, "a number is written in decimal");
    *v = strtod(p->at, &end);
    if (!isfinite(*v))
        return wrong(p, p->at, "the number is too large");
    p->at = end;
    return 0;
}

static int column(struct parser *p, double *v)
{
    const char *open = p->at++;
    size_t n = strcspn(p->at, "}");
    if (p->at[n] == '\0')
        return wrong(p, open, "\"{\" without \"}\"");
    struct err err = { 0 };
    if (p->column(p->arg, p->at, n, v, &err))
        return wrong(p, open, err.text);
    p->at += n + 1;
    return 0;
}

/* "(a, b, ...)" folded by min or max; ceil and floor take one. */
static int arguments(struct parser *p, const char *name, size_t n, double *v)
{
    const char *start = p->at - n;
    bool is_min = n == 3 && strncmp(name, "min", n) == 0;
    bool is_max = n == 3 && strncmp(name, "max", n) == 0;
    bool is_ceil = n == 4 && strncmp(name, "ceil", n) == 0;
    bool is_floor = n == 5 && strncmp(name, "floor", n) == 0;
    if (!is_min && !is_max && !is_ceil && !is_floor)
        return wrong(p, start, "no such function (there are min, max, ceil and floor)");
    if (!take(p, '('))
        return wrong(p, p->at, "\"(\" is missing after the function");
    if (sum(p, v))
        return -1;
    while ((is_min || is_max) && take(p, ',')) {
        double other;
        if (sum(p, &other))
            return -1;
        *v = is_min ? fmin(*v, other) : fmax(*v, other);
    }
    if (!take(p, ')'))
        return wrong(p, p->at, "\")\" is missing");
    *v = is_ceil ? ceil(*v) : is_floor ? floor(*v) : *v;
    return 0;
}

static int operand(struct parser *p, double *v)
{
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || *p->at == '.')
        return isdigit((unsigned char)p->at[*p->at == '.'])
                   ? number(p, v)
                   : wrong(p, p->at, "\".\" is no number");
    if (*p->at == '{')
        return column(p, v);
    if (isalpha((unsigned char)*p->at)) {
        const char *name = p->at;
        while (isalpha((unsigned char)*p->at))
            p->at++;
        return arguments(p, name, (size_t)(p->at - name), v);
    }
    if (!take(p, '('))
        return wrong(p, p->at,
                     *p->at ? "a number, {COLUMN} or \"(\" should be here"
                            : "it ends where a number should be");
    if (sum(p, v))
        return -1;
    return take(p, ')') ? 0 : wrong(p, p->at, "\")\" is missing");
}

static int factor(struct parser *p, double *v)
{
    if (p->depth == EXPR_DEPTH_MAX)
        return wrong(p, p->at, "nested too deeply");
    p->depth++;
    int rc;
    if (take(p, '-')) {
        rc = factor(p, v);
        *v = -*v;
    } else if (take(p, '+')) {
        rc = factor(p, v);
    } else {
        rc = operand(p, v);
    }
    p->depth--;
    return rc;
}

static int product(struct parser *p, double *v)
{
    if (factor(p, v))
        return -1;
    for (;;) {
        bool times = take(p, '*');
        if (!times && !take(p, '/'))
            return 0;
        const char *sign = p->at - 1;
        double by;
        if (factor(p, &by))
            return -1;
        if (!times && by == 0 && !p->only_form)
            return wrong(p, sign, "division by zero");
        *v = times ? *v * by : *v / by;
    }
}

static int sum(struct parser *p, double *v)
{
    if (product(p, v))
        return -1;
    for (;;) {
        bool plus = take(p, '+');
        if (!plus && !take(p, '-'))
            return 0;
        double by;
        if (product(p, &by))
            return -1;
        *v = plus ? *v + by : *v - by;
    }
}

static int whole(struct parser *p, double *v)
{
    if (sum(p, v))
        return -1;
    skip_blanks(p);
    return *p->at ? wrong(p, p->at, "an operator or the end should be here") : 0;
}

int expr_check(const char *text, expr_column_fn *column_fn, void *arg, struct err *err)
{
    struct parser p = { text, text, 0, true, column_fn, arg, err };
    double v;
    return whole(&p, &v);
}

int expr_eval(const char *text, expr_column_fn *column_fn, void *arg, double *value,
              struct err *err)
{
    struct parser p = { text, text, 0, false, column_fn, arg, err };
    double v;
    if (whole(&p, &v))
        return -1;
    if (!isfinite(v))
        return wrong(&p, text, "the result is too large for a number");
    *value = v;
    return 0;
}
