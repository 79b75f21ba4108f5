/* What makes two jobs differ: one cause after the other is changed from A's to B's, and
 * each intermediate job is simulated.
 *
 *   A --model--> . --GPU--> . --batch--> . ... --> B
 *
 * What a cause adds is the difference of the two jobs around it, so that all of them sum
 * to B - A. Causes whose intermediate job cannot be simulated (degrees that the GPUs
 * before do not hold) are joined with the next. The order is fixed; how much depends on
 * it is shown by what a cause adds to A alone, and as the last on the way to B.
 *
 * Files of this folder:
 *     causes       which keys of a scenario are one cause
 *     difference   the walk from A to B */
#ifndef COMPARE_DIFFERENCE_H
#define COMPARE_DIFFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "config/cfg.h"
#include "hardware/fabric_quality.h"
#include "run/category.h"

/* What is compared of a job. */
struct difference_numbers {
    double step_s, samples_per_s, tokens_per_s;
    double peak_B, capacity_B;
    double usd_per_h, usd_per_step; /* NAN: no price is known */
    int64_t gpus;                   /* of the cluster; 0: an old result */
    double passes; /* that accumulate a step's gradients; 0: a result */
    bool fits;
    char quality[FABRIC_QUALITY_TEXT]; /* of the network; "" of one node, or not said */
    double parts_s[CATEGORY_N];
};

/* A key that differs; NULL: it is not there. */
struct difference_change {
    const char *pointer;
    const json_t *from, *to; /* borrowed from the sides */
};

struct difference_cause {
    const char *name; /* "GPU", or "GPU, precision" where they are joined */
    int32_t n_changes;
    const struct difference_change *changes;
    struct difference_numbers after; /* with it, and all before it */
    /* times of A with it alone, and of B with A's in its place; NAN: such a job cannot
     * be simulated */
    double alone_s, without_s;
};

struct difference {
    struct difference_numbers a, b;
    int32_t n_causes; /* 0: one side is a result, which has no keys */
    struct difference_cause *causes;
    json_t *own; /* values of changes that neither side has */
};

/* The numbers of a result of `simulate --json`; -1 with err set where it is none. */
int difference_of_result(struct difference_numbers *n, json_t *result, struct err *err);

/* The prediction of a result of `doctor --json`, and the time of a step that it measured;
 * 0: its logs have none. -1 with err set where it is no such result. */
int difference_of_doctor(struct difference_numbers *n, double *measured_s,
                         json_t *result, struct err *err);

/* A scenario's, simulated; its files come from the loader, to which errors go. */
int difference_of_scenario(struct difference_numbers *n, struct cfg_loader *loader,
                           const json_t *tree, struct err *err);

/* From one scenario to another. Memory lives in the arena; the trees have to outlive
 * it. O(keys that differ) simulations. */
int difference_make(struct difference *d, struct arena *arena, struct cfg_loader *files,
                    const json_t *a, const json_t *b, struct err *err);
void difference_release(struct difference *d);

#endif
