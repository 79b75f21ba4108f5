/* What the logs measure of a run, as numbers, and how probable it is by a prediction: the
 * logarithms of a step's time and of memory, and the shares of a trace's step.
 *
 * Each is normal around the prediction. The deviation of a time is that of the stated
 * range (80 % of runs), at least 4 %, and another on each side; of memory likewise, at
 * least 8 %; of a share, 0.08. */
#ifndef DOCTOR_SIGNATURE_H
#define DOCTOR_SIGNATURE_H

#include "doctor/hypotheses.h"

enum doctor_axis { AXIS_TIME, AXIS_MEMORY, AXIS_COMPUTE, AXIS_WAITING, DOCTOR_AXES };

/* NAN: the logs do not measure it. */
struct doctor_point {
    double at[DOCTOR_AXES];
};

/* Deviations below and above what is predicted. at is NAN where it is not predicted or
 * not measured. */
struct doctor_signature {
    double at[DOCTOR_AXES], below[DOCTOR_AXES], above[DOCTOR_AXES];
};

struct doctor_point doctor_measured(const struct doctor_view *v);

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
