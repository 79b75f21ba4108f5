/* What a sweep writes: DIR/points.jsonl, DIR/points.csv, and a summary in text.
 *
 * JSON Lines: the records of sweep/sweep.h in the order of the points. CSV: a line a
 * point with the columns "point", the paths of the axes, the outputs, "error"; a value
 * that is no number or text is its label, or JSON. Both appear whole or not at all. */
#ifndef REPORT_SWEEP_TABLE_H
#define REPORT_SWEEP_TABLE_H

#include "sweep/sweep_journal.h"

#include <stdio.h>

struct sweep_summary {
    int64_t n_written, n_failed; /* points in the files; of them with an error */
    int64_t n_unfit;    /* written that do not fit in memory, where it is known */
    int64_t n_excluded; /* by comparisons of axes: not simulated */
    int64_t n_left_out; /* after simulating */
    int64_t first_failed;
    char *first_error; /* NULL: none */
    json_t *warnings;  /* an array of distinct ones (config/diag.h) */
};

/* Called with each record that is written, in order. */
typedef void sweep_record_fn(void *arg, int64_t point, json_t *record);

/* Writes both files from the journal, which has all points. */
int report_sweep_write(const struct sweep *s, const struct sweep_journal *j,
                       struct sweep_summary *sum, sweep_record_fn *each, void *arg,
                       struct err *err);
void sweep_summary_release(struct sweep_summary *sum);

/* What figures call the value of an axis; NULL: it has no label. */
const char *report_sweep_label(const struct sweep_field *f, const json_t *v);

void report_sweep_text(FILE *out, const struct sweep *s,
                       const struct sweep_summary *sum);

#endif
