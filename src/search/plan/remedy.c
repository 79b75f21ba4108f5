#include "search/plan/remedy.h"

#include "config/datadir.h"
#include "search/plan/point.h"
#include "search/plan/prices.h"
#include "search/plan/score.h"

#include <string.h>

/* Opens a field to all that is worth trying; false when that adds nothing. */
static bool open_field(struct plan_job *job, struct arena *arena, enum space_field f)
{
    struct space *s = &job->space;
    int32_t before = s->n[f];
    s->n[f] = 0;
    space_default(s, arena, f, job->stack_bits);
    return s->n[f] > before;
}

static bool smaller_batch(struct plan_job *job, struct arena *arena)
{
    return open_field(job, arena, SPACE_MICRO);
}

static bool checkpointing(struct plan_job *job, struct arena *arena)
{
    return open_field(job, arena, SPACE_CHECKPOINTING);
}

static bool sharding(struct plan_job *job, struct arena *arena)
{
    bool more = open_field(job, arena, SPACE_SHARDING);
    return open_field(job, arena, SPACE_DEGREE) || more;
}

static bool model_parallelism(struct plan_job *job, struct arena *arena)
{
    bool more = open_field(job, arena, SPACE_TENSOR);
    more |= open_field(job, arena, SPACE_PIPELINE);
    more |= open_field(job, arena, SPACE_SCHEDULE);
    open_field(job, arena, SPACE_VIRTUAL);
    open_field(job, arena, SPACE_SEQUENCE);
    open_field(job, arena, SPACE_OPTIMIZE);
    return open_field(job, arena, SPACE_PLACEMENT) || more;
}

/* Up to thirty-two times as many, in powers of two. */
static bool more_instances(struct plan_job *job, struct arena *arena)
{
    enum { DOUBLINGS = 5 };
    struct space *s = &job->space;
    int64_t most = 0;
    if (job->cluster)
        return false;
    for (int32_t i = 0; i < s->n[SPACE_COUNT]; i++)
        most = s->values[SPACE_COUNT][i] > most ? s->values[SPACE_COUNT][i] : most;
    s->values[SPACE_COUNT] = ARENA_ARRAY(arena, DOUBLINGS, int64_t);
    s->n[SPACE_COUNT] = 0;
    for (int i = 1; i <= DOUBLINGS; i++)
        if (most << i <= CLUSTER_INSTANCES_MAX)
            s->values[SPACE_COUNT][s->n[SPACE_COUNT]++] = most << i;
    return s->n[SPACE_COUNT] > 0;
}

/* Those that can be rented, in the place of what was asked for. */
static bool bigger_instances(struct plan_job *job, struct arena *arena)
{
    struct space *s = &job->space;
    struct raw_plan none = { 0 };
    int64_t had_B = 0;
    bool ml = instance_is_sagemaker(s->instances[0].name);
    if (job->cluster)
        return false;
    for (int32_t i = 0; i < s->n_instances; i++)
        if (s->instances[i].instance->gpu->memory_B > had_B)
            had_B = s->instances[i].instance->gpu->memory_B;
    s->n_instances = 0;
    const char **names = datadir_list(arena, "topologies/instances");
    for (int i = 0; names[i] && s->n_instances < SPACE_INSTANCES_MAX; i++) {
        const struct instance *x =
            instance_get(job->loader, names[i], (struct cfg) { 0 });
        if (!x || x->gpu->memory_B <= had_B || x->n_prices == 0)
            continue;
        s->instances[s->n_instances++] = (struct space_instance) {
            .name = ml ? arena_printf(arena, "ml.%s", names[i]) : names[i],
            .instance = x,
        };
    }
    s->values[SPACE_INSTANCE] = ARENA_ARRAY(arena, s->n_instances + 1, int64_t);
    for (int32_t i = 0; i < s->n_instances; i++)
        s->values[SPACE_INSTANCE][i] = i;
    s->n[SPACE_INSTANCE] = s->n_instances;
    return s->n_instances > 0 && plan_prices(job, &none) == 0;
}

static const struct {
    const char *what;
    bool (*open)(struct plan_job *job, struct arena *arena);
} remedies[PLAN_REMEDIES] = {
    { "a smaller batch", smaller_batch }, { "activation checkpointing", checkpointing },
    { "sharding of states", sharding },   { "model parallelism", model_parallelism },
    { "more instances", more_instances }, { "bigger instances", bigger_instances },
};

static void describe(struct plan_remedy *r, struct arena *arena,
                     const struct plan_job *job)
{
    char text[300];
    const struct space_point *p = &r->entry.point;
    r->cluster =
        arena_strdup(arena, plan_point_cluster_text(job, p, text, sizeof(text)));
    r->text = arena_strdup(arena, plan_point_text(job, p, text, sizeof(text)));
}

static void check(struct plan_remedy *r, struct arena *arena,
                  const struct plan_job *job, const struct plan_options *o)
{
    struct plan_options few = *o;
    struct plan_outcome out;
    struct err err = { 0 };
    few.simulate_most = 12;
    few.exhaustive = false;
    few.max_cost_usd = few.deadline_h = 0;
    r->tried = true;
    if (plan_search(&out, arena, job, &few, &err))
        return;
    r->fits = out.n_entries > 0;
    r->has_entry = r->fits || out.has_nearest;
    if (!r->has_entry)
        return;
    r->entry = r->fits ? out.entries[0] : out.nearest;
    describe(r, arena, job);
}

int32_t plan_remedies(struct plan_remedy out[PLAN_REMEDIES], struct arena *arena,
                      const struct plan_job *job, const struct plan_options *o)
{
    struct plan_job wider = *job;
    for (int i = 0; i < PLAN_REMEDIES; i++) {
        out[i] = (struct plan_remedy) { .what = remedies[i].what };
        if (remedies[i].open(&wider, arena))
            check(&out[i], arena, &wider, o);
        if (out[i].fits || plan_stopped(o))
            return i + 1;
    }
    return PLAN_REMEDIES;
}
