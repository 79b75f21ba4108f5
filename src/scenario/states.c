#include "scenario/states.h"

#include "scenario/libraries.h"

#include "model/recipe.h"

#include <math.h>

static const double fp32_B = 4;

/* Moments of an optimizer, bytes per parameter (MODEL.md, 5.1). 8-bit Adam keeps two
 * bytes and two fp32 scales for every block of 2048, of later releases 256
 * (bitsandbytes 0.45, optim/optimizer.py: blocksize); 4-bit Adam two halves of a byte
 * and scales for 128 (torchao 0.14, optim/adam.py, AdamW4bit: block_size). Adafactor's
 * rows and columns are negligible. */
static const struct {
    double moments_B;
    bool quantized; /* their width is not that of the parameters */
} optimizers[] = {
    [OPTIMIZER_ADAM] = { 4 + 4 },
    [OPTIMIZER_LAMB] = { 4 + 4 },
    [OPTIMIZER_ADAM8BIT] = { 1 + 1 + 8.0 / 2048, true },
    [OPTIMIZER_ADAFACTOR] = { 0 },
    [OPTIMIZER_SGD] = { 4 },      /* momentum */
    [OPTIMIZER_MUON] = { 4 + 4 }, /* Adam's of embedding, head, norms */
    [OPTIMIZER_LION] = { 4 },     /* likewise (Chen et al. 2023, algorithm 2) */
    [OPTIMIZER_ADAM4BIT] = { 0.5 + 0.5 + 8.0 / 128, true },
    [OPTIMIZER_LION8BIT] = { 1 + 4.0 / 256, true },
    [OPTIMIZER_RMSPROP] = { 4 }, /* torch/optim/rmsprop.py: no momentum by default */
    [OPTIMIZER_ADAGRAD] = { 4 },
    [OPTIMIZER_ADEMAMIX] = { 4 + 4 + 4 }, /* Pagliardini et al. 2024, algorithm 1 */
    [OPTIMIZER_ADEMAMIX8BIT] = { 3 + 12.0 / 256, true },
    [OPTIMIZER_SGD_PLAIN] = { 0 }, /* torch/optim/sgd.py: momentum of 0 keeps nothing */
};

/* Parameters and gradients as the model keeps them; master weights belong to the
 * optimizer. Update: what casting 16-bit gradients to fp32 takes while it lasts, unless
 * the optimizer is fused over all tensors. */
struct of_precision {
    double parameter_B, gradient_B, master_B, autocast_B, update_B;
};

static struct of_precision of_precision(enum op_precision p)
{
    static const struct of_precision wide = { 4, 4, 0, 0, 0 },
                                     narrow = { 2, 2, 4, 0, 4 },
                                     autocast = { 4, 4, 0, 2, 0 };
    return op_is_autocast(p)                         ? autocast
           : dtype_bytes(op_parameter_dtype(p)) == 2 ? narrow
                                                     : wide;
}

/* What a sharding strategy divides over the sharding group. */
static const struct {
    bool parameters, gradients, optimizer;
} shardings[] = {
    [SHARDING_NONE] = { false, false, false },
    [SHARDING_OPTIMIZER] = { false, false, true },
    [SHARDING_GRADIENTS] = { false, true, true },
    [SHARDING_FULL] = { true, true, true },
};

static double divided(double bytes, bool sharded, int64_t degree)
{
    return sharded && degree > 1 ? bytes / (double)degree : bytes;
}

/* Updated as they are, parameters have moments of their own 16 bits; quantized ones
 * stay. */
static double share_of_bytes(const struct scenario *s)
{
    bool narrow =
        s->training.no_master_weights && !optimizers[s->training.optimizer].quantized;
    return narrow ? 0.5 : 1;
}

bool states_sum_whole(const struct scenario *s)
{
    return !s->training.framework->reduction.scatters &&
           library_has(library_of(&s->parallel)->sums_whole,
                       (int)s->parallel.shard.strategy);
}

bool states_reduce_each(const struct scenario *s)
{
    return s->training.framework->gradients.reduce_every_microbatch ||
           library_has(library_of(&s->parallel)->reduces_each,
                       (int)s->parallel.shard.strategy);
}

bool states_keep_gradients(const struct scenario *s)
{
    return s->training.framework->gradients.keeps_gradients &&
           !s->training.updates_in_backward;
}

bool states_hold_whole(const struct scenario *s)
{
    return s->parallel.shard.no_sync && states_shard_parameters(s) &&
           library_of(&s->parallel)->no_sync && s->parallel.pipeline == 1;
}

/* An average of the weights (torch/optim/swa_utils.py, AveragedModel) is a copy of what the
 * model keeps; its update reads both and writes the copy. */
static double average_B(const struct scenario *s)
{
    return s->training.weight_average ? of_precision(s->training.precision).parameter_B
                                      : 0;
}

double states_update_B(const struct scenario *s)
{
    const struct training *t = &s->training;
    return share_of_bytes(s) * t->framework->optimizers[t->optimizer].bytes +
           3 * average_B(s);
}

double states_host_update_B(const struct scenario *s)
{
    double optimizer_B = states_whole_optimizer_B(s);
    return s->training.no_master_weights ? 2 + 2 * (2 + optimizer_B)
                                         : 4 + 2 * optimizer_B;
}

/* The GPUs that are used share their host's memory. CPU-Adam alone, in one process,
 * takes 2.57 s for 10 billion parameters on a DGX-2 (Ren et al. 2021, table 4): 109 of
 * 240 GB/s. */
double states_host_update_s(const struct scenario *s, const struct instance *host,
                            int64_t gpus, double elements)
{
    static const double alone = 0.45;
    double in_steps = library_of(&s->parallel)->host_update;
    double reached = in_steps > 0 ? in_steps : alone;
    return elements * states_host_update_B(s) * (double)gpus /
           (reached * host->host_memory_Bps);
}

/* Of these the master weights. */
static double whole_master_B(const struct scenario *s)
{
    const struct framework *fw = s->training.framework;
    double master_B = of_precision(s->training.precision).master_B;
    if (s->training.no_master_weights || master_B <= 0)
        return 0;
    if (fw && fw->gradients.master_16bit_B > 0)
        master_B = fw->gradients.master_16bit_B;
    return s->training.states.master_B > 0 ? s->training.states.master_B : master_B;
}

double states_whole_optimizer_B(const struct scenario *s)
{
    if (s->training.no_master_weights)
        return share_of_bytes(s) * optimizers[s->training.optimizer].moments_B;
    const struct optimizer_dtypes *d = &s->training.states;
    double moments_B = optimizers[s->training.optimizer].moments_B;
    moments_B -= d->first_moment_B > 0 ? fp32_B - d->first_moment_B : 0;
    moments_B -= d->second_moment_B > 0 ? fp32_B - d->second_moment_B : 0;
    return whole_master_B(s) + moments_B;
}

bool states_are_sharded(const struct scenario *s)
{
    return s->parallel.shard.strategy != SHARDING_NONE && s->parallel.shard.degree > 1;
}

bool states_shard_updates(const struct scenario *s)
{
    enum sharding by = s->parallel.shard.strategy;
    return shardings[by].optimizer && !shardings[by].parameters;
}

bool states_shard_parameters(const struct scenario *s)
{
    return s->parallel.shard.strategy == SHARDING_FULL && s->parallel.shard.degree > 1;
}

double states_sums_wider_B(const struct scenario *s)
{
    const struct framework *fw = s->training.framework;
    int given = s->training.gradient_dtype;
    bool sums = fw && fw->gradients.gradient_16bit_B > 0 &&
                fw->gradients.gradient_dtype_16bit >= 0 &&
                library_of(&s->parallel)->reduces_sums;
    if (!sums || given < 0)
        return 0;
    return dtype_bytes((enum dtype)given) -
           dtype_bytes((enum dtype)fw->gradients.gradient_dtype_16bit);
}

/* Of a weight whose products read it quantized: its copies in place of it or, where
 * they are made once a step, in addition to it. Units of full sharding make them of
 * what they gathered. */
static double quantized_B(const struct scenario *s, double parameter_B)
{
    const struct training *t = &s->training;
    const struct op_recipe *r = op_recipe_of(t->precision);
    bool kept = t->framework && t->framework->tensors.fp8_weights_kept &&
                s->parallel.shard.strategy != SHARDING_FULL;
    if (!r || (!kept && !t->quantized_parameters))
        return parameter_B;
    int64_t sm_arch = scenario_sm_arch(s);
    bool one = t->framework && t->framework->tensors.fp8_weights_transposed &&
               op_recipe_transposes(r, sm_arch);
    double copies_B =
        (one ? 1 : op_recipe_copies(r, sm_arch)) * dtype_element_B(r->format);
    return copies_B + (t->quantized_parameters ? 0 : parameter_B);
}

/* Muon has momentum alone of a layer's matrices (Jordan et al. 2024; Megatron-LM's
 * muon.py: momentum_buffer). */
static double hidden_optimizer_B(const struct scenario *s, double whole_B)
{
    return s->training.optimizer == OPTIMIZER_MUON ? whole_B - 4 * share_of_bytes(s)
                                                   : whole_B;
}

struct states states_of(const struct scenario *s)
{
    const struct of_precision of = of_precision(s->training.precision);
    enum sharding by = s->parallel.shard.strategy;
    int64_t d = s->parallel.shard.degree;
    const struct framework *fw = s->training.framework;
    double optimizer_B = states_whole_optimizer_B(s);
    bool fused = fw && fw->optimizers[s->training.optimizer].kernels_per_tensor == 0;
    bool casts = !fused && !s->training.no_master_weights;
    double update_B = casts ? of.update_B : 0;
    double gradient_B = of.gradient_B;
    const double kept_B = divided(average_B(s), shardings[by].parameters, d);
    if (fw && of.gradient_B == 2) { /* what the framework does in 16 bits */
        gradient_B = fw->gradients.gradient_16bit_B > 0
                         ? fw->gradients.gradient_16bit_B + states_sums_wider_B(s)
                         : gradient_B;
        gradient_B += gradient_B <= of.gradient_B ? fw->gradients.copies_16bit_B : 0;
        update_B = fw->gradients.update_16bit_B > 0 && !s->training.no_master_weights
                       ? fw->gradients.update_16bit_B
                       : update_B;
    }
    return (struct states) {
        .parameter_B = divided(of.parameter_B, shardings[by].parameters, d),
        .quantized_B =
            quantized_B(s, divided(of.parameter_B, shardings[by].parameters, d)),
        .made_B = of.gradient_B,
        .gradient_B = divided(gradient_B, shardings[by].gradients, d),
        .optimizer_B = divided(optimizer_B, shardings[by].optimizer, d) + kept_B,
        .hidden_optimizer_B =
            divided(hidden_optimizer_B(s, optimizer_B), shardings[by].optimizer, d) +
            kept_B,
        .master_B = divided(whole_master_B(s), shardings[by].optimizer, d),
        .autocast_B = of.autocast_B,
        .step_B = divided(update_B, shardings[by].optimizer, d),
    };
}

int32_t states_moments(const struct scenario *s)
{
    return (int32_t)ceil(optimizers[s->training.optimizer].moments_B / fp32_B) +
           s->training.weight_average;
}

bool states_sums_apart(const struct scenario *s)
{
    struct states one = states_of(s);
    return s->training.framework && s->training.framework->gradients.keeps_gradients &&
           one.gradient_B > one.made_B;
}

bool states_sum_flat(const struct scenario *s)
{
    return library_of(&s->parallel)->sums_flat && states_sums_apart(s);
}

struct states states_frozen(const struct states *trained)
{
    return (struct states) { .parameter_B = trained->parameter_B,
                             .autocast_B = trained->autocast_B };
}

double states_wire_B(const struct scenario *s)
{
    int dtype = s->training.gradient_dtype;
    const struct framework *fw = s->training.framework;
    bool half = dtype_bytes(op_compute_dtype(s->training.precision)) <= 2;
    if (dtype < 0 && fw)
        dtype =
            half ? fw->gradients.gradient_dtype_16bit : fw->gradients.gradient_dtype;
    double bytes = of_precision(s->training.precision).gradient_B;
    if (dtype >= 0)
        bytes = dtype_bytes((enum dtype)dtype);
    if (s->parallel.reduce.compression == COMPRESSION_FP16 && bytes > 2)
        bytes = 2;
    return bytes;
}

double states_bucket_B(const struct scenario *s, int64_t ranks)
{
    const struct parallelism *p = &s->parallel;
    const struct library_row *library = library_of(p);
    bool views = library->bucket_views && p->reduce.gradient_as_bucket_view;
    if (ranks <= 1 || p->shard.strategy != SHARDING_NONE || views ||
        !library->copies_gradients)
        return 0;
    return library->sums_in_hook ? of_precision(s->training.precision).gradient_B
                                 : states_wire_B(s);
}

/* ZeRO 1 and 2 reduce gradients joined to buckets; ZeRO 1 without a pipeline holds all
 * of them once more (fitted to BigScience's V100 rows). The bf16 optimizer's sums are
 * one flat buffer, which is reduced in place. */
double states_flat_buffers_B(const struct scenario *s, double elements, int64_t ranks)
{
    const struct parallelism *p = &s->parallel;
    bool half = dtype_bytes(op_compute_dtype(s->training.precision)) <= 2;
    bool joins = library_of(p)->flat_shards && states_shard_updates(s) &&
                 !(half && s->training.framework->gradients.gradient_16bit_B > 0);
    double bucket = p->shard.bucket_elements > 0
                        ? fmin(elements, (double)p->shard.bucket_elements)
                        : elements;
    bool twice = p->pipeline == 1 && p->shard.strategy == SHARDING_OPTIMIZER;
    if (!joins || ranks <= 1)
        return 0;
    return states_wire_B(s) * (bucket + (twice ? elements : 0));
}

bool states_persists(const struct scenario *s, int64_t elements)
{
    const struct parallelism *p = &s->parallel;
    return p->shard.strategy == SHARDING_FULL &&
           elements <= p->shard.persistence_elements;
}
