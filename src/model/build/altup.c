/* Rows of Gemma 3n's streams (AltUp) and of the thin products next to its attention
 * (LAuReL); transformers 5, modeling_gemma3n.py (MODEL.md, 2.16).
 *
 *   all streams -> predict -> norm | attention | + | MLP | + -> correct -> all streams
 *                             norm | left | right | norm | +
 *
 * Only the first stream goes through attention and MLP. Numbers of the router's few
 * columns are left out. */
#include "model/build/build.h"

/* The router's norm, product and tanh; streams in order for their product with each
 * other's coefficients, its result, the streams added, and a copy in order. */
const struct row build_altup_predict_f[] = {
    { ROW_OWNER, "altup_predict", MODULE_ALTUP, .launches = 10,
      .read = { WIDE(2, A), WIDE(5, AU) }, .write = { WIDE(1, A), WIDE(4, AU) },
      .made = WIDE(3, AU), .keep = { KEEP(WIDE(1, AU), "altup_predict_bwd") } },
    ROW_END,
};
const struct row build_altup_predict_b[] = {
    { ROW_OWNER_BWD, "altup_predict_bwd", MODULE_ALTUP, .launches = 18,
      .read = { WIDE(4, A), WIDE(6, AU) }, .write = { WIDE(3, A), WIDE(4, AU) },
      .made = WIDE(2, AU) },
    ROW_END,
};

/* The difference of what was computed and predicted, once for each stream, by its
 * coefficient, added to it; a copy in order, and the first one scaled. */
const struct row build_altup_correct_f[] = {
    { ROW_STREAM, "altup_correct", .launches = 12, .read = { WIDE(7, A), WIDE(4, AU) },
      .write = { WIDE(4, A), WIDE(4, AU) }, .made = WIDE(3, AU),
      .keep = { KEEP(WIDE(1, AU), "altup_correct_bwd"),
                KEEP(WIDE(2, A), "altup_correct_bwd") } },
    ROW_END,
};
const struct row build_altup_correct_b[] = {
    { ROW_STREAM, "altup_correct_bwd", .launches = 18,
      .read = { WIDE(8, A), WIDE(5, AU) }, .write = { WIDE(4, A), WIDE(3, AU) },
      .made = WIDE(2, AU) },
    ROW_END,
};

/* What a layer's own inputs make goes to all streams but the first. */
const struct row build_altup_add_f[] = {
    { ROW_STREAM, "altup_add", .read = { WIDE(1, A), WIDE(1, AX) },
      .write = { WIDE(1, AX) }, .made = WIDE(1, AU) },
    ROW_END,
};
const struct row build_altup_add_b[] = {
    { ROW_STREAM, "altup_add_bwd", .read = { WIDE(1, AX) }, .write = { WIDE(1, A) } },
    ROW_END,
};

const struct row build_laurel_f[] = {
    { ROW_LINEAR, .part = MODULE_LAUREL_LEFT,
      .keep = { KEEP(NARROW(1, LR), "laurel_right_wgrad") } },
    { ROW_LINEAR, .part = MODULE_LAUREL_RIGHT,
      .keep = { KEEP(NARROW(1, A), "laurel_norm_bwd") } },
    { ROW_OWNER, "laurel_norm", MODULE_LAUREL_NORM, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    { ROW_STREAM, "laurel_skip", .read = { WIDE(2, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};
const struct row build_laurel_b[] = {
    { ROW_OWNER_BWD, "laurel_norm_bwd", MODULE_LAUREL_NORM, .launches = 2,
      .read = { WIDE(2, A), NARROW(2, A) }, .write = { NARROW(1, A) } },
    { ROW_DGRAD, .part = MODULE_LAUREL_RIGHT },
    { ROW_WGRAD, .part = MODULE_LAUREL_RIGHT },
    { ROW_DGRAD, .part = MODULE_LAUREL_LEFT },
    { ROW_WGRAD, .part = MODULE_LAUREL_LEFT },
    { ROW_STREAM, "laurel_skip_sum_bwd", .launches = 2, .read = { WIDE(4, A) },
      .write = { WIDE(2, A) } },
    ROW_END,
};

/* Both paths' sum, by the root of two. */
const struct row build_laurel_sum_f[] = {
    { ROW_STREAM, "laurel_sum", .launches = 2, .read = { WIDE(3, A) },
      .write = { WIDE(2, A) }, .made = WIDE(1, A),
      .keep = { KEEP(WIDE(1, A), "norm2_bwd") } },
    ROW_END,
};
const struct row build_laurel_sum_b[] = {
    { ROW_STREAM, "laurel_sum_bwd", .read = { WIDE(1, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};

/* The other streams out of the words by a product each, as large as these; and back, to
 * the mean of all. */
const struct row build_altup_in_f[] = {
    { ROW_LINEAR, .part = MODULE_ALTUP_IN, .when = HAS_ALTUP,
      .keep = { KEEP(NARROW(1, AX), "altup_stack_bwd") } },
    { ROW_STREAM, "altup_stack", .when = HAS_ALTUP, .launches = 12,
      .read = { NARROW(5, AX), WIDE(1, AU) }, .write = { NARROW(3, AX), WIDE(1, AU) },
      .made = WIDE(2, AU) },
    ROW_END,
};
const struct row build_altup_in_b[] = {
    { ROW_STREAM, "altup_stack_bwd", .when = HAS_ALTUP, .launches = 16,
      .read = { NARROW(7, AX), WIDE(1, AU) }, .write = { NARROW(4, AX), WIDE(1, A) } },
    { ROW_DGRAD, .part = MODULE_ALTUP_IN, .when = HAS_ALTUP },
    { ROW_WGRAD, .part = MODULE_ALTUP_IN, .when = HAS_ALTUP },
    { ROW_STREAM, "altup_words_sum_bwd", .when = HAS_ALTUP,
      .read = { NARROW(1, AX), WIDE(1, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};
const struct row build_altup_out_f[] = {
    { ROW_LINEAR, .part = MODULE_ALTUP_OUT,
      .keep = { KEEP(NARROW(1, AX), "altup_mean_bwd") } },
    { ROW_STREAM, "altup_mean", .launches = 12, .read = { NARROW(5, AX), WIDE(1, AU) },
      .write = { NARROW(3, AX), WIDE(1, A) }, .made = WIDE(2, AU),
      .keep = { KEEP(WIDE(1, A), "final_norm_bwd") } },
    ROW_END,
};
const struct row build_altup_out_b[] = {
    { ROW_STREAM, "altup_mean_bwd", .launches = 16,
      .read = { NARROW(7, AX), WIDE(1, A) }, .write = { NARROW(4, AX), WIDE(1, A) } },
    { ROW_DGRAD, .part = MODULE_ALTUP_OUT },
    { ROW_WGRAD, .part = MODULE_ALTUP_OUT },
    ROW_END,
};
