/* A kernel as a job of a mapping: a product, attention, dispatch and combine, experts. */
#ifndef VALIDATION_JOB_KERNEL_H
#define VALIDATION_JOB_KERNEL_H

#include "base/err.h"
#include "config/cfg.h"

/* What job.h says of a kernel. NULL: with err set; or without it, where one of the
 * loaders has errors: `hardware`'s of files, root's of the job. */
json_t *job_kernel_run(struct cfg_loader *hardware, struct cfg where, struct cfg root,
                       struct err *err);

#endif
