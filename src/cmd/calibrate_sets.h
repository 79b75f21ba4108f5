/* Tables of kernels by device and software that `smsim calibrate` fits: a row each. */
#ifndef CMD_CALIBRATE_SETS_H
#define CMD_CALIBRATE_SETS_H

#include "calibrate/calibration.h"

#include <stdio.h>

struct calibrate_set {
    const char *what; /* "products" */
    int64_t (*count)(const struct samples *s);
    const char *(*device)(const struct samples *s, int64_t i);
    int (*fit)(struct calibration *c, struct cfg_loader *loader,
               const struct samples *s, struct err *err);
    json_t *(*file)(const struct calibration *c, const struct samples *s);
    void (*report)(FILE *out, const struct calibration *c, const struct samples *s);
};

/* That of the samples; the first where there are several. NULL: they hold none. */
const struct calibrate_set *calibrate_set_of(const struct samples *s);

/* Of what else than `set` there are samples by device and software; NULL: nothing. */
const struct calibrate_set *calibrate_set_other(const struct samples *s,
                                                const struct calibrate_set *set);

#endif
