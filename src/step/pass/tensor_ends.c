/* Where the residual stream passes between modules that a tensor group shares in unlike
 * ways (model/share.h): at the ends of SMP's distributed transformer, and at modules
 * that are left whole (MODEL.md, R5.1). T is the stream of all the group's tokens.
 *
 *   from   to     forward              backward
 *   OWN    ALL    all-gather T         slices
 *   ALL    OWN    slices               all-gather T
 *   ALL    SLICE  slices               all-gather T
 *   SLICE  ALL    all-gather T         slices
 *   OWN    SLICE  all-to-all of T / t  all-to-all of T / t
 *   SLICE  OWN    all-to-all of T / t  all-to-all of T / t
 *
 * Slices are views: they take no time. A rank's own tokens are its samples; where all
 * were fed the same ones, its part of each sequence, which is gathered (ALL) on the
 * way. */
#include "step/pass/tensor_ends.h"

#include "model/share.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/pass/block_comms.h"
#include "step/stage.h"

#include <string.h>

enum { NOTHING = -1 };

struct way {
    enum share_stream from, to;
    int forward, backward; /* enum coll_op */
};

static const struct way ways[] = {
    { SHARE_OWN, SHARE_ALL, COLL_ALL_GATHER, NOTHING },
    { SHARE_ALL, SHARE_OWN, NOTHING, COLL_ALL_GATHER },
    { SHARE_ALL, SHARE_SLICE, NOTHING, COLL_ALL_GATHER },
    { SHARE_SLICE, SHARE_ALL, COLL_ALL_GATHER, NOTHING },
    { SHARE_OWN, SHARE_SLICE, COLL_ALLTOALL, COLL_ALLTOALL },
    { SHARE_SLICE, SHARE_OWN, COLL_ALLTOALL, COLL_ALLTOALL },
};

/* A place of a block where the stream goes from one module to another: an operator of
 * its forward list and one of its backward list. */
struct crossing {
    enum share_stream from, to;
    struct op_comm forward, backward;
};

enum { CROSSINGS_MAX = 2 };

static enum share_stream stream_of(const struct stage *stage, enum op_module module)
{
    return share_of(&stage->s->model, &stage->settings, module).stream;
}

static enum share_stream between(const struct stage *stage)
{
    return share_between_layers(&stage->s->model, &stage->settings);
}

/* Of all the group's tokens, in the width of the residual stream. */
static double whole_B(const struct stage *stage)
{
    bool wide = op_is_autocast(stage->s->training.precision) || !stage->half;
    double tokens = (double)op_tokens(&stage->settings);
    return tokens * (double)stage->s->model.hidden * (wide ? 4 : 2);
}

static struct op_comm place(int32_t op, bool after)
{
    return (struct op_comm) { .op = op, .after = after, .times = 1 };
}

static int32_t first_of(const struct op *ops, int32_t n, enum op_module module)
{
    for (int32_t i = 0; i < n; i++)
        if (ops[i].module == module)
            return i;
    return -1;
}

/* Into the block at its first operator, within a layer at the MLP, out of a block that
 * layers follow. */
static int find_crossings(const struct stage *stage, const struct op_block *block,
                          struct crossing out[CROSSINGS_MAX])
{
    const struct op *f = block->forward, *g = block->backward;
    int32_t last_f = block->n_forward - 1, last_g = block->n_backward - 1;
    int n = 0;
    if (block->n_forward == 0 || block->n_backward == 0)
        return 0;
    enum op_module first = f[0].module;
    bool embedding = strcmp(block->name, "embedding") == 0;
    if (!embedding)
        out[n++] = (struct crossing) { between(stage), stream_of(stage, first),
                                       place(0, false), place(last_g, true) };
    if (first == OP_ATTENTION)
        out[n++] =
            (struct crossing) { stream_of(stage, OP_ATTENTION),
                                stream_of(stage, OP_MLP),
                                place(first_of(f, last_f + 1, OP_MLP), false),
                                place(first_of(g, last_g + 1, OP_ATTENTION), false) };
    if (first == OP_EMBEDDING)
        out[n++] = (struct crossing) { stream_of(stage, first), between(stage),
                                       place(last_f, true), place(0, false) };
    return n;
}

static int add(struct builder *b, int32_t block, bool backward, struct op_comm at,
               int op, struct err *err)
{
    if (op == NOTHING)
        return 0;
    double size_B = whole_B(b->stage);
    if (op == COLL_ALLTOALL)
        size_B /= (double)b->stage->settings.tensor;
    at.workspace_B = (int64_t)size_B;
    return block_comms_add(b, block, backward, at, (enum coll_op)op, size_B, err);
}

/* One crossing's collectives that come after their operator, or those before it. */
static int cross(struct builder *b, int32_t block, struct crossing c, bool after,
                 struct err *err)
{
    bool through = c.from != SHARE_ALL && c.to != SHARE_ALL && c.from != c.to;
    if (through && b->stage->settings.prescaled) {
        struct crossing in = c, on = c;
        in.to = on.from = SHARE_ALL;
        return cross(b, block, in, after, err) || cross(b, block, on, after, err) ? -1
                                                                                  : 0;
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        const struct way *w = &ways[i];
        if (w->from != c.from || w->to != c.to)
            continue;
        if ((c.forward.after == after &&
             add(b, block, false, c.forward, w->forward, err) < 0) ||
            (c.backward.after == after &&
             add(b, block, true, c.backward, w->backward, err) < 0))
            return -1;
    }
    return 0;
}

static int cross_all(struct builder *b, int32_t block, bool after, struct err *err)
{
    struct crossing all[CROSSINGS_MAX];
    int n = b->stage->settings.best_effort && b->stage->settings.tensor > 1
                ? find_crossings(b->stage, &b->stage->list.blocks[block], all)
                : 0;
    for (int i = 0; i < n; i++)
        if (cross(b, block, all[i], after, err) < 0)
            return -1;
    return 0;
}

int tensor_ends_before(struct builder *b, int32_t block, struct err *err)
{
    return cross_all(b, block, false, err);
}

int tensor_ends_after(struct builder *b, int32_t block, struct err *err)
{
    return cross_all(b, block, true, err);
}

/* Between stages ------------------------------------------------------------------- */

double tensor_ends_stream_B(const struct stage *stage)
{
    bool split = stage->settings.sequence_parallel ||
                 (stage->settings.tensor > 1 && between(stage) != SHARE_ALL);
    return whole_B(stage) / (split ? (double)stage->settings.tensor : 1);
}

double tensor_ends_block_B(const struct stage *stage, const struct op_block *block)
{
    double all = (double)op_tokens(&stage->settings) * (double)stage->s->model.hidden;
    return tensor_ends_stream_B(stage) *
           ((double)block->tokens * (double)block->columns / all);
}

/* Whether a stream that all ranks hold goes on in parts: Megatron's, unless it is asked not
 * to, and, of prescaled batches, SMP's; other ranks of SMP's each send all. */
static bool sends_parts(const struct stage *stage)
{
    if (between(stage) != SHARE_ALL)
        return true;
    return !stage->s->parallel.stages.whole_messages &&
           (!stage->settings.best_effort || stage->settings.prescaled);
}

/* Streams that a part sends on: after modules that predict further tokens, each one's,
 * too. */
static double streams_after(const struct stage *stage, int64_t part)
{
    const struct partition *parts = stage->request->parts;
    int64_t n = parts->n_stages * parts->n_chunks;
    if (stage->s->model.mtp_layers == 0)
        return 1;
    for (int64_t i = 0; i <= part && i < n; i++)
        if (parts->parts[i].has_mtp)
            return 1 + (double)stage->s->model.mtp_layers;
    return 1;
}

double tensor_ends_message_B(const struct stage *stage, int64_t part)
{
    const struct op_list *model = stage->request->model;
    const struct partition *parts = stage->request->parts;
    if (part < parts->n_stages * parts->n_chunks && parts->parts[part].has_head &&
        !parts->parts[part].has_loss) /* what the cast reads */
        return model->blocks[model->n_blocks - model->n_ends + 1].forward->read_B;
    double tokens = (double)op_tokens(&stage->settings) * streams_after(stage, part);
    double bytes = tokens * (double)stage->s->model.hidden * stage_width_B(stage);
    return sends_parts(stage) ? bytes / (double)stage->settings.tensor : bytes;
}

/* SMP's stages put the parts together; Megatron's do so unseen (MODEL.md, R3). */
int tensor_ends_gather(struct builder *b, const struct chunk_slices *chunk,
                       bool backward, struct err *err)
{
    const struct op_block *blocks = b->stage->list.blocks;
    bool outermost =
        chunk->n == 0 ||
        (backward ? blocks[chunk->v[chunk->n - 1].block].forward[0].module == OP_HEAD
                  : strcmp(blocks[chunk->v[0].block].name, "embedding") == 0);
    if (b->stage->settings.tensor <= 1 || !b->stage->settings.best_effort ||
        !b->stage->settings.prescaled || between(b->stage) != SHARE_ALL || outermost ||
        b->pass.kind == PASS_WEIGHT)
        return 0;
    int32_t comm =
        comms_add(b, CHANNEL_TENSOR, COLL_ALL_GATHER, whole_B(b->stage), err);
    if (comm < 0)
        return -1;
    issue_kernel(b, CATEGORY_COMPUTE, 0, 0, 0); /* after the message */
    issue_wait(
        b, program_collective_on(&b->step->program, STREAM_TENSOR, CATEGORY_TENSOR_COMM,
                                 block_comms_host_s(b->stage), comm, b->last_kernel));
    return 0;
}
