/* A step as Chakra execution traces (MLCommons' et_def.proto), the workload format of
 * ASTRA-sim: DIR/step.RANK.et for every rank of the job, and DIR/comm_groups.json, the
 * ranks of each communicator.
 *
 * A trace is the rank's program, not its run: what the host dispatches (nodes of the
 * CPU, one after the other), kernels with the time each takes alone, collectives and
 * messages with their bytes and no time, which the reader's own network gives them.
 * Nodes of one stream follow each other. Times are whole microseconds; what is cut off
 * a node is added to the next of its stream, so that sums hold.
 *
 * What Chakra has no node for: buffers that Horovod fuses as they become ready are cut
 * as if all were ready at once; gradients that go through servers on the hosts (SMDDP,
 * parameter servers) are all-reduces of as many bytes. */
#ifndef TRACE_CHAKRA_H
#define TRACE_CHAKRA_H

#include "base/arena.h"
#include "base/err.h"
#include "scenario/scenario.h"

enum { CHAKRA_RANKS_MAX = 16384, CHAKRA_TASKS_MAX = 1000000000 };

struct chakra_counts {
    int64_t ranks, nodes, groups; /* written */
};

/* Fails for jobs that cannot be simulated, too many ranks or tasks (of all ranks
 * together), a directory that is not empty; then nothing is written. */
int chakra_export(struct chakra_counts *counts, const char *dir, struct arena *arena,
                  const struct scenario *s, struct err *err);

#endif
