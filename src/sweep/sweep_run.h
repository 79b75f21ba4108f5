/* Runs the points of a sweep that its journal lacks, on all cores of this machine and,
 * under mpirun, of all ranks. Records do not depend on how many there are. */
#ifndef SWEEP_SWEEP_RUN_H
#define SWEEP_SWEEP_RUN_H

#include "sweep/sweep_journal.h"

/* Called as points are done, by one thread at a time. */
typedef void sweep_progress_fn(void *arg, int64_t done, int64_t total);

struct sweep_run {
    const struct sweep *sweep;
    struct sweep_journal *journal; /* NULL on ranks other than 0 */
    struct sweep_shard shard;
    int jobs;                    /* threads; 0: all cores */
    sweep_progress_fn *progress; /* may be NULL */
    void *progress_arg;
};

/* The points to be run, in order: wanted, of this shard, and not in the journal. */
struct sweep_todo {
    int64_t n;
    int64_t *points;
};

/* The shard's points that the journal lacks and comparisons of axes let through. */
void sweep_todo_make(struct sweep_todo *todo, const struct sweep_run *r);
void sweep_todo_release(struct sweep_todo *todo);

/* Runs them; -1 when the journal could not be written. */
int sweep_run(const struct sweep_run *r, struct err *err);

#endif
