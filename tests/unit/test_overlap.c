/* What overlaps with computation: sums of tensor groups, gathers, copies from the
 * host. */
#include "cost/kernel.h"
#include "run/groups.h"
#include "scenario/states.h"
#include "step/reps.h"
#include "step_bench.h"

#include <CUnit/CUnit.h>
#include <math.h>

void test_overlap_register(void);

/* A sum of activations that overlaps with weight gradients is hidden, but slows them:
 * they have fewer SMs and less memory bandwidth. */
static void test_slowed(void)
{
    static const char *const frameworks[] = { "megatron-2021", "megatron-2022" };
    struct simulate_result r[2];
    for (int overlap = 0; overlap < 2; overlap++) {
        char changes[256];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=4096 /training/micro_batch_size=8 tensor=8 "
                 "/training/framework=\"%s\"",
                 frameworks[overlap]);
        job_load(&j, changes);
        validation_job_run(&j, &r[overlap]);
        job_unload(&j);
    }
    double sums = 4 * 8 + 2; /* in all layers and at the ends, a microbatch */
    double sum_s = r[0].parts_s[CATEGORY_TENSOR_COMM] / (8 * sums);
    double hidden_s = r[0].layer.backward_s - r[1].layer.backward_s;
    CU_ASSERT(hidden_s > 0.3 * 2 * sum_s);
    CU_ASSERT(hidden_s < 0.9 * 2 * sum_s);
    CU_ASSERT_DOUBLE_EQUAL(r[0].layer.forward_s, r[1].layer.forward_s, 1e-12);
}

/* Megatron-Core's sums pass within products, cut into pieces, where the scenario asks for
 * it alone; NeMo's unless it says that they do not (MODEL.md, 8.11). */
static void test_pieces(void)
{
    static const char *const says[] = {
        "megatron-core\" overlap_tensor=true",  "megatron-core\"",
        "megatron-core\" overlap_tensor=false", "nemo\"",
        "nemo\" overlap_tensor=false",
    };
    double time_s[5];
    for (int i = 0; i < 5; i++) {
        struct simulate_result r;
        char changes[256];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "tensor=2 /model/n_embd=8192 /training/micro_batch_size=16 "
                 "/training/framework=\"%s",
                 says[i]);
        job_load(&j, changes);
        CU_ASSERT_EQUAL(j.s.parallel.split.hidden_frac, i % 3 ? 0 : 0.7);
        validation_job_run(&j, &r);
        time_s[i] = r.step_time_s;
        job_unload(&j);
    }
    CU_ASSERT(time_s[1] > time_s[0]);
    CU_ASSERT_EQUAL(time_s[2], time_s[1]);
    CU_ASSERT(time_s[4] > time_s[3]);
}

/* nanotron's gathers and sums overlap with the gradients that backward computes, unless
 * the scenario says that they do not (tp_linear_async_communication). */
static void test_linear(void)
{
    static const char text[] =
        "{ 'model': 'llama2-7b', 'cluster': { 'instance': 'p5.48xlarge' },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 4,"
        "                'precision': 'bf16' },"
        "  'parallelism': { 'library': 'nanotron', 'tensor': 4,"
        "                   'sequence_parallel': true } }";
    static const char *const says[] = { "", "overlap_tensor=true",
                                        "overlap_tensor=false" };
    double time_s[3];
    for (int i = 0; i < 3; i++) {
        struct simulate_result r;
        struct job j;
        bench_scenario(&j.loader, &j.s, text, "/parallelism/", says[i]);
        validation_job_run(&j, &r);
        time_s[i] = r.step_time_s;
        job_unload(&j);
    }
    CU_ASSERT_EQUAL(time_s[1], time_s[0]);
    CU_ASSERT(time_s[2] > 1.02 * time_s[0]);
}

/* DTensor's gathers and scatters along sequences (R5): four a layer each way, and one at
 * either end, with all that the group has read and written once. */
static void test_copies(void)
{
    static const char text[] =
        "{ 'model': 'llama2-7b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 4 },"
        "  'training': { 'sequence_length': 4096, 'micro_batch_size': 4,"
        "                'precision': 'bf16', 'framework': 'torchtitan' },"
        "  'parallelism': { 'library': 'fsdp', 'sharding': { 'strategy': 'full' },"
        "                   'tensor': 4, 'sequence_parallel': true } }";
    double compute_s[2], step_s[2], copy_s = 0;
    for (int copies = 0; copies < 2; copies++) {
        struct simulate_result r;
        struct framework fw;
        struct job j;
        bench_scenario(&j.loader, &j.s, text, "", "");
        fw = *j.s.training.framework;
        CU_ASSERT(fw.tensor.copies);
        fw.tensor.copies = copies;
        j.s.training.framework = &fw;
        validation_job_run(&j, &r);
        compute_s[copies] = r.parts_s[CATEGORY_COMPUTE];
        step_s[copies] = r.step_time_s;
        copy_s = kernel_stream_s(j.s.cluster.groups[0].instance->gpu,
                                 2. * 2 * 4 * 4096 * 4096, kernel_alone);
        job_unload(&j);
    }
    double times = (compute_s[1] - compute_s[0]) / copy_s;
    CU_ASSERT(times > 8 * 32 && times < 8 * 32 + 8);
    /* a copy next to gathers of parameters is slowed by them no more than others */
    CU_ASSERT(step_s[1] - step_s[0] < 1.3 * (compute_s[1] - compute_s[0]));
}

/* torchtitan's asynchronous tensor parallelism: of t pieces one is exposed, where it is
 * asked for; eager code has none. */
static void test_async(void)
{
    static const char text[] =
        "{ 'model': 'llama3-70b', 'cluster': { 'instance': 'p5.48xlarge', 'count': 4 },"
        "  'training': { 'sequence_length': 8192, 'micro_batch_size': 1,"
        "                'microbatches': 2, 'precision': 'bf16',"
        "                'framework': 'torchtitan-2025' },"
        "  'parallelism': { 'library': 'fsdp', 'sharding': { 'strategy': 'full' },"
        "                   'tensor': 8, 'sequence_parallel': true } }";
    static const char *const changes[] = { "", "overlap_tensor=true",
                                           "overlap_tensor=true tensor=2", "tensor=2" };
    static const double hidden[] = { 0, 1 - 1. / 8, 1 - 1. / 2, 0 };
    double comm_s[4];
    for (int i = 0; i < 4; i++) {
        struct simulate_result r;
        struct job j;
        bench_scenario(&j.loader, &j.s, text, "/parallelism/", changes[i]);
        CU_ASSERT_DOUBLE_EQUAL(j.s.parallel.split.hidden_frac, hidden[i], 1e-12);
        validation_job_run(&j, &r);
        comm_s[i] = r.parts_s[CATEGORY_TENSOR_COMM];
        job_unload(&j);
    }
    CU_ASSERT(comm_s[1] < 0.3 * comm_s[0] && comm_s[1] > 0.1 * comm_s[0]);
    CU_ASSERT(comm_s[2] < 0.65 * comm_s[3] && comm_s[2] > 0.4 * comm_s[3]);
    job_agrees(text, changes[1], 2e-2);
    bench_refused("{ 'model': 'llama3-8b', 'cluster': { 'instance': 'p5.48xlarge' },"
                  "  'training': { 'sequence_length': 2048, 'micro_batch_size': 1,"
                  "                'precision': 'bf16', 'framework': 'torchtitan' },"
                  "  'parallelism': { 'library': 'fsdp', 'tensor': 2,"
                  "                   'overlap_tensor': true } }",
                  "is not known");
}

/* The ranks of a tensor group come to a sum one after the other: each sum that is
 * waited for is that much later. The host takes no time here. */
static void test_skew(void)
{
    static const int degrees[] = { 2, 8 };
    for (int i = 0; i < 2; i++) {
        struct simulate_result r[2];
        char changes[256];
        double n = degrees[i], sums = 6 * 8 + 3, skew_s = 50e-6;
        snprintf(
            changes, sizeof(changes),
            "tensor=%d overlap=false /model/n_embd=8192 /training/micro_batch_size=16 "
            "/training/activation_checkpointing=\"full\"",
            degrees[i]);
        for (int late = 0; late < 2; late++) {
            struct job j;
            job_load(&j, changes);
            struct framework fw = *j.s.training.framework;
            j.s.parallel.split.overlaps = false;
            fw.host.launch_jitter = fw.host.launch_jitter_tensor = 0;
            fw.host.dispatch_forward_s = fw.host.dispatch_backward_s =
                fw.host.microbatch_s = 0;
            fw.host.dispatch_collective_s = fw.host.dispatch_wide_s = 0;
            fw.host.collective_skew_s = late * skew_s;
            j.s.training.framework = &fw;
            validation_job_run(&j, &r[late]);
            job_unload(&j);
        }
        double late_s = (r[1].step_time_s - r[0].step_time_s) / (8 * sums);
        CU_ASSERT_DOUBLE_EQUAL(late_s, skew_s * sqrt(2 * log(n)), 1e-8);
    }
}

/* Gathers of updated parameters during the next forward: they end with the blocks that
 * wait for them. In one bucket all of forward waits, and the step is as long as with
 * the gather after the update; in small ones forward hides all but the first, and
 * kernels are slower meanwhile. */
static void test_param_gather(void)
{
    static const char *const ways[] = {
        "overlap_param_gather=false bucket_size=\"4GB\"",
        "overlap_param_gather=true bucket_size=\"4GB\"",
        "overlap_param_gather=false bucket_size=\"128MB\"",
        "overlap_param_gather=true bucket_size=\"128MB\"",
    };
    struct simulate_result r[4];
    for (int i = 0; i < 4; i++) {
        char changes[320];
        struct job j;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=2048 /training/micro_batch_size=32 "
                 "/training/framework=\"megatron-core\" sharding={" OPTIMIZER "} %s",
                 ways[i]);
        job_load(&j, changes);
        validation_job_run(&j, &r[i]);
        job_unload(&j);
    }
    double gather_s = r[2].parts_s[CATEGORY_DATA_COMM_EXPOSED] -
                      r[3].parts_s[CATEGORY_DATA_COMM_EXPOSED];
    CU_ASSERT(job_near(r[1].step_time_s, r[0].step_time_s, 2e-3));
    CU_ASSERT(gather_s > 5e-3);
    CU_ASSERT(r[3].step_time_s < r[2].step_time_s - 0.8 * gather_s);
    CU_ASSERT(r[3].parts_s[CATEGORY_DATA_COMM_HIDDEN] >
              r[2].parts_s[CATEGORY_DATA_COMM_HIDDEN] + 0.5 * gather_s);
}

/* Without backward_prefetch a unit's gather in backward comes after the scatter of the
 * unit before, and both are waited for: two of the three times that parameters or their
 * gradients pass. Forward hides its own either way. With it gathers and scatters run
 * at the same time, too. */
static void test_backward_prefetch(void)
{
    double exposed_s[2], all_s[2], step_s[2];
    for (int ahead = 0; ahead < 2; ahead++) {
        char changes[320];
        struct job j;
        struct simulate_result r;
        snprintf(changes, sizeof(changes),
                 "/model/n_embd=2048 /training/micro_batch_size=32 library=\"fsdp\" "
                 "/training/microbatches=1 sharding={" FULL
                 ",\"backward_prefetch\":%s}",
                 ahead ? "true" : "false");
        job_load(&j, changes);
        validation_job_run(&j, &r);
        exposed_s[ahead] = r.parts_s[CATEGORY_DATA_COMM_EXPOSED];
        all_s[ahead] = exposed_s[ahead] + r.parts_s[CATEGORY_DATA_COMM_HIDDEN];
        step_s[ahead] = r.step_time_s;
        job_unload(&j);
    }
    double waited_s = exposed_s[false] - exposed_s[true];
    CU_ASSERT(all_s[false] >= all_s[true]);
    CU_ASSERT(waited_s > 0.4 * all_s[false] && waited_s < 2.0 / 3 * all_s[false]);
    CU_ASSERT(step_s[false] - step_s[true] > 0.9 * waited_s);
}

/* Before each gather of a unit the host waits and takes its time: of a layer twice, and of
 * each thin matrix of its adapter twice, where these are units (MODEL.md, R8.3.1). */
static void test_adapter_units(void)
{
    static const double layers = 8, microbatches = 8, each_s = 2e-3;
    for (int units = 0; units < 2; units++) {
        double step_s[2], gathers = layers * (units ? 6 : 2) + 1; /* and the root's */
        for (int slow = 0; slow < 2; slow++) {
            char changes[320];
            struct job j;
            struct simulate_result r;
            snprintf(changes, sizeof(changes),
                     "library=\"fsdp\" "
                     "/training/lora={\"rank\":8,\"target_modules\":[\"c_attn\"]} "
                     "sharding={" FULL ",\"adapter_units\":%s}",
                     units ? "true" : "false");
            job_load(&j, changes);
            struct framework fw = *j.s.training.framework;
            fw.host.launch_jitter = 0;
            fw.shard.unit_gather_s = (1 + slow) * each_s; /* the host binds */
            j.s.training.framework = &fw;
            validation_job_run(&j, &r);
            step_s[slow] = r.step_time_s;
            job_unload(&j);
        }
        CU_ASSERT(
            job_near(step_s[1] - step_s[0], microbatches * gathers * each_s, 0.1));
    }
}

/* States on the host (MODEL.md, R8.6): the GPU lacks just what is away, and waits for
 * the copies and the host's update as the law says, where nothing hides them. */
static void test_offload(void)
{
#define GRADIENTS "library=\"deepspeed\" sharding={\"strategy\":\"gradients\""
    static const char *const changes[] = {
        GRADIENTS "}",
        GRADIENTS ",\"offload\":\"optimizer\"}",
        "sharding={" FULL "}",
        "sharding={" FULL ",\"offload\":\"parameters\"}",
    };
    struct stage_memory m[4];
    double exposed_s[4], copies_s = 0, update_s[4];
    for (int i = 0; i < 4; i++) {
        struct job j;
        struct simulate_result r;
        job_load(&j, changes[i]);
        validation_job_run(&j, &r);
        m[i] = r.memory.stages[0];
        exposed_s[i] = r.parts_s[CATEGORY_OFFLOAD_EXPOSED];
        const struct instance *host = j.s.cluster.groups[0].instance;
        double n = (double)m[0].parameters_B / 2 / 16; /* a rank's shard */
        copies_s = 2 * 2 * n / host->host_pinned_Bps;
        double reached = i < 2 ? 0.115 : 0.45; /* DeepSpeed's and FSDP's */
        update_s[i] = n * (4 + 2 * 12) * 8 / (reached * host->host_memory_Bps);
        /* of GPUs that are not used the host updates nothing */
        CU_ASSERT(
            job_near(states_host_update_s(&j.s, host, 2, n), update_s[i] / 4, 1e-9));
        job_unload(&j);
    }
    CU_ASSERT(job_near(exposed_s[1], copies_s + update_s[1], 0.01));
    CU_ASSERT(exposed_s[3] > 0.99 * update_s[3]);
    CU_ASSERT(exposed_s[0] == 0 && exposed_s[2] == 0);
    CU_ASSERT(m[0].optimizer_B > 0 && m[1].optimizer_B == 0);
    CU_ASSERT(m[0].parameters_B == m[1].parameters_B);
    CU_ASSERT(m[2].optimizer_B > 0 && m[2].parameters_B > 0 && m[2].gradients_B > 0);
    CU_ASSERT(m[3].optimizer_B == 0 && m[3].parameters_B == 0 && m[3].gradients_B == 0);
}

/* Collectives of buckets that a rank of each stage sends. */
static void count_buckets(const char *changes, int32_t n[2])
{
    struct job j;
    struct reps reps;
    job_load(&j, changes);
    job_reps(&j, &(struct reps_options) { 0 }, &reps);
    n[0] = n[1] = 0;
    for (int64_t i = 0; i < reps.n_ranks; i++) {
        int32_t sent = 0;
        for (int64_t k = 0; k < reps.programs[i]->tasks.n; k++) {
            const struct task *t = &reps.programs[i]->tasks.v[k];
            sent += t->comm >= 0 && t->tag.work == WORK_BUCKET;
        }
        n[groups_stage(&reps.groups, reps.ranks[i])] = sent;
    }
    reps_release(&reps);
    job_unload(&j);
}

/* Megatron's own buckets, of max(40e6, 1e6 ranks) gradients: with overlap alone, of a
 * model's first stage and chunk alone. Every profile of its kernels has them. */
static void test_own_buckets(void)
{
#define WIDE "library=\"megatron\" /model/n_embd=4096 /model/n_layer=12 tensor=2 "
    static const struct {
        const char *changes;
        int32_t n[2];
    } cases[] = {
        /* a rank has 101 million parameters of a layer: two buckets */
        { WIDE "overlap=true", { 24, 0 } },
        { WIDE "overlap=false", { 1, 0 } },
        { WIDE "overlap=false bucket_size=\"64MB\"", { 1, 0 } },
        { WIDE "overlap=true bucket_size=\"8GB\"", { 1, 0 } },
        { WIDE "overlap=true pipeline=2", { 12, 1 } },
        { WIDE "overlap=true pipeline=2 virtual_stages=3 schedule=\"interleaved\"",
          { 6, 3 } },
    };
    static const char *const profiles[] = { "megatron-2022", "megatron-core" };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
        char changes[400];
        int32_t n[2];
        snprintf(changes, sizeof(changes), "%s /training/framework=\"%s\"",
                 cases[i / 2].changes, profiles[i % 2]);
        count_buckets(changes, n);
        if (n[0] != cases[i / 2].n[0] || n[1] != cases[i / 2].n[1])
            fprintf(stderr, "%s: %d and %d buckets\n", changes, n[0], n[1]);
        CU_ASSERT_EQUAL(n[0], cases[i / 2].n[0]);
        CU_ASSERT_EQUAL(n[1], cases[i / 2].n[1]);
    }
}

/* Overlap hides something, whoever the library is and whatever its profile leaves
 * open. */
static void test_overlaps(void)
{
    static const char *const cases[] = {
        WIDE "/training/framework=\"megatron-2022\"",
        WIDE "/training/framework=\"megatron-2022\" sharding={" OPTIMIZER "}",
        WIDE "/training/framework=\"megatron-2022\" pipeline=2",
        "library=\"deepspeed\" /model/n_embd=4096 sharding={" OPTIMIZER "}"
        " /training/framework=\"megatron-deepspeed\"",
        "library=\"ddp\" /model/n_embd=4096 /training/framework=\"pytorch-apex-2020\"",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double time_s[2];
        for (int overlap = 0; overlap < 2; overlap++) {
            char changes[400];
            struct job j;
            struct simulate_result r;
            snprintf(
                changes, sizeof(changes),
                "%s overlap=%s /training/micro_batch_size=32 /training/microbatches=2",
                cases[i], overlap ? "true" : "false");
            job_load(&j, changes);
            validation_job_run(&j, &r);
            time_s[overlap] = r.step_time_s;
            job_unload(&j);
        }
        if (!(time_s[1] < 0.99 * time_s[0]))
            fprintf(stderr, "%s: %g with overlap, %g\n", cases[i], time_s[1],
                    time_s[0]);
        CU_ASSERT(time_s[1] < 0.99 * time_s[0]);
    }
}

void test_overlap_register(void)
{
    CU_pSuite s = CU_add_suite("overlap", NULL, NULL);
    CU_add_test(s, "kernels overlapped with sums of activations", test_slowed);
    CU_add_test(s, "pieces within products", test_pieces);
    CU_add_test(s, "linear layers of nanotron", test_linear);
    CU_add_test(s, "asynchronous tensor parallelism", test_async);
    CU_add_test(s, "copies of DTensor's gathers", test_copies);
    CU_add_test(s, "ranks of a tensor group come apart", test_skew);
    CU_add_test(s, "updated parameters are gathered during forward", test_param_gather);
    CU_add_test(s, "backward gathers nothing ahead", test_backward_prefetch);
    CU_add_test(s, "units of adapters", test_adapter_units);
    CU_add_test(s, "states on the host", test_offload);
    CU_add_test(s, "Megatron's own buckets", test_own_buckets);
    CU_add_test(s, "overlap without a profile's bucket", test_overlaps);
}
