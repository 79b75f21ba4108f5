/* The FSDP example of awsome-distributed-training, as its commands start it: `torchrun
 * train.py --hidden_width=4096 --num_layers=32 --model_type=llama_v3
 * --sharding_strategy=full ...`, of Slurm's scripts and of Kubernetes' manifests.
 *
 * Arguments and defaults: 3.test_cases/pytorch/FSDP/src/model_utils/arguments.py,
 * train_utils.py and train.py (aws-samples/awsome-distributed-training, 7217859 of
 * 2026-02; of 2024 its v1.1.0, 3.test_cases/10.FSDP). */
#ifndef DIALECT_AWSFSDP_AWSFSDP_H
#define DIALECT_AWSFSDP_AWSFSDP_H

#include "dialect/dialect.h"

bool awsfsdp_recognises(const struct dialect_input *in);
void awsfsdp_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table awsfsdp_tables[];

#endif
