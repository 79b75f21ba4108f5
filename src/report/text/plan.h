/* What the files that print a plan share. */
#ifndef REPORT_TEXT_PLAN_H
#define REPORT_TEXT_PLAN_H

#include "report/plan_report.h"
#include "search/plan/front.h"

double plan_usd_per_million(const struct plan_report *r, const struct plan_entry *e);

/* Writes USD with the place that `format` has for a text; "-" where they are not known. */
void plan_usd_print(FILE *out, const char *format, double usd);

/* A row of the plans, with what is not known of it. */
void plan_risky_print(FILE *out, const struct plan_report *r, int32_t rank,
                      const struct plan_entry *e);

/* Below those rows: what their columns are, and what makes another plan better than the
 * first. */
void plan_risk_print(FILE *out, const struct plan_report *r);

/* Where the best plan's step goes, what more of each resource would give, and plans that
 * are one change away. */
void plan_why_print(FILE *out, const struct plan_report *r);

/* The plans that no other beats in both, where there are two; what all of them have is
 * said once. */
void plan_front_print(FILE *out, const struct plan_report *r, enum plan_axis axis);

#endif
