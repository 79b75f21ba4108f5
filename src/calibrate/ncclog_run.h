/* One run of a program of nccl-tests: what its list of devices and its rows say of the
 * operation, the ranks and the nodes, where the log does not name them. */
#ifndef CALIBRATE_NCCLOG_RUN_H
#define CALIBRATE_NCCLOG_RUN_H

#include "calibrate/ncclog_line.h"
#include "calibrate/samples.h"

enum { NCCLOG_HOSTS_MAX = 4096 };

struct ncclog_run {
    int op;                   /* of the program that was named; NCCLOG_OP_NONE */
    int64_t n_listed;         /* ranks in the list of devices */
    int64_t last_rank;        /* of that list */
    bool is_copied;           /* a rank is listed twice */
    bool has_groups;          /* several groups ran at once */
    int64_t n_ranks, n_nodes; /* of the communicator, as NCCL says; 0 */
    int64_t gpus_per_thread;  /* 0: unknown */
    int64_t n_hosts;
    const char *hosts[NCCLOG_HOSTS_MAX];
    const char *device; /* of the first rank; NULL */
    struct ncclog_columns columns;
    int64_t n_cut, cut_line; /* rows that are not whole, and the first of them */
    int64_t wrong_line;      /* that says that values came out wrong; 0: none */
    VEC(struct ncclog_row) rows;
};

void ncclog_run_init(struct ncclog_run *run);
void ncclog_run_release(struct ncclog_run *run);

/* A rank of the list of devices; host and device may be NULL, and are copied. */
void ncclog_run_rank(struct ncclog_run *run, struct samples *s, int64_t rank,
                     const char *host, const char *device);

/* Hands the rows over to the samples, says so in their notes, and begins anew; a run
 * without rows adds nothing. -1 after reporting. */
int ncclog_run_end(struct ncclog_run *run, struct samples *s, const char *file,
                   const struct samples_hints *hints);

#endif
