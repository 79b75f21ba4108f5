#include "emit_same.h"

#include "scenario/libraries.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

/* How the kernel of attention was named and the profile given says nothing of a step. */
static bool same_training(const struct training *a, const struct training *b)
{
    struct training x = *a, y = *b;
    x.task = y.task = NULL;
    x.framework = y.framework = NULL;
    x.attention_word = y.attention_word = 0;
    x.framework_named = y.framework_named = false;
    return memcmp(&x, &y, sizeof(x)) == 0 && same_text(a->task, b->task) &&
           same_text(a->framework->name, b->framework->name);
}

static bool same_parallel(const struct parallelism *a, const struct parallelism *b)
{
    struct parallelism x = *a, y = *b;
    size_t stages = (size_t)(a->pipeline * a->stages.virtual_stages);
    x.stages.layers = y.stages.layers = NULL;
    if (memcmp(&x, &y, sizeof(x)) != 0)
        return false;
    return a->stages.partition != PARTITION_MANUAL ||
           memcmp(a->stages.layers, b->stages.layers,
                  stages * sizeof(*a->stages.layers)) == 0;
}

static bool same_model(const struct model *a, const struct model *b)
{
    struct model x = *a, y = *b;
    x.name = y.name = x.label = y.label = x.family = y.family = NULL;
    return memcmp(&x, &y, sizeof(x)) == 0;
}

/* Versions matter to who gathers (scenario/sagemaker.h), and NCCL's to its choice. */
static bool same_software(const struct software *a, const struct software *b,
                          bool smddp)
{
    return (!smddp || (same_text(a->pytorch, b->pytorch) &&
                       same_text(a->smddp, b->smddp) && same_text(a->smp, b->smp))) &&
           same_text(a->nccl, b->nccl) && a->protocol == b->protocol &&
           memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0 &&
           a->simple_on_efa == b->simple_on_efa && a->no_nvls == b->no_nvls &&
           a->has_protocol == b->has_protocol && a->has_algorithm == b->has_algorithm;
}

static bool same_cluster(const struct scenario *a, const struct scenario *b)
{
    const struct cluster *x = &a->cluster, *y = &b->cluster;
    bool same = x->n_groups == y->n_groups && !a->fabric == !b->fabric &&
                (!a->fabric || same_text(a->fabric->name, b->fabric->name));
    for (int i = 0; i < x->n_groups && same; i++)
        same = x->groups[i].count == y->groups[i].count &&
               x->groups[i].gpus_per_instance == y->groups[i].gpus_per_instance &&
               same_text(x->groups[i].instance->name, y->groups[i].instance->name);
    return same;
}

bool emit_same(const struct scenario *a, const struct scenario *b)
{
    return same_training(&a->training, &b->training) &&
           same_parallel(&a->parallel, &b->parallel) &&
           same_model(&a->model, &b->model) &&
           same_software(&a->software, &b->software,
                         a->parallel.reduce.backend == BACKEND_SMDDP) &&
           same_cluster(a, b);
}
