/* Settings of PyTorch's caching allocator (PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF):
 * "NAME:VALUE,...". */
#ifndef SCENARIO_ALLOCATOR_ENVIRONMENT_H
#define SCENARIO_ALLOCATOR_ENVIRONMENT_H

#include "scenario/parse.h"

/* expandable_segments acts (software.expandable_segments). Settings that are not
 * simulated are warned of; unknown ones, and values that are none, are errors: -1.
 * Source: PyTorch's c10/core/AllocatorConfig.cpp and notes/cuda.rst. */
int allocator_environment(struct parse_context *r, struct cfg c, const char *value);

#endif
