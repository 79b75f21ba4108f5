/* Fields that act only where something is there to heed them: a row each with what it
 * needs and what is said of it otherwise, where a user wrote it. */
#include "scenario/heed.h"

#include "hardware/sites.h"
#include "model/graphs.h"
#include "model/pattern.h"
#include "scenario/heed_rows.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <string.h>

/* What a scenario has -------------------------------------------------------------- */

static const struct library_row *of(const struct scenario *s)
{
    return library_of(&s->parallel);
}

/* A model that adapters do not freeze. */
bool heed_trains_base(const struct scenario *s)
{
    return s->training.lora.rank == 0;
}

bool heed_has_experts(const struct scenario *s)
{
    return s->model.mlp.experts > 0;
}

bool heed_predicts_further(const struct scenario *s)
{
    return s->training.mtp_layers > 0;
}

bool heed_horovod(const struct scenario *s)
{
    return of(s)->fuses_by_cycle;
}

bool heed_full(const struct scenario *s)
{
    return s->parallel.shard.strategy == SHARDING_FULL;
}

bool heed_whole_or_full(const struct scenario *s)
{
    return s->parallel.shard.strategy == SHARDING_NONE || heed_full(s);
}

bool heed_ranks(const struct scenario *s)
{
    return s->cluster.n_gpus > 1;
}

bool heed_nodes(const struct scenario *s)
{
    return s->cluster.n_instances > 1;
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

bool heed_has_words(const struct scenario *s)
{
    enum model_head head = s->model.ends.head;
    return head == MODEL_HEAD_CAUSAL_LM || head == MODEL_HEAD_MASKED_LM ||
           head == MODEL_HEAD_PRETRAIN;
}

static bool narrow_logits(const struct scenario *s)
{
    return dtype_bytes(op_compute_dtype(s->training.precision)) < 4;
}

static bool several_kernels(const struct scenario *s)
{
    const struct framework_loss *l = &s->training.framework->loss;
    return !l->fused && !l->compiled && !l->in_place;
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
    return heed_has_experts(s) && s->model.mlp.shared_width > 0;
}

static bool has_latent(const struct scenario *s)
{
    return heed_has_experts(s) && s->model.mlp.latent > 0;
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

static bool divides_matrices(const struct scenario *s)
{
    return s->parallel.tensor > 1 || parallelism_expert_tensor(&s->parallel) > 1;
}

static bool smp_any(const struct scenario *s)
{
    return of(s)->smp.dictionary;
}

static bool sdk_rules(const struct scenario *s)
{
    return of(s)->smp.sdk_rules;
}

static bool hears_environment(const struct scenario *s)
{
    return heed_ranks(s) || s->software.expandable_segments;
}

static bool hosts(const struct scenario *s)
{
    return s->cluster.n_hosts > 1;
}

static bool tiers(const struct scenario *s)
{
    return heed_nodes(s) && sites_tiers_act(&s->cluster);
}

static bool meets(const struct scenario *s)
{
    return s->background.acts;
}

/* NICs carry what storage holds, too. */
static bool reached(const struct scenario *s)
{
    return heed_nodes(s) || cfg_present(s->sections.storage) ||
           cfg_present(s->sections.input);
}

static bool neighbours(const struct scenario *s)
{
    bool any = false;
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        any |= s->cluster.groups[i].gpus_per_instance > 1;
    return any;
}

static bool smddp(const struct scenario *s)
{
    return backend_is_smddp(&s->parallel);
}

/* SMDDP's buffers of gradients: no collective of NCCL is in the step. */
static bool not_fused(const struct scenario *s)
{
    return !smddp(s) || smp_any(s) || !heed_nodes(s) || !heed_whole_or_full(s) ||
           heed_full(s);
}

static bool masked(const struct scenario *s)
{
    return s->model.ends.head == MODEL_HEAD_MASKED_LM ||
           s->model.ends.head == MODEL_HEAD_PRETRAIN;
}

/* The table ------------------------------------------------------------------------ */

#define FORMAT "/training/module_precision/"
/* clang-format off */
static const struct heed_row rows[] = {
    { FORMAT "qkv", attends, "no layer has attention" },
    { FORMAT "attn_proj", attends, "no layer has attention" },
    { FORMAT "mlp", has_dense, "all layers have experts" },
    { FORMAT "experts", heed_has_experts, "the model has no experts" },
    { FORMAT "shared_experts", has_shared, "no expert is shared" },
    { FORMAT "moe_latent", has_latent, "experts read whole tokens" },
    { FORMAT "mamba_in", has_states, "no layer keeps a state" },
    { FORMAT "mamba_out", has_states, "no layer keeps a state" },
    { FORMAT "mtp", heed_predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { "/training/mtp_repeated", heed_predicts_further, "no layer predicts further tokens (mtp_layers is not set)" },
    { "/training/frozen", heed_trains_base, "adapters freeze the model" },
    { "/training/attention_mask", takes_masks, "unfused attention has its scores in memory, whatever their mask" },
    { "/training/muon", orthogonalizes, "the optimizer is not muon" },
    { "/training/muon/tensor", divides_matrices, "no tensor group divides a matrix" },
    { "/training/mlp_tiles", has_dense, "no layer has an MLP without experts" },
    { "/training/cast_logits", heed_has_words, "the head makes no logits of words" },
    { "/training/cast_logits", narrow_logits, "logits are fp32" },
    { "/training/cast_logits", several_kernels, "the framework's loss casts as it reads" },
    { "/training/loss_chunks", heed_has_words, "the head makes no logits of words" },
    { "/training/predicted_positions", masked,
      "the model's head predicts every position" },
    { "/training/gradient_dtype", heed_ranks, "there is one GPU" },
    { "/training/cuda_graphs", captures, "the model has no layer with one of these parts" },
    { "/software/nccl", heed_ranks, "there is one GPU" },
    { "/software/environment", hears_environment, "there is one GPU" },
    { "/software/horovod", heed_horovod, "Horovod does not reduce the gradients" },
    { "/software/smddp", smddp, "the backend is NCCL" },
    { "/software/smddp", heed_full,
      "releases of SMDDP differ in their gathers of sharded parameters alone" },
    { "/software/smp", smp_any, "the job runs without SMP" },
    { "/software/sagemaker_sdk", sdk_rules, "only rules of SMP v1 ask for it" },
    { "/cluster/fabric", heed_nodes, "there is one instance, or one NVLink domain" },
    { "/cluster/quality", heed_nodes, "there is one instance, or one NVLink domain" },
    { "/cluster/oversubscription", heed_nodes, "there is one instance, or one NVLink domain" },
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
    { NULL, NULL, NULL },
};
/* clang-format on */

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

static void note_rows(struct parse_context *r, const struct heed_row *row)
{
    const char *noted = "";
    for (; row->field; row++) {
        if (row->needs(r->s) || strcmp(noted, row->field) == 0)
            continue;
        struct cfg c = find(r->root, row->field);
        if (!cfg_present(c))
            continue;
        parse_note(r, c, row->otherwise);
        noted = row->field;
    }
}

void heed_note(struct parse_context *r)
{
    note_rows(r, heed_parallelism);
    note_rows(r, rows);
}

static const char *reason(const struct heed_row *row, const char *field, int32_t *i)
{
    for (; row->field; row++)
        if (strcmp(row->field, field) == 0 && (*i)-- == 0)
            return row->otherwise;
    return NULL;
}

const char *heed_reason(const char *field, int32_t i)
{
    const char *found = reason(heed_parallelism, field, &i);
    return found ? found : reason(rows, field, &i);
}
