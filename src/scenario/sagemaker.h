/* Where SageMaker's libraries run: instances and releases, in one place for the rules of
 * the dictionary, the step and the search. */
#ifndef SCENARIO_SAGEMAKER_H
#define SCENARIO_SAGEMAKER_H

#include "scenario/scenario.h"

/* Instances on which the SDK's framework estimators start SMDDP, and those of SMP v1
 * (developer guide, "Supported instance types"); NULL ends each. */
extern const char *const sagemaker_smddp_instances[], *const sagemaker_smp1_instances[];

/* The first of the cluster's instances on which no step with SMDDP's AllReduce was
 * published; NULL: was on all. */
const char *sagemaker_reduce_unmeasured(const struct cluster *c);

/* What keeps SMDDP's AllGather from a job's sharded parameters, before sizes are looked
 * at: instances, their number, or a release that is known and too old ("it needs PyTorch
 * 1.12.1"); NULL: nothing. `smp` is SMP's release, NULL when unknown or not used.
 * Source: developer guide, "Sharded data parallelism", SMDDP-optimized AllGather. */
const char *sagemaker_gather_lacks(const struct cluster *c, const struct software *s,
                                   const char *smp);

#endif
