#include "search/plan/assumed.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "model/ops.h"
#include "scenario/attention.h"

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

static bool has_more(const struct space *s, int dimension)
{
    for (int32_t i = 0; i < s->n[dimension]; i++)
        if (s->values[dimension][i] > 1)
            return true;
    return false;
}

/* What plans take that split the model, which may have a profile of their own; "": what
 * the others do. */
static const char *split_value(const struct plan_job *job, int stack,
                               const char *pointer)
{
    const struct plan_stack *of = &job->stacks[stack];
    const struct space *s = &job->space;
    const struct framework *own = of->profiles[1][0];
    struct scenario x = of->probe;
    if (!own || own == of->profiles[0][0] || !row_of(job, stack, pointer) ||
        !(has_more(s, SPACE_TENSOR) || has_more(s, SPACE_PIPELINE)))
        return "";
    if (strcmp(pointer, "/training/framework") == 0)
        return own->name;
    if (strcmp(pointer, "/training/attention") != 0)
        return "";
    x.parallel.tensor = 2;
    x.training.framework = own;
    const struct gpu *gpu = s->n_instances ? s->instances[0].instance->gpu : NULL;
    return gpu ? names_of(op_attention_names,
                          (int)attention_on(&x, gpu, &job->loader->arena).kernel)
               : "";
}

/* Of the i-th stack, or from the number of stacks on where its plans split the model. */
static const char *value_of(const struct plan_job *job, int32_t i, const char *pointer)
{
    const struct space *s = &job->space;
    const int32_t n = s->n[SPACE_LIBRARY];
    const int stack = (int)s->values[SPACE_LIBRARY][i % n];
    const struct assumption *x = row_of(job, stack, pointer);
    return i >= n ? split_value(job, stack, pointer) : x ? x->value : "";
}

/* "(ddp, fsdp)": the stacks that take that value; yields how many, those with plans apart
 * that split the model left out. */
static int32_t add_takers(struct strbuf *text, const struct plan_job *job,
                          const char *pointer, const char *value)
{
    const struct space *s = &job->space;
    int32_t n = 0, all = s->n[SPACE_LIBRARY], named = 0;
    for (int32_t i = 0; i < 2 * all; i++) {
        if (strcmp(value_of(job, i, pointer), value) != 0)
            continue;
        n += i < all && !value_of(job, i + all, pointer)[0];
        strbuf_printf(text, "%s%s%s", named++ ? ", " : " (",
                      space_stacks[s->values[SPACE_LIBRARY][i % all]].name,
                      i < all ? "" : " in groups and stages");
    }
    strbuf_addstr(text, ")");
    return n;
}

static bool is_first(const struct plan_job *job, int32_t i, const char *pointer)
{
    for (int32_t k = 0; k < i; k++)
        if (strcmp(value_of(job, k, pointer), value_of(job, i, pointer)) == 0)
            return false;
    return value_of(job, i, pointer)[0] != '\0';
}

/* One row where all stacks agree, else each value with its stacks. */
static void add(struct plan_job *job, const struct assumption *row)
{
    struct arena *arena = &job->loader->arena;
    const int32_t n = job->space.n[SPACE_LIBRARY];
    struct strbuf text;
    strbuf_init(&text);
    if (add_takers(&text, job, row->pointer, row->value) == n) {
        assumptions_add(&job->assumed, arena, row->pointer, row->value, row->why);
        strbuf_release(&text);
        return;
    }
    text.len = 0;
    for (int32_t i = 0; i < 2 * n; i++) {
        const char *value = value_of(job, i, row->pointer);
        if (!is_first(job, i, row->pointer))
            continue;
        strbuf_printf(&text, "%s%s", text.len ? ", " : "", value);
        add_takers(&text, job, row->pointer, value);
    }
    assumptions_add(&job->assumed, arena, row->pointer,
                    arena_strdup(arena, strbuf_get(&text)), "");
    strbuf_release(&text);
}

const json_t *plan_quality(const struct plan_job *job)
{
    const json_t *cluster =
        job->cluster ? job->cluster : json_object_get(job->base, "cluster");
    return json_object_get(cluster, "quality");
}

/* What groups over nodes get of the network, of plans on several (search/plan/point.c). */
static void add_quality(struct plan_job *job)
{
    const struct space *s = &job->space;
    bool several = false;
    for (int32_t i = 0; i < s->n[SPACE_COUNT]; i++)
        several |= s->values[SPACE_COUNT][i] > 1;
    if (several && !plan_quality(job) &&
        !assumptions_has(&job->assumed, "/cluster/quality"))
        assumptions_add(&job->assumed, &job->loader->arena, "/cluster/quality", "clean",
                        "");
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
    add_quality(job);
}
