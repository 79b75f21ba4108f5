/* A step among other jobs on the same fabric (MODEL.md, C21).
 *
 * All jobs are replayed together, the others' steps one after the other. When they began
 * before the step is not known: it is replayed several times, with leads that are evenly
 * spread over their steps, and the means are the result. */
#ifndef SIMULATE_BACKGROUND_H
#define SIMULATE_BACKGROUND_H

#include "run/run.h"
#include "simulate/simulate.h"
#include "step/reps.h"

/* Replays the step of `reps`, built whole and in detail, among the others: *run has the
 * means, *b what they do to it. */
int background_replay(struct run_result *run, struct background_result *b,
                      struct arena *arena, const struct scenario *s,
                      const struct run_request *request, struct err *err);

#endif
