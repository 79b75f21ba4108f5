/* What SMP v1's parameters mean: see smp_v1.h. */
#include "scenario/distribution/smp_v1.h"

#include "layout/layout.h"
#include "scenario/libraries.h"
#include "scenario/releases.h"
#include "scenario/sagemaker.h"

#include <string.h>

int smp_v1_place(struct parse_context *r, struct cfg c, const char *word)
{
    struct layout l;
    if (strcmp(word, "cluster") == 0)
        word = "DPT";
    else if (strcmp(word, "spread") == 0)
        word = "TPD";
    if (layout_init(&l, word, 1, 1, 1))
        return cfg_error(cfg_get(c, "placement_strategy"), DIAG_UNKNOWN_NAME,
                         "smp rule: \"%.40s\" is no placement (write \"cluster\", "
                         "\"spread\" or an order of the letters D, P and T)",
                         word);
    memcpy(r->s->parallel.placement, word, 4);
    return 0;
}

/* SMDDP's AllGather takes the place of NCCL's where all of this holds. */
static bool gathers_by_smddp(const struct parse_context *r, const struct smp_v1 *w)
{
    return r->has_cluster && w->sharded_data_parallel_degree > 1 &&
           w->ddp_dist_backend == DIST_AUTO &&
           !sagemaker_gather_lacks(&r->s->cluster, &r->s->software, r->smp.version);
}

/* What the dictionary leaves open is the library's default (sharding_defaults). */
static int64_t given_or_open(bool given, int64_t value)
{
    return given ? value : -1;
}

static void apply_sharding(struct parse_context *r, const struct smp_v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    r->written.backend = true;
    backend_set(p, gathers_by_smddp(r, w) ? "smddp" : NULL);
    if (w->shard_optimizer_state)
        p->shard.strategy = SHARDING_OPTIMIZER;
    if (w->sharded_data_parallel_degree < 2)
        return;
    p->shard.strategy = SHARDING_FULL;
    p->shard.degree = w->sharded_data_parallel_degree;
    p->shard.reshard = true;
    p->shard.prefetch = -1; /* SMP has no parameter for it: the default */
    p->shard.hierarchical = w->sdp_hierarchical_allgather;
    p->shard.bucket_elements = -1; /* its own, which has no effect: note_idle */
    p->shard.persistence_elements = given_or_open(
        w->given.sdp_param_persistence_threshold, w->sdp_param_persistence_threshold);
    p->shard.live_elements =
        given_or_open(w->given.sdp_max_live_parameters, w->sdp_max_live_parameters);
    r->written.degree = r->smp.has_clipping = true;
    r->smp.clipping = w->sdp_gradient_clipping;
}

static void apply_precision(struct parse_context *r, struct cfg c,
                            const struct smp_v1 *w)
{
    bool params = w->fp16_params && w->tensor_parallel_degree > 1 &&
                  !cfg_present(cfg_get(r->training, "precision"));
    r->smp.has_precision = w->fp16 || w->bf16 || params;
    r->smp.precision = w->bf16 ? OP_BF16 : OP_FP16;
    r->smp.precision_at = cfg_get(c, w->bf16   ? "bf16"
                                     : w->fp16 ? "fp16"
                                               : "fp16_params");
    bool said = w->fp16 || w->bf16;
    if (w->given.fp16_params && !params)
        parse_note(r, cfg_get(c, "fp16_params"),
                   w->tensor_parallel_degree == 1
                       ? "it is for distributed modules, and there are none without "
                         "tensor parallelism"
                   : said ? "the whole model is of 16 bits already"
                          : "/training/precision says how parameters are kept");
}

static void apply_pipeline(struct parse_context *r, struct cfg c,
                           const struct smp_v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    bool simple = !smp_v1_is_interleaved(w);
    p->pipeline = smp_v1_stages(w);
    p->stages.schedule = simple ? SCHEDULE_SMP_SIMPLE : SCHEDULE_SMP_INTERLEAVED;
    p->stages.active_microbatches =
        w->given.active_microbatches ? w->active_microbatches : p->pipeline + 2;
    if (simple)
        p->stages.active_microbatches = 0;
    p->stages.partition = PARTITION_SMP;
    p->stages.memory_weight = w->optimize == OPTIMIZE_SPEED ? 0.2 : 0.8;
    if (w->given.memory_weight)
        p->stages.memory_weight = w->memory_weight;
    r->smp.microbatches = w->given.microbatches ? w->microbatches : 0;
    r->smp.auto_partition = w->auto_partition;
    const struct {
        const char *key, *why;
        bool given;
    } idle[] = {
        { "pipeline", "there is one pipeline stage",
          p->pipeline == 1 && w->given.pipeline },
        { "active_microbatches", "there is one pipeline stage",
          p->pipeline == 1 && w->given.active_microbatches },
        { "active_microbatches", "the simple schedule runs all forwards first",
          p->pipeline > 1 && simple && w->given.active_microbatches },
        { "memory_weight", "there is one pipeline stage",
          p->pipeline == 1 && w->given.memory_weight },
        { "default_partition", "layers are partitioned automatically",
          w->auto_partition && w->given.default_partition },
        { "activation_loading_horizon", "activations are not offloaded",
          w->given.activation_loading_horizon && !w->offload_activations },
        { "optimize", "there are no tensor ranks and no stages",
          w->given.optimize && p->pipeline == 1 && w->tensor_parallel_degree == 1 },
        { "ddp_dist_backend",
          "NCCL reduces in any case, and only sharded data parallelism gathers by "
          "SMDDP",
          w->given.ddp_dist_backend && w->sharded_data_parallel_degree == 1 },
        { "sdp_reduce_bucket_size",
          "gradients of a layer are scattered together, whatever the bucket",
          w->given.sdp_reduce_bucket_size && w->sharded_data_parallel_degree > 1 },
        { "overlapping_allreduce",
          "sharded data parallelism scatters gradients as layers give them",
          w->given.overlapping_allreduce && w->sharded_data_parallel_degree > 1 },
        { "prescaled_batch", "there are no tensor ranks",
          w->given.prescaled_batch && w->tensor_parallel_degree == 1 },
    };
    for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
        if (idle[i].given)
            parse_note(r, cfg_get(c, idle[i].key), idle[i].why);
}

/* sdp_* say how parameters are sharded, if they are. */
static void note_unsharded(struct parse_context *r, struct cfg c,
                           const struct smp_v1 *w)
{
    for (void *it = cfg_first(c); it; it = cfg_next(c, it))
        if (w->sharded_data_parallel_degree == 1 &&
            strncmp(cfg_key(it), "sdp_", 4) == 0)
            parse_note(r, cfg_member(c, it), "sharded_data_parallel_degree is 1");
}

void smp_v1_apply(struct parse_context *r, struct cfg c, const struct smp_v1 *w)
{
    struct parallelism *p = &r->s->parallel;
    library_set(p, "smp");
    p->tensor = w->tensor_parallel_degree;
    p->split.tensor_policy =
        w->optimize == OPTIMIZE_SPEED ? TENSOR_SMP_SPEED : TENSOR_SMP_SCATTER;
    p->split.prescaled_batch = w->prescaled_batch || p->tensor == 1;
    if (w->given.overlapping_allreduce) {
        p->reduce.overlap = w->overlapping_allreduce;
        r->written.overlap = true;
    }
    p->offload_activations = w->offload_activations;
    p->activation_loading_horizon = w->activation_loading_horizon;
    p->stages.broadcast_outputs = OUTPUTS_LOSS;
    r->smp.replicates = w->ddp || w->horovod;
    /* smp.tensor_parallelism(fused_softmax=True) */
    r->smp.fused_softmax =
        p->tensor > 1 && release_has(RELEASE_SMP_FUSED_SOFTMAX, r->smp.version);
    apply_pipeline(r, c, w);
    apply_sharding(r, w);
    p->split.distribute_embedding =
        p->shard.strategy == SHARDING_FULL; /* as AWS's scripts have it */
    apply_precision(r, c, w);
    note_unsharded(r, c, w);
}
