/* One update of the optimizer. */
#include "step/update/update.h"

#include "scenario/libraries.h"
#include "step/issue.h"
#include "step/pass/offload.h"
#include "step/replicas.h"
#include "step/update/zero.h"

static bool scales_loss(enum op_precision p)
{
    return p == OP_FP16 || p == OP_AMP_FP16;
}

/* One kernel after the other on each parameter tensor. */
static void update_tensors(struct builder *b, const struct framework_optimizer *o)
{
    double kernels = (double)o->kernels_per_tensor;
    double dispatch_s = framework_optimizer_dispatch_s(b->stage->fw, o);
    double moved_B = states_update_B(b->stage->s) / kernels;
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        const struct op_block *block = &b->stage->list.blocks[i];
        for (int64_t k = 0; k < block->repeat * block->n_params; k++) {
            const struct op_param *p = &block->params[k % block->n_params];
            if (p->frozen)
                continue;
            double elements = (double)p->elements /
                              replicas_shards(b->stage, replicas_of(b->stage, p));
            double time_s = kernels * kernel_stream_s(b->stage->gpu, elements * moved_B,
                                                      kernel_alone);
            issue_kernel(b, CATEGORY_OPTIMIZER, dispatch_s * kernels, time_s, time_s);
        }
    }
}

void update_parameters(struct builder *b)
{
    if (library_is_asynchronous(&b->stage->s->parallel))
        return; /* the servers have done it */
    const struct framework_optimizer *o =
        &b->stage->fw->optimizers[b->stage->s->training.optimizer];
    struct program *p = &b->step->program;
    double step_B = 0, moved = 0; /* by elements of the rank's shards */
    for (int h = 0; h < REPLICA_GROUPS; h++) {
        double elements = (double)replicas_held(b->stage, (enum replica_group)h);
        step_B += replicas_states(b->stage, (enum replica_group)h)->step_B * elements;
        moved += elements / replicas_shards(b->stage, (enum replica_group)h);
    }
    if (scales_loss(
            b->stage->s->training.precision)) /* the host reads whether any is inf */
        p->tasks.v[p->tasks.n - 1].sync = true;
    if (zero_flattens(b->stage))
        zero_update(b);
    else if (!b->stage->s->training.updates_in_backward) /* else of one tensor */
        ledger_alloc(&b->step->ledger, LEDGER_WORKSPACE, (int64_t)step_B);
    bool on_gpu = !offload_update(b, moved);
    if (on_gpu && o->kernels_per_tensor > 0)
        update_tensors(b, o);
    else if (on_gpu)
        issue_stream(b, CATEGORY_OPTIMIZER, b->stage->fw->host.dispatch_optimizer_s,
                     states_update_B(b->stage->s) * moved);
    issue_host_pause(b, o->fixed_s);
}
