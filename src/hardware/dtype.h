/* Number formats of arithmetic and storage. */
#ifndef HARDWARE_DTYPE_H
#define HARDWARE_DTYPE_H

#include "base/names.h"

#include <stdbool.h>

/* The last ones have scales: one a tensor, one for 128 elements, for 32, for 16. */
enum dtype {
    DTYPE_FP32,
    DTYPE_TF32,
    DTYPE_FP16,
    DTYPE_BF16,
    DTYPE_FP8,
    DTYPE_FP8_BLOCK,
    DTYPE_MXFP8,
    DTYPE_NVFP4,
    DTYPE_N
};

extern const struct name_value dtype_names[];

int dtype_bytes(enum dtype t); /* bytes an element takes in memory, rounded up; tf32
                                  takes 4 */

/* The same with its share of a scale, not rounded. */
double dtype_element_B(enum dtype t);

/* Formats of fewer than 16 bits, which operands of products are quantized to. */
bool dtype_is_quantized(enum dtype t);

/* The format in whose multipliers it is computed: those of fp8 serve its blocks. */
enum dtype dtype_rate_of(enum dtype t);

#endif
