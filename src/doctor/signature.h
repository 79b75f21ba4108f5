/* What the logs measure of a run, as numbers, and how probable it is by a prediction: the
 * logarithms of a step's time and of memory; of a trace, those of the step's parts.
 *
 * A time's logarithm is a two-sided exponential around the prediction, another on each
 * side: the ends of the stated range have a tenth of the runs beyond them. Errors of
 * published steps are so: most are near, and a few are far (docs/validation/ranges.md).
 * All else is normal. The deviation of a time is at least 4 %; that of memory is the
 * stated range's, at least 8 %.
 *
 * A trace takes the step apart, and each part errs on its own: kernels that compute,
 * communication that is exposed, waiting. So the step's time is no axis of its own then.
 * Kernels err on both sides as the range's fast end: what makes the slow end wider are
 * the host, which a trace has in waiting, and communication. Of those two parts the axis
 * is log(part + 0.1 of the predicted step), with a deviation of 0.3: by 3 % of a step
 * where nothing is predicted, and by 30 % where it is most of the step. Published
 * collectives that served no fit are off by 21 to 36 % in the mean.
 *
 * Without a trace, the utilization of nvidia-smi says waiting: a share of the step in
 * which no kernel runs (nvml.h, nvmlUtilization_t), and kernels of NCCL are some. It errs
 * by 0.1 of the step, and by 0.2 where it says less waiting: samples of a sixth of a
 * second to a second hide short gaps. */
#ifndef DOCTOR_SIGNATURE_H
#define DOCTOR_SIGNATURE_H

#include "doctor/hypotheses.h"

enum doctor_axis {
    AXIS_TIME, /* without a trace */
    AXIS_MEMORY,
    AXIS_IDLE,    /* without a trace: a share of the step */
    AXIS_COMPUTE, /* with a trace, as all that follow */
    AXIS_COMMUNICATION,
    AXIS_WAITING,
    DOCTOR_AXES
};

/* NAN: the logs do not measure it. */
struct doctor_point {
    double at[DOCTOR_AXES];
};

/* Deviations below and above what is predicted. at is NAN where it is not predicted or
 * not measured. */
struct doctor_signature {
    double at[DOCTOR_AXES], below[DOCTOR_AXES], above[DOCTOR_AXES];
};

/* The share of steady steps in which no kernel runs, by samples of nvidia-smi, the mean
 * of all GPUs that are at work. NAN: too few samples. */
double doctor_idle_share(const struct logs_smi *s, const struct logs_steady *steps);

struct doctor_point doctor_measured(const struct doctor_view *v);

/* The density over the axes of a trace where that over the logarithm of the step's time
 * and two of its shares is 1. */
double doctor_traced_density(const struct doctor_view *v);

/* Of a prediction whose step takes step_s and has these shares, on the axes that the view
 * measures. */
struct doctor_signature doctor_signature_of(const struct doctor_view *v,
                                            const struct doctor_prediction *p,
                                            double step_s, struct doctor_shares s);

/* The density of a point: the product over the axes that both have. */
double doctor_density(const struct doctor_point *x, const struct doctor_signature *s);
double doctor_axis_density(const struct doctor_point *x,
                           const struct doctor_signature *s, enum doctor_axis axis);

/* A bit of each axis that it has. */
unsigned doctor_axes(const struct doctor_signature *s);

/* A point one deviation off on every axis: above where the axis' bit of sides is set. */
struct doctor_point doctor_corner(const struct doctor_signature *s, unsigned sides);

#endif
