/* Gradients into buckets, buckets onto the wire, as data-parallel libraries do it. */
#include "replay/builder.h"

#include <math.h>

/* A communicator that uses only some of a node's NICs: what it sends loads each of them
 * the more. */
static void share_nics(const struct builder *b, struct coll_plan *plan)
{
    const struct net_link *links = net_links(b->net);
    for (int32_t i = 0; i < plan->n_phases; i++)
        for (int32_t j = 0; j < plan->phases[i].n_uses; j++)
            if (links[plan->phases[i].uses[j].link].kind == NET_NIC)
                plan->phases[i].uses[j].weight /= b->fw->network_frac;
}

int buckets_plan(struct builder *b, double size_B, struct err *err)
{
    if (size_B == b->plan_B)
        return 0;
    struct coll_plan *plan = ARENA_NEW(b->arena, struct coll_plan);
    struct coll_group *world = ARENA_NEW(b->arena, struct coll_group);
    *world = coll_group_world(&b->s->cluster);
    struct coll_request request = {
        .op = COLL_ALL_REDUCE,
        .algorithm = COLL_AUTO,
        .protocol = b->s->software.protocol,
        .size_B = size_B,
        .groups = world,
        .n_groups = 1,
        .nccl = b->s->software.nccl,
        .graph_launch = true,
    };
    if (coll_plan_make(plan, b->arena, b->net, &request, err) < 0)
        return -1;
    share_nics(b, plan);
    b->plan_B = size_B;
    b->plan = program_comm(&b->step->program, plan);
    b->shared.sms = fmin(b->shared.sms, 1 - plan->sm_frac);
    return 0;
}

void buckets_begin(struct builder *b)
{
    const struct parallelism *p = &b->s->parallel;
    b->bucket_limit_B = (double)(p->first_bucket_B ? p->first_bucket_B : p->bucket_B);
}

/* Sends the bucket: gradients are copied in, reduced, and copied out. */
static int send_bucket(struct builder *b, struct err *err)
{
    if (b->bucket_B <= 0)
        return 0;
    if (buckets_plan(b, b->bucket_B, err) < 0)
        return -1;
    double host_s = b->fw->dispatch_backward_s;
    int32_t ready =
        build_stream(b, PART_COMPUTE, host_s, b->bucket_B * b->fw->bucket_copy_B);
    b->last_comm = program_collective(&b->step->program, PART_DATA_COMM_EXPOSED, host_s,
                                      b->plan, ready);
    b->bucket_B = 0;
    b->bucket_limit_B = (double)b->s->parallel.bucket_B;
    return 0;
}

int buckets_add(struct builder *b, int64_t elements, struct err *err)
{
    b->bucket_B += (double)elements * states_wire_B(b->s);
    if (b->bucket_limit_B <= 0 || b->bucket_B < b->bucket_limit_B)
        return 0;
    return send_bucket(b, err);
}

/* All gradients at once, after backward, when reduction does not overlap with it. */
static int add_all(struct builder *b, struct err *err)
{
    for (int32_t i = b->list.n_blocks - 1; i >= 0; i--) {
        const struct op_block *block = &b->list.blocks[i];
        for (int64_t k = 0; k < block->repeat; k++)
            for (int32_t j = block->n_params - 1; j >= 0; j--)
                if (buckets_add(b, block->params[j].elements, err) < 0)
                    return -1;
    }
    return 0;
}

/* The last bucket, and what it costs that ranks wait for each other. */
int buckets_end(struct builder *b, struct err *err)
{
    if (!b->s->parallel.overlap && add_all(b, err) < 0)
        return -1;
    if (send_bucket(b, err) < 0)
        return -1;
    double wait_s = b->fw->reduce_s;
    if (wait_s > 0)
        b->last_comm = program_kernel(&b->step->program, STREAM_COMM,
                                      PART_DATA_COMM_EXPOSED, 0, wait_s, wait_s);
    return 0;
}
