/* Choices under uncertainty as text and JSON. */
#ifndef REPORT_CHOICES_H
#define REPORT_CHOICES_H

#include "validation/choices.h"

#include <jansson.h>
#include <stdio.h>

/* A source whose jobs were judged by widths of the others. */
struct choices_line {
    const char *source;
    struct choices_score score;
};

struct choices_report {
    int32_t n;
    struct choices_line *lines; /* sources that have jobs */
    struct choices_score all;
    struct risk_widths widths; /* of all sources */
    /* That plans do not fit: by widths of the other sources, and by those in use. */
    struct choices_bin unfit[CHOICES_BINS], unfit_in_use[CHOICES_BINS];
    struct choices_replay pilot;
};

extern const struct contract_object report_choices_contract;

void report_choices_text(FILE *out, const struct choices_report *r);
json_t *report_choices_json(const struct choices_report *r);

#endif
