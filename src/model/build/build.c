/* From rows to the operators of a block: see build.h. */
#include "model/build/emit.h"

#include <assert.h>
#include <string.h>

static double part_elements(const struct build *b, enum module part)
{
    switch (part) {
    case MODULE_WORD:
        return b->elements[SYM_WORD];
    case MODULE_PLACE:
        return b->elements[SYM_PLACE];
    case MODULE_TYPE:
        return b->elements[SYM_TYPE];
    case MODULE_BIAS:
        return b->elements[SYM_BIAS];
    case MODULE_LATENT_NORM:
        return b->elements[SYM_LH];
    case MODULE_QUERY_NORM:
        return b->elements[SYM_QN];
    case MODULE_KEY_NORM:
        return b->elements[SYM_KN];
    case MODULE_SINKS:
        return b->elements[SYM_SINKS];
    case MODULE_STATE_CONV:
        return b->elements[SYM_SCW];
    case MODULE_STATE_HEADS:
        return b->elements[SYM_SHW];
    case MODULE_STATE_NORM:
        return b->elements[SYM_SNW];
    case MODULE_STEP_NORM:
        return b->elements[SYM_SQW];
    case MODULE_SCALE:
        return b->elements[SYM_PS];
    case MODULE_INDEX_NORM:
        return b->elements[SYM_IN];
    case MODULE_PROBE:
        return b->elements[SYM_PROBE];
    case MODULE_CONDITION_MORE:
        return b->elements[SYM_CONDITION];
    case MODULE_LAYER_WORD:
        return b->elements[SYM_PWORD];
    case MODULE_LAYER_NORM:
        return b->elements[SYM_PNORM];
    case MODULE_ROUTER_SCALE:
        return b->elements[SYM_RSCALE];
    case MODULE_ALTUP:
        return b->elements[SYM_AW];
    case MODULE_RELATIVE:
        return b->elements[SYM_DW];
    case MODULE_RELATIVE_NORM:
        return b->elements[SYM_DN];

    default:
        return b->elements[SYM_H];
    }
}

static bool has_bias(const struct build *b, enum module part)
{
    return part == MODULE_NORM && !b->m->norms.rms && !b->m->norms.bare;
}

/* Gradients of embeddings are parameters' gradients, not activations. */
static bool is_embedding(enum module part)
{
    return part == MODULE_WORD || part == MODULE_PLACE || part == MODULE_TYPE ||
           part == MODULE_BIAS || part == MODULE_LAYER_WORD || part == MODULE_RELATIVE;
}

/* Parameters of what is no product: norms and embeddings. */
static void own(struct build *b, enum module part)
{
    double elements = part_elements(b, part);
    if (part == MODULE_NORM && b->m->norms.fixed)
        return;
    build_freeze(b, part,
                 build_param(b, build_name(b, part, ".weight"), elements, false));
    if (has_bias(b, part))
        build_freeze(b, part,
                     build_param(b, build_name(b, part, ".bias"), elements, false));
}

static void set_traffic(struct build *b, struct op *op, const struct row *row)
{
    for (size_t i = 0; i < sizeof(row->read) / sizeof(row->read[0]); i++) {
        op->read_B += build_bytes(b, row->read[i]);
        op->write_B += build_bytes(b, row->write[i]);
    }
}

/* Of a norm whose weights are frozen: without the product of its result and gradient,
 * and its sum over tokens; in one kernel of two that read the same. */
static void spare_weights(const struct build *b, struct op *op, const struct row *row)
{
    bool embedding = is_embedding(row->part) || row->part == MODULE_SINKS;
    if (row->kind != ROW_OWNER_BWD || embedding || build_trains(b, row->part))
        return;
    if (row->launches == 2) {
        op->read_B /= 2;
        op->launches = 1;
        return;
    }
    struct term a = row->read[0];
    a.n = 1;
    op->read_B -= 2 * build_bytes(b, a);
    op->write_B -= build_bytes(b, a);
    op->launches -= 2;
}

/* Backward of frozen embeddings; of a norm of theirs, below which there is nothing. */
static bool is_spared(const struct build *b, const struct row *row)
{
    if (row->kind != ROW_OWNER_BWD || build_trains(b, row->part))
        return false;
    bool lowest = b->module == OP_EMBEDDING && row->part != MODULE_LAYER_NORM &&
                  !b->step->prefix && b->flags & HAS_FROZEN_EMBEDDING;
    return is_embedding(row->part) || lowest;
}

/* What a loop over experts does for each of them. */
static void set_turns(const struct build *b, struct op *op, const struct row *row)
{
    if (!(b->flags & HAS_EXPERT_TURNS))
        return;
    int64_t ranks = b->s->expert > 1 ? b->s->expert : 1;
    int32_t experts = (int32_t)(b->m->mlp.experts / ranks);
    if (!op->backward && row->ends_turns)
        op->turns = experts;
    if (!row->turns)
        return;
    op->read_B *= experts;
    op->write_B *= experts;
    op->launches *= experts;
    op->dispatches *= experts;
}

/* The router as the framework runs it, and what the host has to know of it. */
static void set_experts(const struct build *b, struct op *op, const struct row *row)
{
    const struct framework_experts *fw = &b->s->framework->experts;
    int64_t kernels = fw->router_kernels[op->backward];
    if (row->routes && kernels > 0) {
        op->launches = op->eager = (int32_t)kernels;
        op->dispatches = 0;
    }
    op->reads_counts = row->counted && !b->s->pads_experts;
    set_turns(b, op, row);
    op->scattered = row->scattered;
    bool routed = row->read[0].sym == SYM_F || strncmp(row->name, "expert_", 7) == 0;
    if (routed && b->flags & HAS_EXPERTS)
        op->slower = b->s->expert_imbalance;
}

static void emit_stream(struct build *b, const struct row *row, bool backward)
{
    if (is_spared(b, row))
        return;
    struct op *op = build_op(b, build_spell(b, row->name, ""), OP_STREAM, backward);
    op->dtype = op_parameter_dtype(b->s->precision);
    op->launches = row->launches ? row->launches : 1;
    op->dispatches = row->same_node ? 0 : backward ? 1 : op->launches;
    op->scores = row->write[0].sym == SYM_S && row->write[0].n > 0;
    set_traffic(b, op, row);
    set_experts(b, op, row);
    spare_weights(b, op, row);
    if (row->kind == ROW_OWNER)
        own(b, row->part);
    if (row->kind == ROW_OWNER_BWD && build_trains(b, row->part))
        build_completes(b, op, row->part, ".weight", has_bias(b, row->part) ? 2 : 1);
    if (!row->in_place && (row->kind != ROW_OWNER_BWD || !is_embedding(row->part)))
        build_outs(b, op, row);
}

/* Of the scores of attention, those that windows leave in the mean layer (MODEL.md,
 * 2.1); an encoder's reach to both sides. */
static double set_window(const struct build *b, struct op *op)
{
    double s = (double)b->s->sequence, w = (double)b->m->attention.window;
    if (b->m->attention.windowed_share == 0 || w >= s)
        return 1;
    op->window = b->m->attention.window;
    op->windowed = b->m->attention.windowed_share;
    double left = op->causal ? w * (2 * s - w) / (s * s) : w / s;
    return 1 - op->windowed * (1 - left);
}

/* The products of one kernel: two, of backward five (dV, dP, dQ, dK, and P once
 * more). */
static void set_flash(const struct build *b, struct op *op, int64_t parts)
{
    bool masked = b->s->masked;
    op->causal = (b->flags & HAS_DECODER) && !(build_flags(b) & HAS_CROSS) && !masked;
    op->efficient = b->s->attention == OP_ATTENTION_EFFICIENT;
    op->flops *= (op->backward ? 5.0 : 2.0) * (op->causal ? 0.5 : 1.0);
    op->launches = op->backward ? 2 : 1;
    op->sinks = b->flags & HAS_SINKS;
    op->uneven = model_value_dim(b->m) != b->m->attention.head_dim;
    op->flash3 = b->s->attention == OP_ATTENTION_FLASH3;
    op->cudnn = b->s->attention == OP_ATTENTION_CUDNN;
    if (parts == 1 && !(build_flags(b) & HAS_CROSS) && !masked)
        op->flops *= set_window(b, op);
    if (op->causal && parts > 1) { /* two chunks each: all ranks have equal work */
        op->causal = false;
        op->n = b->s->sequence / 2;
    }
    if (b->flags & HAS_RING) {
        op->pieces = parts;
        op->dispatches *= (int32_t)parts;
    }
}

/* A pack's documents one by one: as many sequences more, each shorter. */
static void set_documents(const struct build *b, struct op *op, int64_t parts)
{
    int64_t n = b->s->document;
    if (n <= 0 || n >= op->n || parts > 1 || build_flags(b) & HAS_CROSS)
        return;
    op->flops *= (double)n / (double)op->n;
    op->batch = (op->batch * op->n + n - 1) / n;
    op->m = op->n = n;
}

static bool is_cross(const struct build *b)
{
    return build_flags(b) & HAS_CROSS;
}

/* Tokens that a query attends to. */
static int64_t keys_of(const struct build *b)
{
    return is_cross(b) && b->s->memory ? b->s->memory : b->s->sequence;
}

static bool is_of_places(const struct row *row)
{
    return row->kind == ROW_BMM_RSD || row->kind == ROW_BMM_RDS;
}

/* One product of attention, or all of them in one kernel; over `context` ranks that
 * hold a part of the sequence each, or a part of the heads. */
static void emit_attention(struct build *b, const struct row *row, bool backward)
{
    enum op_kind kind = row->kind == ROW_FLASH ? OP_FLASH : OP_GEMM;
    struct op *op = build_op(b, build_spell(b, row->name, ""), kind, backward);
    int64_t s = is_of_places(row) ? build_place_rows(b) : keys_of(b),
            d = (b->m->attention.head_dim + model_value_dim(b->m)) / 2;
    int64_t dealt = op_head_ranks(b->s), parts = op_ring_ranks(b->s);
    int64_t queries = b->s->sequence / parts;
    if (dtype_is_quantized(op->dtype))
        op->dtype = DTYPE_BF16;
    op->m = queries;
    bool deep = row->kind == ROW_BMM_SDS || row->kind == ROW_BMM_RDS;
    op->n = deep ? d : s;
    op->k = deep ? s : d;
    const struct share *share = &b->shares[OP_ATTENTION];
    op->batch = b->s->batch / share->tokens_over *
                (b->m->attention.heads / share->degree / dealt);
    op->dispatches = row->same_node ? 0 : 1;
    op->flops = 2.0 * (double)queries * (double)s * (double)d * (double)op->batch;
    if (kind == OP_FLASH)
        set_documents(b, op, parts);
    if (kind == OP_FLASH)
        set_flash(b, op, parts);
    set_traffic(b, op, row);
    build_outs(b, op, row);
}

/* A kernel of a state's scan: products of tiles, in 16 bits at least; S6's recurrence
 * in fp32. */
static void emit_scan(struct build *b, const struct row *row, bool backward)
{
    struct op *op = build_op(b, build_spell(b, row->name, ""), OP_SCAN, backward);
    if (dtype_is_quantized(op->dtype))
        op->dtype = DTYPE_BF16;
    if (b->flags & HAS_S6)
        op->dtype = DTYPE_FP32;
    op->launches = row->launches ? row->launches : 1;
    op->dispatches = row->same_node ? 0 : 1;
    for (size_t i = 0; i < sizeof(row->work) / sizeof(row->work[0]); i++)
        op->flops += 2 * build_bytes(b, row->work[i]);
    set_traffic(b, op, row);
    build_outs(b, op, row);
}

static void emit_row(struct build *b, const struct row *row, bool backward)
{
    struct row chain;
    switch (row->kind) {
    case ROW_LINEAR:
        build_linear(b, row);
        break;
    case ROW_DGRAD:
        build_dgrad(b, row);
        break;
    case ROW_WGRAD:
        build_wgrad(b, row);
        break;
    case ROW_BIAS:
        build_bias_grad(b, row);
        break;
    case ROW_BMM_SSD:
    case ROW_BMM_SDS:
    case ROW_BMM_RSD:
    case ROW_BMM_RDS:
    case ROW_FLASH:
        emit_attention(b, row, backward);
        break;
    case ROW_SCAN:
        emit_scan(b, row, backward);
        break;
    case ROW_STREAM:
    case ROW_OWNER:
    case ROW_OWNER_BWD:
        if (row->activation)
            chain = build_activation(b, row, backward);
        emit_stream(b, row->activation ? &chain : row, backward);
        break;
    case ROW_NONE:
        assert(!"the end of a table is no row");
    }
}

/* Keys and values are then of the encoder's tokens, and of its columns. */
static void read_memory(struct build *b)
{
    double ratio = (double)b->s->memory / (double)b->s->sequence;
    double wider = (double)model_memory_columns(b->m) / (double)b->m->hidden;
    double *e = b->cross;
    memcpy(e, b->sizes[b->module], sizeof(b->cross));
    e[SYM_K] *= ratio;
    e[SYM_E] *= ratio;
    e[SYM_S] *= ratio;
    e[SYM_A] *= (1 + 2 * ratio * wider) / 3; /* the three products' inputs */
    b->elements = e;
}

/* The module that the step belongs to, and its sizes. */
static void enter_step(struct build *b)
{
    if (b->mlp_number > 0)
        b->module = b->step->number == b->mlp_number ? OP_MLP : OP_ATTENTION;
    b->elements = b->sizes[b->module];
    if (b->m->diffusion.stack)
        build_enter_stream(b);
    if (b->m->sound && b->module == OP_EMBEDDING)
        build_enter_sound(b);
    if (!b->s->memory)
        return;
    int64_t tokens = b->linears[MODULE_QUERY].rows;
    if (is_cross(b)) {
        read_memory(b);
        tokens = tokens * b->s->memory / b->s->sequence;
    }
    b->linears[MODULE_KEY].rows = b->linears[MODULE_VALUE].rows = tokens;
    if (model_memory_columns(b->m) != b->m->hidden)
        b->linears[MODULE_KEY].k = b->linears[MODULE_VALUE].k =
            is_cross(b) ? model_memory_columns(b->m) : b->m->hidden;
}

static void emit_steps(struct build *b, const struct build_step *steps, bool backward)
{
    for (b->step = steps; b->step->rows; b->step++) {
        enter_step(b);
        for (const struct row *row = b->step->rows; row->kind != ROW_NONE; row++)
            if (build_has(b, row->when, row->unless))
                emit_row(b, row, backward);
    }
    b->step = NULL;
}

static int32_t find_backward(const struct op_block *block, const char *name, size_t len)
{
    for (int32_t i = block->n_backward - 1; i >= 0; i--)
        if (strlen(block->backward[i].name) == len &&
            strncmp(block->backward[i].name, name, len) == 0)
            return i;
    return -1;
}

/* The backward operator that `until` names: the first alternative that the block
 * has. */
static int32_t resolve(const struct build *b, const struct op *maker, const char *until)
{
    const struct op_block *block = b->block;
    const char *bar = strchr(until, '|');
    int32_t i =
        find_backward(block, until, bar ? (size_t)(bar - until) : strlen(until));
    if (i < 0 && bar)
        i = resolve(b, maker, bar + 1);
    const struct lora *l = &b->s->lora;
    if (i < 0 && (l->rank > 0 || l->whole || l->frozen & LORA_FREEZES_BLOCKS))
        return build_needs_input(b, maker, until);
    assert(i >= 0 && "a tensor is kept for an operator that the block lacks");
    return i;
}

static void resolve_all(struct build *b)
{
    struct op_block *block = b->block;
    for (int32_t i = 0; i < block->n_forward; i++) {
        struct op *op = &block->forward[i];
        for (int32_t j = 0; j < op->n_outs; j++) {
            const char *until = b->until[i * OP_OUTS_MAX + j];
            if (until)
                op->outs[j].kept_until = resolve(b, op, until);
        }
    }
}

/* The result that the next block takes over is that block's to list. */
static void hand_on(struct op_block *block)
{
    if (!block->n_forward)
        return;
    struct op *last = &block->forward[block->n_forward - 1];
    if (last->n_outs && last->outs[last->n_outs - 1].kept_until < 0)
        last->n_outs--;
}

static void add_flops(const struct op *ops, int32_t n, double *flash, double *others)
{
    for (int32_t i = 0; i < n; i++)
        *(ops[i].kind == OP_FLASH ? flash : others) += ops[i].flops;
}

/* What attention shares the GPU's power with. */
static void set_products(struct op_block *block)
{
    double flash = 0, others = 0;
    add_flops(block->forward, block->n_forward, &flash, &others);
    add_flops(block->backward, block->n_backward, &flash, &others);
    if (flash <= 0)
        return;
    for (int32_t i = 0; i < block->n_forward; i++)
        block->forward[i].products = others / flash;
    for (int32_t i = 0; i < block->n_backward; i++)
        block->backward[i].products = others / flash;
}

void build_block(struct build *b, struct op_block *block, const char *name,
                 int64_t repeat, const struct build_step *forward,
                 const struct build_step *backward, struct keep given)
{
    *block = (struct op_block) { .name = name,
                                 .repeat = repeat,
                                 .tokens = op_tokens(b->s),
                                 .columns = b->m->hidden };
    block->forward = ARENA_RAW(b->arena, build_room(b, FORWARD_MAX), struct op);
    block->backward = ARENA_RAW(b->arena, build_room(b, BACKWARD_MAX), struct op);
    block->params = ARENA_RAW(b->arena, build_room(b, PARAMS_MAX), struct op_param);
    b->until =
        ARENA_RAW(b->arena, build_room(b, FORWARD_MAX) * OP_OUTS_MAX, const char *);
    b->block = block;
    emit_steps(b, forward, false);
    emit_steps(b, backward, true);
    if (b->mlp_number > 0) /* given to the first sublayer */
        b->elements = b->sizes[OP_ATTENTION];
    if (block->n_forward)
        build_out(b, &block->forward[0], build_bytes(b, given.term), given.until);
    resolve_all(b);
    set_products(block);
    hand_on(block);
    block->routes = op_block_has(block, "router");
}
