/* The parameters of SMP v1 as a dictionary gives them: smp_v1.c reads them,
 * smp_v1_rules.c says what the SDK and the library refuse, smp_v1_apply.c what they
 * mean. Private to these. Names, ranges and releases: smd_model_parallel_general.rst of
 * the SageMaker SDK and the developer guide. */
#ifndef SCENARIO_DISTRIBUTION_SMP_V1_H
#define SCENARIO_DISTRIBUTION_SMP_V1_H

#include "scenario/distribution/distribution.h"

enum { PIPELINE_INTERLEAVED, PIPELINE_SIMPLE, PIPELINE_ONLY_FORWARD };
enum { OPTIMIZE_MEMORY, OPTIMIZE_SPEED };
enum { DIST_AUTO, DIST_NCCL };

/* clang-format off */
struct smp_v1 {
    struct cfg scratch; /* of smp_params_read */
    int64_t partitions, pipeline_parallel_degree, microbatches, default_partition, ddp_port,
        active_microbatches, activation_loading_horizon, tensor_parallel_degree,
        sharded_data_parallel_degree, sdp_reduce_bucket_size,
        sdp_param_persistence_threshold, sdp_max_live_parameters;
    double memory_weight, sdp_gradient_clipping;
    int pipeline, optimize, ddp_dist_backend;
    const char *placement_strategy, *partition_file;
    bool auto_partition, contiguous, horovod, ddp, deterministic_server,
        offload_activations, fp16, bf16, fp16_params, shard_optimizer_state,
        prescaled_batch, skip_tracing, delayed_parameter_initialization,
        sdp_hierarchical_allgather, load_partition, overlapping_allreduce;
    struct {
        bool partitions, pipeline_parallel_degree, microbatches, default_partition,
            ddp_port, active_microbatches, activation_loading_horizon,
            tensor_parallel_degree, sharded_data_parallel_degree, sdp_reduce_bucket_size,
            sdp_param_persistence_threshold, sdp_max_live_parameters, memory_weight,
            sdp_gradient_clipping, pipeline, optimize, ddp_dist_backend,
            placement_strategy, partition_file, auto_partition, contiguous, horovod, ddp,
            deterministic_server, offload_activations, fp16, bf16, fp16_params,
            shard_optimizer_state, prescaled_batch, skip_tracing,
            delayed_parameter_initialization, sdp_hierarchical_allgather, load_partition,
            overlapping_allreduce;
    } given;
};
/* clang-format on */

/* Stages of the pipeline, under whichever name they are given. */
int64_t smp_v1_stages(const struct smp_v1 *w);

/* With fewer microbatches active than there are, backwards cannot all come last. */
bool smp_v1_is_interleaved(const struct smp_v1 *w);

/* Reports what the SDK (fw_utils.validate_mp_config) or the library refuses, and
 * parameters that disagree; -1 then. */
int smp_v1_check(struct parse_context *r, struct cfg c, const struct smp_v1 *w);

/* The order of ranks by "cluster", "spread" or the letters of the degrees; -1 after
 * reporting a word that is none. */
int smp_v1_place(struct parse_context *r, struct cfg c, const char *word);

/* Sets the scenario's parallelism by parameters that passed. */
void smp_v1_apply(struct parse_context *r, struct cfg c, const struct smp_v1 *w);

#endif
