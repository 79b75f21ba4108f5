/* What a run of a mapping comes to: error statistics of every measured quantity, over
 * all rows and per table and band, and how well the predicted order of alternatives
 * serves who chooses by it. Rows that failed have no error to count; they are counted
 * in struct mapping_run. */
#ifndef VALIDATION_SUMMARY_H
#define VALIDATION_SUMMARY_H

#include "validation/run.h"
#include "validation/stats.h"

struct summary_metric {
    const char *key;
    struct stats stats;
    struct stats equal; /* what rows that should be equal differ by; n 0: none are */
};

struct summary_metrics {
    int32_t n;
    struct summary_metric *v; /* in the order of the mapping */
};

struct summary_band {
    const char *table; /* NULL: not by table */
    double from, to;   /* from <= value < to; infinite at the ends */
    struct summary_metrics metrics;
};

/* Rows of which something says whether they ran, by what is predicted. */
struct summary_verdicts {
    int64_t ran_fits, ran_not, failed_fits, failed_not;
    int64_t failed_refused; /* by a rule, before memory is looked at */
    int64_t outdone_fits,
        outdone_not; /* of the failed: those that runs as large outdo */
};

struct summary {
    struct summary_metrics metrics;
    int32_t n_bands; /* those that hold rows, tables in order of appearance */
    struct summary_band *bands;
    struct summary_verdicts verdicts;
    int64_t n_groups; /* of at least two alternatives, in order of appearance */
    const char **group_names;
    struct ranking *rankings;
};

/* Memory lives in the arena. O(rows log rows), and rows x bands. */
void summary_make(struct summary *s, struct arena *arena,
                  const struct mapping_run *run);

#endif
