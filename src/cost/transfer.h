/* Time of DeepEP's dispatch and combine inside an NVLink domain. MODEL.md (C16). Pure
 * functions. */
#ifndef COST_TRANSFER_H
#define COST_TRANSFER_H

#include "hardware/transfer.h"

struct transfer_shape {
    int64_t ranks;   /* that the experts are spread over */
    int64_t tokens;  /* of each rank */
    int64_t hidden;  /* columns */
    int64_t topk;    /* experts of a token */
    int64_t experts; /* in all */
    int64_t sms;     /* given to the kernel */
};

/* How many of `parts`, equal parts of the experts, the k distinct experts of a token lie
 * in, expected; all choices are equally likely. */
double transfer_distinct(int64_t parts, int64_t experts, int64_t k);

/* Bytes of a token as it travels: 8 bits and a 4-byte scale for 128 columns, or 16
 * bits. */
double transfer_token_B(int64_t hidden, bool fp8);

/* Seconds of one call; dispatch in 8 bits, combine in 16. */
double transfer_s(const struct transfer *t, const struct transfer_shape *shape);

#endif
