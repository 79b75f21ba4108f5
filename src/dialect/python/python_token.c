/* Tokens of Python source under way, and what is read over. */
#include "dialect/python/python_parse.h"

#include <string.h>

void python_advance(struct python_parser *r)
{
    r->t = python_next(&r->lex);
    r->failed |= r->t.kind == TOKEN_BAD;
    /* going back to the next line after a failure may scan again, but not without
     * end; so do loops and calls, as far as python_may_repeat lets them */
    if (r->lex.work > 96 * r->p->length + (1 << 18))
        r->limit = "too much that has to be read again and again";
}

static bool has_left(const struct python_parser *r, int part)
{
    return r->lex.work < (48 * r->p->length + (1 << 17)) / part && !r->limit &&
           r->values < PYTHON_VALUES_MAX / (2 * part);
}

bool python_may_repeat(const struct python_parser *r)
{
    return has_left(r, 1);
}

bool python_may_loop(const struct python_parser *r)
{
    return has_left(r, 2);
}

bool python_stopped(const struct python_parser *r)
{
    return r->failed || r->limit;
}

struct python_place python_here(const struct python_parser *r)
{
    return (struct python_place) { r->lex, r->t, r->built.n };
}

void python_go(struct python_parser *r, const struct python_place *place)
{
    int64_t work = r->lex.work;
    r->lex = place->lex;
    r->lex.work = work;
    r->t = place->t;
    r->failed |= place->t.kind == TOKEN_BAD;
}

bool python_at_any(const struct python_parser *r, const char *const *words)
{
    for (; *words; words++)
        if (python_at(r, *words))
            return true;
    return false;
}

bool python_at(const struct python_parser *r, const char *word)
{
    return python_is(&r->t, word);
}

void python_open(struct python_parser *r)
{
    if (r->lex.brackets == PYTHON_DEPTH_MAX)
        r->failed = true;
    else
        r->lex.brackets++;
    python_advance(r);
}

void python_close(struct python_parser *r, const char *bracket)
{
    if (!python_at(r, bracket) || r->failed) {
        r->failed = true;
        return;
    }
    r->lex.brackets--;
    python_advance(r);
}

/* What is not understood ----------------------------------------------------------- */

bool python_ends_value(const struct python_parser *r)
{
    static const char *const ends[] = { ",", ")", "]", "}", ":", "=", ";" };
    if (r->failed || r->limit || r->t.kind == TOKEN_END || r->t.kind == TOKEN_NEWLINE)
        return true;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (python_at(r, ends[i]))
            return true;
    return false;
}

bool python_at_bracket(const struct python_parser *r, const char *brackets)
{
    return r->t.kind == TOKEN_OP && r->t.n == 1 && strchr(brackets, *r->t.s);
}

/* Over everything up to the bracket that closes the one just opened, and over that. */
void python_skip_brackets(struct python_parser *r)
{
    int32_t outside = r->lex.brackets;
    python_open(r);
    while (!r->failed && !r->limit && r->lex.brackets > outside) {
        if (r->t.kind == TOKEN_END)
            r->failed = true;
        else if (python_at_bracket(r, "([{"))
            python_open(r);
        else if (python_at_bracket(r, ")]}"))
            python_close(r, (char[]) { *r->t.s, '\0' });
        else
            python_advance(r);
    }
}

/* Over the rest of an expression; a lambda's parameters end with ":", and are no
 * end. */
void python_skip_rest(struct python_parser *r)
{
    bool lambda = false;
    while (lambda || !python_ends_value(r)) {
        if (r->failed || r->limit || r->t.kind == TOKEN_END ||
            r->t.kind == TOKEN_NEWLINE || python_at_bracket(r, ")]}"))
            return;
        if (python_at(r, "lambda"))
            lambda = true;
        else if (python_at(r, ":"))
            lambda = false;
        if (python_at_bracket(r, "([{"))
            python_skip_brackets(r);
        else
            python_advance(r);
    }
}

void python_skip_statement(struct python_parser *r)
{
    while (!r->failed && !r->limit && r->t.kind != TOKEN_END &&
           r->t.kind != TOKEN_NEWLINE) {
        if (python_at_bracket(r, "([{"))
            python_skip_brackets(r);
        else
            python_advance(r);
    }
}

void python_expect_colon(struct python_parser *r)
{
    r->failed |= !python_at(r, ":");
    if (!python_stopped(r))
        python_advance(r);
}

const char *python_written(struct python_parser *r, const char *from)
{
    enum { CONDITION_MAX = 200 };
    const char *to = r->t.s;
    while (from && to && to > from && to[-1] == ' ')
        to--;
    return from && to && to > from && to - from < CONDITION_MAX
               ? arena_strndup(r->p->arena, from, (size_t)(to - from))
               : "a condition";
}
