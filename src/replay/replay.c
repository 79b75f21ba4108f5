#include "replay/replay.h"

#include "base/xmalloc.h"
#include "replay/replay_network.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What ranks meet for: the nth collective of a group, the nth message of a pair. */
struct meeting_key {
    int64_t group, from, to, tag, number; /* group -2: a message */
};

struct meeting {
    struct meeting_key key;
    int64_t here, wanted, first; /* nodes that are ready, and the list of them */
    double start_s;
    UT_hash_handle hh;
};

struct run {
    const struct chakra_trace *t;
    struct replay_network net;
    double *start_s, *end_s;             /* [nodes] */
    int64_t *waits;                      /* [nodes] of what they follow, not yet done */
    int64_t *next_here;                  /* [nodes] others of a meeting; -1 */
    int64_t *followers, *first_follower; /* [deps], [nodes + 1] */
    int64_t *ready, n_ready, n_done;
    struct meeting **meets; /* [nodes]; NULL: it computes */
    struct meeting *meetings;
    struct replay_result *r;
    struct err *err;
};

/* Meetings ------------------------------------------------------------------------- */

static struct meeting *meeting_at(struct run *w, const struct meeting_key *key,
                                  int64_t wanted)
{
    struct meeting *m;
    HASH_FIND(hh, w->meetings, key, sizeof(*key), m);
    if (!m) {
        m = xcalloc(1, sizeof(*m));
        m->key = *key;
        m->wanted = wanted;
        m->first = -1;
        HASH_ADD(hh, w->meetings, key, sizeof(*key), m);
    }
    return m;
}

/* Collectives and messages are counted in the order of a rank's file. */
struct counted {
    struct meeting_key key; /* number: 0; rank and direction in it */
    int64_t n;
    UT_hash_handle hh;
};

static int64_t count_one(struct counted **of, const struct meeting_key *key)
{
    struct counted *c;
    HASH_FIND(hh, *of, key, sizeof(*key), c);
    if (!c) {
        c = xcalloc(1, sizeof(*c));
        c->key = *key;
        HASH_ADD(hh, *of, key, sizeof(*key), c);
    }
    return c->n++;
}

static void find_meetings(struct run *w)
{
    struct counted *counts = NULL, *c, *next;
    for (int64_t i = 0; i < w->t->nodes.n; i++) {
        const struct chakra_node *n = &w->t->nodes.v[i];
        struct meeting_key key;
        memset(&key, 0, sizeof(key));
        bool collective = n->kind == CHAKRA_NODE_COLLECTIVE;
        if (n->kind == CHAKRA_NODE_COMPUTE)
            continue;
        key.group = collective ? n->group : -2;
        key.from = collective ? 0 : n->from;
        key.to = collective ? 0 : n->to;
        key.tag = collective ? 0 : n->tag;
        key.number = -1 - n->rank * 2 - (n->kind == CHAKRA_NODE_SEND); /* whose count */
        key.number = count_one(&counts, &key);
        int64_t wanted = !collective    ? 2
                         : n->group < 0 ? w->t->n_ranks
                                        : w->t->groups.v[n->group].ranks.n;
        w->meets[i] = meeting_at(w, &key, wanted);
    }
    HASH_ITER(hh, counts, c, next)
    {
        HASH_DELETE(hh, counts, c);
        free(c);
    }
}

/* The graph ------------------------------------------------------------------------ */

static void find_followers(struct run *w)
{
    const struct chakra_trace *t = w->t;
    for (int64_t i = 0; i < t->nodes.n; i++)
        for (int32_t k = 0; k < t->nodes.v[i].n_deps; k++)
            w->first_follower[t->deps.v[t->nodes.v[i].first_dep + k] + 1]++;
    for (int64_t i = 0; i < t->nodes.n; i++)
        w->first_follower[i + 1] += w->first_follower[i];
    int64_t *at = xmalloc(((size_t)t->nodes.n + 1) * sizeof(*at));
    memcpy(at, w->first_follower, ((size_t)t->nodes.n + 1) * sizeof(*at));
    for (int64_t i = 0; i < t->nodes.n; i++) {
        const struct chakra_node *n = &t->nodes.v[i];
        w->waits[i] = n->n_deps;
        for (int32_t k = 0; k < n->n_deps; k++)
            w->followers[at[t->deps.v[n->first_dep + k]]++] = i;
    }
    free(at);
}

static void node_done(struct run *w, int64_t i, double end_s)
{
    w->end_s[i] = end_s;
    w->n_done++;
    for (int64_t k = w->first_follower[i]; k < w->first_follower[i + 1]; k++) {
        int64_t f = w->followers[k];
        w->start_s[f] = fmax(w->start_s[f], end_s);
        if (--w->waits[f] == 0)
            w->ready[w->n_ready++] = f;
    }
}

static int meet(struct run *w, int64_t i)
{
    const struct chakra_node *n = &w->t->nodes.v[i];
    struct meeting *m = w->meets[i];
    double time_s;
    if (m->first >= 0 && (w->t->nodes.v[m->first].bytes != n->bytes ||
                          w->t->nodes.v[m->first].op != n->op))
        return err_set(w->err,
                       "ranks %d and %d of the trace meet for different collectives",
                       w->t->nodes.v[m->first].rank, n->rank);
    w->next_here[i] = m->first;
    m->first = i;
    m->start_s = fmax(m->start_s, w->start_s[i]);
    if (++m->here < m->wanted)
        return 0;
    if (replay_time_s(&time_s, &w->net, n, w->err))
        return -1;
    bool collective = n->kind == CHAKRA_NODE_COLLECTIVE;
    w->r->n_collectives += collective;
    w->r->n_messages += !collective;
    w->r->collective_s += collective ? time_s : 0;
    for (int64_t k = m->first; k >= 0; k = w->next_here[k])
        node_done(w, k, m->start_s + time_s);
    return 0;
}

static int run_all(struct run *w)
{
    for (int64_t i = 0; i < w->t->nodes.n; i++)
        if (w->waits[i] == 0)
            w->ready[w->n_ready++] = i;
    for (int64_t k = 0; k < w->n_ready; k++) {
        int64_t i = w->ready[k];
        if (!w->meets[i])
            node_done(w, i, w->start_s[i] + w->t->nodes.v[i].time_s);
        else if (meet(w, i))
            return -1;
    }
    if (w->n_done < w->t->nodes.n)
        return err_set(w->err,
                       "%" PRId64 " of %" PRId64 " nodes of the trace never begin: a "
                       "collective or message lacks ranks, or nodes follow each other",
                       w->t->nodes.n - w->n_done, w->t->nodes.n);
    return 0;
}

/* Of the rank that ends last ------------------------------------------------------- */

struct interval {
    double from_s, to_s;
};

static int by_begin(const void *a, const void *b)
{
    double x = ((const struct interval *)a)->from_s,
           y = ((const struct interval *)b)->from_s;
    return (x > y) - (x < y);
}

/* Time that intervals cover together; they are sorted. */
static double covered(struct interval *v, int64_t n)
{
    double sum = 0, end = 0;
    qsort(v, (size_t)n, sizeof(*v), by_begin);
    for (int64_t i = 0; i < n; i++) {
        sum += fmax(v[i].to_s - fmax(v[i].from_s, end), 0);
        end = fmax(end, v[i].to_s);
    }
    return sum;
}

static void sum_up(struct run *w)
{
    struct replay_result *r = w->r;
    int64_t n = w->t->nodes.n, last = 0, n_compute = 0, n_all = 0;
    struct interval *compute = xmalloc(((size_t)n + 1) * sizeof(*compute)),
                    *all = xmalloc(((size_t)n + 1) * sizeof(*all));
    for (int64_t i = 1; i < n; i++)
        if (w->end_s[i] > w->end_s[last])
            last = i;
    r->rank = w->t->nodes.v[last].rank;
    r->step_s = w->end_s[last];
    for (int64_t i = 0; i < n; i++) {
        const struct chakra_node *x = &w->t->nodes.v[i];
        const struct interval at = { w->start_s[i], w->end_s[i] };
        if (x->rank != r->rank || x->on_cpu)
            continue;
        all[n_all++] = at;
        if (x->kind == CHAKRA_NODE_COMPUTE)
            compute[n_compute++] = at;
        else
            r->communication_s += at.to_s - at.from_s;
    }
    r->compute_s = covered(compute, n_compute);
    r->exposed_s = covered(all, n_all) - r->compute_s;
    r->waiting_s = r->step_s - r->compute_s - r->exposed_s;
    free(compute);
    free(all);
}

static void release(struct run *w)
{
    struct meeting *m, *next;
    HASH_ITER(hh, w->meetings, m, next)
    {
        HASH_DELETE(hh, w->meetings, m);
        free(m);
    }
    replay_network_release(&w->net);
    free(w->start_s);
    free(w->end_s);
    free(w->waits);
    free(w->next_here);
    free(w->followers);
    free(w->first_follower);
    free(w->ready);
    free(w->meets);
}

int replay_run(struct replay_result *r, const struct chakra_trace *t,
               const struct cluster *c, const char *nccl, struct err *err)
{
    size_t n = (size_t)t->nodes.n + 1;
    memset(r, 0, sizeof(*r));
    if (c->n_groups > 1 || c->n_gpus != t->n_ranks)
        return err_set(err,
                       "--trace-in: %" PRId64 " ranks, and %" PRId64
                       " GPUs%s: degrees stay, so that both have to be equal",
                       t->n_ranks, c->n_gpus,
                       c->n_groups > 1 ? " of several kinds of instances" : "");
    struct run w = { .t = t, .r = r, .err = err };
    int rc = replay_network_init(&w.net, t, c, nccl, err);
    w.start_s = xcalloc(n, sizeof(double));
    w.end_s = xcalloc(n, sizeof(double));
    w.waits = xcalloc(n, sizeof(int64_t));
    w.next_here = xcalloc(n, sizeof(int64_t));
    w.followers = xcalloc((size_t)t->deps.n + 1, sizeof(int64_t));
    w.first_follower = xcalloc(n + 1, sizeof(int64_t));
    w.ready = xcalloc(n, sizeof(int64_t));
    w.meets = xcalloc(n, sizeof(struct meeting *));
    if (rc == 0) {
        find_followers(&w);
        find_meetings(&w);
        rc = run_all(&w);
    }
    if (rc == 0 && t->nodes.n)
        sum_up(&w);
    release(&w);
    return rc;
}
