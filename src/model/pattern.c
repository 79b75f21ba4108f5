#include "model/pattern.h"

#include <string.h>

struct model model_of_kind(const struct model *m, struct model_kind kind)
{
    struct model one = kind.inner == MODEL_INNER_MLP ? *m : model_of_dense_layers(m);
    if (m->mlp.experts == 0)
        one.mlp = m->mlp;
    if (kind.inner == MODEL_INNER_NONE)
        one.mlp.width = one.mlp.shared_width = 0;
    if (kind.variant > 0) {
        one.attention = m->variants[kind.variant - 1].attention;
        *(kind.inner == MODEL_INNER_MLP && m->mlp.apart ? &one.mlp.shared_width
                                                        : &one.mlp.width) =
            m->variants[kind.variant - 1].width;
        one.mlp.sparse = m->variants[kind.variant - 1].sparse;
    }
    one.layers = m->layers;
    one.mlp.dense_layers = 0;
    one.pattern = NULL;
    one.kind = kind;
    return one;
}

struct model_kind model_kind_of(const struct model *m, int64_t i)
{
    struct model_kind kind = m->kind;
    if (m->pattern)
        return m->pattern[i];
    if (i < m->mlp.dense_layers)
        kind.inner = MODEL_INNER_DENSE;
    return kind;
}

bool model_kind_same(struct model_kind a, struct model_kind b)
{
    return a.mixer == b.mixer && a.inner == b.inner && a.variant == b.variant;
}

int64_t model_kind_run(const struct model *m, int64_t i)
{
    int64_t n = 1;
    while (i + n < m->layers &&
           model_kind_same(model_kind_of(m, i), model_kind_of(m, i + n)))
        n++;
    return n;
}

const char *model_kind_name(const struct model *m, struct model_kind kind)
{
    enum { NOTHING, MLP, EXPERTS, INNERS };
    static const char *const names[][INNERS] = {
        [MODEL_MIXER_ATTENTION] = { "attention_layer", "attention_mlp_layer",
                                    "attention_moe_layer" },
        [MODEL_MIXER_STATE] = { "state_layer", "state_mlp_layer", "state_moe_layer" },
        [MODEL_MIXER_BOTH] = { "parallel_layer", "parallel_mlp_layer",
                               "parallel_moe_layer" },
        [MODEL_MIXER_CROSS] = { "cross_attention_layer", "cross_attention_mlp_layer",
                                "cross_attention_moe_layer" },
        [MODEL_MIXER_NONE] = { "empty_layer", "mlp_layer", "moe_layer" },
    };
    bool experts = kind.inner == MODEL_INNER_MLP && m->mlp.experts > 0;
    if (kind.variant > 0)
        return m->variants[kind.variant - 1].name;
    return names[kind.mixer][kind.inner == MODEL_INNER_NONE ? NOTHING
                             : experts                      ? EXPERTS
                                                            : MLP];
}

static bool attends(struct model_kind k)
{
    return k.mixer == MODEL_MIXER_ATTENTION || k.mixer == MODEL_MIXER_BOTH;
}

static bool scans(struct model_kind k)
{
    return k.mixer == MODEL_MIXER_STATE || k.mixer == MODEL_MIXER_BOTH;
}

static bool is_mlp(struct model_kind k)
{
    return k.inner == MODEL_INNER_MLP;
}

static int64_t count(const struct model *m, bool (*is)(struct model_kind k))
{
    int64_t n = 0;
    for (int64_t i = 0; i < m->layers; i++)
        n += is(model_kind_of(m, i));
    return n;
}

int64_t model_attention_layers(const struct model *m)
{
    return count(m, attends);
}

int64_t model_state_layers(const struct model *m)
{
    return count(m, scans);
}

int64_t model_expert_layers(const struct model *m)
{
    return m->mlp.experts > 0 ? count(m, is_mlp) : 0;
}

/* Megatron's letters --------------------------------------------------------------- */

static const struct {
    char letter;
    struct model_kind kind;
} letters[] = {
    { 'M', { MODEL_MIXER_STATE, MODEL_INNER_NONE, 0 } },
    { '*', { MODEL_MIXER_ATTENTION, MODEL_INNER_NONE, 0 } },
    { '-', { MODEL_MIXER_NONE, MODEL_INNER_DENSE, 0 } },
    { 'E', { MODEL_MIXER_NONE, MODEL_INNER_MLP, 0 } },
};
enum { LETTERS = sizeof(letters) / sizeof(letters[0]) };

char model_pattern_letter(struct model_kind kind)
{
    for (int k = 0; k < LETTERS; k++)
        if (model_kind_same(letters[k].kind, kind))
            return letters[k].letter;
    return 0;
}

int64_t model_pattern_parse(const char *text, struct model_kind *kinds)
{
    int64_t n = 0;
    for (const char *c = text; *c; c++, n++) {
        int k = 0;
        while (k < LETTERS && letters[k].letter != *c)
            k++;
        if (k == LETTERS)
            return -1;
        kinds[n] = letters[k].kind;
    }
    return n;
}

/* Widths of a state's mixer -------------------------------------------------------- */

int64_t model_state_width(const struct model_state *s)
{
    return s->heads * s->head_dim;
}

int64_t model_state_keys(const struct model_state *s)
{
    return s->groups * s->size;
}

int64_t model_state_conv(const struct model_state *s)
{
    bool keys = s->kind != MODEL_STATE_S6 && s->kind != MODEL_STATE_CONV;
    return model_state_width(s) + (keys ? 2 * model_state_keys(s) : 0);
}

/* Of Mamba-2 gate, input, keys, queries and steps; of the delta rule those and strengths;
 * of KDA input, keys, queries, strengths, and what decays and gates are made of; of
 * lightning attention gate, input, keys and queries; of Mamba gate and input; of a short
 * convolution two gates and the input. */
int64_t model_state_in(const struct model_state *s)
{
    int64_t width = model_state_width(s), keys = 2 * model_state_keys(s);
    switch (s->kind) {
    case MODEL_STATE_SSD:
        return 2 * width + keys + s->heads;
    case MODEL_STATE_DELTA:
        return 2 * width + keys + 2 * s->heads;
    case MODEL_STATE_KDA:
        return width + keys + s->heads + 2 * s->step_rank;
    case MODEL_STATE_LIGHTNING:
        return 2 * width + keys;
    case MODEL_STATE_S6:
        return 2 * width;
    case MODEL_STATE_CONV:
        return 3 * width;
    case MODEL_STATE_NONE:
        break;
    }
    return 0;
}

int64_t model_state_in_on(const struct model_state *s, int64_t t)
{
    int64_t whole = s->kind == MODEL_STATE_KDA ? 2 * s->step_rank : 0;
    return (model_state_in(s) - whole) / t + whole;
}
