/* What calibrate prints of products by device, software and format. */
#ifndef REPORT_TEXT_PRODUCTS_H
#define REPORT_TEXT_PRODUCTS_H

#include "calibrate/calibration.h"

#include <stdio.h>

/* Errors on the half fitted to and on the other, what equal rows differ by, the
 * constants, and whether they are those that are shipped. */
void report_products(FILE *out, const struct calibration *c, const struct samples *s);

#endif
