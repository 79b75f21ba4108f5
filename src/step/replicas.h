/* Which ranks hold the same copy of a parameter, and what of its states each of them
 * has. */
#ifndef STEP_REPLICAS_H
#define STEP_REPLICAS_H

#include "step/stage.h"

/* What becomes of a bucket of gradients over the ranks that hold the same: a sum for
 * all; where states are sharded, parts to their owners; under SMP all of it to the one
 * rank that owns that slice of its flat buffer. */
enum coll_op replicas_reduction(const struct stage *stage);
enum coll_op replicas_reduction_sharded(const struct scenario *s);

/* Which ranks hold a parameter. */
enum replica_group replicas_of(const struct stage *stage, const struct op_param *p);

/* The trained elements that such hold; how many they are, and their channel; into how many
 * shards, each a rank's to update, those elements are divided. */
int64_t replicas_held(const struct stage *stage, enum replica_group h);
int64_t replicas_ranks(const struct stage *stage, enum replica_group h);
enum channel replicas_channel(enum replica_group h);
double replicas_shards(const struct stage *stage, enum replica_group h);

/* The states of an element that such hold; of a parameter's elements. */
const struct states *replicas_states(const struct stage *stage, enum replica_group h);
struct states replicas_states_of(const struct stage *stage, const struct op_param *p);

/* Bytes of its element that ranks which updated shards of it gather. */
double replicas_gather_B(const struct stage *stage, const struct op_param *p);
double replicas_held_gather_B(const struct stage *stage,
                              enum replica_group h); /* all */

#endif
