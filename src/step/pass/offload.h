/* What is kept on the host: checkpoints of activations; states, with their update. */
#ifndef STEP_PASS_OFFLOAD_H
#define STEP_PASS_OFFLOAD_H

#include "step/builder.h"

/* Checkpoints of activations, in GPU memory or on the host: whether they leave the GPU;
 * made by a forward, a backward of n of them begins, each is used. */
bool offload_stores(const struct builder *b);
void offload_checkpoint(struct builder *b, int64_t size_B);
void offload_begin_backward(struct builder *b, int64_t n);
void offload_load_checkpoint(struct builder *b, int64_t size_B);

/* In pipelines the horizon counts passes: what to load when (of an order), the loads
 * that may begin with its pass `at` (booked in the ledger's events for so many
 * microbatches), and the wait of that pass for its own; the load of n checkpoints, for
 * who replays a backward alone. Without an order nothing is loaded so. */
struct load_order;
struct load_order *offload_order(const struct stage *stage,
                                 const struct pass_list *order);
int64_t offload_lead(const struct load_order *o); /* passes before the last period that
                                                     load as those before them */
void offload_begin_loads(struct builder *b, const struct load_order *o, int64_t at,
                         int64_t recorded);
void offload_await(struct builder *b, const struct load_order *o, int64_t at);
int32_t offload_load_pass(struct builder *b, int64_t n, int64_t size_B);

/* What of the states is on the GPU while nothing is gathered (MODEL.md, R8.6). The
 * parameters' own shards are step.c's to leave out. */
struct states offload_states(const struct stage *stage, struct states states);

/* A rank's shard of parameters comes from the host before it is gathered (yields what
 * the gather follows), that of gradients goes there after the scatter. Nothing where
 * shards are on the GPU. */
int32_t offload_load_shard(struct builder *b, double size_B, int32_t after);
void offload_store_shard(struct builder *b, double size_B, int32_t after);

/* The update of a rank's elements by its host; false where the GPU has to do it. */
bool offload_update(struct builder *b, double elements);

#endif
