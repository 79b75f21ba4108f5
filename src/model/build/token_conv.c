/* A convolution over tokens next to the first layer (DeBERTa-v2-xlarge and -xxlarge;
 * transformers 5, models/deberta_v2/modeling_deberta_v2.py, ConvLayer): its result is
 * added to that layer's, and normed. Here it is in the embedding's block, before the
 * layer. It counts as a product of as many rows, kernel x columns wide, whose rows share
 * what they read (MODEL.md, 2.13). */
#include "model/build/emit.h"

const struct row build_token_conv_f[] = {
    { ROW_STREAM, "conv_cast", .when = HAS_AMP, .read = { WIDE(1, A) },
      .write = { NARROW(1, A) },
      .keep = { KEEP(NARROW(1, A), "position_conv_wgrad") } },
    { ROW_LINEAR, .part = MODULE_PLACE_CONV,
      .keep = { KEEP(NARROW(1, X), "conv_activation_bwd") } },
    { ROW_STREAM, "conv_dropout", .when = HAS_HIDDEN_DROPOUT, .read = { NARROW(1, X) },
      .write = { NARROW(1, X), MASK(1, X) },
      .keep = { KEEP(MASK(1, X), "conv_dropout_bwd") } },
    { ROW_STREAM, "conv_activation", .read = { NARROW(1, X) },
      .write = { NARROW(1, X) } },
    { ROW_STREAM, "conv_sum", .read = { NARROW(1, X), WIDE(1, A) },
      .write = { WIDE(1, A) }, .keep = { KEEP(WIDE(1, A), "conv_norm_bwd") } },
    ROW_END,
};

const struct row build_token_conv_b[] = {
    { ROW_STREAM, "conv_activation_bwd", .read = { NARROW(2, X) },
      .write = { NARROW(1, X) } },
    { ROW_STREAM, "conv_dropout_bwd", .when = HAS_HIDDEN_DROPOUT,
      .read = { NARROW(1, X), MASK(1, X) }, .write = { NARROW(1, X) } },
    { ROW_DGRAD, .part = MODULE_PLACE_CONV },
    { ROW_WGRAD, .part = MODULE_PLACE_CONV },
    { ROW_BIAS, .part = MODULE_PLACE_CONV },
    { ROW_STREAM, "conv_cast_bwd", .when = HAS_AMP, .read = { NARROW(1, A) },
      .write = { WIDE(1, A) } },
    { ROW_STREAM, "conv_sum_bwd", .read = { WIDE(2, A) }, .write = { WIDE(1, A) } },
    ROW_END,
};

void build_token_conv(struct build *b)
{
    const struct linear *words = &b->linears[MODULE_PATCH];
    int64_t h = b->m->hidden, kernel = b->m->ends.conv;
    b->linears[MODULE_PLACE_CONV] = (struct linear) { .rows = words->rows,
                                                      .k = kernel * h,
                                                      .n = h,
                                                      .batch = 1,
                                                      .bias = true,
                                                      .owned = true,
                                                      .dtype = words->dtype,
                                                      .overlap = (double)kernel };
}
