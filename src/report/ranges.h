/* Stated ranges of step times against what was measured, as text and JSON. */
#ifndef REPORT_RANGES_H
#define REPORT_RANGES_H

#include "validation/ranges.h"

#include <stdio.h>

struct ranges_report {
    struct ranges left_out;  /* each source by what the others say */
    struct ranges unfitted;  /* rows that no prediction was fitted to */
    struct interval_law law; /* that all say */
};

extern const struct contract_object report_ranges_contract;

void report_ranges_text(FILE *out, const struct ranges_report *r);
json_t *report_ranges_json(const struct ranges_report *r);

#endif
