/* The operator list that reading a scenario makes, to check its sizes, and that its step
 * is written from. */
#ifndef SCENARIO_OPERATORS_H
#define SCENARIO_OPERATORS_H

#include "model/ops.h"

/* An operator list, and what it was made of. */
struct made_operators {
    struct op_settings settings;
    struct model model;
    struct op_list list;
};

bool operators_same(const struct made_operators *a, const struct made_operators *b);

/* Makes the list, or takes what was made of the same before by loaders that the same one
 * lends files to; it lives as long as the loader. NULL after an error, as op_list_make. */
const struct made_operators *operators_make(struct cfg_loader *loader,
                                            const struct model *m,
                                            const struct op_settings *settings,
                                            struct err *err);

#endif
