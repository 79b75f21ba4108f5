/* Mixers that keep a state along the sequence, as the kernels of their authors run them.
 *
 * SSD (Mamba-2; Dao and Gu 2024, section 6; state-spaces/mamba v2.2
 * ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn): chunks of the sequence
 * are products of matrices, between them states are handed on. Forward keeps what the
 * first product has made and the result; backward runs convolution, products of chunks
 * and states once more.
 *
 * S6 (Mamba; selective_scan_interface.py, MambaInnerFn): one kernel each way that keeps
 * states in registers; backward runs the convolution and steps once more.
 *
 * Lightning attention (MiniMax-01, arXiv 2501.08313, 2.2; transformers
 * models/minimax/modeling_minimax.py): queries, keys and values in chunks as SSD's, with
 * decays that are fixed and keys of every head.
 *
 * The delta rule: model/build/delta.c.
 *
 * A short convolution (LFM2; transformers models/lfm2/modeling_lfm2.py): two gates and
 * a convolution between two products. */
#include "model/build/emit.h"
#include "model/pattern.h"

const struct row build_state_f[] = {
    { ROW_STREAM, "state_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, I), "state_in_wgrad") } },
    { ROW_LINEAR, .part = MODULE_STATE_IN,
      .keep = { KEEP(NARROW(1, SI),
                     "state_gate_in_bwd|state_conv_bwd|state_activation_bwd") } },
    { ROW_STREAM, "state_gate_in", .when = HAS_SHORT_CONV, .read = { NARROW(2, SX) },
      .write = { NARROW(1, SX) }, .keep = { KEEP(NARROW(1, SX), "state_conv_bwd") } },
    { ROW_OWNER, "state_conv", MODULE_STATE_CONV, .unless = HAS_LIGHTNING,
      .read = { NARROW(1, SC) }, .write = { NARROW(1, SC) },
      .keep = { KEEP(NARROW(1, SC), "state_gate_bwd", .when = HAS_SHORT_CONV),
                KEEP(NARROW(1, SC), "delta_write_bwd", .when = HAS_DELTA) } },
    { ROW_STREAM, "state_activation", .when = HAS_LIGHTNING, .read = { NARROW(1, SC) },
      .write = { NARROW(1, SC) },
      .keep = { KEEP(NARROW(1, SC), "chunk_products_bwd") } },
    /* S6 */
    { ROW_LINEAR, .part = MODULE_STATE_SELECT, .when = HAS_S6,
      .keep = { KEEP(NARROW(1, SR), "state_scan_bwd") } },
    { ROW_OWNER, "step_norm", MODULE_STEP_NORM, .when = HAS_STEP_NORM, .launches = 3,
      .read = { NARROW(1, SR) }, .write = { NARROW(1, SR) },
      .keep = { KEEP(NARROW(1, SR), "step_norm_bwd") } },
    { ROW_LINEAR, .part = MODULE_STATE_STEP, .when = HAS_S6 },
    { ROW_OWNER, "state_heads", MODULE_STATE_HEADS, .when = HAS_S6,
      .read = { FP32(1, SHW) }, .write = { FP32(1, SHW) } },
    { ROW_SCAN, "state_scan", .when = HAS_S6, .same_node = true,
      .read = { NARROW(3, SX), NARROW(1, SR) }, .write = { NARROW(2, SX) },
      .work = { WORK(4.5, SWS) },
      .keep = { KEEP(NARROW(1, SX), "state_scan_bwd"),
                KEEP(NARROW(1, SX), "state_out_wgrad") } },
    /* SSD */
    { ROW_OWNER, "state_heads", MODULE_STATE_HEADS, .when = HAS_SSD,
      .unless = HAS_LIGHTNING, .read = { NARROW(1, SH) }, .write = { FP32(2, SH) },
      .same_node = true },
    { ROW_SCAN, "chunk_states", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(1, SXB), FP32(2, SH) }, .write = { FP32(1, SS) },
      .work = { WORK(1, SWS) } },
    { ROW_SCAN, "state_passing", .when = HAS_SSD, .same_node = true,
      .read = { FP32(1, SS) }, .write = { NARROW(1, SS) } },
    { ROW_SCAN, "chunk_products", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(2, SB) }, .write = { FP32(1, SCB) }, .work = { WORK(1, SWC) } },
    { ROW_SCAN, "chunk_scan", .when = HAS_SSD, .same_node = true,
      .read = { FP32(1, SCB), NARROW(1, SXB), NARROW(1, SS) },
      .write = { NARROW(1, SX) }, .work = { WORK(1, SWS), WORK(0.5, SWI) },
      .keep = { KEEP(NARROW(1, SX), "state_norm_bwd|state_gate_bwd") } },
    ROW_END,
};

const struct row build_state_out_f[] = {
    { ROW_OWNER, "state_norm", MODULE_STATE_NORM, .when = HAS_STATE_NORM,
      .unless = HAS_LIGHTNING, .same_node = true, .read = { NARROW(2, SX) },
      .write = { NARROW(1, SX) }, .keep = { KEEP(NARROW(1, SX), "state_out_wgrad") } },
    /* a norm, and its result by a sigmoid of the gate */
    { ROW_OWNER, "state_norm", MODULE_STATE_NORM, .when = HAS_LIGHTNING,
      .read = { NARROW(1, SX) }, .write = { NARROW(1, SX) },
      .keep = { KEEP(NARROW(1, SX), "state_gate_bwd") } },
    { ROW_STREAM, "state_gate", .when = HAS_LIGHTNING, .launches = 2,
      .read = { NARROW(3, SX) }, .write = { NARROW(2, SX) },
      .keep = { KEEP(NARROW(1, SX), "state_out_wgrad"),
                KEEP(NARROW(1, SX), "state_gate_bwd") } },
    { ROW_STREAM, "state_gate", .when = HAS_SSD, .unless = HAS_STATE_NORM,
      .same_node = true, .read = { NARROW(2, SX) }, .write = { NARROW(1, SX) },
      .keep = { KEEP(NARROW(1, SX), "state_out_wgrad") } },
    { ROW_STREAM, "state_gate", .when = HAS_SHORT_CONV, .read = { NARROW(2, SX) },
      .write = { NARROW(1, SX) }, .keep = { KEEP(NARROW(1, SX), "state_out_wgrad") } },
    { ROW_LINEAR, .part = MODULE_STATE_OUT },
    ROW_END,
};

const struct row build_state_out_b[] = {
    { ROW_DGRAD, .part = MODULE_STATE_OUT },
    { ROW_WGRAD, .part = MODULE_STATE_OUT },
    { ROW_BIAS, .part = MODULE_STATE_OUT, .unless = HAS_FUSED_ADD },
    { ROW_STREAM, "state_gate_bwd", .when = HAS_SHORT_CONV, .launches = 2,
      .read = { NARROW(4, SX) }, .write = { NARROW(2, SX) } },
    { ROW_STREAM, "state_gate_bwd", .when = HAS_LIGHTNING, .launches = 3,
      .read = { NARROW(5, SX) }, .write = { NARROW(3, SX) }, .made = NARROW(2, SX) },
    { ROW_OWNER_BWD, "state_norm_bwd", MODULE_STATE_NORM, .when = HAS_STATE_NORM,
      .launches = 2, .read = { NARROW(3, SX) }, .write = { NARROW(2, SX) } },
    { ROW_STREAM, "state_gate_bwd", .when = HAS_SSD, .unless = HAS_STATE_NORM,
      .read = { NARROW(3, SX) }, .write = { NARROW(2, SX) } },
    ROW_END,
};

const struct row build_state_b[] = {
    /* forward's own, once more: what it has not kept */
    { ROW_STREAM, "state_conv_again",
      .unless = HAS_SHORT_CONV | HAS_LIGHTNING | HAS_DELTA, .same_node = true,
      .read = { NARROW(1, SC) }, .write = { NARROW(1, SC) } },
    /* S6 */
    { ROW_SCAN, "state_scan_bwd", .when = HAS_S6, .same_node = true,
      .read = { NARROW(5, SX), NARROW(1, SR) }, .write = { NARROW(3, SX), FP32(1, SR) },
      .work = { WORK(11, SWS) } },
    { ROW_OWNER_BWD, "state_heads_bwd", MODULE_STATE_HEADS, .when = HAS_S6,
      .same_node = true, .read = { FP32(1, SHW) } },
    { ROW_DGRAD, .part = MODULE_STATE_STEP, .when = HAS_S6 },
    { ROW_WGRAD, .part = MODULE_STATE_STEP, .when = HAS_S6 },
    { ROW_BIAS, .part = MODULE_STATE_STEP, .when = HAS_S6 },
    { ROW_OWNER_BWD, "step_norm_bwd", MODULE_STEP_NORM, .when = HAS_STEP_NORM,
      .launches = 6, .read = { NARROW(4, SR) }, .write = { NARROW(1, SR) } },
    { ROW_DGRAD, .part = MODULE_STATE_SELECT, .when = HAS_S6 },
    { ROW_WGRAD, .part = MODULE_STATE_SELECT, .when = HAS_S6 },
    /* SSD */
    { ROW_STREAM, "state_heads_again", .when = HAS_SSD, .unless = HAS_LIGHTNING,
      .same_node = true, .launches = 2, .read = { NARROW(2, SH) },
      .write = { NARROW(1, SH), FP32(2, SH) } },
    { ROW_SCAN, "chunk_products_again", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(2, SB) }, .write = { FP32(1, SCB) }, .work = { WORK(1, SWC) } },
    { ROW_SCAN, "chunk_states_again", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(1, SXB), FP32(2, SH) }, .write = { FP32(1, SS) },
      .work = { WORK(1, SWS) } },
    { ROW_SCAN, "state_passing_again", .when = HAS_SSD, .same_node = true,
      .read = { FP32(1, SS) }, .write = { FP32(1, SS) } },
    { ROW_SCAN, "chunk_states_bwd", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(1, SXB), FP32(1, SH) }, .write = { FP32(1, SS) },
      .work = { WORK(1, SWS) } },
    { ROW_SCAN, "state_passing_bwd", .when = HAS_SSD, .same_node = true,
      .read = { FP32(2, SS) }, .write = { NARROW(2, SS) } },
    { ROW_SCAN, "chunk_scan_bwd", .when = HAS_SSD, .same_node = true,
      .read = { FP32(1, SCB), NARROW(2, SXB), NARROW(1, SS) },
      .write = { NARROW(1, SX), FP32(1, SH) },
      .work = { WORK(1, SWS), WORK(0.5, SWI) } },
    { ROW_SCAN, "chunk_keys_bwd", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(1, SXB), NARROW(1, SS) }, .write = { FP32(1, SB), FP32(1, SH) },
      .work = { WORK(1, SWS) } },
    { ROW_SCAN, "chunk_queries_bwd", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(1, SXB), NARROW(1, SS) }, .write = { FP32(1, SB), FP32(1, SH) },
      .work = { WORK(1, SWS) } },
    { ROW_SCAN, "chunk_products_grad", .when = HAS_SSD, .same_node = true,
      .read = { NARROW(2, SX), FP32(2, SH) }, .write = { FP32(1, SCB) },
      .work = { WORK(0.5, SWI) } },
    { ROW_SCAN, "chunk_products_bwd", .when = HAS_SSD, .same_node = true, .launches = 2,
      .read = { FP32(2, SCB), NARROW(2, SB), FP32(2, SB) }, .write = { NARROW(2, SB) },
      .work = { WORK(2, SWC) } },
    { ROW_SCAN, "chunk_decay_bwd", .when = HAS_SSD, .same_node = true,
      .read = { FP32(1, SCB), NARROW(2, SX), FP32(2, SH) }, .write = { FP32(1, SH) },
      .work = { WORK(0.5, SWI) } },
    /* sums of steps' and decays' gradients, a few small kernels */
    { ROW_OWNER_BWD, "state_heads_bwd", MODULE_STATE_HEADS, .when = HAS_SSD,
      .unless = HAS_LIGHTNING, .same_node = true, .launches = 9,
      .read = { FP32(12, SH) }, .write = { FP32(8, SH) } },
    ROW_END,
};

const struct row build_state_in_b[] = {
    { ROW_STREAM, "state_activation_bwd", .when = HAS_LIGHTNING,
      .read = { NARROW(2, SC) }, .write = { NARROW(1, SC) } },
    { ROW_OWNER_BWD, "state_conv_bwd", MODULE_STATE_CONV, .unless = HAS_LIGHTNING,
      .launches = 2, .read = { NARROW(3, SC) }, .write = { NARROW(2, SC) } },
    { ROW_STREAM, "state_gate_in_bwd", .when = HAS_SHORT_CONV, .launches = 2,
      .read = { NARROW(4, SX) }, .write = { NARROW(2, SX) } },
    { ROW_DGRAD, .part = MODULE_STATE_IN },
    { ROW_WGRAD, .part = MODULE_STATE_IN },
    { ROW_BIAS, .part = MODULE_STATE_IN },
    { ROW_STREAM, "state_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};

static bool has_state(const struct model *m)
{
    return m->kind.mixer == MODEL_MIXER_STATE || m->kind.mixer == MODEL_MIXER_BOTH;
}

flagset build_state_flags(const struct model *m)
{
    static const flagset kinds[] = { [MODEL_STATE_SSD] = HAS_SSD,
                                     [MODEL_STATE_S6] = HAS_S6,
                                     [MODEL_STATE_CONV] = HAS_SHORT_CONV,
                                     [MODEL_STATE_DELTA] = HAS_DELTA | HAS_HEAD_DECAY,
                                     [MODEL_STATE_KDA] = HAS_DELTA | HAS_CHANNEL_DECAY,
                                     [MODEL_STATE_LIGHTNING] =
                                         HAS_SSD | HAS_LIGHTNING };
    const struct model_state *s = &m->state;
    if (!has_state(m))
        return 0;
    bool repeats = s->kind == MODEL_STATE_DELTA && s->groups < s->heads;
    return kinds[s->kind] | (s->norm ? HAS_STATE_NORM : 0) |
           (s->step_norm ? HAS_STEP_NORM : 0) | (repeats ? HAS_REPEATED_KEYS : 0);
}

/* Weights of each head: decay, skip and step; of S6's columns a decay for each number
 * of the state, and a skip; of the delta rule decay and step, or a step for each number
 * of a key. */
static double head_weights(const struct model_state *s)
{
    double heads = (double)s->heads, size = (double)s->size;
    switch (s->kind) {
    case MODEL_STATE_SSD:
        return 3 * heads;
    case MODEL_STATE_S6:
    case MODEL_STATE_KDA:
        return heads * (size + 1);
    case MODEL_STATE_DELTA:
        return 2 * heads;
    case MODEL_STATE_LIGHTNING:
    case MODEL_STATE_CONV:
    case MODEL_STATE_NONE:
        break;
    }
    return 0;
}

/* Of the norm of a mixer's result: all columns have weights, or those of one head, which
 * are every head's. */
static double norm_weights(const struct model_state *s, double t)
{
    bool heads = s->kind == MODEL_STATE_DELTA || s->kind == MODEL_STATE_KDA;
    return heads ? (double)s->head_dim : (double)model_state_width(s) / t;
}

void build_state_sizes(const struct build *b, double *e, double tokens, double t)
{
    const struct model_state *s = &b->m->state;
    if (!has_state(b->m))
        return;
    double width = (double)model_state_width(s), keys = (double)model_state_keys(s);
    double conv = (double)model_state_conv(s), size = (double)s->size;
    double chunk = (double)s->chunk, sequence = (double)b->s->sequence;
    chunk = chunk > 0 && chunk < sequence ? chunk : sequence;
    e[SYM_SI] = tokens * (double)model_state_in_on(s, (int64_t)t);
    e[SYM_SC] = tokens * conv / t;
    e[SYM_SX] = tokens * width / t;
    e[SYM_SB] = tokens * keys / t;
    e[SYM_SXB] = e[SYM_SX] + e[SYM_SB];
    e[SYM_SH] = tokens * (double)s->heads / t;
    e[SYM_SR] = tokens * (double)(s->step_rank + 2 * s->size);
    e[SYM_SP] = tokens * (double)s->step_rank;
    e[SYM_SWS] = e[SYM_SX] * size;
    e[SYM_SS] = e[SYM_SWS] / chunk;
    e[SYM_SCB] = tokens * chunk * (double)s->groups / t;
    e[SYM_SWC] = e[SYM_SCB] * size;
    e[SYM_SWI] = e[SYM_SX] * chunk;
    e[SYM_SCW] = conv * (double)(s->conv + s->conv_bias) / t;
    e[SYM_SHW] = head_weights(s) / t;
    e[SYM_SNW] = norm_weights(s, t);
    e[SYM_SD] = tokens * (double)s->heads * size / t;
    e[SYM_SCC] = tokens * (double)s->heads * chunk / t;
    e[SYM_SWK] = e[SYM_SCC] * size;
    e[SYM_SWA] = e[SYM_SCC] * chunk;
    e[SYM_SQW] = s->step_norm ? (double)(s->step_rank + 2 * s->size) : 0;
}

void build_state_linears(struct build *b, int64_t tokens, enum dtype dtype)
{
    const struct model_state *s = &b->m->state;
    int64_t h = b->m->hidden, t = b->shares[OP_ATTENTION].degree;
    bool kda = s->kind == MODEL_STATE_KDA;
    int64_t width = model_state_width(s) / t;
    int64_t selected = kda ? s->heads * s->size / t : s->step_rank + 2 * s->size;
    const struct {
        enum module part;
        int64_t k, n;
        bool bias;
    } rows[] = {
        { MODULE_STATE_IN, h, model_state_in_on(s, t), s->bias },
        { MODULE_STATE_SELECT, kda ? s->step_rank : width, selected, false },
        { MODULE_STATE_STEP, s->step_rank, width, !kda },
        { MODULE_STATE_OUT, width, h, s->bias },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        b->linears[rows[i].part] = (struct linear) { .rows = tokens,
                                                     .k = rows[i].k,
                                                     .n = rows[i].n,
                                                     .batch = 1,
                                                     .bias = rows[i].bias,
                                                     .owned = true,
                                                     .dtype = dtype };
}
