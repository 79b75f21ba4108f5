/* smsim validate --measured and --device: steps that were run, compared with those
 * predicted. */
#ifndef CMD_VALIDATE_MEASURED_H
#define CMD_VALIDATE_MEASURED_H

#include "cmd/options.h"
#include "draw/draw.h"

#include <stdbool.h>

struct measured_request {
    const char *gpu;      /* a name, or a profile's file; NULL: by the device's name */
    const char *instance; /* machine; NULL: one that has this GPU */
    const char *json;
    struct draw_to plot; /* its path NULL: not asked for */
};

/* Reads the files, predicts each step in them, shows both. An exit code: EXIT_UNFIT
 * when some step could not be predicted. */
int validate_measured(const char *const *files, int n_files,
                      const struct measured_request *q);

struct device_request {
    struct measured_request show;
    const char *out;   /* keeps the measurements; NULL: they are not kept */
    const char *model; /* of the step: a name of models/ or a config.json */
    int64_t batch, sequence, budget_s;
    bool fp16;
};

/* Measures the GPUs at hand by smsim-measure, then as above. */
int validate_device(const struct device_request *q);

#endif
