/* Replays of Chakra traces: of jobs whose step is known from the simulation that wrote
 * them, on the same cluster and on others; files that are cut off or changed. */
#include "base/file.h"
#include "replay/replay.h"
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

void test_replay_register(void)
{
    CU_pSuite s = CU_add_suite("replay", NULL, NULL);
    CU_add_test(s, "the same cluster, and a slower network", test_same);
    CU_add_test(s, "numbers of ranks", test_ranks);
    CU_add_test(s, "broken files", test_broken);
}
