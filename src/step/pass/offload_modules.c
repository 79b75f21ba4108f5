#include "step/pass/offload_modules.h"

#include "step/issue.h"
#include "step/stage.h"

static uint32_t modules_of(const struct stage *stage)
{
    return stage->s->parallel.offload_modules;
}

static void find(const struct stage *stage, int32_t block,
                 struct op_saved out[OP_SAVERS])
{
    op_saved_find(&stage->list.blocks[block], modules_of(stage),
                  stage->s->training.recompute_modules, out);
}

bool offload_modules_stay(const struct stage *stage, int32_t chunk)
{
    const struct parallelism *p = &stage->s->parallel;
    return modules_of(stage) && (p->pipeline == 1 || stage_ends(stage, chunk));
}

/* The last slice of layers of a chunk; -1: it has none. */
static int32_t last_slice(const struct stage *stage, int32_t chunk, int32_t before)
{
    const struct chunk_slices *c = &stage->chunks[chunk];
    for (int32_t i = before - 1; i >= 0; i--)
        if (op_block_is_layer(&stage->list.blocks[c->v[i].block]))
            return i;
    return -1;
}

static int32_t copy(struct builder *b, enum stream stream, int64_t size_B,
                    const char *label)
{
    double rate_Bps = b->stage->s->cluster.groups[0].instance->host_pinned_Bps;
    double time_s = (double)size_B / rate_Bps;
    int32_t task = program_kernel(&b->step->program, stream, CATEGORY_OFFLOAD_EXPOSED,
                                  0, time_s, time_s);
    b->step->program.tasks.v[task].tag.label = label;
    return task;
}

static int32_t store(struct builder *b, int64_t size_B)
{
    return copy(b, STREAM_STORE, size_B, "activations to the host");
}

static int32_t load(struct builder *b, int64_t size_B)
{
    int32_t task = copy(b, STREAM_LOAD, size_B, "activations from the host");
    program_follow(&b->step->program, task, b->offload.last_store);
    return task;
}

static void leave(struct builder *b, const struct op_saved *s)
{
    for (int32_t i = 0; i < s->n; i++)
        ledger_free(&b->step->ledger, LEDGER_ACTIVATIONS, ledger_round(s->size_B[i]));
}

static void come_back(struct builder *b, const struct op_saved *s)
{
    for (int32_t i = 0; i < s->n; i++)
        ledger_alloc(&b->step->ledger, LEDGER_ACTIVATIONS, ledger_round(s->size_B[i]));
}

/* Copies of the last layer run on after its pass; as passes are measured one by one, they
 * are at the begin of the next of the kind. Backward finds that layer's tensors there. */
void offload_modules_begin(struct builder *b, bool backward, int32_t chunk)
{
    struct op_saved saved[OP_SAVERS];
    int32_t n = b->stage->chunks[chunk].n, last = last_slice(b->stage, chunk, n);
    if (!modules_of(b->stage) || last < 0 || offload_modules_stay(b->stage, chunk))
        return;
    find(b->stage, b->stage->chunks[chunk].v[last].block, saved);
    for (int32_t m = 0; m < OP_SAVERS; m++) {
        if (saved[m].after < 0)
            continue;
        if (!backward)
            store(b, saved[m].copied_B);
        else {
            load(b, saved[m].copied_B);
            come_back(b, &saved[m]);
        }
    }
}

/* The layer after it in backward. */
static int32_t next_block(const struct stage *stage, int32_t chunk, int32_t slice,
                          int64_t k)
{
    int32_t i = k > 0 ? slice : last_slice(stage, chunk, slice);
    return i < 0 ? -1 : stage->chunks[chunk].v[i].block;
}

/* What the layer before had not begun to load. */
static void load_rest(struct builder *b)
{
    struct op_saved saved[OP_SAVERS];
    struct saved_state *s = &b->offload.saved;
    if (s->next < 0)
        return;
    find(b->stage, s->next, saved);
    for (int32_t m = OP_SAVERS - 1; m >= 0; m--) {
        if (s->begun[m] || saved[m].after < 0)
            continue;
        s->ahead[m] = load(b, saved[m].copied_B);
        come_back(b, &saved[m]);
        program_follow(&b->step->program, s->ahead[m], b->last_kernel);
    }
}

void offload_modules_enter(struct builder *b, bool backward, int32_t chunk,
                           int32_t slice, int64_t k)
{
    const struct chunk_slices *c = &b->stage->chunks[chunk];
    struct saved_state *s = &b->offload.saved;
    bool layer = op_block_is_layer(&b->stage->list.blocks[c->v[slice].block]);
    bool last =
        slice == last_slice(b->stage, chunk, c->n) && k == c->v[slice].repeat - 1;
    s->active = modules_of(b->stage) && layer &&
                !(last && offload_modules_stay(b->stage, chunk));
    s->late = last;
    if (!modules_of(b->stage) || !layer || !backward)
        return;
    if (!last)
        load_rest(b);
    for (int32_t m = 0; m < OP_SAVERS; m++) {
        s->loads[m] = last ? -1 : s->ahead[m];
        s->ahead[m] = -1;
        s->begun[m] = false;
    }
    s->next = next_block(b->stage, chunk, slice, k);
}

void offload_modules_store(struct builder *b, int32_t block, int32_t at)
{
    struct op_saved saved[OP_SAVERS];
    if (!b->offload.saved.active)
        return;
    find(b->stage, block, saved);
    for (int32_t m = 0; m < OP_SAVERS; m++) {
        if (saved[m].after != at)
            continue;
        leave(b, &saved[m]);
        if (b->offload.saved.late)
            continue;
        b->offload.last_store = store(b, saved[m].copied_B);
        program_follow(&b->step->program, b->offload.last_store, b->last_kernel);
    }
}

void offload_modules_await(struct builder *b, int32_t block, int32_t at)
{
    struct op_saved saved[OP_SAVERS];
    if (!b->offload.saved.active)
        return;
    find(b->stage, block, saved);
    for (int32_t m = 0; m < OP_SAVERS; m++)
        if (saved[m].first == at)
            issue_wait(b, b->offload.saved.loads[m]);
}

/* A module's backward is done: that of the layer after comes back. */
void offload_modules_load(struct builder *b, int32_t block, int32_t at)
{
    struct op_saved saved[OP_SAVERS], other[OP_SAVERS];
    struct saved_state *s = &b->offload.saved;
    if (!modules_of(b->stage) || s->next < 0 ||
        !op_block_is_layer(&b->stage->list.blocks[block]))
        return;
    find(b->stage, block, saved);
    find(b->stage, s->next, other);
    for (int32_t m = 0; m < OP_SAVERS; m++) {
        if (saved[m].last != at || other[m].after < 0)
            continue;
        s->ahead[m] = load(b, other[m].copied_B);
        s->begun[m] = true;
        come_back(b, &other[m]);
        program_follow(&b->step->program, s->ahead[m], b->last_kernel);
    }
}
