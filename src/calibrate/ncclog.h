/* Logs of nccl-tests, of any version: text as programs, launchers and loggers leave it,
 * and the JSON of --output_file. Out-of-place times are taken, in-place ones where
 * there are no others. A text may hold several runs one after the other. What a log
 * does not name is read from its columns: the operation from reduction, root and
 * bandwidth factor, the ranks from that factor or from size over count. What
 * contradicts itself is refused; rows that are cut are left out, with a warning. */
#ifndef CALIBRATE_NCCLOG_H
#define CALIBRATE_NCCLOG_H

#include "calibrate/samples.h"

/* Adds the collectives of a log to the samples; what the log does not say of operation,
 * ranks and nodes, the hints do. -1 after reporting to the samples' loader. */
int ncclog_read(struct samples *s, const char *file, const char *text,
                const struct samples_hints *hints);
int ncclog_read_json(struct samples *s, const char *file, struct cfg root,
                     const struct samples_hints *hints);

#endif
