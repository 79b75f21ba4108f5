/* Rows of fields that act only where something is there to heed them, and what rows of
 * several sections ask of a scenario. Private to heed*.c. */
#ifndef SCENARIO_HEED_ROWS_H
#define SCENARIO_HEED_ROWS_H

#include "scenario/scenario.h"

typedef bool heed_fact(const struct scenario *s);

struct heed_row {
    const char *field; /* a pointer; rows of one field follow each other */
    heed_fact *needs;
    const char *otherwise; /* why it is without effect */
};

/* Of /parallelism; a row without a field ends them. */
extern const struct heed_row heed_parallelism[];

/* What rows of /parallelism and of other sections need (heed.c). */
heed_fact heed_has_words, heed_has_experts, heed_predicts_further, heed_horovod,
    heed_full, heed_whole_or_full, heed_ranks, heed_nodes, heed_trains_base;

#endif
