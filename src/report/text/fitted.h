/* What the texts of fitted sets (products, attention, experts, transfers) have in
 * common. */
#ifndef REPORT_TEXT_FITTED_H
#define REPORT_TEXT_FITTED_H

#include "calibrate/calibration.h"

#include <stdio.h>

/* The files of samples, and a line end. */
void fitted_files(FILE *out, const struct samples *s);

/* The head of the columns of fitted_row, without a line end. */
void fitted_head(FILE *out, int width);

/* A set by its name, and its errors; columns may follow. False where nothing was fitted,
 * which is said. */
bool fitted_row(FILE *out, int width, const char *name, const char *why,
                const struct calibration_errors *e);

/* "1.2/3.4 %", what equal rows differ by; "-" without. Into text, which it gives. */
const char *fitted_floor(char text[32], const struct calibration_errors *e);

/* Whether two structs' doubles at these places are the same in a file, which has four
 * digits of each. */
bool fitted_same(const void *a, const void *b, const size_t *at, size_t n);

/* "as shipped", or what else. */
const char *fitted_status(bool is_shipped, bool is_same);

#endif
