/* Several GPUs at once: a thread for each, joined by NCCL. */
#ifndef SMSIM_MEASURE_GROUP_H
#define SMSIM_MEASURE_GROUP_H

#include "measure.h"

#include <pthread.h>
#ifndef SMSIM_NO_NCCL
#include <nccl.h>
#endif

enum { GROUP_MOST = 16 };

struct group;

/* One GPU's part; m is its own, with a stream of its own. */
struct member {
    struct measure m;
    struct group *group;
    int rank;
#ifndef SMSIM_NO_NCCL
    ncclComm_t comm;
#endif
    int rc;
};

typedef int member_fn(struct member *member, void *arg);

struct group {
    int n;
    pthread_barrier_t barrier;
    member_fn *run;
    void *arg;
    struct member members[GROUP_MOST];
#ifndef SMSIM_NO_NCCL
    ncclUniqueId id;
#endif
    volatile int failed; /* some member could not start: the others do not wait */
};

/* Opens GPUs 0..n-1, joins them when there are several (or NCCL is asked for), runs,
 * and closes. The first error of a member is put into m. Rank 0 writes rows, to
 * m->rows. */
int group_run(struct measure *m, int n, bool nccl, member_fn *run, void *arg);

void group_wait(struct member *member); /* until all members have come */

#ifndef SMSIM_NO_NCCL
#define TRY_NCCL(m, call)                                                           \
    do {                                                                            \
        ncclResult_t status_ = (call);                                              \
        if (status_ != ncclSuccess)                                                 \
            return measure_fail((m), "%s: %s", #call, ncclGetErrorString(status_)); \
    } while (0)
#endif

#endif
