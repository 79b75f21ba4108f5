/* Units of axes and the texts of values. Private to the axes. */
#ifndef DRAW_AXIS_TEXT_H
#define DRAW_AXIS_TEXT_H

#include "draw/axis.h"

struct axis_step {
    const char *name;
    double worth;
};

/* The unit that values of that magnitude are read in. */
const struct axis_step *axis_unit_of(const struct axis *axis, double magnitude);

/* Whether its unit has larger and smaller ones. */
bool axis_has_steps(const struct axis *axis);

/* Whether a logarithmic axis of that range is labelled as clocks are: 30 s, 5 min. */
bool axis_is_clock(const struct axis *axis, double lo, double hi);

/* The label of a tick, which the caller frees; `decimals` < 0: as many as it takes. */
char *axis_tick_text(const struct axis_view *view, double value, int decimals);

#endif
