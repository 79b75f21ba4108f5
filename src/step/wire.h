/* What carries gradients between ranks: the plans of one bucket under each library, the
 * streams their stages keep busy, and compression. Private to src/step/. */
#ifndef STEP_WIRE_H
#define STEP_WIRE_H

#include "step/builder.h"

/* One way to send gradients; rows are in buckets.c. */
struct gradient_reduction {
    void (*begin)(struct builder *b);
    int (*add)(struct builder *b, double bytes, struct err *err);
    int (*end)(struct builder *b, struct err *err);
    enum coll_algorithm algorithm;
};

/* Fills in stage->wire but for its reduction and library. */
void wire_init(struct stage *stage);

/* Makes the plans for a bucket of `bytes` of gradients, unless they are those made
 * last. */
int wire_plan(struct builder *b, double bytes, struct err *err);

/* Sends a bucket by the plans made: kernels that copy and compress, then its stages,
 * one task after the other. */
void wire_send(struct builder *b, double bytes);

/* The same by one collective of NCCL's. */
void wire_send_by(struct builder *b, double bytes, int32_t comm);

/* The plan of a broadcast from rank 0 to all. */
int wire_broadcast(const struct stage *stage, double bytes, struct coll_plan *plan,
                   struct err *err);

/* What a fusion's plans are made from; it lives in the arena. */
struct wire_fused;

struct wire_fused *wire_fused_new(const struct stage *stage);

/* For struct fusion: the plan of one fused buffer, copies in and out with it. */
const struct coll_plan *wire_fused_plan(void *arg, double bytes);

#endif
