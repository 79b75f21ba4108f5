/* The journal of a sweep: DIR/journal, a record a line as points are done, appended
 * with one write each, so that a killed sweep loses at most the point it was writing.
 *
 * A shard I of N appends to DIR/journal-I-of-N instead, and any number of shards may
 * share DIR. Whoever resumes reads all journals of DIR, and adds to its own; of those of
 * other shards of N, which have none of its points, it reads what they rest on.
 *
 * A line is JSON, a tab and the hash of the JSON (base/fnv.h) in hexadecimal:
 *     {"smsim_sweep":2,"hash":"...","points":N}      the first: which sweep it is of
 *     {"input":"...","kind":"data","hash":"..."}     what results rest on, before those
 *     {"point":3,...}                                records (sweep/sweep.h)
 *
 * Refused, and left as they are: a file that is no journal, a journal of another sweep,
 * a line whose hash is wrong, and results that rest on another program or on another
 * content of a file than there is now. A last line without its end is one that was
 * being written: it is dropped. A record that ends in "retry" counts for nothing but its
 * error: a resumed sweep runs the point again. */
#ifndef SWEEP_SWEEP_JOURNAL_H
#define SWEEP_SWEEP_JOURNAL_H

#include "base/err.h"
#include "sweep/sweep.h"
#include "sweep/sweep_inputs.h"
#include "sweep/sweep_shard.h"

#include <stdio.h>

struct journal_place {
    int64_t at;
    int32_t len;
    int32_t file; /* 1 + index; 0: no record */
    bool failed, retry;
};

struct sweep_journal {
    const char *dir;
    VEC(FILE *) files; /* the first is our own */
    struct sweep_shard shard;
    struct journal_place *places; /* [sweep_shard_size] of the shard's points */
    int64_t n_points, end;        /* of the sweep; end: of our own file */
    struct sweep_inputs inputs;   /* of all journals */
    VEC(char *) torn;             /* those whose last line was dropped */
};

/* Opens DIR's journal, making DIR where it is missing. Without `resume` there must
 * be no journal of ours. Our journal is locked against other processes until it is
 * closed. */
int sweep_journal_open(struct sweep_journal *j, const struct sweep *s, const char *dir,
                       struct sweep_shard shard, bool resume, struct err *err);
void sweep_journal_close(struct sweep_journal *j);

/* Whether a point of the shard needs not be run (again), and whether it has failed. */
bool sweep_journal_has(const struct sweep_journal *j, int64_t point);
bool sweep_journal_failed(const struct sweep_journal *j, int64_t point);

/* Notes where the record of a point of the shard is. */
void sweep_journal_place(struct sweep_journal *j, int64_t point,
                         struct journal_place place);

/* Appends what is new of the inputs on which the records rest that are added next. -1
 * where one has changed since it was read first. Not for several threads at once. */
int sweep_journal_rest_on(struct sweep_journal *j, const struct sweep_inputs *inputs,
                          struct err *err);

/* Appends a record unless the point has one. Not for several threads at once. */
int sweep_journal_add(struct sweep_journal *j, int64_t point, const char *line,
                      struct err *err);

/* The record of a point of the shard as a new tree; NULL where there is none, or with err set. */
json_t *sweep_journal_get(const struct sweep_journal *j, int64_t point,
                          struct err *err);

/* Brings what was added to the disk. */
int sweep_journal_sync(struct sweep_journal *j, struct err *err);

#endif
