/* Figures of a validation, from the JSON that report_validation_json made.
 *
 * One source and quantity: predicted against measured, a point a row, a series a table.
 * Several: how large the errors are, a curve a source and quantity. */
#ifndef REPORT_FIGURE_VALIDATION_H
#define REPORT_FIGURE_VALIDATION_H

#include "base/err.h"
#include "draw/draw.h"

#include <jansson.h>

/* sources: array of sources with their rows. Fails when no row has both values. */
int figure_validation_write(const json_t *sources, const struct draw_to *to,
                            struct err *err);

#endif
