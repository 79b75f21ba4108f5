/* Parameter servers on the nodes of the workers, one for each: gradients are reduced
 * inside the node, pushed to the servers that own their keys, added up there, copied to
 * the neighbours that replicate them, and pulled back.
 *
 * Of S bytes, node i's server owns the part w_i and holds copies of r_i (both from
 * consistent hashing; 1/N and 0 when nothing is said). With N workers node i moves
 *
 *   push       out S (N-1)/N        in S w_i (N-1)
 *   replicate  out S w_i k          in S r_i            k = sum of r
 *   pull       out S w_i (N-1)      in S (N-1)/N
 *
 * and adds N - 1 times S w_i (asynchronous: updates by N pushes of it). The busiest
 * server sets the pace. */
#include "cost/coll_host.h"

#include <inttypes.h>
#include <math.h>

const char *coll_servers_refuses(struct planner *p)
{
    const struct coll_group *g = &p->request->groups[0];
    if (p->request->op != COLL_ALL_REDUCE)
        return "parameter servers push and pull sums: all_reduce";
    if (host_nodes(p) < 2)
        return "it needs several nodes";
    for (int32_t s = 0; s < g->n_spans; s++) {
        if (coll_instance(p, g->spans[s].first)->n_nics == 0)
            return "an instance has no NIC that reaches the others";
        if (g->spans[s].n_gpus != g->spans[0].n_gpus)
            return "it needs as many GPUs in every node";
    }
    return NULL;
}

/* One server. A folded node represents all of its span: for the busiest of them. */
struct server {
    double own, copies;
};

static struct server server_at(const struct planner *p, int64_t node)
{
    const struct coll_library *l = coll_library_of(p);
    double own = l->shares ? l->shares[node] : 1 / (double)host_nodes(p);
    return (struct server) { own, l->replicas ? l->replicas[node] : 0 };
}

static struct server server_of(const struct host_node *n)
{
    struct server busiest = server_at(n->p, n->index);
    for (int64_t i = 1; i < (int64_t)n->nodes; i++) {
        struct server s = server_at(n->p, n->index + i);
        busiest.own = fmax(busiest.own, s.own);
        busiest.copies = fmax(busiest.copies, s.copies);
    }
    return busiest;
}

/* What a worker exchanges with servers elsewhere, of all bytes: 1 - w_i on average.
 * With the average for all, the node of the busiest server is the busiest in every
 * respect, so that one folded node can represent all. */
static double of_others(const struct host_node *n)
{
    return 1 - 1 / (double)host_nodes(n->p);
}

/* Sums pass memory as read, read, written. Asynchronous servers apply each push by
 * itself: gradient, parameter and two moments are read, the latter three written. */
static double accesses(const struct planner *p)
{
    double nodes = (double)host_nodes(p);
    return coll_library_of(p)->asynchronous ? 7 * nodes : 3 * (nodes - 1);
}

static int load_push(const struct host_node *n)
{
    struct server s = server_of(n);
    double others = (double)host_nodes(n->p) - 1;
    host_load_nics(n, of_others(n), s.own * others * coll_incast(n->p));
    host_load_memory(n, s.own * accesses(n->p));
    return 0;
}

static int load_replicate(const struct host_node *n)
{
    struct server s = server_of(n);
    const double *copies = n->stage->arg;
    host_load_nics(n, s.own * *copies, s.copies);
    return 0;
}

static int load_pull(const struct host_node *n)
{
    struct server s = server_of(n);
    double others = (double)host_nodes(n->p) - 1;
    host_load_nics(n, s.own * others, of_others(n) * coll_incast(n->p));
    return 0;
}

/* The busiest server's adding, as progress; what takes more accesses takes longer. */
static double sum_cap_Bps(const struct planner *p, double busiest)
{
    double rate = p->request->groups[0].spans[0].n_gpus * HOST_SERVER_SUM_BPS;
    return rate / (busiest * accesses(p) / 3);
}

int coll_plan_servers(struct planner *p)
{
    enum { PHASES_MAX = 7 };
    double size = p->request->size_B, hop_s = p->cluster->fabric->latency_s;
    double busiest = 0, *copies = ARENA_NEW(p->arena, double);
    for (int64_t i = 0; i < host_nodes(p); i++) {
        busiest = fmax(busiest, server_at(p, i).own);
        *copies += server_at(p, i).copies;
    }
    const struct host_stage stages[] = {
        { "to host", COLL_AT_COPY_OUT, size, HOST_COPY_START_S, INFINITY,
          host_load_to_host, NULL },
        { "push and sums", COLL_AT_NETWORK, size, hop_s, sum_cap_Bps(p, busiest),
          load_push, NULL },
        { "replicate", COLL_AT_NETWORK, size, hop_s, INFINITY, load_replicate, copies },
        { "pull", COLL_AT_PULL, size, hop_s, INFINITY, load_pull, NULL },
        { "to GPU", COLL_AT_COPY_IN, size, HOST_COPY_START_S, INFINITY,
          host_load_to_gpu, NULL },
    };
    p->plan->phases = ARENA_ARRAY(p->arena, PHASES_MAX, struct coll_phase);
    if (host_inside_phase(p, COLL_REDUCE_SCATTER, "reduce-scatter inside", size))
        return -1;
    for (int i = 0; i < 5; i++)
        if ((i != 2 || *copies > 0) &&
            host_phase(p, &stages[i], &p->plan->phases[p->plan->n_phases++]))
            return -1;
    if (host_inside_phase(p, COLL_ALL_GATHER, "all-gather inside", size))
        return -1;
    if (p->request->groups[0].spans[0].n_gpus > 1)
        p->plan->phases[p->plan->n_phases - 1].place = COLL_AT_GATHER;
    p->plan->why = arena_printf(
        p->arena, "the busiest of %" PRId64 " servers owns %.1f %% of the keys",
        (int64_t)host_nodes(p), 100 * busiest);
    return 0;
}
