/* Dispatch and combine by device and software as `smsim calibrate` prints them. */
#ifndef REPORT_TEXT_TRANSFER_H
#define REPORT_TEXT_TRANSFER_H

#include "calibrate/calibration.h"

#include <stdio.h>

void report_transfers(FILE *out, const struct calibration *c, const struct samples *s);

#endif
