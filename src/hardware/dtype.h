/* Number formats of arithmetic and storage. */
#ifndef HARDWARE_DTYPE_H
#define HARDWARE_DTYPE_H

#include "base/names.h"

enum dtype { DTYPE_FP32, DTYPE_TF32, DTYPE_FP16, DTYPE_BF16, DTYPE_FP8, DTYPE_N };

extern const struct name_value dtype_names[];

int dtype_bytes(enum dtype t); /* bytes an element takes in memory; tf32 takes 4 */

#endif
