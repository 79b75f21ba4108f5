/* What the files that print a plan share. */
#ifndef REPORT_PLAN_TEXT_H
#define REPORT_PLAN_TEXT_H

#include "report/plan_report.h"
#include "search/plan_front.h"

double plan_usd_per_million(const struct plan_report *r, const struct plan_entry *e);

/* The plans that no other beats in both, where there are two; what all of them have is
 * said once. */
void plan_front_print(FILE *out, const struct plan_report *r, enum plan_axis axis);

#endif
