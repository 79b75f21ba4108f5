/* Time of one product as software that was measured runs it: the product, what its
 * benchmark's repetitions cost, quantization, and the host. MODEL.md (3.16) to (3.18).
 * Pure functions. */
#ifndef COST_PRODUCT_H
#define COST_PRODUCT_H

#include "hardware/product.h"

/* C[m,n] = A[m,k] B[k,n] in the product's format, from A in 16 bits where the product
 * quantizes. `loop`: repeated by a benchmark, so that the power limit is felt.
 * Seconds. */
double product_s(const struct gpu *gpu, const struct product *p, int64_t m, int64_t n,
                 int64_t k, bool loop);

#endif
