/* Gathers of parameters that were updated in shards (ZeRO 1 and 2, Megatron's
 * distributed optimizer): after the update, or during the forwards that read them.
 *
 *   gather   |bucket 0|bucket 1|bucket 2| ...
 *   compute           |layers 0|layers 1|  |layers 2| ...   of the first microbatch
 *
 * In steady state a step's gathers run during the forwards of the next one. The step
 * that is replayed has those of the step before it: they are at its begin, one after
 * the other, and the first forward of each chunk waits block by block (MODEL.md,
 * R8.5). */
#include "step/update/param_gather.h"

#include "scenario/libraries.h"
#include "step/comms.h"
#include "step/issue.h"
#include "step/replicas.h"
#include "step/update/buckets.h"

#include <math.h>

/* Parameters of consecutive blocks that are gathered together. */
struct param_bucket {
    enum replica_group held_by;
    double elements, bytes;
    int32_t first, last; /* blocks of the chunk that it has parameters of */
    int32_t comm;        /* of the program */
};

struct param_buckets {
    int32_t n_blocks; /* of the chunk */
    int32_t n;
    struct param_bucket *v; /* in the order of backward, as gradients fill them */
};

static bool is_gathered(const struct stage *stage, enum replica_group h)
{
    return states_shard_updates(stage->s) && stage->s->parallel.shard.degree > 1 &&
           replicas_ranks(stage, h) > 1;
}

/* Index of the gather; -1 after an error. */
static int32_t plan_gather(struct builder *b, enum replica_group h, double bytes,
                           struct err *err)
{
    enum channel channel = h == REPLICAS_DATA ? CHANNEL_SHARD : replicas_channel(h);
    return comms_add(b, channel, COLL_ALL_GATHER, bytes, err);
}

static int32_t gather(struct builder *b, int32_t comm, int32_t after)
{
    return program_collective_on(&b->step->program, STREAM_SHARD,
                                 CATEGORY_DATA_COMM_EXPOSED,
                                 b->stage->fw->host.dispatch_optimizer_s, comm, after);
}

/* Buckets of a chunk --------------------------------------------------------------- */

static int close_bucket(struct builder *b, struct param_buckets *to,
                        struct param_bucket *open, struct err *err)
{
    if (open->elements <= 0)
        return 0;
    open->comm = plan_gather(b, open->held_by, open->bytes, err);
    if (open->comm < 0)
        return -1;
    comms_overlapped(b, b->step->program.comms.v[open->comm].plan);
    to->v[to->n++] = *open;
    open->elements = open->bytes = 0;
    return 0;
}

/* The same buckets as those of the gradients: as many elements. 0: no limit. */
static double bucket_elements(const struct stage *stage, int32_t chunk)
{
    return stage->wire.gradient_B > 0
               ? buckets_limit_B(stage, chunk) / stage->wire.gradient_B
               : 0;
}

static int add_block(struct builder *b, double limit, struct param_buckets *to,
                     struct param_bucket open[REPLICA_GROUPS],
                     const struct op_block *block, int32_t at, struct err *err)
{
    for (int32_t i = block->n_params - 1; i >= 0; i--) {
        enum replica_group h = replicas_of(b->stage, &block->params[i]);
        if (!is_gathered(b->stage, h) || block->params[i].frozen)
            continue;
        if (open[h].elements <= 0)
            open[h].last = at;
        open[h].first = at;
        double elements = (double)block->params[i].elements;
        open[h].elements += elements;
        open[h].bytes += elements * replicas_gather_B(b->stage, &block->params[i]);
        if (limit > 0 && open[h].elements >= limit &&
            close_bucket(b, to, &open[h], err) < 0)
            return -1;
    }
    return 0;
}

static int fill_buckets(struct builder *b, int32_t chunk, struct param_buckets *to,
                        struct err *err)
{
    const struct chunk_slices *c = &b->stage->chunks[chunk];
    double limit = bucket_elements(b->stage, chunk);
    struct param_bucket open[REPLICA_GROUPS] = { 0 };
    int64_t tensors = REPLICA_GROUPS;
    for (int h = 0; h < REPLICA_GROUPS; h++)
        open[h].held_by = (enum replica_group)h;
    for (int32_t i = 0; i < c->n; i++) {
        to->n_blocks += (int32_t)c->v[i].repeat;
        tensors += c->v[i].repeat * b->stage->list.blocks[c->v[i].block].n_params;
    }
    to->v = ARENA_ARRAY(b->stage->arena, tensors, struct param_bucket);
    int32_t at = to->n_blocks;
    for (int32_t i = c->n - 1; i >= 0; i--)
        for (int64_t k = 0; k < c->v[i].repeat; k++)
            if (add_block(b, limit, to, open, &b->stage->list.blocks[c->v[i].block],
                          --at, err) < 0)
                return -1;
    for (int h = 0; h < REPLICA_GROUPS; h++)
        if (close_bucket(b, to, &open[h], err) < 0)
            return -1;
    return 0;
}

int param_gather_plan(struct stage *stage, struct builder *b, struct err *err)
{
    if (!stage->s->parallel.reduce.overlap_param_gather ||
        !is_gathered(stage, REPLICAS_DATA))
        return 0;
    int32_t n_chunks = (int32_t)partition_chunks(stage->request->parts);
    stage->param_buckets = ARENA_ARRAY(stage->arena, n_chunks, struct param_buckets);
    for (int32_t i = 0; i < n_chunks; i++)
        if (fill_buckets(b, i, &stage->param_buckets[i], err) < 0)
            return -1;
    return 0;
}

/* In the step ---------------------------------------------------------------------- */

/* In the order of forward. A block waits for the last of its gathers. */
static int32_t *gather_chunk(struct builder *b, const struct param_buckets *chunk)
{
    int32_t *ready = ARENA_ARRAY(b->stage->arena, chunk->n_blocks, int32_t);
    for (int32_t i = 0; i < chunk->n_blocks; i++)
        ready[i] = -1;
    for (int32_t i = chunk->n - 1; i >= 0; i--) {
        const struct param_bucket *v = &chunk->v[i];
        int32_t task = gather(b, v->comm, -1);
        for (int32_t k = v->first; k <= v->last; k++)
            ready[k] = task;
    }
    return ready;
}

void param_gather_begin(struct builder *b)
{
    int32_t n_chunks = (int32_t)partition_chunks(b->stage->request->parts);
    if (!b->stage->param_buckets)
        return;
    issue_tag(b, WORK_OTHER, -1);
    b->ready = ARENA_ARRAY(b->stage->arena, n_chunks, int32_t *);
    for (int32_t i = 0; i < n_chunks; i++)
        b->ready[i] = gather_chunk(b, &b->stage->param_buckets[i]);
}

bool param_gather_awaited(const struct builder *b, enum pass_kind kind, int32_t chunk)
{
    return kind == PASS_FORWARD && b->ready && b->ready[chunk];
}

void param_gather_enter(struct builder *b, int32_t chunk, int32_t at)
{
    if (!b->ready || !b->ready[chunk])
        return;
    issue_wait(b, b->ready[chunk][at]);
    if (at == b->stage->param_buckets[chunk].n_blocks - 1)
        b->ready[chunk] = NULL;
}

/* Tensors of the parameters that the same ranks hold. */
static int64_t tensors_of(const struct stage *stage, enum replica_group h)
{
    int64_t n = 0;
    for (int32_t i = 0; i < stage->list.n_blocks; i++) {
        const struct op_block *block = &stage->list.blocks[i];
        for (int32_t k = 0; k < block->n_params; k++)
            if (!block->params[k].frozen && replicas_of(stage, &block->params[k]) == h)
                n += block->repeat;
    }
    return n;
}

/* Kernels of a stream that are launched and have not begun, before the host waits
 * (forums.developer.nvidia.com, "CUDA stream are blocked when luanch lots of kernels"). */
enum { LAUNCHES_AHEAD = 1000 };

/* Buffers of the rank's own parts, of each rank's, and the one that NCCL fills. */
static void book_lists(struct builder *b, enum replica_group h, double all_B,
                       void (*book)(struct ledger *, enum ledger_kind, int64_t))
{
    int64_t ranks = (int64_t)replicas_shards(b->stage, h);
    for (int64_t i = 0; i < ranks + 1; i++)
        book(&b->step->ledger, LEDGER_HELD, (int64_t)(all_B / (double)ranks));
    book(&b->step->ledger, LEDGER_HELD, (int64_t)all_B);
}

/* Lists: each rank's pieces are joined to a buffer, which the gather fills, and which is
 * copied out tensor by tensor: one copy for each tensor and rank, that the host launches.
 * Each number is read and written three times: joined, out of what NCCL has filled, and
 * to its place (PyTorch's all_gather of lists, nanotron's all_gather_coalesced). A stream
 * holds some thousand launches; those beyond wait until the gather has ended. */
static void copy_lists(struct builder *b, enum replica_group h, double elements)
{
    const struct parallelism *p = &b->stage->s->parallel;
    double width = dtype_bytes(op_parameter_dtype(b->stage->s->training.precision));
    double pieces = (double)tensors_of(b->stage, h) * replicas_shards(b->stage, h);
    double ahead = fmin(pieces, LAUNCHES_AHEAD), part_s = b->stage->fw->shard.part_s;
    if (!library_has(library_of(p)->gathers_lists, (int)p->shard.strategy))
        return;
    book_lists(b, h, elements * width, ledger_alloc);
    issue_wait(b, (int32_t)b->step->program.tasks.n - 1);
    issue_stream(b, CATEGORY_DATA_COMM_EXPOSED, ahead * part_s, 6 * elements * width);
    issue_label(b, "copy lists of parts");
    issue_mark_memory(b);
    book_lists(b, h, elements * width, ledger_free);
    issue_host_pause(b, (pieces - ahead) * part_s);
    issue_label(b, "copy lists of parts");
}

/* After the update: all that the same ranks hold at once. */
int param_gather_end(struct builder *b, struct err *err)
{
    for (int i = 0; i < REPLICA_GROUPS && !b->stage->param_buckets; i++) {
        enum replica_group h = (enum replica_group)i;
        double bytes = replicas_held_gather_B(b->stage, h);
        if (bytes <= 0 || !is_gathered(b->stage, h))
            continue;
        int32_t comm = plan_gather(b, h, bytes, err);
        if (comm < 0)
            return -1;
        gather(b, comm, b->last_kernel);
        copy_lists(b, h, (double)replicas_held(b->stage, h));
    }
    return 0;
}
