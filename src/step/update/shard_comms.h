/* Collectives of a unit of sharded parameters. */
#ifndef STEP_UPDATE_SHARD_COMMS_H
#define STEP_UPDATE_SHARD_COMMS_H

#include "step/update/shard_units.h"

/* Gathers so much of the unit after the task `after`; *task is the last of the gathers,
 * untouched when there are none. */
int shard_gather(struct builder *b, const struct unit *v, struct gathers g,
                 int32_t after, int32_t *task, struct err *err);

/* FSDP's limit of gathers: before one the host waits until the GPU has left the unit that
 * was dropped two before. */
void shard_await_dropped(struct builder *b);

/* The GPU leaves a dropped unit with the last kernel. */
void shard_note_dropped(struct builder *b);

/* The unit's gradients go to their shards, and shards are summed over their
 * replicas. */
int shard_scatter(struct builder *b, const struct unit *v, struct err *err);

#endif
