/* The kernels of a user's own step (kineto/kineto.h) against those that the scenario's
 * operator list predicts, and the terms of the GPU's profile with which both take the
 * same time. What is fitted is what training takes: clocks of products under long load,
 * fused attention, memory-bound kernels.
 *
 * Products are joined by their shape, where the trace has shapes (record_shapes=True):
 * of a shape all times of a step, whatever pass asks for it. Without shapes, and for
 * other kernels, the times of a class are joined as one sum of a step. */
#ifndef CALIBRATE_TRACE_FIT_H
#define CALIBRATE_TRACE_FIT_H

#include "calibrate/calibration.h"
#include "kineto/kineto.h"
#include "scenario/scenario.h"

enum traced_class {
    TRACED_PRODUCTS,
    TRACED_ATTENTION,
    TRACED_STREAMS, /* memory-bound */
    TRACED_CLASSES
};
extern const struct name_value traced_class_names[];

enum traced_join { TRACED_APART, TRACED_BY_SHAPE, TRACED_BY_CLASS };

/* Times of a step. */
struct traced_fit {
    enum traced_join join;
    double measured_s;         /* all of the class in the trace */
    double joined_s;           /* of it, what predictions are held against */
    double was_s, predicted_s; /* of what is joined: by the base, by the fit */
    int64_t n, n_shapes;       /* kernels a step; shapes that are joined */
    const char *why;           /* why nothing was fitted, or what is odd; NULL */
};

struct traced_step {
    struct traced_fit fits[TRACED_CLASSES];
    double kernels_s; /* of a step in the trace: all kernels that compute */
    double joined_share;
    double step_s, was_step_s, predicted_step_s; /* measured; by the base, by the fit */
    double compute_s, was_compute_s, predicted_compute_s;
};

/* `gpu` starts as the profile that the scenario runs on, and is changed; terms are added
 * to `c`. Needs steps that the trace marks. -1 with err set. */
int calibrate_trace(struct traced_step *t, struct calibration *c, struct gpu *gpu,
                    const struct scenario *s, const struct kineto_rank *r,
                    struct err *err);

#endif
