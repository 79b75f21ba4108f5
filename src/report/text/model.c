#include "report/model_report.h"

#include "base/units.h"
#include "model/pattern.h"

#include <inttypes.h>

static const struct name_value arch_names[] = {
    { "encoder", MODEL_ENCODER },
    { "decoder", MODEL_DECODER },
    { "encoder-decoder", MODEL_ENCODER_DECODER },
    { NULL, 0 },
};

static void add_parameters(struct strbuf *out, double n)
{
    strbuf_printf(out, "%.4g%c", n < 1e9 ? n / 1e6 : n / 1e9, n < 1e9 ? 'M' : 'B');
}

static void add_parts(struct strbuf *out, const struct model_summary *s)
{
    strbuf_printf(out, "\nparameters   %15" PRId64 "\n", s->parameters);
    if (s->active != s->parameters)
        strbuf_printf(out, "  of a token %15" PRId64 "\n", s->active);
    if (s->with_head > s->parameters)
        strbuf_printf(out, "  with head  %15" PRId64 "\n", s->with_head);
    for (int i = 0; i < SUMMARY_PARTS; i++)
        if (s->parts[i])
            strbuf_printf(out, "  %-10s %15" PRId64 "  %5.1f%%\n",
                          names_of(summary_part_names, i), s->parts[i],
                          100 * (double)s->parts[i] / (double)s->parameters);
}

/* Mixers that keep a state, and in how many of the layers. */
static void add_state(struct strbuf *out, const struct model *m)
{
    static const char *const words[] = { [MODEL_STATE_SSD] = "Mamba-2",
                                         [MODEL_STATE_S6] = "Mamba",
                                         [MODEL_STATE_CONV] = "short convolutions",
                                         [MODEL_STATE_DELTA] = "a gated delta rule",
                                         [MODEL_STATE_KDA] = "Kimi Delta Attention",
                                         [MODEL_STATE_LIGHTNING] =
                                             "lightning attention" };
    const struct model_state *s = &m->state;
    if (!m->pattern || !model_state_layers(m))
        return;
    strbuf_printf(out, ", attention in %" PRId64 " layers, %s in %" PRId64,
                  model_attention_layers(m), words[s->kind], model_state_layers(m));
    if (s->kind != MODEL_STATE_S6 && s->kind != MODEL_STATE_CONV)
        strbuf_printf(out, " (%" PRId64 " heads of %" PRId64 ")", s->heads,
                      s->head_dim);
    if (s->size > 0)
        strbuf_printf(out, " with %" PRId64 " numbers of state a column", s->size);
    if (m->mlp.experts > 0)
        strbuf_printf(out, ", experts in %" PRId64, model_expert_layers(m));
}

/* Layers whose attention or MLP has other sizes, with their number. */
static void add_variants(struct strbuf *out, const struct model *m)
{
    for (int32_t k = 0; k < m->n_variants; k++) {
        const struct model_variant *v = &m->variants[k];
        int64_t n = 0;
        for (int64_t i = 0; i < m->layers; i++)
            n += m->pattern[i].variant == k + 1;
        if (n > 0)
            strbuf_printf(out,
                          "%s: %" PRId64 ", heads of %" PRId64 ", %" PRId64
                          " of keys and values%s%s, MLP of %" PRId64 "\n",
                          v->name, n, v->attention.head_dim, v->attention.kv_heads,
                          v->attention.one_kv ? " by one product" : "",
                          v->attention.borrows ? " of a layer before" : "", v->width);
    }
    if (m->layer_inputs.columns > 0)
        strbuf_printf(out,
                      "embeddings of %" PRId64
                      " columns that each layer adds, of %" PRId64 " words\n",
                      m->layer_inputs.columns, m->layer_inputs.vocab);
}

/* Layers, columns and heads of each stage. */
static void add_stages(struct strbuf *out, const struct model *m)
{
    const struct model_stages *all = m->stages;
    for (int64_t i = 0; i < all->n; i++) {
        struct model one = model_of_stage(m, i);
        strbuf_printf(out,
                      "%s%" PRId64 " layers, hidden %" PRId64 ", %" PRId64
                      " heads, of %" PRId64 " tokens",
                      i ? "; " : "stages: ", one.layers, one.hidden,
                      one.attention.heads, model_stage_tokens(m, i));
    }
    strbuf_printf(out, "; windows of %" PRId64 " x %" PRId64 "\n", all->window,
                  all->window);
}

/* Sizes of a layer, by what its family has. */
static void add_layers(struct strbuf *out, const struct model *m)
{
    const struct model_attention *a = &m->attention;
    strbuf_printf(out, "%" PRId64 " layers", m->layers);
    if (m->decoder_layers)
        strbuf_printf(out, " and %" PRId64 " of the decoder", m->decoder_layers);
    strbuf_printf(out, ", hidden %" PRId64 ", %" PRId64 " heads of %" PRId64, m->hidden,
                  a->heads, a->head_dim);
    if (a->latent_kv)
        strbuf_printf(out, ", latent keys and values of %" PRId64 " columns",
                      a->latent_kv);
    else if (a->kv_heads != a->heads)
        strbuf_printf(out, ", %" PRId64 " of keys and values", a->kv_heads);
    strbuf_printf(out, ", %s of %" PRId64, m->mlp.gated ? "gated MLP" : "MLP",
                  m->mlp.width);
    if (m->mlp.experts)
        strbuf_printf(out, ", %" PRId64 " experts, %" PRId64 " a token", m->mlp.experts,
                      m->mlp.experts_per_token);
    if (m->mlp.shared_width)
        strbuf_printf(out, ", shared expert of %" PRId64, m->mlp.shared_width);
    if (m->mlp.dense_layers)
        strbuf_printf(out, ", %" PRId64 " layers without experts (MLP of %" PRId64 ")",
                      m->mlp.dense_layers, m->mlp.dense_width);
    add_state(out, m);
    if (a->index_heads > 0)
        strbuf_printf(out,
                      ", %" PRId64 " keys a query by an indexer of %" PRId64 " heads",
                      a->window, a->index_heads);
    else if (a->window && a->windowed_share > 0)
        strbuf_printf(out, ", window of %" PRId64 " in %.0f%% of the layers", a->window,
                      100 * a->windowed_share);
    if (m->ends.frames)
        strbuf_printf(
            out, ", up to %" PRId64 " frames of sound, vocabulary %" PRId64 "%s\n",
            m->ends.frames, m->ends.vocab, m->ends.tied ? " (head tied)" : "");
    else if (m->sound)
        strbuf_printf(out,
                      ", %" PRId64 " convolutions that make a token of %" PRId64
                      " samples, vocabulary %" PRId64 "\n",
                      m->sound->n, model_sound_samples(m), m->ends.vocab);
    else if (m->ends.patch)
        strbuf_printf(out, ", patches of %" PRId64 " numbers\n", m->ends.patch);
    else
        strbuf_printf(out, ", vocabulary %" PRId64 "%s\n", m->ends.vocab,
                      m->ends.tied ? " (head tied)" : "");
}

/* A first stack of its own sizes. */
static void add_encoder(struct strbuf *out, const struct model *e)
{
    strbuf_printf(out,
                  "encoder: %" PRId64 " layers, hidden %" PRId64 ", %" PRId64
                  " heads of %" PRId64 ", MLP of %" PRId64 "\n",
                  e->layers, e->hidden, e->attention.heads, e->attention.head_dim,
                  e->mlp.width);
}

/* What reads pictures. */
static void add_tower(struct strbuf *out, const struct model_tower *t)
{
    strbuf_printf(out,
                  "vision tower: %s, %" PRId64 " layers, hidden %" PRId64 ", %" PRId64
                  " heads, MLP of %" PRId64 "; %" PRId64 " crop%s of %" PRId64
                  " patches, %" PRId64 " tokens each\n",
                  t->model.family, t->model.layers, t->model.hidden,
                  t->model.attention.heads, t->model.mlp.width, t->crops,
                  units_plural(t->crops), t->patches, t->tokens);
    if (t->model.stages)
        add_stages(out, &t->model);
}

static void add_rates(struct strbuf *out, const struct model_summary *s)
{
    char text[UNITS_TEXT_MAX];
    strbuf_printf(out, "\na token, in sequences of %" PRId64 ":\n", s->sequence);
    strbuf_printf(out, "  %-20s %.4g GFLOP\n", "forward", s->forward_flops / 1e9);
    strbuf_printf(out, "  %-20s %.4g GFLOP\n", "training", s->training_flops / 1e9);
    if (s->kv_B > 0)
        strbuf_printf(out, "  %-20s %s\n", "keys and values",
                      units_bytes_text(text, s->kv_B));
}

enum { KINDS_SHOWN = 3, KIND_WIDTH = 21 }; /* of layers, side by side */

static void add_kinds(struct strbuf *out, const struct summary_block *const *kinds,
                      int n)
{
    char text[UNITS_TEXT_MAX];
    strbuf_printf(out, "  %-14s", "layers");
    for (int i = 0; i < n; i++)
        strbuf_printf(out, " %*s", KIND_WIDTH, kinds[i]->name);
    strbuf_printf(out, "\n  %-14s", "number");
    for (int i = 0; i < n; i++)
        strbuf_printf(out, " %*" PRId64, KIND_WIDTH, kinds[i]->repeat);
    strbuf_printf(out, "\n  %-14s", "parameters");
    for (int i = 0; i < n; i++)
        strbuf_printf(out, " %*" PRId64, KIND_WIDTH, kinds[i]->parameters);
    strbuf_addch(out, '\n');
    for (int p = 0; p < OP_PRECISION_N; p++) {
        strbuf_printf(out, "  %-14s", names_of(op_precision_names, p));
        for (int i = 0; i < n; i++)
            strbuf_printf(out, " %*s", KIND_WIDTH,
                          units_bytes_text(text, kinds[i]->kept_B[p]));
        strbuf_addch(out, '\n');
    }
}

static void add_activations(struct strbuf *out, const struct model_summary *s)
{
    const struct summary_block *kinds[KINDS_SHOWN];
    int n = 0;
    strbuf_addstr(out, "\nactivations a layer keeps of a token, by precision:\n");
    for (int32_t i = 0; i < s->n_blocks; i++) {
        if (s->blocks[i].is_layer)
            kinds[n++] = &s->blocks[i];
        if (n == KINDS_SHOWN || (n > 0 && i + 1 == s->n_blocks)) {
            add_kinds(out, kinds, n);
            n = 0;
        }
    }
}

void report_model_text(struct strbuf *out, const struct model *m,
                       const struct model_summary *s, const char *const *assumed)
{
    strbuf_printf(out, "%s: %s, %s, ", m->label, m->family,
                  names_of(arch_names, (int)m->arch));
    add_parameters(out, (double)s->parameters);
    strbuf_addstr(out, " parameters");
    if (s->active != s->parameters) {
        strbuf_addstr(out, ", ");
        add_parameters(out, (double)s->active);
        strbuf_addstr(out, " active");
    }
    strbuf_addch(out, '\n');
    add_layers(out, m);
    add_variants(out, m);
    if (m->stages)
        add_stages(out, m);
    if (m->encoder)
        add_encoder(out, m->encoder);
    if (m->tower)
        add_tower(out, m->tower);
    for (int i = 0; assumed[i]; i++)
        strbuf_printf(out, "%s%s%s", i ? ", " : "assumed: ", assumed[i],
                      assumed[i + 1] ? "" : "\n");
    add_parts(out, s);
    add_rates(out, s);
    add_activations(out, s);
}
