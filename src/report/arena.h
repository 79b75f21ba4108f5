/* Simulators side by side on the rows of one table (validation/rivals.h). */
#ifndef REPORT_ARENA_H
#define REPORT_ARENA_H

#include "validation/rivals.h"

#include <jansson.h>
#include <stdio.h>

struct arena_side {
    const struct mapping *mapping;
    const struct summary *ours; /* of all rows */
    const struct rivals *rivals;
    const char *tuned; /* what of ours was fitted to the table; NULL: nothing */
    double row_s;      /* CPU time of a row of ours; 0: not asked for */
};

/* Errors of each quantity, order of alternatives, and how each was run. */
void report_arena_text(FILE *out, const struct arena_side *a);

/* Adds them to a source of report_validation_json. */
void report_rivals_add(json_t *source, const struct rivals *r);

void report_claims_text(FILE *out, const struct rival_claims *c);
json_t *report_claims_json(const struct rival_claims *c);

#endif
