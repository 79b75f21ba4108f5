/* Who takes part in a collective, where those ranks sit, and what else runs
 * concurrently them.
 *
 *   rank --(layout)--> set of ranks --(cluster)--> spans of instances with equal GPUs
 *
 * Groups of one channel that sit on the same instances and belong to the same stage run
 * in lock step: their traffic shares links, and a folded run (one rank a stage) counts
 * it in full. Instances whose GPUs belong to other stages carry other traffic; a folded
 * net has one copy for each such class.
 *
 * Costs: a set is O(1); its spans are O(members); classes are O(GPUs), once a run. */
#ifndef RUN_GROUPS_H
#define RUN_GROUPS_H

#include "hardware/cluster.h"
#include "layout/layout.h"
#include "layout/parallelism.h"
#include "run/program.h"

/* Ranks first + i0 strides[0] + i1 strides[1] + ..., the first index running
 * fastest. */
struct ranks {
    int64_t first;
    int32_t n_dims;
    int64_t counts[3], strides[3];
};

struct groups {
    const struct cluster *cluster;
    struct layout layout; /* its data degree counts the context groups */
    int64_t copies;       /* the stage that may have a copy of the embedding */
    int64_t context, context_inner, expert, expert_tensor, shard;
    int32_t n_classes;
    int32_t *class_of; /* [instances], in the arena; NULL when there is one class */
};

/* Lays the scenario's ranks out and finds the classes of instances. */
void groups_init(struct groups *g, struct arena *arena, const struct cluster *c,
                 const struct parallelism *p);

/* The pipeline stage of a rank of the world, from 0. */
int64_t groups_stage(const struct groups *g, int64_t rank);

/* Whether the groups of a uniform cluster fill instances, or instances hold whole
 * groups. Only then do all ranks of a stage meet the same, and one represents all
 * exactly. */
bool groups_are_even(const struct groups *g);

/* Whether the groups of a uniform cluster lie alike on the wires of an instance: on a
 * cube mesh some groups have other rings than the first one. */
bool groups_lie_alike(const struct groups *g);

/* Whether ranks of other stages are in the channel's groups, too. */
bool groups_span_stages(enum channel c);

/* Whether stages have instances of their own, all of one kind: the groups of each lie as
 * those of the first, so many instances on. */
bool groups_stages_alike(const struct groups *g);

/* The group of a channel that a rank is in; of messages, sender and receiver. */
struct ranks groups_of(const struct groups *g, enum channel channel, int64_t rank);
int64_t ranks_count(const struct ranks *r);
int64_t ranks_member(const struct ranks *r, int64_t i);

/* Instance and GPU of a rank. */
void groups_place(const struct groups *g, int64_t rank, int64_t *instance,
                  int32_t *gpu);

/* The ranks as spans, in their order; classes are kept apart where that takes no more
 * spans than a group may have. -1 when they are too many. */
int groups_spans(const struct groups *g, const struct ranks *r, struct coll_group *out,
                 struct err *err);

/* The rank's group first, then those in lock step with it on its instance (everywhere,
 * where the net has a core that all share). */
int groups_concurrent(const struct groups *g, struct arena *arena,
                      const struct net *net, enum channel channel, int64_t rank,
                      struct coll_group **out, int32_t *n, struct err *err);

#endif
