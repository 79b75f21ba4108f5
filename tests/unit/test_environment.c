/* NCCL_ALGO and its family: they act under every library, or say that they do not. */
#include "step_bench.h"

void test_environment_register(void);

static double step_s(const char *library, const char *variable)
{
    char changes[256];
    struct job j;
    struct simulate_result r;
    snprintf(changes, sizeof(changes),
             "/cluster/count=8 /training/micro_batch_size=1 library=\"%s\" %s%s",
             library, *variable ? "/software/environment/" : "", variable);
    job_load(&j, changes);
    validation_job_run(&j, &r);
    job_unload(&j);
    return r.step_time_s;
}

/* Gradients of 64 GPUs: a ring, LL and a tree take unlike times. */
static void test_acts(void)
{
    static const char *const libraries[] = { "ddp", "megatron", "smp", "horovod" };
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        const char *l = libraries[i];
        double ring = step_s(l, "NCCL_ALGO=Ring"), tree = step_s(l, "NCCL_ALGO=Tree");
        CU_ASSERT(fabs(ring - tree) > 1e-4 * ring);
        CU_ASSERT(job_near(step_s(l, "NCCL_ALGO=^Ring"), tree, 1e-12));
        CU_ASSERT(job_near(step_s(l, "NCCL_ALGO=allreduce:tree"), tree, 1e-12));
        CU_ASSERT(job_near(step_s(l, "NCCL_ALGO=ring,tree"), step_s(l, ""), 1e-12));
        CU_ASSERT(job_near(step_s(l, "NCCL_PROTO=^LL,LL128"),
                           step_s(l, "NCCL_PROTO=Simple"), 1e-12));
    }
}

/* Horovod's variables are the fields of the same meaning; 0 fuses nothing. */
static void test_horovod(void)
{
    double threshold = step_s("horovod", "HOROVOD_FUSION_THRESHOLD=\"1048576\""),
           cycle = step_s("horovod", "HOROVOD_CYCLE_TIME=\"25\""),
           plain = step_s("horovod", "");
    CU_ASSERT(job_near(threshold, step_s("horovod\" bucket_size=\"1MiB", ""), 1e-12));
    CU_ASSERT(job_near(cycle, step_s("horovod\" fusion_cycle=\"25ms", ""), 1e-12));
    CU_ASSERT(fabs(threshold - plain) > 1e-4 * plain);
    CU_ASSERT(fabs(cycle - plain) > 1e-4 * plain);
    CU_ASSERT(step_s("horovod", "HOROVOD_FUSION_THRESHOLD=\"0\"") > threshold);
    CU_ASSERT(job_near(step_s("ddp", "HOROVOD_FUSION_THRESHOLD=\"1048576\""),
                       step_s("ddp", ""), 1e-12));
}

static double machine_s(const char *cluster, const char *variable)
{
    char changes[256];
    struct job j;
    struct simulate_result r;
    snprintf(changes, sizeof(changes),
             "/cluster/count=2 /training/micro_batch_size=1 %s%s%s", cluster,
             *variable ? " /software/environment/" : "", variable);
    job_load(&j, changes);
    validation_job_run(&j, &r);
    job_unload(&j);
    return r.step_time_s;
}

/* Without P2P a node's GPUs are as PCIe joins them; where it joins them, nothing
 * changes. Other variables that hurt are named, and change nothing. */
static void test_transports(void)
{
    static const char nvlink[] = "/cluster/instance=\"p4d.24xlarge\"",
                      pcie[] = "/cluster/instance=\"g5.48xlarge\"";
    char slow[128];
    snprintf(slow, sizeof(slow), "%s /cluster/inside=\"pcie-gen4-host\"", nvlink);
    double plain = machine_s(nvlink, ""),
           without = machine_s(nvlink, "NCCL_P2P_DISABLE=\"1\"");
    CU_ASSERT(without > 1.05 * plain);
    CU_ASSERT(job_near(without, machine_s(slow, ""), 1e-12));
    CU_ASSERT(job_near(without, machine_s(nvlink, "NCCL_P2P_LEVEL=LOC"), 1e-12));
    CU_ASSERT(job_near(plain, machine_s(nvlink, "NCCL_P2P_DISABLE=\"0\""), 1e-12));
    CU_ASSERT(job_near(plain, machine_s(nvlink, "NCCL_P2P_LEVEL=NVL"), 1e-12));
    CU_ASSERT(job_near(machine_s(pcie, ""), machine_s(pcie, "NCCL_P2P_DISABLE=\"1\""),
                       1e-12));
    CU_ASSERT(job_near(plain, machine_s(nvlink, "CUDA_LAUNCH_BLOCKING=\"1\""), 1e-12));
}

static void test_values(void)
{
    static const struct {
        const char *variable;
        int32_t errors, notes; /* notes: it says what it does not do */
    } cases[] = {
        { "NCCL_ALGO=star", 1, 0 },
        { "NCCL_ALGO=allred:tree", 1, 0 },
        { "NCCL_PROTO=^LL,slow", 1, 0 },
        { "NCCL_MIN_NCHANNELS=many", 1, 0 },
        { "NCCL_MIN_NCHANNELS=\"8\"", 0, 1 },
        { "NCCL_P2P_DISABLE=\"1\"", 0, 1 },
        { "NCCL_MAX_NCHANNELS=\"2\"", 0, 1 },
        { "NCCL_NET=Socket", 1, 0 }, /* over which network, is not known */
        { "CUDA_LAUNCH_BLOCKING=\"1\"", 0, 1 },
        { "NVTE_FLASH_ATTN=\"0\"", 0, 1 }, /* the job has no Transformer Engine */
        { "NVIDIA_TF32_OVERRIDE=\"0\"", 0, 1 },
        { "NVIDIA_TF32_OVERRIDE=off", 1, 0 },
        { "FI_EFA_FORK_SAFE=\"1\"", 0, 1 },
        { "OFI_NCCL_PROTOCOL=RDMA", 0, 1 },
        { "NCCL_NEVER_HEARD=\"1\"", 0, 1 },
        { "NCCL_NVLS_ENABLE=\"0\"", 0, 0 },
        { "NCCL_PROTO=Simple,LL", 0, 0 },
        { "TORCH_DISTRIBUTED_DEBUG=DETAIL", 0, 0 },
        { "TORCH_DISTRIBUTED_DEBUG=INFO", 0, 0 },
        { "TORCH_DISTRIBUTED_DEBUG=detailed", 1, 0 },
        { "NANOTRON_BENCHMARK=\"1\"", 0, 1 },
        { "NANOTRON_BENCHMARK=\"0\"", 0, 0 },
        { "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", 0, 0 },
        { "PYTORCH_ALLOC_CONF=expandable_segments:False,backend:native", 0, 0 },
        { "PYTORCH_CUDA_ALLOC_CONF=pinned_num_register_threads:8", 0, 1 },
        { "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128,expandable_segments:True", 0,
          1 },
        { "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:[256:1,>:4],backend:native",
          0, 1 },
        { "PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync", 0, 1 },
        { "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:1", 1, 0 },
        { "PYTORCH_CUDA_ALLOC_CONF=expandable_segment:True", 1, 0 },
        { "HOROVOD_CYCLE_TIME=fast", 1, 0 },
        { "HOROVOD_FUSION_THRESHOLD=\"64\"", 0, 1 },
        { "HOROVOD_CACHE_CAPACITY=\"0\"", 0, 1 },
        { "HOROVOD_HIERARCHICAL_ALLREDUCE=yes", 1, 0 },
        { "HOROVOD_NEVER_HEARD=\"1\"", 0, 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cfg_loader loader;
        struct scenario s;
        char one[128];
        snprintf(one, sizeof(one), "/software/environment/%s", cases[i].variable);
        cfg_loader_init(&loader);
        struct cfg root = cfg_parse(&loader, "text", bench_gpt2, strlen(bench_gpt2));
        CU_ASSERT_EQUAL_FATAL(cfg_set(root, one), 0);
        CU_ASSERT_EQUAL(scenario_read(&s, &loader, root) != 0, cases[i].errors);
        if (!cases[i].errors)
            CU_ASSERT_EQUAL(s.n_notes + loader.diags.n, cases[i].notes);
        cfg_loader_release(&loader);
    }
}

void test_environment_register(void)
{
    CU_pSuite s = CU_add_suite("environment", NULL, NULL);
    CU_add_test(s, "variables act under every library", test_acts);
    CU_add_test(s, "Horovod's variables are its fields", test_horovod);
    CU_add_test(s, "variables of transports", test_transports);
    CU_add_test(s, "values are checked", test_values);
}
