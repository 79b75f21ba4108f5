/* Where a shell script goes on: branches, and what leaves a loop, a function or a
 * subshell before its end. A jump that is sure skips what is left; after one that may
 * be taken, what is left may run. */
#include "dialect/shell/shell_machine.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

/* Branches ------------------------------------------------------------------------- */

struct shell_branch shell_enter(struct shell_machine *m, enum shell_status s)
{
    struct shell_branch before = { m->mode, m->because };
    if (s == SHELL_NO)
        m->mode = SHELL_SKIP;
    else if (s != SHELL_YES && m->mode == SHELL_RUN)
        m->mode = SHELL_MAYBE;
    return before;
}

void shell_leave(struct shell_machine *m, struct shell_branch before)
{
    bool unsure = m->unsure.way && before.mode == SHELL_RUN;
    m->mode = m->jump.way ? SHELL_SKIP : unsure ? SHELL_MAYBE : before.mode;
    m->because = unsure ? m->unsure_why : before.because;
}

/* Jumps ---------------------------------------------------------------------------- */

static void add_unsure(struct shell_machine *m, struct shell_jump j, int32_t why)
{
    struct shell_jump *d = &m->unsure;
    if (!d->way)
        m->unsure_why = why;
    if (j.way > d->way)
        d->way = j.way;
    if (j.levels > d->levels)
        d->levels = j.levels;
}

void shell_jump(struct shell_machine *m, enum shell_way way, int32_t levels)
{
    struct shell_jump j = { way, levels };
    if (m->mode == SHELL_SKIP)
        return;
    if (m->mode == m->base) {
        m->jump = j;
        m->mode = SHELL_SKIP;
    } else {
        add_unsure(m, j, m->because);
    }
}

/* Loops and functions -------------------------------------------------------------- */

struct shell_frame shell_frame_begin(struct shell_machine *m, bool loop)
{
    struct shell_frame f = { { m->mode, m->because }, m->base,  m->unsure,
                             m->unsure_why,           m->loops, m->sets };
    m->base = m->mode;
    m->unsure = (struct shell_jump) { SHELL_STAYS, 0 };
    m->loops = loop ? m->loops + 1 : 0;
    return f;
}

/* Whether a round that a jump ends is followed by another. */
static bool goes_on(struct shell_jump *j)
{
    bool next = j->way == SHELL_CONTINUES && j->levels == 1;
    if (next)
        *j = (struct shell_jump) { SHELL_STAYS, 0 };
    return j->way == SHELL_STAYS;
}

bool shell_round_ends(struct shell_machine *m, const struct shell_frame *f)
{
    bool sure = goes_on(&m->jump), perhaps = goes_on(&m->unsure);
    shell_leave(m, f->before);
    return sure && perhaps;
}

/* What is left of a jump outside of one more loop, or of a function. */
static struct shell_jump outside(struct shell_jump j, bool loop)
{
    bool loops = j.way == SHELL_BREAKS || j.way == SHELL_CONTINUES;
    bool arrives = loop ? loops && j.levels <= 1 : loops || j.way == SHELL_RETURNS;
    j.levels -= loops;
    return arrives ? (struct shell_jump) { SHELL_STAYS, 0 } : j;
}

void shell_frame_end(struct shell_machine *m, const struct shell_frame *f, bool loop)
{
    struct shell_jump unsure = outside(m->unsure, loop);
    int32_t why = m->unsure_why;
    if (m->unsure.way && loop && f->before.mode != SHELL_SKIP)
        shell_void_since(m, f->mark, SHELL_ROUNDS, why);
    m->jump = outside(m->jump, loop);
    m->base = f->base;
    m->loops = f->loops;
    m->unsure = f->unsure;
    m->unsure_why = f->unsure_why;
    if (unsure.way)
        add_unsure(m, unsure, why);
    if (m->jump.way && f->before.mode != f->base) { /* sure within, but not here */
        add_unsure(m, m->jump, f->before.because);
        m->jump = (struct shell_jump) { SHELL_STAYS, 0 };
    }
    shell_leave(m, f->before);
}

/* Subshells ------------------------------------------------------------------------ */

struct shell_subshell {
    struct shell_frame frame;
    struct shell_arguments arguments;
    struct shell_variable *variables;
    int64_t n, functions;
    const char *directory;
};

struct shell_subshell *shell_subshell_begin(struct shell_machine *m)
{
    struct shell_subshell *s = xmalloc(sizeof(*s));
    *s = (struct shell_subshell) { shell_frame_begin(m, false),
                                   m->arguments,
                                   NULL,
                                   m->variables.n,
                                   m->functions.n,
                                   m->directory };
    s->variables = xmalloc(((size_t)s->n + 1) * sizeof(*s->variables));
    if (s->n)
        memcpy(s->variables, m->variables.v, (size_t)s->n * sizeof(*s->variables));
    shell_works(m, s->n);
    m->subshells++;
    return s;
}

void shell_subshell_end(struct shell_machine *m, struct shell_subshell *s)
{
    m->jump = m->unsure = (struct shell_jump) { SHELL_STAYS, 0 };
    shell_frame_end(m, &s->frame, false);
    m->subshells--;
    m->arguments = s->arguments;
    m->directory = s->directory;
    m->functions.n = s->functions;
    m->variables.n = s->n;
    if (s->n)
        memcpy(m->variables.v, s->variables, (size_t)s->n * sizeof(*s->variables));
    free(s->variables);
    free(s);
}
