/* A shard: every count-th point of a sweep from the index-th on, so that shards of unlike
 * points take about the same time.
 *
 *     point       0   1   2   3   4   5   6
 *     shard 1/3   0           1           2      <- numbers of a shard's own
 *     shard 2/3       0           1
 *
 * A shard's memory and work go with its own points, not with all of the grid. O(1). */
#ifndef SWEEP_SWEEP_SHARD_H
#define SWEEP_SWEEP_SHARD_H

#include <stdbool.h>
#include <stdint.h>

struct sweep_shard {
    int64_t index, count; /* 1..count; count 1: the whole sweep */
};

bool sweep_shard_has(struct sweep_shard shard, int64_t point);

/* How many of the sweep's points are the shard's. */
int64_t sweep_shard_size(struct sweep_shard shard, int64_t n_points);

/* The shard's nth point, from 0; and which of the shard's a point is that it has. */
int64_t sweep_shard_point(struct sweep_shard shard, int64_t nth);
int64_t sweep_shard_nth(struct sweep_shard shard, int64_t point);

#endif
