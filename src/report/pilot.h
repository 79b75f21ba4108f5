/* Which measurement to make before a choice of plans (search/plan/pilot.h). */
#ifndef REPORT_PILOT_H
#define REPORT_PILOT_H

#include "config/contract.h"
#include "search/plan/pilot.h"

#include <stdio.h>

struct report_pilot {
    const struct plan_job *job;
    const struct plan_outcome *outcome;
    const struct plan_pilot *pilot;
    const char *command; /* by which it was asked: "my.json --fix tensor=8" */
};

void report_pilot_text(FILE *out, const struct report_pilot *r);
extern const struct contract report_pilot_contract;

#endif
