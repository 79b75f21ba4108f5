/* Choices under uncertainty, held against measured alternatives: how wide the unknowns of
 * risk/risk.h are by the rows of all tables, and whether probabilities that follow are
 * right.
 *
 * A source is a system: what its rows share (its network, its kernels, its host) shows
 * how far these may be off on the next one. The widths are fitted by sources:
 *     resources    the logarithm of measured over predicted time, of a row, is the sum
 *                  of effects of its source on each resource times the resource's share
 *                  of the step, and a rest: a random-effects model, by EM (Laird, Ware
 *                  1982)
 *     own          the rests of alternatives for one job about their median: 1.4826 times
 *                  the median of their sizes, root mean square over sources
 *     slow         rows beyond three of these on the slow side: their share, their mean
 *                  excess; mean over sources
 *     memory       maximum likelihood of a mean, of what sources and of what rows are off,
 *                  of rows predicted to take half of the GPU and more: by measured bytes,
 *                  else by whether the run failed or not; one row in twenty shows nothing
 * Each source counts as much as any other (of memory, with 50 rows and more). A source left out has no part in the widths
 * that it is judged by. */
#ifndef VALIDATION_CHOICES_H
#define VALIDATION_CHOICES_H

#include "base/arena.h"
#include "base/vec.h"
#include "risk/risk.h"
#include "validation/run.h"

enum choices_ran { CHOICES_NOT_SAID, CHOICES_RAN, CHOICES_FAILED };

struct choices_row {
    int32_t source, job;    /* indices; job -1: no alternatives to it */
    bool has_time, outlier; /* outlier: no part in errors, but in choices */
    double error;           /* log of measured over predicted time */
    bool has_memory;
    double memory_error; /* log likewise */
    enum choices_ran
        ran; /* not said, too, where a larger run that ran outdoes a failure */
    bool has_rate;
    double rate_measured, rate_predicted; /* 0: does not run */
    struct risk_plan plan;                /* its value is seconds a token */
};

/* An outcome of a scenario as a plan, its value seconds a token. */
struct risk_plan choices_plan_of(const struct mapping_outcome *o);

struct choices_rows {
    struct arena *arena;
    VEC(const char *) sources;
    int32_t n_jobs;
    VEC(struct choices_row) list;
};

void choices_rows_init(struct choices_rows *rows, struct arena *arena);
void choices_rows_release(struct choices_rows *rows);

/* Adds the rows of a run of scenarios. */
void choices_rows_add(struct choices_rows *rows, const struct mapping_run *run);

/* The widths that the rows of all sources but `without` (-1: none) say. Of too few
 * sources (fewer than two) those in use. O(rows). */
struct risk_widths choices_fit(const struct choices_rows *rows, int32_t without);

/* Those of memory alone: what choices_fit calls. O(rows). */
void choices_fit_memory(const struct choices_rows *rows, int32_t without,
                        struct risk_widths *w);

enum { CHOICES_BINS = 10, CHOICES_RULES = RISK_MINIMAX + 1 };

/* How often what was stated with a probability of this bin came true. */
struct choices_bin {
    int64_t n, n_true;
    double stated; /* their mean probability */
};

/* Adds one that was stated with that probability; adds the bins of others. */
void choices_bins_put(struct choices_bin bins[CHOICES_BINS], double p, bool is_true);
void choices_bins_add(struct choices_bin to[CHOICES_BINS],
                      const struct choices_bin from[CHOICES_BINS]);

/* Of jobs with measured alternatives; sums over jobs. Brier: of the squares of
 * probability less outcome (1 of the best measured, else 0) over the alternatives: 0 is
 * right, 2 is sure and wrong. Regrets are shares of the best measured throughput. */
struct choices_score {
    int64_t n_jobs, n;
    double brier, brier_uniform, brier_point;
    double
        regret[CHOICES_RULES]; /* of the first choice by each rule; none: the point's */
    double expected;           /* regret of the choice by the mean, as stated */
    struct choices_bin bins[CHOICES_BINS]; /* that a plan is the best */
};

/* The jobs of a source as these widths see them. */
struct choices_score choices_judge(const struct choices_rows *rows, int32_t source,
                                   const struct risk_widths *w);
void choices_add(struct choices_score *to, const struct choices_score *s);

/* Regrets of choices after 0, 1, ... measurements of a step each (risk/pilot.h): of the
 * alternative that is worth most, and of random ones, mean of several orders. Sums over
 * jobs with more alternatives than that; runs that failed are left out. */
enum { CHOICES_PILOTS = 3 };
struct choices_replay {
    int64_t n_jobs;
    double useful[CHOICES_PILOTS + 1], random[CHOICES_PILOTS + 1];
};

/* Adds the jobs of a source as these widths see them. */
void choices_pilot(struct choices_replay *to, const struct choices_rows *rows,
                   int32_t source, const struct risk_widths *w);

/* Adds the runs of a source, where it reports failures, that are predicted to take half of
 * the GPU and more: the chance that such a plan does not fit, and whether the run failed.
 * O(rows). */
void choices_judge_memory(struct choices_bin bins[CHOICES_BINS],
                          const struct choices_rows *rows, int32_t source,
                          const struct risk_widths *w);

/* Bounds of a share that n_true of n were: the interval that holds it with 90 % (Clopper,
 * Pearson 1934). */
void choices_bounds(const struct choices_bin *b, double *low, double *high);

#endif
