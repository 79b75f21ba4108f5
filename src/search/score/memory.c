/* Memory of scores: an estimate, and a bound that nothing which fits exceeds. */
#include "scenario/libraries.h"
#include "search/score/parts.h"
#include "simulate/communicators.h"
#include "simulate/simulate.h"

#include <math.h>

/* The bound: of the states of a mean stage, and of the activations of its layers, so
 * much is held whatever the partition is (test_plan.c: it rejects nothing that
 * fits). */
static const double least_states = 0.97, least_activations = 0.8;

/* Microbatches whose activations the first stage holds; the least of them that any
 * schedule of that name can do with. */
static double in_flight(const struct space_point *p, double *least)
{
    double m = (double)p->microbatches, n = (double)p->v[SPACE_PIPELINE];
    double v = (double)p->v[SPACE_VIRTUAL];
    *least = 1;
    if (n <= 1)
        return 1;
    switch ((enum schedule)p->v[SPACE_SCHEDULE]) {
    case SCHEDULE_GPIPE:
    case SCHEDULE_SMP_SIMPLE:
    case SCHEDULE_LOOPED_BFS:
        return m;
    case SCHEDULE_DUALPIPE_V: /* a chunk more */
        *least = fmin(m, n);
        return fmin(m, n + 1 / v);
    case SCHEDULE_SMP_INTERLEAVED:
        return fmin(m, n + 2);
    case SCHEDULE_INTERLEAVED:
        *least = fmin(m, n);
        return fmin(m, n) * (1 + (n - 1) / (n * v));
    default:
        *least = fmin(m, n);
        return fmin(m, n);
    }
}

/* Layers whose activations the fullest stage holds at least, counted once for each
 * microbatch in flight. Stage i of n holds min(least, n - i) microbatches. Where layers
 * differ, the heavier ones may be in late stages: the fullest stage holds least where
 * the stages' activations are in inverse proportion to their microbatches. */
static double least_layers(const struct space_point *p, const struct score_sums *u,
                           double least)
{
    double n = (double)p->v[SPACE_PIPELINE], stages = 0;
    if (!u->l->differ)
        return least * floor(u->layers / n);
    for (int64_t i = 1; i <= p->v[SPACE_PIPELINE]; i++)
        stages += 1 / fmin((double)i, least);
    return u->layers / stages;
}

/* What a parameter takes, with its gradient or without. */
static double states_B(const struct space_point *p, const struct states *s,
                       bool gradient)
{
    int64_t off = p->v[SPACE_OFFLOAD];
    double optimizer_B = off == OFFLOAD_NONE ? s->hidden_optimizer_B : 0;
    double others_B = s->parameter_B + (gradient ? s->gradient_B : 0);
    return optimizer_B + (off == OFFLOAD_PARAMETERS ? 0 : others_B);
}

/* What a layer keeps of a microbatch, in the mean of those that are computed again and
 * those that are not. */
static double layer_kept_B(const struct space_point *p, const struct score_sums *u,
                           const struct space_form *form, double group)
{
    const struct score_layer *l = u->l;
    double share =
        space_form_share(form, u->stage_layers / (double)p->v[SPACE_VIRTUAL]);
    double all_B =
        l->kept_B + l->autocast_B - space_form_sum(l->region_B, form->modules);
    double again_B = form->how == CHECKPOINT_OPERATORS ? 2 * l->input_B + l->saved_B
                                                       : l->input_B / group;
    return share * again_B + (1 - share) * all_B;
}

void score_memory(const struct space_point *p, const struct score_sums *u,
                  struct score *out)
{
    const struct score_layer *l = u->l;
    const struct parallelism_shard *how = &u->s->parallel.shard;
    bool whole = how->strategy == SHARDING_FULL;
    int64_t off = p->v[SPACE_OFFLOAD];
    struct space_form form = space_form_of(p->v[SPACE_CHECKPOINTING]);
    double n = (double)p->v[SPACE_PIPELINE];
    double ends = l->ends_parameters[0] + l->ends_parameters[1];
    double mean = (u->layers * (l->parameters - l->experts) + ends) / n;
    double least, flight = in_flight(p, &least);
    double group = fmin((double)form.group, u->stage_layers);
    double kept_B = layer_kept_B(p, u, &form, group);
    double again_B = form.how == CHECKPOINT_NONE ? 0 : group * l->kept_B;
    double head_B = n > 1 ? 0 : l->ends_kept_B[0] + l->ends_kept_B[1];
    double active_B = flight * u->stage_layers * kept_B + again_B + head_B + l->work_B;
    double unit_B = whole ? 3 * 2 * l->parameters : 0; /* at hand, next, gradients */
    double copies_B = u->states.quantized_B - u->states.parameter_B;
    unit_B += u->stage_layers * l->quantized * copies_B;
    if (whole && !how->reshard && u->shards > 1)
        unit_B += u->stage_parameters * u->whole_B;
    double frozen_B = off == OFFLOAD_PARAMETERS ? 0 : u->stage_frozen_B;
    unit_B += whole ? 2 * l->frozen_B : 0;
    if (whole && u->shards > 1)
        frozen_B /= u->shards;
    if (whole && n > 1 && u->shards > 1) /* gathered and gradients stay whole */
        unit_B = u->stage_parameters * (u->whole_B + states_wire_B(u->s));
    if (whole && u->shards > 1)
        unit_B += u->stage_layers * l->persistent * u->whole_B;
    double wire_B = states_bucket_B(u->s, p->ranks) * u->stage_parameters;
    wire_B += states_flat_buffers_B(u->s, u->stage_parameters, p->ranks);
    double context_B = (double)scenario_context_B(u->s, u->gpu, p->world);
    double fixed_B = context_B + (p->world > 1 ? NCCL_COMMUNICATOR_B : 0);
    out->capacity_B = (double)u->gpu->memory_B;
    double kept_states_B =
        (u->stage_parameters - u->stage_experts) * states_B(p, &u->states, true) +
        u->stage_experts * states_B(p, &u->expert_states, true);
    bool reference = u->s->training.preference.reference == REFERENCE_SEPARATE;
    double reference_B = reference && off != OFFLOAD_PARAMETERS
                             ? u->stage_parameters * u->states.parameter_B
                             : 0;
    out->memory_B =
        fixed_B + frozen_B + kept_states_B + wire_B + unit_B + active_B + reference_B;
    double few_B = least_activations * least_layers(p, u, least) *
                   (form.how == CHECKPOINT_NONE ? l->kept_B : l->input_B / group);
    double held_B = mean * states_B(p, &u->states, false) +
                    u->layers * l->experts / n * states_B(p, &u->expert_states, false);
    out->least_B = context_B + least_states * held_B + few_B;
}

double score_whole_B(const struct score_sums *u, enum op_precision precision)
{
    bool gathers = u->s->parallel.shard.strategy == SHARDING_FULL && u->shards > 1;
    double half = op_is_autocast(precision) ? 2 : 0;
    return !gathers ? 0 : half > 0 ? half : u->states.parameter_B * u->shards;
}

double score_bucket_B(const struct space_point *p, const struct score_sums *u)
{
    const struct library_row *l = library_of(&u->s->parallel);
    if (p->v[SPACE_BUCKET])
        return (double)p->v[SPACE_BUCKET];
    if (u->fw->reduction.bucket_B <= 0 && u->s->parallel.reduce.overlap)
        return (double)library_bucket_B(l, p->ranks, states_wire_B(u->s));
    return (double)u->s->parallel.reduce.bucket_B;
}
