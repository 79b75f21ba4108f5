/* SMP v2, which runs PyTorch's FSDP: every parameter of its dictionary and what it
 * means. Names and ranges: "SMP v2 core feature configuration parameters" of the
 * SageMaker developer guide; defaults and releases in part recalled. */
#include "scenario/distribution/smp_params.h"
#include "scenario/libraries.h"
#include "scenario/releases.h"

#include <inttypes.h>

/* clang-format off */
struct v2 {
    struct cfg scratch; /* of smp_params_read */
    int64_t hybrid_shard_degree, activation_loading_horizon, tensor_parallel_degree,
        context_parallel_degree, expert_parallel_degree, random_seed;
    bool sm_activation_offloading, fsdp_cache_flush_warnings, allow_empty_shards,
        delayed_parameter_initialization;
    struct {
        bool hybrid_shard_degree, activation_loading_horizon, tensor_parallel_degree,
            context_parallel_degree, expert_parallel_degree, random_seed,
            sm_activation_offloading, fsdp_cache_flush_warnings, allow_empty_shards,
            delayed_parameter_initialization;
    } given;
};

#define DEGREE_MAX 1048576.0
#define ROW(n, t, rel, why, ...)                                                       \
    { .field = { .key = #n, .type = (t), .at = offsetof(struct v2, n),                 \
                 .has = offsetof(struct v2, given.n), __VA_ARGS__ },                   \
      .since = (rel), .no_effect = (why) }
#define INT(n, lo, rel, why) \
    ROW(n, CFG_T_INT, rel, why, .min = (lo), .max = DEGREE_MAX)
#define V1(n)                                                                          \
    { .field = CFG_REFUSED(#n, "it is a parameter of SMP v1, which \"mpi\" launches; "  \
                               "SMP v2 has no such thing") }

static const struct smp_param rows[] = {
    INT(hybrid_shard_degree, 0, NULL, NULL),
    INT(activation_loading_horizon, 1, NULL, NULL),
    INT(tensor_parallel_degree, 1, NULL, NULL),
    INT(context_parallel_degree, 1, "2.5", NULL),
    INT(expert_parallel_degree, 1, "2.3", NULL),
    ROW(random_seed, CFG_T_INT, NULL, "numbers drawn do not change sizes",
        .min = -9e15, .max = 9e15),
    ROW(sm_activation_offloading, CFG_T_BOOL, NULL, NULL, .min = 0),
    ROW(delayed_parameter_initialization, CFG_T_BOOL, NULL,
        "parameters are made once, before the steps", .min = 0),
    ROW(fsdp_cache_flush_warnings, CFG_T_BOOL, NULL,
        "warnings take no time worth counting", .min = 0),
    ROW(allow_empty_shards, CFG_T_BOOL, NULL,
        "shards are simulated as equal parts of a layer", .min = 0),
    V1(partitions), V1(pipeline_parallel_degree), V1(microbatches), V1(pipeline), V1(ddp),
    V1(optimize), V1(placement_strategy), V1(sharded_data_parallel_degree),
    V1(shard_optimizer_state), V1(prescaled_batch), V1(active_microbatches),
    V1(offload_activations), V1(fp16), V1(bf16), V1(auto_partition), V1(default_partition),
    { .field = { .key = NULL } },
};
/* clang-format on */

/* Degrees against the world, which has to be known. */
static int check_world(const struct parse_context *r, struct cfg c, const struct v2 *w)
{
    int64_t world = r->s->cluster.n_gpus, t = w->tensor_parallel_degree,
            h = w->hybrid_shard_degree, cp = w->context_parallel_degree;
    if (!r->has_cluster || world % t != 0)
        return 0; /* degrees.c says so */
    if (h > 1 && (world / t) % h != 0)
        return cfg_error(cfg_get(c, "hybrid_shard_degree"), DIAG_NOT_DIVISIBLE,
                         "smp rule: %" PRId64 " does not divide the %" PRId64
                         " GPUs%s (write one of its divisors, or 0)",
                         h, world / t, t > 1 ? " of each tensor rank" : "");
    if (cp > 1 && h >= 1 && (cp > h || h % cp != 0))
        return cfg_error(cfg_get(c, "context_parallel_degree"), DIAG_NOT_DIVISIBLE,
                         "smp rule: %" PRId64 " is no divisor of hybrid_shard_degree "
                         "%" PRId64 " (write one, or raise that)",
                         cp, h);
    return 0;
}

static int check_library(const struct parse_context *r, struct cfg c,
                         const struct v2 *w)
{
    const char *v = r->smp.version;
    if (w->sm_activation_offloading && v && release_has(RELEASE_SMP_OFFLOAD_BROKEN, v))
        return cfg_error(cfg_get(c, "sm_activation_offloading"), DIAG_UNSUPPORTED,
                         "smp rule: activation offloading is broken in SMP %s (write "
                         "False, or another version in /software)",
                         release_first(RELEASE_SMP_OFFLOAD_BROKEN));
    return 0;
}

static void apply(struct parse_context *r, struct cfg c, const struct v2 *w)
{
    struct parallelism *p = &r->s->parallel;
    library_set(p, "fsdp");
    p->tensor = w->tensor_parallel_degree;
    p->context = w->context_parallel_degree;
    p->expert = w->expert_parallel_degree;
    p->split.prescaled_batch = true;
    p->offload_activations = w->sm_activation_offloading;
    p->activation_loading_horizon = w->activation_loading_horizon;
    p->shard.strategy = w->hybrid_shard_degree == 1 ? SHARDING_NONE : SHARDING_FULL;
    if (w->hybrid_shard_degree > 0) { /* else all ranks, or as the script says */
        r->written.degree = true;
        p->shard.degree = w->hybrid_shard_degree;
    }
    if (w->given.activation_loading_horizon && !w->sm_activation_offloading)
        parse_note(r, cfg_get(c, "activation_loading_horizon"),
                   "activations are not offloaded");
}

int smp_v2_read(struct parse_context *r, struct cfg c)
{
    struct v2 w = { .activation_loading_horizon = 2,
                    .tensor_parallel_degree = 1,
                    .context_parallel_degree = 1,
                    .expert_parallel_degree = 1 };
    if (smp_params_read(r, c, rows, &w))
        return -1;
    if (check_world(r, c, &w) | check_library(r, c, &w))
        return -1;
    apply(r, c, &w);
    return 0;
}
