/* smsim simulate --trace-in: the traces of a job's ranks on the cluster of a scenario. */
#ifndef CMD_SIMULATE_REPLAY_H
#define CMD_SIMULATE_REPLAY_H

#include "config/cfg.h"
#include "scenario/scenario.h"

/* Prints what the replay of a folder of Chakra traces takes. -1 after reporting, or with
 * err set. */
int simulate_replay(struct cfg_loader *loader, const struct scenario *s,
                    const char *folder, struct err *err);

#endif
