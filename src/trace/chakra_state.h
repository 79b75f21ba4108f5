/* What the files of an export share: chakra.c decides what is written, and counts
 * groups and messages over all ranks; chakra_rank.c writes one rank's trace. Private to
 * these. */
#ifndef TRACE_CHAKRA_STATE_H
#define TRACE_CHAKRA_STATE_H

#include "base/file.h"
#include "base/hash.h"
#include "base/vec.h"
#include "step/reps.h"
#include "trace/chakra.h"
#include "trace/chakra_proto.h"

/* A message of a pipeline, as its sender's program has it. */
struct chakra_edge {
    int64_t from, to; /* stages */
    int64_t bytes;
};

/* A group of ranks that a collective was written of. */
struct chakra_known {
    uint64_t key;   /* of channel and first rank */
    int64_t number; /* from 1 */
    UT_hash_handle hh;
};

struct chakra_export {
    const struct reps *reps;
    struct dir_out dir;
    struct chakra_proto proto;
    struct chakra_counts *counts;
    int64_t n_edges;
    struct chakra_edge *edges;  /* [n_edges] by the message's number */
    struct chakra_known *known; /* groups by key, in the order of their numbers */
};

/* The number of a communicator, from 1: of a channel's group of ranks. */
int64_t chakra_group(struct chakra_export *x, enum channel channel,
                     const struct ranks *group);

/* DIR/step.RANK.et. -1 with err set when it cannot be written. O(tasks, with
 * repeats). */
int chakra_write_rank(struct chakra_export *x, int64_t rank, struct err *err);

#endif
