#include "step/syncs.h"

#include "base/units.h"

/* What a task after collectives comes after. */
struct trail {
    int32_t kernel; /* the last of the compute stream; -1: none */
    int32_t sync;   /* the last collective, as syncs_find has it */
};

static struct trail later(struct trail a, struct trail b)
{
    if (a.kernel != b.kernel)
        return a.kernel > b.kernel ? a : b;
    return a.sync != SYNC_NONE ? a : b;
}

static struct trail trail_of(const struct program *p, const struct trail *trails,
                             int32_t task)
{
    if (task < 0)
        return (struct trail) { -1, SYNC_NONE };
    if (p->tasks.v[task].stream == STREAM_COMPUTE)
        return (struct trail) { task, SYNC_NONE };
    return trails[task];
}

/* [comms] how long each takes by itself; UNKNOWN until it is asked for. */
enum { UNKNOWN = -1 };
static int64_t alone_ps(const struct program *p, const struct net *net, int64_t *known,
                        int32_t comm)
{
    if (known[comm] == UNKNOWN)
        known[comm] = units_ps(coll_plan_time_s(p->comms.v[comm].plan, net));
    return known[comm];
}

/* Whether a task begins before the kernels since those that a collective waited for
 * have taken longer than it. */
static bool is_tight(const struct program *p, const struct net *net, struct trail at,
                     const int64_t *until_ps, int32_t task, int64_t *known)
{
    if (at.sync == SYNC_NONE)
        return false;
    int64_t meanwhile_ps = until_ps[task] - until_ps[at.kernel + 1];
    return at.sync == SYNC_FUSION || meanwhile_ps <= alone_ps(p, net, known, at.sync);
}

/* A task of another stream than the compute stream. */
static struct trail follow(const struct program *p, const struct trail *trails,
                           struct trail before, int32_t index, int32_t kernel)
{
    const struct task *t = &p->tasks.v[index];
    struct trail at =
        later(trail_of(p, trails, t->after[0]), trail_of(p, trails, t->after[1]));
    at = later(at, before);
    if (t->comm >= 0)
        at.sync = t->comm;
    return t->fusion >= 0 ? (struct trail) { kernel, SYNC_FUSION } : at;
}

int32_t *syncs_find(const struct program *p, const struct net *net)
{
    size_t n = (size_t)p->tasks.n;
    const struct trail none = { -1, SYNC_NONE };
    int32_t *syncs = xmalloc((n + 1) * sizeof(*syncs)), kernel = -1;
    int64_t *until_ps = xcalloc(n + 1, sizeof(*until_ps)); /* kernels before a task */
    int64_t *known = xmalloc(((size_t)p->comms.n + 1) * sizeof(*known));
    struct trail *trails = xcalloc(n + 1, sizeof(*trails)), ends[STREAM_N];
    struct trail awaited = none;
    for (int s = 0; s < STREAM_N; s++)
        ends[s] = none;
    for (int64_t i = 0; i < p->comms.n; i++)
        known[i] = UNKNOWN;
    for (int32_t i = 0; i < p->tasks.n; i++) {
        const struct task *t = &p->tasks.v[i];
        bool computes = t->stream == STREAM_COMPUTE;
        syncs[i] = SYNC_NONE;
        until_ps[i + 1] = until_ps[i] + (computes ? t->alone_ps : 0);
        if (computes) {
            struct trail at = later(later(trail_of(p, trails, t->after[0]),
                                          trail_of(p, trails, t->after[1])),
                                    awaited);
            syncs[i] = is_tight(p, net, at, until_ps, i, known) ? at.sync : SYNC_NONE;
            awaited = none;
            kernel = i;
            continue;
        }
        trails[i] = ends[t->stream] = follow(p, trails, ends[t->stream], i, kernel);
        if (t->sync) /* the host waits, and all it issues later */
            awaited = trails[i];
    }
    free(known);
    free(until_ps);
    free(trails);
    return syncs;
}
