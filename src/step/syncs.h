/* Where a program makes ranks equal: kernels that wait for a collective. With slack (a
 * gather sent so far ahead that the kernels meanwhile take longer than it; a bucket
 * during backward) ranks may drift apart, and do. */
#ifndef STEP_SYNCS_H
#define STEP_SYNCS_H

#include "hardware/net/net.h"
#include "run/program.h"

/* [tasks] The collective (index of comms) that the task, of the compute stream, waits
 * for without slack; SYNC_FUSION: a fusion; SYNC_NONE: none. To be freed. O(tasks). */
enum { SYNC_NONE = -1, SYNC_FUSION = -2 };
int32_t *syncs_find(const struct program *p, const struct net *net);

#endif
