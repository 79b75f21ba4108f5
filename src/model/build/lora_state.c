/* The modules that a state mixer's products are in the models' own code, which adapters
 * are next to: transformers, models/mamba2 (in_proj), qwen3_next (in_proj_qkvz,
 * in_proj_ba), qwen3_5 (in_proj_qkv, _z, _b, _a), kimi_linear (q_proj ... g_a_proj) and
 * minimax (qkv_proj, output_gate). The operator list has one product for all of them. */
#include "model/build/emit.h"
#include "model/pattern.h"

enum columns { ALL, KEYS, WIDTH, QKV, QKVZ, HEADS, TWICE_HEADS, RANK };

static const struct {
    enum model_state_kind kind;
    bool apart;
    uint32_t bit;
    const char *name;
    enum columns columns;
} rows[] = {
    { MODEL_STATE_SSD, false, LORA_STATE_IN, "state_in", ALL },
    { MODEL_STATE_S6, false, LORA_STATE_IN, "state_in", ALL },
    { MODEL_STATE_CONV, false, LORA_STATE_IN, "state_in", ALL },
    { MODEL_STATE_DELTA, false, LORA_STATE_IN, "state_in", QKVZ },
    { MODEL_STATE_DELTA, false, LORA_STATE_A | LORA_STATE_B, "state_steps",
      TWICE_HEADS },
    { MODEL_STATE_DELTA, true, LORA_STATE_QKV, "state_qkv", QKV },
    { MODEL_STATE_DELTA, true, LORA_STATE_GATE, "state_gate_in", WIDTH },
    { MODEL_STATE_DELTA, true, LORA_STATE_B, "state_b", HEADS },
    { MODEL_STATE_DELTA, true, LORA_STATE_A, "state_a", HEADS },
    { MODEL_STATE_KDA, false, LORA_QUERY, "state_query", KEYS },
    { MODEL_STATE_KDA, false, LORA_KEY, "state_key", KEYS },
    { MODEL_STATE_KDA, false, LORA_VALUE, "state_value", WIDTH },
    { MODEL_STATE_KDA, false, LORA_STATE_B, "state_b", HEADS },
    { MODEL_STATE_KDA, false, LORA_STATE_A, "state_a", RANK },
    { MODEL_STATE_KDA, false, LORA_STATE_GATE, "state_gate_in", RANK },
    { MODEL_STATE_LIGHTNING, false, LORA_QKV, "state_qkv", QKV },
    { MODEL_STATE_LIGHTNING, false, LORA_STATE_GATE, "state_gate_in", WIDTH },
};

static int64_t columns_of(const struct model_state *s, enum columns columns, int64_t t)
{
    int64_t width = model_state_width(s), keys = model_state_keys(s);
    switch (columns) {
    case ALL:
        return model_state_in_on(s, t);
    case KEYS:
        return keys / t;
    case WIDTH:
        return width / t;
    case QKV:
        return (width + 2 * keys) / t;
    case QKVZ:
        return (2 * width + 2 * keys) / t;
    case HEADS:
        return s->heads / t;
    case TWICE_HEADS:
        return 2 * s->heads / t;
    case RANK:
        break;
    }
    return s->step_rank;
}

int32_t build_state_modules(const struct build *b, enum module part,
                            struct state_module v[BUILD_STATE_MODULES])
{
    const struct model_state *s = &b->m->state;
    int64_t t = b->shares[OP_ATTENTION].degree;
    uint32_t set = b->s->lora.targets;
    int32_t n = 0;
    bool kda = s->kind == MODEL_STATE_KDA, s6 = s->kind == MODEL_STATE_S6;
    bool all = set & LORA_ALL_LINEAR;
    if (part == MODULE_STATE_OUT && (all || set & (kda ? LORA_OUT : LORA_OUT_PROJ)))
        v[n++] = (struct state_module) { "state_out", b->linears[part].n };
    if (part == MODULE_STATE_SELECT && (s6 || kda) && (all || set & LORA_STATE_SELECT))
        v[n++] = (struct state_module) { "state_select", b->linears[part].n };
    if (part == MODULE_STATE_STEP && (s6 || kda) && (all || set & LORA_STATE_STEP))
        v[n++] = (struct state_module) { "state_step", b->linears[part].n };
    for (size_t i = 0; part == MODULE_STATE_IN && i < sizeof(rows) / sizeof(rows[0]);
         i++)
        if (rows[i].kind == s->kind && rows[i].apart == s->apart &&
            (all || set & rows[i].bit))
            v[n++] = (struct state_module) { rows[i].name,
                                             columns_of(s, rows[i].columns, t) };
    return n;
}
