/* Collectives within a tensor group, of the modules that it shares: which operators
 * they come before or after, by how the group splits its products (MODEL.md, R5). */
#include "step/pass/tensor.h"

#include "model/share.h"
#include "step/contrast.h"
#include "step/pass/block_comms.h"
#include "step/pass/exchange.h"
#include "step/pass/tensor_ends.h"
#include "step/stage.h"

#include <string.h>

/* How it is split; NORMS: norms see a slice of the columns; EACH: products that share
 * their input sum its gradient one by one; AGAIN: what a product has gathered is
 * dropped, and gathered again for the gradient of its weight. Experts that are folded over
 * tensor ranks take the tokens as these hold them: only the expert that all tokens go
 * through is of the tensor group. */
enum {
    REDUCE = 1 << 0,
    SCATTER = 1 << 1,
    COLUMNS = 1 << 2,
    NORMS = 1 << 3,
    EACH = 1 << 4,
    AGAIN = 1 << 5,
    FOLDED = 1 << 6, /* a layer of experts that are folded over tensor ranks */
    FOLDED_AGAIN = 1 << 7,
};

enum extent {
    EXTENT_X,      /* activations of all tokens */
    EXTENT_IN,     /* the same; of latent attention what its up products read */
    EXTENT_QKV,    /* what the first products of attention write, undivided */
    EXTENT_FFN,    /* and those of the MLP */
    EXTENT_TOKENS, /* one fp32 number a token */
    EXTENT_PAIR,   /* stream and embedding side by side */
    EXTENT_16BIT,  /* as X, in 16 bits though products read fewer */
    EXTENT_LOGITS, /* all words' */
};

struct rule {
    unsigned split;
    bool backward, after;
    const char *ops; /* the first of these that the block has */
    enum coll_op op;
    enum extent extent;
    bool overlaps; /* sums may overlap with the weight gradients that follow, gathers
                      with the operator that they precede, up to those gradients */
    int32_t times;
};

/* clang-format off */
static const struct rule rules[] = {
    /* Megatron, SMP "speed": products whole in rows; sums of partial results */
    { REDUCE, false, true, "word_gather", COLL_ALL_REDUCE, EXTENT_X, false, 1 },
    { REDUCE, false, true, "out", COLL_ALL_REDUCE, EXTENT_X, false, 1 },
    { REDUCE, false, true, "state_out", COLL_ALL_REDUCE, EXTENT_X, false, 1 },
    { REDUCE, true, true, "state_in_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    { REDUCE, false, true, "cross_out", COLL_ALL_REDUCE, EXTENT_X, false, 1 },
    { REDUCE, false, true, "combine|down", COLL_ALL_REDUCE, EXTENT_X, false, 1 },
    { REDUCE, true, true, "logits_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    { REDUCE, true, true, "up_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    { REDUCE, true, true, "kv_up_dgrad|qkv_dgrad|value_dgrad", COLL_ALL_REDUCE, EXTENT_IN, true, 1 },
    { REDUCE, true, true, "cross_value_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    /* in addition to these, where every product is a module with a sum of its own */
    { EACH, true, true, "gate_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    { EACH, true, true, "query_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    { EACH, true, true, "key_dgrad", COLL_ALL_REDUCE, EXTENT_X, true, 1 },
    /* sequence parallelism, and the interpretation of SMP "memory" that gathers inputs */
    { SCATTER, false, true, "word_gather", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { SCATTER, false, false, "kv_up|qkv|query", COLL_ALL_GATHER, EXTENT_IN, false, 1 },
    { SCATTER, false, true, "out", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { SCATTER, false, false, "state_in", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { SCATTER, false, true, "state_out", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { SCATTER, true, false, "state_out_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { AGAIN, true, false, "state_in_dgrad", COLL_ALL_GATHER, EXTENT_X, true, 1 },
    { SCATTER, true, true, "state_in_dgrad", COLL_REDUCE_SCATTER, EXTENT_X, true, 1 },
    { SCATTER, false, false, "cross_query", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { SCATTER, false, true, "cross_out", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { SCATTER, false, false, "router|gate|up", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { SCATTER, false, true, "combine|down", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { SCATTER, false, false, "logits", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { SCATTER, true, true, "logits_dgrad", COLL_REDUCE_SCATTER, EXTENT_X, true, 1 },
    { SCATTER, true, false, "combine_bwd|down_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { AGAIN, true, false, "up_dgrad", COLL_ALL_GATHER, EXTENT_X, true, 1 },
    { SCATTER, true, true, "up_dgrad", COLL_REDUCE_SCATTER, EXTENT_X, true, 1 },
    { SCATTER, true, false, "out_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { SCATTER, true, false, "cross_out_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { AGAIN, true, false, "qkv_dgrad|query_dgrad", COLL_ALL_GATHER, EXTENT_IN, true, 1 },
    { SCATTER, true, true, "kv_up_dgrad|qkv_dgrad|value_dgrad", COLL_REDUCE_SCATTER, EXTENT_IN, true, 1 },
    { SCATTER, true, true, "cross_value_dgrad", COLL_REDUCE_SCATTER, EXTENT_X, true, 1 },
    { SCATTER, true, false, "word_scatter", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    /* projection of multi-token prediction: its columns are gathered, and scattered by
     * sequence */
    { SCATTER, false, false, "mtp_projection", COLL_ALL_GATHER, EXTENT_PAIR, false, 1 },
    { REDUCE | SCATTER, false, true, "mtp_projection", COLL_ALL_GATHER, EXTENT_16BIT, false, 1 },
    { SCATTER, true, false, "mtp_projection_dgrad", COLL_ALL_GATHER, EXTENT_16BIT, false, 1 },
    { AGAIN, true, false, "mtp_projection_dgrad", COLL_ALL_GATHER, EXTENT_PAIR, true, 1 },
    { SCATTER, true, true, "mtp_projection_dgrad", COLL_REDUCE_SCATTER, EXTENT_PAIR, true, 1 },
    { REDUCE, true, true, "mtp_projection_dgrad", COLL_ALL_REDUCE, EXTENT_PAIR, true, 1 },
    { FOLDED, false, false, "shared_gate|shared_up", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { FOLDED, false, true, "shared_down", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { FOLDED, true, false, "shared_down_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { FOLDED_AGAIN, true, false, "shared_up_dgrad", COLL_ALL_GATHER, EXTENT_X, true, 1 },
    { FOLDED, true, true, "shared_up_dgrad", COLL_REDUCE_SCATTER, EXTENT_X, true, 1 },
    /* SMP "memory", the other: every product split by the columns of its input */
    { COLUMNS, false, true, "qkv|value", COLL_REDUCE_SCATTER, EXTENT_QKV, false, 1 },
    { COLUMNS, false, true, "out", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { COLUMNS, false, true, "up", COLL_REDUCE_SCATTER, EXTENT_FFN, false, 1 },
    { COLUMNS, false, true, "combine|down", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { COLUMNS, false, true, "cross_value", COLL_REDUCE_SCATTER, EXTENT_QKV, false, 1 },
    { COLUMNS, false, true, "cross_out", COLL_REDUCE_SCATTER, EXTENT_X, false, 1 },
    { COLUMNS, true, false, "combine_bwd|down_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { COLUMNS, true, false, "gate_dgrad|up_dgrad", COLL_ALL_GATHER, EXTENT_FFN, false, 1 },
    { COLUMNS, true, false, "out_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { COLUMNS, true, false, "cross_out_dgrad", COLL_ALL_GATHER, EXTENT_X, false, 1 },
    { COLUMNS, true, false, "qkv_dgrad|query_dgrad", COLL_ALL_GATHER, EXTENT_QKV, false, 1 },
    { COLUMNS, true, false, "cross_query_dgrad", COLL_ALL_GATHER, EXTENT_QKV, false, 1 },
    /* norms over slices of columns: two sums each way */
    { NORMS, false, true, "norm1", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    { NORMS, false, true, "norm2", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    { NORMS, false, true, "norm3", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    { NORMS, true, true, "norm1_bwd", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    { NORMS, true, true, "norm2_bwd", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    { NORMS, true, true, "norm3_bwd", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 2 },
    /* loss over a split vocabulary: largest logit, its target, sum of exponentials */
    { REDUCE | SCATTER, false, true, "loss", COLL_ALL_REDUCE, EXTENT_TOKENS, false, 3 },
    /* in its place, all logits on each rank; backward takes its words out of the
     * gradient */
    { REDUCE | SCATTER, false, true, "logits", COLL_ALL_GATHER, EXTENT_LOGITS, false, 1 },
};
/* clang-format on */
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* The rules that the operator's module follows; 0: it is whole. SMP splits embedding
 * and head, where at all, as Megatron does. */
static unsigned split_of(const struct stage *stage, const struct op_block *block,
                         const struct op *op)
{
    const struct parallelism *p = &stage->s->parallel;
    bool experts = op->module == OP_MLP &&
                   block_comms_find(block->forward, block->n_forward, "dispatch") >= 0;
    struct share share = share_of(&stage->s->model, &stage->settings, op->module);
    if (share.degree == 1)
        return 0;
    if (experts && parallelism_folds_experts(p))
        return stage->fw->tensor.keeps_gathered ? FOLDED : FOLDED | FOLDED_AGAIN;
    if (p->split.sequence_parallel)
        return stage->fw->tensor.keeps_gathered ? SCATTER : SCATTER | AGAIN;
    if (share.stream != SHARE_SLICE)
        return stage->fw->tensor.sums_each_input ? REDUCE | EACH : REDUCE;
    return NORMS |
           (p->split.tensor_policy == TENSOR_SMP_GATHER ? SCATTER | AGAIN : COLUMNS);
}

/* Columns of attention's input that a tensor group exchanges: Megatron-LM's down
 * products are not split (megatron/core/transformer/multi_latent_attention.py), so that
 * it is their results that the up products gather. */
static int64_t read_width(const struct model *m)
{
    int64_t kv = m->attention.latent_kv + m->attention.latent_rope;
    if (!m->attention.latent_kv)
        return m->hidden;
    return kv + (m->attention.latent_q ? m->attention.latent_q : m->hidden);
}

static double extent_B(const struct stage *stage, const struct op_block *bl,
                       enum extent e, double width)
{
    const struct model *m = &stage->s->model;
    double tokens = (double)bl->tokens;
    switch (e) {
    case EXTENT_X:
        return tokens * (double)m->hidden * width;
    case EXTENT_16BIT:
        return tokens * (double)m->hidden * stage_width_B(stage);
    case EXTENT_PAIR:
        return 2 * tokens * (double)m->hidden * width;
    case EXTENT_IN:
        return tokens * (double)read_width(m) * width;
    case EXTENT_QKV:
        return tokens *
               (double)(m->attention.q_width + 2 * op_keys_width(m, &stage->settings)) *
               width;
    case EXTENT_FFN:
        return tokens * (double)m->mlp.width * (m->mlp.gated ? 2 : 1) * width;
    case EXTENT_TOKENS:
        return tokens * 4;
    case EXTENT_LOGITS:
        return tokens * (double)m->ends.vocab * stage_width_B(stage);
    }
    return 0;
}

/* Bytes of an element. What products read quantized, Transformer Engine quantizes before
 * it is gathered (2.17, pytorch/distributed.py, gather_along_first_dim): the inputs in
 * one order, the gradients in each order that has scales of its own and a reader. */
static double element_B(const struct stage *stage, const struct rule *r,
                        const struct op *op)
{
    if (r->op != COLL_ALL_GATHER || !dtype_is_quantized(op->dtype) ||
        !stage->fw->tensor.gathers_quantized)
        return stage_width_B(stage);
    bool of_gradient = r->backward && !(r->split & AGAIN);
    bool both = of_gradient && stage->s->training.lora.rank == 0 &&
                op->dtype != DTYPE_FP8; /* whose scales serve both orders */
    return dtype_element_B(op->dtype) * (both ? 2 : 1);
}

/* Attention and MLP side by side share one collective: the later one's. SMP's are
 * modules of their own, each with its own, as are products that sum one by one. */
static bool is_shared(const struct stage *stage, const struct rule *r)
{
    return stage->s->model.parallel_residual && !stage->settings.best_effort &&
           !stage->fw->tensor.sums_each_input &&
           (strcmp(r->ops, r->backward ? "up_dgrad" : "out") == 0 ||
            (r->op == COLL_ALL_GATHER &&
             strcmp(r->ops, r->backward ? "out_dgrad" : "router|gate|up") == 0));
}

/* DTensor's collectives cut the first dimension alone: sequences of a batch are put in
 * order by a copy of all that is gathered, or is scattered (MODEL.md, R5). Pieces within
 * products need none. */
static double copied_B(const struct stage *stage, enum coll_op op, double size_B)
{
    const struct parallelism_split *split = &stage->s->parallel.split;
    bool is_cut = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER;
    bool copies = stage->fw->tensor.copies && split->sequence_parallel;
    return copies && is_cut && split->hidden_frac == 0 ? 2 * size_B : 0;
}

/* Whether the rule is of the other kind of loss. */
static bool is_other_loss(const struct stage *stage, const struct rule *r)
{
    return r->extent == EXTENT_LOGITS
               ? !stage->settings.whole_loss
               : strcmp(r->ops, "loss") == 0 && stage->settings.whole_loss;
}

static int plan_rule(struct builder *b, const struct rule *r, int32_t block,
                     struct err *err)
{
    const struct op_block *bl = &b->stage->list.blocks[block];
    const struct op *ops = r->backward ? bl->backward : bl->forward;
    int32_t at =
        block_comms_find(ops, r->backward ? bl->n_backward : bl->n_forward, r->ops);
    if (at < 0 || is_shared(b->stage, r) || is_other_loss(b->stage, r) ||
        !(split_of(b->stage, bl, &ops[at]) & r->split))
        return 0;
    double size_B = extent_B(b->stage, bl, r->extent, element_B(b->stage, r, &ops[at]));
    bool gathers = r->op == COLL_ALL_GATHER &&
                   (b->stage->settings.slices || b->stage->fw->tensors.gather_buffers);
    struct op_comm place = { .op = at,
                             .after = r->after,
                             .overlapped =
                                 r->overlaps && b->stage->s->parallel.split.overlaps,
                             .workspace_B = gathers ? (int64_t)size_B : 0,
                             .copied_B = copied_B(b->stage, r->op, size_B),
                             .times = r->times };
    return block_comms_add(b, block, r->backward, place, r->op, size_B, err);
}

int tensor_plan(struct stage *stage, struct builder *b, struct err *err)
{
    enum { MOST = RULES + EXCHANGES_MAX + TENSOR_ENDS_MAX };
    stage->comms = ARENA_ARRAY(stage->arena, stage->list.n_blocks, struct block_comms);
    for (int32_t i = 0; i < b->stage->list.n_blocks; i++) {
        stage->comms[i].v[0] = ARENA_RAW(b->stage->arena, MOST, struct op_comm);
        stage->comms[i].v[1] = ARENA_RAW(b->stage->arena, MOST, struct op_comm);
        if (tensor_ends_before(b, i, err) < 0)
            return -1;
        for (int k = 0; k < RULES && b->stage->s->parallel.tensor > 1; k++)
            if (plan_rule(b, &rules[k], i, err) < 0)
                return -1;
        if (tensor_ends_after(b, i, err) < 0)
            return -1;
    }
    return exchange_plan(b, err) < 0 ? -1 : contrast_plan(b, err);
}
