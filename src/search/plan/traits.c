#include "search/plan/traits.h"

#include "scenario/attention.h"

#include <string.h>

/* Whether attention keeps no scores on any of the instances, in plans of this shape,
 * whose profiles and modules may be others than the probe's. */
static bool is_fused(const struct plan_job *job, int64_t stack, int shape)
{
    const struct space *s = &job->space;
    const struct plan_stack *of = &job->stacks[stack];
    uint32_t shardings = space_shardings(s, &space_stacks[stack]);
    struct scenario x = of->probe;
    bool fused = true;
    x.parallel.tensor = shape & SPACE_SHAPE_TENSOR ? 2 : 1;
    x.parallel.pipeline = shape & SPACE_SHAPE_PIPELINE ? 2 : 1;
    for (int full = 0; full < 2; full++) {
        uint32_t bit = 1U << SHARDING_FULL;
        if (!(shardings & (full ? bit : ~bit)))
            continue;
        x.training.framework = of->profiles[shape != 0][full];
        for (int32_t k = 0; k < s->n_instances; k++) {
            struct attention a =
                attention_on(&x, s->instances[k].instance->gpu, &job->loader->arena);
            fused &= op_attention_is_fused(a.kernel);
        }
    }
    return fused;
}

/* Whether a scenario can ask for a tensor group's overlap with products, and has none
 * unless it does. */
static bool is_asked(const struct plan_job *job, int64_t stack)
{
    const struct space_stack *row = &space_stacks[stack];
    uint32_t shardings = space_shardings(&job->space, row);
    bool asked =
        row->dialect == DIALECT_WORDS && row->row->tensor && !row->row->overlaps_linear;
    for (int full = 0; full < 2; full++) {
        uint32_t of = 1U << SHARDING_FULL, mine = full ? of : ~of;
        const struct framework *fw = job->stacks[stack].profiles[1][full];
        bool off = fw->tensor.pieces || fw->tensor.hidden_asked;
        asked &= !(shardings & mine) || (off && framework_hides(fw));
    }
    return asked;
}

void plan_traits_find(struct plan_job *job)
{
    struct space *s = &job->space;
    s->asked_stacks = 0;
    memset(s->fused_stacks, 0, sizeof(s->fused_stacks));
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++) {
        const int64_t stack = s->values[SPACE_LIBRARY][i];
        uint32_t bit = 1U << stack;
        for (int shape = 0; shape < SPACE_SHAPES; shape++)
            s->fused_stacks[shape] |= is_fused(job, stack, shape) ? bit : 0;
        s->asked_stacks |= is_asked(job, stack) ? bit : 0;
    }
}
