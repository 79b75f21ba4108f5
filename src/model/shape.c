/* Sizes that follow from a model's own: of values, of context, of its dense layers. */
#include "model/model.h"
#include "model/ops.h"

#include <math.h>

bool model_is_undivided(const struct model *m)
{
    return (m->tower && (m->tower->crops > 0 || m->crosses)) || m->stages ||
           m->encoder || m->diffusion.stack || m->ends.word > 0 || m->n_variants > 0 ||
           m->sound || m->attention.place_rows > 0;
}

bool model_is_whole(const struct model *m)
{
    return m->tower || model_is_undivided(m);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Halves of n, rounded up, as often as stages come before the i-th. */
static int64_t halved(int64_t n, int64_t i)
{
    return (n + ((int64_t)1 << i) - 1) >> i;
}

int64_t model_stage_tokens(const struct model *m, int64_t i)
{
    return halved(m->stages->rows, i) * halved(m->stages->columns, i);
}

int64_t model_stage_window(const struct model *m, int64_t i)
{
    const struct model_stages *all = m->stages;
    return least(all->window, least(halved(all->rows, i), halved(all->columns, i)));
}

int64_t model_last_tokens(const struct model *m, int64_t tokens)
{
    return m->stages ? model_stage_tokens(m, m->stages->n - 1) : tokens;
}

int64_t model_last_columns(const struct model *m)
{
    return m->stages ? m->hidden << (m->stages->n - 1) : m->hidden;
}

struct model model_of_stage(const struct model *m, int64_t i)
{
    const struct model_stages *all = m->stages;
    struct model one = *m;
    struct model_attention *a = &one.attention;
    one.stages = NULL;
    one.layers = all->layers[i];
    one.hidden = a->q_width = a->kv_width = m->hidden << i;
    a->heads = a->kv_heads = all->heads[i];
    a->head_dim = one.hidden / a->heads;
    one.mlp.width = all->expansion * one.hidden;
    one.ends.patch = one.ends.positions = 0;
    return one;
}

int64_t model_memory_columns(const struct model *m)
{
    const struct model_tower *t = m->tower;
    if (m->encoder)
        return m->encoder->hidden;
    return m->crosses && t && t->n_products == 0 ? model_last_columns(&t->model)
                                                 : m->hidden;
}

static int64_t tower_tokens(const struct model *m, bool crossed)
{
    const struct model_tower *t = m->tower;
    return t && t->crossed == crossed ? t->crops * t->tokens : 0;
}

int64_t model_patch_tokens(const struct model *m)
{
    const struct model_ends *e = &m->ends;
    if (m->diffusion.stack)
        return m->diffusion.picture_tokens + m->diffusion.text_tokens;
    if (m->stages)
        return model_stage_tokens(m, 0);
    return e->patch && !e->frames && !e->positions_assumed
               ? e->positions - e->positions_unused
               : 0;
}

int64_t model_picture_tokens(const struct model *m)
{
    return tower_tokens(m, false);
}

int64_t model_crossed_tokens(const struct model *m)
{
    return tower_tokens(m, true);
}

int64_t model_streams(const struct model *m)
{
    return m->altup.inputs > 0 ? m->altup.inputs : 1;
}

int64_t model_sound_samples(const struct model *m)
{
    int64_t samples = m->sound ? 1 : 0;
    for (int64_t i = 0; m->sound && i < m->sound->n; i++)
        samples *= m->sound->stride[i];
    return samples;
}

bool model_has_vocabulary(const struct model *m)
{
    return m->ends.head == MODEL_HEAD_CAUSAL_LM ||
           m->ends.head == MODEL_HEAD_MASKED_LM || m->ends.head == MODEL_HEAD_PRETRAIN;
}

bool model_ties_head(const struct model *m)
{
    return m->ends.tied && model_has_vocabulary(m);
}

int64_t model_value_dim(const struct model *m)
{
    return m->attention.value_dim ? m->attention.value_dim : m->attention.head_dim;
}

int64_t model_largest_head(const struct model *m)
{
    int64_t most = m->attention.head_dim;
    for (int32_t i = 0; i < m->n_variants; i++)
        if (m->variants[i].attention.head_dim > most)
            most = m->variants[i].attention.head_dim;
    return most;
}

/* Columns of the values of all heads. */
static int64_t value_width(const struct model *m)
{
    return m->attention.latent_kv ? m->attention.heads * model_value_dim(m)
                                  : m->attention.kv_width;
}

int64_t model_context_width(const struct model *m)
{
    return m->attention.latent_kv ? m->attention.heads * model_value_dim(m)
                                  : m->attention.q_width;
}

int64_t model_expert_columns(const struct model *m)
{
    return m->mlp.experts > 0 && m->mlp.latent > 0 ? m->mlp.latent : m->hidden;
}

struct model model_of_dense_layers(const struct model *m)
{
    struct model dense = *m;
    dense.mlp.width = m->mlp.dense_width;
    dense.mlp.experts = dense.mlp.experts_per_token = dense.mlp.shared_width = 0;
    dense.mlp.shared_scale = dense.mlp.router_bias = false;
    dense.layers = m->mlp.dense_layers;
    dense.mlp.dense_layers = 0;
    return dense;
}

static int64_t expert_columns_over(const struct op_settings *s)
{
    return s->expert_tensor > 0 ? s->expert_tensor : s->tensor;
}

int64_t op_expert_rows_over(const struct op_settings *s, const struct model *m)
{
    return m->mlp.experts > 0 ? s->tensor / expert_columns_over(s) : 1;
}

int64_t op_keys_copies(const struct model *m, const struct op_settings *s)
{
    int64_t heads = m->attention.kv_heads;
    bool copied = s->copies_keys && heads > 0 && heads < s->tensor &&
                  s->tensor % heads == 0 && !m->attention.latent_kv;
    return copied ? s->tensor / heads : 1;
}

int64_t op_keys_width(const struct model *m, const struct op_settings *s)
{
    return m->attention.kv_width * op_keys_copies(m, s);
}

int64_t op_values_width(const struct model *m, const struct op_settings *s)
{
    return value_width(m) * op_keys_copies(m, s);
}

double op_experts_each(const struct model *m, const struct op_settings *s)
{
    double each = m->mlp.experts > 0 ? (double)m->mlp.experts_per_token : 1;
    double capacity = s->expert_capacity;
    if (m->mlp.experts == 0 || capacity <= 0)
        return each;
    return each * (s->pads_experts ? capacity : fmin(capacity, 1));
}

int64_t op_tokens(const struct op_settings *s)
{
    return s->batch * (s->sequence / (s->context > 1 ? s->context : 1));
}

int64_t op_head_ranks(const struct op_settings *s)
{
    if (s->context <= 1)
        return 1;
    return s->context_method == OP_CONTEXT_HEADS  ? s->context
           : s->context_method == OP_CONTEXT_BOTH ? s->context_inner
                                                  : 1;
}

int64_t op_ring_ranks(const struct op_settings *s)
{
    return s->context <= 1 ? 1 : s->context / op_head_ranks(s);
}
