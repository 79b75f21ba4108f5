/* What ranks of several stages do together, on a stream of their own: outputs handed
 * round during the passes; the two copies of an embedding and the norm summed up after
 * them. */
#include "step/model_group.h"

#include "scenario/libraries.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/stage.h"

/* A collective after the last kernel; its task, or -1 after an error. */
static int32_t begin(struct builder *b, enum channel channel, enum coll_op op,
                     double bytes, enum category part, double host_s, struct err *err)
{
    int32_t comm = comms_add(b, channel, op, bytes, err);
    return comm < 0 ? -1
                    : program_collective_on(&b->step->program, STREAM_MODEL, part,
                                            host_s, comm, b->last_kernel);
}

/* An all-reduce after the last kernel; the compute stream waits for it. What follows
 * is the optimizer's when the sum is. */
static int sum(struct builder *b, enum channel channel, double bytes,
               enum category part, struct err *err)
{
    int32_t task = begin(b, channel, COLL_ALL_REDUCE, bytes, part,
                         b->stage->fw->host.dispatch_optimizer_s, err);
    if (task < 0)
        return -1;
    issue_wait(b, task);
    issue_kernel(b, part == CATEGORY_OPTIMIZER ? CATEGORY_OPTIMIZER : CATEGORY_COMPUTE,
                 0, 0, 0);
    return 0;
}

/* Numbers that the model's head makes of each token. */
static double logits_per_token(const struct scenario *s)
{
    switch (s->model.ends.head) {
    case MODEL_HEAD_SPAN:
        return 2;
    case MODEL_HEAD_NONE:
        return (double)s->model.hidden;
    case MODEL_HEAD_CLASS:
    case MODEL_HEAD_SCORE: /* a few for each sequence */
        return 2 / (double)s->training.sequence_length;
    default:
        return (double)s->model.ends.vocab;
    }
}

/* What forward returns of a microbatch. */
static double outputs_B(const struct stage *stage)
{
    double elements[] = {
        [OUTPUTS_NONE] = 0,
        [OUTPUTS_LOSS] = 1,
        [OUTPUTS_LOGITS] =
            (double)op_tokens(&stage->settings) * logits_per_token(stage->s),
    };
    return elements[stage->s->parallel.stages.broadcast_outputs] *
           dtype_bytes(op_compute_dtype(stage->s->training.precision));
}

/* All ranks run the script and get what the head's forward returned; they keep it
 * for the script to read until the step ends. */
bool group_keeps_outputs(const struct scenario *s)
{
    return library_of(&s->parallel)->broadcasts_outputs &&
           s->parallel.stages.broadcast_outputs != OUTPUTS_NONE;
}

int group_broadcast_output(struct builder *b, struct err *err)
{
    if (!group_keeps_outputs(b->stage->s))
        return 0;
    double bytes = outputs_B(b->stage);
    b->outputs.task =
        begin(b, CHANNEL_MODEL, COLL_BROADCAST, bytes, CATEGORY_PIPELINE_COMM, 0, err);
    if (b->outputs.task < 0)
        return -1;
    int64_t received_B = ledger_round((int64_t)bytes);
    if (b->stage->number == partition_head_stage(b->stage->request->parts))
        return 0; /* its own */
    ledger_alloc(&b->step->ledger, LEDGER_BUFFERS, received_B);
    b->outputs.held_B += received_B;
    return 0;
}

void group_take_outputs(struct builder *b)
{
    issue_wait(b, b->outputs.task);
    ledger_free(&b->step->ledger, LEDGER_BUFFERS, b->outputs.held_B);
    b->outputs.task = -1;
    b->outputs.held_B = 0;
}

/* Whether a stage after the first has a copy of the embedding. */
static bool has_copy(const struct stage *stage)
{
    const struct partition *parts = stage->request->parts;
    const struct model *m = &stage->s->model;
    bool tied = model_ties_head(m) && partition_head_stage(parts) != 0;
    return tied || (m->mtp_layers > 0 && partition_mtp_stage(parts) != 0);
}

/* First stage and that with the copy add up the gradients of an embedding that both
 * hold. */
int group_sum_embeddings(struct builder *b, struct err *err)
{
    issue_tag(b, WORK_OTHER, -1);
    const struct parallelism *p = &b->stage->s->parallel;
    const struct groups *groups = b->stage->request->groups;
    int64_t number = b->stage->number;
    if (!has_copy(b->stage) || b->stage->embedding_frozen ||
        (number != 0 && number != groups->copies))
        return 0;
    double elements = (double)b->stage->embedding_elements;
    if (states_shard_parameters(b->stage->s)) /* of shards */
        elements /= (double)p->shard.degree;
    return sum(b, CHANNEL_EMBEDDING, elements * states_wire_B(b->stage->s),
               CATEGORY_PIPELINE_COMM, err);
}

/* The norm of all gradients, for clipping: each rank's share is read, and summed up
 * where there are other shares. */
int group_sum_norms(struct builder *b, struct err *err)
{
    const struct parallelism *p = &b->stage->s->parallel;
    if (b->stage->s->training.gradient_clipping <= 0)
        return 0;
    double bytes =
        (double)op_list_trained(&b->stage->list) * b->stage->states.gradient_B;
    issue_stream(b, CATEGORY_OPTIMIZER, b->stage->fw->host.dispatch_optimizer_s, bytes);
    issue_label(b, "gradient norm");
    if (p->tensor * p->pipeline == 1 && !states_are_sharded(b->stage->s))
        return 0;
    enum channel channel = p->tensor * p->pipeline > 1 ? CHANNEL_MODEL : CHANNEL_SHARD;
    return sum(b, channel, 4, CATEGORY_OPTIMIZER, err);
}
