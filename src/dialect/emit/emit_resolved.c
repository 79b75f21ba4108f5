/* What a scenario comes down to, field by field, in a scenario's own words. Fields that a
 * job has no use for (the schedule of one stage) are null. */
#include "dialect/emit/emit_parts.h"
#include "model/freeze.h"
#include "model/graphs.h"
#include "model/regions.h"
#include "model/saved.h"
#include "scenario/attention.h"
#include "scenario/libraries.h"
#include "scenario/sagemaker.h"
#include "scenario/states.h"

#include <inttypes.h>
#include <string.h>

static json_t *word_of(const struct name_value *names, int value)
{
    const char *word = names_of(names, value);
    return word ? json_string(word) : json_null();
}

static json_t *positive(int64_t n)
{
    return n > 0 && n < INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

static bool is_sharded(const struct scenario *s)
{
    return s->parallel.shard.strategy != SHARDING_NONE;
}

static bool is_full(const struct scenario *s)
{
    return s->parallel.shard.strategy == SHARDING_FULL;
}

static bool is_pipelined(const struct scenario *s)
{
    return s->parallel.pipeline > 1;
}

/* Where there is one stage, an accumulation step is a microbatch; but SMP's dictionary
 * cuts microbatches out of the script's batch. */
static bool has_microbatches(const struct scenario *s)
{
    return is_pipelined(s) || library_of(&s->parallel)->smp.script;
}

static bool is_split(const struct scenario *s)
{
    return s->parallel.tensor > 1;
}

static bool has_groups(const struct scenario *s)
{
    return is_split(s) || is_pipelined(s) || s->parallel.context > 1 ||
           s->parallel.expert > 1;
}

#define WHEN(condition, result) ((condition) ? (result) : json_null())
#define WHOLE(n) json_integer((json_int_t)(n))

/* What SMP's dictionary and script decide, and no field of the scenario alone. */
static json_t *smp_rest(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    return WHEN(library_of(p)->smp.dictionary,
                json_pack("[b,b,b,I,f,b,b]", s->training.fused_softmax,
                          p->split.prescaled_batch, p->split.distribute_embedding,
                          (json_int_t)p->replicas, p->stages.memory_weight,
                          p->split.infers_tensor, p->stages.infers_forward));
}

/* On the wire, of those of that width: which of them changes nothing. */
static json_t *wire_dtype(const struct scenario *s)
{
    struct scenario plain = *s;
    plain.parallel.reduce.compression = COMPRESSION_NONE;
    bool bf16 = op_compute_dtype(s->training.precision) == DTYPE_BF16;
    if (states_wire_B(&plain) > 2)
        return json_string("fp32");
    return json_string(bf16 ? "bf16" : "fp16");
}

/* What keeps SMDDP from gathering shards, which releases decide. */
static json_t *gather(const struct scenario *s)
{
    const char *lacks =
        backend_is_smddp(&s->parallel) && is_sharded(s)
            ? sagemaker_gather_lacks(&s->cluster, &s->software, s->software.smp)
            : NULL;
    return lacks ? json_string(lacks) : json_null();
}

/* What the launcher and the environment leave NCCL; parameter servers do without it. */
static json_t *launcher(const struct scenario *s)
{
    const struct software *w = &s->software;
    bool efa = s->fabric && s->fabric->kind == FABRIC_EFA;
    if (library_of(&s->parallel)->servers)
        return json_null();
    json_t *all = json_pack("[b,i,b,b,b]", efa && w->simple_on_efa, w->protocol,
                            w->has_protocol, w->has_algorithm, w->no_nvls);
    for (int i = 0; i < NCCL_FUNCTIONS; i++)
        json_array_append_new(all, json_pack("[i,i]", w->limits.no_algorithm[i],
                                             w->limits.no_protocol[i]));
    return all;
}

static json_t *checkpointing(const struct scenario *s)
{
    const struct training *t = &s->training;
    if (t->checkpointing == CHECKPOINT_GROUP && t->checkpoint_group == INT64_MAX)
        return json_string("contiguous");
    if (t->checkpointing == CHECKPOINT_GROUP)
        return json_pack("{s:I}", "group", (json_int_t)t->checkpoint_group);
    if (t->checkpointing == CHECKPOINT_FULL && t->checkpoint_every > 1)
        return json_pack("{s:I}", "every", (json_int_t)t->checkpoint_every);
    if (t->checkpointing == CHECKPOINT_FULL && t->checkpoint_block > 0)
        return json_pack("{s:I}", "block", (json_int_t)t->checkpoint_block);
    if (t->checkpointing == CHECKPOINT_SELECTIVE &&
        t->recompute_modules != 1u << OP_REGION_CORE) {
        json_t *list = json_array();
        for (int r = 0; r < OP_REGIONS; r++)
            if (t->recompute_modules >> r & 1)
                json_array_append_new(list, word_of(op_region_names, r));
        return json_pack("{s:o}", "modules", list);
    }
    return word_of(checkpointing_names, (int)t->checkpointing);
}

static json_t *graphs(const struct scenario *s)
{
    json_t *list = json_array();
    for (int g = 0; g < OP_GRAPHS; g++)
        if (s->training.graphs >> g & 1)
            json_array_append_new(list, word_of(op_graph_names, g));
    if (json_array_size(list) > 0)
        return list;
    json_decref(list);
    return json_null();
}

static json_t *partition(const struct scenario *s)
{
    const struct parallelism *p = &s->parallel;
    if (!is_pipelined(s))
        return json_null();
    if (p->stages.partition != PARTITION_MANUAL)
        return word_of(parallelism_partition_names, (int)p->stages.partition);
    json_t *counts = json_array();
    for (int64_t i = 0; i < p->pipeline * p->stages.virtual_stages; i++)
        json_array_append_new(counts, WHOLE(p->stages.layers[i]));
    return counts;
}

static json_t *lora(const struct scenario *s)
{
    const struct lora *l = &s->training.lora;
    if (!l->rank)
        return json_null();
    json_t *targets = json_array(), *trained = json_array();
    const char *word;
    for (int32_t i = 0; (word = lora_target_word(l->targets, i)); i++)
        json_array_append_new(targets, json_string(word));
    for (int32_t i = 0; (word = lora_trained_word(l->trained, i)); i++)
        json_array_append_new(trained, json_string(word));
    json_t *o =
        json_pack("{s:I, s:f, s:o, s:o}", "rank", (json_int_t)l->rank, "dropout",
                  l->dropout, "target_modules", targets, "trained", trained);
    if (l->base != LORA_BASE_OPEN)
        json_object_set_new(o, "base", word_of(lora_base_names, (int)l->base));
    if (l->wide)
        json_object_set_new(o, "dtype", json_string("fp32"));
    if (l->base == LORA_BASE_NF4)
        json_object_set_new(o, "double_quantization",
                            json_boolean(l->double_quantization));
    return o;
}

static json_t *frozen(const struct scenario *s)
{
    const struct lora *l = &s->training.lora;
    const char *word;
    char run[64];
    json_t *list = l->frozen || l->layers ? json_array() : json_null();
    for (int32_t i = 0; (word = lora_frozen_word(l->frozen, i)); i++)
        json_array_append_new(list, json_string(word));
    for (int32_t i = 0; (word = freeze_layers_word(l, i, run, sizeof(run))); i++)
        json_array_append_new(list, json_string(word));
    return list;
}

static json_t *offloaded(const struct scenario *s)
{
    json_t *list = s->parallel.offload_modules ? json_array() : json_null();
    for (int m = 0; m < OP_SAVERS; m++)
        if (s->parallel.offload_modules >> m & 1)
            json_array_append_new(list, json_string(names_of(op_saver_names, m)));
    return list;
}

static json_t *formats(const struct scenario *s)
{
    const struct op_formats *f = &s->training.formats;
    json_t *o = json_object();
    for (int i = 0; i < OP_FORMATS; i++)
        if (f->of[i] > 0)
            json_object_set_new(o, names_of(op_formatted_names, i),
                                word_of(op_precision_names, f->of[i] - 1));
    if (json_object_size(o) > 0)
        return o;
    json_decref(o);
    return json_null();
}

/* Fields in the order in which they are reported: pointer, what a difference makes, a name,
 * and the value, of the training t and the parallelism p of the scenario s (VALUE) or by a
 * function above (OWN). */
/* clang-format off */
#define FIELDS(VALUE, OWN) \
    VALUE("/parallelism/library", EMIT_JOB, library, json_string(library_word(p))) \
    VALUE("/parallelism/backend", EMIT_JOB, backend, word_of(backend_names, p->reduce.backend)) \
    VALUE("/distribution", EMIT_JOB, smp, json_string(library_of(p)->name)) \
    VALUE("/parallelism/tensor", EMIT_JOB, tensor, WHOLE(p->tensor)) \
    VALUE("/parallelism/pipeline", EMIT_JOB, pipeline, WHOLE(p->pipeline)) \
    VALUE("/parallelism/context", EMIT_JOB, context, WHOLE(p->context)) \
    VALUE("/parallelism/expert", EMIT_JOB, expert, WHOLE(p->expert)) \
    VALUE("/parallelism/expert_tensor", EMIT_JOB, expert_tensor, WHEN(p->expert_tensor, WHOLE(p->expert_tensor))) \
    VALUE("/parallelism/expert_dispatcher", EMIT_DETAIL, dispatcher, \
          WHEN(p->expert > 1 && p->dispatch.kind, word_of(parallelism_dispatcher_names, (int)p->dispatch.kind))) \
    VALUE("/parallelism/expert_dispatch_sms", EMIT_DETAIL, dispatch_sms, \
          WHEN(p->expert > 1 && p->dispatch.kind >= DISPATCHER_DEEPEP, WHOLE(p->dispatch.sms))) \
    VALUE("/parallelism/expert_dispatch_fp8", EMIT_DETAIL, dispatch_fp8, WHEN(p->expert > 1 && p->dispatch.fp8, json_true())) \
    VALUE("/parallelism/expert_overlap", EMIT_DETAIL, expert_overlap, \
          WHEN(p->expert > 1 && p->dispatch.overlap, word_of(parallelism_expert_overlap_names, (int)p->dispatch.overlap))) \
    VALUE("/parallelism/virtual_stages", EMIT_JOB, virtual_stages, WHOLE(p->stages.virtual_stages)) \
    VALUE("/parallelism/schedule", EMIT_JOB, schedule, \
          WHEN(is_pipelined(s), word_of(parallelism_schedule_names, (int)p->stages.schedule))) \
    VALUE("/parallelism/sharding/strategy", EMIT_JOB, strategy, word_of(parallelism_sharding_names, (int)p->shard.strategy)) \
    VALUE("/parallelism/sharding/degree", EMIT_JOB, degree, WHEN(is_sharded(s), WHOLE(p->shard.degree))) \
    VALUE("/parallelism/sharding/offload", EMIT_JOB, offload, \
          WHEN(is_sharded(s), word_of(parallelism_offload_names, (int)p->shard.offload))) \
    VALUE("/training/global_batch_size", EMIT_JOB, global_batch, WHOLE(t->global_batch_size)) \
    VALUE("/training/micro_batch_size", EMIT_JOB, micro, WHOLE(t->micro_batch_size)) \
    VALUE("/training/microbatches", EMIT_JOB, microbatches, WHEN(has_microbatches(s), WHOLE(t->microbatches))) \
    VALUE("/training/gradient_accumulation_steps", EMIT_JOB, accumulation, \
          WHOLE(t->accumulation * (has_microbatches(s) ? 1 : t->microbatches))) \
    OWN("/distribution", EMIT_JOB, smp_rest) \
    OWN(EMIT_LAUNCHER, EMIT_DETAIL, launcher) \
    VALUE("/training/sequence_length", EMIT_DETAIL, sequence, WHOLE(t->sequence_length)) \
    VALUE("/training/precision", EMIT_DECIDES, precision, word_of(op_precision_names, (int)t->precision)) \
    VALUE("/training/framework", EMIT_DECIDES, framework, json_string(t->framework->name)) \
    VALUE("/training/master_weights", EMIT_DETAIL, master, json_boolean(!t->no_master_weights)) \
    OWN("/software/pytorch", EMIT_DETAIL, gather) \
    VALUE("/training/gradient_dtype", EMIT_WORD, gradient_dtype, \
          t->gradient_dtype < 0 ? json_null() : word_of(dtype_names, t->gradient_dtype)) \
    OWN("/training/gradient_dtype", EMIT_DETAIL, wire_dtype) \
    VALUE("/training/optimizer", EMIT_DETAIL, optimizer, word_of(optimizer_names, (int)t->optimizer)) \
    VALUE("/training/muon/steps", EMIT_DETAIL, muon_steps, WHEN(t->optimizer == OPTIMIZER_MUON, WHOLE(t->muon_steps))) \
    VALUE("/training/muon/tensor", EMIT_DETAIL, muon_tensor, \
          WHEN(t->optimizer == OPTIMIZER_MUON && is_split(s), word_of(parallelism_muon_names, (int)t->muon_tensor))) \
    VALUE("/training/gradient_clipping", EMIT_DETAIL, clipping, json_real(t->gradient_clipping)) \
    OWN("/training/activation_checkpointing", EMIT_DETAIL, checkpointing) \
    OWN("/training/cuda_graphs", EMIT_DETAIL, graphs) \
    OWN("/training/lora", EMIT_DETAIL, lora) \
    OWN("/training/frozen", EMIT_DETAIL, frozen) \
    VALUE("/training/attention", EMIT_DETAIL, attention, word_of(op_attention_names, (int)t->attention)) \
    VALUE("/training/attention_mask", EMIT_DETAIL, mask, \
          WHEN(t->attention == OP_ATTENTION_EFFICIENT, word_of(attention_masks, t->masked ? ATTENTION_MASK_TENSOR : ATTENTION_MASK_KERNEL))) \
    VALUE("/training/vocab_padding", EMIT_DETAIL, padding, \
          scenario_op_settings(s).vocab_padding > 1 ? positive(scenario_op_settings(s).vocab_padding) : json_null()) \
    VALUE("/training/mlp_tiles", EMIT_DETAIL, tiles, \
          t->mlp_tiles == OP_TILES_ALST ? json_string("alst") : positive(t->mlp_tiles)) \
    VALUE("/training/update_in_backward", EMIT_DETAIL, early, WHEN(t->updates_in_backward, json_true())) \
    VALUE("/training/weight_average", EMIT_DETAIL, average, WHEN(t->weight_average, json_true())) \
    VALUE("/training/cast_logits", EMIT_DETAIL, cast_logits, WHEN(t->raw_loss, json_false())) \
    VALUE("/training/loss_chunks", EMIT_DETAIL, chunks, \
          t->loss_chunks == OP_CHUNKS_LIGER ? json_string("liger") : positive(t->loss_chunks)) \
    VALUE("/training/predicted_positions", EMIT_DETAIL, predicted, positive(t->predicted_positions)) \
    VALUE("/training/decoder_length", EMIT_DETAIL, decoder, positive(t->decoder_length)) \
    VALUE("/training/mtp_layers", EMIT_DETAIL, mtp_layers, positive(t->mtp_layers)) \
    VALUE("/training/mtp_repeated", EMIT_DETAIL, mtp_repeated, WHEN(t->mtp_layers > 0 && t->mtp_repeated, json_true())) \
    OWN("/training/module_precision", EMIT_DETAIL, formats) \
    VALUE("/training/task", EMIT_DETAIL, task, t->task ? json_string(t->task) : json_null()) \
    VALUE("/training/reference_model", EMIT_DETAIL, reference, \
          WHEN(t->preference.reference != REFERENCE_NONE, word_of(parallelism_reference_names, (int)t->preference.reference))) \
    VALUE("/training/samples", EMIT_DETAIL, samples, positive(t->samples)) \
    VALUE("/training/epochs", EMIT_DETAIL, epochs, positive(t->epochs)) \
    VALUE("/training/steps", EMIT_DETAIL, steps, positive(t->steps)) \
    OWN("/parallelism/partition", EMIT_DETAIL, partition) \
    VALUE("/parallelism/defer_embedding_wgrad", EMIT_DETAIL, defers, \
          WHEN(is_pipelined(s), json_boolean(p->stages.deferred_wgrads > 0))) \
    VALUE("/parallelism/wgrad_deferral_limit", EMIT_DETAIL, deferral_limit, \
          WHEN(p->stages.deferred_wgrads > 0 && p->stages.deferred_wgrads < INT64_MAX, WHOLE(p->stages.deferred_wgrads))) \
    VALUE("/parallelism/scatter_gather", EMIT_DETAIL, scatter_gather, \
          WHEN(is_pipelined(s) && is_split(s) && !p->split.sequence_parallel, json_boolean(!p->stages.whole_messages))) \
    VALUE("/parallelism/mtp_part", EMIT_DETAIL, mtp_part, \
          WHEN(is_pipelined(s) && t->mtp_layers > 0 && p->stages.mtp_part >= 0, WHOLE(p->stages.mtp_part))) \
    VALUE("/parallelism/loss_parallel", EMIT_DETAIL, loss_parallel, WHEN(is_split(s) && p->split.whole_loss, json_false())) \
    VALUE("/parallelism/sequence_parallel", EMIT_DETAIL, sequence_parallel, \
          WHEN(is_split(s), json_boolean(p->split.sequence_parallel))) \
    VALUE("/parallelism/tensor_policy", EMIT_DETAIL, tensor_policy, \
          WHEN(is_split(s), word_of(parallelism_tensor_names, (int)p->split.tensor_policy))) \
    VALUE("/parallelism/context_comm", EMIT_DETAIL, context_comm, \
          WHEN(p->context > 1, word_of(context_comm_names, (int)p->context_comm))) \
    VALUE("/parallelism/context_inner", EMIT_DETAIL, context_inner, \
          WHEN(p->context > 1 && p->context_inner > 0, WHOLE(p->context_inner))) \
    VALUE("/parallelism/expert_load", EMIT_DETAIL, load, \
          WHEN(p->expert > 1, p->expert_exponent > 0 ? json_string("power-law") : json_real(p->expert_imbalance))) \
    VALUE("/parallelism/expert_capacity", EMIT_DETAIL, capacity, WHEN(p->expert_capacity > 0, json_real(p->expert_capacity))) \
    VALUE("/parallelism/expert_padding", EMIT_DETAIL, expert_padding, \
          WHEN(p->expert_capacity > 0, json_boolean(p->expert_padding))) \
    VALUE("/parallelism/active_microbatches", EMIT_DETAIL, active, WHEN(is_pipelined(s), positive(p->stages.active_microbatches))) \
    VALUE("/parallelism/forward_policy", EMIT_DETAIL, forward_policy, WHEN(is_pipelined(s), WHOLE(p->stages.forward_policy))) \
    VALUE("/parallelism/broadcast_outputs", EMIT_DETAIL, outputs, WHEN(is_pipelined(s), WHOLE(p->stages.broadcast_outputs))) \
    VALUE("/parallelism/placement", EMIT_DETAIL, placement, WHEN(has_groups(s), json_string(p->placement))) \
    VALUE("/parallelism/sharding/unit", EMIT_DETAIL, unit, \
          WHEN(is_full(s), json_string(p->shard.unit_layers == INT64_MAX ? "model" : "layer"))) \
    VALUE("/parallelism/sharding/hierarchical_allgather", EMIT_DETAIL, hierarchical, \
          WHEN(is_full(s), json_boolean(p->shard.hierarchical))) \
    VALUE("/parallelism/sharding/prefetch", EMIT_DETAIL, prefetch, WHEN(is_full(s), WHOLE(p->shard.prefetch))) \
    VALUE("/parallelism/sharding/backward_prefetch", EMIT_DETAIL, backward_prefetch, \
          WHEN(is_full(s), json_boolean(p->shard.backward_prefetch))) \
    VALUE("/parallelism/sharding/adapter_units", EMIT_DETAIL, adapter_units, \
          WHEN(is_full(s) && s->training.lora.rank > 0, json_boolean(p->shard.adapter_units))) \
    VALUE("/parallelism/sharding/limit_all_gathers", EMIT_DETAIL, limit, WHEN(is_full(s), json_boolean(p->shard.in_flight > 0))) \
    VALUE("/parallelism/sharding/reshard_after_forward", EMIT_DETAIL, reshard, WHEN(is_full(s), json_boolean(p->shard.reshard))) \
    VALUE("/parallelism/sharding/no_sync", EMIT_DETAIL, no_sync, WHEN(is_full(s), json_boolean(p->shard.no_sync))) \
    VALUE("/parallelism/sharding/reduce_bucket_elements", EMIT_DETAIL, shard_bucket, \
          WHEN(is_full(s), positive(p->shard.bucket_elements))) \
    VALUE("/parallelism/sharding/param_persistence_elements", EMIT_DETAIL, persistence, \
          WHEN(is_full(s), WHOLE(p->shard.persistence_elements))) \
    VALUE("/parallelism/sharding/max_reuse_elements", EMIT_DETAIL, reuse, WHEN(is_full(s), WHOLE(p->shard.reuse_elements))) \
    VALUE("/parallelism/sharding/max_live_elements", EMIT_DETAIL, live, WHEN(is_full(s), positive(p->shard.live_elements))) \
    VALUE("/parallelism/overlap", EMIT_DETAIL, overlap, json_boolean(p->reduce.overlap)) \
    VALUE("/parallelism/bucket_size", EMIT_DETAIL, bucket, \
          WHEN(p->reduce.bucket_B > 0, json_sprintf("%" PRId64 "B", (int64_t)p->reduce.bucket_B))) \
    VALUE("/parallelism/bucket_size", EMIT_DETAIL, first_bucket, WHOLE(p->reduce.first_bucket_B)) \
    VALUE("/parallelism/overlap_param_gather", EMIT_DETAIL, overlap_gather, \
          WHEN(is_sharded(s), json_boolean(p->reduce.overlap_param_gather))) \
    VALUE("/parallelism/overlap_tensor", EMIT_DETAIL, overlap_tensor, \
          WHEN(is_split(s), json_boolean(library_of(p)->overlaps_linear ? p->split.overlaps : p->split.hidden_frac > 0))) \
    VALUE("/parallelism/gradient_as_bucket_view", EMIT_DETAIL, bucket_view, json_boolean(p->reduce.gradient_as_bucket_view)) \
    VALUE("/parallelism/gradient_compression", EMIT_DETAIL, compression, WHOLE(p->reduce.compression)) \
    VALUE("/parallelism/fusion_cycle", EMIT_DETAIL, cycle, \
          WHEN(library_of(p)->fuses_by_cycle, json_sprintf("%.9gs", p->reduce.fusion_cycle_s))) \
    VALUE("/parallelism/asynchronous", EMIT_DETAIL, asynchronous, json_boolean(p->reduce.asynchronous)) \
    VALUE("/parallelism/server_replicas", EMIT_DETAIL, server_replicas, WHOLE(p->reduce.server_replicas)) \
    VALUE("/parallelism/broadcast_buffers", EMIT_DETAIL, buffers, json_boolean(p->reduce.broadcast_buffers)) \
    VALUE("/parallelism/offload_activations", EMIT_DETAIL, offload_activations, json_boolean(p->offload_activations)) \
    OWN("/parallelism/offload_modules", EMIT_DETAIL, offloaded) \
    VALUE("/parallelism/offload_layers", EMIT_DETAIL, offload_layers, \
          WHEN(s->parallel.offload_layers > 0, WHOLE(p->offload_layers))) \
    VALUE("/parallelism/activation_loading_horizon", EMIT_DETAIL, horizon, \
          WHEN(p->offload_activations, WHOLE(p->activation_loading_horizon)))
/* clang-format on */

#define FUNCTION(pointer, weight, name, result)     \
    static json_t *name(const struct scenario *s)   \
    {                                               \
        const struct training *t = &s->training;    \
        const struct parallelism *p = &s->parallel; \
        (void)t, (void)p;                           \
        return (result);                            \
    }
#define NO_FUNCTION(pointer, weight, name)
#define VALUE_ROW(pointer, weight, name, result) { pointer, weight, name },
#define OWN_ROW(pointer, weight, name) { pointer, weight, name },

FIELDS(FUNCTION, NO_FUNCTION)

const struct emit_field emit_fields[] = {
    FIELDS(VALUE_ROW, OWN_ROW) { NULL, EMIT_DETAIL, NULL },
};

static json_t *value_in(const struct emit_field *fields, const struct scenario *s,
                        const char *pointer)
{
    for (const struct emit_field *f = fields; f->pointer; f++)
        if (strcmp(f->pointer, pointer) == 0)
            return f->value(s);
    return NULL;
}

json_t *emit_value(const struct scenario *s, const char *pointer)
{
    json_t *v = value_in(emit_fields, s, pointer);
    return v ? v : value_in(emit_model_fields, s, pointer);
}

int64_t emit_whole(const struct scenario *s, const char *pointer)
{
    json_t *v = emit_value(s, pointer);
    int64_t n = (int64_t)json_integer_value(v);
    json_decref(v);
    return n;
}
