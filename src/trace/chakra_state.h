/* What the files of an export share: chakra.c decides what is written, and counts
 * groups and messages over all ranks; chakra_rank.c writes one rank's trace. Private to
 * these. */
#ifndef TRACE_CHAKRA_STATE_H
#define TRACE_CHAKRA_STATE_H

#include "base/file.h"
#include "base/vec.h"
#include "step/cast.h"
#include "trace/chakra.h"
#include "trace/chakra_proto.h"

/* A message of a pipeline, as its sender's program has it. */
struct chakra_edge {
    int64_t from, to; /* stages */
    int64_t bytes;
};

struct chakra_export {
    const struct cast *cast;
    struct dir_out dir;
    struct chakra_proto proto;
    struct chakra_counts *counts;
    int64_t n_edges;
    struct chakra_edge *edges; /* [n_edges] by the message's number */
    int64_t n_slots;           /* of the table of groups, a power of two */
    uint64_t *keys;            /* [n_slots] of channel and first rank, + 1; 0: free */
    int64_t *numbers;          /* [n_slots] of groups, from 1 */
    VEC(uint64_t) order;       /* slots by number */
};

/* The number of a communicator, from 1: of a channel's group of ranks. */
int64_t chakra_group(struct chakra_export *x, enum channel channel,
                     const struct ranks *group);

/* DIR/step.RANK.et. -1 with err set when it cannot be written. O(tasks, with
 * repeats). */
int chakra_write_rank(struct chakra_export *x, int64_t rank, struct err *err);

#endif
