/* Bus bandwidth against message size, as nccl-tests users plot it, with measured points
 * drawn in where there are any, a marker for each source, and times below. */
#ifndef REPORT_FIGURE_COLLECTIVE_H
#define REPORT_FIGURE_COLLECTIVE_H

#include "draw/chart.h"

struct collective_curve {
    const char *name; /* "ring, Simple" */
    size_t n;
    const double *size_B, *busbw_Bps;
    bool measured; /* points alone, in the colour of the curve of the same name */
};

struct figure_collective {
    const char *title;                 /* "All-reduce on 2 x p4d.24xlarge" */
    const char *subtitle, *provenance; /* NULL: none */
    const struct collective_curve *curves;
    size_t n_curves;
    double limit_Bps;  /* what the links allow, drawn as a line; 0: none */
    double bus_factor; /* bus bandwidth over bytes by time; 0: no times are drawn */
};

int figure_collective_write(const struct figure_collective *f, const struct draw_to *to,
                            struct err *err);
void figure_collective_draw(const struct figure_collective *f, struct draw *d);

#endif
