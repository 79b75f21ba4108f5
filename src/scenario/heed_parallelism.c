/* Fields of /parallelism that act only with degrees, a library or a sharding that heed
 * them. */
#include "model/pattern.h"
#include "model/saved.h"
#include "scenario/heed_rows.h"
#include "scenario/libraries.h"

#include <string.h>

static const struct library_row *of(const struct scenario *s)
{
    return library_of(&s->parallel);
}

static bool stages(const struct scenario *s)
{
    return s->parallel.pipeline > 1;
}

static bool whole_streams(const struct scenario *s)
{
    return !s->parallel.split.sequence_parallel;
}

static bool defers(const struct scenario *s)
{
    return s->parallel.stages.deferred_wgrads > 0;
}

static bool adapted(const struct scenario *s)
{
    return !heed_trains_base(s);
}

/* A head that makes logits of words, by a matrix that is trained. */
static bool trains_head(const struct scenario *s)
{
    const struct lora *l = &s->training.lora;
    bool frozen = l->rank > 0 && !(l->trained & LORA_TRAINS_HEAD);
    return model_has_vocabulary(&s->model) && !frozen;
}

static bool split(const struct scenario *s)
{
    return s->parallel.tensor > 1;
}

static bool parts(const struct scenario *s)
{
    return stages(s) || split(s);
}

static bool contexts(const struct scenario *s)
{
    return s->parallel.context > 1;
}

/* Each module that is named is in some layer, and saves enough. */
static bool saves(const struct scenario *s)
{
    uint32_t experts =
        1u << OP_SAVER_EXPERTS | 1u << OP_SAVER_ACTIVATION | 1u << OP_SAVER_MLP_NORM;
    uint32_t asked = s->parallel.offload_modules;
    return (heed_has_experts(s) || !(asked & experts)) &&
           (s->model.attention.latent_kv || !(asked >> OP_SAVER_ATTENTION_NORM & 1));
}

/* Tokens leave their rank. */
static bool routes(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return heed_has_experts(s) && (p->expert > 1 || (parallelism_folds_experts(p) &&
                                                     parallelism_expert_tensor(p) > 1));
}

static bool kernels(const struct scenario *s)
{
    return s->parallel.dispatch.kind == DISPATCHER_DEEPEP ||
           s->parallel.dispatch.kind == DISPATCHER_HYBRIDEP;
}

static bool experts(const struct scenario *s)
{
    return s->parallel.expert > 1;
}

static bool unpadded(const struct scenario *s)
{
    return !s->parallel.expert_padding;
}

static bool dynamic(const struct scenario *s)
{
    return s->parallel.stages.schedule == SCHEDULE_SMP_INTERLEAVED;
}

static bool offloads(const struct scenario *s)
{
    return s->parallel.offload_activations;
}

static bool outputs(const struct scenario *s)
{
    return of(s)->broadcasts_outputs;
}

static bool servers(const struct scenario *s)
{
    return of(s)->servers;
}

static bool sends_buffers(const struct scenario *s)
{
    return of(s)->broadcasts_buffers;
}

static bool views(const struct scenario *s)
{
    return of(s)->bucket_views;
}

static bool reuses(const struct scenario *s)
{
    return of(s)->shards.reuse > 0;
}

static bool element_buckets(const struct scenario *s)
{
    return of(s)->shards.bucket > 0;
}

static bool sharded(const struct scenario *s)
{
    return s->parallel.shard.strategy != SHARDING_NONE;
}

static bool unsharded(const struct scenario *s)
{
    return !sharded(s);
}

static bool leaves_sums(const struct scenario *s)
{
    return of(s)->no_sync;
}

static bool gathers_logits(const struct scenario *s)
{
    return of(s)->gathers_logits;
}

static bool accumulates(const struct scenario *s)
{
    return s->training.accumulation * s->training.microbatches > 1;
}

static bool one_stage_alone(const struct scenario *s)
{
    return !stages(s);
}

static bool not_full(const struct scenario *s)
{
    return !heed_full(s);
}

static bool recomputes(const struct scenario *s)
{
    return s->training.checkpointing == CHECKPOINT_FULL;
}

static bool replicas(const struct scenario *s)
{
    return s->parallel.data * s->parallel.context > 1;
}

static bool buffers(const struct scenario *s)
{
    return s->model.ends.positions > 0;
}

/* GPUs of a group of shards in one node, of a placement in which D varies with a
 * stride. */
static bool shards_across(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    const int64_t node = s->cluster.groups[0].gpus_per_instance;
    int64_t stride = 1;
    for (const char *c = strchr(p->placement, 'D') + 1; *c; c++)
        stride *= *c == 'P' ? p->pipeline : p->tensor;
    return stride * 2 <= node && stride * p->shard.degree > node;
}

/* The limit of FSDP is of two gathers, its own prefetching never asks for more. */
static bool many_gathers(const struct scenario *s)
{
    return s->parallel.shard.prefetch > 1;
}

#define P "/parallelism/"
#define SHARDING "/parallelism/sharding/"
/* clang-format off */
static const char one_stage[] = "there is one pipeline stage",
    no_routes[] = "no token leaves its rank for an expert",
    one_split[] = "the tensor group has one rank",
    one_replica[] = "no other rank has the same parameters, so no gradients are reduced",
    no_servers[] = "there is no parameter server",
    not_sharded[] = "nothing is sharded",
    not_gathered[] = "parameters are not sharded, so none are gathered",
    by_shards[] = "full sharding reduces gradients unit by unit, overlapped with backward",
    dynamic_only[] = "only SMP's interleaved schedule heeds it";

const struct heed_row heed_parallelism[] = {
    { P "loss_parallel", split, one_split },
    { P "loss_parallel", gathers_logits, "only tensor groups of PyTorch, DeepSpeed and Megatron gather logits" },
    { P "loss_parallel", heed_has_words, "the head makes no logits of words" },
    { P "active_microbatches", stages, one_stage },
    { P "active_microbatches", dynamic, dynamic_only },
    { P "forward_policy", stages, one_stage },
    { P "forward_policy", dynamic, dynamic_only },
    { P "schedule", stages, one_stage },
    { P "partition", stages, one_stage },
    { P "wgrad_deferral_limit", defers, "no gradient is deferred (defer_embedding_wgrad is not set)" },
    { P "offload_modules", saves, "the model has no such module, or its products have their norm inside" },
    { P "scatter_gather", stages, one_stage },
    { P "scatter_gather", split, one_split },
    { P "scatter_gather", whole_streams, "sequence parallelism has split what stages send" },
    { P "mtp_part", stages, one_stage },
    { P "mtp_part", heed_predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { P "defer_embedding_wgrad", trains_head, "the last stage makes no gradient of a matrix of words" },
    { P "placement", parts, "there are data-parallel ranks alone" },
    { P "activation_loading_horizon", offloads, "activations are not offloaded" },
    { P "context_comm", contexts, "there is no context parallelism" },
    { P "context_inner", contexts, "there is no context parallelism" },
    { P "expert_dispatcher", routes, no_routes },
    { P "expert_dispatch_sms", routes, no_routes },
    { P "expert_dispatch_sms", kernels, "only DeepEP and Hybrid-EP take some" },
    { P "expert_dispatch_fp8", routes, no_routes },
    { P "expert_dispatch_fp8", kernels, "only DeepEP and Hybrid-EP dispatch 8 bits" },
    { P "expert_overlap", routes, no_routes },
    { P "expert_tensor", heed_has_experts, "the model has no experts" },
    { P "expert_load", experts, "there is no expert parallelism" },
    { P "expert_load", unpadded, "each expert has its capacity of rows" },
    { P "expert_capacity", heed_has_experts, "the model has no experts" },
    { P "expert_padding", heed_has_experts, "the model has no experts" },
    { P "broadcast_outputs", outputs, "forward returns to its own rank without SMP" },
    { P "broadcast_outputs", parts, "each rank has the whole model" },
    { P "tensor_policy", split, one_split },
    { P "overlap_tensor", split, one_split },
    { P "servers", servers, no_servers },
    { P "server_replicas", servers, no_servers },
    { P "asynchronous", servers, no_servers },
    { P "fusion_cycle", heed_horovod, "only Horovod has one" },
    { P "backend", heed_ranks, "there is one GPU" },
    { P "backend", heed_nodes, "on one instance NCCL moves the bytes" },
    { P "backend", heed_whole_or_full,
      "gradients of a sharded optimizer are reduced by NCCL" },
    { P "bucket_size", replicas, one_replica },
    { P "bucket_size", not_full, by_shards },
    { P "overlap", replicas, one_replica },
    { P "overlap", not_full, by_shards },
    { P "gradient_compression", replicas, one_replica },
    { P "gradient_compression", not_full,
      "full sharding reduces gradients as they are" },
    { P "gradient_as_bucket_view", replicas, one_replica },
    { P "gradient_as_bucket_view", views, "only DDP's buckets can be the gradients" },
    { P "gradient_as_bucket_view", unsharded, "what is sharded has no copies in buckets" },
    { P "broadcast_buffers", sends_buffers, "only DDP sends the model's buffers" },
    { P "broadcast_buffers", buffers, "the model has no buffers" },
    { P "broadcast_buffers", heed_ranks, "there is one GPU" },
    { SHARDING "degree", sharded, not_sharded },
    { SHARDING "offload", sharded, not_sharded },
    { SHARDING "reduce_bucket_elements", sharded, not_sharded },
    { SHARDING "reduce_bucket_elements", element_buckets,
      "DeepSpeed's and SMP's buckets alone are of elements" },
    { SHARDING "hierarchical_allgather", sharded, not_sharded },
    { SHARDING "hierarchical_allgather", shards_across,
      "no group of shards has several GPUs in each of several instances" },
    { SHARDING "unit", heed_full, not_gathered },
    { SHARDING "prefetch", heed_full, not_gathered },
    { SHARDING "backward_prefetch", heed_full, not_gathered },
    { SHARDING "adapter_units", heed_full, not_gathered },
    { SHARDING "adapter_units", adapted, "there are no adapters" },
    { SHARDING "limit_all_gathers", heed_full, not_gathered },
    { SHARDING "limit_all_gathers", many_gathers,
      "prefetching asks for two gathers at once at most" },
    { SHARDING "reshard_after_forward", heed_full, not_gathered },
    { SHARDING "no_sync", heed_full, not_gathered },
    { SHARDING "no_sync", leaves_sums, "only FSDP has it" },
    { SHARDING "no_sync", accumulates, "there is one accumulation step" },
    { SHARDING "no_sync", one_stage_alone, "stages of a pipeline keep them whole anyway" },
    { SHARDING "param_persistence_elements", heed_full, not_gathered },
    { SHARDING "max_live_elements", heed_full, not_gathered },
    { SHARDING "max_reuse_elements", heed_full, not_gathered },
    { SHARDING "max_reuse_elements", reuses, "only DeepSpeed has it" },
    { SHARDING "max_reuse_elements", recomputes, "no layer is computed again" },
    { NULL, NULL, NULL },
};
/* clang-format on */
