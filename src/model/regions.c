#include "model/regions.h"

#include "base/names.h"

#include <string.h>

/* clang-format off */
const struct name_value op_region_names[] = {
    { "core_attn", OP_REGION_CORE }, { "moe", OP_REGION_MOE },
    { "shared_experts", OP_REGION_SHARED }, { "moe_act", OP_REGION_MOE_ACT },
    { "mlp", OP_REGION_MLP }, { "mla_up_proj", OP_REGION_LATENT },
    { "layernorm", OP_REGION_NORMS }, { "gdn", OP_REGION_DELTA },
    { "gdn_norm_out", OP_REGION_DELTA_NORM }, { NULL, 0 },
};
/* clang-format on */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Operators ------------------------------------------------------------------------ */

static bool is_core(const struct op_block *b, const struct op *op)
{
    static const char *const names[] = { "scores",        "scale",
                                         "mask",          "softmax",
                                         "context",       "flash",
                                         "probs_dropout", "probs_cast",
                                         "flash_merge",   "relative_bias_add",
                                         "scores_cast",   NULL };
    (void)b;
    return names_listed(names, begins(op->name, "cross_") ? op->name + 6 : op->name);
}

/* Sums after a sublayer are none of its module. */
static bool is_mlp(const struct op *op)
{
    return op->module == OP_MLP && !begins(op->name, "residual") &&
           !begins(op->name, "dropout");
}

static bool is_moe(const struct op_block *b, const struct op *op)
{
    return is_mlp(op) && !begins(op->name, "norm") && b->routes;
}

static bool is_shared(const struct op_block *b, const struct op *op)
{
    return is_moe(b, op) && begins(op->name, "shared_") &&
           strcmp(op->name, "shared_sum") != 0;
}

static bool is_moe_act(const struct op_block *b, const struct op *op)
{
    return is_moe(b, op) &&
           (begins(op->name, "activation") || strcmp(op->name, "multiply") == 0);
}

/* Transformer Engine's first product of a dense MLP has its norm inside. */
static bool is_dense_mlp(const struct op_block *b, const struct op *op)
{
    return is_mlp(op) && !b->routes;
}

static bool is_latent(const struct op_block *b, const struct op *op)
{
    bool own = strcmp(op->name, "kv_up") == 0 ||
               (strcmp(op->name, "query") == 0 && op_block_has(b, "query_down")) ||
               strcmp(op->name, "latent_norm") == 0 || begins(op->name, "rope");
    return own && op_block_has(b, "kv_up");
}

/* Others are inside Transformer Engine's products, which keep what they normed. */
static bool is_norm(const struct op_block *b, const struct op *op)
{
    return (strcmp(op->name, "norm1") == 0 && op_block_has(b, "kv_up")) ||
           (strcmp(op->name, "norm2") == 0 && b->routes);
}

/* Its input stays, and what products make of it. */
static bool is_delta(const struct op_block *b, const struct op *op)
{
    bool own = begins(op->name, "state_") || begins(op->name, "delta_");
    return own && strcmp(op->name, "state_cast") != 0 && op_block_has(b, "delta_write");
}

static bool is_delta_norm(const struct op_block *b, const struct op *op)
{
    return is_delta(b, op) && strcmp(op->name, "state_norm") == 0;
}

static bool (*const members[])(const struct op_block *b, const struct op *op) = {
    [OP_REGION_CORE] = is_core,
    [OP_REGION_MOE] = is_moe,
    [OP_REGION_SHARED] = is_shared,
    [OP_REGION_MOE_ACT] = is_moe_act,
    [OP_REGION_MLP] = is_dense_mlp,
    [OP_REGION_LATENT] = is_latent,
    [OP_REGION_NORMS] = is_norm,
    [OP_REGION_DELTA] = is_delta,
    [OP_REGION_DELTA_NORM] = is_delta_norm,
};

void op_regions_mark(struct op_block *b)
{
    for (int32_t i = 0; op_block_is_layer(b) && i < b->n_forward; i++)
        for (int32_t r = 0; r < OP_REGIONS; r++)
            b->forward[i].regions |= (uint32_t)members[r](b, &b->forward[i]) << r;
}

int32_t op_region_of(const struct op_block *b, int32_t at, uint32_t regions)
{
    const struct op *op = &b->forward[at];
    uint32_t in = op->regions & regions;
    if (!in)
        return -1;
    int32_t r = __builtin_ctz(in);
    return r == OP_REGION_NORMS && strcmp(op->name, "norm2") == 0 ? OP_REGIONS : r;
}

/* Attention's result is the next product's input, which that keeps. */
static bool is_handed_on(const struct op_block *b, int32_t user)
{
    return strcmp(b->backward[user].name, "out_wgrad") == 0 ||
           strcmp(b->backward[user].name, "cross_out_wgrad") == 0;
}

bool op_region_drops(const struct op_block *b, int32_t at, int32_t j, uint32_t regions)
{
    int32_t user = b->forward[at].outs[j].kept_until;
    int32_t region = user < 0 ? -1 : op_region_of(b, at, regions);
    return region >= 0 && !(region == OP_REGION_CORE && is_handed_on(b, user));
}

int32_t op_region_user(const struct op_block *b, int32_t instance, uint32_t regions)
{
    int32_t first = -1;
    for (int32_t i = 0; i < b->n_forward; i++) {
        if (op_region_of(b, i, regions) != instance)
            continue;
        for (int32_t j = 0; j < b->forward[i].n_outs; j++) {
            int32_t user = b->forward[i].outs[j].kept_until;
            if (op_region_drops(b, i, j, regions) && (first < 0 || user < first))
                first = user;
        }
    }
    return first;
}

bool op_region_acts(const struct op_list *list, enum op_region region)
{
    const uint32_t regions = 1u << region;
    for (int32_t i = 0; i < list->n_blocks; i++)
        for (int32_t k = 0; k < OP_REGION_INSTANCES; k++)
            if (op_region_user(&list->blocks[i], k, regions) >= 0)
                return true;
    return false;
}
