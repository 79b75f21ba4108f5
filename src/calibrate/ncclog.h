/* Logs of nccl-tests, of any version: text with or without the prefixes that mpirun
 * puts before lines ("0: ", "[1,0]<stdout>:"), with or without the column "root", and
 * the JSON of --output_file. Out-of-place times are taken, in-place ones where there
 * are no others. A text may hold several runs one after the other. */
#ifndef CALIBRATE_NCCLOG_H
#define CALIBRATE_NCCLOG_H

#include "calibrate/samples.h"

int ncclog_read(struct samples *s, const char *file, const char *text,
                const struct samples_hints *hints);
int ncclog_read_json(struct samples *s, struct cfg root,
                     const struct samples_hints *hints);

#endif
