/* Runs the programs of ranks on the event engine: hosts issue tasks, streams execute
 * them in order, collectives begin when all their ranks have come and share the links
 * of one fluid network. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "base/err.h"
#include "hardware/net.h"
#include "replay/coll_run.h"
#include "replay/program.h"

struct run_result {
    double time_s;          /* until the last rank's last task, repeats included */
    double parts_s[PART_N]; /* of the critical rank: the last to end, the lowest such */
    double gpu_busy_s, host_busy_s;   /* of the critical rank */
    double nic_busy_s, nvlink_busy_s; /* of the busiest link of the kind */
    uint64_t events;
};

/* Runs programs[0..n_ranks) (entries may be the same program; a folded run has one rank
 * that stands for all). All ranks take part in every collective. */
void run_programs(const struct program *const *programs, int64_t n_ranks,
                  const struct net *net, enum fidelity network, struct run_result *r);

#endif
