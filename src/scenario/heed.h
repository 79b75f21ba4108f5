/* Fields that act only where something is there to heed them. */
#ifndef SCENARIO_HEED_H
#define SCENARIO_HEED_H

#include <stdint.h>

/* The i-th condition under which the field at a pointer is without effect ("there is
 * one pipeline stage"), in the order in which they are asked; NULL after the last. */
const char *heed_reason(const char *field, int32_t i);

#endif
