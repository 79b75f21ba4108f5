/* What `smsim calibrate` found of attention, as text. */
#ifndef REPORT_TEXT_ATTENTION_H
#define REPORT_TEXT_ATTENTION_H

#include "calibrate/calibration.h"

#include <stdio.h>

/* A line of errors and one of constants for each device and software. */
void report_attentions(FILE *out, const struct calibration *c, const struct samples *s);

#endif
