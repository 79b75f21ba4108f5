/* Sizes that follow from a model's own: of values, of context, of its dense layers. */
#include "model/model.h"
#include "model/ops.h"

/* Whether the head makes logits of words. */
static bool has_vocabulary(const struct model *m)
{
    return m->head == MODEL_HEAD_CAUSAL_LM || m->head == MODEL_HEAD_MASKED_LM ||
           m->head == MODEL_HEAD_PRETRAIN;
}

bool model_ties_head(const struct model *m)
{
    return m->tied_embeddings && has_vocabulary(m);
}

int64_t model_value_dim(const struct model *m)
{
    return m->value_dim ? m->value_dim : m->head_dim;
}

int64_t model_value_width(const struct model *m)
{
    return m->latent_kv ? m->heads * model_value_dim(m) : m->kv_width;
}

int64_t model_context_width(const struct model *m)
{
    return m->latent_kv ? m->heads * model_value_dim(m) : m->q_width;
}

struct model model_of_dense_layers(const struct model *m)
{
    struct model dense = *m;
    dense.ffn = m->dense_ffn;
    dense.experts = dense.experts_per_token = dense.shared_ffn = 0;
    dense.layers = m->dense_layers;
    dense.dense_layers = 0;
    return dense;
}

int64_t op_tokens(const struct op_settings *s)
{
    return s->batch * (s->sequence / (s->context > 1 ? s->context : 1));
}
