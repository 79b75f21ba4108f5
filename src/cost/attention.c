#include "cost/attention.h"

#include <math.h>

/* (3.22) A tile pair takes its products and its scores one after the other: the
 * exponentials do not overlap with the tensor cores. */
double attention_s(const struct gpu *gpu, const struct attention *a,
                   const struct attention_shape *shape)
{
    enum { TILE = 128, NARROW = 64, HALF_TILE = 64 };
    static const double element_B = 2;
    double s = (double)shape->sequence, d = (double)shape->head_dim;
    double sequences = (double)shape->batch, heads = sequences * (double)shape->heads;
    double rows = ceil(s / TILE), sms = (double)gpu->n_sms;
    double pairs = shape->sequence > NARROW ? rows * (rows + 1) / 2 : 0.5;
    double pair_s = TILE * TILE * (4 * d * sms / a->product_flops + a->softmax_s);
    double longest = rows; /* in tile pairs: the last block of one head */
    if (a->half_blocks > 0 && shape->head_dim >= a->half_blocks)
        longest *= (double)HALF_TILE / TILE;
    double head_B = 2 * element_B * sequences * s * d;
    double keys_Bps = a->keys_Bps > 0 ? a->keys_Bps : a->moved_Bps;
    double moved_s = head_B * ((double)shape->heads / a->moved_Bps +
                               (double)shape->kv_heads / keys_Bps);
    return a->start_s +
           pair_s * fmax(heads * pairs / sms + a->tail * longest, longest) + moved_s +
           a->block_s * heads * rows / sms + a->token_s * sequences * s;
}
