/* Stacks one after the other over a picture (Swin; transformers 5,
 * models/swin/modeling_swin.py, models/swinv2/modeling_swinv2.py). To attention a window is
 * a sequence. Between two stacks 2 x 2 neighbours become one token. */
#include "model/build/emit.h"

#include <inttypes.h>
#include <string.h>

/* Neighbours side by side, a norm and a product; or the product, and a norm of it. */
static const struct row merge_f[] = {
    { ROW_STREAM, "merge_gather", .read = { WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(WIDE(1, A), "norm#_bwd", .unless = HAS_RESULT_NORM) } },
    { ROW_OWNER, "norm#", MODULE_NORM, .unless = HAS_RESULT_NORM,
      .read = { WIDE(1, A) }, .write = { WIDE(1, A) },
      .keep = { KEEP(NARROW(1, A), "merge_wgrad", .unless = HAS_AMP) } },
    { ROW_STREAM, "merge_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "merge_wgrad") } },
    { ROW_LINEAR, .part = MODULE_MERGE },
    { ROW_OWNER, "norm#", MODULE_NORM, .when = HAS_RESULT_NORM,
      .read = { NARROW(1, X) }, .write = { WIDE(1, X) },
      .keep = { KEEP(WIDE(1, X), "norm#_bwd") } },
    ROW_END,
};
static const struct row merge_b[] = {
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .when = HAS_RESULT_NORM, .launches = 2,
      .read = { WIDE(4, X) }, .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_MERGE },
    { ROW_WGRAD, .part = MODULE_MERGE },
    { ROW_STREAM, "merge_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    { ROW_OWNER_BWD, "norm#_bwd", MODULE_NORM, .unless = HAS_RESULT_NORM, .launches = 2,
      .read = { WIDE(4, A) }, .write = { WIDE(1, A) } },
    { ROW_STREAM, "merge_gather_bwd", .read = { WIDE(1, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};
static const struct build_step merge_steps_f[] = { STEP(merge_f, 0), STEPS_END };
static const struct build_step merge_steps_b[] = { STEP(merge_b, 0), STEPS_END };

/* Before the layers of a stage, whose build it is. */
static void build_merge(struct build *b, struct op_block *block, bool norm_after)
{
    enum { NEIGHBOURS = 4 };
    double sizes[SYM_N];
    int64_t rows = op_tokens(b->s), h = b->m->hidden, from = NEIGHBOURS * (h / 2);
    flagset flags = b->flags;
    double *e = b->sizes[OP_EMBEDDING];
    memcpy(sizes, e, sizeof(sizes));
    b->linears[MODULE_MERGE] =
        (struct linear) { .rows = rows,
                          .k = from,
                          .n = h,
                          .batch = 1,
                          .owned = true,
                          .dtype = b->linears[MODULE_LOGITS].dtype };
    e[SYM_A] = (double)(rows * from);
    e[SYM_X] = (double)(rows * h);
    e[SYM_H] = (double)(norm_after ? h : from);
    b->flags &= ~HAS_RESULT_NORM;
    b->flags |= norm_after ? HAS_RESULT_NORM : 0;
    b->module = OP_EMBEDDING;
    b->elements = e;
    build_block(b, block, "merge", 1, merge_steps_f, merge_steps_b,
                (struct keep) { .term = WIDE(0, A) });
    b->flags = flags;
    memcpy(e, sizes, sizeof(sizes));
}

int32_t build_stack_blocks(const struct model *m)
{
    return m->stages ? 2 * (int32_t)m->stages->n - 1 : 1;
}

int build_stages(struct build *b, struct op_block *block, const struct model *m,
                 const struct op_settings *s, enum stack stack, struct err *err)
{
    struct arena *arena = b->arena;
    for (int64_t i = 0; i < m->stages->n; i++) {
        struct model *one = ARENA_NEW(arena, struct model);
        struct op_settings *own = ARENA_NEW(arena, struct op_settings);
        int64_t window = model_stage_window(m, i), tokens = window * window;
        *one = model_of_stage(m, i);
        *own = *s;
        own->sequence = tokens;
        own->batch = s->batch * ((model_stage_tokens(m, i) + tokens - 1) / tokens);
        if (build_init(b, arena, one, own, err) < 0)
            return -1;
        if (i > 0)
            build_merge(b, block++, m->stages->norm_after);
        build_layer(b, block, stack);
        block->name = arena_printf(arena, "%sstage%" PRId64 "_layer",
                                   stack == STACK_VISION ? "vision_" : "", i + 1);
        block++;
    }
    return 0;
}

int build_last_stage(struct build *b, struct arena *arena, const struct model *m,
                     const struct op_settings *s, struct err *err)
{
    struct model *one = ARENA_NEW(arena, struct model);
    struct op_settings *own = ARENA_NEW(arena, struct op_settings);
    *one = model_of_stage(m, m->stages->n - 1);
    *own = *s;
    own->sequence = model_last_tokens(m, s->sequence);
    return build_init(b, arena, one, own, err);
}
