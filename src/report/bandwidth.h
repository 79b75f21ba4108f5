/* Logs of nccl-tests against the prediction (doctor/bandwidth.h), for programs and as a
 * figure. */
#ifndef REPORT_BANDWIDTH_H
#define REPORT_BANDWIDTH_H

#include "config/contract.h"
#include "doctor/bandwidth.h"
#include "draw/draw.h"
#include "report/figure/collective.h"

struct report_bandwidth {
    const char *cluster;
    int op; /* enum coll_op */
    int64_t ranks;
    const struct bandwidth *b;
    /* of each row: published measurements of the same machines within a factor of 1.5 of
     * its size, and how many of them are slower */
    const int64_t *published, *below;
    json_t *warnings; /* borrowed */
};
extern const struct contract report_bandwidth_contract;

/* The log over the prediction, with so many curves of published points. */
int figure_bandwidth_write(const struct report_bandwidth *r,
                           const struct collective_curve *published, size_t n_published,
                           const struct draw_to *to, struct err *err);

#endif
