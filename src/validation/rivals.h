/* What other simulators predict for the rows of a table: validate/arena.
 *
 *   validate/arena/NAME.json         the simulator: name, version, source; by table how
 *                                    it was run and whether its makers tuned to the rows
 *   validate/arena/NAME/TABLE.csv    row,seconds[,bytes]: the row as `validate --rows`
 *                                    names it, its step time, its memory on a GPU
 *
 * Rows of equal names are taken in the order of both tables. A simulator's predictions
 * take the place of ours in a copy of the run, so that errors, order and regret are
 * computed alike (validation/summary.h). */
#ifndef VALIDATION_RIVALS_H
#define VALIDATION_RIVALS_H

#include "validation/run.h"
#include "validation/summary.h"

/* An error that a publication states, which is not computed here. */
struct rival_claim {
    const char *name, *source; /* whose */
    const char *what;
    double mean_error;
};

/* One simulator on one table. */
struct rival {
    const char *name, *version, *source;
    const char *how;        /* NULL: not said */
    const char *tuned;      /* why its makers are known to have tuned to it; NULL */
    double row_s;           /* CPU time of a row; 0: not said */
    int64_t n_elsewhere;    /* its rows that the table has not */
    struct mapping_run run; /* rows without a prediction of its have failed */
    struct summary summary;
    struct summary ours; /* of the same rows */
};

struct rivals {
    int64_t n;
    struct rival *v;
};

/* Whether some simulator of validate/arena has the table of that name. */
bool rivals_known(struct cfg_loader *loader, const char *table);

/* The simulators of validate/arena that have the table of the run; memory lives in the
 * arena. -1 when a file is wrong, which is reported to the loader. */
int rivals_load(struct rivals *r, struct cfg_loader *loader, struct arena *arena,
                const struct mapping_run *run);

/* Another one, of a file row,seconds[,bytes] of the user's. */
int rivals_add(struct rivals *r, struct cfg_loader *loader, struct arena *arena,
               const struct mapping_run *run, const char *file);

struct rival_claims {
    int64_t n;
    struct rival_claim *v;
};

/* All claims of validate/arena; likewise. */
int rivals_claims(struct rival_claims *c, struct cfg_loader *loader,
                  struct arena *arena);

#endif
