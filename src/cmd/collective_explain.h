/* What `smsim collective` says in addition to its table: which rings or trees, over
 * which links, which link is the bottleneck; and its figure. */
#ifndef CMD_COLLECTIVE_EXPLAIN_H
#define CMD_COLLECTIVE_EXPLAIN_H

#include "base/vec.h"
#include "cost/collective.h"
#include "draw/draw.h"

struct collective_row {
    double size_B, time_s, algbw_Bps, busbw_Bps;
    struct coll_plan plan;
};

/* The choice and the phases of one size; the ways of its bytes where they are not those
 * of the row before (NULL: none). */
void collective_explain(const struct net *net, const struct collective_row *row,
                        const struct collective_row *before);

/* What one table of one source measured. */
struct collective_table {
    char *name; /* with the version of NCCL where the source says it */
    VEC(double) size_B;
    VEC(double) busbw_Bps;
};

struct collective_points {
    const char *cluster; /* as on the command line */
    enum coll_op op;
    int64_t n_ranks, n_gpus;             /* in all, of each instance */
    VEC(struct collective_table) tables; /* released by collective_points_release */
};

/* Measured points of validate/data for that cluster, operation and number of GPUs. */
void collective_points_find(struct collective_points *p);
void collective_points_release(struct collective_points *p);

/* Bus bandwidth against size. */
struct collective_figure {
    struct draw_to to;
    const struct fabric *fabric; /* NULL: within a node */
    const char *nccl;            /* its version; NULL: the fabric's */
    const struct collective_row *rows;
    int64_t n_rows;
    const struct collective_points *measured;
};

int collective_figure_write(const struct collective_figure *f, struct err *err);

#endif
