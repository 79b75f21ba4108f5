/* What `smsim calibrate` found of experts, as text. */
#ifndef REPORT_TEXT_EXPERTS_H
#define REPORT_TEXT_EXPERTS_H

#include "calibrate/calibration.h"

#include <stdio.h>

/* A line of errors and one of constants for each device, software and format. */
void report_experts(FILE *out, const struct calibration *c, const struct samples *s);

#endif
