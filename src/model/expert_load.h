/* How many tokens each expert of the busiest rank is given: MODEL.md (3.21). Pure
 * functions, and the same on every machine: draws are of a fixed seed. */
#ifndef MODEL_EXPERT_LOAD_H
#define MODEL_EXPERT_LOAD_H

#include <stdint.h>

enum { LOAD_TILES_N = 9, LOAD_EXPERTS_MAX = 4096 };

/* Tokens routed to experts that lie on `ranks` ranks. */
struct expert_routing {
    double tokens; /* of all ranks together */
    int64_t experts, experts_per_token, ranks;
    double exponent; /* of a power law of the experts' shares; 0: all alike */
};

/* Means over draws. A slot is one token of one expert. */
struct expert_load {
    double slots;                /* of the busiest rank */
    double all;                  /* of all ranks */
    double experts;              /* of the rank, with a token at least */
    double blocks[LOAD_TILES_N]; /* of 2^i slots of one expert, begun ones whole */
};

/* At most LOAD_EXPERTS_MAX experts, a multiple of the ranks. */
struct expert_load expert_load_of(const struct expert_routing *routing);

#endif
