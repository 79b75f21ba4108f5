/* Parameters and FLOPs of a model, of its sizes alone. */
#include "model/model.h"
#include "model/ops.h"
#include "model/pattern.h"

#include <math.h>

struct model model_as_counted(const struct model *m)
{
    struct model base = *m;
    const enum model_head head = m->ends.head;
    const bool words = m->arch == MODEL_ENCODER_DECODER ||
                       (m->arch == MODEL_DECODER && head != MODEL_HEAD_CLASS &&
                        head != MODEL_HEAD_SCORE && head != MODEL_HEAD_SPAN);
    if (head != MODEL_HEAD_CONTRAST && head != MODEL_HEAD_DENOISE)
        base.ends.head = words ? MODEL_HEAD_CAUSAL_LM : MODEL_HEAD_NONE;
    return base;
}

int64_t model_count(const struct model *m, struct err *err)
{
    static const struct framework plain = { .name = "plain",
                                            .kernels.fused_norm = true };
    struct op_settings s = {
        .batch = 1, .sequence = 1, .framework = &plain, .tensor = 1
    };
    struct model base = model_as_counted(m);
    struct op_list list;
    struct arena arena;
    arena_init(&arena);
    int64_t n =
        op_list_make(&list, &arena, &base, &s, err) < 0 ? 0 : op_list_parameters(&list);
    arena_release(&arena);
    return n;
}

int64_t model_parameters(const struct model *m)
{
    struct err err = { 0 };
    return model_count(m, &err);
}

/* Keys that a query sees in the mean layer, of s before and after it; `half`: of those
 * before it alone. */
static double keys_seen(const struct model *m, double s, bool half)
{
    double all = half ? s / 2 : s, w = (double)m->attention.window;
    if (m->attention.windowed_share == 0 || w >= s)
        return all;
    double seen = half ? w - w * w / (2 * s) : w;
    return (1 - m->attention.windowed_share) * all + m->attention.windowed_share * seen;
}

/* A token's products of latent attention. */
static double latent_macs(const struct model *m)
{
    double h = (double)m->hidden, q = (double)m->attention.latent_q,
           kv = (double)m->attention.latent_kv;
    double heads = (double)m->attention.heads, rope = (double)m->attention.latent_rope;
    double queries = q > 0 ? q * (h + (double)m->attention.q_width)
                           : h * (double)m->attention.q_width;
    double keys = h * (kv + rope) + kv * ((double)m->attention.kv_width - heads * rope);
    double values = kv * heads * (double)model_value_dim(m);
    return queries + keys + values + h * (double)model_context_width(m);
}

/* A token's in a mixer that keeps a state: its products, its convolution, and of each
 * number of the state 3.5, or 4 by a delta rule (Megatron-LM training/training.py,
 * mamba_layer_flops: 7 FLOPs; gdn_layer_flops); by fixed decays two: a write and a
 * read. */
static double state_macs(const struct model *m)
{
    static const double each[] = {
        [MODEL_STATE_SSD] = 3.5, [MODEL_STATE_S6] = 3.5, [MODEL_STATE_DELTA] = 4,
        [MODEL_STATE_KDA] = 4,   [MODEL_STATE_CONV] = 0, [MODEL_STATE_LIGHTNING] = 2
    };
    const struct model_state *s = &m->state;
    double h = (double)m->hidden, width = (double)model_state_width(s);
    double select = (double)(s->step_rank + 2 * s->size) + (double)s->step_rank;
    double low = s->kind == MODEL_STATE_KDA ? (double)s->step_rank : 0;
    return h * (double)model_state_in(s) + width * h +
           (double)(model_state_conv(s) * s->conv) +
           each[s->kind] * width * (double)s->size +
           low * (width + (double)(s->heads * s->size)) +
           (s->kind == MODEL_STATE_S6 ? width * select : 0);
}

/* A token's of an MLP: the experts that it goes through, the shared one, the router. */
static double inner_macs(const struct model *m)
{
    double h = (double)m->hidden, matrices = m->mlp.gated ? 3 : 2;
    double columns = (double)model_expert_columns(m);
    double each = m->mlp.experts > 0 ? (double)m->mlp.experts_per_token : 1;
    double latent = m->mlp.experts > 0 && m->mlp.latent > 0 ? 2 * h * columns : 0;
    return columns * (double)m->mlp.width * matrices * each + latent +
           h * ((double)m->mlp.shared_width * matrices +
                (m->mlp.shared_scale ? 1 : 0)) +
           h * (double)m->mlp.experts;
}

/* A token's in the products of queries, keys, values and of what attention makes. */
static double projection_macs(const struct model *m)
{
    const struct model_attention *a = &m->attention;
    double made = a->borrows ? 0 : a->one_kv ? 1 : 2;
    return (double)m->hidden * (2 * (double)a->q_width + made * (double)a->kv_width +
                                (a->gated ? (double)model_context_width(m) : 0));
}

/* Multiply-adds of one layer for one sequence: projections, attention, MLP; and, of
 * as many tokens of an encoder (0: none), those of cross-attention. */
static double layer_macs(const struct model *m, double s, bool half, double memory)
{
    double h = (double)m->hidden, q = (double)m->attention.q_width,
           kv = (double)m->attention.kv_width;
    double core = (double)m->attention.heads *
                  (double)(m->attention.head_dim + model_value_dim(m)) / 2;
    double projections =
        s * (m->attention.latent_kv
                 ? latent_macs(m) +
                       (m->attention.gated ? h * (double)model_context_width(m) : 0)
                 : projection_macs(m));
    double attention = 2 * core * s * keys_seen(m, s, half);
    const struct model_attention *a = &m->attention;
    double index = (double)(a->index_heads * a->index_dim);
    if (index > 0)
        attention += s * (index * (double)(a->latent_q ? a->latent_q : m->hidden) +
                          h * (double)(a->index_heads + a->index_dim)) +
                     s * (half ? s / 2 : s) * index;
    if (a->place_rows > 0) { /* keys and queries of positions are a microbatch's */
        double rows = (double)a->place_rows;
        attention += 2 * (a->place_cut ? fmin(rows, 2 * s) : rows) * s * q;
    }
    attention += s * 2 * h * (double)m->altup.laurel;
    double sum = s * (inner_macs(m) + 2 * h * (double)m->layer_inputs.columns);
    if (m->kind.mixer == MODEL_MIXER_ATTENTION || m->kind.mixer == MODEL_MIXER_BOTH)
        sum += projections + attention;
    if (m->kind.mixer == MODEL_MIXER_STATE || m->kind.mixer == MODEL_MIXER_BOTH)
        sum += s * state_macs(m);
    bool unread = m->kind.mixer == MODEL_MIXER_CROSS && memory == 0;
    if (memory > 0)
        sum += h * 2 * s * q + (double)model_memory_columns(m) * 2 * memory * kv +
               2 * core * s * memory;
    return unread ? 0 : sum; /* without pictures the layer is left out */
}

static double head_macs(const struct model *m, double s)
{
    double h = (double)m->hidden, vocab = (double)m->ends.vocab;
    switch (m->ends.head) {
    case MODEL_HEAD_CAUSAL_LM:
        if (m->ends.word > 0 && m->ends.word_out)
            return s * (double)m->ends.word * (h + vocab);
        return s * h * vocab;
    case MODEL_HEAD_MASKED_LM:
        return s * h * (h + vocab);
    case MODEL_HEAD_PRETRAIN:
        return s * h * (h + vocab) + h * (h + 2);
    case MODEL_HEAD_SPAN:
    case MODEL_HEAD_SCORE:
        return 2 * s * h;
    case MODEL_HEAD_CLASS:
        return h * (h + 2);
    case MODEL_HEAD_DENOISE:
        break;
    case MODEL_HEAD_CONTRAST: /* products of pairs depend on how many there are */
        return h * (double)m->ends.embed;
    case MODEL_HEAD_NONE:
        break;
    }
    return 0;
}

/* Of stages over a picture: their layers within windows, and products of neighbours. */
static double stages_macs(const struct model *m)
{
    double sum = 0;
    for (int64_t i = 0; i < m->stages->n; i++) {
        struct model one = model_of_stage(m, i);
        double tokens = (double)model_stage_tokens(m, i), h = (double)one.hidden;
        double window = (double)model_stage_window(m, i), n = window * window;
        sum += (double)one.layers * tokens / n * layer_macs(&one, n, false, 0) +
               (i > 0 ? tokens * 2 * h * h : 0);
    }
    return sum;
}

/* Of the pictures of a sequence: patches, layers and projector. */
static double tower_macs(const struct model_tower *t)
{
    const struct model *m = &t->model;
    double n = (double)t->patches, project = 0;
    double layers =
        m->stages ? stages_macs(m) : (double)m->layers * layer_macs(m, n, false, 0);
    for (int32_t i = 0; i < t->n_products; i++)
        project += (double)t->widths[i] * (double)t->widths[i + 1];
    double h = (double)m->hidden;
    project += 3 * (double)t->widths[t->n_products] * (double)t->gate;
    double pool =
        t->pooled ? 2 * n * h * h + 2 * h * h + 2 * h * (double)m->mlp.width : 0;
    return (double)t->crops * (pool + n * (double)m->ends.patch * (double)m->hidden +
                               layers + (double)(t->tokens * (1 + t->inner)) * project);
}

/* Of s tokens of a sound: its convolutions, and that of positions. */
static double sound_macs(const struct model *m, double s)
{
    const struct model_sound *w = m->sound;
    double h = (double)m->hidden, rows = s, sum = 0;
    for (int64_t i = w->n; i-- > 0; rows *= (double)w->stride[i])
        sum += rows * (double)(w->kernel[i] * w->columns[i]) *
               (double)(i > 0 ? w->columns[i - 1] : 1);
    return sum + s * h * h / (double)w->place_groups * (double)w->place_kernel;
}

/* Of the modules that predict further tokens. */
static double mtp_macs(const struct model *m, double s, bool half)
{
    double h = (double)m->hidden;
    return (double)m->mtp_layers *
           (s * 2 * h * h + layer_macs(m, s, half, 0) + head_macs(m, s));
}

/* Of a diffusion transformer with s tokens of picture and text: as layers with one set of
 * weights, as all tokens go through as many; and one row a sample of modulations. */
static double diffusion_macs(const struct model *m, double s)
{
    const struct model_diffusion *d = &m->diffusion;
    double h = (double)m->hidden, f = (double)m->mlp.width, n = (double)m->layers;
    double text = (double)d->text_tokens, image = s - text;
    double single = (double)d->single_layers, dual = n - single;
    double layers = n * (s * (4 * h * h + 2 * h * f) + 2 * s * s * h);
    double unread = d->text_ends ? text * (h * h + 2 * h * f) : 0;
    double rows =
        (dual * (text > 0 ? 12 : 6) + 3 * single + 2 - (d->text_ends ? 4 : 0)) * h * h;
    double condition = h * (256 * (double)d->embedders + (double)d->pooled) +
                       ((double)d->embedders + (d->pooled > 0)) * h * h;
    return layers - unread + rows + condition +
           h * (image * (double)(m->ends.patch + d->patch_out) +
                text * (double)d->text_width);
}

/* Of layers, of whatever kinds, for n tokens. */
static double kinds_macs(const struct model *m, double n, bool half)
{
    double sum = 0;
    for (int64_t i = 0, run; i < m->layers; i += run) {
        struct model one = model_of_kind(m, model_kind_of(m, i));
        run = model_kind_run(m, i);
        bool cross = m->crosses || one.kind.mixer == MODEL_MIXER_CROSS;
        double memory = cross ? (double)model_crossed_tokens(m) : 0;
        sum += (double)run * layer_macs(&one, n, half, memory);
    }
    return sum;
}

double model_flops_per_sample(const struct model *m, int64_t s, int64_t decoder,
                              bool causal_half)
{
    bool two = m->arch == MODEL_ENCODER_DECODER;
    if (m->diffusion.stack)
        return 3 * 2 * diffusion_macs(m, (double)s);
    double n = (double)s, last = two && decoder ? (double)decoder : n;
    bool half = causal_half && m->arch == MODEL_DECODER;
    struct model top = *m;
    top.hidden = model_last_columns(m);
    double macs = head_macs(&top, last) + mtp_macs(m, n, half) +
                  (m->stages    ? stages_macs(m)
                   : m->encoder ? kinds_macs(m->encoder, n, false)
                                : kinds_macs(m, n, half));
    if (two)
        macs += (double)m->decoder_layers * layer_macs(m, last, causal_half, n);
    macs += (m->tower ? tower_macs(m->tower) : 0) + (m->sound ? sound_macs(m, n) : 0) +
            n * (double)m->hidden * (double)(m->layer_inputs.columns * m->layers) +
            n * 2 * (double)(model_streams(m) - 1) * (double)(m->hidden * m->hidden) +
            n * (double)(m->ends.conv * m->hidden) * (double)m->hidden +
            n * (double)(m->ends.patch + m->ends.word) * (double)m->hidden;
    return 3 * 2 * macs;
}
