#include "step/update/shard_adapters.h"

#include "step/comms.h"
#include "step/issue.h"
#include "step/stage.h"
#include "step/update/shard_comms.h"

/* Operators and calls of CUDA that FSDP's hooks around a unit issue next to its
 * collectives in forward, in backward: streams wait twice, views of the flat parameter are
 * made and dropped, tensors get hooks, its storage is freed after an event; in backward
 * its gradient is cast, cut, padded and divided, and kept (counted in torch/distributed/
 * fsdp/_runtime_utils.py and flat_param.py @00ae0bc9). */
static const double hooks[2] = { 11, 19 };

/* The matrix as a unit; NULL: it is none. */
static const struct op_param *unit_of(const struct builder *b,
                                      const struct op_block *block, int32_t param)
{
    const struct op_param *p = param >= 0 ? &block->params[param] : NULL;
    return b->shard.units && p && shard_units_alone(b->stage, p) ? p : NULL;
}

int shard_adapters_enter(struct builder *b, const struct op_block *block,
                         const struct op *op, struct err *err)
{
    const struct op_param *p = unit_of(b, block, op->thin - 1);
    if (!p)
        return 0;
    int32_t comm = comms_add(b, CHANNEL_SHARD, COLL_ALL_GATHER,
                             (double)p->elements * stage_width_B(b->stage), err);
    if (comm < 0)
        return -1;
    double host_s = (1 + hooks[op->backward]) *
                    (op->backward ? b->stage->fw->host.dispatch_backward_s
                                  : b->stage->fw->host.dispatch_forward_s);
    shard_await_dropped(b);
    issue_wait(b, program_collective_on(&b->step->program, STREAM_SHARD,
                                        CATEGORY_DATA_COMM_EXPOSED, host_s, comm, -1));
    return 0;
}

/* The last of a pass that reads its matrix: forward the first, too. */
static int32_t left_by(const struct op *op)
{
    if (!op->backward)
        return op->thin - 1;
    return op->grad_n > 0 ? op->grad_first : -1;
}

int shard_adapters_leave(struct builder *b, const struct op_block *block,
                         const struct op *op, struct err *err)
{
    const struct op_param *p = unit_of(b, block, left_by(op));
    if (!p)
        return 0;
    shard_note_dropped(b);
    if (!op->backward)
        return 0;
    const struct unit unit = { .summed = (double)p->elements, .tensors = 1 };
    return shard_scatter(b, &unit, err);
}
