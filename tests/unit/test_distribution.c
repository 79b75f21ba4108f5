/* SageMaker's dictionary: every parameter of SMP changes what is simulated or is named
 * as one that does not; what the dictionary means; the traps of real ones; options of
 * mpirun; versions. Refusals: tests/bad/{sdk,smp,smp2,nested,python,mpi}-*. */
#include "scenario/libraries.h"
#include "scenario/releases.h"
#include "scenario/scenario.h"
#include "scenario/versions.h"

#include <CUnit/CUnit.h>
#include <string.h>

void test_distribution_register(void);

struct loaded {
    struct cfg_loader loader;
    struct scenario s;
    int rc;
};

enum { TEXT_MAX = 2000 };

/* A job of 16 GPUs with these parameters, and `more` sections. */
static void load(struct loaded *l, const char *instance, const char *launcher,
                 const char *parameters, const char *more)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof(text),
             "{ 'model': 'mixtral-8x7b', 'cluster': { 'instance': '%s', 'count': 2 },"
             "  'training': { 'sequence_length': 512, 'micro_batch_size': 4,"
             "                'activation_checkpointing': 'full' },"
             "  'distribution': { %s, 'smdistributed': { 'modelparallel': {"
             "      'enabled': True, 'parameters': { %s } } } } %s }",
             instance, launcher, parameters, more);
    memset(&l->s, 0, sizeof(l->s));
    cfg_loader_init(&l->loader);
    struct cfg root = cfg_parse(&l->loader, "text", text, strlen(text));
    l->rc = scenario_read(&l->s, &l->loader, root);
    if (l->rc)
        diags_print_errors(&l->loader.diags, stderr);
}

static void unload(struct loaded *l)
{
    cfg_loader_release(&l->loader);
}

static const char mpi[] = "'mpi': { 'enabled': True, 'processes_per_host': 8 }";
static const char torchrun[] = "'torch_distributed': { 'enabled': True }";

/* --- every parameter counts, or is named ------------------------------------------ */

/* clang-format off */
struct parameter { const char *name, *base, *value; }; /* base: what it needs in
                                                          addition */
static const struct parameter v1[] = {
    { "partitions", "'ddp': True", "4" },
    { "pipeline_parallel_degree", "'ddp': True", "4" },
    { "microbatches", "'partitions': 2, 'ddp': True", "8" },
    { "pipeline", "'partitions': 2, 'ddp': True", "'simple'" },
    { "optimize", "'partitions': 2, 'ddp': True", "'speed'" },
    { "placement_strategy", "'partitions': 2, 'ddp': True", "'spread'" },
    { "default_partition", "'partitions': 2, 'ddp': True", "1" },
    { "contiguous", "'partitions': 2, 'ddp': True", "False" },
    { "memory_weight", "'partitions': 2, 'ddp': True", "0.5" },
    { "ddp_port", "'partitions': 2, 'ddp': True", "4321" },
    { "ddp_dist_backend", "'sharded_data_parallel_degree': 8, 'ddp': True", "'nccl'" },
    { "overlapping_allreduce", "'partitions': 2, 'ddp': True", "False" },
    { "active_microbatches", "'partitions': 2, 'ddp': True", "3" },
    { "deterministic_server", "'partitions': 2, 'ddp': True", "True" },
    { "offload_activations", "'partitions': 2, 'ddp': True", "True" },
    { "activation_loading_horizon", "'partitions': 2, 'ddp': True, "
      "'offload_activations': True", "2" },
    { "tensor_parallel_degree", "'partitions': 2, 'ddp': True", "2" },
    { "fp16", "'partitions': 2, 'ddp': True", "True" },
    { "bf16", "'sharded_data_parallel_degree': 8, 'ddp': True", "True" },
    { "fp16_params", "'tensor_parallel_degree': 2, 'ddp': True", "True" },
    { "shard_optimizer_state", "'partitions': 2, 'ddp': True", "True" },
    { "prescaled_batch", "'tensor_parallel_degree': 2, 'ddp': True", "True" },
    { "skip_tracing", "'partitions': 2, 'ddp': True", "True" },
    { "delayed_parameter_initialization", "'partitions': 2, 'ddp': True", "True" },
    { "sharded_data_parallel_degree", "'ddp': True", "8" },
    { "sdp_reduce_bucket_size", "'sharded_data_parallel_degree': 8, 'ddp': True", "1e8" },
    { "sdp_param_persistence_threshold", "'sharded_data_parallel_degree': 8, 'ddp': True",
      "1e5" },
    { "sdp_max_live_parameters", "'sharded_data_parallel_degree': 8, 'ddp': True", "2e9" },
    { "sdp_hierarchical_allgather", "'sharded_data_parallel_degree': 8, 'ddp': True",
      "False" },
    { "sdp_gradient_clipping", "'sharded_data_parallel_degree': 8, 'ddp': True", "0.5" },
    { "load_partition", "'partitions': 2, 'ddp': True", "True" },
    { "partition_file", "'partitions': 2, 'ddp': True", "'/opt/ml/partition'" },
};
static const struct parameter v2[] = {
    { "hybrid_shard_degree", "'tensor_parallel_degree': 1", "8" },
    { "sm_activation_offloading", "'tensor_parallel_degree': 1", "True" },
    { "activation_loading_horizon", "'sm_activation_offloading': True", "4" },
    { "tensor_parallel_degree", "'hybrid_shard_degree': 0", "2" },
    { "context_parallel_degree", "'hybrid_shard_degree': 8", "2" },
    { "expert_parallel_degree", "'hybrid_shard_degree': 8", "2" },
    { "fsdp_cache_flush_warnings", "'hybrid_shard_degree': 8", "True" },
    { "delayed_parameter_initialization", "'hybrid_shard_degree': 8", "True" },
    { "allow_empty_shards", "'hybrid_shard_degree': 8", "True" },
    { "random_seed", "'hybrid_shard_degree': 8", "7" },
};
/* clang-format on */

/* Whether two jobs run otherwise; pointers into their loaders do not count. */
static bool runs_otherwise(const struct scenario *a, const struct scenario *b)
{
    struct training ta = a->training, tb = b->training;
    ta.framework = tb.framework = NULL;
    ta.task = tb.task = NULL;
    return memcmp(&ta, &tb, sizeof(ta)) != 0 ||
           memcmp(&a->parallel, &b->parallel, sizeof(a->parallel)) != 0;
}

static void check_parameter(const struct parameter *p, const char *launcher)
{
    char parameters[400];
    struct loaded without, with;
    snprintf(parameters, sizeof(parameters), "%s, '%s': %s", p->base, p->name,
             p->value);
    load(&without, "p4d.24xlarge", launcher, p->base, "");
    load(&with, "p4d.24xlarge", launcher, parameters, "");
    CU_ASSERT_EQUAL_FATAL(without.rc, 0);
    CU_ASSERT_EQUAL_FATAL(with.rc, 0);
    bool noted = with.s.n_notes > without.s.n_notes;
    CU_ASSERT_NOT_EQUAL(noted, runs_otherwise(&without.s, &with.s));
    if (noted == runs_otherwise(&without.s, &with.s))
        fprintf(stderr, "%s: noted %d\n", p->name, noted);
    if (noted)
        CU_ASSERT_PTR_NOT_NULL(
            strstr(with.s.notes[with.s.n_notes - 1].pointer, p->name));
    unload(&without);
    unload(&with);
}

static void test_every_parameter(void)
{
    for (size_t i = 0; i < sizeof(v1) / sizeof(v1[0]); i++)
        check_parameter(&v1[i], mpi);
    for (size_t i = 0; i < sizeof(v2) / sizeof(v2[0]); i++)
        check_parameter(&v2[i], torchrun);
}

/* --- what it means ---------------------------------------------------------------- */

static void test_v1_defaults(void)
{
    struct loaded l;
    load(&l, "p4d.24xlarge", mpi, "'partitions': 4, 'microbatches': 8, 'ddp': True",
         "");
    const struct parallelism *p = &l.s.parallel;
    CU_ASSERT_EQUAL(p->smp, 1);
    CU_ASSERT_EQUAL(p->reduce.library, LIBRARY_SMP);
    CU_ASSERT_EQUAL(p->pipeline, 4);
    CU_ASSERT_EQUAL(p->data, 4);
    CU_ASSERT_EQUAL(p->stages.schedule, SCHEDULE_SMP_INTERLEAVED);
    CU_ASSERT_EQUAL(p->stages.active_microbatches, 6);
    CU_ASSERT_EQUAL(p->stages.partition, PARTITION_SMP);
    CU_ASSERT_EQUAL(p->stages.memory_weight, 0.8);
    CU_ASSERT_STRING_EQUAL(p->placement, "DPT");
    CU_ASSERT_EQUAL(l.s.training.global_batch_size, 4 * 8 * 4);
    CU_ASSERT_EQUAL(l.s.software.protocol, FABRIC_PROTO_SIMPLE);
    /* smp.DistributedModel's */
    CU_ASSERT_STRING_EQUAL(l.s.training.framework->name, "smp-v1");
    CU_ASSERT_TRUE(p->reduce.overlap);
    CU_ASSERT_EQUAL(p->reduce.bucket_B, 25 << 20);
    unload(&l);
}

/* Tensor ranks bring batches of their own unless they are prescaled. */
static void test_batches(void)
{
    static const struct {
        const char *parameters;
        int64_t replicas, global, merged;
    } cases[] = {
        { "'tensor_parallel_degree': 4, 'ddp': True", 16, 64, 16 },
        { "'tensor_parallel_degree': 4, 'ddp': True, 'prescaled_batch': True", 4, 16,
          4 },
        { "'tensor_parallel_degree': 2, 'partitions': 2, 'ddp': True", 8, 32, 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load(&l, "p4d.24xlarge", mpi, cases[i].parameters, "");
        CU_ASSERT_EQUAL(l.s.parallel.replicas, cases[i].replicas);
        CU_ASSERT_EQUAL(l.s.training.global_batch_size, cases[i].global);
        CU_ASSERT_EQUAL(scenario_op_settings(&l.s).batch, cases[i].merged);
        /* smp.tensor_parallelism's default */
        CU_ASSERT_EQUAL(l.s.training.attention, OP_ATTENTION_FUSED_SOFTMAX);
        unload(&l);
    }
}

static void test_sharded_data(void)
{
    static const char parameters[] = "'sharded_data_parallel_degree': 8, 'ddp': True";
    struct loaded l;
    load(&l, "p4d.24xlarge", mpi, parameters, "");
    const struct parallelism *p = &l.s.parallel;
    CU_ASSERT_EQUAL(p->shard.strategy, SHARDING_FULL);
    CU_ASSERT_EQUAL(p->shard.degree, 8);
    CU_ASSERT_TRUE(p->shard.hierarchical);
    CU_ASSERT_EQUAL(p->shard.bucket_elements, 500000000);
    CU_ASSERT_EQUAL(p->shard.persistence_elements, 1000000);
    CU_ASSERT_EQUAL(p->shard.live_elements, 1000000000);
    CU_ASSERT_EQUAL(p->reduce.backend, BACKEND_SMDDP);
    CU_ASSERT_EQUAL(l.s.training.gradient_clipping, 1);
    unload(&l);
    /* SMDDP gathers on p4d alone, and from certain releases on */
    load(&l, "p3dn.24xlarge", mpi, parameters, "");
    CU_ASSERT_EQUAL(l.s.parallel.reduce.backend, BACKEND_NCCL);
    unload(&l);
    load(&l, "p4d.24xlarge", mpi, parameters, ", 'software': { 'pytorch': '1.12.0' }");
    CU_ASSERT_EQUAL(l.s.parallel.reduce.backend, BACKEND_NCCL);
    unload(&l);
}

static void test_v2_degrees(void)
{
    static const struct {
        const char *parameters;
        enum sharding sharding;
        int64_t degree, data, context;
    } cases[] = {
        { "'tensor_parallel_degree': 1", SHARDING_FULL, 16, 16, 1 },
        { "'hybrid_shard_degree': 1", SHARDING_NONE, 1, 16, 1 },
        { "'hybrid_shard_degree': 4", SHARDING_FULL, 4, 16, 1 },
        { "'tensor_parallel_degree': 4", SHARDING_FULL, 4, 4, 1 },
        { "'tensor_parallel_degree': 2, 'context_parallel_degree': 4", SHARDING_FULL, 8,
          2, 4 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct loaded l;
        load(&l, "p4d.24xlarge", torchrun, cases[i].parameters, "");
        CU_ASSERT_EQUAL(l.s.parallel.smp, 2);
        CU_ASSERT_EQUAL(l.s.parallel.reduce.library, LIBRARY_FSDP);
        CU_ASSERT_STRING_EQUAL(l.s.training.framework->name, "fsdp-torch2");
        CU_ASSERT_EQUAL(l.s.parallel.shard.strategy, cases[i].sharding);
        CU_ASSERT_EQUAL(l.s.parallel.shard.degree, cases[i].degree);
        CU_ASSERT_EQUAL(l.s.parallel.data, cases[i].data);
        CU_ASSERT_EQUAL(l.s.parallel.context, cases[i].context);
        CU_ASSERT_EQUAL(l.s.parallel.shard.in_flight, 2);
        unload(&l);
    }
}

/* --- traps ------------------------------------------------------------------------ */

/* Each earns one warning that holds these words, and the job runs. */
static void test_traps(void)
{
    static const struct {
        const char *launcher, *parameters, *more, *warning;
        int64_t pipeline;
    } traps[] = {
        { mpi, "'pipeline_parallel_degree': 2, 'partitions': 4, 'ddp': True", "",
          "smp rule: 4 disagrees with pipeline_parallel_degree 2", 2 },
        { mpi, "'partitions': 2, 'ddp': True }, 'parameter_server': { 'enabled': True",
          "", "sdk rule: what is next to \"parameters\" is ignored", 2 },
        { mpi, "'partitions': 2, 'ddp': True }, 'microbatches': 4, 'x': {", "",
          "move \"microbatches\" into \"parameters\"", 2 },
        { mpi, "'partitions': 2, 'ddp': True, 'placement_strategy': 'PTD'", "",
          "sdk rule: only \"cluster\" and \"spread\" are let through", 2 },
        { mpi, "'partitions': 2, 'ddp': 1", ", 'software': { 'smp': '1.12' }",
          "SMP 1.12 is not known: taken for 1.11", 2 },
        { torchrun, "'tensor_parallel_degree': 2",
          ", 'software': { 'pytorch': '2.3.0' }",
          "no container of SMP v2 has PyTorch 2.3.0: taken for SMP 2.3.1", 1 },
    };
    for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++) {
        struct loaded l;
        bool found = false;
        load(&l, "p4d.24xlarge", traps[i].launcher, traps[i].parameters, traps[i].more);
        CU_ASSERT_EQUAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.parallel.pipeline, traps[i].pipeline);
        for (int64_t k = 0; k < l.loader.diags.n_warnings; k++)
            found |= strstr(diags_warning_text(&l.loader.diags, k), traps[i].warning) !=
                     NULL;
        CU_ASSERT_TRUE(found);
        unload(&l);
    }
}

/* Degrees from 2 on are sharded, not from 3, as one page says. */
static void test_sharding_by_two(void)
{
    struct loaded l;
    load(&l, "p4d.24xlarge", mpi, "'sharded_data_parallel_degree': 2, 'ddp': True", "");
    CU_ASSERT_EQUAL(l.s.parallel.shard.strategy, SHARDING_FULL);
    CU_ASSERT_EQUAL(l.s.parallel.shard.bucket_elements, 500000000);
    unload(&l);
}

static void test_script(void)
{
    struct loaded l;
    load(&l, "p4d.24xlarge", mpi, "'partitions': 2, 'ddp': True",
         ", 'parallelism': { 'smp_script': { 'overlapping_allreduce': False,"
         "  'bucket_cap_mb': 50, 'backward_passes_per_step': 3, 'trace_device': 'gpu',"
         "  'fused_softmax': True, 'gradient_as_bucket_view': True } }");
    CU_ASSERT_EQUAL_FATAL(l.rc, 0);
    CU_ASSERT_FALSE(l.s.parallel.reduce.overlap);
    CU_ASSERT_TRUE(l.s.parallel.reduce.gradient_as_bucket_view);
    CU_ASSERT_EQUAL(l.s.parallel.reduce.bucket_B, 50 << 20);
    CU_ASSERT_EQUAL(l.s.training.accumulation, 3);
    CU_ASSERT_EQUAL(l.s.training.attention, OP_ATTENTION_FUSED_SOFTMAX);
    CU_ASSERT_EQUAL(l.s.n_notes, 1);
    unload(&l);
}

/* --- options of mpirun ------------------------------------------------------------ */

static void test_mpi_options(void)
{
    static const struct {
        const char *options;
        int protocol;
        int64_t notes;
    } cases[] = {
        { "", -1, 0 },
        { "-x NCCL_PROTO=LL -x SMP_NCCL_THROTTLE_LIMIT=-1", FABRIC_PROTO_LL, 1 },
        { "-verbose --mca btl_vader_single_copy_mechanism none -x NCCL_PROTO=Simple",
          FABRIC_PROTO_SIMPLE, 1 },
        { "--NCCL_DEBUG=WARN --NCCL_PROTO LL128 -x FI_PROVIDER=efa -x PATH",
          FABRIC_PROTO_LL128, 2 },
        { "-x \\\"NCCL_PROTO=LL\\\" -x NCCL_ALGO=Ring", FABRIC_PROTO_LL, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char launcher[300];
        struct loaded l;
        snprintf(launcher, sizeof(launcher),
                 "'mpi': { 'enabled': True, 'processes_per_host': 8%s%s%s }",
                 *cases[i].options ? ", 'custom_mpi_options': \"" : "",
                 cases[i].options, *cases[i].options ? "\"" : "");
        load(&l, "p3.16xlarge", launcher, "'partitions': 2, 'ddp': True", "");
        CU_ASSERT_EQUAL_FATAL(l.rc, 0);
        CU_ASSERT_EQUAL(l.s.software.protocol,
                        *cases[i].options ? cases[i].protocol : FABRIC_PROTO_SIMPLE);
        CU_ASSERT_EQUAL(l.s.n_notes, cases[i].notes);
        unload(&l);
    }
}

/* On PyTorch 2 SMP v1's launcher holds NCCL to rings, too. */
static void test_rings_on_torch_2(void)
{
    struct loaded l;
    load(&l, "p4d.24xlarge", mpi, "'partitions': 2, 'ddp': True",
         ", 'software': { 'pytorch': '2.0.1' }");
    CU_ASSERT_EQUAL(l.s.software.limits.no_algorithm[NCCL_ALL_REDUCE],
                    NCCL_ALGORITHMS & ~NCCL_RING);
    unload(&l);
}

/* --- versions --------------------------------------------------------------------- */

static void test_versions(void)
{
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {
        { "1.9", "1.10", -1 },        { "1.10", "1.9", 1 },
        { "1.15", "1.15.0", 0 },      { "2", "1.15", 1 },
        { "2.199.0", "2.200.0", -1 }, { "2.3.1", "2.3", 1 },
        { "2.1.0+cu118", "2.1", 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int order = version_compare(cases[i].a, cases[i].b);
        CU_ASSERT_EQUAL((order > 0) - (order < 0), cases[i].order);
    }
    CU_ASSERT_TRUE(version_valid("2.1.0+cu118"));
    CU_ASSERT_TRUE(version_valid("2"));
    CU_ASSERT_FALSE(version_valid(""));
    CU_ASSERT_FALSE(version_valid("v2"));
    CU_ASSERT_FALSE(version_valid("1..2"));
    CU_ASSERT_FALSE(version_valid("99999999999999999999"));
    CU_ASSERT_STRING_EQUAL(release_smp_nearest("1.99"), "1.15");
    CU_ASSERT_STRING_EQUAL(release_smp_nearest("2.7.9"), "2.7");
    CU_ASSERT_PTR_NULL(release_smp_nearest("0.9"));
}

void test_distribution_register(void)
{
    CU_pSuite suite = CU_add_suite("distribution", NULL, NULL);
    CU_ADD_TEST(suite, test_every_parameter);
    CU_ADD_TEST(suite, test_v1_defaults);
    CU_ADD_TEST(suite, test_batches);
    CU_ADD_TEST(suite, test_sharded_data);
    CU_ADD_TEST(suite, test_v2_degrees);
    CU_ADD_TEST(suite, test_traps);
    CU_ADD_TEST(suite, test_sharding_by_two);
    CU_ADD_TEST(suite, test_script);
    CU_ADD_TEST(suite, test_mpi_options);
    CU_ADD_TEST(suite, test_rings_on_torch_2);
    CU_ADD_TEST(suite, test_versions);
}
