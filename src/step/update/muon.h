/* The orthogonalisation of Muon's updates: Newton-Schulz products of each matrix of the
 * layers, by the rank that has its states (MODEL.md, R8.10). */
#ifndef STEP_UPDATE_MUON_H
#define STEP_UPDATE_MUON_H

#include "step/builder.h"

/* The rank's part of the update, after its momentum; nothing without Muon. */
int muon_update(struct builder *b, struct err *err);

#endif
