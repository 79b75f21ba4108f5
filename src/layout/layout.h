/* Which rank does what: ranks are laid out over data, pipeline and tensor indices by a
 * placement string whose right-most letter varies fastest, so that
 *     rank = sum over letters of index[letter] * (product of the degrees to its right).
 * "cluster" is DPT and "spread" is TPD (SageMaker's names). Pure arithmetic, O(1)
 * each.
 *
 * Files of this folder:
 *     layout, parallelism            degrees; which rank is where, in which groups
 *     partition, segments, smp_tree  which modules a pipeline stage holds, by
 *     library */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct layout {
    int64_t data, pipeline, tensor; /* degrees */
    int64_t stride_d, stride_p, stride_t;
};

struct layout_index {
    int64_t d, p, t;
};

/* placement is a permutation of "DPT"; returns -1 when it is not. */
int layout_init(struct layout *l, const char *placement, int64_t data, int64_t pipeline,
                int64_t tensor);

/* The rank at those indices, and the indices of a rank. O(1). */
int64_t layout_rank(const struct layout *l, struct layout_index i);
struct layout_index layout_index(const struct layout *l, int64_t rank);
int64_t layout_stage(const struct layout *l, int64_t rank); /* its p alone */

/* Members of the groups that a rank is in, in order of rank index:
 *   tp_group: same d and p; pp_group: same d and t; rdp_group (reduced data parallel):
 *   same p and t; dp_group: same p; mp_group: same d. member i of n. */
enum layout_group { LAYOUT_TP, LAYOUT_PP, LAYOUT_RDP, LAYOUT_DP, LAYOUT_MP };
int64_t layout_group_size(const struct layout *l, enum layout_group g);
int64_t layout_group_member(const struct layout *l, enum layout_group g, int64_t rank,
                            int64_t i);

/* The index of a rank in its own group: member(rank, that) is the rank. */
int64_t layout_group_rank(const struct layout *l, enum layout_group g, int64_t rank);

/* Ranks of a stage in order of tensor, then data index: rank j has t = j % tensor. A run
 * is `n` of them, `apart` from each other, as strides of the world's ranks. */
struct layout_run {
    int64_t first;
    int64_t n_t, stride_t; /* members along the tensor ranks, fastest ... */
    int64_t n_d, stride_d; /* ... and along the data ranks */
};

/* Whether runs are such: `apart` divides the tensor degree or is a multiple of it, and
 * the members fill the tensor ranks from one to the next or lie within them. */
bool layout_run_fits(const struct layout *l, int64_t n, int64_t apart);

/* The run that a rank is in; it has to fit. O(1). */
struct layout_run layout_run_of(const struct layout *l, int64_t rank, int64_t n,
                                int64_t apart);
int64_t layout_run_member(const struct layout_run *r, int64_t i);

#endif
