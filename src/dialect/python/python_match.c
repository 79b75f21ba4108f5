/* match and case of Python source: the first case whose pattern fits is taken. */
#include "dialect/python/python_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Up to the ":" of a case's header. */
static void skip_to_colon(struct python_parser *r)
{
    while (!python_stopped(r) && !python_at(r, ":")) {
        r->failed |= r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END;
        if (python_at_bracket(r, "([{"))
            python_skip_brackets(r);
        else
            python_advance(r);
    }
}

/* Whether a pattern ends here. */
static bool ends_pattern(const struct python_parser *r)
{
    return python_at(r, ":") || python_at(r, "|") || python_at(r, "if");
}

/* "_" or a name alone fit anything, and the name is bound to it; the parser is after it,
 * or where it was. */
static bool read_capture(struct python_parser *r, struct value *subject)
{
    static const char *const words[] = { "None", "True", "False", NULL };
    struct python_place before = python_here(r);
    if (r->t.kind != TOKEN_NAME || python_at_any(r, words))
        return false;
    const char *name = python_path(r);
    if (!strchr(name, '.') && ends_pattern(r)) {
        if (strcmp(name, "_") != 0)
            python_bind(r, name, subject);
        return true;
    }
    python_go(r, &before);
    return false;
}

/* One alternative: 1, 0; -1 of what is no literal, or where nobody knows. */
static int read_alternative(struct python_parser *r, struct value *subject)
{
    if (read_capture(r, subject))
        return 1;
    bool minus = python_at(r, "-");
    if (minus)
        python_advance(r);
    struct value *v = python_term(r);
    if (minus)
        v = python_calculate(r, "-", python_int(r, v->line, 0), v);
    if (!python_stopped(r) && ends_pattern(r))
        return python_truth(python_compare(r, "==", subject, v));
    r->failed = false;
    skip_to_colon(r);
    return -1;
}

/* a | b if c: whether the case is taken. */
static int read_pattern(struct python_parser *r, struct value *subject)
{
    int truth = read_alternative(r, subject);
    while (!python_stopped(r) && python_at(r, "|")) {
        python_advance(r);
        int other = read_alternative(r, subject);
        truth = truth == 1 || other == 1 ? 1 : truth < 0 || other < 0 ? -1 : 0;
    }
    if (!python_stopped(r) && python_at(r, "if")) {
        python_advance(r);
        int guard = python_truth(python_expression(r));
        truth = truth == 0 || guard == 0 ? 0 : truth == 1 ? guard : -1;
    }
    return truth;
}

static void read_cases(struct python_parser *r, struct value *subject, int64_t column,
                       int64_t line)
{
    struct python_choice c = { .left = 1 };
    snprintf(c.why, sizeof(c.why), "it depends on line %" PRId64 ": %.100s", line,
             subject->why ? subject->why : "a pattern that is not followed");
    for (int64_t at; !r->limit && (at = python_next_line(r)) > column;) {
        python_advance(r);
        r->failed |= !python_at(r, "case");
        if (python_stopped(r))
            break;
        python_advance(r);
        int truth = read_pattern(r, subject);
        python_expect_colon(r);
        if (python_stopped(r))
            break;
        python_read_branch(r, &c, truth, at);
    }
    python_end_choice(r, &c);
}

bool python_match(struct python_parser *r, int64_t column)
{
    struct python_place before = python_here(r);
    python_advance(r);
    bool name =
        r->t.kind == TOKEN_NEWLINE || r->t.kind == TOKEN_END ||
        (r->t.kind == TOKEN_OP && !python_at_bracket(r, "([{") && !python_at(r, "-"));
    struct value *subject = name ? NULL : python_expression(r);
    if (subject && !python_stopped(r) && python_at(r, ":")) {
        python_advance(r);
        if (r->t.kind == TOKEN_NEWLINE) {
            read_cases(r, subject, column, before.t.line);
            return true;
        }
    }
    if (!r->limit) {
        r->failed = false;
        python_go(r, &before);
    }
    return false;
}
