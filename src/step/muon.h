/* The orthogonalisation of Muon's updates: Newton-Schulz products of each matrix of the
 * layers, by the rank that has its states (MODEL.md, R8.10). */
#ifndef STEP_MUON_H
#define STEP_MUON_H

#include "step/builder.h"

/* One matrix of parameters, as a rank of a tensor group works on it. */
struct muon_matrix {
    int64_t rows, columns; /* of the Gram matrix's side, and the other */
    double n;              /* of them in the rank's share of a block's repeats */
    int64_t gathered;      /* elements that the group gathers of it; 0: none */
    int64_t summed;        /* of Gram matrices that it sums, each iteration; 0: none */
};

/* The matrices of parameter `k` of a block, all repeats, at most MUON_PARTS: one, or
 * those that were joined for one product. Yields how many; 0: Adam updates it. */
enum { MUON_PARTS = 3 };
int32_t muon_matrices(const struct stage *stage, const struct op_block *block,
                      int32_t k, struct muon_matrix out[MUON_PARTS]);

/* The rank's part of the update, after its momentum; nothing without Muon. */
int muon_update(struct builder *b, struct err *err);

#endif
