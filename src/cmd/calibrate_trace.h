/* smsim calibrate --trace: a step of the user's own as the profile of its GPU. */
#ifndef CMD_CALIBRATE_TRACE_H
#define CMD_CALIBRATE_TRACE_H

#include "calibrate/calibration.h"
#include "calibrate/samples.h"
#include "cmd/options.h"

#include <stdio.h>

struct calibrate_trace {
    const char *trace, *scenario;
    const struct option_list *sets; /* of the scenario */
};

/* Fits into `c`; `file` becomes the base profile, and `samples` names the trace. What was
 * joined, and how the replay compares, is printed to `out`. -1 after reporting or with
 * err set. */
int calibrate_from_trace(FILE *out, const struct calibrate_trace *t,
                         struct calibration *c, struct cfg *file,
                         struct samples *samples, struct cfg_loader *loader,
                         struct err *err);

#endif
