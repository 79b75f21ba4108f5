#include "replay/replay_network.h"

#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* CollectiveCommType of et_def.proto. */
static const struct {
    int32_t type;
    enum coll_op op;
    bool of_each; /* bytes are of one rank */
} operations[] = {
    { 0, COLL_ALL_REDUCE, false },     { 1, COLL_REDUCE, false },
    { 2, COLL_ALL_GATHER, true },      { 4, COLL_SCATTER, false },
    { 5, COLL_BROADCAST, false },      { 6, COLL_ALLTOALL, false },
    { 7, COLL_REDUCE_SCATTER, false },
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]), PEERS_MAX = 64 };

struct key {
    int64_t op, bytes, a, b; /* a: the group; of messages the ranks */
};

struct replay_time {
    struct key key;
    double time_s;
    UT_hash_handle hh;
};

int replay_network_init(struct replay_network *w, const struct chakra_trace *t,
                        const struct cluster *c, const char *nccl, struct err *err)
{
    *w = (struct replay_network) { .t = t, .c = c, .nccl = nccl };
    arena_init(&w->arena);
    w->net = net_new(c, false, err);
    return w->net ? 0 : -1;
}

void replay_network_release(struct replay_network *w)
{
    struct replay_time *k, *next;
    HASH_ITER(hh, w->known, k, next)
    {
        HASH_DELETE(hh, w->known, k);
        free(k);
    }
    if (w->net)
        net_free(w->net);
    arena_release(&w->arena);
}

/* Ranks as a group of the cluster: the same GPUs of instances that are as far apart. */
static int group_of(struct coll_group *g, const struct replay_network *w,
                    const int32_t *ranks, int64_t n, struct err *err)
{
    int32_t per = w->c->groups[0].gpus_per_instance, n_gpus = 0;
    struct coll_span s = { .first = ranks[0] / per, .stride = 1 };
    while (n_gpus < n && ranks[n_gpus] / per == s.first) {
        s.gpus[n_gpus] = (uint8_t)(ranks[n_gpus] % per);
        n_gpus++;
    }
    s.n_gpus = n_gpus;
    s.n_instances = n / n_gpus;
    if (s.n_instances > 1)
        s.stride = ranks[n_gpus] / per - s.first;
    for (int64_t i = 0; i < n; i++)
        if (n % n_gpus || ranks[i] % per != s.gpus[i % n_gpus] ||
            ranks[i] / per != s.first + i / n_gpus * s.stride)
            return err_set(err,
                           "ranks %d to %d of the trace: on %d GPUs an instance they "
                           "are not spread evenly",
                           ranks[0], ranks[n - 1], per);
    *g = (struct coll_group) { .n_spans = 1, .spans = { s } };
    return 0;
}

/* Whether two groups can be of one split of the ranks: as many, as far apart. */
static bool are_peers(const struct chakra_group *a, const struct chakra_group *b)
{
    if (a->ranks.n != b->ranks.n || a->ranks.v[0] == b->ranks.v[0])
        return false;
    int32_t shift = b->ranks.v[0] - a->ranks.v[0];
    for (int64_t i = 0; i < a->ranks.n; i++)
        if (b->ranks.v[i] - a->ranks.v[i] != shift)
            return false;
    return true;
}

static bool is_apart(const struct chakra_group *a, const struct chakra_group *b)
{
    for (int64_t i = 0, k = 0; i < a->ranks.n && k < b->ranks.n;) {
        if (a->ranks.v[i] == b->ranks.v[k])
            return false;
        if (a->ranks.v[i] < b->ranks.v[k])
            i++;
        else
            k++;
    }
    return true;
}

/* Whether a group can run at the same time as those that were chosen. */
static bool joins(const struct replay_network *w, const int32_t *chosen, int32_t n,
                  int64_t group)
{
    const struct chakra_group *g = &w->t->groups.v[group];
    if (!are_peers(&w->t->groups.v[chosen[0]], g))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (!is_apart(&w->t->groups.v[chosen[i]], g))
            return false;
    return true;
}

/* The group and those that do the same at once, PEERS_MAX at most. */
static int groups_at_once(struct coll_group *to, int32_t *n, struct replay_network *w,
                          int32_t group, struct err *err)
{
    const struct chakra_group *g = &w->t->groups.v[group];
    int32_t chosen[PEERS_MAX] = { group };
    *n = 1;
    if (group_of(&to[0], w, g->ranks.v, g->ranks.n, err))
        return -1;
    for (int64_t i = 0; i < w->t->groups.n && *n < PEERS_MAX; i++) {
        const struct chakra_group *other = &w->t->groups.v[i];
        struct err unused = { 0 };
        if (joins(w, chosen, *n, i) &&
            group_of(&to[*n], w, other->ranks.v, other->ranks.n, &unused) == 0 &&
            to[*n].spans[0].n_gpus == to[0].spans[0].n_gpus)
            chosen[(*n)++] = (int32_t)i;
    }
    return 0;
}

static int plan_time(double *time_s, struct replay_network *w, enum coll_op op,
                     double size_B, const struct coll_group *groups, int32_t n_groups,
                     struct err *err)
{
    const struct coll_request request = { .op = op,
                                          .algorithm = COLL_AUTO,
                                          .protocol = -1,
                                          .size_B = size_B > 0 ? size_B : 1,
                                          .groups = groups,
                                          .n_groups = n_groups,
                                          .nccl = w->nccl,
                                          .graph_launch = true };
    struct coll_plan plan;
    if (coll_plan_make(&plan, &w->arena, w->net, &request, err))
        return -1;
    *time_s = coll_plan_time_s(&plan, w->net);
    return 0;
}

static int collective_time(double *time_s, struct replay_network *w,
                           const struct chakra_node *n, struct err *err)
{
    struct coll_group *groups = xmalloc(PEERS_MAX * sizeof(*groups));
    int32_t i = 0, n_groups = 1;
    int rc = 0;
    while (i < OPERATIONS && operations[i].type != n->op)
        i++;
    if (i == OPERATIONS)
        rc = err_set(err, "rank %d of the trace: collectives of type %d are not known",
                     n->rank, n->op);
    else if (n->group < 0)
        groups[0] = coll_group_world(w->c);
    else
        rc = groups_at_once(groups, &n_groups, w, n->group, err);
    if (rc == 0) {
        int64_t ranks = coll_group_ranks(&groups[0]);
        double size_B = (double)n->bytes * (operations[i].of_each ? (double)ranks : 1);
        *time_s = 0;
        if (ranks > 1)
            rc = plan_time(time_s, w, operations[i].op, size_B, groups, n_groups, err);
    }
    free(groups);
    return rc;
}

/* Between GPUs of the same place where the instances differ: a rail. */
static int message_time(double *time_s, struct replay_network *w,
                        const struct chakra_node *n, struct err *err)
{
    int32_t per = w->c->groups[0].gpus_per_instance, a = n->from, b = n->to;
    if (a == b) {
        *time_s = 0;
        return 0;
    }
    if (a / per != b / per)
        b = b / per * per + a % per;
    const int32_t ranks[2] = { a < b ? a : b, a < b ? b : a };
    struct coll_group g;
    return group_of(&g, w, ranks, 2, err) ||
                   plan_time(time_s, w, COLL_SENDRECV, (double)n->bytes, &g, 1, err)
               ? -1
               : 0;
}

int replay_time_s(double *time_s, struct replay_network *w, const struct chakra_node *n,
                  struct err *err)
{
    bool message = n->kind != CHAKRA_NODE_COLLECTIVE;
    struct key key;
    struct replay_time *known;
    memset(&key, 0, sizeof(key));
    key = (struct key) { message ? -1 : n->op, n->bytes, message ? n->from : n->group,
                         message ? n->to : 0 };
    HASH_FIND(hh, w->known, &key, sizeof(key), known);
    if (!known) {
        double t;
        if (message ? message_time(&t, w, n, err) : collective_time(&t, w, n, err))
            return -1;
        known = xcalloc(1, sizeof(*known));
        known->key = key;
        known->time_s = t;
        HASH_ADD(hh, w->known, key, sizeof(key), known);
    }
    *time_s = known->time_s;
    return 0;
}
