/* Adapters next to a block's products, and what is kept for them (MODEL.md, 2.5).
 *
 *   forward   base product | cast, dropout, cast | A | B | scale | sum, cast
 *   backward  cast, scale | B: data, weight | A: data, weight | casts, dropout | sum
 *
 * PEFT 0.13, peft/tuners/lora/layer.py, Linear.forward: result = base(x) +
 * B(A(dropout(x))) * scaling. Megatron's (nemo/collections/llm/peft/utils.py,
 * ParallelLinearAdapter) are the same next to its fused products; both thin matrices
 * are split over the tensor group. */
#include "model/build/emit.h"

#include <assert.h>
#include <string.h>

/* One pair of thin matrices: x[rows, k] A[k, r] B[r, n]. */
struct adapter {
    const char *name; /* "query_lora" */
    struct linear a, b;
    bool casts, upcasts; /* to the adapter's fp32, from the product's type */
    bool wide;           /* computes in fp32 */
};

enum { ADAPTERS_MAX = BUILD_STATE_MODULES };

/* Which bit adapts a product that is its own. */
static const uint32_t bits[MODULE_LINEARS] = {
    [MODULE_QKV] = LORA_QKV,
    [MODULE_QUERY] = LORA_QUERY,
    [MODULE_KEY] = LORA_KEY,
    [MODULE_VALUE] = LORA_VALUE,
    [MODULE_QUERY_DOWN] = LORA_QUERY_DOWN,
    [MODULE_KV_DOWN] = LORA_KV_DOWN,
    [MODULE_KV_UP] = LORA_KV_UP,
    [MODULE_OUT] = LORA_OUT,
    [MODULE_GATE] = LORA_GATE,
    [MODULE_UP] = LORA_UP,
    [MODULE_DOWN] = LORA_DOWN,
    [MODULE_ROUTER] = LORA_ROUTER,
    [MODULE_SHARED_GATE] = LORA_GATE,
    [MODULE_SHARED_UP] = LORA_UP,
    [MODULE_SHARED_DOWN] = LORA_DOWN,
    [MODULE_LOGITS] = LORA_HEAD,
    [MODULE_LAYER_GATE] = LORA_LAYER_INPUTS,
    [MODULE_LAYER_OUT] = LORA_LAYER_INPUTS,
    [MODULE_LAYER_PROJECT] = LORA_LAYER_INPUTS,
};

/* Which adapters a product has ----------------------------------------------------- */

/* Whether the model has a module for a bit: Megatron's own fuse what others have apart,
 * and families some. Attention over an encoder has its own. */
static bool has_module(const struct build *b, uint32_t bit)
{
    const uint32_t qkv = LORA_QUERY | LORA_KEY | LORA_VALUE, mlp = LORA_GATE | LORA_UP;
    bool own = b->s->lora.fused, gated = b->flags & HAS_GATE;
    bool fused_qkv = own || b->m->attention.fused_qkv;
    bool fused_mlp =
        own ? gated && !(b->flags & HAS_EXPERTS) : gated && b->m->mlp.fused_gate;
    if (bit & qkv)
        return !fused_qkv || build_flags(b) & HAS_CROSS;
    if (bit == LORA_QKV)
        return fused_qkv;
    if (bit & mlp)
        return !fused_mlp;
    return bit != LORA_GATE_UP || fused_mlp;
}

/* Whether a module has an adapter. Of Megatron's fused products, names of the parts give
 * parts adapters of their own. */
static bool targets(const struct build *b, enum module part, uint32_t bit)
{
    enum model_state_kind state = b->m->state.kind;
    if (b->m->diffusion.stack)
        bit = build_diffusion_bit(b, part, bit);
    uint32_t set = b->s->lora.targets;
    if (set & LORA_OUT_PROJ &&
        (state == MODEL_STATE_NONE || state == MODEL_STATE_CONV)) /* else o_proj */
        set |= LORA_OUT;
    if (build_is_bare(b, part))
        return false;
    if (set & LORA_ALL_LINEAR)
        return bit != LORA_HEAD && has_module(b, bit);
    return set & bit && (b->s->lora.fused || has_module(b, bit));
}

/* Of a module that a group of t ranks splits, each has 1/t of A's columns where it has
 * 1/t of the product's, and 1/t of B's where it has 1/t of the product's rows. */
static void add(struct build *b, struct adapter *to, enum module part, const char *name,
                int64_t n)
{
    const struct linear *l = &b->linears[part];
    int64_t r = b->s->lora.rank, t = b->shares[b->module].degree;
    bool rows = part == MODULE_OUT || part == MODULE_DOWN ||
                part == MODULE_SHARED_DOWN || part == MODULE_STATE_OUT;
    *to = (struct adapter) { .name = name, .a = *l, .b = *l };
    to->a.n = rows ? r : (r + t - 1) / t;
    to->b.k = r;
    to->b.n = rows ? (n + t - 1) / t : n;
    to->a.bias = to->b.bias = false;
    to->a.owned = to->b.owned = true;
    if (dtype_is_quantized(
            l->dtype)) /* Megatron-Bridge, peft/utils.py: linears of Megatron's
                                  own, in the parameters' type */
        to->a.dtype = to->b.dtype = op_parameter_dtype(b->s->precision);
    to->casts = b->s->lora.autocast;
    to->wide = b->s->lora.wide;
    to->upcasts = to->wide || (to->casts && (!(b->flags & HAS_AMP) || rows));
    if (to->wide)
        to->a.dtype = to->b.dtype = DTYPE_FP32;
}

static int32_t list_adapters(struct build *b, enum module part,
                             struct adapter v[ADAPTERS_MAX])
{
    const struct linear *l = &b->linears[part];
    int32_t n = 0;
    if (b->s->lora.rank == 0)
        return 0;
    if (part >= MODULE_STATE_IN && part <= MODULE_STATE_OUT) {
        struct state_module modules[BUILD_STATE_MODULES];
        n = build_state_modules(b, part, modules);
        for (int32_t i = 0; i < n; i++)
            add(b, &v[i], part, build_spell(b, modules[i].name, "_lora"), modules[i].n);
        return n;
    }
    if (part == MODULE_QKV) {
        static const enum module parts[] = { MODULE_QUERY, MODULE_KEY, MODULE_VALUE };
        for (int i = 0; i < 3; i++)
            if (targets(b, part, bits[parts[i]]))
                add(b, &v[n++], part, build_name(b, parts[i], "_lora"),
                    b->linears[parts[i]].n);
        if (targets(b, part, LORA_QKV) && n == 0)
            add(b, &v[n++], part, build_name(b, part, "_lora"), l->n);
        return n;
    }
    if (part == MODULE_UP && b->flags & HAS_GATE && targets(b, part, LORA_GATE_UP))
        add(b, &v[n++], part, build_name(b, part, "_lora"), 2 * l->n);
    else if (bits[part] && (targets(b, part, bits[part]) ||
                            (part == MODULE_UP && targets(b, part, LORA_GATE_UP))))
        add(b, &v[n++], part, build_name(b, part, "_lora"), l->n);
    return n;
}

bool build_adapts(struct build *b, enum module part)
{
    struct adapter v[ADAPTERS_MAX];
    return list_adapters(b, part, v) > 0;
}

/* Operators ------------------------------------------------------------------------ */

static double weights(const struct linear *l)
{
    return (double)l->k * (double)l->n * (double)l->batch;
}

static const char *named(struct build *b, const struct adapter *x, const char *suffix)
{
    return arena_printf(b->arena, "%s%s", x->name, suffix);
}

static struct op *stream(struct build *b, const struct adapter *x, const char *suffix,
                         bool backward, double read_B, double write_B)
{
    struct op *op = build_op(b, named(b, x, suffix), OP_STREAM, backward);
    op->adapter = true;
    op->read_B = read_B;
    op->write_B = write_B;
    return op;
}

/* Bytes of an element that the adapter computes with. */
static double computed_B(const struct build *b, const struct adapter *x)
{
    return x->wide ? 4 : b->width[WIDTH_NARROW];
}

/* A product of thin matrices, of rows m and the others. */
static struct op *product(struct build *b, const struct adapter *x, const char *suffix,
                          const struct linear *l, const int64_t mnk[3], bool backward)
{
    struct op *op = build_op(b, named(b, x, suffix), OP_GEMM, backward);
    op->adapter = true;
    double e = computed_B(b, x), times = (double)l->batch;
    double m = (double)mnk[0], n = (double)mnk[1], k = (double)mnk[2];
    op->m = mnk[0];
    op->n = mnk[1];
    op->k = mnk[2];
    op->batch = l->batch;
    op->dtype = l->dtype;
    op->slower = l->slower;
    op->flops = 2.0 * (double)l->rows * (double)l->k * (double)l->n;
    op->read_B = e * times * (m * k + k * n);
    op->write_B = e * times * m * n;
    return op;
}

static int64_t rows_each(const struct linear *l)
{
    return (l->rows + l->batch - 1) / l->batch;
}

/* Bytes of the input and of the result, an element of so many. */
static double in_B(const struct adapter *x, double each_B)
{
    return each_B * (double)x->a.rows * (double)x->a.k;
}

static double out_B(const struct adapter *x, double each_B)
{
    return each_B * (double)x->b.rows * (double)x->b.n;
}

/* The matrix is a parameter of the block, which the operator is the first to read. */
static void own(struct build *b, const struct adapter *x, const char *suffix,
                const struct linear *l, struct op *reader)
{
    struct op_param *p = build_param(b, named(b, x, suffix), weights(l), true);
    p->expert = l->expert;
    p->adapter = true;
    reader->thin = b->block->n_params;
}

/* The index of a thin matrix among the block's parameters. */
static int32_t param_of(struct build *b, const struct adapter *x, const char *suffix)
{
    const char *name = named(b, x, arena_printf(b->arena, "%s.weight", suffix));
    int32_t i = 0;
    while (i < b->block->n_params && strcmp(b->block->params[i].name, name) != 0)
        i++;
    assert(i < b->block->n_params);
    return i;
}

/* The input as the adapter reads it: kept as a copy of its own where it is cast or some
 * of it is dropped. */
static void emit_input(struct build *b, const struct adapter *x)
{
    double narrow = b->width[WIDTH_NARROW], e = x->casts || x->wide ? 4 : narrow;
    const char *user = named(b, x, "_a_wgrad");
    if (x->upcasts)
        build_out(b, stream(b, x, "_upcast", false, in_B(x, narrow), in_B(x, 4)),
                  in_B(x, 4), x->wide && b->s->lora.dropout <= 0 ? user : NULL);
    if (b->s->lora.dropout > 0) {
        struct op *op =
            stream(b, x, "_dropout", false, in_B(x, e), in_B(x, e) + in_B(x, 1));
        build_out(b, op, in_B(x, 1), named(b, x, "_dropout_bwd"));
        build_out(b, op, in_B(x, e), x->casts ? NULL : user);
    }
    if (x->casts)
        build_out(b, stream(b, x, "_cast", false, in_B(x, 4), in_B(x, narrow)),
                  in_B(x, narrow), user);
}

static void emit_forward(struct build *b, const struct adapter *x)
{
    double narrow = b->width[WIDTH_NARROW], e = computed_B(b, x), made_B = out_B(x, e);
    int64_t m = rows_each(&x->a);
    emit_input(b, x);
    if (x->casts) {
        stream(b, x, "_a_cast", false, 4 * weights(&x->a), e * weights(&x->a));
        stream(b, x, "_b_cast", false, 4 * weights(&x->b), e * weights(&x->b));
    }
    struct op *a = product(b, x, "_a", &x->a, (int64_t[]) { m, x->a.n, x->a.k }, false);
    build_out(b, a, e * (double)x->b.rows * (double)x->b.k, named(b, x, "_b_wgrad"));
    struct op *wide =
        product(b, x, "_b", &x->b, (int64_t[]) { m, x->b.n, x->b.k }, false);
    build_out(b, wide, made_B, NULL);
    build_out(b, stream(b, x, "_scale", false, made_B, made_B), made_B, NULL);
    build_out(b, stream(b, x, "_sum", false, out_B(x, narrow) + made_B, made_B), made_B,
              NULL);
    if (x->wide)
        build_out(b, stream(b, x, "_sum_cast", false, made_B, out_B(x, narrow)),
                  out_B(x, narrow), NULL);
    own(b, x, "_a.weight", &x->a, a);
    own(b, x, "_b.weight", &x->b, wide);
}

/* The gradient of one thin matrix; in fp32 it is cast. */
static void emit_wgrad(struct build *b, const struct adapter *x, const struct linear *l,
                       const char *suffix)
{
    double e = computed_B(b, x);
    int64_t tokens = (rows_each(l) + 7) / 8 * 8;
    struct op *op = product(b, x, arena_printf(b->arena, "%s_wgrad", suffix), l,
                            (int64_t[]) { l->k, l->n, tokens }, true);
    op->dispatches = 0;
    if (x->casts) {
        build_out(b, op, e * weights(l), NULL);
        op = stream(b, x, arena_printf(b->arena, "%s_grad_cast", suffix), true,
                    e * weights(l), 4 * weights(l));
    }
    op->grad_first = param_of(b, x, suffix);
    op->grad_n = 1;
}

static void emit_backward(struct build *b, const struct adapter *x)
{
    double narrow = b->width[WIDTH_NARROW], e = x->casts || x->wide ? 4 : narrow;
    double made_B = out_B(x, computed_B(b, x));
    int64_t m = rows_each(&x->a);
    if (x->wide)
        build_out(b, stream(b, x, "_sum_cast_bwd", true, out_B(x, narrow), made_B),
                  made_B, NULL);
    build_out(b, stream(b, x, "_scale_bwd", true, made_B, made_B), made_B, NULL);
    struct op *op =
        product(b, x, "_b_dgrad", &x->b, (int64_t[]) { m, x->b.k, x->b.n }, true);
    op->thin = 1 + param_of(b, x, "_b");
    build_out(b, op, computed_B(b, x) * (double)x->b.rows * (double)x->b.k, NULL);
    emit_wgrad(b, x, &x->b, "_b");
    op = product(b, x, "_a_dgrad", &x->a, (int64_t[]) { m, x->a.k, x->a.n }, true);
    op->thin = 1 + param_of(b, x, "_a");
    build_out(b, op, in_B(x, computed_B(b, x)), NULL);
    emit_wgrad(b, x, &x->a, "_a");
    if (x->casts)
        build_out(b, stream(b, x, "_cast_bwd", true, in_B(x, narrow), in_B(x, 4)),
                  in_B(x, 4), NULL);
    if (b->s->lora.dropout > 0)
        build_out(
            b, stream(b, x, "_dropout_bwd", true, in_B(x, e) + in_B(x, 1), in_B(x, e)),
            in_B(x, e), NULL);
    if (x->upcasts)
        build_out(b, stream(b, x, "_upcast_bwd", true, in_B(x, 4), in_B(x, narrow)),
                  in_B(x, narrow), NULL);
    build_out(b, stream(b, x, "_sum_bwd", true, 2 * in_B(x, narrow), in_B(x, narrow)),
              in_B(x, narrow), NULL);
}

void build_adapters(struct build *b, enum module part)
{
    struct adapter v[ADAPTERS_MAX];
    int32_t n = list_adapters(b, part, v);
    for (int32_t i = 0; i < n; i++)
        emit_forward(b, &v[i]);
}

void build_adapters_bwd(struct build *b, enum module part)
{
    struct adapter v[ADAPTERS_MAX];
    int32_t n = list_adapters(b, part, v);
    for (int32_t i = 0; i < n; i++)
        emit_backward(b, &v[i]);
}

/* What is kept --------------------------------------------------------------------- */

static int32_t find(const struct op_block *block, const char *name)
{
    for (int32_t i = block->n_backward - 1; i >= 0; i--)
        if (strcmp(block->backward[i].name, name) == 0)
            return i;
    return -1;
}

/* Products that read what the first of a row reads. */
static const char *const sharers[][8] = {
    { "value", "key", "query", "qkv", "kv_down", "query_down" },
    { "qkv", "value", "key", "query" },
    { "kv_down", "query_down" },
    { "cross_query" },
    { "up", "gate", "shared_up", "shared_gate" },
    { "router", "shared_up", "shared_gate" },
    { "text_value", "text_key", "text_query" },
    { "state_in", "state_qkv", "state_gate_in", "state_steps", "state_a", "state_b",
      "state_query", "state_value" },
};

/* The last of the adapters that read the same input uncopied. */
static int32_t last_reader(const struct build *b, const char *product, size_t n)
{
    int32_t last = -1;
    if (b->s->lora.autocast || b->s->lora.wide || b->s->lora.dropout > 0)
        return -1;
    last = find(b->block, arena_printf(b->arena, "%.*s_lora_a_wgrad", (int)n, product));
    for (size_t i = 0; i < sizeof(sharers) / sizeof(sharers[0]); i++) {
        if (strlen(sharers[i][0]) != n || strncmp(sharers[i][0], product, n) != 0)
            continue;
        for (int k = 0; k < 8 && sharers[i][k]; k++) {
            int32_t at = find(b->block,
                              arena_printf(b->arena, "%s_lora_a_wgrad", sharers[i][k]));
            last = at > last ? at : last;
        }
    }
    return last;
}

int32_t build_needs_input(const struct build *b, const struct op *maker,
                          const char *until)
{
    static const char ending[] = "_wgrad";
    const char *bar = strchr(until, '|');
    size_t n = bar ? (size_t)(bar - until) : strlen(until), k = sizeof(ending) - 1;
    if (n <= k || strncmp(until + n - k, ending, k) != 0)
        return -1;
    if (maker->kind == OP_FLASH) /* it reads its result, too */
        return find(b->block, "flash_bwd");
    if (strlen(maker->name) == n - k && strncmp(maker->name, until, n - k) == 0)
        return find(b->block,
                    arena_printf(b->arena, "%.*s_dgrad", (int)(n - k), until));
    return last_reader(b, until, n - k);
}
