/* Why no point of a space keeps all rules: which of the values asked for leaves
 * nothing, and which would not. */
#include "search/plan.h"

#include <inttypes.h>
#include <stdio.h>

/* The first point of a space, if it has any; else the last field of which a rule leaves
 * nothing. */
static bool first_point(const struct space *s, struct space_point *p, int *refused)
{
    int64_t n = space_slices(s);
    for (int64_t i = 0; i < n; i++) {
        struct space_iter it;
        space_iter_init(&it, s, i);
        if (space_next(&it)) {
            *p = it.p;
            return true;
        }
        if (it.refused > *refused)
            *refused = it.refused;
    }
    return false;
}

static void values_text(const struct space *s, int f, char *buf, size_t size)
{
    char v[64];
    size_t at = 0;
    buf[0] = '\0';
    for (int32_t i = 0; i < s->n[f] && i < 4 && at < size; i++)
        at += (size_t)snprintf(
            buf + at, size - at, "%s%s", i ? ", " : "",
            space_value_text(s, (enum space_field)f, s->values[f][i], v, sizeof(v)));
    if (s->n[f] > 4 && at < size)
        snprintf(buf + at, size - at, ", ...");
}

/* With each given field opened in turn, does the space still have nothing? */
static bool blame(const struct plan_job *job, struct arena *arena, char *buf,
                  size_t size)
{
    for (int f = 0; f < SPACE_N; f++) {
        struct space open = job->space;
        struct space_point p = { 0 };
        char was[160], is[64], rule[240];
        int refused = 0, open_refused = 0;
        if (!open.given[f])
            continue;
        open.n[f] = 0;
        open.given[f] = false;
        space_default(&open, arena, (enum space_field)f, job->stack_bits);
        if (f == SPACE_LIBRARY || !first_point(&open, &p, &open_refused))
            continue;
        values_text(&job->space, f, was, sizeof(was));
        first_point(&job->space, &p, &refused);
        snprintf(buf, size, "%s=%s leaves none (%s would): the rule of %s is that %s",
                 names_of(space_field_names, f), was,
                 space_value_text(&open, (enum space_field)f, p.v[f], is, sizeof(is)),
                 names_of(space_field_names, refused),
                 space_rule_text(&job->space, (enum space_field)refused, rule,
                                 sizeof(rule)));
        return true;
    }
    return false;
}

int plan_empty(const struct plan_job *job, struct err *err)
{
    const struct space *s = &job->space;
    char why[500];
    struct arena arena;
    arena_init(&arena);
    bool known = blame(job, &arena, why, sizeof(why));
    arena_release(&arena);
    if (known)
        return err_set(err, "no plan is left: %s", why);
    return err_set(err,
                   "no plan is left: what is asked for (%" PRId64 " %s a step on %s "
                   "and others) does not divide, or no library here can run it",
                   (int64_t)s->global_batch, s->batch_of, s->instances[0].name);
}
