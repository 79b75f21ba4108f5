/* What tests of emitted files stand on: a scenario is written in a dialect, read back as
 * the file's own header says, and held against the scenario. */
#ifndef TESTS_EMIT_BENCH_H
#define TESTS_EMIT_BENCH_H

#include "dialect/dialect.h"
#include "dialect/emit/emit_scenario.h"

/* What a job comes to: its step, and what lies beyond it where the scenario says. */
struct emit_numbers {
    double step_s, peak_B, billed_hours; /* 0 hours: of no job */
};

enum { EMIT_DIALECTS_MAX = 32 };

/* How many files were read back as the same job, by the number of the dialect, and how
 * many were refused. */
struct emit_tally {
    int same[EMIT_DIALECTS_MAX], refused, simulated;
    int launchers;             /* files that do not start a job as it was planned */
    struct cfg_loader *shared; /* lends the files of a space; NULL: none */
};

struct emit_numbers emit_numbers(const struct scenario *s);

/* All dialects of a scenario that was read from `root`. Where `wanted` is NULL, those
 * that resolve to the same scenario, byte by byte, are not simulated. */
void emit_check(struct emit_tally *t, const struct scenario *s, struct cfg root,
                const struct emit_numbers *wanted);

/* The same of a dialect by its word of --emit. */
int emit_same_as(const struct emit_tally *t, const char *name);

#endif
