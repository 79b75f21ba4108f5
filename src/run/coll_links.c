/* Links that do the same throughout a run are one link of the fluid network: what a
 * phase moves over eight NICs with equal weights keeps one busy. Links that never bind
 * are none, where nobody asks how busy they are. */
#include "base/mix.h"
#include "base/xmalloc.h"
#include "run/coll_run.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a link: by what uses it, and how. */
struct use_sum {
    uint64_t sum; /* of the phases that use it, their weights and its capacity */
    int32_t link;
};

struct merger {
    const struct net_link *links;
    int32_t n_links;
    VEC(const struct coll_phase *) phases; /* each once */
    struct use_sum *sums;                  /* [links] 0: nothing uses it */
    int32_t n_used;        /* links that are: sums has them first in the end */
    int32_t *like, *alike; /* [links] the first of its kind, and how many are of it */
};

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static int by_address(const void *a, const void *b)
{
    const struct coll_phase *x = *(const struct coll_phase *const *)a,
                            *y = *(const struct coll_phase *const *)b;
    return (x > y) - (x < y);
}

static int by_sum(const void *a, const void *b)
{
    const struct use_sum *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

/* The phases, each once; yields how many links they use together. */
static int64_t list_phases(struct merger *m, const struct coll_plan *const *plans,
                           int64_t n)
{
    int64_t kept = 0, uses = 0;
    for (int64_t i = 0; i < n; i++)
        for (int32_t k = 0; k < plans[i]->n_phases; k++)
            VEC_PUSH(&m->phases, &plans[i]->phases[k]);
    if (m->phases.n)
        qsort(m->phases.v, (size_t)m->phases.n, sizeof(*m->phases.v), by_address);
    for (int64_t i = 0; i < m->phases.n; i++) {
        if (i > 0 && m->phases.v[i] == m->phases.v[i - 1])
            continue;
        m->phases.v[kept++] = m->phases.v[i];
        uses += m->phases.v[i]->n_uses;
    }
    m->phases.n = kept;
    return uses;
}

static void sum_uses(struct merger *m)
{
    for (int64_t i = 0; i < m->phases.n; i++) {
        const struct coll_phase *p = m->phases.v[i];
        for (int32_t k = 0; k < p->n_uses; k++) {
            uint64_t *sum = &m->sums[p->uses[k].link].sum,
                     before =
                         *sum ? *sum : bits_of(m->links[p->uses[k].link].payload_Bps);
            *sum = mix64(before + mix64(bits_of(p->uses[k].weight) + (uint64_t)i)) | 1;
        }
    }
}

static void find_alike(struct merger *m)
{
    for (int32_t i = 0; i < m->n_links; i++) {
        m->like[i] = i;
        if (m->sums[i].sum)
            m->sums[m->n_used++] = (struct use_sum) { m->sums[i].sum, i };
    }
    qsort(m->sums, (size_t)m->n_used, sizeof(*m->sums), by_sum);
    for (int32_t i = 0, first = 0; i < m->n_used; i++) {
        first = m->sums[i].sum == m->sums[first].sum ? first : i;
        m->like[m->sums[i].link] = m->sums[first].link;
        m->alike[m->sums[first].link]++;
    }
}

/* Whether the phase uses all links of a kind with one weight, or none: sums of unlike
 * links could be equal by chance. weight and n: [links], n is 0 throughout. */
static bool is_even(const struct merger *m, const struct coll_phase *p, double *weight,
                    int32_t *n)
{
    bool even = true;
    for (int32_t k = 0; k < p->n_uses; k++) {
        int32_t first = m->like[p->uses[k].link];
        even = even && (n[first] == 0 || weight[first] == p->uses[k].weight) &&
               m->links[first].payload_Bps == m->links[p->uses[k].link].payload_Bps;
        weight[first] = p->uses[k].weight;
        n[first]++;
    }
    for (int32_t k = 0; k < p->n_uses; k++) {
        int32_t first = m->like[p->uses[k].link];
        even = even && (n[first] == 0 || n[first] == m->alike[first]);
        n[first] = 0;
    }
    return even;
}

static bool is_right(const struct merger *m)
{
    double *weight = xcalloc((size_t)m->n_links + 1, sizeof(*weight));
    int32_t *n = xcalloc((size_t)m->n_links + 1, sizeof(*n));
    bool right = true;
    for (int64_t i = 0; i < m->phases.n && right; i++)
        right = is_even(m, m->phases.v[i], weight, n);
    free(weight);
    free(n);
    return right;
}

void run_world_announce(struct coll_world *w, const struct coll_plan *const *plans,
                        int64_t n, int64_t most_uses)
{
    struct merger m = { .links = net_links(w->net), .n_links = net_n_links(w->net) };
    if (w->fidelity == FIDELITY_FLOW && m.n_links < most_uses &&
        list_phases(&m, plans, n) <= most_uses) {
        size_t size = (size_t)m.n_links + 1;
        m.sums = xcalloc(size, sizeof(*m.sums));
        m.like = xcalloc(size, sizeof(*m.like));
        m.alike = xcalloc(size, sizeof(*m.alike));
        sum_uses(&m);
        find_alike(&m);
        if (is_right(&m)) {
            w->like = m.like;
            m.like = NULL;
        }
        free(m.sums);
        free(m.like);
        free(m.alike);
    }
    VEC_RELEASE(&m.phases);
}

/* Links that never bind ------------------------------------------------------------ */

/* What is known of a link: others that are full before it, in all phases so far. */
struct binders {
    bool is_used;
    int32_t n, v[4];
};

enum { FEW_USES = 32 }; /* of a phase whose links are compared with each other */

/* Whether a link of which a phase takes that share of its capacity is full before one
 * of which it takes `own`, by more than rounding. */
static bool binds_before(double share, double own)
{
    static const double clearly = 0.99;
    return own < clearly * share;
}

static void find_binders(struct binders *b, const struct coll_phase *p,
                         const double *share, double own)
{
    const int32_t most = (int32_t)(sizeof(b->v) / sizeof(*b->v));
    b->is_used = true;
    for (int32_t k = 0; k < p->n_uses && p->n_uses <= FEW_USES && b->n < most; k++)
        if (binds_before(share[p->uses[k].link], own))
            b->v[b->n++] = p->uses[k].link;
}

static void keep_binders(struct binders *b, const double *share, double own)
{
    int32_t n = 0;
    for (int32_t i = 0; i < b->n; i++)
        if (binds_before(share[b->v[i]], own))
            b->v[n++] = b->v[i];
    b->n = n;
}

/* share: [links] of their capacities that the phase takes; 0 throughout, before and
 * after. */
static void compare_links(const struct coll_world *w, const struct coll_phase *p,
                          double *share, struct binders *binders)
{
    for (int32_t k = 0; k < p->n_uses; k++)
        if (w->like[p->uses[k].link] == p->uses[k].link)
            share[p->uses[k].link] =
                p->uses[k].weight / net_links(w->net)[p->uses[k].link].payload_Bps;
    for (int32_t k = 0; k < p->n_uses; k++) {
        struct binders *b = &binders[p->uses[k].link];
        double own = share[p->uses[k].link];
        if (b->is_used)
            keep_binders(b, share, own);
        else
            find_binders(b, p, share, own);
    }
    for (int32_t k = 0; k < p->n_uses; k++)
        share[p->uses[k].link] = 0;
}

/* One that binds before a link does so itself or has others before it, which do so in
 * all of its phases: in the end some are left. */
void run_world_drop_slack(struct coll_world *w, const struct coll_plan *const *plans,
                          int64_t n)
{
    const size_t n_links = (size_t)net_n_links(w->net);
    if (!w->like)
        return;
    double *share = xcalloc(n_links + 1, sizeof(*share));
    struct binders *binders = xcalloc(n_links + 1, sizeof(*binders));
    for (int64_t i = 0; i < n; i++)
        for (int32_t k = 0; k < plans[i]->n_phases; k++)
            compare_links(w, &plans[i]->phases[k], share, binders);
    for (size_t l = 0; l < n_links; l++)
        if (w->like[l] == (int32_t)l && binders[l].n > 0)
            w->like[l] = binders[l].v[0];
    free(share);
    free(binders);
}
