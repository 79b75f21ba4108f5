/* A roofline: what operators reach against what arithmetic and memory allow (Williams,
 * Waterman, Patterson 2009). */
#ifndef REPORT_ROOFLINE_H
#define REPORT_ROOFLINE_H

#include "report/chart.h"

struct roofline_roof {
    const char *name;  /* "BF16 tensor cores" */
    double peak_flops; /* FLOP/s */
};

struct roofline {
    const char *title, *subtitle;
    const struct roofline_roof *roofs; /* at most ROOFLINE_ROOFS_MAX */
    size_t n_roofs;
    const char *memory_name; /* "HBM" */
    double memory_Bps;
    size_t n;
    const double *flop_per_B,
        *flops; /* of each operator: intensity and FLOP/s reached */
    const char *const *names;
};

enum { ROOFLINE_ROOFS_MAX = 6 };

int roofline_write(const struct roofline *r, const char *path, struct err *err);
void roofline_draw(const struct roofline *r, struct draw *d);

#endif
