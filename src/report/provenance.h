/* What a figure's numbers are of, in a line under its title: library and its version,
 * micro-batch, precision, and whose prices of when. */
#ifndef REPORT_PROVENANCE_H
#define REPORT_PROVENANCE_H

#include "base/arena.h"
#include "scenario/scenario.h"

/* What all scenarios that were added have in common; prices of several dates are all
 * named. Texts live in the arena. */
struct provenance {
    struct arena *arena;
    int64_t n; /* scenarios added */
    const char *library, *micro_batch, *precision;
    const char *services; /* whose prices: "EC2"; NULL: none */
    const char
        *dates; /* of them: "2021-2025, 2026-06"; NULL: none, or the user's own */
};

void provenance_init(struct provenance *p, struct arena *arena);
void provenance_add(struct provenance *p, const struct scenario *s);

/* Prices alone: of which service, and of a day or of a span of years; "yours" or
 * a pointer: the user's own. */
void provenance_add_prices(struct provenance *p, bool sagemaker, const char *date);

/* "Simulated: ddp over nccl (pytorch-1.13), micro-batch 4, fp16", and the prices where
 * `priced`. In the arena. */
const char *provenance_text(const struct provenance *p, bool priced);

/* The same of one scenario, without prices and "Simulated: ". */
const char *provenance_of(const struct scenario *s, struct arena *arena);

#endif
