/* Fields that act only where something is there to heed them: a row each with what it
 * needs and what is said of it otherwise, where a user wrote it. */
#include "scenario/heed.h"
#include "model/pattern.h"

#include "hardware/sites.h"
#include "model/graphs.h"
#include "model/saved.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <string.h>

/* What a scenario has -------------------------------------------------------------- */

typedef bool fact(const struct scenario *s);

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

/* Each part of layers that graphs are asked of is somewhere. */
static bool captures(const struct scenario *s)
{
    const uint32_t of_experts =
        1u << OP_GRAPH_MOE | 1u << OP_GRAPH_ROUTER | 1u << OP_GRAPH_PREPROCESS;
    uint32_t graphs = s->training.graphs;
    bool some = s->model.mlp.experts > 0,
         dense = !some || s->model.mlp.dense_layers > 0;
    return (some || !(graphs & of_experts)) && (dense || !(graphs >> OP_GRAPH_MLP & 1));
}

/* A model that adapters do not freeze. */
static bool trains_base(const struct scenario *s)
{
    return s->training.lora.rank == 0;
}

static bool adapted(const struct scenario *s)
{
    return !trains_base(s);
}

/* A head that makes logits of words, by a matrix that is trained. */
static bool trains_head(const struct scenario *s)
{
    const struct lora *l = &s->training.lora;
    bool frozen = l->rank > 0 && !(l->trained & LORA_TRAINS_HEAD);
    return model_has_vocabulary(&s->model) && !frozen;
}

static bool has_words(const struct scenario *s)
{
    enum model_head head = s->model.ends.head;
    return head == MODEL_HEAD_CAUSAL_LM || head == MODEL_HEAD_MASKED_LM ||
           head == MODEL_HEAD_PRETRAIN;
}

static bool dense_mlps(const struct scenario *s)
{
    return s->model.mlp.experts == 0 || s->model.mlp.dense_layers > 0;
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

static bool has_experts(const struct scenario *s)
{
    return s->model.mlp.experts > 0;
}

static bool has_states(const struct scenario *s)
{
    return model_state_layers(&s->model) > 0;
}

static bool has_dense(const struct scenario *s)
{
    const struct model *m = &s->model;
    return m->mlp.experts == 0 || m->mlp.dense_layers > 0;
}

static bool has_shared(const struct scenario *s)
{
    return has_experts(s) && s->model.mlp.shared_width > 0;
}

static bool has_latent(const struct scenario *s)
{
    return has_experts(s) && s->model.mlp.latent > 0;
}

static bool attends(const struct scenario *s)
{
    return model_attention_layers(&s->model) > 0;
}

/* PyTorch's own attention, by one of its kernels. */
static bool takes_masks(const struct scenario *s)
{
    return op_attention_is_fused(s->training.attention);
}

static bool orthogonalizes(const struct scenario *s)
{
    return s->training.optimizer == OPTIMIZER_MUON;
}

/* Each module that is named is in some layer, and saves enough. */
static bool saves(const struct scenario *s)
{
    uint32_t experts =
        1u << OP_SAVER_EXPERTS | 1u << OP_SAVER_ACTIVATION | 1u << OP_SAVER_MLP_NORM;
    uint32_t asked = s->parallel.offload_modules;
    return (has_experts(s) || !(asked & experts)) &&
           (s->model.attention.latent_kv || !(asked >> OP_SAVER_ATTENTION_NORM & 1));
}

/* Tokens leave their rank. */
static bool routes(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return has_experts(s) && (p->expert > 1 || (parallelism_folds_experts(p) &&
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

static bool predicts_further(const struct scenario *s)
{
    return s->training.mtp_layers > 0;
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

static bool smp_any(const struct scenario *s)
{
    return of(s)->smp.dictionary;
}

static bool sdk_rules(const struct scenario *s)
{
    return of(s)->smp.sdk_rules;
}

static bool servers(const struct scenario *s)
{
    return of(s)->servers;
}

static bool horovod(const struct scenario *s)
{
    return of(s)->fuses_by_cycle;
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

static bool full(const struct scenario *s)
{
    return s->parallel.shard.strategy == SHARDING_FULL;
}

static bool not_full(const struct scenario *s)
{
    return !full(s);
}

static bool whole_or_full(const struct scenario *s)
{
    return unsharded(s) || full(s);
}

static bool recomputes(const struct scenario *s)
{
    return s->training.checkpointing == CHECKPOINT_FULL;
}

static bool ranks(const struct scenario *s)
{
    return s->cluster.n_gpus > 1;
}

static bool hears_environment(const struct scenario *s)
{
    return ranks(s) || s->software.expandable_segments;
}

static bool nodes(const struct scenario *s)
{
    return s->cluster.n_instances > 1;
}

static bool hosts(const struct scenario *s)
{
    return s->cluster.n_hosts > 1;
}

static bool tiers(const struct scenario *s)
{
    return nodes(s) && sites_tiers_act(&s->cluster);
}

static bool meets(const struct scenario *s)
{
    return s->background.acts;
}

/* NICs carry what storage holds, too. */
static bool reached(const struct scenario *s)
{
    return nodes(s) || cfg_present(s->sections.storage) ||
           cfg_present(s->sections.input);
}

static bool neighbours(const struct scenario *s)
{
    bool any = false;
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        any |= s->cluster.groups[i].gpus_per_instance > 1;
    return any;
}

static bool replicas(const struct scenario *s)
{
    return s->parallel.data * s->parallel.context > 1;
}

static bool smddp(const struct scenario *s)
{
    return backend_is_smddp(&s->parallel);
}

/* SMDDP's buffers of gradients: no collective of NCCL is in the step. */
static bool not_fused(const struct scenario *s)
{
    return !smddp(s) || smp_any(s) || !nodes(s) || !whole_or_full(s) || full(s);
}

static bool buffers(const struct scenario *s)
{
    return s->model.ends.positions > 0;
}

static bool masked(const struct scenario *s)
{
    return s->model.ends.head == MODEL_HEAD_MASKED_LM ||
           s->model.ends.head == MODEL_HEAD_PRETRAIN;
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

/* The table ------------------------------------------------------------------------ */

#define P "/parallelism/"
#define FORMAT "/training/module_precision/"
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

static const struct row {
    const char *field;
    fact *needs;
    const char *otherwise;
} rows[] = {
    { P "active_microbatches", stages, one_stage },
    { P "active_microbatches", dynamic, dynamic_only },
    { P "forward_policy", stages, one_stage },
    { P "forward_policy", dynamic, dynamic_only },
    { P "schedule", stages, one_stage },
    { P "partition", stages, one_stage },
    { P "wgrad_deferral_limit", defers, "no gradient is deferred (defer_embedding_wgrad is not set)" },
    { P "offload_modules", saves, "the model has no such module, or its products have their norm inside" },
    { FORMAT "qkv", attends, "no layer has attention" },
    { FORMAT "attn_proj", attends, "no layer has attention" },
    { FORMAT "mlp", has_dense, "all layers have experts" },
    { FORMAT "experts", has_experts, "the model has no experts" },
    { FORMAT "shared_experts", has_shared, "no expert is shared" },
    { FORMAT "moe_latent", has_latent, "experts read whole tokens" },
    { FORMAT "mamba_in", has_states, "no layer keeps a state" },
    { FORMAT "mamba_out", has_states, "no layer keeps a state" },
    { FORMAT "mtp", predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { "/training/mtp_repeated", predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { "/training/frozen", trains_base, "adapters freeze the model" },
    { "/training/attention_mask", takes_masks, "unfused attention has its scores in memory, whatever their mask" },
    { "/training/muon", orthogonalizes, "the optimizer is not muon" },
    { P "scatter_gather", stages, one_stage },
    { P "scatter_gather", split, one_split },
    { P "scatter_gather", whole_streams, "sequence parallelism has split what stages send" },
    { P "mtp_part", stages, one_stage },
    { P "mtp_part", predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { "/training/mlp_tiles", dense_mlps, "no layer has an MLP without experts" },
    { "/training/loss_chunks", has_words, "the head makes no logits of words" },
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
    { P "expert_tensor", has_experts, "the model has no experts" },
    { P "expert_load", experts, "there is no expert parallelism" },
    { P "expert_load", unpadded, "each expert has its capacity of rows" },
    { P "expert_capacity", has_experts, "the model has no experts" },
    { P "expert_padding", has_experts, "the model has no experts" },
    { P "broadcast_outputs", outputs, "forward returns to its own rank without SMP" },
    { P "broadcast_outputs", parts, "each rank has the whole model" },
    { P "tensor_policy", split, one_split },
    { P "overlap_tensor", split, one_split },
    { P "servers", servers, no_servers },
    { P "server_replicas", servers, no_servers },
    { P "asynchronous", servers, no_servers },
    { P "fusion_cycle", horovod, "only Horovod has one" },
    { P "backend", ranks, "there is one GPU" },
    { P "backend", nodes, "on one instance NCCL moves the bytes" },
    { P "backend", whole_or_full,
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
    { P "broadcast_buffers", ranks, "there is one GPU" },
    { SHARDING "degree", sharded, not_sharded },
    { SHARDING "offload", sharded, not_sharded },
    { SHARDING "reduce_bucket_elements", sharded, not_sharded },
    { SHARDING "reduce_bucket_elements", element_buckets,
      "DeepSpeed's and SMP's buckets alone are of elements" },
    { SHARDING "hierarchical_allgather", sharded, not_sharded },
    { SHARDING "hierarchical_allgather", shards_across,
      "no group of shards has several GPUs in each of several instances" },
    { SHARDING "unit", full, not_gathered },
    { SHARDING "prefetch", full, not_gathered },
    { SHARDING "backward_prefetch", full, not_gathered },
    { SHARDING "adapter_units", full, not_gathered },
    { SHARDING "adapter_units", adapted, "there are no adapters" },
    { SHARDING "limit_all_gathers", full, not_gathered },
    { SHARDING "limit_all_gathers", many_gathers,
      "prefetching asks for two gathers at once at most" },
    { SHARDING "reshard_after_forward", full, not_gathered },
    { SHARDING "param_persistence_elements", full, not_gathered },
    { SHARDING "max_live_elements", full, not_gathered },
    { SHARDING "max_reuse_elements", full, not_gathered },
    { SHARDING "max_reuse_elements", reuses, "only DeepSpeed has it" },
    { SHARDING "max_reuse_elements", recomputes, "no layer is computed again" },
    { "/training/predicted_positions", masked,
      "the model's head predicts every position" },
    { "/training/gradient_dtype", ranks, "there is one GPU" },
    { "/training/cuda_graphs", captures, "the model has no layer with one of these parts" },
    { "/software/nccl", ranks, "there is one GPU" },
    { "/software/environment", hears_environment, "there is one GPU" },
    { "/software/horovod", horovod, "Horovod does not reduce the gradients" },
    { "/software/smddp", smddp, "the backend is NCCL" },
    { "/software/smddp", full,
      "releases of SMDDP differ in their gathers of sharded parameters alone" },
    { "/software/smp", smp_any, "the job runs without SMP" },
    { "/software/sagemaker_sdk", sdk_rules, "only rules of SMP v1 ask for it" },
    { "/cluster/fabric", nodes, "there is one instance, or one NVLink domain" },
    { "/cluster/quality", nodes, "there is one instance, or one NVLink domain" },
    { "/cluster/oversubscription", nodes, "there is one instance, or one NVLink domain" },
    { "/cluster/tiers", tiers, "no way up is oversubscribed, or one leaf has all" },
    { "/cluster/rails", tiers, "no way up is oversubscribed, or one leaf has all" },
    { "/cluster/fabric_hosts", tiers, "no way up is oversubscribed, or one leaf has all" },
    { "/background", meets,
      "no way that this job and another use is oversubscribed" },
    { "/cluster/nics", reached, "there is one instance" },
    { "/cluster/network_bandwidth", reached, "there is one instance" },
    { "/cluster/nvlink_domain", hosts, "there is one instance" },
    { "/cluster/inside", neighbours, "an instance runs one GPU" },
    { "/distribution/torch_distributed/enabled", not_fused,
      "SMDDP moves the bytes, whoever starts the processes" },
};
/* clang-format on */
#undef P
#undef SHARDING

/* The check ------------------------------------------------------------------------ */

/* The value at a pointer without escapes; absent where any of it is. */
static struct cfg find(struct cfg root, const char *pointer)
{
    char key[64];
    while (*pointer == '/' && cfg_is_object(root)) {
        size_t n = 0;
        for (pointer++; pointer[n] && pointer[n] != '/' && n + 1 < sizeof(key); n++)
            key[n] = pointer[n];
        key[n] = '\0';
        if (!json_object_get(root.json, key))
            return (struct cfg) { 0 };
        root = cfg_get(root, key);
        pointer += n;
    }
    return *pointer ? (struct cfg) { 0 } : root;
}

void heed_note(struct parse_context *r)
{
    const struct scenario *s = r->s;
    const char *noted = "";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        if (row->needs(s) || strcmp(noted, row->field) == 0)
            continue;
        struct cfg c = find(r->root, row->field);
        if (!cfg_present(c))
            continue;
        parse_note(r, c, row->otherwise);
        noted = row->field;
    }
}

const char *heed_reason(const char *field, int32_t i)
{
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
        if (strcmp(rows[k].field, field) == 0 && i-- == 0)
            return rows[k].otherwise;
    return NULL;
}
