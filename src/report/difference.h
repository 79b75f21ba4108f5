/* What makes jobs differ (compare/difference.h), for people and for programs. */
#ifndef REPORT_DIFFERENCE_H
#define REPORT_DIFFERENCE_H

#include "compare/difference.h"
#include "config/contract.h"
#include "draw/draw.h"

#include <jansson.h>
#include <stdio.h>

/* What the time is of. */
enum difference_by { DIFFERENCE_STEP, DIFFERENCE_SAMPLE, DIFFERENCE_TOKEN };
extern const struct name_value difference_by_names[];

/* Two sides, by their names. */
struct difference_view {
    const char *a, *b;
    enum difference_by by;
    const struct difference *d;
    double measured_s[2]; /* of a step of each, by logs of its run; 0: no log */
    const char *of[2];    /* what each is of (provenance_of); NULL: a result */
};

/* The waterfall, whose printed parts sum to the printed difference; both breakdowns;
 * the keys that differ. */
void report_difference_text(FILE *out, const struct difference_view *v);
json_t *report_difference_json(const struct difference_view *v);

/* What --json prints: an array of those. */
struct report_differences {
    json_t *pairs;
};
extern const struct contract report_differences_contract;

/* Seconds of a step, of a thousand samples or of a million tokens. */
double report_difference_time(const struct difference_numbers *n,
                              enum difference_by by);

/* Likewise, of what was measured of a side (0: a, 1: b), which has a log. */
double report_difference_measured(const struct difference_view *v, int side);

/* One pair's waterfall as a figure; of n > 1 pairs with the same first job, all jobs in a
 * row. */
int figure_difference_write(const struct difference_view *v, int32_t n,
                            const struct draw_to *to, struct err *err);

#endif
