/* Steps that were run, compared with those predicted, for people, programs and the
 * eye. */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "draw/draw.h"
#include "validation/compare.h"

/* A table a step: operators, then passes, update, communication, step, memory. */
void report_compare_text(FILE *out, const struct comparisons *all);

extern const struct contract report_compare_contract;
json_t *report_compare_json(const struct comparisons *all,
                            const struct diags *warnings);

/* Predicted against measured times of operators and steps. */
int figure_compare_write(const struct comparisons *all, const struct draw_to *to,
                         struct err *err);

#endif
