/* Experts of one rank as a kernel to be predicted. */
#ifndef VALIDATION_JOB_EXPERTS_H
#define VALIDATION_JOB_EXPERTS_H

#include "base/err.h"
#include "config/cfg.h"

/* Whether a kernel's job is of experts. */
bool job_is_experts(struct cfg root);

/* {"time_s"} by topologies/experts. NULL: with err set; or without it, where one of the
 * loaders has errors: `hardware`'s of files, root's of the job. */
json_t *job_experts_run(struct cfg_loader *hardware, struct cfg where, struct cfg root,
                        struct err *err);

#endif
