#include "simulate/resources.h"

#include "step/reps.h"

#include <math.h>

const struct name_value resource_names[] = {
    { "products", RESOURCE_PRODUCTS },
    { "attention", RESOURCE_ATTENTION },
    { "memory", RESOURCE_MEMORY },
    { "host", RESOURCE_HOST },
    { "links", RESOURCE_LINKS },
    { "network", RESOURCE_NETWORK },
    { NULL, 0 },
};

/* The links of a group: of one that leaves its node, those between nodes are the
 * slower. */
static enum resource links_of(const struct groups *g, enum channel channel)
{
    struct ranks r = groups_of(g, channel, 0);
    int64_t first, instance;
    int32_t gpu;
    groups_place(g, ranks_member(&r, 0), &first, &gpu);
    for (int64_t i = 1, n = ranks_count(&r); i < n; i++) {
        groups_place(g, ranks_member(&r, i), &instance, &gpu);
        if (instance != first)
            return RESOURCE_NETWORK;
    }
    return RESOURCE_LINKS;
}

/* Shares of a middle layer's kernels; all are products where no layer is known. */
static void share_kernels(double shares[OP_STREAM + 1], const struct reps *reps)
{
    double all_s = 0;
    const struct step *step = &reps->steps[reps->n_steps / 2];
    for (int32_t i = 0; i < reps->n_steps && step->kinds_s[OP_GEMM] <= 0; i++)
        step = &reps->steps[i];
    for (int k = 0; k <= OP_STREAM; k++)
        all_s += step->kinds_s[k];
    for (int k = 0; k <= OP_STREAM; k++)
        shares[k] = all_s > 0 ? step->kinds_s[k] / all_s : k == OP_GEMM;
}

/* What of the kernels may run during the traffic over the slowest links: all of them
 * where parameters are sharded over these, else the backward of the last microbatch, two
 * thirds of what is computed once and all that is computed again. */
static double window_of(const double parts_s[CATEGORY_N], const struct scenario *s,
                        bool gathers)
{
    const struct training *t = &s->training;
    double compute_s = parts_s[CATEGORY_COMPUTE], again_s = parts_s[CATEGORY_RECOMPUTE];
    if (s->parallel.shard.strategy == SHARDING_FULL && gathers)
        return breakdown_passes_s(parts_s);
    return (2.0 / 3 * compute_s + again_s) /
           (double)(t->microbatches * t->accumulation);
}

static double network_Bps(const struct scenario *s)
{
    const struct instance *inst = s->cluster.groups[0].instance;
    double line_Bps = 0;
    if (s->cluster.n_instances < 2 || !s->fabric)
        return 0;
    for (int32_t i = 0; i < inst->n_nics; i++)
        line_Bps += inst->nics[i].line_Bps;
    return line_Bps * s->fabric->efficiency / inst->n_gpus;
}

/* Where a pass waits for another stage it waits for what passes are made of. */
static void add_bubble(struct resources *r, double bubble_s, double pass_s)
{
    for (int i = 0; i < RESOURCE_N && pass_s > 0; i++)
        r->s[i] *= 1 + bubble_s / pass_s;
    if (pass_s <= 0)
        r->s[RESOURCE_HOST] += bubble_s;
}

struct resources resources_of(const double parts_s[CATEGORY_N],
                              const struct scenario *s, const struct reps *reps)
{
    static const struct {
        enum category part;
        enum channel channel;
    } comms[] = { { CATEGORY_TENSOR_COMM, CHANNEL_TENSOR },
                  { CATEGORY_CONTEXT_COMM, CHANNEL_CONTEXT },
                  { CATEGORY_EXPERT_COMM, CHANNEL_EXPERT } };
    const struct groups *g = &reps->groups;
    double shares[OP_STREAM + 1];
    double kernels_s = breakdown_passes_s(parts_s), pass_s = kernels_s;
    struct resources r = { .data_by = links_of(g, CHANNEL_DATA),
                           .data_s = parts_s[CATEGORY_DATA_COMM_EXPOSED],
                           .hidden_s = parts_s[CATEGORY_DATA_COMM_HIDDEN],
                           .network_Bps = network_Bps(s) };
    share_kernels(shares, reps);
    r.s[RESOURCE_PRODUCTS] = shares[OP_GEMM] * kernels_s;
    r.s[RESOURCE_ATTENTION] = shares[OP_FLASH] * kernels_s;
    r.s[RESOURCE_MEMORY] = shares[OP_STREAM] * kernels_s;
    for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
        r.s[links_of(g, comms[i].channel)] += parts_s[comms[i].part];
        pass_s += parts_s[comms[i].part];
    }
    add_bubble(&r, parts_s[CATEGORY_PIPELINE_BUBBLE], pass_s);
    r.s[links_of(g, CHANNEL_MODEL)] += parts_s[CATEGORY_PIPELINE_COMM];
    r.s[r.data_by] += r.data_s;
    r.s[RESOURCE_MEMORY] += parts_s[CATEGORY_OPTIMIZER];
    r.s[RESOURCE_HOST] += parts_s[CATEGORY_OTHER] + parts_s[CATEGORY_OFFLOAD_EXPOSED];
    bool gathers = links_of(g, CHANNEL_SHARD) == r.data_by;
    r.window_s = fmax(r.hidden_s, window_of(parts_s, s, gathers));
    if (r.data_s > r.window_s - r.hidden_s) /* links that were busy throughout */
        r.window_s = r.hidden_s;
    return r;
}

/* JSON ----------------------------------------------------------------------------- */

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

struct resources resources_read(json_t *object)
{
    struct resources r = { .data_by = RESOURCE_LINKS };
    const char *by = json_string_value(json_object_get(object, "data_by"));
    int data_by;
    for (int i = 0; i < RESOURCE_N; i++)
        r.s[i] =
            number(json_object_get(object, "seconds"), names_of(resource_names, i));
    if (by && names_find(resource_names, by, &data_by) == 0)
        r.data_by = (enum resource)data_by;
    r.data_s = number(object, "data_s");
    r.hidden_s = number(object, "hidden_s");
    r.window_s = number(object, "window_s");
    r.network_Bps = number(object, "network_bytes_per_s");
    return r;
}
