/* Times of a collective as JSON. Trees are borrowed. */
#ifndef REPORT_COLLECTIVE_H
#define REPORT_COLLECTIVE_H

#include "config/contract.h"

struct report_collective_row {
    int64_t size_B;
    double time_s, algbw_Bps, busbw_Bps;
    int algorithm; /* enum coll_algorithm */
    const char *protocol;
};
json_t *report_collective_row_json(const struct report_collective_row *r);

struct report_collective {
    const char *cluster, *quality; /* quality: NULL of one node */
    int op, algorithm, network;    /* enum coll_op, coll_algorithm, fidelity */
    int64_t ranks;
    json_t *rows, *warnings; /* rows: of report_collective_row_json */
};
extern const struct contract report_collective_contract;

#endif
