#include "search/plan_assumed.h"

#include "base/strbuf.h"

#include <string.h>

/* What each plan chooses. */
static bool is_chosen(const char *pointer)
{
    static const char *const chosen[] = { "/training/activation_checkpointing",
                                          "/parallelism/", NULL };
    for (int i = 0; chosen[i]; i++)
        if (strncmp(pointer, chosen[i], strlen(chosen[i])) == 0)
            return true;
    return false;
}

static const struct assumption *row_of(const struct plan_job *job, int stack,
                                       const char *pointer)
{
    const struct assumptions *a = &job->stacks[stack].probe.assumed;
    for (int32_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].pointer, pointer) == 0)
            return &a->v[i];
    return NULL;
}

static bool is_same(const struct assumption *a, const struct assumption *b)
{
    return b && strcmp(a->value, b->value) == 0 && strcmp(a->why, b->why) == 0;
}

/* One row where all stacks agree, else each value with its stacks. */
static void add(struct plan_job *job, const struct assumption *row)
{
    const struct space *s = &job->space;
    const int32_t n = s->n[SPACE_LIBRARY];
    struct arena *arena = &job->loader->arena;
    struct strbuf text;
    int32_t same = 0;
    for (int32_t i = 0; i < n; i++)
        same +=
            is_same(row, row_of(job, (int)s->values[SPACE_LIBRARY][i], row->pointer));
    if (same == n) {
        assumptions_add(&job->assumed, arena, row->pointer, row->value, row->why);
        return;
    }
    strbuf_init(&text);
    for (int32_t i = 0; i < n; i++) {
        const int stack = (int)s->values[SPACE_LIBRARY][i];
        const struct assumption *x = row_of(job, stack, row->pointer);
        if (x)
            strbuf_printf(&text, "%s%s (%s)", text.len ? ", " : "", x->value,
                          space_stacks[stack].name);
    }
    assumptions_add(&job->assumed, arena, row->pointer,
                    arena_strdup(arena, strbuf_get(&text)), "");
    strbuf_release(&text);
}

void plan_assumed(struct plan_job *job)
{
    const struct space *s = &job->space;
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++) {
        const struct assumptions *a =
            &job->stacks[s->values[SPACE_LIBRARY][i]].probe.assumed;
        for (int32_t k = 0; k < a->n; k++)
            if (!is_chosen(a->v[k].pointer))
                add(job, &a->v[k]);
    }
}
