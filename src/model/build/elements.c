/* Elements of the tensors that a rank has of each module: see build.h. */
#include "model/build/emit.h"

#include <math.h>

bool build_gathers(const struct model *m, const struct op_settings *s)
{
    bool masked =
        m->ends.head == MODEL_HEAD_MASKED_LM || m->ends.head == MODEL_HEAD_PRETRAIN;
    return masked && s->predicted > 0;
}

int64_t build_dealt(int64_t n, int64_t ranks)
{
    return (n + ranks - 1) / ranks;
}

int64_t build_predicted_rows(const struct build *b)
{
    const struct op_settings *s = b->s;
    int64_t over = b->shares[OP_HEAD].tokens_over;
    if (!build_gathers(b->m, s))
        return build_dealt(op_tokens(s), over);
    return build_dealt(s->batch * s->predicted,
                       over * (s->context > 1 ? s->context : 1));
}

/* Ranks over which the residual stream's elements are split, where all work on the same
 * tokens. */
static double stream_over(const struct build *b, enum op_module module)
{
    bool split = b->s->sequence_parallel || b->shares[module].stream == SHARE_SLICE;
    return split ? (double)b->s->tensor : 1;
}

/* Weights of the norm of queries or keys on a rank: all of them where every head has
 * the same. */
static double norm_weights(int64_t n, int64_t head_dim, double t)
{
    return n > head_dim ? (double)n / t : (double)n;
}

/* Scores of all keys before a query, which every rank of a tensor group makes. */
static void set_indexer(const struct build *b, double *e, double tokens)
{
    const struct model_attention *a = &b->m->attention;
    double keys = (double)b->s->sequence,
           columns = (double)(a->index_heads * a->index_dim);
    double chosen = (double)a->window < keys ? (double)a->window : keys;
    if (a->index_heads == 0)
        return;
    e[SYM_IQ] = tokens * columns;
    e[SYM_IK] = tokens * (double)(a->index_dim + a->index_heads);
    e[SYM_IS] = tokens * keys / 2;
    e[SYM_IT] = tokens * chosen;
    e[SYM_IW] = e[SYM_IS] * columns;
    e[SYM_IB] = e[SYM_IT] * columns;
    e[SYM_IN] = 2 * (double)a->index_dim;
}

int64_t build_place_rows(const struct build *b)
{
    const struct model_attention *a = &b->m->attention;
    int64_t most = 2 * b->s->sequence;
    return a->place_cut && most < a->place_rows ? most : a->place_rows;
}

/* Relative positions as keys and queries, of a microbatch once and of each sequence. */
static void set_places(const struct build *b, double *e, double sequences,
                       double tokens, double heads)
{
    const struct model_attention *a = &b->m->attention;
    double rows = (double)build_place_rows(b);
    e[SYM_DR] = rows * (double)a->q_width;
    e[SYM_DB] = sequences * e[SYM_DR];
    e[SYM_DS] = tokens * heads * rows;
    e[SYM_DW] = (double)(a->place_rows * b->m->hidden);
    e[SYM_DN] = a->place_norm ? 2 * (double)b->m->hidden : 0;
}

/* Embeddings that layers add; what only models with several sorts of layers have. */
static void set_layer_inputs(const struct build *b, double *e, double tokens)
{
    const struct model *m = b->m;
    const struct model_layer_inputs *in = &m->layer_inputs;
    e[SYM_PI] = tokens * (double)in->columns;
    e[SYM_PALL] = e[SYM_PI] * (double)m->layers;
    e[SYM_PNORM] = (double)in->columns;
    e[SYM_PWORD] = (double)in->vocab * (double)in->columns * (double)m->layers;
    int64_t n = m->altup.inputs;
    e[SYM_AU] = e[SYM_A] * (double)n;
    e[SYM_AX] = n > 0 ? e[SYM_A] * (double)(n - 1) : 0;
    e[SYM_AW] = (double)((n + 2) * m->hidden + n * n + n * n * n);
    e[SYM_LR] = tokens * (double)m->altup.laurel;
    e[SYM_RSCALE] = (double)(m->hidden + m->mlp.experts);
}

/* What a module's tensors are of on one rank. */
struct rows {
    double tokens, sequences;
    double t; /* ranks that columns are dealt to */
    double h, heads;
    double folded; /* ranks whose tokens a group's experts work on */
};

static void set_stream(struct build *b, enum op_module module, const struct rows *r)
{
    double *e = b->sizes[module];
    e[SYM_X] = r->tokens * r->h;
    e[SYM_A] = e[SYM_X] / stream_over(b, module);
    if (r->folded > 1) /* the layer works on the rank's own tokens */
        e[SYM_X] = e[SYM_A];
    e[SYM_I] = b->s->framework->tensor.keeps_gathered ? e[SYM_X] : e[SYM_A];
    e[SYM_H] =
        r->h / (b->shares[module].stream == SHARE_SLICE ? stream_over(b, module) : 1);
    e[SYM_T] = r->tokens;
}

/* Of products that are not split, and of one whose columns are. */
static void set_latent(struct build *b, enum op_module module, const struct rows *r)
{
    const struct model *m = b->m;
    double *e = b->sizes[module];
    double own = r->tokens / stream_over(b, module);
    e[SYM_LQ] = own * (double)m->attention.latent_q;
    e[SYM_LK] = own * (double)(m->attention.latent_kv + m->attention.latent_rope);
    e[SYM_LH] = (double)(m->attention.latent_q + m->attention.latent_kv);
    e[SYM_LN] = own * e[SYM_LH];
    e[SYM_LU] =
        r->tokens * r->heads *
        (double)(m->attention.head_dim - m->attention.latent_rope + model_value_dim(m));
}

static void set_attention(struct build *b, enum op_module module, const struct rows *r)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    double parts = (double)op_ring_ranks(s);
    double *e = b->sizes[module];
    e[SYM_Q] = r->tokens * (double)m->attention.q_width / r->t;
    e[SYM_K] = r->tokens * (double)op_keys_width(m, s) / r->t;
    e[SYM_U] = r->tokens * (double)model_context_width(m) / r->t;
    set_latent(b, module, r);
    set_indexer(b, e, r->tokens);
    set_places(b, e, r->sequences, r->tokens, r->heads);
    e[SYM_E] = b->flags & HAS_COPIES ? e[SYM_Q] : e[SYM_K];
    if (!(b->flags & (HAS_FLASH | HAS_ULYSSES)))
        e[SYM_E] *= parts; /* gathered before the products */
    e[SYM_QR] = e[SYM_Q] * parts;
    e[SYM_KR] = e[SYM_K] * parts;
    e[SYM_QK] = e[SYM_Q] + e[SYM_K];
    e[SYM_QKV] = e[SYM_QK] + r->tokens * (double)op_values_width(m, s) / r->t;
    e[SYM_L] = r->tokens * r->heads;
    e[SYM_S] = e[SYM_L] * (double)s->sequence;
    e[SYM_BIAS] = (double)m->attention.relative_buckets * r->heads;
    e[SYM_QN] = norm_weights(m->attention.q_norm, m->attention.head_dim, r->t);
    e[SYM_KN] = norm_weights(m->attention.k_norm, m->attention.head_dim, r->t);
    e[SYM_SINKS] = m->attention.sinks ? r->heads : 0;
}

static void set_mlp(struct build *b, enum op_module module, const struct rows *r)
{
    const struct model *m = b->m;
    double each = op_experts_each(m, b->s), latent = (double)model_expert_columns(m);
    double *e = b->sizes[module];
    e[SYM_G] = e[SYM_X] * latent / r->h;
    e[SYM_M] = r->tokens * latent * each / r->folded;
    e[SYM_F] = r->tokens * each * (double)m->mlp.width / r->t;
    e[SYM_R] = r->tokens * (double)m->mlp.experts / (r->folded > 1 ? r->t : 1);
    e[SYM_Z] = r->tokens * (double)m->mlp.shared_width / r->t;
}

/* The sides of a contrastive loss, whose features every replica's are compared with. */
static void set_contrast(struct build *b, enum op_module module, const struct rows *r)
{
    const struct model *m = b->m;
    double features = 2 * r->sequences * (double)m->ends.embed;
    double replicas = b->s->replicas > 1 ? (double)b->s->replicas : 1;
    double *e = b->sizes[module];
    e[SYM_PE] = features;
    e[SYM_PG] = features * replicas;
    e[SYM_PL] = m->ends.embed ? 2 * r->sequences * r->sequences * replicas : 0;
    e[SYM_PS] = (double)m->ends.scales;
}

static void set_ends(struct build *b, enum op_module module, const struct rows *r,
                     int64_t vocab)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    double predicted = (double)build_predicted_rows(b);
    int64_t places = m->ends.positions_assumed && s->sequence > m->ends.positions
                         ? s->sequence
                         : m->ends.positions;
    double word = m->ends.word > 0 ? (double)m->ends.word : r->h,
           ends = m->ends.word_all ? word : r->h;
    double *e = b->sizes[module];
    e[SYM_PATCH] = r->tokens * (double)(m->ends.patch + m->ends.word);
    e[SYM_P] = predicted * r->h;
    e[SYM_V] = predicted * (double)vocab / (s->whole_loss ? 1 : r->t);
    e[SYM_O] = r->sequences * r->h;
    set_contrast(b, module, r);
    e[SYM_PROBE] = r->h;
    bool each = m->ends.head == MODEL_HEAD_SPAN || m->ends.head == MODEL_HEAD_SCORE;
    e[SYM_C] = 2 * (each ? r->tokens : r->sequences);
    e[SYM_WORD] = (double)vocab / r->t * word;
    e[SYM_PLACE] = (double)places * ends;
    e[SYM_TYPE] = (double)m->ends.type_vocab * ends;
    if (module == OP_EMBEDDING && m->ends.word_all)
        e[SYM_H] = ends;
}

int build_set_elements(struct build *b, enum op_module module, int64_t vocab)
{
    const struct model *m = b->m;
    const struct op_settings *s = b->s;
    const struct share *share = &b->shares[module];
    const struct rows r = {
        .tokens = (double)build_dealt(op_tokens(s), share->tokens_over),
        .sequences = (double)build_dealt(s->batch, share->tokens_over),
        .t = (double)share->degree,
        .h = (double)m->hidden,
        .heads = (double)m->attention.heads / (double)share->degree,
        .folded = module == OP_MLP ? (double)op_expert_rows_over(s, m) : 1,
    };
    double *e = b->sizes[module];
    set_stream(b, module, &r);
    set_attention(b, module, &r);
    set_mlp(b, module, &r);
    set_ends(b, module, &r, vocab);
    set_layer_inputs(b, e, r.tokens);
    build_state_sizes(b, e, r.tokens, r.t);
    double load = fmax(1, s->expert_imbalance);
    for (int i = 0; i < SYM_N; i++)
        if (e[i] * load > BUILD_ELEMENTS_MAX)
            return err_set(b->err,
                           "tensors of more than 2^50 elements: batch, sequence "
                           "length or model size is absurd");
    return 0;
}
