/* Replays of Chakra traces: of jobs whose step is known from the simulation that wrote
 * them, on the same cluster and on others; files that are cut off or changed. */
#include "base/file.h"
#include "replay/replay.h"
#include "replay/replay_step.h"
#include "simulate/simulate.h"
#include "trace/chakra.h"

#include "scenario_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_replay_register(void);

/* Llama's shapes on two nodes, with several microbatches. */
static const char job[] =
    "{ 'model': { 'model_type': 'llama', 'num_hidden_layers': 8, 'hidden_size': 4096,"
    "             'num_attention_heads': 32, 'intermediate_size': 11008, 'vocab_size': "
    "32000,"
    "             'max_position_embeddings': 4096 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 2 },"
    "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1, 'precision': "
    "'bf16', 'attention': 'flash' } }";

struct written {
    struct cfg_loader loader;
    struct scenario s;
    char dir[32];
};

static void write_traces(struct written *w, const char *changes)
{
    struct chakra_counts counts;
    struct err err = { 0 };
    strcpy(w->dir, "/tmp/smsim-replay-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(w->dir));
    bench_scenario(&w->loader, &w->s, job, "/parallelism/", changes);
    CU_ASSERT_EQUAL_FATAL(chakra_export(&counts, w->dir, &w->loader.arena, &w->s, &err),
                          0);
}

static void remove_traces(struct written *w)
{
    char path[64];
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof(path), "%s/step.%d.et", w->dir, i);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/comm_groups.json", w->dir);
    unlink(path);
    CU_ASSERT_EQUAL(rmdir(w->dir), 0);
    cfg_loader_release(&w->loader);
}

static int replay(struct replay_result *r, struct written *w, const struct cluster *c,
                  struct err *err)
{
    struct chakra_trace t;
    int rc = chakra_trace_load(&t, &w->loader, w->dir, err);
    rc = rc || replay_run(r, &t, c, w->s.software.nccl, err);
    chakra_trace_release(&t);
    return rc ? -1 : 0;
}

static double simulated(struct written *w)
{
    struct simulate_result r;
    struct err err = { 0 };
    const struct simulate_options how = { .network = FIDELITY_FLOW, .unfold = true };
    CU_ASSERT_EQUAL_FATAL(simulate(&r, &w->loader.arena, &w->s, &how, &err), 0);
    return r.step_time_s;
}

static const char *const jobs[] = {
    "library=\"ddp\" /training/gradient_accumulation_steps=2",
    "library=\"fsdp\" sharding={\"strategy\":\"full\"}",
    "library=\"deepspeed\" sharding={\"strategy\":\"full\"}",
    "library=\"megatron\" tensor=8 /training/gradient_accumulation_steps=4",
    "library=\"megatron\" tensor=4 pipeline=2 /training/microbatches=8",
    "library=\"megatron\" tensor=2 pipeline=4 /training/microbatches=8",
    "library=\"megatron\" expert=8 pipeline=2 placement=\"PDT\" "
    "/training/microbatches=8 "
    "/model/model_type=\"mixtral\" /model/num_local_experts=8 "
    "/model/num_experts_per_tok=2",
};

/* The same cluster: the step of the simulation, within what contention and launches make.
 * With NICs at a quarter no step is shorter. */
static void test_same(void)
{
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        struct written w;
        struct replay_result r, slow;
        struct err err = { 0 };
        write_traces(&w, jobs[i]);
        CU_ASSERT_EQUAL_FATAL(replay(&r, &w, &w.s.cluster, &err), 0);
        double ratio = r.step_s / simulated(&w);
        CU_ASSERT_TRUE(fabs(ratio - 1) < 0.08);
        if (fabs(ratio - 1) >= 0.08)
            printf("%s: %.3f\n", jobs[i], ratio);
        CU_ASSERT_DOUBLE_EQUAL(r.compute_s + r.exposed_s + r.waiting_s, r.step_s, 1e-9);
        CU_ASSERT_TRUE(r.n_collectives > 0);
        struct cluster c = w.s.cluster;
        struct instance copy = *c.groups[0].instance;
        for (int32_t k = 0; k < copy.n_nics; k++)
            copy.nics[k].line_Bps /= 4;
        c.groups[0].instance = &copy;
        CU_ASSERT_EQUAL_FATAL(replay(&slow, &w, &c, &err), 0);
        CU_ASSERT_TRUE(slow.step_s >= r.step_s * 0.999);
        CU_ASSERT_TRUE(i > 2 || slow.step_s > 1.2 * r.step_s);
        remove_traces(&w);
    }
}

/* Other numbers of GPUs, and a rank that lacks. */
static void test_ranks(void)
{
    struct written w;
    struct replay_result r;
    struct err err = { 0 };
    char path[64];
    write_traces(&w, jobs[4]);
    struct cluster c = w.s.cluster;
    c.n_gpus = 32;
    CU_ASSERT_EQUAL(replay(&r, &w, &c, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "16 ranks, and 32 GPUs"));
    snprintf(path, sizeof(path), "%s/step.15.et", w.dir);
    unlink(path);
    err = (struct err) { 0 };
    CU_ASSERT_EQUAL(replay(&r, &w, &w.s.cluster, &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "rank 15 has no file"));
    remove_traces(&w);
}

/* Files that are cut off or changed are refused, or give some step; nothing else. */
static void test_broken(void)
{
    struct written w;
    struct replay_result r;
    char path[64];
    size_t len;
    struct err err = { 0 };
    write_traces(&w, jobs[4]);
    snprintf(path, sizeof(path), "%s/step.3.et", w.dir);
    char *text = file_read(path, 1 << 28, &len, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    int refused = 0;
    for (int i = 0; i < 60; i++) {
        FILE *f = fopen(path, "wb");
        size_t at = len * (size_t)i / 60;
        char was = text[at];
        text[at] = (char)(was + 1 + i);
        fwrite(text, 1, i % 2 ? len : at, f);
        text[at] = was;
        fclose(f);
        err = (struct err) { 0 };
        int rc = replay(&r, &w, &w.s.cluster, &err);
        CU_ASSERT_EQUAL(rc != 0, err.set);
        CU_ASSERT_TRUE(rc || isfinite(r.step_s));
        refused += rc != 0;
    }
    CU_ASSERT_TRUE(refused > 30);
    free(text);
    remove_traces(&w);
}

/* A step of one rank ------------------------------------------------------------------- */

/* Two kernels that compute, and between them an all-reduce that the second waits for; ns,
 * and a launch long before each. */
static void make_step(struct kineto_rank *t, int64_t reduce_ns)
{
    const struct kineto_task tasks[] = {
        { 1000000, 9000000, 0, 7, KERNEL_PRODUCT, COMM_OTHER, 0, 0, 0 },
        { 10000000, reduce_ns, 1000, 20, KERNEL_COMM, COMM_ALL_REDUCE, 0x1p28, 16, 1 },
        { 10000000 + reduce_ns, 5000000, 2000, 7, KERNEL_PRODUCT, COMM_OTHER, 0, 0, 0 },
    };
    *t = (struct kineto_rank) { .world = 16 };
    for (int i = 0; i < 3; i++)
        VEC_PUSH(&t->tasks, tasks[i]);
    t->tasks_s =
        1e-9 * (double)(15000000 + reduce_ns) + 1e-3; /* and 1 ms of the host */
}

static int replay_on(struct replay_step *r, const struct kineto_rank *t,
                     const char *changes, struct err *err)
{
    struct cfg_loader loader;
    struct scenario s;
    bench_scenario(&loader, &s, job, "/cluster/", changes);
    int rc = replay_step(r, t, &s.cluster, s.software.nccl, err);
    cfg_loader_release(&loader);
    return rc;
}

static void test_step(void)
{
    struct kineto_rank t;
    struct replay_step fast, slow;
    struct err err = { 0 };
    make_step(&t, 20000000);
    CU_ASSERT_EQUAL_FATAL(replay_on(&fast, &t, "", &err), 0);
    CU_ASSERT_EQUAL_FATAL(replay_on(&slow, &t, "network_bandwidth=x0.25", &err), 0);
    CU_ASSERT_DOUBLE_EQUAL(fast.same_s, fast.measured_s, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(fast.compute_s, 14e-3, 1e-9);
    CU_ASSERT_EQUAL(fast.n_kept, 0);
    /* all of the all-reduce is exposed: 16 ms of others, and its own time */
    CU_ASSERT_DOUBLE_EQUAL(fast.step_s, 16e-3 + fast.collective_s, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(slow.step_s, 16e-3 + slow.collective_s, 1e-9);
    CU_ASSERT(slow.collective_s > 2.5 * fast.collective_s);
    kineto_rank_release(&t);
}

/* Two ranks next to each other have NVLink; the same GPU of two nodes, the network, which
 * is shared with the other GPUs of the node. Ranks that are not spread evenly are none of
 * the cluster's. */
static void test_step_strides(void)
{
    static const int64_t strides[] = { 1, 4, 8, 3 };
    struct replay_step r[4];
    for (int i = 0; i < 4; i++) {
        struct kineto_rank t;
        struct err err = { 0 };
        make_step(&t, 20000000);
        t.tasks.v[1].group = 2;
        t.tasks.v[1].stride = strides[i];
        CU_ASSERT_EQUAL(replay_on(&r[i], &t, "", &err), i == 3 ? -1 : 0);
        kineto_rank_release(&t);
    }
    CU_ASSERT_DOUBLE_EQUAL(r[1].collective_s, r[0].collective_s, 1e-6);
    CU_ASSERT(r[2].collective_s > 4 * r[0].collective_s);
    CU_ASSERT_EQUAL(r[2].n_kept, 0);
}

/* What waits for other ranks does so still: the shortest of a kind does not wait. */
static void test_step_waits(void)
{
    struct kineto_rank t;
    struct replay_step r;
    struct err err = { 0 };
    make_step(&t, 20000000);
    struct kineto_task again = t.tasks.v[1];
    again.start = t.tasks.v[2].start + t.tasks.v[2].length;
    again.length = 26000000;
    VEC_PUSH(&t.tasks, again);
    t.tasks_s = 1e-9 * (double)(again.start + again.length);
    CU_ASSERT_EQUAL_FATAL(replay_on(&r, &t, "", &err), 0);
    CU_ASSERT_DOUBLE_EQUAL(r.waited_s, 6e-3, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(r.was_s, 46e-3, 1e-9);
    kineto_rank_release(&t);
}

/* A host that waits for a kernel launches later where the kernel ends later; one that is
 * late by itself does not. */
static void test_step_host(void)
{
    struct kineto_rank t;
    struct replay_step r;
    struct err err = { 0 };
    make_step(&t, 20000000);
    t.tasks.v[2].launch = 30100000; /* 0.1 ms after the all-reduce */
    t.tasks.v[2].start = 30200000;
    CU_ASSERT_EQUAL_FATAL(replay_on(&r, &t, "network_bandwidth=x0.25", &err), 0);
    CU_ASSERT_DOUBLE_EQUAL(r.idle_s, 1e-3 + 0.2e-3 + 0.8e-3, 1e-6);
    kineto_rank_release(&t);
}

static void test_step_refused(void)
{
    struct kineto_rank t;
    struct replay_step r;
    struct err none = { 0 }, ranks = { 0 }, sizes = { 0 };
    make_step(&t, 20000000);
    t.world = 8;
    CU_ASSERT_EQUAL(replay_on(&r, &t, "", &ranks), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(ranks.text, "8 ranks, and 16 GPUs"));
    t.world = 16;
    t.tasks.v[1].size_B = 0;
    CU_ASSERT_EQUAL(replay_on(&r, &t, "", &sizes), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(sizes.text, "says its size"));
    t.tasks.n = 0;
    CU_ASSERT_EQUAL(replay_on(&r, &t, "", &none), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(none.text, "no step with kernels"));
    kineto_rank_release(&t);
}

void test_replay_register(void)
{
    CU_pSuite s = CU_add_suite("replay", NULL, NULL);
    CU_add_test(s, "the same cluster, and a slower network", test_same);
    CU_add_test(s, "numbers of ranks", test_ranks);
    CU_add_test(s, "broken files", test_broken);
    CU_add_test(s, "a step of one rank", test_step);
    CU_add_test(s, "a step's waits", test_step_waits);
    CU_add_test(s, "groups that stride over nodes", test_step_strides);
    CU_add_test(s, "a step's host", test_step_host);
    CU_add_test(s, "steps that are refused", test_step_refused);
}
