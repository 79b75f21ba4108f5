#include "model/saved.h"

#include "base/names.h"
#include "model/regions.h"

#include <string.h>

/* clang-format off */
const struct name_value op_saver_names[] = {
    { "attn_norm", OP_SAVER_ATTENTION_NORM }, { "qkv_linear", OP_SAVER_QKV },
    { "core_attn", OP_SAVER_CORE }, { "attn_proj", OP_SAVER_OUT },
    { "mlp_norm", OP_SAVER_MLP_NORM }, { "expert_fc1", OP_SAVER_EXPERTS },
    { "moe_act", OP_SAVER_ACTIVATION }, { NULL, 0 },
};
/* clang-format on */

/* min_offloaded_tensor_size: 2^20 elements, of 16 bits; what fused attention makes in
 * addition to its result is fp32. */
enum { LEAST_B = 2 << 20, LEAST_FP32_B = 4 << 20 };

/* Backward operators that need a module's tensors, and the forward operator that is the
 * last to read them: the last of these that the block has. Where a product has its norm
 * inside, it saves what that norms. */
struct saver {
    const char *users[10], *reads[5];
    const char *only; /* blocks with this operator alone */
};
static const struct saver savers[] = {
    [OP_SAVER_ATTENTION_NORM] = { { "norm1_bwd" }, { "norm1" }, "kv_up" },
    [OP_SAVER_QKV] = { { "qkv_wgrad", "query_wgrad", "key_wgrad", "value_wgrad",
                         "query_down_wgrad", "kv_down_wgrad", "kv_up_wgrad",
                         "latent_norm_bwd", "norm1_bwd" },
                       { "qkv", "value", "kv_up", "query", "rope" },
                       NULL },
    [OP_SAVER_CORE] = { { "flash_bwd", "softmax_bwd", "dvalue", "dprobs", "dquery",
                          "dkey", "probs_dropout_bwd", "attention_softcap_bwd",
                          "sinks_bwd" },
                        { "context", "flash" },
                        NULL },
    [OP_SAVER_OUT] = { { "out_wgrad" }, { "out" }, NULL },
    [OP_SAVER_MLP_NORM] = { { "norm2_bwd" }, { "norm2" }, "router" },
    [OP_SAVER_EXPERTS] = { { "gate_wgrad", "up_wgrad" }, { "up" }, "router" },
    [OP_SAVER_ACTIVATION] = { { "activation_bwd", "multiply_bwd" },
                              { "down" },
                              "router" },
};

static int32_t last_of(const struct op *ops, int32_t n, const char *const *names,
                       int32_t most)
{
    for (int32_t i = n - 1; i >= 0; i--)
        for (int32_t k = 0; k < most && names[k]; k++)
            if (strcmp(ops[i].name, names[k]) == 0)
                return i;
    return -1;
}

static bool needs(const struct saver *s, const struct op_block *b, const char *user)
{
    const char *const latent = "kv_up";
    bool own_norm = last_of(b->forward, b->n_forward, &latent, 1) >= 0;
    for (size_t k = 0; k < sizeof(s->users) / sizeof(*s->users) && s->users[k]; k++)
        if (strcmp(s->users[k], user) == 0)
            return !(s == &savers[OP_SAVER_QKV] && own_norm &&
                     strcmp(user, "norm1_bwd") == 0);
    return false;
}

/* The fused kernel saves its result, too, which the product after it keeps: it is copied
 * with both, and leaves with the product's (attn_proj cannot go without core_attn). */
static bool is_result(const struct op_block *b, int32_t module, int32_t user)
{
    return module == OP_SAVER_CORE && strcmp(b->backward[user].name, "out_wgrad") == 0;
}

static void add(struct op_saved *out, const struct op_block *b, int32_t module,
                int32_t at, int32_t j)
{
    int64_t size_B = b->forward[at].outs[j].size_B;
    int32_t user = b->forward[at].outs[j].kept_until;
    if (is_result(b, module, user)) {
        out->copied_B += size_B;
        return;
    }
    if (!needs(&savers[module], b, b->backward[user].name) || out->n == OP_SAVED_MAX)
        return;
    out->first = out->n == 0 || user < out->first ? user : out->first;
    out->last = user > out->last ? user : out->last;
    out->size_B[out->n++] = size_B;
    out->copied_B += size_B;
}

static bool is_large(const struct op_block *b, int32_t at, int32_t j)
{
    const struct op_out *out = &b->forward[at].outs[j];
    bool wide = b->forward[at].kind == OP_FLASH &&
                strcmp(b->backward[out->kept_until].name, "flash_bwd") == 0;
    return out->size_B >= (wide ? LEAST_FP32_B : LEAST_B);
}

static void find(struct op_saved *out, const struct op_block *b, int32_t module,
                 uint32_t regions)
{
    const struct saver *s = &savers[module];
    int32_t after = last_of(b->forward, b->n_forward, s->reads,
                            sizeof(s->reads) / sizeof(*s->reads));
    if (after < 0 || (s->only && last_of(b->forward, b->n_forward, &s->only, 1) < 0))
        return;
    for (int32_t i = 0; i < b->n_forward; i++)
        for (int32_t j = 0; j < b->forward[i].n_outs; j++)
            if (b->forward[i].outs[j].kept_until >= 0 && is_large(b, i, j) &&
                !op_region_drops(b, i, j, regions))
                add(out, b, module, i, j);
    if (out->n > 0)
        out->after = after;
}

void op_saved_find(const struct op_block *b, uint32_t modules, uint32_t regions,
                   struct op_saved out[OP_SAVERS])
{
    for (int32_t m = 0; m < OP_SAVERS; m++) {
        out[m] = (struct op_saved) { .after = -1, .first = -1, .last = -1 };
        if (modules >> m & 1 && op_block_is_layer(b))
            find(&out[m], b, m, regions);
    }
}
