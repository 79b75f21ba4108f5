/* What a GPU holds for its parameters in addition to activations: bytes of parameters,
 * gradients and optimizer states, by precision, optimizer and sharding. Coefficients:
 * MODEL.md, 5.1. */
#ifndef SCENARIO_STATES_H
#define SCENARIO_STATES_H

#include "scenario/scenario.h"

struct states {
    double parameter_B; /* per parameter held by the GPU */
    double quantized_B; /* the same of a weight that products read in fewer than 16
                           bits, copies included */
    double made_B; /* a gradient as backward makes it, before it is added to the sum */
    double gradient_B;
    double hidden_optimizer_B; /* the same of a matrix of a layer */
    double optimizer_B;        /* master weights and moments; shards divided already */
    double autocast_B; /* 16-bit copies, per element of a product's weight, in use */
    double master_B;   /* of optimizer_B: master weights */
    double step_B;     /* temporary during the update, per parameter */
};

/* Whether any of it is divided among ranks. */
bool states_are_sharded(const struct scenario *s);

/* Whether ranks update shards of parameters that each holds whole: ZeRO 1 and 2,
 * Megatron's distributed optimizer. */
bool states_shard_updates(const struct scenario *s);

/* Whether all of its ranks get the sums of gradients, whoever updates with them. */
bool states_sum_whole(const struct scenario *s);

/* Whether gradients are reduced in every accumulation step, not only in the last: what
 * a rank holds is its shard of their sums. */
bool states_reduce_each(const struct scenario *s);

/* Whether gradients stay from step to step: their sums, or as zeros. */
bool states_keep_gradients(const struct scenario *s);

/* Whether gradients of sharded parameters stay whole in accumulation steps before the
 * last one (FSDP's no_sync; MODEL.md, R8.3.2). */
bool states_hold_whole(const struct scenario *s);

/* Whether ranks hold shards of parameters, and gather them before use. */
bool states_shard_parameters(const struct scenario *s);

/* Bytes per parameter, shards divided: MODEL.md, 5.1 and R8. */
struct states states_of(const struct scenario *s);

/* Tensors that are kept of a parameter next to its master weights: the optimizer's, and an
 * average. */
int32_t states_moments(const struct scenario *s);

/* Whether sums of gradients are wider than what backward makes: tensors that are there
 * before the first step. */
bool states_sums_apart(const struct scenario *s);

/* Whether sums of gradients, and master weights, are a buffer each, which is there before
 * the first step, and what backward makes is added when it has ended. */
bool states_sum_flat(const struct scenario *s);

/* Bytes by which sums of gradients are wider than the framework's, as the format that
 * the job reduces them in is: Megatron reduces the sums themselves. */
double states_sums_wider_B(const struct scenario *s);

/* Of parameters that are frozen: none but themselves, as the precision keeps them. */
struct states states_frozen(const struct states *trained);

/* Master weights and moments of a parameter, not divided. */
double states_whole_optimizer_B(const struct scenario *s);

/* Bytes a parameter that an update moves: on the GPU, and by its host. */
double states_update_B(const struct scenario *s);
double states_host_update_B(const struct scenario *s);

/* An update of that many elements for each of so many GPUs of a host, by the host. */
double states_host_update_s(const struct scenario *s, const struct instance *host,
                            int64_t gpus, double elements);

/* Bytes a gradient element takes on the wire. */
double states_wire_B(const struct scenario *s);

/* Bytes of a gradient element in buckets, which hold them a second time as DDP's do,
 * where so many ranks sum them; 0: there are none. What is sharded goes out bucket by
 * bucket. */
double states_bucket_B(const struct scenario *s, int64_t ranks);

/* Bytes of the flat buffers that a rank of DeepSpeed's reduces `elements` gradients
 * through (MODEL.md, 8.14); 0 for others. */
double states_flat_buffers_B(const struct scenario *s, double elements, int64_t ranks);

/* Whether a tensor of fully sharded parameters stays gathered on each rank: DeepSpeed's
 * ds_numel <= param_persistence_threshold (deepspeed/runtime/zero/parameter_offload.py,
 * mark_persistent_parameters), SMP's sdp_param_persistence_threshold. Its gradient is
 * scattered and its update sharded like others (MODEL.md, R8.1). */
bool states_persists(const struct scenario *s, int64_t elements);

#endif
