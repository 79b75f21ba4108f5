/* smsim simulate --trace-in: traces of a job's ranks, or of one, on the cluster of a
 * scenario. */
#ifndef CMD_SIMULATE_REPLAY_H
#define CMD_SIMULATE_REPLAY_H

#include "config/cfg.h"
#include "scenario/scenario.h"

/* Prints what a replay takes, and writes it as JSON where that is asked for ("-" is
 * standard output, without the text): of a folder of Chakra traces, or of a trace of
 * PyTorch's profiler. -1 after reporting, or with err set. */
int simulate_replay(struct cfg_loader *loader, const struct scenario *s,
                    const char *name, const char *json, struct err *err);

#endif
