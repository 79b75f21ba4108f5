/* Horovod's variables (docs/tensor-fusion.rst, docs/autotune.rst). */
#ifndef SCENARIO_HOROVOD_ENVIRONMENT_H
#define SCENARIO_HOROVOD_ENVIRONMENT_H

#include "scenario/parse.h"

/* HOROVOD_FUSION_THRESHOLD in bytes (0: nothing is fused) and HOROVOD_CYCLE_TIME in
 * seconds, where the environment has them as they should be (horovod/common/operations.cc,
 * BackgroundThreadLoop); false: it has not. */
bool horovod_fusion_threshold(const struct parse_context *r, int64_t *bytes);
bool horovod_cycle_time(const struct parse_context *r, double *seconds);

/* Rows of the table of variables (scenario/nccl_environment.c): the threshold and the cycle
 * of fusion, the cache of responses, and switches for what is not simulated. */
int horovod_read_threshold(struct parse_context *r, struct cfg c, const char *value);
int horovod_read_cycle(struct parse_context *r, struct cfg c, const char *value);
int horovod_read_cache(struct parse_context *r, struct cfg c, const char *value);
int horovod_read_switch(struct parse_context *r, struct cfg c, const char *value);

#endif
