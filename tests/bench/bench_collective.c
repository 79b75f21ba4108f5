/* How long collectives take to simulate: a 4,096-rank all-reduce with every message,
 * and plans of 16,384 GPUs. Wall-clock seconds and peak memory, never asserted. */
#include "run/chunk.h"
#include "run/coll_run.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double peak_MiB(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static void note_end(struct sim *sim, void *arg)
{
    *(double *)arg = units_s(sim->now_ps);
}

/* One all-reduce of 1 GiB over a whole cluster, net and plan included. */
static void run(const char *spec, bool folded, enum fidelity fidelity)
{
    struct cfg_loader loader;
    struct cluster cluster;
    struct arena arena;
    struct err err = { 0 };
    struct coll_world world;
    struct coll_plan plan;
    struct sim sim;
    double end = 0, begin;
    cfg_loader_init(&loader);
    arena_init(&arena);
    if (cluster_parse(&cluster, &loader, spec)) {
        diags_print_errors(&loader.diags, stderr);
        exit(1);
    }
    struct coll_group group = coll_group_world(&cluster);
    struct coll_request request = { .op = COLL_ALL_REDUCE,
                                    .protocol = FABRIC_PROTO_SIMPLE,
                                    .size_B = 1 << 30,
                                    .groups = &group,
                                    .n_groups = 1 };
    begin = now_s();
    struct net *net = net_new(&cluster, folded, &err);
    if (!net || coll_plan_make(&plan, &arena, net, &request, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    sim_init(&sim, NULL);
    run_world_init(&world, &sim, net, fidelity);
    run_coll_start(&world, &plan, note_end, &end);
    sim_run(&sim);
    printf("collective %-18s %6lld ranks %-8s %-8s %9.4f s wall %8.1f MiB peak  "
           "%9lld messages  (%.6f s simulated)\n",
           spec, (long long)plan.n_ranks, folded ? "folded" : "unfolded",
           names_of(fidelity_names, (int)fidelity), now_s() - begin, peak_MiB(),
           world.chunk ? (long long)chunk_n_messages(world.chunk) : 0, end);
    run_world_release(&world);
    sim_release(&sim);
    net_free(net);
    arena_release(&arena);
    cfg_loader_release(&loader);
}

int main(void)
{
    run("g5.48xlarge:512", true, FIDELITY_CHUNK); /* one NIC a node: one ring */
    run("g5.48xlarge:512", false, FIDELITY_CHUNK);
    run("p4d.24xlarge:512", true, FIDELITY_CHUNK); /* four rings */
    run("p4d.24xlarge:512", false, FIDELITY_CHUNK);
    run("p4d.24xlarge:2048", true, FIDELITY_CHUNK); /* target: 50 ms */
    run("g5.48xlarge:2048", true, FIDELITY_CHUNK);
    run("p4d.24xlarge:2048", true, FIDELITY_ANALYTIC);
    run("p4d.24xlarge:2048", true, FIDELITY_FLOW); /* target: 5 ms */
    run("p4d.24xlarge:2048", false, FIDELITY_FLOW);
    return 0;
}
