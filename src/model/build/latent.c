/* Latent attention (DeepSeek-V2, arXiv 2405.04434, 2.1): queries, keys and values of
 * all heads are made of a few columns a token, which are normed, and of one rotary
 * key.
 *
 * Sparse attention (DeepSeek-V3.2-Exp, section 2; its inference/model.py, Indexer): scores of
 * all keys by a few small heads, whose sum's largest are the keys that attention reads. The
 * indexer's input is cut from the graph: only its own weights have gradients, by a loss over
 * the chosen keys. */
#include "model/build/build.h"

const struct row build_latent_f[] = {
    { ROW_STREAM, "latent_cast", .when = HAS_LATENT | HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) }, .keep = { KEEP(NARROW(1, A), "kv_down_wgrad") } },
    { ROW_LINEAR, .part = MODULE_QUERY_DOWN, .when = HAS_LATENT_QUERY,
      .keep = { KEEP(NARROW(1, LQ), "latent_norm_bwd") } },
    { ROW_LINEAR, .part = MODULE_KV_DOWN, .when = HAS_LATENT,
      .keep = { KEEP(NARROW(1, LK), "latent_norm_bwd") } },
    { ROW_OWNER, "latent_norm", MODULE_LATENT_NORM, .when = HAS_LATENT,
      .unless = HAS_EAGER_RMS, .launches = 2, .read = { NARROW(1, LN) },
      .write = { NARROW(1, LN) }, .keep = { KEEP(NARROW(1, LN), "kv_up_wgrad") } },
    { ROW_OWNER, "latent_norm", MODULE_LATENT_NORM, .when = HAS_LATENT | HAS_EAGER_RMS,
      .launches = 12, .read = { NARROW(2, LN), FP32(4, LN) },
      .write = { NARROW(2, LN), FP32(3, LN) },
      .keep = { KEEP(NARROW(1, LN), "kv_up_wgrad"),
                EAGER_RMS_KEPT(LN, "latent_norm_bwd") } },
    /* values are read where the product has put them, next to keys that the rotary part
     * joins in tensors of their own */
    { ROW_LINEAR, .part = MODULE_KV_UP, .when = HAS_LATENT,
      .keep = { KEEP(NARROW(1, LU), "dprobs|flash_bwd") } },
    { ROW_LINEAR, .part = MODULE_INDEX_QUERY, .when = HAS_INDEXER,
      .keep = { KEEP(NARROW(1, IQ), "index_scores_bwd") } },
    { ROW_LINEAR, .part = MODULE_INDEX_KEY, .when = HAS_INDEXER,
      .keep = { KEEP(NARROW(1, IK), "index_norm_bwd") } },
    { ROW_OWNER, "index_norm", MODULE_INDEX_NORM, .when = HAS_INDEXER,
      .read = { NARROW(1, IK) }, .write = { NARROW(1, IK) },
      .keep = { KEEP(NARROW(1, IK), "index_scores_bwd") } },
    { ROW_SCAN, "index_scores", .when = HAS_INDEXER,
      .read = { NARROW(1, IQ), NARROW(1, IK) }, .write = { FP32(1, IS) },
      .work = { WORK(1, IW) } },
    { ROW_STREAM, "index_topk", .when = HAS_INDEXER, .launches = 2,
      .read = { FP32(1, IS) }, .write = { FP32(2, IT) }, .made = FP32(2, IT),
      .keep = { KEEP(FP32(2, IT), "index_scores_bwd") } },
    ROW_END,
};

const struct row build_latent_b[] = {
    { ROW_SCAN, "index_scores_bwd", .when = HAS_INDEXER, .launches = 2,
      .read = { NARROW(1, IQ), NARROW(1, IK), FP32(3, IT) },
      .write = { NARROW(1, IQ), NARROW(1, IK) }, .work = { WORK(3, IB) } },
    { ROW_OWNER_BWD, "index_norm_bwd", MODULE_INDEX_NORM, .when = HAS_INDEXER,
      .launches = 2, .read = { NARROW(4, IK) }, .write = { NARROW(1, IK) } },
    { ROW_WGRAD, .part = MODULE_INDEX_QUERY, .when = HAS_INDEXER },
    { ROW_WGRAD, .part = MODULE_INDEX_KEY, .when = HAS_INDEXER },
    { ROW_DGRAD, .part = MODULE_KV_UP, .when = HAS_LATENT },
    { ROW_WGRAD, .part = MODULE_KV_UP, .when = HAS_LATENT },
    { ROW_OWNER_BWD, "latent_norm_bwd", MODULE_LATENT_NORM, .when = HAS_LATENT,
      .unless = HAS_EAGER_RMS, .launches = 4, .read = { NARROW(4, LN) },
      .write = { NARROW(1, LN) } },
    { ROW_OWNER_BWD, "latent_norm_bwd", MODULE_LATENT_NORM,
      .when = HAS_LATENT | HAS_EAGER_RMS, .launches = 20,
      .read = { NARROW(3, LN), FP32(8, LN) }, .write = { NARROW(2, LN), FP32(5, LN) } },
    { ROW_DGRAD, .part = MODULE_QUERY_DOWN, .when = HAS_LATENT_QUERY },
    { ROW_WGRAD, .part = MODULE_QUERY_DOWN, .when = HAS_LATENT_QUERY },
    { ROW_DGRAD, .part = MODULE_KV_DOWN, .when = HAS_LATENT },
    { ROW_WGRAD, .part = MODULE_KV_DOWN, .when = HAS_LATENT },
    { ROW_STREAM, "latent_cast_bwd", .when = HAS_LATENT | HAS_AMP, .launches = 2,
      .read = { NARROW(2, A) }, .write = { WIDE(2, A) } },
    { ROW_STREAM, "latent_sum_bwd", .when = HAS_LATENT, .read = { WIDE(2, A) },
      .write = { WIDE(1, A) } },
    ROW_END,
};
