/* Every parameter of SMP v1's dictionary, its range and its release: see smp_v1.h. */
#include "scenario/distribution/smp_v1.h"

#include "scenario/distribution/smp_params.h"

/* clang-format off */
static const struct name_value pipelines[] = {
    { "interleaved", PIPELINE_INTERLEAVED }, { "simple", PIPELINE_SIMPLE },
    { "_only_forward", PIPELINE_ONLY_FORWARD }, { NULL, 0 },
};
static const struct name_value optimizes[] = {
    { "memory", OPTIMIZE_MEMORY }, { "speed", OPTIMIZE_SPEED }, { NULL, 0 },
};
static const struct name_value dist_backends[] = {
    { "auto", DIST_AUTO }, { "nccl", DIST_NCCL }, { NULL, 0 },
};

static const struct smp_v1 defaults = {
    .microbatches = 1, .activation_loading_horizon = 4, .tensor_parallel_degree = 1,
    .sharded_data_parallel_degree = 1, .sdp_gradient_clipping = 1.0, .pipeline = PIPELINE_INTERLEAVED,
    .optimize = OPTIMIZE_MEMORY, .ddp_dist_backend = DIST_AUTO,
    .placement_strategy = "cluster", .auto_partition = true, .contiguous = true,
    .sdp_hierarchical_allgather = true, .overlapping_allreduce = true,
};

#define DEGREE_MAX   1048576.0
#define ELEMENTS_MAX 1e13
#define ROW(n, t, who, rel, why, ...)                                                  \
    { .field = { .key = #n, .type = (t), .at = offsetof(struct smp_v1, n),             \
                 .has = offsetof(struct smp_v1, given.n), __VA_ARGS__ },               \
      .only = (who), .since = (rel), .no_effect = (why) }
#define INT(n, lo, hi, who, rel, why)                                                  \
    ROW(n, CFG_T_INT, who, rel, why, .min = (lo), .max = (hi))
#define BOOL(n, who, rel, why) ROW(n, CFG_T_BOOL, who, rel, why, .min = 0)
#define BOTH  SMP_FOR_BOTH
#define TORCH SMP_FOR_PYTORCH
#define FLOW  SMP_FOR_TENSORFLOW

static const struct smp_param rows[] = {
    INT(partitions, 1, DEGREE_MAX, BOTH, NULL, NULL),
    INT(pipeline_parallel_degree, 1, DEGREE_MAX, TORCH, "1.6", NULL),
    INT(microbatches, 1, 1 << 24, BOTH, NULL, NULL),
    ROW(pipeline, CFG_T_ENUM, BOTH, NULL, NULL, .names = pipelines),
    ROW(optimize, CFG_T_ENUM, BOTH, NULL, NULL, .names = optimizes),
    ROW(placement_strategy, CFG_T_STRING, BOTH, NULL, NULL, .min = 0),
    BOOL(auto_partition, BOTH, NULL, NULL),
    INT(default_partition, 0, DEGREE_MAX, BOTH, NULL, NULL),
    BOOL(contiguous, FLOW, NULL, "it is TensorFlow's; stages of a chain of layers always are"),
    BOOL(horovod, FLOW, NULL, NULL),
    ROW(memory_weight, CFG_T_REAL, TORCH, NULL, NULL, .min = 0, .max = 1),
    BOOL(ddp, TORCH, NULL, NULL),
    INT(ddp_port, 0, 65535, TORCH, NULL, "a port carries the same bytes as any other"),
    BOOL(overlapping_allreduce, TORCH, NULL, NULL), /* DistributedModel's, too */
    ROW(ddp_dist_backend, CFG_T_ENUM, TORCH, "1.13", NULL, .names = dist_backends),
    INT(active_microbatches, 1, DEGREE_MAX, TORCH, "1.3", NULL),
    BOOL(deterministic_server, TORCH, "1.3",
         "requests are simulated in the same order on all ranks in any case"),
    BOOL(offload_activations, TORCH, "1.6", NULL),
    INT(activation_loading_horizon, 1, DEGREE_MAX, TORCH, "1.6", NULL),
    INT(tensor_parallel_degree, 1, DEGREE_MAX, TORCH, "1.6", NULL),
    BOOL(fp16, TORCH, "1.10", NULL),
    BOOL(bf16, TORCH, "1.11", NULL),
    BOOL(fp16_params, TORCH, "1.6", NULL),
    BOOL(shard_optimizer_state, TORCH, "1.6", NULL),
    BOOL(prescaled_batch, TORCH, "1.6", NULL),
    BOOL(skip_tracing, TORCH, "1.6", "the model is traced before the first step only"),
    BOOL(delayed_parameter_initialization, TORCH, "1.6",
         "parameters are made before the first step only"),
    INT(sharded_data_parallel_degree, 1, DEGREE_MAX, TORCH, "1.11", NULL),
    INT(sdp_reduce_bucket_size, 1, ELEMENTS_MAX, TORCH, "1.11", NULL),
    INT(sdp_param_persistence_threshold, 0, ELEMENTS_MAX, TORCH, "1.11", NULL),
    INT(sdp_max_live_parameters, 1, ELEMENTS_MAX, TORCH, "1.11", NULL),
    BOOL(sdp_hierarchical_allgather, TORCH, "1.11", NULL),
    ROW(sdp_gradient_clipping, CFG_T_REAL, TORCH, "1.11", NULL, .min = 0, .max = 1e9),
    BOOL(load_partition, BOTH, NULL, "the file is not read: layers are cut as without it"),
    ROW(partition_file, CFG_T_STRING, BOTH, NULL,
        "the file is not read: layers are cut as without it", .min = 0),
    { .field = { .key = NULL } },
};
/* clang-format on */

int smp_v1_read(struct parse_context *r, struct cfg c)
{
    struct smp_v1 w = defaults;
    if (smp_params_read(r, c, rows, &w))
        return -1;
    if (smp_v1_check(r, c, &w) | smp_v1_place(r, c, w.placement_strategy))
        return -1;
    smp_v1_apply(r, c, &w);
    return 0;
}
