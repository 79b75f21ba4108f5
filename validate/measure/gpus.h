/* What GPUs and which driver are here, without a CUDA context in this process. */
#ifndef SMSIM_MEASURE_GPUS_H
#define SMSIM_MEASURE_GPUS_H

#include <stddef.h>

/* The number of GPUs; or -1, and in why[size] why there are none. */
int gpus_count(int *n, char *why, size_t size);

/* The driver's version, "unknown" where it does not say. */
void gpus_driver(char *version, size_t size);

#endif
