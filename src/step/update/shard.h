/* Sharded parameters: gathered before use, their gradients scattered. */
#ifndef STEP_UPDATE_SHARD_H
#define STEP_UPDATE_SHARD_H

#include "step/builder.h"

/* Set-up; around the forward and backward of each unit. */
int shard_plan(struct stage *stage, struct builder *b, struct err *err);
void shard_begin(struct builder *b, int32_t chunk); /* a pass of the chunk */
int shard_enter(struct builder *b, int32_t unit, bool backward, struct err *err);
int shard_leave(struct builder *b, int32_t unit, bool backward, struct err *err);

/* Between a begin and an end units are those of a separate reference model, where there
 * is one. What its passes leave gathered is held from the first allocation on. */
void shard_hold_reference(struct builder *b);
void shard_begin_reference(struct builder *b);
void shard_end_reference(struct builder *b);

/* After the update; bytes of tensors that stay whole on each rank in addition to its
 * shards. */
int shard_end(struct builder *b, struct err *err);
int64_t shard_persistent_B(const struct stage *stage);

/* Whether a pass of a pipeline gathers, drops, scatters or begins to hold gradients:
 * else all it needs is there, and stays. */
bool shard_changes(const struct builder *b, enum pass_kind kind, int32_t chunk);

#endif
