/* The tables of the scores; private to score*.c. */
#ifndef SEARCH_SCORE_PARTS_H
#define SEARCH_SCORE_PARTS_H

#include "cost/collective.h"
#include "scenario/states.h"
#include "search/score/score.h"
#include "search/space/forms.h"

/* One layer and the model's ends, for one microbatch on one GPU. */
struct score_layer {
    bool ok;
    bool differ; /* layers of the stack, from which one is made in the mean */
    double host_s[2], gpu_s[2];     /* of one layer: forward, backward */
    double host_factor;             /* host time of a layer over that of its calls */
    double region_s[OP_REGIONS];    /* recomputing a module alone, and what */
    double region_B[OP_REGIONS];    /* it does not keep */
    double saved_B;                 /* kept by what "operators" does not run again */
    double weight_s;                /* share of backward that makes weight gradients */
    double kept_B, input_B;         /* kept for backward: all, the input alone */
    double work_B;                  /* most that lives for a moment in backward */
    double ends_s[2];               /* embedding, head: forward and backward together */
    double ends_host_s, ends_gpu_s; /* of both, the host alone, the kernels alone */
    double ends_kept_B[2], parameters, ends_parameters[2]; /* per GPU, trained */
    double frozen_B, ends_frozen_B[2];                     /* as they are stored */
    double word_parameters; /* of the embedding that first and last stage share; or 0 */
    double quantized;       /* elements of its weights that products read quantized */
    double narrower_B;      /* by which their gather is less than in 16 bits */
    double autocast_B;      /* 16-bit copies of a layer's weights */
    double exchange_B;      /* activation that the tensor group exchanges */
    double experts;         /* of the parameters, of shared experts: fewer ranks have
                               the same */
    double routed_B;        /* of a rank's tokens, a copy for each of their experts */
    double tensors;         /* parameter tensors of a layer */
    double persistent;      /* elements of a layer that full sharding leaves whole */
};

/* Makes it from the operator list; `s` is a scenario with the degrees filled in. */
void score_layer_make(struct score_layer *l, const struct scenario *s,
                      const struct gpu *gpu);

/* The GPU follows the host; where they are about as fast, both wait
 * (MODEL.md, "Host"). */
double score_settle_s(double deviation_s, double host_s, double gpu_s);

/* Times of collectives by closed form. A group is `per` GPUs on each of `nodes` nodes,
 * `stride` GPUs apart; other groups do the same at the same time. */
struct score_group {
    int32_t per, stride;
    int64_t nodes;
};

struct score_comm;

struct score_comm *score_comm_new(const struct plan_job *job);
void score_comm_free(struct score_comm *c);

/* GPUs of a node, or of all the nodes that NVLink joins. */
int64_t score_node_gpus(const struct space_point *p);

/* The group of n ranks, `stride` ranks apart, on nodes of `gpus`. */
struct score_group score_group_of(int64_t n, int64_t stride, int64_t gpus);

/* Seconds of one collective of size_B (as struct coll_request has it) on the point's
 * instances, read between sizes a factor of four apart; 0 for one rank or no bytes. */
double score_comm_s(struct score_comm *c, const struct space_point *p,
                    struct score_group group, enum coll_op op, double size_B);

/* What one point comes to, on the way to its score. */
struct score_sums {
    const struct score_layer *l;
    const struct scenario *s;
    const struct framework *fw;
    const struct gpu *gpu;
    const struct instance *instance;
    struct states states, expert_states;
    double layers, stage_layers;  /* of the model; of the fullest stage */
    double stage_parameters;      /* on a GPU of the fullest stage, trained */
    double stage_experts;         /* of them */
    double stage_frozen_B;        /* and bytes of those that are not */
    double forward_s, backward_s; /* of a layer: tensor group and recomputation too */
    double gather_s, reduce_s;    /* of a layer's parameters and gradients */
    double whole_B;               /* of a gathered parameter */
    double shards, expert_shards; /* ranks that states are divided over */
};

/* The optimizer's update. */
double score_update_s(const struct space_point *p, const struct score_sums *u);

/* Bytes of a parameter that is gathered for use; 0: none is. */
double score_whole_B(const struct score_sums *u, enum op_precision precision);

/* Of a bucket of gradients. */
double score_bucket_B(const struct space_point *p, const struct score_sums *u);

/* Bytes of the GPU of the fullest stage, an estimate and a bound (score.h). */
void score_memory(const struct space_point *p, const struct score_sums *u,
                  struct score *out);

#endif
