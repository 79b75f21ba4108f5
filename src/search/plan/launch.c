#include "search/plan/launch.h"

#include <string.h>

static bool is_enabled(const json_t *distribution, const char *launcher)
{
    return json_is_true(
        json_object_get(json_object_get(distribution, launcher), "enabled"));
}

void plan_launch_read(struct plan_job *job, const json_t *distribution, bool estimator)
{
    static const char *const own[] = { "torch_distributed", "pytorchddp" };
    bool alone = !json_object_get(distribution, "smdistributed");
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (alone && !job->launcher && is_enabled(distribution, own[i]))
            job->launcher = json_pack("{s:{s:b}}", own[i], "enabled", 1);
    job->launch = distribution ? PLAN_LAUNCH_SCENARIO
                  : estimator  ? PLAN_LAUNCH_ESTIMATOR
                               : PLAN_LAUNCH_NAMED;
}

static bool is_launched(const struct plan_job *job, int32_t instance)
{
    return job->launch != PLAN_LAUNCH_NAMED ||
           instance_is_sagemaker(job->space.instances[instance].name);
}

/* SMP's dictionary has its launcher, and Megatron none: neither needs an assumption. */
void plan_launch_assume(struct plan_job *job)
{
    const struct space *s = &job->space;
    bool plain = false, launched = false;
    for (int32_t i = 0; i < s->n[SPACE_LIBRARY]; i++)
        plain |= space_stacks[s->values[SPACE_LIBRARY][i]].dialect == DIALECT_WORDS &&
                 space_stacks[s->values[SPACE_LIBRARY][i]].row->launcher;
    for (int32_t i = 0; i < s->n_instances; i++)
        launched |= is_launched(job, i);
    if (plain && launched && job->launch != PLAN_LAUNCH_SCENARIO)
        assumptions_add(
            &job->assumed, &job->loader->arena, "/distribution",
            "SageMaker's launcher of each library",
            job->launch == PLAN_LAUNCH_ESTIMATOR
                ? "an estimator starts it; it holds NCCL to Simple over EFA"
                : "of instances named ml.; it holds NCCL to Simple over EFA");
}

json_t *plan_launch_json(const struct plan_job *job, const struct space_point *p)
{
    const struct library_row *row = space_stacks[p->v[SPACE_LIBRARY]].row;
    const struct parallelism how = { .reduce = { .library = row->library,
                                                 .backend = row->backend } };
    const char *launcher = library_launcher(&how);
    if (!launcher || !is_launched(job, (int32_t)p->v[SPACE_INSTANCE]))
        return NULL;
    if (strcmp(launcher, "mpi") == 0)
        return json_pack("{s:{s:b, s:I}}", launcher, "enabled", 1, "processes_per_host",
                         (json_int_t)p->v[SPACE_GPUS]);
    if (strcmp(launcher, "smdistributed") == 0)
        return json_pack("{s:{s:{s:b}}}", launcher, "dataparallel", "enabled", 1);
    return job->launcher ? json_deep_copy(job->launcher)
                         : json_pack("{s:{s:b}}", launcher, "enabled", 1);
}
