/* Which algorithm and protocol run a request: as asked; as the network plugin's tuner
 * says; by the rules of a version before NCCL had a tuner; or those from which NCCL
 * expects the least time. Its expectations are not what the operation takes. */
#include "cost/coll_plan.h"

#include "base/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct coll_algo *by_id(struct planner *p, enum coll_algorithm id,
                                     const char **refusal)
{
    for (const struct coll_algo *a = coll_algos; a->plan; a++)
        if (a->id == id) {
            const char *why = a->refuses(p);
            if (!why)
                return a;
            *refusal = *refusal ? *refusal : why;
        }
    return NULL;
}

static const struct coll_algo *refused(struct planner *p, const char *why)
{
    err_set(p->err, "%s cannot run as %s: %s", names_of(coll_op_names, p->request->op),
            names_of(coll_algorithm_names, p->request->algorithm), why);
    return NULL;
}

_Static_assert((int)NCCL_ALL_REDUCE == COLL_ALL_REDUCE &&
                   (int)NCCL_REDUCE == COLL_REDUCE,
               "functions of NCCL are the first operations");

/* What the environment leaves out, for the request's operation. */
static int algorithms_left_out(const struct planner *p)
{
    return coll_is_ring_op(p->request->op)
               ? p->request->limits.no_algorithm[p->request->op]
               : 0;
}

static const struct {
    int bit;
    enum coll_algorithm id;
} limited[] = { { NCCL_RING, COLL_RING },
                { NCCL_TREE, COLL_TREE },
                { NCCL_NVLS, COLL_NVLS },
                { NCCL_NVLS_TREE, COLL_NVLS_TREE } };
enum { N_LIMITED = sizeof(limited) / sizeof(limited[0]) };

static bool is_left_out(const struct planner *p, enum coll_algorithm id)
{
    for (int i = 0; i < N_LIMITED; i++)
        if (limited[i].id == id)
            return algorithms_left_out(p) & limited[i].bit;
    return false;
}

static double expected_s(struct planner *p, const struct coll_algo *a, int protocol)
{
    int forced = p->request->protocol;
    if (is_left_out(p, a->id) || coll_protocol_left_out(p, protocol))
        return INFINITY;
    if (!a->expects || (forced >= 0 && forced != protocol) || a->refuses(p))
        return INFINITY;
    return a->expects(p, protocol);
}

static const struct coll_algo *picked(struct planner *p, const struct coll_algo *a,
                                      int protocol, const char *why)
{
    p->picked = protocol;
    p->plan->why = why;
    return a;
}

/* The network plugin's tuner, where it knows this shape and the choice is open. */
static const struct coll_algo *plugin_choice(struct planner *p)
{
    const struct coll_request *q = p->request;
    const char *refusal = NULL;
    int id;
    if (p->plan->n_nodes < 2 || !nccl_asks_plugin(p->nccl))
        return NULL;
    const struct fabric_choice *c =
        fabric_choice_of(&p->cluster->fabric->choices, names_of(coll_op_names, q->op),
                         p->plan->n_ranks, q->groups[0].spans[0].n_gpus, q->size_B);
    if (!c || names_find(coll_algorithm_names, c->algorithm, &id))
        return NULL;
    const struct coll_algo *a = by_id(p, (enum coll_algorithm)id, &refusal);
    if (!a || isinf(expected_s(p, a, c->protocol)))
        return NULL;
    return picked(p, a, c->protocol,
                  arena_printf(p->arena, "the tuner of %s has it for %" PRId64 " ranks",
                               p->cluster->fabric->name, (int64_t)p->plan->n_ranks));
}

/* NCCL 2.4 has no tuner: trees between nodes, rings elsewhere, LL for what is small.
 * Later versions estimate, with a forced protocol, too. */
static const struct coll_algo *early_choice(struct planner *p)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "", q->op, q->size_B, 1, q->groups, q->n_groups };
    struct nccl_case c;
    coll_believed(p, &job, &c);
    int order[] = { COLL_TREE, COLL_RING };
    for (int i = 0; i < 2; i++) {
        const char *refusal = NULL;
        const struct coll_algo *a = by_id(p, (enum coll_algorithm)order[i], &refusal);
        int protocol = nccl_fixed_protocol(p->nccl, &c, order[i]);
        if (protocol < 0)
            return NULL;
        if (q->protocol >= 0)
            protocol = q->protocol;
        if (a && !isinf(expected_s(p, a, protocol)))
            return picked(p, a, protocol,
                          arena_printf(p->arena, "NCCL %s has no tuner: by size",
                                       nccl_version_name(p->nccl)));
    }
    return NULL;
}

/* The least of NCCL's expectations over algorithms and protocols. */
static const struct coll_algo *tuner_choice(struct planner *p)
{
    const struct coll_algo *best = NULL;
    double least = INFINITY;
    int protocol = -1;
    struct strbuf text = { 0 };
    bool explains = p->request->explains;
    if (explains)
        strbuf_printf(&text, "NCCL %s expects", nccl_version_name(p->nccl));
    for (const struct coll_algo *a = coll_algos; a->plan; a++)
        for (int i = 0; i < FABRIC_PROTO_N; i++) {
            double s = expected_s(p, a, i);
            if (isinf(s))
                continue;
            if (explains)
                strbuf_printf(&text, "%s %s %s %.1f us", best ? "," : "", a->label,
                              names_of(fabric_protocol_names, i), s * 1e6);
            if (s < least) {
                best = a;
                least = s;
                protocol = i;
            }
        }
    const char *why = arena_strdup(p->arena, strbuf_get(&text));
    strbuf_release(&text);
    return best ? picked(p, best, protocol, why) : NULL;
}

/* Where wired GPUs form no ring, NCCL's tree down a path of them. */
static const struct coll_algo *chain_choice(struct planner *p)
{
    const char *refusal = NULL;
    const struct coll_span *span = &p->request->groups[0].spans[0];
    if (p->plan->n_nodes > 1 || coll_rings(p, span, false)->kind != RINGS_PCIE)
        return NULL;
    return by_id(p, COLL_CHAIN, &refusal);
}

/* The protocol of an algorithm that was asked for. */
static const struct coll_algo *asked(struct planner *p, const struct coll_algo *a)
{
    const struct coll_request *q = p->request;
    struct ring_job job = { "", q->op, q->size_B, 1, q->groups, q->n_groups };
    struct nccl_case c;
    double least = INFINITY;
    if (!a->expects || a->id == COLL_RING)
        return a;
    if (q->protocol >= 0 && coll_check_protocol(p, &q->groups[0], q->protocol))
        return NULL;
    if (a->plan == coll_plan_nvls && q->protocol > FABRIC_PROTO_SIMPLE)
        return refused(p, "it has the protocol simple alone");
    coll_believed(p, &job, &c);
    p->plan->why = "as asked";
    p->picked =
        q->protocol >= 0 ? q->protocol : nccl_fixed_protocol(p->nccl, &c, a->id);
    for (int i = 0; i < FABRIC_PROTO_N && p->picked < 0; i++)
        least = fmin(least, expected_s(p, a, i));
    for (int i = 0; i < FABRIC_PROTO_N && p->picked < 0 && !isinf(least); i++)
        if (expected_s(p, a, i) <= least)
            p->picked = i;
    return a;
}

/* The one algorithm that the environment leaves, where it can run this: a tree inside
 * a node is a chain. NCCL makes of others what it can. */
static const struct coll_algo *only_choice(struct planner *p)
{
    int left = NCCL_ALGORITHMS & ~algorithms_left_out(p);
    const char *refusal = NULL;
    for (int i = 0; i < N_LIMITED; i++)
        if (left == limited[i].bit) {
            const struct coll_algo *a = by_id(p, limited[i].id, &refusal);
            return a ? asked(p, a) : NULL;
        }
    return NULL;
}

const struct coll_algo *coll_choose(struct planner *p)
{
    static const struct coll_algo *(*const choices[])(struct planner * p) = {
        only_choice, chain_choice, plugin_choice, early_choice, tuner_choice
    };
    enum coll_algorithm wanted = p->request->algorithm;
    const struct coll_algo *a = NULL;
    const char *refusal = NULL;
    if (!coll_is_ring_op(p->request->op) && wanted == COLL_AUTO)
        wanted = COLL_P2P;
    if (wanted != COLL_AUTO) {
        a = by_id(p, wanted, &refusal);
        return a ? asked(p, a) : refused(p, refusal);
    }
    for (size_t i = 0; i < sizeof(choices) / sizeof(*choices) && !a; i++)
        a = choices[i](p);
    if (a)
        return a;
    /* a protocol that is off: the ring says so */
    a = by_id(p, COLL_RING, &refusal);
    return a ? a : refused(p, refusal);
}
