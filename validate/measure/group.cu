#include "group.h"

#include <stdlib.h>
#include <string.h>

void group_wait(struct member *member)
{
    pthread_barrier_wait(&member->group->barrier);
}

static int join(struct member *w, bool nccl)
{
    if (!nccl)
        return 0;
#ifdef SMSIM_NO_NCCL
    return measure_fail(&w->m, "built without NCCL");
#else
    TRY_NCCL(&w->m, ncclCommInitRank(&w->comm, w->group->n, w->group->id, w->rank));
    return 0;
#endif
}

struct started {
    struct member *member;
    bool nccl;
};

static void *run_member(void *arg)
{
    struct started *s = (struct started *)arg;
    struct member *w = s->member;
    struct group *g = w->group;
    w->rc = measure_open(&w->m);
    if (w->rc)
        g->failed = 1;
    group_wait(w);
    if (g->failed)
        return NULL;
    w->rc = join(w, s->nccl);
    if (w->rc)
        g->failed = 1;
    group_wait(w);
    if (!g->failed)
        w->rc = g->run(w, g->arg);
#ifndef SMSIM_NO_NCCL
    if (w->comm)
        ncclCommDestroy(w->comm);
#endif
    measure_close(&w->m);
    return NULL;
}

static int run_all(struct group *g, bool nccl)
{
    pthread_t threads[GROUP_MOST];
    struct started started[GROUP_MOST];
    int rc = 0;
    for (int i = 0; i < g->n; i++) {
        started[i].member = &g->members[i];
        started[i].nccl = nccl;
        if (pthread_create(&threads[i], NULL, run_member, &started[i]))
            abort(); /* the others would wait for it for ever */
    }
    for (int i = 0; i < g->n; i++) {
        pthread_join(threads[i], NULL);
        rc |= g->members[i].rc;
    }
    return rc ? -1 : 0;
}

int group_run(struct measure *m, int n, bool nccl, member_fn *run, void *arg)
{
    struct group *g = (struct group *)calloc(1, sizeof(*g));
    if (!g || n > GROUP_MOST) {
        free(g);
        return measure_fail(m, "cannot run a group of %d GPUs", n);
    }
    g->n = n;
    g->run = run;
    g->arg = arg;
#ifndef SMSIM_NO_NCCL
    if (nccl && ncclGetUniqueId(&g->id) != ncclSuccess) {
        free(g);
        return measure_fail(m, "ncclGetUniqueId failed");
    }
#endif
    pthread_barrier_init(&g->barrier, NULL, (unsigned int)n);
    for (int i = 0; i < n; i++) {
        struct member *w = &g->members[i];
        w->m = *m;
        w->m.stream = NULL;
        w->m.blas = NULL;
        w->m.workspace = NULL;
        w->m.device = i;
        w->group = g;
        w->rank = i;
    }
    int rc = run_all(g, nccl);
    for (int i = 0; i < n; i++)
        if (g->members[i].m.error[0])
            measure_fail(m, "gpu%d: %s", i, g->members[i].m.error);
    pthread_barrier_destroy(&g->barrier);
    free(g);
    return rc;
}
