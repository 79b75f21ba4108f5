#include "model/ops.h"

#include "model/build/diffusion.h"
#include "model/pattern.h"
#include "model/recipe.h"
#include "model/regions.h"

#include <string.h>

const struct name_value op_attention_names[] = {
    { "unfused", OP_ATTENTION_UNFUSED },
    { "fused-softmax", OP_ATTENTION_FUSED_SOFTMAX },
    { "memory-efficient", OP_ATTENTION_EFFICIENT },
    { "flash", OP_ATTENTION_FLASH },
    { "flash_attention_3", OP_ATTENTION_FLASH3 },
    { "cudnn", OP_ATTENTION_CUDNN },
    { NULL, 0 },
};

bool op_attention_is_fused(enum op_attention a)
{
    return op_attention_is_flash(a) || a == OP_ATTENTION_EFFICIENT;
}

bool op_attention_is_flash(enum op_attention a)
{
    return a == OP_ATTENTION_FLASH || a == OP_ATTENTION_FLASH3 ||
           a == OP_ATTENTION_CUDNN;
}

static int check_parameters(const struct op_list *list, struct err *err)
{
    double sum = 0;
    for (int32_t i = 0; i < list->n_blocks; i++)
        for (int32_t j = 0; j < list->blocks[i].n_params; j++)
            sum += (double)list->blocks[i].repeat *
                   (double)list->blocks[i].params[j].elements;
    return sum > BUILD_ELEMENTS_MAX
               ? err_set(err, "a model of more than 2^50 parameters")
               : 0;
}

/* A layer of that kind. What attends to pictures is no part of the stack where there are
 * none: it is held, not run and gets no gradient (transformers, modeling_mllama.py,
 * MllamaTextModel.forward). */
static int make_kind(struct op_block *block, struct arena *arena, const struct model *m,
                     struct model_kind kind, const struct op_settings *s,
                     struct err *err)
{
    struct build b;
    struct op_settings own = *s;
    struct model *one = ARENA_NEW(arena, struct model);
    int64_t crossed = kind.mixer == MODEL_MIXER_CROSS ? model_crossed_tokens(m) : 0;
    bool idle = kind.mixer == MODEL_MIXER_CROSS && crossed == 0;
    *one = model_of_kind(m, kind);
    own.memory = crossed > 0 ? crossed : own.memory;
    own.lora.whole |= idle;
    if (build_init(&b, arena, one, &own, err) < 0)
        return -1;
    build_layer(&b, block, STACK_PATTERN);
    if (idle) {
        block->n_forward = block->n_backward = 0;
        block->name = "cross_attention_idle";
    }
    return 0;
}

/* Runs of layers of one kind, in order; their operators are listed once a kind. */
static int make_pattern(struct op_list *list, struct arena *arena,
                        const struct model *m, const struct op_settings *s,
                        struct err *err)
{
    struct op_block *first[MODEL_MIXER_NONE + 1][MODEL_INNER_NONE + 1]
                          [MODEL_VARIANTS_MAX + 1] = { { { NULL } } };
    for (int64_t i = 0, n; i < m->layers; i += n) {
        struct model_kind kind = model_kind_of(m, i);
        struct op_block *block = &list->blocks[list->n_blocks++];
        struct op_block **of_kind = &first[kind.mixer][kind.inner][kind.variant];
        n = model_kind_run(m, i);
        if (*of_kind)
            *block = **of_kind;
        else if (make_kind(block, arena, m, kind, s, err) < 0)
            return -1;
        else
            *of_kind = block;
        block->repeat = n;
    }
    return 0;
}

/* A model whose layers are of several kinds. */
static int make_mixed(struct op_list *list, struct arena *arena, const struct model *m,
                      const struct op_settings *s, struct err *err)
{
    struct build ends;
    struct model *plain = ARENA_NEW(arena, struct model);
    struct model_kind attention = { MODEL_MIXER_ATTENTION, MODEL_INNER_MLP, 0 };
    *plain = model_of_kind(m, attention);
    if (build_init(&ends, arena, plain, s, err) < 0)
        return -1;
    int64_t most =
        m->layers + 2 + BUILD_TOWER_MAX + build_mtp_blocks(m) + BUILD_TAIL_MAX;
    list->blocks = ARENA_ARRAY(arena, most, struct op_block);
    build_embedding(&ends, &list->blocks[list->n_blocks++]);
    if (m->tower && build_tower(&list->blocks[list->n_blocks], arena, m, s, err) < 0)
        return -1;
    list->n_blocks += build_tower_blocks(m);
    if (make_pattern(list, arena, m, s, err) < 0)
        return -1;
    if (build_mtp(&ends, &list->blocks[list->n_blocks], err) < 0)
        return -1;
    list->n_blocks += build_mtp_blocks(m);
    struct op_block *head = &list->blocks[list->n_blocks++];
    build_head(&ends, head);
    list->n_ends = 1 + build_tail(&ends, head);
    list->n_blocks += list->n_ends - 1;
    return 0;
}

/* Stages of layers between the embedding of the first and the head of the last. */
static int make_staged(struct op_list *list, struct arena *arena, const struct model *m,
                       const struct op_settings *s, struct err *err)
{
    struct build b;
    int32_t stack = build_stack_blocks(m);
    if (build_init(&b, arena, m, s, err) < 0)
        return -1;
    list->n_blocks = stack + 2;
    list->blocks = ARENA_ARRAY(arena, list->n_blocks, struct op_block);
    build_embedding(&b, list->blocks);
    if (build_stages(&b, list->blocks + 1, m, s, STACK_ONLY, err) < 0 ||
        build_last_stage(&b, arena, m, s, err) < 0)
        return -1;
    build_head(&b, list->blocks + 1 + stack);
    list->n_ends = 1;
    return 0;
}

/* An encoder of its own sizes, and the decoder that reads it. */
static int make_uneven(struct op_list *list, struct arena *arena, const struct model *m,
                       const struct op_settings *s, struct err *err)
{
    struct build b;
    struct op_settings decoder = *s;
    list->blocks = ARENA_ARRAY(arena, 6 + BUILD_TAIL_MAX, struct op_block);
    struct op_block *block = list->blocks;
    if (build_init(&b, arena, m->encoder, s, err) < 0)
        return -1;
    build_embedding(&b, block++);
    build_layer(&b, block++, STACK_ONLY);
    build_head(&b, block);
    block++->name = "encoder_norm";
    decoder.sequence = s->decoder ? s->decoder : s->sequence;
    decoder.memory = s->sequence;
    if (build_init(&b, arena, m, &decoder, err) < 0)
        return -1;
    build_embedding(&b, block);
    block++->name = "decoder_embedding";
    build_layer(&b, block++, STACK_DECODER);
    build_head(&b, block++);
    list->n_ends = 1 + build_tail(&b, block - 1);
    list->n_blocks = (int32_t)(block - list->blocks) + list->n_ends - 1;
    return 0;
}

static int make_list(struct op_list *list, struct arena *arena, const struct model *m,
                     const struct op_settings *s, struct err *err)
{
    struct build b, dense;
    struct op_settings own = *s, decoder = *s;
    if (m->diffusion.stack)
        return build_diffusion(list, arena, m, s, err);
    if (m->pattern)
        return make_mixed(list, arena, m, s, err);
    if (m->stages)
        return make_staged(list, arena, m, s, err);
    if (m->encoder)
        return make_uneven(list, arena, m, s, err);
    if (m->crosses)
        own.memory = model_crossed_tokens(m);
    struct model *first = ARENA_NEW(arena, struct model);
    *first = model_of_dense_layers(m);
    bool two = m->arch == MODEL_ENCODER_DECODER, mixed = m->mlp.dense_layers > 0;
    if (build_init(&b, arena, m, &own, err) < 0 ||
        (mixed && build_init(&dense, arena, first, s, err) < 0))
        return -1;
    list->n_blocks = (two     ? 5
                      : mixed ? 4
                              : 3) +
                     build_tower_blocks(m) + build_mtp_blocks(m);
    list->blocks = ARENA_ARRAY(arena, list->n_blocks + BUILD_TAIL_MAX, struct op_block);
    struct op_block *block = list->blocks;
    (m->sound ? build_sound : build_embedding)(&b, block++);
    if (m->tower && build_tower(block, arena, m, s, err) < 0)
        return -1;
    block += build_tower_blocks(m);
    if (mixed)
        build_layer(&dense, block++, STACK_DENSE);
    build_layer(&b, block++, STACK_ONLY);
    if (two) {
        build_bridge(&b, block++);
        if (s->decoder) {
            decoder.sequence = s->decoder;
            decoder.memory = s->sequence;
            if (build_init(&b, arena, m, &decoder, err) < 0)
                return -1;
        }
        build_layer(&b, block++, STACK_DECODER);
    }
    if (build_mtp(&b, block, err) < 0)
        return -1;
    block += build_mtp_blocks(m);
    build_head(&b, block);
    list->n_ends = 1 + build_tail(&b, block);
    list->n_blocks += list->n_ends - 1;
    return 0;
}

/* The list where all layers are alike in precision. Blocks of one kind share their
 * operators: these are marked more than once, alike. */
static int make_alike(struct op_list *list, struct arena *arena, const struct model *m,
                      const struct op_settings *s, struct err *err)
{
    *list = (struct op_list) { .n_blocks = 0 };
    if (make_list(list, arena, m, s, err) < 0)
        return -1;
    for (int32_t i = 0; i < list->n_blocks; i++)
        op_regions_mark(&list->blocks[i]);
    return check_parameters(list, err);
}

/* Layers that predict further tokens have the global recipe (Megatron-Core,
 * multi_token_prediction.py). */
static bool is_of_stack(const struct op_block *block)
{
    return op_block_is_layer(block) && !op_block_is_mtp(block);
}

static int64_t layers_of(const struct op_list *list)
{
    int64_t n = 0;
    for (int32_t i = 0; i < list->n_blocks; i++)
        n += is_of_stack(&list->blocks[i]) ? list->blocks[i].repeat : 0;
    return n;
}

static void add_part(struct op_list *to, const struct op_block *block, int64_t from,
                     int64_t end, const char *name)
{
    if (end <= from)
        return;
    struct op_block *part = &to->blocks[to->n_blocks++];
    *part = *block;
    part->repeat = end - from;
    part->name = name;
}

static int64_t between(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* The blocks of `list`, the first and last layers those of `wide`. */
static void splice_layers(struct op_list *list, const struct op_list *wide,
                          struct arena *arena, const struct op_settings *s)
{
    struct op_list all = { .blocks = ARENA_ARRAY(arena, 3 * list->n_blocks,
                                                 struct op_block) };
    int64_t layers = layers_of(list), at = 0, first = s->first_16bit;
    int64_t last = layers - s->last_16bit > first ? layers - s->last_16bit : first;
    for (int32_t i = 0; i < list->n_blocks; i++) {
        const struct op_block *block = &list->blocks[i];
        if (!is_of_stack(block)) {
            all.blocks[all.n_blocks++] = *block;
            continue;
        }
        int64_t end = at + block->repeat, a = between(first, at, end),
                c = between(last, at, end);
        const char *name = arena_printf(arena, "16bit_%s", block->name);
        add_part(&all, &wide->blocks[i], at, a, name);
        add_part(&all, block, a, c, block->name);
        add_part(&all, &wide->blocks[i], c, end, name);
        at = end;
    }
    *list = all;
}

int op_list_make_base(struct op_list *list, struct arena *arena, const struct model *m,
                      const struct op_settings *s, struct err *err)
{
    struct op_list wide;
    struct op_settings *in_16bit = ARENA_NEW(arena, struct op_settings);
    if (make_alike(list, arena, m, s, err) < 0)
        return -1;
    if (!op_recipe_of(s->precision) || s->first_16bit + s->last_16bit == 0)
        return 0;
    *in_16bit = *s;
    in_16bit->precision = OP_BF16;
    in_16bit->formats = (struct op_formats) { 0 };
    if (make_alike(&wide, arena, m, in_16bit, err) < 0)
        return -1;
    splice_layers(list, &wide, arena, s);
    return 0;
}
