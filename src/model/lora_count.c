/* Parameters and FLOPs of adapters and what they freeze, of the operator list. */
#include "model/lora.h"
#include "model/ops.h"

/* A profile that has nothing but the products that adapters are next to. */
static struct framework profile_of(const struct lora *l)
{
    return (struct framework) { .name = "plain",
                                .kernels.fused_norm = true,
                                .kernels.fused_qkv = l->fused };
}

/* FLOPs of the products and attention of a sample, of a list that no group shares. */
static double flops_of(const struct model *m, const struct op_settings *s)
{
    struct op_list list;
    struct arena arena;
    struct err err = { 0 };
    double sum = 0;
    arena_init(&arena);
    int rc = op_list_make(&list, &arena, m, s, &err);
    for (int32_t i = 0; rc == 0 && i < list.n_blocks; i++) {
        const struct op_block *b = &list.blocks[i];
        for (int32_t j = 0; j < b->n_forward; j++)
            sum += (double)b->repeat * b->forward[j].flops;
        for (int32_t j = 0; j < b->n_backward; j++)
            sum += (double)b->repeat * b->backward[j].flops;
    }
    arena_release(&arena);
    return sum;
}

double lora_flops_per_sample(const struct model *m, const struct lora *l, int64_t s,
                             int64_t decoder)
{
    struct framework plain = profile_of(l);
    struct op_settings all = { .batch = 1,
                               .sequence = s,
                               .decoder = decoder,
                               .precision = OP_BF16,
                               .framework = &plain,
                               .tensor = 1 };
    struct op_settings adapted = all;
    if (!l->rank && !l->frozen && !l->layers)
        return 0;
    adapted.lora = *l;
    return flops_of(m, &adapted) - flops_of(m, &all);
}

static int64_t count(const struct model *m, const struct lora *l,
                     int64_t (*counted)(const struct op_list *))
{
    struct framework plain = profile_of(l);
    struct op_settings s = { .batch = 1,
                             .sequence = 1,
                             .precision = OP_BF16,
                             .framework = &plain,
                             .tensor = 1,
                             .lora = *l };
    struct op_list list;
    struct arena arena;
    struct err err = { 0 };
    arena_init(&arena);
    int64_t n = op_list_make(&list, &arena, m, &s, &err) < 0 ? 0 : counted(&list);
    arena_release(&arena);
    return n;
}

int64_t lora_parameters(const struct model *m, const struct lora *l)
{
    return count(m, l, op_list_trained);
}

int64_t lora_all_parameters(const struct model *m, const struct lora *l)
{
    return count(m, l, op_list_parameters);
}
