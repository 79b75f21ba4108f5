/* with of Python source: contexts that a block enters. */
#include "dialect/python/python_block.h"

/* as b, after what it is: a context that is entered. */
static void read_entered(struct python_parser *r, struct value *v)
{
    if (!python_at(r, "as"))
        return;
    python_advance(r);
    if (r->t.kind != TOKEN_NAME) {
        python_expression(r);
        return;
    }
    const char *name = python_path(r);
    python_bind(r, name, v);
    struct python_call *last = r->p->calls.n ? &r->p->calls.v[r->p->calls.n - 1] : NULL;
    if (last && last->result == v && !last->target)
        last->target = name;
}

/* a as b, c: up to what closes them. */
static void read_contexts(struct python_parser *r, const char *end)
{
    while (!python_stopped(r) && !python_at(r, end)) {
        struct value *v = python_expression(r);
        read_entered(r, v);
        if (!python_at(r, ","))
            break;
        python_advance(r);
    }
}

/* with (a as b, c as d): false: the bracket is of an expression. */
static bool read_bracketed(struct python_parser *r)
{
    struct python_place before = python_here(r);
    bool bracketed = python_at(r, "(");
    if (bracketed) {
        python_open(r);
        read_contexts(r, ")");
        python_close(r, ")");
    }
    if (bracketed && !r->limit && (r->failed || !python_at(r, ":"))) {
        r->failed = false;
        python_go(r, &before);
        return false;
    }
    return bracketed;
}

/* with a as b, c: */
void python_read_with(struct python_parser *r, int64_t column)
{
    python_advance(r);
    if (!read_bracketed(r))
        read_contexts(r, ":");
    python_expect_colon(r);
    if (!python_stopped(r))
        r->read_suite(r, column);
}
