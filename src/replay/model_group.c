/* What ranks of several stages do together at the ends of an accumulation step and of the
 * update: outputs handed round, the two copies of an embedding and the norm summed up. */
#include "replay/builder.h"

/* A collective behind the last kernel, and the compute stream behind it. What follows is
 * the optimizer's when the collective is. */
static int meet(struct builder *b, enum channel channel, enum coll_op op, double bytes,
                enum part part, double host_s, struct err *err)
{
    int32_t comm = build_comm(b, channel, op, bytes, err);
    if (comm < 0)
        return -1;
    build_wait(
        b, program_collective(&b->step->program, part, host_s, comm, b->last_kernel));
    build_kernel(b, part == PART_OPTIMIZER ? PART_OPTIMIZER : PART_COMPUTE, 0, 0, 0);
    return 0;
}

/* Numbers that the model's head makes of each token. */
static double logits_per_token(const struct scenario *s)
{
    switch (s->model.head) {
    case MODEL_HEAD_SPAN:
        return 2;
    case MODEL_HEAD_NONE:
        return (double)s->model.hidden;
    case MODEL_HEAD_CLASS: /* a few for each sequence */
        return 2 / (double)s->training.sequence_length;
    default:
        return (double)s->model.vocab;
    }
}

/* What forward returned goes from the last stage to all ranks of the model group: under
 * SMP's step, for all microbatches together, behind the stage's last pass. */
int group_broadcast_outputs(struct builder *b, struct err *err)
{
    const struct scenario *s = b->s;
    double elements[] = {
        [OUTPUTS_NONE] = 0,
        [OUTPUTS_LOSS] = 1,
        [OUTPUTS_LOGITS] = (double)op_tokens(&b->settings) * logits_per_token(s),
    };
    double each_B = dtype_bytes(op_compute_dtype(s->training.precision));
    double bytes = elements[s->parallel.broadcast_outputs] * each_B *
                   (double)s->training.microbatches;
    if (bytes <= 0 || s->parallel.library != LIBRARY_SMP)
        return 0;
    return meet(b, CHANNEL_MODEL, COLL_BROADCAST, bytes, PART_PIPELINE_COMM,
                b->fw->dispatch_forward_s, err);
}

/* First and last stage add up the gradients of an embedding that both hold. */
int group_sum_embeddings(struct builder *b, struct err *err)
{
    build_tag(b, WORK_OTHER, -1);
    const struct parallelism *p = &b->s->parallel;
    int64_t stage = groups_stage(b->request->groups, b->plans_rank);
    if (p->pipeline == 1 || !b->s->model.tied_embeddings ||
        (stage != 0 && stage != p->pipeline - 1))
        return 0;
    double elements = (double)b->embedding_elements;
    if (shard_is_full(b)) /* of shards */
        elements /= (double)p->shard_degree;
    return meet(b, CHANNEL_EMBEDDING, COLL_ALL_REDUCE, elements * states_wire_B(b->s),
                PART_PIPELINE_COMM, b->fw->dispatch_optimizer_s, err);
}

/* The norm of all gradients, for clipping: each rank's share is read, and summed up. */
int group_sum_norms(struct builder *b, struct err *err)
{
    const struct parallelism *p = &b->s->parallel;
    bool sharded = p->sharding != SHARDING_NONE && p->shard_degree > 1;
    if (b->s->training.gradient_clipping <= 0 ||
        (p->tensor * p->pipeline == 1 && !sharded))
        return 0;
    double bytes = (double)op_list_parameters(&b->list) * b->states.gradient_B;
    build_stream(b, PART_OPTIMIZER, b->fw->dispatch_optimizer_s, bytes);
    build_label(b, "gradient norm");
    enum channel channel = p->tensor * p->pipeline > 1 ? CHANNEL_MODEL : CHANNEL_SHARD;
    return meet(b, channel, COLL_ALL_REDUCE, 4, PART_OPTIMIZER,
                b->fw->dispatch_optimizer_s, err);
}
