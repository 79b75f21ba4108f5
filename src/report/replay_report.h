/* Replays of traces, as text and JSON: of all ranks (Chakra), or of one rank's step
 * (PyTorch's profiler). */
#ifndef REPORT_REPLAY_REPORT_H
#define REPORT_REPLAY_REPORT_H

#include "config/contract.h"
#include "replay/replay.h"
#include "replay/replay_step.h"
#include "scenario/scenario.h"

#include <stdio.h>

/* One of `all` and `step` is NULL. Everything is borrowed. */
struct report_replay {
    const char *name; /* of the folder or the file */
    const struct scenario *scenario;
    const struct chakra_trace *trace; /* of `all` */
    const struct replay_result *all;
    const struct replay_step *step;
};

extern const struct contract report_replay_contract;

void report_replay_text(FILE *out, const struct report_replay *r);

#endif
