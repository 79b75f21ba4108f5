/* Memory over a grid of frameworks and ways to shard: what may never take more. And
 * what pipelines keep, by hand. */
#include "scenario/scenario.h"
#include "scenario/states.h"
#include "simulate/communicators.h"
#include "simulate/simulate.h"
#include "step/pass/pass_memory.h"
#include "step/reps.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void test_memory_register(void);

enum { H = 1024, S = 512, MIB = 1 << 20 };

static const char job_text[] =
    "{ 'model': { 'model_type': 'gpt2', 'n_layer': 18, 'n_embd': 1024, 'n_head': 16,"
    "             'vocab_size': 8192, 'n_positions': 512 },"
    "  'cluster': { 'instance': 'p4d.24xlarge', 'count': 1 },"
    "  'training': { 'sequence_length': 512, 'precision': 'bf16', 'microbatches': 8 } "
    "}";

struct memory {
    bool valid; /* the combination can be simulated */
    int64_t allocated_B, peak_B;
    /* of the first stage */
    int64_t kept_B;                 /* activations, at their most */
    int64_t workspace_B;            /* at the peak */
    int64_t end_B[LEDGER_KINDS];    /* held when the step has ended */
    struct ledger_event last_state; /* the last of parameters, before the step */
};

static struct memory memory_of(const char *const *changes)
{
    struct memory m = { 0 };
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { 0 };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", job_text, strlen(job_text));
    for (int i = 0; changes[i]; i++)
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[i]), 0);
    if (scenario_read(&s, &loader, root) == 0 &&
        reps_build(&reps, &loader.arena, &s, &how, &err) == 0) {
        for (int32_t i = 0; i < reps.n_steps; i++)
            if (reps.steps[i].ledger.peak_B > m.allocated_B)
                m.allocated_B = reps.steps[i].ledger.peak_B;
        const struct ledger *first = &reps.steps[0].ledger;
        m.kept_B = first->peak_activations_B;
        m.workspace_B = first->at_peak_B[LEDGER_WORKSPACE];
        memcpy(m.end_B, first->live_B, sizeof(m.end_B));
        for (int64_t i = 0; i < first->n_before; i++)
            if (first->events.v[i].kind == LEDGER_PARAMETERS &&
                first->events.v[i].size_B > 0)
                m.last_state = first->events.v[i];
        reps_release(&reps);
        m.valid = simulate_peak_B(&m.peak_B, &loader.arena, &s, &err) == 0;
    }
    cfg_loader_release(&loader);
    return m;
}

static const char *const frameworks[] = {
    "pytorch-ddp",   "pytorch2-compiled", "fsdp-torch1",        "fsdp-torch2",
    "megatron-2022", "megatron-core",     "megatron-deepspeed", "deepspeed-zero3",
};
static const char *const shardings[] = { "none", "optimizer", "gradients", "full" };
static const char *const checkpointings[] = { "none", "selective", "full" };

enum {
    FRAMEWORKS = sizeof(frameworks) / sizeof(*frameworks),
    SHARDINGS = 4,
    CHECKPOINTINGS = 3,
    BATCHES = 3
};

static struct memory at(int f, int sharding, int checkpointing, int batch)
{
    char framework[80], strategy[64], kept[64], size[64];
    const char *changes[] = { framework, strategy, kept, size, NULL };
    snprintf(framework, sizeof(framework), "/training/framework=\"%s\"", frameworks[f]);
    snprintf(strategy, sizeof(strategy), "/parallelism/sharding={\"strategy\":\"%s\"}",
             shardings[sharding]);
    snprintf(kept, sizeof(kept), "/training/activation_checkpointing=\"%s\"",
             checkpointings[checkpointing]);
    snprintf(size, sizeof(size), "/training/micro_batch_size=%d", 1 << batch);
    return memory_of(changes);
}

static void expect_less(struct memory less, struct memory more, double slack,
                        const int *place, const char *axis)
{
    if (!less.valid || !more.valid)
        return;
    bool ok = (double)less.allocated_B <= (double)more.allocated_B * (1 + slack) &&
              (double)less.peak_B <= (double)more.peak_B * (1.05 + slack);
    CU_ASSERT(ok);
    if (!ok)
        printf("%s, %s, %s, batch %d: %s takes more: %.1f after %.1f MB, %.1f after "
               "%.1f MB\n",
               frameworks[place[0]], shardings[place[1]], checkpointings[place[2]],
               1 << place[3], axis, (double)less.allocated_B / 1e6,
               (double)more.allocated_B / 1e6, (double)less.peak_B / 1e6,
               (double)more.peak_B / 1e6);
}

/* More sharding, a smaller batch and more recomputation never take more, of a model
 * with so many layers that a few gathered ones are less than what sharding saves. */
static void test_monotone(void)
{
    static struct memory all[FRAMEWORKS][SHARDINGS][CHECKPOINTINGS][BATCHES];
    int n_valid = 0;
    for (int f = 0; f < FRAMEWORKS; f++)
        for (int s = 0; s < SHARDINGS; s++)
            for (int c = 0; c < CHECKPOINTINGS; c++)
                for (int b = 0; b < BATCHES; b++) {
                    const int place[] = { f, s, c, b };
                    struct memory m = all[f][s][c][b] = at(f, s, c, b);
                    n_valid += m.valid;
                    if (s > 0)
                        expect_less(m, all[f][s - 1][c][b], 0, place, "sharding");
                    if (c > 0)
                        expect_less(m, all[f][s][c - 1][b], 0, place, "checkpointing");
                    if (b > 0)
                        expect_less(all[f][s][c][b - 1], m, 0, place,
                                    "a smaller batch");
                }
    CU_ASSERT(n_valid >= FRAMEWORKS * SHARDINGS * CHECKPOINTINGS * BATCHES / 2);
}

/* Of 8 microbatches the first of p stages has p in flight, each with the inputs of its
 * layers and, under DeepSpeed, its rank's part of what the stage hands on. */
static void test_pipeline(void)
{
    enum { STREAM_B = S * H * 2 };
    static const struct {
        const char *library, *framework;
        int stages, tensor;
        double streams; /* kept of a microbatch in flight */
    } cases[] = {
        { "megatron", "megatron-2022", 2, 1, 9 },
        { "deepspeed", "megatron-deepspeed", 2, 1, 9 + 1 },
        { "deepspeed", "megatron-deepspeed", 2, 2, 9 + 0.5 },
        { "deepspeed", "megatron-deepspeed", 3, 2, 6 + 0.5 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char library[64], framework[80], pipeline[64], tensor[64];
        const char *changes[] = { library,
                                  framework,
                                  pipeline,
                                  tensor,
                                  "/training/activation_checkpointing=\"full\"",
                                  "/training/micro_batch_size=1",
                                  "/cluster/count=3",
                                  NULL };
        snprintf(library, sizeof(library), "/parallelism/library=\"%s\"",
                 cases[i].library);
        snprintf(framework, sizeof(framework), "/training/framework=\"%s\"",
                 cases[i].framework);
        snprintf(pipeline, sizeof(pipeline), "/parallelism/pipeline=%d",
                 cases[i].stages);
        snprintf(tensor, sizeof(tensor), "/parallelism/tensor=%d", cases[i].tensor);
        struct memory m = memory_of(changes);
        CU_ASSERT_FATAL(m.valid);
        double kept_B = cases[i].stages * cases[i].streams * STREAM_B;
        double above_B = (double)m.kept_B - kept_B; /* the embedding's dropout mask */
        CU_ASSERT(above_B >= 0 && above_B <= cases[i].stages * STREAM_B);
        if (above_B < 0 || above_B > cases[i].stages * STREAM_B)
            printf("case %zu: %.2f streams\n", i, (double)m.kept_B / STREAM_B);
        CU_ASSERT(m.peak_B >= m.allocated_B);
    }
}

/* Through a stage's backward DeepSpeed holds the gradient that came, which at the peak,
 * in the stage's last layer, any library does, and the output that a tensor group has
 * made whole again. */
static void test_stage_ends(void)
{
    enum { STREAM_B = 64 * S * H * 2 };
    for (int tensor = 1; tensor <= 2; tensor++) {
        char group[64];
        const char *changes[] = { "/parallelism/library=\"megatron\"",
                                  "/training/framework=\"megatron-deepspeed\"",
                                  "/parallelism/pipeline=2",
                                  "/training/activation_checkpointing=\"full\"",
                                  "/training/micro_batch_size=64",
                                  group,
                                  NULL };
        snprintf(group, sizeof(group), "/parallelism/tensor=%d", tensor);
        struct memory without = memory_of(changes);
        changes[0] = "/parallelism/library=\"deepspeed\"";
        struct memory with = memory_of(changes);
        CU_ASSERT_FATAL(without.valid && with.valid);
        CU_ASSERT_EQUAL(with.workspace_B - without.workspace_B,
                        (tensor - 1) * STREAM_B);
    }
}

/* PyTorch's first stage has a buffer for each microbatch's gradient: twice the
 * microbatches are eight messages more. */
static void test_message_buffers(void)
{
    const char *changes[] = { "/parallelism/library=\"fsdp\"",
                              "/parallelism/pipeline=2", "/training/micro_batch_size=2",
                              "/training/microbatches=8", NULL };
    struct memory eight = memory_of(changes);
    changes[3] = "/training/microbatches=16";
    struct memory sixteen = memory_of(changes);
    CU_ASSERT_FATAL(eight.valid && sixteen.valid);
    CU_ASSERT_EQUAL(sixteen.end_B[LEDGER_BUFFERS] - eight.end_B[LEDGER_BUFFERS],
                    8 * 2 * S * H * 2);
}

/* ZeRO 1 of 8 ranks: the last of the states is one flat copy of the parameters, and
 * when the step has ended a rank holds the gradients that it has updated: its share and
 * no more than one tensor (the largest, the embedding) beyond. DeepSpeed's bf16
 * optimizer sums all in one buffer that stays. */
static void test_flat_states(void)
{
    enum { EMBEDDING_B = 8192 * H * 2 };
    const char *changes[] = { "/parallelism/library=\"deepspeed\"",
                              "/training/framework=\"megatron-deepspeed\"",
                              "/parallelism/sharding={\"strategy\":\"optimizer\"}",
                              "/training/micro_batch_size=1", NULL };
    struct memory m = memory_of(changes);
    CU_ASSERT_FATAL(m.valid);
    int64_t parameters_B = m.end_B[LEDGER_PARAMETERS];
    CU_ASSERT(parameters_B > 18 * 12 * (int64_t)H * H * 2);
    CU_ASSERT_EQUAL(m.last_state.size_B, parameters_B);
    CU_ASSERT(m.end_B[LEDGER_GRADIENTS] >= parameters_B / 8);
    CU_ASSERT(m.end_B[LEDGER_GRADIENTS] <= parameters_B / 8 + EMBEDDING_B);
    int64_t buffers_B = m.end_B[LEDGER_BUFFERS];
    changes[2] = "/parallelism/sharding={\"strategy\":\"gradients\"}";
    m = memory_of(changes); /* ZeRO 2 has no second copy of all gradients */
    CU_ASSERT_EQUAL(buffers_B - m.end_B[LEDGER_BUFFERS], parameters_B);
    changes[1] = "/training/framework=\"megatron-deepspeed-bf16\"";
    changes[2] = "/parallelism/sharding={\"strategy\":\"optimizer\"}";
    m = memory_of(changes);
    CU_ASSERT_FATAL(m.valid);
    CU_ASSERT(m.last_state.size_B <= EMBEDDING_B);
    CU_ASSERT_EQUAL(m.end_B[LEDGER_GRADIENTS] / 1000000, 4 * parameters_B / 1000000);
}

/* The most that is gathered or under way to its shards, and what is left of it. */
static int64_t most_buffers_B(bool record_stream, int64_t *left_B)
{
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
    struct err err = { 0 };
    int64_t most_B = 0;
    const struct reps_options how = { 0 };
    const char *changes[] = { "/training/framework=\"fsdp-eager\"",
                              "/training/micro_batch_size=1",
                              "/parallelism={\"library\":\"fsdp\"}" };
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", job_text, strlen(job_text));
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[i]), 0);
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    struct framework fw = *s.training.framework;
    fw.tensors.record_stream = record_stream;
    s.training.framework = &fw;
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader.arena, &s, &how, &err), 0);
    const struct ledger *l = &reps.steps[0].ledger;
    *left_B = 0;
    for (int64_t i = 0; i < l->events.n; i++) {
        if (l->events.v[i].kind == LEDGER_BUFFERS)
            *left_B += l->events.v[i].size_B;
        most_B = *left_B > most_B ? *left_B : most_B;
    }
    reps_release(&reps);
    cfg_loader_release(&loader);
    return most_B;
}

/* FSDP's host is a unit ahead of the GPU: of the unit before, a layer, parameters and
 * gradients (2 B each) are there once more (MODEL.md, 8.14). */
static void test_record_stream(void)
{
    int64_t left_B[2], layer = 12 * H * H + 13 * H;
    int64_t most_B = most_buffers_B(true, &left_B[0]);
    CU_ASSERT_EQUAL(most_B - most_buffers_B(false, &left_B[1]), layer * 4);
    CU_ASSERT_EQUAL(left_B[0], 0);
    CU_ASSERT_EQUAL(left_B[1], 0);
}

/* The most that the first stage of a tensor group has in blocks of a kind that the GPU has
 * not passed. All come back. */
static int64_t most_late_B(const char *parallelism, const char *framework,
                           enum ledger_kind kind)
{
    struct cfg_loader loader;
    struct scenario s;
    struct reps reps;
    struct err err = { 0 };
    const struct reps_options how = { 0 };
    const char *changes[] = { framework,
                              "/training/activation_checkpointing=\"none\"",
                              "/training/attention=\"flash\"",
                              "/training/precision=\"bf16\"",
                              "/training/micro_batch_size=128",
                              "/cluster={\"instance\":\"p5.48xlarge\",\"count\":2}",
                              parallelism };
    int64_t sum_B = 0, most_B = 0;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", job_text, strlen(job_text));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[i]), 0);
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    CU_ASSERT_EQUAL_FATAL(reps_build(&reps, &loader.arena, &s, &how, &err), 0);
    const struct ledger *l = &reps.steps[0].ledger;
    const struct ledger_event *own = l->events.v;
    for (int64_t k = 0; k < l->runs.n; k++) {
        const struct ledger_run *run = &l->runs.v[k];
        const struct ledger_event *v = run->change ? run->change->events : own;
        own += run->change ? 0 : run->n;
        for (int64_t i = 0; i < run->n; i++) {
            sum_B += v[i].kind == kind ? v[i].size_B : 0;
            most_B = sum_B > most_B ? sum_B : most_B;
        }
    }
    if (kind == LEDGER_LATE || kind == LEDGER_SPARE)
        CU_ASSERT_EQUAL(sum_B, 0);
    reps_release(&reps);
    cfg_loader_release(&loader);
    return most_B;
}

/* A GPU that its host is ahead of has two streams a layer and one of the embedding, as the
 * scatters of the tensor group have read them, and what they wrote, a rank's part of each;
 * between nodes they are spare, and of as many layers as a stream holds launches of; of
 * the backward before it as much as the stream still holds (6 of 36 layers there).
 * Pipelines have those of one pass, and on the first stage during a forward those of the
 * backward before it: of a layer two streams and six parts at most. Of the forwards before
 * the first backward but two they are spare, as far as a stream holds launches. Where the host looks for messages now and then,
 * it loses its lead (MODEL.md, 5.7). */
static void test_late(void)
{
#define GROUPS(t, p)                                                             \
    "/parallelism={\"library\":\"nanotron\",\"placement\":\"DPT\",\"tensor\":" t \
    ",\"pipeline\":" p ",\"sequence_parallel\":true}"
    static const char now[] = "/training/framework=\"nanotron\"",
                      polls[] = "/training/framework=\"nanotron-polls\"",
                      plain[] = "/training/framework=\"megatron-core\"";
    const int64_t stream_B = 128 * (int64_t)S * H * 2, half_B = stream_B / 2;
    const struct {
        const char *groups, *framework;
        int64_t least_B, most_B, spare_B;
    } cases[] = {
        { GROUPS("2", "1"), now, 37 * 3 * half_B + half_B,
          37 * 3 * half_B + 37 * 10 * half_B, 0 },
        { GROUPS("16", "1"), now, 0, 0, 801 * half_B / 8 },
        { GROUPS("2", "1"), plain, 0, 0, 0 },
        { GROUPS("2", "2"), polls, 21 * 3 * half_B, 21 * 3 * half_B, 0 },
        { GROUPS("2", "2"), now, 21 * 3 * half_B + half_B,
          21 * 3 * half_B + 10 * 10 * half_B, 0 },
        { GROUPS("2", "4"), now, 11 * 3 * half_B + half_B,
          11 * 3 * half_B + 5 * 10 * half_B, 2 * 11 * 3 * half_B },
        { GROUPS("2", "4"), polls, 11 * 3 * half_B, 11 * 3 * half_B, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t late_B = most_late_B(cases[i].groups, cases[i].framework, LEDGER_LATE);
        CU_ASSERT(late_B >= cases[i].least_B && late_B <= cases[i].most_B);
        CU_ASSERT_EQUAL(most_late_B(cases[i].groups, cases[i].framework, LEDGER_SPARE),
                        cases[i].spare_B);
    }
    /* no more than a stream holds launches of: 446 of the list's (MODEL.md, 5.7) */
    struct builder b = { 0 };
    struct late_blocks held = { 0 };
    b.tensors.ahead.blocks =
        (struct late_blocks) { LEDGER_SPARE, stream_B, half_B, 10, 10 };
    b.tensors.ahead.spent.launches = 100;
    static const int32_t most[] = { 10, 10, 10, 10, 4, 0 };
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        struct late_blocks led = pass_led(&b, &held);
        CU_ASSERT_EQUAL(led.n_part, most[i]);
        held.n_part += led.n_part;
    }
#undef GROUPS
}

/* What a group's products gather is in a buffer of forward's and one of backward's, each of
 * the stream of all ranks (MODEL.md, 5.5a). */
static void test_gather_buffers(void)
{
    static const char groups[] = "/parallelism={\"library\":\"nanotron\",\"tensor\":16,"
                                 "\"sequence_parallel\":true}";
    const int64_t stream_B = 128 * (int64_t)S * H * 2;
    int64_t made_B =
        most_late_B(groups, "/training/framework=\"nanotron\"", LEDGER_BACKWARD_ONCE);
    /* copies of layers repeat it, which makes no second one (memory/replay.h) */
    CU_ASSERT(made_B > stream_B);
    CU_ASSERT_EQUAL(made_B % stream_B, 32 << 20);
}

/* NCCL's buffers: of one group 392 MB; of several 342 each, and as many for all ranks
 * together and for tensor groups of all stages (MODEL.md, 5.4). */
static void test_communicators(void)
{
    static const struct {
        int tensor, pipeline; /* of 8 GPUs; the rest are replicas */
        int64_t megabytes;
    } cases[] = {
        { 1, 1, 392 },     { 8, 1, 342 },     { 2, 1, 3 * 342 },
        { 1, 2, 3 * 342 }, { 4, 2, 4 * 342 }, { 2, 2, 5 * 342 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct simulate_result r;
        struct err err = { 0 };
        const struct simulate_options options = { 0 };
        char degrees[128];
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", job_text, strlen(job_text));
        snprintf(degrees, sizeof(degrees),
                 "/parallelism={\"library\":\"megatron\",\"tensor\":%d,"
                 "\"pipeline\":%d}",
                 cases[i].tensor, cases[i].pipeline);
        const char *changes[] = { degrees, "/training/framework=\"megatron-2022\"",
                                  "/training/micro_batch_size=1" };
        for (int k = 0; k < 3; k++)
            CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[k]), 0);
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        CU_ASSERT_EQUAL_FATAL(simulate(&r, &loader.arena, &s, &options, &err), 0);
        int64_t nccl_B =
            r.memory.peak_B - r.memory.reserved_B - r.memory.stages[0].framework_B;
        CU_ASSERT_EQUAL(nccl_B, cases[i].megabytes * 1000000);
        if (nccl_B != cases[i].megabytes * 1000000)
            printf("tensor %d, pipeline %d: %lld\n", cases[i].tensor, cases[i].pipeline,
                   (long long)nccl_B);
        cfg_loader_release(&loader);
    }
}

/* nanotron's groups of 32 GPUs on 4 nodes: of tensor, data and model groups, of all ranks
 * twice, and a pair with either neighbour, and in its benchmark of a node; in releases that allocate at once, the switch
 * of a node adds up in 192 MiB a GPU of each but the pairs. */
static void test_nanotron_communicators(void)
{
    static const struct {
        const char *nccl;
        int64_t nodes_ranks; /* GPUs of a node over groups of more than two */
    } cases[] = {
        { "/software/nccl=\"2.18\"", 4 + 4 + 8 + 8 },
        { "/software/nccl=\"2.28\"", 0 },
        { "/software={\"nccl\":\"2.18\",\"environment\":{\"NCCL_NVLS_ENABLE\":"
          "\"0\"}}",
          0 },
        { "/software={\"nccl\":\"2.18\",\"environment\":{\"NANOTRON_BENCHMARK\":"
          "\"1\"}}",
          4 + 4 + 8 + 8 + 8 },
    };
    static const char text[] =
        "{ \"model\": \"llama-7b\", \"cluster\": { \"instance\": \"p5.48xlarge\", "
        "\"count\": 4 }, \"training\": { \"sequence_length\": 4096, "
        "\"micro_batch_size\": 1, \"global_batch_size\": 16, \"precision\": \"bf16\", "
        "\"optimizer\": \"adam\" }, \"parallelism\": { \"library\": \"nanotron\", "
        "\"placement\": \"PDT\", \"tensor\": 4, \"pipeline\": 4, "
        "\"schedule\": \"1f1b\" } }";
    /* Of a replica and twice of all: in 8 channels three peers on other nodes, in 8 one, each
     * with 8.69 MiB to send from and 9.19 to receive in. */
    const int64_t over_nodes = 3, trees_B = (8 * 3 + 8 * 1) * (int64_t)18743296;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cfg_loader loader;
        struct scenario s;
        struct communicator_size v[COMMUNICATORS_MAX];
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", text, strlen(text));
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, cases[i].nccl), 0);
        CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
        CU_ASSERT_EQUAL(states_wire_B(&s), 4); /* sums, in place */
        CU_ASSERT_EQUAL(states_bucket_B(&s, 2), 2);
        int32_t n = 7 + s.software.node_group;
        CU_ASSERT_EQUAL(communicators_list(v, &s), n);
        CU_ASSERT_EQUAL(communicators_B(&s),
                        n * (int64_t)NCCL_COMMUNICATOR_B +
                            cases[i].nodes_ranks * ((int64_t)192 << 20) +
                            (cases[i].nodes_ranks ? over_nodes * trees_B : 0));
        cfg_loader_release(&loader);
    }
}

/* What a branch books leaves the ledger it came from alone; booked there as a change, or
 * repeated elsewhere, it comes to what it would have been in place. */
static void test_branch(void)
{
    enum { LAYERS = 96 };
    struct ledger from = { .records = true },
                  in_place = { .records = true, .microbatch = 2 },
                  copy = { .records = true, .microbatch = 2 };
    struct ledger *all[] = { &from, &in_place, &copy };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < LAYERS; k++)
            ledger_alloc(all[i], LEDGER_PARAMETERS, 24 * MIB);
    struct ledger before = from, branch = ledger_branch(&from);
    struct ledger *books[] = { &branch, &in_place };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < LAYERS; k++) {
            ledger_alloc(books[i], LEDGER_ACTIVATIONS, 3 * MIB);
            ledger_alloc(books[i], LEDGER_WORKSPACE, (k % 7 + 1) * MIB);
            ledger_free(books[i], LEDGER_WORKSPACE, (k % 7 + 1) * MIB);
        }
    CU_ASSERT_EQUAL(memcmp(&from, &before, sizeof(from)), 0);
    struct ledger_change change = ledger_since(&branch, &from);
    CU_ASSERT_EQUAL(change.n_events, 3 * LAYERS);
    CU_ASSERT_EQUAL(change.delta_B[LEDGER_ACTIVATIONS], (int64_t)LAYERS * 3 * MIB);
    ledger_apply(&from, &change);
    ledger_repeat(&copy, &change);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(all[i]->total_B, in_place.total_B);
        CU_ASSERT_EQUAL(all[i]->peak_B, in_place.peak_B);
        CU_ASSERT_EQUAL(all[i]->peak_activations_B, in_place.peak_activations_B);
        CU_ASSERT_EQUAL(all[i]->n_events, in_place.n_events);
        CU_ASSERT_EQUAL(
            memcmp(all[i]->at_peak_B, in_place.at_peak_B, sizeof(in_place.at_peak_B)),
            0);
    }
    CU_ASSERT_EQUAL(copy.events.n, in_place.events.n);
    CU_ASSERT_EQUAL(memcmp(copy.events.v, in_place.events.v,
                           (size_t)copy.events.n * sizeof(*copy.events.v)),
                    0);
    for (int i = 0; i < 3; i++)
        ledger_release(all[i]);
    ledger_release(&branch);
}

static int64_t context_of(const char *const *changes)
{
    struct cfg_loader loader;
    struct scenario s;
    cfg_loader_init(&loader);
    struct cfg root = cfg_parse(&loader, "text", job_text, strlen(job_text));
    CU_ASSERT_EQUAL_FATAL(cfg_set(root, "/training/micro_batch_size=1"), 0);
    for (int i = 0; changes[i]; i++)
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, changes[i]), 0);
    CU_ASSERT_EQUAL_FATAL(scenario_read(&s, &loader, root), 0);
    int64_t context_B =
        scenario_context_B(&s, s.cluster.groups[0].instance->gpu, s.cluster.n_gpus);
    cfg_loader_release(&loader);
    return context_B;
}

/* (5.4): one GPU, and a PyTorch that loads what is called. */
static void test_context(void)
{
    static const char one[] = "/cluster/gpus_per_instance=1";
    const int64_t all_B = 1573 * MIB, few_B = 512 * MIB;
    CU_ASSERT_EQUAL(context_of((const char *[]) { one, NULL }), few_B);
    CU_ASSERT_EQUAL(context_of((const char *[]) { NULL }), all_B);
    CU_ASSERT_EQUAL(
        context_of((const char *[]) { one, "/software/pytorch=\"1.13.1\"", NULL }),
        few_B);
    CU_ASSERT_EQUAL(
        context_of((const char *[]) { one, "/software/pytorch=\"1.12.1\"", NULL }),
        all_B);
    CU_ASSERT_EQUAL(
        context_of((const char *[]) { one, "/training/framework=megatron-2022",
                                      "/parallelism/library=megatron", NULL }),
        all_B);
}

void test_memory_register(void)
{
    CU_pSuite s = CU_add_suite("memory", NULL, NULL);
    CU_add_test(s, "what never takes more", test_monotone);
    CU_add_test(s, "pipelines", test_pipeline);
    CU_add_test(s, "ends of DeepSpeed's stages", test_stage_ends);
    CU_add_test(s, "buffers of PyTorch's stages", test_message_buffers);
    CU_add_test(s, "ZeRO 1 keeps flat buffers", test_flat_states);
    CU_add_test(s, "blocks that other streams use", test_record_stream);
    CU_add_test(s, "late blocks of tensor groups", test_late);
    CU_add_test(s, "buffers of gathers", test_gather_buffers);
    CU_add_test(s, "communicators", test_communicators);
    CU_add_test(s, "nanotron's communicators", test_nanotron_communicators);
    CU_add_test(s, "the context", test_context);
    CU_add_test(s, "a ledger's branch", test_branch);
}
