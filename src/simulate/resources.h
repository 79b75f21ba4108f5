/* What a step's time rests on: the kinds of kernels, the host, the links inside a node
 * and between nodes. From it other times of the step follow without another replay,
 * where one of these is slower or faster than predicted (risk/risk.h).
 *
 * The parts of the step (run/category.h) are given to resources: compute by the kinds
 * of kernels of a middle layer, communication to the links that its group spans, the
 * pipeline's bubble as passes are. O(ranks of a group). */
#ifndef SIMULATE_RESOURCES_H
#define SIMULATE_RESOURCES_H

#include "run/category.h"
#include "scenario/scenario.h"

#include <jansson.h>

struct reps;

enum resource {
    RESOURCE_PRODUCTS,
    RESOURCE_ATTENTION, /* fused */
    RESOURCE_MEMORY,    /* kernels that move bytes; the optimizer */
    RESOURCE_HOST,
    RESOURCE_LINKS,   /* inside a node */
    RESOURCE_NETWORK, /* between nodes */
    RESOURCE_N
};
extern const struct name_value resource_names[];

/* Traffic of gradients and sharded parameters overlaps with the kernels. Where its links
 * are f times slower, of its exposed and hidden time e and h
 *     max(f e, f (e + h) - window)
 * is exposed: beyond the window nothing more can be hidden. */
struct resources {
    double s[RESOURCE_N];  /* of the step, e included */
    enum resource data_by; /* the links of that traffic: LINKS or NETWORK */
    double data_s, hidden_s, window_s;
    double network_Bps; /* of one GPU's share of the NICs, as predicted; 0: one node */
};

/* Read back from simulate's JSON; missing numbers are 0. */
struct resources resources_read(json_t *object);

/* Gives `parts_s`, of the replay of `reps`, to resources. */
struct resources resources_of(const double parts_s[CATEGORY_N],
                              const struct scenario *s, const struct reps *reps);

#endif
