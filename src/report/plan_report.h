/* A plan for people, for programs, and for the framework that is to run it. */
#ifndef REPORT_PLAN_REPORT_H
#define REPORT_PLAN_REPORT_H

#include "draw/draw.h"
#include "search/plan/remedy.h"
#include "search/plan/why.h"

#include <stdio.h>

/* All that is known of a search; `why` and remedies may be NULL. */
struct plan_report {
    const struct plan_job *job;
    const struct plan_options *options;
    const struct plan_outcome *outcome;
    const struct plan_why *why;
    const struct plan_remedy *remedies;
    int32_t n_remedies;
};

void report_plan_text(FILE *out, const struct plan_report *r);

/* What --json prints, as a new tree. */
extern const struct contract report_plan_contract;
json_t *report_plan_json(const struct plan_report *r);

/* Time against cost where clusters differ in price, else against memory: all simulated
 * plans, and the front. Fails when there is no plan. */
int figure_plan_write(const struct plan_report *r, const struct draw_to *to,
                      struct err *err);

#endif
