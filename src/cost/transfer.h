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

/* The same where a token's experts are all in `chosen` of `groups` equal parts of the
 * experts, drawn before them (DeepSeek's group-limited routing); groups 0: not so. */
double transfer_distinct_limited(int64_t parts, int64_t experts, int64_t k,
                                 int64_t groups, int64_t chosen);

/* Bytes of a token as it travels: 8 bits and a 4-byte scale for 128 columns, or 16
 * bits. */
double transfer_token_B(int64_t hidden, bool fp8);

/* What the SMs take for `tokens` of `token_B` bytes with `copies` each. */
double transfer_sms_s(const struct transfer *t, double tokens, double token_B,
                      double copies, int64_t sms);

/* Puts of a rank to all other nodes, `tokens` to each: every channel (two SMs) sends to
 * every node in chunks of as many tokens as DeepEP has for so many ranks. */
double transfer_puts(enum transfer_kind kind, int64_t ranks, int64_t nodes,
                     double tokens, int64_t sms);

/* Seconds of one call; dispatch in 8 bits, combine in 16. */
double transfer_s(const struct transfer *t, const struct transfer_shape *shape);

#endif
