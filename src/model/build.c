/* From rows to operators: see build.h. */
#include "model/build.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FORWARD_MAX = 96, BACKWARD_MAX = 128, PARAMS_MAX = 40 };

static const char *const part_names[] = {
    [PART_QKV] = "qkv",         [PART_QUERY] = "query",
    [PART_KEY] = "key",         [PART_VALUE] = "value",
    [PART_OUT] = "out",         [PART_GATE] = "gate",
    [PART_UP] = "up",           [PART_DOWN] = "down",
    [PART_ROUTER] = "router",   [PART_DENSE] = "dense",
    [PART_LOGITS] = "logits",   [PART_POOLER] = "pooler",
    [PART_CLASSES] = "classes", [PART_NORM] = "norm#",
    [PART_WORD] = "word",       [PART_PLACE] = "position",
    [PART_TYPE] = "token_type", [PART_BIAS] = "relative_bias",
};

static bool active(uint32_t flags, uint32_t when, uint32_t unless)
{
    return (flags & when) == when && !(flags & unless);
}

/* Within cross attention the keys are another sequence's: no rotation, no one product
 * for all three. */
static uint32_t step_flags(const struct build *b)
{
    if (!b->step || !b->step->prefix || strcmp(b->step->prefix, "cross_") != 0)
        return b->flags;
    return (b->flags | HAS_CROSS) & ~(uint32_t)(HAS_ROPE | HAS_FUSED_QKV);
}

static double bytes(const struct build *b, struct term t)
{
    return t.n * b->width[t.width] * b->elements[t.sym];
}

/* The step's prefix, the text with '#' as the step's number, the suffix. */
static const char *spell(struct build *b, const char *text, const char *suffix)
{
    const char *prefix = b->step && b->step->prefix ? b->step->prefix : "";
    const char *hash = strchr(text, '#');
    if (!hash)
        return *prefix || *suffix
                   ? arena_printf(b->arena, "%s%s%s", prefix, text, suffix)
                   : text;
    int32_t number = b->step ? b->step->number : 0;
    char digits[16] = "";
    if (number > 0)
        snprintf(digits, sizeof(digits), "%d", (int)number);
    return arena_printf(b->arena, "%s%.*s%s%s%s", prefix, (int)(hash - text), text,
                        digits, hash + 1, suffix);
}

static struct op *emit(struct build *b, const char *name, enum op_kind kind,
                       bool backward)
{
    struct op_block *block = b->block;
    int32_t *n = backward ? &block->n_backward : &block->n_forward;
    assert(*n < (backward ? BACKWARD_MAX : FORWARD_MAX));
    struct op *op = &(backward ? block->backward : block->forward)[(*n)++];
    *op = (struct op) { .name = name,
                        .kind = kind,
                        .module = b->module,
                        .dtype = op_compute_dtype(b->s->precision),
                        .backward = backward,
                        .launches = 1,
                        .dispatches = 1 };
    return op;
}

/* Parameters ---------------------------------------------------------------------- */

static void add_param(struct build *b, const char *name, double elements, bool split,
                      bool matrix)
{
    struct op_block *block = b->block;
    assert(block->n_params < PARAMS_MAX);
    block->params[block->n_params++] = (struct op_param) {
        .name = name,
        .elements = (int64_t)elements,
        .no_tensor_split = !split,
        .whole = b->s->best_effort && b->shares[b->module].degree < b->s->tensor,
        .matrix = matrix,
    };
}

/* The operator completes the gradients of `n` tensors from the part's weight (or, from
 * its bias) on. A part tied to another block's has none here. */
static void complete(struct build *b, struct op *op, enum part part, const char *which,
                     int32_t n)
{
    const char *name = spell(b, part_names[part], which);
    for (int32_t i = 0; i < b->block->n_params; i++) {
        if (strcmp(b->block->params[i].name, name) == 0) {
            op->grad_first = i;
            op->grad_n = n;
            return;
        }
    }
}

static double weights(const struct linear *l)
{
    return (double)l->k * (double)l->n * (double)l->batch;
}

static void own_linear(struct build *b, enum part part, const struct linear *l)
{
    if (l->owned)
        add_param(b, spell(b, part_names[part], ".weight"), weights(l), l->split_weight,
                  true);
    if (l->owned)
        b->block->params[b->block->n_params - 1].expert = l->expert;
    if (l->bias)
        add_param(b, spell(b, part_names[part], ".bias"),
                  (double)l->n * (double)l->batch, l->split_bias, false);
    if (l->bias)
        b->block->params[b->block->n_params - 1].expert = l->expert;
}

static double part_elements(const struct build *b, enum part part)
{
    switch (part) {
    case PART_WORD:
        return b->elements[SYM_WORD];
    case PART_PLACE:
        return b->elements[SYM_PLACE];
    case PART_TYPE:
        return b->elements[SYM_TYPE];
    case PART_BIAS:
        return b->elements[SYM_BIAS];
    default:
        return b->elements[SYM_H];
    }
}

static bool has_bias(const struct build *b, enum part part)
{
    return part == PART_NORM && !b->m->rms_norm;
}

static void own(struct build *b, enum part part)
{
    bool sliced = part == PART_NORM && b->shares[b->module].stream == SHARE_SLICE;
    bool split = part == PART_WORD || part == PART_BIAS || sliced;
    add_param(b, spell(b, part_names[part], ".weight"), part_elements(b, part), split,
              false);
    if (has_bias(b, part))
        add_param(b, spell(b, part_names[part], ".bias"), part_elements(b, part), split,
                  false);
}

/* Outs ------------------------------------------------------------------------------ */

static void add_out(struct build *b, struct op *op, double size_B, const char *until)
{
    if (size_B <= 0)
        return;
    assert(op->n_outs < OP_OUTS_MAX);
    if (!op->backward)
        b->until[(op - b->block->forward) * OP_OUTS_MAX + op->n_outs] = until;
    op->outs[op->n_outs++] =
        (struct op_out) { .size_B = (int64_t)size_B, .kept_until = -1 };
}

static const char *until_name(struct build *b, const char *until)
{
    if (until && strcmp(until, "@") == 0)
        return b->step->user;
    if (!until)
        return NULL;
    const char *bar = strchr(until, '|');
    if (!bar)
        return spell(b, until, "");
    const char *first =
        spell(b, arena_strndup(b->arena, until, (size_t)(bar - until)), "");
    return arena_printf(b->arena, "%s|%s", first, spell(b, bar + 1, ""));
}

/* Whether that is kept for the gradient of an fp8 product's weight: its input, transposed
 * and in fp8. A router among the users reads 16 bits. */
static bool kept_in_fp8(const struct build *b, const char *until)
{
    if (!(b->flags & HAS_FP8) || (b->flags & HAS_EXPERTS && strstr(until, "router")))
        return false;
    for (int i = PART_NONE + 1; i < PART_LINEARS; i++) {
        size_t n = strlen(part_names[i]);
        const char *at = strstr(until, part_names[i]);
        if (at && strncmp(at + n, "_wgrad", 6) == 0 && b->linears[i].dtype == DTYPE_FP8)
            return true;
    }
    return false;
}

/* What the row keeps, then what else it has written. */
static void add_outs(struct build *b, struct op *op, const struct row *row)
{
    double rest = row->made.n > 0 ? bytes(b, row->made) : op->write_B;
    for (size_t i = 0; i < sizeof(row->keep) / sizeof(row->keep[0]); i++) {
        const struct keep *k = &row->keep[i];
        const char *until = until_name(b, k->until);
        if (!until || !active(step_flags(b), k->when, k->unless))
            continue;
        double size = bytes(b, k->term);
        if (kept_in_fp8(b, until))
            size *= dtype_bytes(DTYPE_FP8) / b->width[k->term.width];
        add_out(b, op, size, until);
        rest -= size;
    }
    add_out(b, op, rest, NULL);
}

/* Rows ------------------------------------------------------------------------------ */

static void set_traffic(struct build *b, struct op *op, const struct row *row)
{
    for (size_t i = 0; i < sizeof(row->read) / sizeof(row->read[0]); i++) {
        op->read_B += bytes(b, row->read[i]);
        op->write_B += bytes(b, row->write[i]);
    }
}

static void emit_stream(struct build *b, const struct row *row, bool backward)
{
    struct op *op = emit(b, spell(b, row->name, ""), OP_STREAM, backward);
    op->dtype = op_parameter_dtype(b->s->precision);
    op->launches = row->launches ? row->launches : 1;
    op->dispatches = row->same_node ? 0 : backward ? 1 : op->launches;
    op->scores = row->write[0].sym == SYM_S && row->write[0].n > 0;
    set_traffic(b, op, row);
    if (row->kind == ROW_OWNER)
        own(b, row->part);
    if (row->kind == ROW_OWNER_BWD)
        complete(b, op, row->part, ".weight", has_bias(b, row->part) ? 2 : 1);
    /* gradients of embeddings are parameters' gradients, not activations */
    if (!row->in_place && (row->kind != ROW_OWNER_BWD || row->part == PART_NORM))
        add_outs(b, op, row);
}

static void set_product(struct op *op, const struct linear *l, int64_t m, int64_t n,
                        int64_t k)
{
    op->m = m;
    op->n = n;
    op->k = k;
    op->batch = l->batch;
    op->dtype = l->dtype;
    op->flops = 2.0 * (double)l->rows * (double)l->k * (double)l->n;
    op->slower = l->slower;
}

/* Autocast keeps fp32 parameters: the weight is cast before its product (held with the
 * parameters, op_param.matrix, not as an activation), its gradient after. */
static struct op *emit_weight_cast(struct build *b, enum part part,
                                   const struct linear *l, bool backward)
{
    struct op *op =
        emit(b, spell(b, part_names[part], backward ? "_grad_cast" : "_cast"),
             OP_STREAM, backward);
    enum width from = backward ? WIDTH_NARROW : WIDTH_WIDE;
    enum width to = backward ? WIDTH_WIDE : WIDTH_NARROW;
    op->read_B = b->width[from] * weights(l);
    op->write_B = b->width[to] * weights(l);
    op->launches = op->dispatches = l->bias ? 2 : 1;
    return op;
}

/* A bias that the product does not add itself: a kernel of its own, in place, unless the
 * activation behind it adds it. */
static struct op *emit_bias_add(struct build *b, const struct row *row,
                                const struct linear *l, struct op *product)
{
    const struct framework *fw = b->s->framework;
    bool by_activation = row->part == PART_UP && fw->fused_bias_gelu;
    if (!l->bias || fw->fused_bias || by_activation)
        return product;
    struct op *op =
        emit(b, spell(b, part_names[row->part], "_bias_add"), OP_STREAM, false);
    double split = l->by_columns ? (double)b->s->tensor : 1; /* behind the scatter */
    op->read_B = op->write_B =
        b->width[WIDTH_NARROW] * (double)l->rows * (double)l->n / split;
    return op;
}

static int64_t rows_each(const struct linear *l)
{
    return (l->rows + l->batch - 1) / l->batch;
}

/* Bytes of an element that the product reads. */
static double operand_B(const struct build *b, const struct linear *l)
{
    return l->dtype == DTYPE_FP8 ? dtype_bytes(DTYPE_FP8) : b->width[WIDTH_NARROW];
}

/* Operands of fp8 products are written once as they are and once transposed, since the
 * gradients' products read the other order and Hopper's fp8 ones read rows alone. */
static void emit_fp8(struct build *b, enum part part, const char *what, double elements,
                     double read_B, double write_B, bool backward)
{
    struct op *op = emit(b, spell(b, part_names[part], what), OP_STREAM, backward);
    op->read_B = read_B * elements;
    op->write_B = write_B * elements;
    op->dispatches = 0; /* in the product's node */
}

/* Whether a norm hands the product its input in fp8. */
static bool norm_makes_fp8(const struct build *b, enum part part)
{
    bool behind_norm = part != PART_OUT && part != PART_DOWN;
    return b->s->framework->fp8_norm && behind_norm && !b->m->post_norm &&
           !(b->flags & HAS_EXPERTS);
}

/* The gate's and the up product's input is one. */
static bool shares_input(const struct build *b, enum part part)
{
    return part == PART_UP && (b->flags & HAS_GATE);
}

static void emit_fp8_operands(struct build *b, enum part part, const struct linear *l)
{
    double narrow = b->width[WIDTH_NARROW], inputs = (double)l->rows * (double)l->k;
    if (l->dtype != DTYPE_FP8)
        return;
    if (!b->s->framework->fp8_weights_kept)
        emit_fp8(b, part, "_weight_fp8", weights(l), narrow, 2, false);
    if (norm_makes_fp8(b, part) || shares_input(b, part))
        return;
    emit_fp8(b, part, "_input_fp8", inputs, narrow, 2, false);
    if (part == PART_OUT && b->flags & HAS_FLASH) /* which keeps its own in 16 bits */
        add_out(b, &b->block->forward[b->block->n_forward - 1], inputs, "out_wgrad");
}

/* Before the gradients' products: the output's gradient, and what the norm has made but
 * not transposed. */
static void emit_fp8_gradient(struct build *b, enum part part, const struct linear *l)
{
    if (l->dtype != DTYPE_FP8)
        return;
    emit_fp8(b, part, "_grad_fp8", (double)l->rows * (double)l->n,
             b->width[WIDTH_NARROW], 2, true);
    if (norm_makes_fp8(b, part) && !shares_input(b, part))
        emit_fp8(b, part, "_input_transpose", (double)l->rows * (double)l->k, 1, 1,
                 true);
}

static void emit_linear(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    if (b->flags & HAS_AMP)
        emit_weight_cast(b, row->part, l, false);
    emit_fp8_operands(b, row->part, l);
    struct op *op = emit(b, spell(b, part_names[row->part], ""), OP_GEMM, false);
    set_product(op, l, rows_each(l), l->n, l->k);
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * ((double)l->rows * (double)l->k + weights(l));
    op->write_B = e * (double)l->rows * (double)l->n;
    own_linear(b, row->part, l);
    add_outs(b, emit_bias_add(b, row, l, op), row);
}

static void emit_dgrad(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    emit_fp8_gradient(b, row->part, l);
    struct op *op = emit(b, spell(b, part_names[row->part], "_dgrad"), OP_GEMM, true);
    set_product(op, l, rows_each(l), l->k, l->n);
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * ((double)l->rows * (double)l->n + weights(l));
    op->write_B = e * (double)l->rows * (double)l->k;
    add_outs(b, op, row);
}

static void emit_wgrad(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    struct op *op = emit(b, spell(b, part_names[row->part], "_wgrad"), OP_GEMM, true);
    set_product(op, l, l->k, l->n, rows_each(l));
    op->dispatches = 0;
    double e = b->width[WIDTH_NARROW];
    op->read_B = operand_B(b, l) * (double)l->rows * (double)(l->n + l->k);
    op->write_B = e * weights(l);
    if (b->flags & HAS_AMP) {
        add_out(b, op, op->write_B, NULL);
        op = emit_weight_cast(b, row->part, l, true);
    }
    bool own_row = row[1].kind == ROW_BIAS && row[1].part == row->part &&
                   active(step_flags(b), row[1].when, row[1].unless);
    if (l->owned)
        complete(b, op, row->part, ".weight", l->bias && !own_row ? 2 : 1);
    else if (l->bias && !own_row)
        complete(b, op, row->part, ".bias", 1);
}

static void emit_bias(struct build *b, const struct row *row)
{
    const struct linear *l = &b->linears[row->part];
    if (!l->bias)
        return;
    struct op *op = emit(b, spell(b, part_names[row->part], "_bias"), OP_STREAM, true);
    op->dispatches = 0;
    op->read_B = b->width[WIDTH_NARROW] * (double)l->rows * (double)l->n;
    complete(b, op, row->part, ".bias", 1);
}

static void emit_attention(struct build *b, const struct row *row, bool backward)
{
    enum op_kind kind = row->kind == ROW_FLASH ? OP_FLASH : OP_GEMM;
    struct op *op = emit(b, spell(b, row->name, ""), kind, backward);
    int64_t s = b->s->sequence, d = b->m->head_dim;
    int64_t parts = b->s->context > 1 ? b->s->context : 1, queries = s / parts;
    if (op->dtype == DTYPE_FP8)
        op->dtype = DTYPE_BF16;
    op->m = queries;
    op->n = row->kind == ROW_BMM_SDS ? d : s;
    op->k = row->kind == ROW_BMM_SDS ? s : d;
    const struct share *share = &b->shares[OP_ATTENTION];
    op->batch = b->s->batch / share->tokens_over * (b->m->heads / share->degree);
    op->dispatches = row->same_node ? 0 : 1;
    op->flops = 2.0 * (double)queries * (double)s * (double)d * (double)op->batch;
    if (kind == OP_FLASH) {
        op->causal = (b->flags & HAS_DECODER) && !(step_flags(b) & HAS_CROSS);
        op->flops *= (backward ? 5.0 : 2.0) * (op->causal ? 0.5 : 1.0);
        op->launches = backward ? 2 : 1;
        if (op->causal && parts > 1) { /* two chunks each: all ranks have equal work */
            op->causal = false;
            op->n = s / 2;
        }
        if (b->flags & HAS_RING) {
            op->pieces = parts;
            op->dispatches *= (int32_t)parts;
        }
    }
    set_traffic(b, op, row);
    add_outs(b, op, row);
}

static void emit_row(struct build *b, const struct row *row, bool backward)
{
    struct row chain;
    switch (row->kind) {
    case ROW_LINEAR:
        emit_linear(b, row);
        break;
    case ROW_DGRAD:
        emit_dgrad(b, row);
        break;
    case ROW_WGRAD:
        emit_wgrad(b, row);
        break;
    case ROW_BIAS:
        emit_bias(b, row);
        break;
    case ROW_BMM_SSD:
    case ROW_BMM_SDS:
    case ROW_FLASH:
        emit_attention(b, row, backward);
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

/* The module that the step belongs to, and its sizes. */
static void enter_step(struct build *b)
{
    if (b->mlp_number > 0)
        b->module = b->step->number == b->mlp_number ? OP_MLP : OP_ATTENTION;
    b->elements = b->sizes[b->module];
}

static void emit_steps(struct build *b, const struct step *steps, bool backward)
{
    for (b->step = steps; b->step->rows; b->step++) {
        enter_step(b);
        for (const struct row *row = b->step->rows; row->kind != ROW_NONE; row++)
            if (active(step_flags(b), row->when, row->unless))
                emit_row(b, row, backward);
    }
    b->step = NULL;
}

/* Blocks ---------------------------------------------------------------------------- */

static int32_t find_backward(const struct op_block *block, const char *name, size_t len)
{
    for (int32_t i = block->n_backward - 1; i >= 0; i--)
        if (strlen(block->backward[i].name) == len &&
            strncmp(block->backward[i].name, name, len) == 0)
            return i;
    return -1;
}

static int32_t resolve(const struct op_block *block, const char *until)
{
    const char *bar = strchr(until, '|');
    int32_t i =
        find_backward(block, until, bar ? (size_t)(bar - until) : strlen(until));
    if (i < 0 && bar)
        i = resolve(block, bar + 1);
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
                op->outs[j].kept_until = resolve(block, until);
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

void build_block(struct build *b, struct op_block *block, const char *name,
                 int64_t repeat, const struct step *forward,
                 const struct step *backward, struct keep given)
{
    *block = (struct op_block) { .name = name, .repeat = repeat };
    block->forward = ARENA_ARRAY(b->arena, FORWARD_MAX, struct op);
    block->backward = ARENA_ARRAY(b->arena, BACKWARD_MAX, struct op);
    block->params = ARENA_ARRAY(b->arena, PARAMS_MAX, struct op_param);
    b->until = ARENA_ARRAY(b->arena, FORWARD_MAX * OP_OUTS_MAX, const char *);
    b->block = block;
    emit_steps(b, forward, false);
    emit_steps(b, backward, true);
    if (b->mlp_number > 0) /* given to the first sublayer */
        b->elements = b->sizes[OP_ATTENTION];
    if (block->n_forward)
        add_out(b, &block->forward[0], bytes(b, given.term), given.until);
    resolve_all(b);
    hand_on(block);
}
