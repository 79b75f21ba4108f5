/* NVLink domains of several hosts: folded is unfolded, all fidelities agree, groups
 * inside a domain stay on NVLink, and a domain of one host is that host. */
#include "hardware/domain.h"
#include "net_bench.h"
#include "step_bench.h"

void test_domain_register(void);

static void test_shapes(void)
{
    static const struct {
        bool fixed;
        int64_t gpus, count, hosts, domains, rest;
    } rows[] = {
        { false, 72, 1, 1, 1, 0 },   { false, 72, 18, 18, 1, 0 },
        { false, 72, 36, 18, 2, 0 }, { false, 72, 32, 16, 2, 0 },
        { false, 72, 64, 16, 4, 0 }, { false, 72, 256, 16, 16, 0 },
        { false, 72, 37, 18, 2, 1 }, { false, 36, 20, 5, 4, 0 },
        { true, 72, 64, 18, 3, 10 }, { true, 4, 64, 1, 64, 0 },
        { true, 36, 18, 9, 2, 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct instance host = { .n_gpus = 4,
                                       .domain_gpus = rows[i].gpus,
                                       .domain_fixed = rows[i].fixed };
        struct domain_shape s = domain_shape_of(&host, rows[i].count);
        CU_ASSERT_EQUAL(s.hosts, rows[i].hosts);
        CU_ASSERT_EQUAL(s.domains, rows[i].domains);
        CU_ASSERT_EQUAL(s.rest, rows[i].rest);
    }
}

/* A domain has its hosts' parts, each with its own NICs and memory. */
static void test_parts(void)
{
    struct bench b, one;
    bench_init(&b, "dgx-gb200:36", true);
    bench_init(&one, "dgx-gb200", true);
    const struct instance *d = b.cluster.groups[0].instance,
                          *h = one.cluster.groups[0].instance;
    CU_ASSERT_EQUAL(b.cluster.n_instances, 2);
    CU_ASSERT_EQUAL(b.cluster.n_hosts, 36);
    CU_ASSERT_EQUAL(b.cluster.n_gpus, 144);
    CU_ASSERT_EQUAL(d->n_gpus, 72);
    CU_ASSERT_EQUAL(d->vcpus, 18 * h->vcpus);
    CU_ASSERT_EQUAL(d->host_memory_B, 18 * h->host_memory_B);
    CU_ASSERT_STRING_EQUAL(domain_host(d)->name, h->name);
    CU_ASSERT_EQUAL(domain_host(d)->n_gpus, h->n_gpus);
    for (int32_t g = 0; g < d->n_gpus; g++) {
        int32_t links[NET_ROUTE_MAX], nic = instance_nic_of_gpu(d, g);
        CU_ASSERT_EQUAL(nic / h->n_nics, g / h->n_gpus);
        CU_ASSERT_EQUAL(d->nics[nic].numa / h->n_numa, g / h->n_gpus);
        CU_ASSERT_EQUAL(d->gpu_numa[g] / h->n_numa, g / h->n_gpus);
        CU_ASSERT_EQUAL(net_route(b.net, 0, 0, 0, g, links), g ? 2 : 0);
    }
    const struct cluster_group hosts = cluster_hosts(&b.cluster.groups[0]);
    CU_ASSERT_EQUAL(hosts.count, 36);
    CU_ASSERT_EQUAL(hosts.gpus_per_instance, 4);
    bench_release(&one);
    bench_release(&b);
}

static const enum coll_op ops[] = { COLL_ALL_REDUCE,     COLL_ALL_GATHER,
                                    COLL_REDUCE_SCATTER, COLL_BROADCAST,
                                    COLL_ALLTOALL,       COLL_SENDRECV };

enum { N_OPS = sizeof(ops) / sizeof(ops[0]) };

static double closed_s(struct bench *b, enum coll_op op, double size_B)
{
    struct coll_request q = bench_request(b, op, size_B);
    struct coll_plan plan;
    CU_ASSERT_FATAL(coll_plan_make(&plan, &b->arena, b->net, &q, &b->err) == 0);
    return coll_plan_time_s(&plan, b->net);
}

/* Two full domains, three of other GPUs, domains with a rest, over EFA. */
static void test_folded(void)
{
    static const char *const specs[] = { "dgx-gb200:36", "dgx-gb300:54", "dgx-gb200:37",
                                         "p6e-gb200.36xlarge:64" };
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct bench folded, whole;
        bench_init(&folded, specs[i], true);
        bench_init(&whole, specs[i], false);
        for (size_t k = 0; k < N_OPS; k++)
            for (double size_B = 65536; size_B < 8e9; size_B *= 64) {
                double s = closed_s(&whole, ops[k], size_B);
                CU_ASSERT(s > 0);
                CU_ASSERT_DOUBLE_EQUAL(closed_s(&folded, ops[k], size_B), s, 1e-9 * s);
            }
        bench_release(&whole);
        bench_release(&folded);
    }
}

/* Inside a domain nothing leaves by a NIC, and a byte of a large all-gather takes as
 * long on 72 GPUs as on the 8 of a board: the port bounds both. */
static void test_inside(void)
{
    struct bench domain, board;
    bench_init(&domain, "dgx-gb200:18", true);
    bench_init(&board, "dgx-b200", true);
    for (size_t k = 0; k < N_OPS; k++) {
        struct coll_request q = bench_request(&domain, ops[k], 1e9);
        struct coll_plan plan;
        CU_ASSERT_FATAL(
            coll_plan_make(&plan, &domain.arena, domain.net, &q, &domain.err) == 0);
        CU_ASSERT_EQUAL(plan.n_nodes, 1);
        for (int32_t i = 0; i < plan.n_phases; i++)
            for (int32_t u = 0; u < plan.phases[i].n_uses; u++)
                CU_ASSERT_EQUAL(net_links(domain.net)[plan.phases[i].uses[u].link].kind,
                                NET_NVLINK);
    }
    const double bytes = 64e9, share = bytes * 7 / 8, share72 = bytes * 71 / 72;
    CU_ASSERT_DOUBLE_EQUAL(share72 / closed_s(&domain, COLL_ALL_GATHER, bytes),
                           share / closed_s(&board, COLL_ALL_GATHER, bytes), 0.1e12);
    bench_release(&board);
    bench_release(&domain);
}

/* A job that the hosts of both clusters are given to. */
#define JOB(model, cluster, batch, parallelism)                                      \
    "{'model':'" model "','cluster':" cluster ",'training':{'sequence_length':4096," \
    "'micro_batch_size':1,'global_batch_size':" batch ",'precision':'bf16'},"        \
    "'parallelism':{'library':'megatron'," parallelism "}}"

static double job_s(const char *text, bool unfold, int32_t *domains)
{
    struct job j;
    struct err err = { 0 };
    struct simulate_result r = { 0 };
    cfg_loader_init(&j.loader);
    struct cfg root = cfg_parse(&j.loader, "job", text, strlen(text));
    CU_ASSERT_EQUAL_FATAL(scenario_read(&j.s, &j.loader, root), 0);
    const struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = unfold };
    CU_ASSERT_EQUAL(simulate(&r, &j.loader.arena, &j.s, &how, &err), 0);
    *domains = (int32_t)j.s.cluster.n_instances;
    job_unload(&j);
    return r.step_time_s;
}

/* Tensor groups of 8 over two hosts, pipelines over domains, experts over 64 GPUs. */
static void test_jobs(void)
{
    static const struct {
        const char *text;
        int32_t domains;
    } rows[] = {
        { JOB("llama3-70b", "{'instance':'dgx-gb200','count':36}", "72",
              "'tensor':8,'sequence_parallel':true,'pipeline':2,"
              "'sharding':{'strategy':'optimizer'}"),
          2 },
        { JOB("llama3-70b",
              "{'instance':'dgx-gb300','count':8,'nvlink_domain':"
              "{'gpus':16}}",
              "16", "'tensor':8,'pipeline':4"),
          2 },
        { JOB("deepseek-v3", "{'instance':'dgx-gb200','count':32}", "128",
              "'pipeline':2,'expert':64,'sharding':{'strategy':'optimizer'}"),
          2 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int32_t domains;
        double folded = job_s(rows[i].text, false, &domains);
        CU_ASSERT_EQUAL(domains, rows[i].domains);
        CU_ASSERT(folded > 0);
        CU_ASSERT(job_near(folded, job_s(rows[i].text, true, &domains), 1e-9));
    }
}

/* A tensor group over two hosts is slower where no NVLink joins them. */
static void test_what_joins(void)
{
    int32_t domains;
    double joined = job_s(
        JOB("llama3-8b", "{'instance':'dgx-gb200','count':18}", "18", "'tensor':8"),
        false, &domains);
    CU_ASSERT_EQUAL(domains, 1);
    double apart = job_s(JOB("llama3-8b",
                             "{'instance':'dgx-gb200','count':18,"
                             "'nvlink_domain':{'gpus':4}}",
                             "18", "'tensor':8"),
                         false, &domains);
    CU_ASSERT_EQUAL(domains, 18);
    CU_ASSERT(apart > 1.3 * joined);
}

void test_domain_register(void)
{
    CU_pSuite s = CU_add_suite("domain", NULL, NULL);
    CU_add_test(s, "shapes of domains", test_shapes);
    CU_add_test(s, "parts of a domain", test_parts);
    CU_add_test(s, "folded domains are unfolded", test_folded);
    CU_add_test(s, "inside a domain", test_inside);
    CU_add_test(s, "jobs over domains", test_jobs);
    CU_add_test(s, "what NVLink joins", test_what_joins);
}
