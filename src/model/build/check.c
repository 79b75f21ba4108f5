/* What a model cannot be under settings: see build.h. */
#include "model/build/emit.h"

#include <inttypes.h>

static int check_divides(const struct model *m, const struct op_settings *s,
                         int64_t vocab, struct err *err)
{
    const struct {
        const char *what;
        int64_t size;
    } rows[] = {
        { "attention heads", m->attention.heads },
        { "key-value heads", m->attention.kv_heads * op_keys_copies(m, s) },
        { "query columns", m->attention.q_width },
        { "feed-forward columns",
          m->mlp.width *
              op_expert_rows_over(s, m) }, /* experts have their own degree */
        { "columns of the shared expert", m->mlp.shared_width },
        { "words of the vocabulary", vocab },
        { "tokens of a sequence",
          s->sequence_parallel ? op_tokens(s) / s->batch : s->tensor },
    };
    bool left[] = { s->best_effort, s->best_effort, s->best_effort, s->best_effort,
                    s->best_effort, s->whole_ends,  false };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!left[i] && rows[i].size % s->tensor)
            return err_set(err,
                           "tensor degree %" PRId64
                           " does not divide the model's %" PRId64 " %s%s",
                           (int64_t)s->tensor, (int64_t)rows[i].size, rows[i].what,
                           i == 5 ? " (set vocab_padding to pad it)" : "");
    return 0;
}

static int check_positions(const struct model *m, const struct op_settings *s,
                           struct err *err)
{
    int64_t words =
        !m->ends.frames || s->memory || !s->decoder ? s->sequence : s->decoder;
    int64_t frames = s->memory ? s->memory : s->sequence;
    if (m->ends.frames && frames > m->ends.frames)
        return err_set(err,
                       "a sequence of %" PRId64 " frames exceeds the %" PRId64
                       " that the model's encoder reads",
                       frames, m->ends.frames);
    if (m->ends.positions > 0 && !m->ends.positions_assumed &&
        !m->ends.positions_stretched && words > m->ends.positions)
        return err_set(err,
                       "a sequence of %" PRId64 " tokens exceeds the model's %" PRId64
                       " positions%s",
                       words, m->ends.positions,
                       m->ends.frames ? " of its decoder (give its decoder_length)"
                                      : "");
    return 0;
}

static bool mixes_by_state(const struct model *m)
{
    return m->kind.mixer == MODEL_MIXER_STATE || m->kind.mixer == MODEL_MIXER_BOTH;
}

/* Megatron-LM deals heads and groups to a tensor group
 * (megatron/core/ssm/mamba_mixer.py). */
static int check_state(const struct model *m, const struct op_settings *s,
                       struct err *err)
{
    const struct model_state *state = &m->state;
    if (!mixes_by_state(m))
        return 0;
    if (s->context > 1)
        return err_set(err, "layers that keep a state over a context group are not "
                            "modelled");
    if (s->best_effort || s->slices)
        return err_set(err, "layers that keep a state over SMP's tensor group are not "
                            "modelled");
    if (state->kind == MODEL_STATE_S6 && s->tensor > 1)
        return err_set(err, "Mamba's first kind of layers over a tensor group is not "
                            "modelled (Mamba-2's is)");
    if (state->heads % s->tensor || (state->groups > 0 && state->groups % s->tensor))
        return err_set(err,
                       "tensor degree %" PRId64 " does not divide the %" PRId64
                       " heads and %" PRId64 " groups of the model's states",
                       s->tensor, state->heads, state->groups);
    return 0;
}

int build_check(const struct model *m, const struct op_settings *s, int64_t vocab,
                struct err *err)
{
    if (s->batch < 1 || s->sequence < 1 || s->tensor < 1)
        return err_set(err,
                       "batch, sequence length and tensor degree must be at least 1");
    if (s->predicted < 0 || s->predicted > s->sequence)
        return err_set(err, "%" PRId64 " predicted positions in a sequence of %" PRId64,
                       (int64_t)s->predicted, (int64_t)s->sequence);
    if (check_positions(m, s, err) < 0)
        return -1;
    if (s->lora.rank > 0 && s->precision == OP_AMP_FP8)
        return err_set(err, "adapters under autocast of fp8 are not modelled");
    if (m->attention.latent_kv && s->tensor > 1 &&
        (s->best_effort || s->slices || s->by_columns))
        return err_set(err, "latent attention over SMP's tensor group is not modelled");
    if (check_state(m, s, err) < 0)
        return -1;
    if (m->tower && m->tower->crops > 0 && (s->tensor > 1 || s->context > 1))
        return err_set(err, "a vision tower over a tensor or context group is not "
                            "modelled");
    if (m->ends.word && (s->tensor > 1 || s->context > 1))
        return err_set(err,
                       "words of %" PRId64 " columns over a tensor or context "
                       "group are not modelled",
                       m->ends.word);
    if (m->ends.head == MODEL_HEAD_PRETRAIN && m->arch != MODEL_ENCODER)
        return err_set(err,
                       "pre-training with next-sentence prediction needs an encoder");
    return check_divides(m, s, vocab, err);
}
