/* Ranks that run apart: conservative windows of parallel discrete-event simulation, of
 * which the first is as long as a step's microbatches.
 *
 *   island 0   f f f b b b |   a clock, queue and fluid network each,
 *   island 1   f f f b b b |   on any thread
 *   ...                    | all meet: one clock
 *   all                    | gradients, update
 *
 * Ranks are of one island where they exchange messages, where their instances are one,
 * so that their traffic shares links, and where a collective joins them that comes early
 * in their programs. What is left are collectives over replicas: an island ends the
 * instant in which a first rank comes to one, and waits for the other islands. Nothing
 * that one does before could have been noticed by another, so times are those of one
 * clock; of one instant the first island's events come first. The same for any number
 * of threads. An island's state fits in a core's cache, which makes it several times as
 * fast as all at once. */
#include "run/run_state.h"

#include <omp.h>

/* Which islands there are ---------------------------------------------------------- */

/* An island is worth its while where this share of the tasks comes before it ends. */
enum { APART_SHARE = 8 };

/* Channels over replicas to which no rank comes in the first share of its program. */
static void find_late(const struct run *run, bool late[CHANNEL_N])
{
    static const enum channel over_replicas[] = {
        CHANNEL_WORLD,   CHANNEL_DATA,        CHANNEL_SHARD,     CHANNEL_REPLICA,
        CHANNEL_CONTEXT, CHANNEL_EXPERT_DATA, CHANNEL_WHOLE_DATA
    };
    const struct program *const *programs = run->request->programs;
    for (size_t i = 0; i < sizeof(over_replicas) / sizeof(*over_replicas); i++)
        late[over_replicas[i]] = true;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct program *p = programs[i];
        if (i > 0 && p == programs[i - 1])
            continue;
        for (int64_t k = 0; k < p->tasks.n / APART_SHARE; k++)
            if (p->tasks.v[k].comm >= 0)
                late[p->comms.v[p->tasks.v[k].comm].channel] = false;
    }
}

/* Sets of ranks: each names one of its set, the first names itself. */
static int64_t set_of(int64_t *sets, int64_t rank)
{
    while (sets[rank] != rank)
        rank = sets[rank] = sets[sets[rank]];
    return rank;
}

static void unite(int64_t *sets, int64_t a, int64_t b)
{
    a = set_of(sets, a);
    b = set_of(sets, b);
    sets[a > b ? a : b] = a < b ? a : b;
}

static int64_t instance_of(const struct run *run, int64_t rank)
{
    int64_t instance;
    int32_t gpu;
    groups_place(run->request->plans.groups, run->ranks[rank].number, &instance, &gpu);
    return instance;
}

/* [ranks] the first of each rank's set. */
static int64_t *find_sets(const struct run *run)
{
    const size_t n_instances = (size_t)run->request->plans.groups->cluster->n_instances;
    int64_t *sets = xmalloc((size_t)run->n_ranks * sizeof(*sets));
    int64_t *first_on = xcalloc(n_instances, sizeof(*first_on)); /* 1 + rank */
    bool late[CHANNEL_N] = { false };
    find_late(run, late);
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        int64_t *first = &first_on[instance_of(run, i)];
        sets[i] = i;
        *first = *first ? *first : i + 1;
        unite(sets, i, *first - 1);
        if (r->mailbox)
            unite(sets, i, r->mailbox->founder);
        for (int c = 0; c < CHANNEL_N; c++)
            if (r->comms[c] && !late[c])
                unite(sets, i, r->comms[c]->founder);
    }
    for (int64_t i = 0; i < run->n_ranks; i++)
        sets[i] = set_of(sets, i);
    free(first_on);
    return sets;
}

/* Whether ranks may run apart at all: traffic of different instances shares no links,
 * and nobody looks at the run as a whole. */
static bool may_split(const struct run *run)
{
    const struct run_request *q = run->request;
    return !net_is_folded(q->plans.net) && net_core(q->plans.net) < 0 &&
           !net_has_tiers(q->plans.net) && q->network != FIDELITY_CHUNK &&
           !q->observer && run->fusion_states.n == 0;
}

/* Islands ------------------------------------------------------------------------- */

static void open_islands(struct run *run, int32_t n)
{
    run->n_islands = n;
    run->islands = xcalloc((size_t)n, sizeof(*run->islands));
    run->by_island = xmalloc((size_t)run->n_ranks * sizeof(struct rank *));
    for (int32_t i = 0; i < n; i++) {
        struct island *island = &run->islands[i];
        *island = (struct island) { .run = run,
                                    .sim = run->sim,
                                    .world = &run->world,
                                    .plans_arena = run->request->plans.arena,
                                    .arena = &run->arena,
                                    .err = run->err };
        if (n == 1)
            continue;
        sim_init(island->sim = &island->own_sim, run);
        island->err = &island->own_err;
        island->world = &island->own_world;
    }
}

/* Gives each island its ranks: island_of[ranks]. */
static void deal_ranks(struct run *run, const int64_t *island_of)
{
    struct rank **to = run->by_island;
    for (int64_t i = 0; i < run->n_ranks; i++) {
        run->ranks[i].island = &run->islands[island_of[i]];
        run->ranks[i].island->n_ranks++;
    }
    for (int32_t i = 0; i < run->n_islands; i++) {
        run->islands[i].ranks = to;
        to += run->islands[i].n_ranks;
        run->islands[i].n_ranks = 0;
    }
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct island *island = run->ranks[i].island;
        run->ranks[i].place = island->n_ranks;
        island->ranks[island->n_ranks++] = &run->ranks[i];
    }
}

/* ... and the links of its instances. */
static void deal_links(struct run *run)
{
    const struct net *net = run->request->plans.net;
    const struct net_link *links = net_links(net);
    const int32_t n = net_n_links(net);
    const size_t n_instances = (size_t)run->request->plans.groups->cluster->n_instances;
    struct island **on = xcalloc(n_instances, sizeof(struct island *));
    for (int64_t i = 0; i < run->n_ranks; i++)
        on[net_copy(net, instance_of(run, i))] = run->ranks[i].island;
    int32_t *to = run->links_by_island = xmalloc(((size_t)n + 1) * sizeof(*to));
    for (int32_t i = 0; i < n; i++)
        on[links[i].copy]->n_links++;
    for (int32_t i = 0; i < run->n_islands; i++) {
        run->islands[i].links = to;
        to += run->islands[i].n_links;
        run->islands[i].n_links = 0;
    }
    for (int32_t i = 0; i < n; i++) {
        struct island *island = on[links[i].copy];
        run->links_by_island[island->links - run->links_by_island + island->n_links++] =
            i;
    }
    free(on);
}

static void find_spans(struct run *run)
{
    for (int64_t i = 0; i < run->n_ranks; i++) {
        struct rank *r = &run->ranks[i];
        for (int c = 0; c < CHANNEL_N; c++)
            if (r->comms[c])
                r->comms[c]->spans |=
                    run->ranks[r->comms[c]->founder].island != r->island;
    }
}

/* Islands that are alike ----------------------------------------------------------- */

/* Whether the island's links are those of the first, so many numbers on. */
static bool has_links_like(const struct island *first, const struct island *island)
{
    const struct net_link *links = net_links(island->run->request->plans.net);
    for (int32_t i = 0; i < first->n_links; i++) {
        const struct net_link *a = &links[first->links[i]],
                              *b = &links[island->links[i]];
        if (island->links[i] - island->links[0] != first->links[i] - first->links[0] ||
            a->kind != b->kind || a->from != b->from || a->to != b->to ||
            a->payload_Bps != b->payload_Bps || a->latency_s != b->latency_s)
            return false;
    }
    return true;
}

/* Whether two ranks run the same with ranks at the same places of their islands. */
static bool is_like(const struct rank *a, const struct rank *b)
{
    const struct run *run = a->run;
    if (a->program != b->program)
        return false;
    for (int c = 0; c < CHANNEL_N; c++) {
        const struct communicator *x = a->comms[c], *y = b->comms[c];
        if (!x != !y || (x && x->spans != y->spans) ||
            (x && !x->spans &&
             run->ranks[x->founder].place != run->ranks[y->founder].place))
            return false;
    }
    return true;
}

/* Whether the island's ranks are those of the first, moved by whole instances. */
static bool has_ranks_like(const struct island *first, const struct island *island)
{
    const struct groups *g = island->run->request->plans.groups;
    const int64_t by = island->ranks[0]->number - first->ranks[0]->number;
    if (by % g->cluster->groups[0].gpus_per_instance != 0)
        return false;
    for (int64_t i = 0; i < first->n_ranks; i++) {
        const struct rank *a = first->ranks[i], *b = island->ranks[i];
        if (b->number - a->number != by || !is_like(a, b) ||
            groups_stage(g, a->number) != groups_stage(g, b->number))
            return false;
    }
    return true;
}

/* The analytic fidelity notes by their links which plans overlap. */
static void find_alike(struct run *run)
{
    const struct island *first = &run->islands[0];
    const struct groups *g = run->request->plans.groups;
    if (run->request->network != FIDELITY_FLOW || !cluster_is_uniform(g->cluster))
        return;
    run->stages_alike = groups_stages_alike(g) && run->n_ranks == g->cluster->n_gpus;
    for (int32_t k = 0; k < run->n_islands; k++) {
        struct island *island = &run->islands[k];
        island->is_alike = island->n_ranks == first->n_ranks &&
                           island->n_links == first->n_links && first->n_links > 0 &&
                           has_links_like(first, island) &&
                           has_ranks_like(first, island);
        if (island->is_alike)
            island->shift = island->links[0] - first->links[0];
    }
}

void run_islands_find(struct run *run, bool alone)
{
    int64_t *sets;
    int32_t n = 1;
    if (alone && may_split(run)) {
        sets = find_sets(run);
        n = 0;
        for (int64_t i = 0; i < run->n_ranks; i++) /* the set's first comes first */
            sets[i] = sets[i] == i ? n++ : sets[sets[i]];
    } else {
        sets = xcalloc((size_t)run->n_ranks, sizeof(*sets));
    }
    open_islands(run, n);
    deal_ranks(run, sets);
    free(sets);
    if (n == 1)
        return;
    deal_links(run);
    find_spans(run);
    find_alike(run);
    run_world_share(&run->world);
    run->n_arenas = omp_get_max_threads();
    run->arenas = xcalloc((size_t)run->n_arenas, sizeof(*run->arenas));
}

struct arena *run_islands_arena(struct run *run)
{
    struct arena *own = &run->arenas[omp_get_thread_num()];
    if (!own->last)
        arena_init_pages(own);
    return own;
}

void run_islands_part(struct island *island)
{
    island->arena = island->plans_arena = run_islands_arena(island->run);
    run_world_split(&island->own_world, island->sim, &island->run->world, island->links,
                    island->n_links);
}

void run_islands_release(struct run *run)
{
    for (int32_t i = 0; i < run->n_arenas; i++)
        arena_release(&run->arenas[i]);
    free(run->arenas);
    for (int32_t i = 0; i < run->n_islands && run->n_islands > 1; i++) {
        struct island *island = &run->islands[i];
        run_world_release(&island->own_world);
        sim_release(&island->own_sim);
        VEC_RELEASE(&island->held);
        VEC_RELEASE(&island->memo.known);
    }
    free(run->islands);
    free(run->by_island);
    free(run->links_by_island);
}

/* Apart, and together -------------------------------------------------------------- */

void run_islands_hold(struct rank *r, struct stream_state *l)
{
    VEC_PUSH(&r->island->held, l);
    r->island->waits = true;
}

bool run_islands_go(struct island *island, int64_t n)
{
    return run_is_apart(island) && sim_run_until(island->sim, &island->waits, n);
}

/* Streams that were held come again, at the moment at which they had come. */
static void let_go(struct island *island, int64_t now_ps)
{
    for (int64_t i = 0; i < island->held.n; i++) {
        struct stream_state *l = island->held.v[i];
        l->state = PHASE_WAITING;
        sim_at(island->sim, &l->event, now_ps);
    }
}

/* Whether none has failed; else the run's error is that of the first that has. */
static bool have_all_come(struct run *run)
{
    for (int32_t i = 0; i < run->n_islands; i++) {
        if (!run->islands[i].failed)
            continue;
        if (!run->err->set)
            *run->err = run->islands[i].own_err;
        return false;
    }
    return true;
}

void run_islands_meet(struct run *run)
{
    if (!have_all_come(run))
        return;
    struct sim **sims = xmalloc((size_t)run->n_islands * sizeof(struct sim *));
    for (int32_t i = 0; i < run->n_islands; i++)
        sims[i] = run->islands[i].sim;
    sim_join(run->sim, sims, run->n_islands);
    for (int32_t i = 0; i < run->n_islands; i++) {
        struct island *island = &run->islands[i];
        island->sim = run->sim;
        island->err = run->err;
        run_world_meet(&island->own_world, &run->world);
        let_go(island, sims[i]->now_ps);
    }
    free(sims);
}

/* Of all -------------------------------------------------------------------------- */

void run_islands_links_busy(struct island *island, double *busy_s)
{
    const int32_t n =
        island->links ? island->n_links : net_n_links(island->run->request->plans.net);
    for (int32_t i = 0; i < n; i++) {
        int32_t link = island->links ? island->links[i] : i;
        busy_s[link] = run_world_link_busy_s(island->world, link);
    }
}

int64_t run_n_done(const struct run *run)
{
    int64_t n = 0;
    for (int32_t i = 0; i < run->n_islands; i++)
        n += run->islands[i].n_done;
    return n;
}

bool run_has_failed(const struct run *run)
{
    bool failed = false;
    for (int32_t i = 0; i < run->n_islands; i++)
        failed |= run->islands[i].failed;
    return failed;
}
