/* Steps of a run, the steady ones set apart from the others.
 *
 * Of all kinds of records in the logs, one is used: of those with three or more (else of
 * all), the kind with the best basis, and of these the first of the table of formats.
 * Of progress lines, those of the bar with the steps that the trainer says, else of the
 * longest.
 *
 *   warm-up     records at the begin slower than 1.2 of the median of the later half,
 *               and the first in any case, where there are four or more; of two or
 *               three, the first where it is slower than 1.2 of the others' median
 *   checkpoint, evaluation, pause
 *               slower than 1.1 of the median, after a line that says so
 *   stall       slower than 1.5 of the median, and no line says why
 *   steady      the others */
#ifndef LOGS_STEADY_H
#define LOGS_STEADY_H

#include "logs/logs.h"

enum logs_kind {
    LOGS_STEADY,
    LOGS_WARMUP,
    LOGS_AT_CHECKPOINT,
    LOGS_AT_EVALUATION,
    LOGS_AT_PAUSE,
    LOGS_STALL,
    LOGS_KINDS
};

extern const char *const logs_kind_names[LOGS_KINDS];

/* What a step does, by which rates become times; 0: unknown. */
struct logs_step {
    double samples, tokens, gpus;
    double passes; /* that accumulate gradients */
};

struct logs_part {
    int64_t n;
    double lost_s; /* beyond the median of steady steps, of all of them together */
    double longest_s;
    int64_t first_step, first_line;
};

struct logs_steady {
    int32_t format;    /* -1: no record has a time */
    int64_t n;         /* records of it */
    int64_t n_unknown; /* whose rate is of something that is not known */
    bool few;          /* too few to set any but the first apart */
    bool doubtful;     /* a progress bar's, and no line speaks of training */
    struct logs_part parts[LOGS_KINDS];
    double median_s, p10_s, p90_s, mean_s; /* of steady steps */
    double drift;     /* last third's median over the first's; NAN: too few */
    double total_s;   /* of all records that have numbers of steps */
    double tflops;    /* median of steady ones, as the trainer counts; NAN: not said */
    double loading_s; /* likewise, of a step's wait for data */
};

/* The share of the time after warm-up that steps of a kind lost; 0 of steady ones. */
double logs_steady_lost(const struct logs_steady *s, enum logs_kind kind);

struct logs_steady logs_steady_find(const struct logs *l, const struct logs_step *does);

/* Each record that is used, in order, with its time and kind. */
typedef void logs_steady_fn(void *arg, const struct logs_record *r, double time_s,
                            enum logs_kind kind);
void logs_steady_visit(const struct logs *l, const struct logs_step *does,
                       logs_steady_fn *each, void *arg);

#endif
