/* The journal of a sweep: DIR/journal, a record a line as points are done, appended
 * with one write each, so that a killed sweep loses at most the point it was writing.
 *
 * A shard I of N appends to DIR/journal-I-of-N instead, and any number of shards may
 * share DIR. Whoever resumes reads all journals of DIR, and adds to its own. The first
 * line names the sweep's hash: a journal of another sweep is refused. A last line
 * without its end is one that was being written, and does not count. */
#ifndef SWEEP_SWEEP_JOURNAL_H
#define SWEEP_SWEEP_JOURNAL_H

#include "base/err.h"
#include "sweep/sweep.h"

#include <stdio.h>

struct sweep_shard {
    int64_t index, count; /* 1..count; count 1: the whole sweep */
};

struct journal_place {
    int64_t at;
    int32_t len;
    int32_t file; /* 1 + index; 0: no record */
};

struct sweep_journal {
    const char *dir;
    VEC(FILE *) files;            /* the first is our own */
    struct journal_place *places; /* [n_points] */
    int64_t n_points, end;        /* end: of our own file */
};

/* Opens DIR's journal, making DIR where it is missing. Without `resume` there must
 * be no journal of ours. Our journal is locked against other processes until it is
 * closed. */
int sweep_journal_open(struct sweep_journal *j, const struct sweep *s, const char *dir,
                       struct sweep_shard shard, bool resume, struct err *err);
void sweep_journal_close(struct sweep_journal *j);

bool sweep_journal_has(const struct sweep_journal *j, int64_t point);

/* Appends a record unless the point has one. Not for several threads at once. */
int sweep_journal_add(struct sweep_journal *j, int64_t point, const char *line,
                      struct err *err);

/* The record of a point as a new tree; NULL where there is none, or with err set. */
json_t *sweep_journal_get(const struct sweep_journal *j, int64_t point,
                          struct err *err);

/* Brings what was added to the disk. */
int sweep_journal_sync(struct sweep_journal *j, struct err *err);

#endif
