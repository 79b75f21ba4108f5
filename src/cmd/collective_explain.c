#include "cmd/collective_explain.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { WAYS_MAX = 8, HOPS_MAX = 40, NODES_MAX = 32, TEXT = 128 };

/* The link on which the bytes of a phase take longest; -1: none. */
static int32_t bottleneck(const struct coll_phase *p, const struct net *net)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t i = 0; i < p->n_uses; i++) {
        double busy = p->uses[i].weight / net_links(net)[p->uses[i].link].payload_Bps;
        if (busy > most) {
            most = busy;
            worst = i;
        }
    }
    return worst;
}

static void print_limit(const struct coll_phase *p, const struct net *net)
{
    char text[TEXT];
    double rate = coll_phase_rate(p, net);
    int32_t worst = bottleneck(p, net);
    if (p->size_B <= 0 || isinf(rate))
        return;
    if (worst < 0 || p->cap_Bps <= rate) {
        printf("#     limit: the software moves %.4g GB/s of it\n", rate / 1e9);
        return;
    }
    const struct flow_use *use = &p->uses[worst];
    printf("#     limit: %s carries %.4g GB/s, %.4g B for each byte: %.4g GB/s\n",
           net_link_text(net, use->link, text, sizeof(text)),
           net_links(net)[use->link].payload_Bps / 1e9, use->weight, rate / 1e9);
}

/* " -> gpu3", or with the NICs or the host on the way: " -nic0:nic1-> gpu3". */
static void print_hop(const struct coll_ring *ring, int32_t hop, const struct net *net)
{
    char nic[2][16] = { "", "" }, to[16];
    const struct net_link *l = NULL;
    bool pcie = false;
    for (int32_t i = ring->hop_starts[hop]; i < ring->hop_starts[hop + 1]; i++) {
        l = &net_links(net)[ring->uses[i].link];
        pcie = pcie || l->kind != NET_NVLINK;
        if (l->kind == NET_NIC) /* out of it, or in */
            net_vertex_text(l->from < 0 ? l->to : l->from, nic[l->from < 0], 16);
    }
    if (!l)
        return;
    net_vertex_text(l->to, to, sizeof(to));
    if (*nic[0] || *nic[1])
        printf(" -%s:%s-> %s", nic[0], nic[1], to);
    else
        printf(pcie ? " -pcie-> %s" : " -> %s", to);
}

static void print_start(const struct coll_ring *ring, int32_t hop,
                        const struct net *net)
{
    char text[16];
    const struct net_link *l = &net_links(net)[ring->uses[ring->hop_starts[hop]].link];
    printf("%s", net_vertex_text(l->from, text, sizeof(text)));
}

/* One after the other: a ring. Each by itself: streams. */
static void print_ring(const struct coll_ring *ring, bool apart, const struct net *net)
{
    for (int32_t h = 0; h < ring->n_hops && h < HOPS_MAX; h++) {
        if (h == 0 || apart) {
            printf("%s", h > 0 ? ", " : "");
            print_start(ring, h, net);
        }
        print_hop(ring, h, net);
    }
    printf(ring->n_hops > HOPS_MAX ? " and %d hops more\n" : "\n",
           ring->n_hops - HOPS_MAX);
}

static void print_ways(const struct coll_phase *p, const struct net *net, bool alike)
{
    const struct coll_steps *steps = &p->steps;
    const char *kind = steps->is_stream  ? "transfers"
                       : steps->is_chain ? "chain"
                                         : "ring";
    for (int32_t r = 0; r < steps->n_rings && r < WAYS_MAX; r++) {
        if (steps->rings[r].n_hops == 0)
            continue;
        if (steps->is_stream)
            printf("#     %s: ", kind);
        else
            printf("#     %s %d: ", kind, r);
        print_ring(&steps->rings[r], steps->is_stream, net);
    }
    if (steps->n_rings > WAYS_MAX)
        printf("#     and %d more\n", steps->n_rings - WAYS_MAX);
    if (alike && net_is_folded(net) && steps->n_rings > 0)
        printf("#     one instance represents all that are alike\n");
}

static void print_trees(const struct coll_plan *plan)
{
    bool has_trees = plan->algorithm == COLL_TREE || plan->algorithm == COLL_NVLS_TREE;
    if (!has_trees || plan->n_nodes < 2)
        return;
    for (int t = 0; t < 2; t++) {
        printf("#     tree %d of nodes, child-parent:", t);
        for (int64_t i = 0; i < plan->n_nodes && i < NODES_MAX; i++)
            if (coll_tree_parent(plan->n_nodes, t, i) >= 0)
                printf(" %" PRId64 "-%" PRId64, i,
                       coll_tree_parent(plan->n_nodes, t, i));
        printf(plan->n_nodes > NODES_MAX ? " ...\n" : "\n");
    }
}

static bool same_ways(const struct collective_row *a, const struct collective_row *b)
{
    return b && a->plan.algorithm == b->plan.algorithm &&
           a->plan.protocol == b->plan.protocol && a->plan.n_phases == b->plan.n_phases;
}

void collective_explain(const struct net *net, const struct collective_row *row,
                        const struct collective_row *before)
{
    char total_text[UNITS_TEXT_MAX];
    const struct coll_plan *plan = &row->plan;
    printf("# %.0f B: %s, %s, %d channels, %.0f %% of the SMs, %s over all links: "
           "%s\n",
           row->size_B, names_of(coll_algorithm_names, (int)plan->algorithm),
           plan->n_phases ? names_of(fabric_protocol_names, plan->protocol) : "nothing",
           plan->n_channels, 100 * plan->sm_frac,
           units_bytes_text(total_text, plan->wire_B), plan->why);
    for (int32_t i = 0; i < plan->n_phases; i++) {
        const struct coll_phase *p = &plan->phases[i];
        double total = coll_phase_time_s(p, net);
        bool stream = p->steps.is_stream && p->steps.n_rings > 0;
        int32_t n = stream ? p->steps.rings[0].n_hops : p->steps.n_rings;
        printf("#   %-22s %10.2f us: %.2f us of latency, %d %s%s, %" PRId64
               " messages of %.0f B %s\n",
               p->name, total * 1e6, p->latency_s * 1e6, n,
               stream ? "transfer" : "ring", units_plural(n), p->steps.n_messages,
               p->steps.message_B, stream ? "in each" : "a rank");
        print_limit(p, net);
        if (!same_ways(row, before))
            print_ways(p, net, plan->n_nodes > 1);
    }
    if (!same_ways(row, before))
        print_trees(plan);
}
