/* Sweeps over the ranks of mpirun: rank 0 keeps the journal and hands out points in
 * small batches to whoever is free (sweep_hub.h); the others simulate. Points of a rank
 * that does not answer any more are run by others, where mpirun lets the others go on
 * (Open MPI: --enable-recovery); it is not waited for in the end. Compiled without SMSIM_MPI
 * these functions know of one rank only, and refuse to run under mpirun. */
#ifndef SWEEP_SWEEP_MPI_H
#define SWEEP_SWEEP_MPI_H

#include "sweep/sweep_run.h"

struct sweep_ranks {
    int rank, n; /* 0 of 1 without mpirun */
    int n_lost;  /* that did not answer in the end; on rank 0 */
};

/* Before anything else; under mpirun only, MPI is started. */
int sweep_mpi_start(struct sweep_ranks *ranks, struct err *err);
/* Status: that the program ends with, where ranks were lost. */
void sweep_mpi_stop(const struct sweep_ranks *ranks, int status);

/* Whether all ranks are well: each says so of itself. */
bool sweep_mpi_agree(const struct sweep_ranks *ranks, bool well);

/* sweep_run over all ranks; all of them call it. With one rank it is sweep_run. */
int sweep_mpi_run(struct sweep_ranks *ranks, const struct sweep_run *r,
                  struct err *err);

#endif
