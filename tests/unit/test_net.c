/* The cluster as a graph: routes hang together and have the capacity they should, and a
 * folded net has the links of an unfolded one. */
#include "config/datadir.h"
#include "hardware/net/net.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void test_net_register(void);

static struct net *make(struct cluster *c, struct cfg_loader *loader, const char *spec,
                        bool folded)
{
    struct err err = { 0 };
    struct net *net;

    CU_ASSERT_EQUAL_FATAL(cluster_parse(c, loader, spec), 0);
    net = net_new(c, folded, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(net);
    return net;
}

static bool is_memory(const struct net_link *l)
{
    return l->kind == NET_HOST;
}

/* Each link begins where the one before ended, from one GPU to the other. */
static void check_ends(const struct net *net, const int32_t *links, int n, int a, int b)
{
    const struct net_link *all = net_links(net);
    int at = a;

    CU_ASSERT_FATAL(n > 0 && n <= NET_ROUTE_MAX);
    for (int i = 0; i < n; i++) {
        CU_ASSERT_EQUAL(all[links[i]].from, at);
        at = all[links[i]].to;
        for (int j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(links[i], links[j]);
    }
    CU_ASSERT_EQUAL(at, b);
}

static double narrowest(const struct net *net, const int32_t *links, int n)
{
    double min = INFINITY;

    for (int i = 0; i < n; i++)
        min = fmin(min, net_links(net)[links[i]].line_Bps);
    return min;
}

/* The narrowest of a PCIe route: ports, their switches' uplinks, sockets. */
static double pcie_Bps(const struct instance *inst, int a, int b)
{
    const bool below_one =
        inst->gpu_pcie[a] >= 0 && inst->gpu_pcie[a] == inst->gpu_pcie[b];
    double least = inst->pcie_Bps;
    if (!below_one && inst->gpu_pcie[a] >= 0)
        least = fmin(least, inst->pcie_uplink_Bps);
    return inst->gpu_numa[a] == inst->gpu_numa[b] ? least
                                                  : fmin(least, inst->socket_Bps);
}

/* What a pair of one node should have: its NVLinks, else at most a PCIe port. */
static void check_pair(const struct net *net, const struct instance *inst, int a, int b)
{
    int32_t links[NET_ROUTE_MAX];
    const int n = net_route(net, 0, a, 0, b, links);
    const double got = narrowest(net, links, n);
    const double wired = (double)instance_nvlinks(inst, a, b) * inst->gpu->nvlink_Bps;

    check_ends(net, links, n, a, b);
    if (wired > 0)
        CU_ASSERT_DOUBLE_EQUAL(got, wired, 1);
    if (wired <= 0)
        CU_ASSERT_DOUBLE_EQUAL(got, pcie_Bps(inst, a, b), 1);
}

static void test_routes_inside(void)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);
    for (const char **p = datadir_list(&loader.arena, "topologies/instances"); *p;
         p++) {
        struct net *net = make(&c, &loader, *p, true);
        const struct instance *inst = c.groups[0].instance;

        for (int a = 0; a < inst->n_gpus; a++)
            for (int b = 0; b < inst->n_gpus; b++)
                if (a != b)
                    check_pair(net, inst, a, b);
        net_free(net);
    }
    cfg_loader_release(&loader);
}

static void test_routes_between(void)
{
    struct cfg_loader loader;
    struct cluster c;
    char spec[64];

    cfg_loader_init(&loader);
    for (const char **p = datadir_list(&loader.arena, "topologies/instances"); *p;
         p++) {
        net_free(make(&c, &loader, *p, true));
        const struct instance *host = c.groups[0].instance;
        const int64_t joined =
            host->domain_gpus > host->n_gpus ? host->domain_gpus / host->n_gpus : 1;
        snprintf(spec, sizeof(spec), "%s:%d", *p, (int)(2 * joined));

        struct net *net = make(&c, &loader, spec, false);
        const struct instance *inst = c.groups[0].instance;

        for (int a = 0; a < inst->n_gpus; a++) {
            for (int b = 0; b < inst->n_gpus; b++) {
                const double nic = inst->nics[instance_nic_of_gpu(inst, a)].line_Bps;
                int32_t links[NET_ROUTE_MAX];
                const int n = net_route(net, 0, a, 1, b, links);

                check_ends(net, links, n, a, b);
                CU_ASSERT_DOUBLE_EQUAL(narrowest(net, links, n),
                                       fmin(nic, inst->pcie_Bps), 1);
            }
        }
        net_free(net);
    }
    cfg_loader_release(&loader);
}

/* Line rates out of each GPU add up to the datasheet's. */
static void test_nvlink_totals(void)
{
    static const struct {
        const char *name;
        double gpu_GBps;
    } cases[] = {
        { "p3.16xlarge", 150 }, { "dgx-2", 150 },         { "p4d.24xlarge", 300 },
        { "p5.48xlarge", 450 }, { "p5en.48xlarge", 450 }, { "p6-b200.48xlarge", 900 },
        { "g5.48xlarge", 0 },
    };
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct net *net = make(&c, &loader, cases[k].name, true);

        for (int g = 0; g < c.groups[0].instance->n_gpus; g++) {
            double out = 0, in = 0;

            for (int32_t i = 0; i < net_n_links(net); i++) {
                const struct net_link *l = &net_links(net)[i];

                CU_ASSERT(l->payload_Bps > 0 && l->payload_Bps <= l->line_Bps);
                if (l->kind != NET_NVLINK)
                    continue;
                out += l->from == g ? l->line_Bps : 0;
                in += l->to == g ? l->line_Bps : 0;
            }
            CU_ASSERT_DOUBLE_EQUAL(out, cases[k].gpu_GBps * 1e9, 1);
            CU_ASSERT_DOUBLE_EQUAL(in, cases[k].gpu_GBps * 1e9, 1);
        }
        net_free(net);
    }
    cfg_loader_release(&loader);
}

static bool same_link(const struct net_link *a, const struct net_link *b)
{
    return a->kind == b->kind && a->from == b->from && a->to == b->to &&
           fabs(a->line_Bps - b->line_Bps) < 1 &&
           fabs(a->payload_Bps - b->payload_Bps) < 1 &&
           fabs(a->latency_s - b->latency_s) < 1e-12;
}

/* The link of a GPU on its way to the host's memory, or back. */
static const struct net_link *host_link(const struct net *net, int64_t copy, int gpu,
                                        bool to_host)
{
    int32_t links[NET_ROUTE_MAX];
    int n = net_route_host(net, copy, gpu, to_host, links);
    return &net_links(net)[links[to_host ? 0 : n - 1]];
}

/* Every copy of the unfolded net has the folded copy's links, in its order. */
static void test_folded_is_unfolded(void)
{
    struct cfg_loader loader;
    struct cluster c;
    const char *text = "{'groups': [{'instance': 'p4d.24xlarge', 'count': 3}, "
                       "{'instance': 'p3dn.24xlarge', 'count': 2}]}";
    struct err err = { 0 };

    cfg_loader_init(&loader);
    CU_ASSERT_EQUAL_FATAL(
        cluster_read(&c, &loader, cfg_parse(&loader, "t", text, strlen(text))), 0);

    struct net *folded = net_new(&c, true, &err), *unfolded = net_new(&c, false, &err);
    int32_t at = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(folded);
    CU_ASSERT_PTR_NOT_NULL_FATAL(unfolded);
    for (int64_t i = 0; i < c.n_instances; i++) {
        const int64_t copy = net_copy(folded, i);

        CU_ASSERT_EQUAL(net_copy(unfolded, i), i);
        CU_ASSERT_EQUAL(copy, i < 3 ? 0 : 1);
        CU_ASSERT_PTR_EQUAL(net_instance(folded, copy), net_instance(unfolded, i));
        for (int32_t l = 0; l < net_n_links(folded); l++) {
            if (net_links(folded)[l].copy != copy)
                continue;
            CU_ASSERT_EQUAL(net_links(unfolded)[at].copy, i);
            CU_ASSERT(same_link(&net_links(folded)[l], &net_links(unfolded)[at]));
            at++;
        }
        for (int g = 0; g < 8; g++) {
            const struct net_link *out = host_link(unfolded, i, g, true),
                                  *in = host_link(unfolded, i, g, false);
            CU_ASSERT_EQUAL(out->from, g);
            CU_ASSERT_EQUAL(in->to, g);
            CU_ASSERT_EQUAL(in->copy, i);
            CU_ASSERT_EQUAL(in->kind, NET_PCIE);
        }
    }
    CU_ASSERT_EQUAL(at, net_n_links(unfolded));
    net_free(folded);
    net_free(unfolded);
    cfg_loader_release(&loader);
}

/* The wire between two GPUs of instance 1; -1: there is none. */
static int32_t wire(const struct net *net, int from, int to)
{
    int32_t links[NET_ROUTE_MAX];
    int n = net_route(net, 1, from, 1, to, links);
    return n == 1 && net_links(net)[links[0]].kind == NET_NVLINK ? links[0] : -1;
}

/* The wires of the cube mesh, both ways, and none where there is none. */
static void test_mesh_links(void)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);

    struct net *net = make(&c, &loader, "p3.16xlarge:2", false);
    const int32_t double_link = wire(net, 0, 3);

    CU_ASSERT_EQUAL(wire(net, 0, 5), -1);
    CU_ASSERT_EQUAL(net_port_out(net, 1, 0), -1);
    CU_ASSERT_NOT_EQUAL(double_link, wire(net, 3, 0));
    CU_ASSERT_DOUBLE_EQUAL(net_links(net)[double_link].line_Bps, 50e9, 1);
    CU_ASSERT_DOUBLE_EQUAL(net_links(net)[wire(net, 0, 1)].line_Bps, 25e9, 1);
    net_free(net);
    cfg_loader_release(&loader);
}

/* The core is there only when oversubscribed, and carries all nodes' rate over that. */
static void test_core(void)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);

    struct net *net = make(&c, &loader, "p4d.24xlarge:4", true);
    struct fabric thin = *c.fabric;
    struct err err = { 0 };
    int32_t links[NET_ROUTE_MAX];

    CU_ASSERT_EQUAL(net_core(net), -1);
    net_free(net);
    thin.oversubscription = 2;
    c.fabric = &thin;
    net = net_new(&c, true, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(net);
    CU_ASSERT_FATAL(net_core(net) >= 0);
    CU_ASSERT_DOUBLE_EQUAL(net_links(net)[net_core(net)].line_Bps, 4 * 50e9 / 2, 1);

    const int n = net_route(net, 0, 1, 3, 2, links);

    check_ends(net, links, n, 1, 2);
    CU_ASSERT_EQUAL(links[3], net_core(net));
    net_free(net);
    cfg_loader_release(&loader);
}

/* To host memory and back, and without GPUDirect through it on the way to the NIC. */
static void test_host_routes(void)
{
    struct cfg_loader loader;
    struct cluster c;

    cfg_loader_init(&loader);

    struct net *net = make(&c, &loader, "p3dn.24xlarge:2", true);
    int32_t links[NET_ROUTE_MAX];
    int n = net_route_host(net, 0, 6, true, links), n_memory = 0;

    CU_ASSERT_EQUAL(n, 3);
    CU_ASSERT_EQUAL(net_links(net)[links[0]].from, 6);
    CU_ASSERT(is_memory(&net_links(net)[links[2]]));
    n = net_route_host(net, 0, 6, false, links);
    CU_ASSERT_EQUAL(n, 3);
    CU_ASSERT(is_memory(&net_links(net)[links[0]]));
    CU_ASSERT_EQUAL(net_links(net)[links[2]].to, 6);
    n = net_route(net, 0, 0, 1, 4, links);
    for (int i = 0; i < n; i++)
        n_memory += is_memory(&net_links(net)[links[i]]);
    CU_ASSERT_EQUAL(n_memory, 2);
    net_free(net);
    cfg_loader_release(&loader);
}

/* A million instances fold to one copy; unfolded they are refused before any is
 * made. */
static void test_sizes(void)
{
    struct cfg_loader loader;
    struct cluster c;
    struct err err = { 0 };
    char text[64];

    cfg_loader_init(&loader);

    struct net *net = make(&c, &loader, "p5.48xlarge:1048576", true);

    CU_ASSERT(net_n_links(net) < 200);
    CU_ASSERT_EQUAL(net_copy(net, 1048575), 0);
    CU_ASSERT_STRING_EQUAL(net_link_text(net, net_port_out(net, 0, 3), text, 64),
                           "p5.48xlarge[0]: gpu3 -> nvswitch");
    net_free(net);
    CU_ASSERT_PTR_NULL(net_new(&c, false, &err));
    CU_ASSERT_STRING_EQUAL(
        err.text, "1048576 instances have 88080384 links, too many to simulate "
                  "one by one (at most 16777216; leave out --unfold)");
    cfg_loader_release(&loader);
}

void test_net_register(void)
{
    CU_pSuite suite = CU_add_suite("net", NULL, NULL);

    CU_ADD_TEST(suite, test_routes_inside);
    CU_ADD_TEST(suite, test_routes_between);
    CU_ADD_TEST(suite, test_nvlink_totals);
    CU_ADD_TEST(suite, test_folded_is_unfolded);
    CU_ADD_TEST(suite, test_mesh_links);
    CU_ADD_TEST(suite, test_core);
    CU_ADD_TEST(suite, test_host_routes);
    CU_ADD_TEST(suite, test_sizes);
}
