#include "run/plans.h"

#include <stdlib.h>
#include <string.h>

void plans_share_nics(const struct net *net, struct coll_plan *plan, double frac)
{
    const struct net_link *links = net_links(net);
    for (int32_t i = 0; i < plan->n_phases && frac > 0; i++) {
        struct coll_phase *phase = &plan->phases[i];
        for (int32_t j = 0; j < phase->n_uses; j++) {
            if (links[phase->uses[j].link].kind != NET_NIC)
                continue;
            phase->uses[j].weight /= frac;
            if (phase->own)
                phase->own[j] /= frac;
        }
    }
}

static struct coll_request request_of(const struct comm *comm,
                                      const struct coll_group *groups, int32_t n)
{
    struct coll_request q = comm->request;
    q.groups = groups;
    q.n_groups = n;
    return q;
}

/* Messages ------------------------------------------------------------------------- */

/* Adds the route of one message to the loads of a phase. */
static int load_route(const struct plans *p, const struct coll_group *pair,
                      double weight, struct coll_phase *phase, struct err *err)
{
    const struct coll_span *a = &pair->spans[0], *b = &pair->spans[pair->n_spans - 1];
    int32_t links[NET_ROUTE_MAX];
    int64_t to = b->first + (b->n_instances - 1) * b->stride;
    int n = net_route(p->net, a->first, a->gpus[0], to, b->gpus[b->n_gpus - 1], links);
    if (n < 0)
        return err_set(err, "no path joins two stages of the pipeline");
    for (int i = 0; i < n; i++) {
        int32_t at = 0;
        while (at < phase->n_uses && phase->uses[at].link != links[i])
            at++;
        if (at == phase->n_uses)
            phase->uses[phase->n_uses++].link = links[i];
        phase->uses[at].weight += weight;
    }
    return 0;
}

/* One message from one rank to another, in one direction: NCCL's send and receive. */
static int plan_message(const struct plans *p, const struct comm *comm,
                        const struct coll_group *pairs, int32_t n_pairs,
                        struct coll_plan *plan, struct err *err)
{
    const struct coll_group *own = &pairs[0];
    bool between = own->n_spans > 1 || own->spans[0].n_instances > 1;
    int64_t copy = net_copy(p->net, own->spans[0].first);
    const struct fabric *f =
        between ? net_cluster(p->net)->fabric : net_instance(p->net, copy)->inside;
    struct coll_phase *phase = ARENA_NEW(p->arena, struct coll_phase);
    if (!f)
        return err_set(err, "no network joins the stages of the pipeline");
    const struct fabric_protocol *proto = &f->proto[FABRIC_PROTO_SIMPLE];
    int32_t counted = net_is_folded(p->net) ? n_pairs : 1;
    *phase = (struct coll_phase) {
        .name = "message",
        .latency_s = proto->step_s + f->latency_s,
        .size_B = comm->request.size_B,
        .cap_Bps = proto->max_Bps,
        .uses = ARENA_ARRAY(p->arena, counted * NET_ROUTE_MAX, struct flow_use),
        .protocol = FABRIC_PROTO_SIMPLE,
    };
    phase->own = ARENA_ARRAY(p->arena, counted * NET_ROUTE_MAX, double);
    for (int32_t i = 0; i < counted; i++) {
        if (load_route(p, &pairs[i], 1 / proto->efficiency, phase, err) < 0)
            return -1;
        for (int32_t k = 0; k < phase->n_uses && i == 0; k++)
            phase->own[k] = phase->uses[k].weight;
    }
    *plan = (struct coll_plan) { .op = COLL_SENDRECV,
                                 .algorithm = COLL_RING,
                                 .protocol = FABRIC_PROTO_SIMPLE,
                                 .size_B = comm->request.size_B,
                                 .n_ranks = 2,
                                 .n_nodes = between ? 2 : 1,
                                 .n_channels = 1,
                                 .n_phases = 1,
                                 .phases = phase };
    return 0;
}

/* Collectives ---------------------------------------------------------------------- */

/* The steps of a ring lower its pace (coll_run.c): to that of all groups together, as
 * in a folded run, not to that of a group alone. */
static void pace(const struct net *net, const struct coll_phase *joint,
                 struct coll_phase *own)
{
    const struct coll_steps *steps = &joint->steps;
    double paced_s = joint->latency_s - steps->before_s - steps->after_s;
    if (steps->n_rings == 0 || steps->is_chain || steps->is_stream ||
        joint->size_B <= 0 || paced_s <= 0)
        return;
    double alone_s = coll_phase_time_s(joint, net) - joint->latency_s;
    own->latency_s -= paced_s;
    own->cap_Bps = joint->size_B / (paced_s + alone_s);
}

/* Groups together: as they are asked for, and with what was chosen asked for by name. */
struct plans_joint {
    struct comm comm;
    int32_t n;
    int64_t *places; /* [n] of the groups' first GPUs, in order */
    struct coll_plan all, same;
};

bool plans_same_request(const struct comm *a, const struct comm *b)
{
    const struct coll_request *x = &a->request, *y = &b->request;
    return x->op == y->op && x->algorithm == y->algorithm &&
           x->protocol == y->protocol && x->size_B == y->size_B &&
           a->network_frac == b->network_frac && coll_tokens_same(x->tokens, y->tokens);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int plan_joint(const struct plans *p, const struct coll_group *groups,
                      struct plans_joint *j, struct err *err)
{
    struct coll_request q = request_of(&j->comm, groups, j->n);
    q.rings = p->rings;
    if (coll_plan_make(&j->all, p->arena, p->net, &q, err) < 0)
        return -1;
    q.algorithm = j->all.algorithm;
    q.protocol = j->all.protocol;
    return coll_plan_make(&j->same, p->arena, p->net, &q, err);
}

static bool is_same_joint(const struct plans_joint *a, const struct plans_joint *b)
{
    return a->n == b->n && a->comm.channel == b->comm.channel &&
           plans_same_request(&a->comm, &b->comm) &&
           memcmp(a->places, b->places, (size_t)a->n * sizeof(*a->places)) == 0;
}

/* Whichever of them is first, where they lie alike. NULL after an error. */
static const struct plans_joint *joint_of(const struct plans *p,
                                          const struct comm *comm,
                                          const struct coll_group *groups, int32_t n,
                                          struct err *err)
{
    struct plans_joint *j = ARENA_NEW(p->arena, struct plans_joint);
    const bool alike = p->memo && cluster_is_uniform(p->groups->cluster) &&
                       groups_lie_alike(p->groups);
    *j = (struct plans_joint) { .comm = *comm, .n = n };
    j->places = ARENA_ARRAY(p->arena, n, int64_t);
    for (int32_t i = 0; i < n; i++)
        j->places[i] =
            groups[i].spans[0].first * INSTANCE_GPUS_MAX + groups[i].spans[0].gpus[0];
    qsort(j->places, (size_t)n, sizeof(*j->places), by_number);
    for (int64_t i = 0; alike && i < p->memo->known.n; i++)
        if (is_same_joint(p->memo->known.v[i], j))
            return p->memo->known.v[i];
    if (plan_joint(p, groups, j, err) < 0)
        return NULL;
    if (alike)
        VEC_PUSH(&p->memo->known, j);
    return j;
}

/* The group's own load, with the terms of the groups together. An algorithm that is
 * asked for by name may take another protocol than one that is chosen, with other
 * overheads on the links: the loads are brought to those of `all`. */
static int plan_own(const struct plans *p, const struct comm *comm,
                    const struct coll_group *own_group, const struct plans_joint *j,
                    struct coll_plan *plan, struct err *err)
{
    struct coll_request q = request_of(comm, own_group, 1);
    q.rings = p->rings;
    const struct coll_plan *all = &j->all, *same = &j->same;
    q.algorithm = all->algorithm;
    q.protocol = all->protocol;
    if (coll_plan_make(plan, p->arena, p->net, &q, err) < 0)
        return -1;
    for (int32_t i = 0; i < plan->n_phases && plan->n_phases == all->n_phases; i++) {
        struct coll_phase *own = &plan->phases[i], joint = all->phases[i];
        double scale = 1;
        if (joint.n_uses > 0 && same->phases[i].n_uses > 0)
            scale = joint.uses[0].weight / same->phases[i].uses[0].weight;
        for (int32_t k = 0; k < own->n_uses; k++) {
            own->uses[k].weight *= scale;
            if (own->own)
                own->own[k] *= scale;
        }
        joint.uses = own->uses;
        joint.n_uses = own->n_uses;
        joint.own = own->own;
        joint.steps.rings = own->steps.rings;
        joint.steps.n_rings = own->steps.n_rings;
        *own = joint;
        pace(p->net, &all->phases[i], own);
    }
    plan->sm_frac = all->sm_frac;
    plan->memory_Bps = all->memory_Bps;
    return 0;
}

/* Of groups in lock step, the first of which is the rank's. */
static int plan_groups(const struct plans *p, const struct comm *comm,
                       const struct coll_group *groups, int32_t n,
                       struct coll_plan *plan, struct err *err)
{
    if (comm->channel == CHANNEL_NEXT || comm->channel == CHANNEL_BACK)
        return plan_message(p, comm, groups, n, plan, err);
    if (!net_is_folded(p->net) && n > 1) {
        const struct plans_joint *joint = joint_of(p, comm, groups, n, err);
        if (!joint || plan_own(p, comm, groups, joint, plan, err) < 0)
            return -1;
    } else {
        struct coll_request q = request_of(comm, groups, n);
        q.rings = p->rings;
        if (coll_plan_make(plan, p->arena, p->net, &q, err) < 0)
            return -1;
    }
    plans_share_nics(p->net, plan, comm->network_frac);
    return 0;
}

int plans_make(const struct plans *p, const struct comm *comm, int64_t rank,
               const struct coll_plan **out, struct err *err)
{
    struct coll_group *groups; /* larger than what is planned from them */
    struct arena scratch;
    int32_t n;
    struct coll_plan *plan = ARENA_NEW(p->arena, struct coll_plan);
    arena_init(&scratch);
    int rc = groups_concurrent(p->groups, &scratch, p->net, comm->channel, rank,
                               &groups, &n, err);
    if (rc == 0)
        rc = plan_groups(p, comm, groups, n, plan, err);
    arena_release(&scratch);
    *out = plan;
    return rc;
}
