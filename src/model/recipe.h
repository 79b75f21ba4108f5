/* How products read operands in fewer than 16 bits: what of their inputs, weights and
 * gradients is quantized to which format, by which kernels, and what is kept of it. One
 * row a recipe of Transformer Engine (transformer_engine/common/recipe/__init__.py
 * 2.20). Forward and both gradients' products run in the recipe's format; embedding,
 * head, router and attention in 16 bits. Pure functions. MODEL.md (8.18). */
#ifndef MODEL_RECIPE_H
#define MODEL_RECIPE_H

#include "model/ops.h"

/* What a norm does for the products after it. */
enum recipe_norm {
    RECIPE_NORM_WRITES_16BIT,  /* nothing: its result is quantized after it */
    RECIPE_NORM_FINDS_LARGEST, /* its kernel finds the tensor's largest element, too */
    RECIPE_NORM_QUANTIZES,     /* its kernel writes the result quantized */
};

struct op_recipe {
    const char *title; /* in reports: "MXFP8, a scale for 32 elements" */
    enum dtype format;
    int64_t arch_least, arch_below; /* compute capability; 0: no limit */
    /* rows and columns have scales of their own: both copies are made from 16 bits.
     * Else the second copy is the first one, transposed where products ask for it */
    bool by_direction;
    double
        search_B; /* an element of 16 bits, read before it is quantized, for the scale
                        of its tensor; 0: one pass makes scale and result */
    enum recipe_norm norm;
    /* of a parameter, which ranks that hold shards of it gather where parameters are
     * held quantized */
    double gather_B;
    bool mixes; /* some layers may stay in 16 bits */
};

/* NULL: products read 16 bits or more. */
const struct op_recipe *op_recipe_of(enum op_precision p);

/* Why a GPU of that compute capability cannot run it ("MXFP8 needs ..."), a constant;
 * NULL: it can. */
const char *op_recipe_refusal(enum op_precision p, int64_t sm_arch);

/* Copies of an operand, one a direction: 1 where products read one copy both ways. */
int op_recipe_copies(const struct op_recipe *r, int64_t sm_arch);

/* Whether the second of these is the first one transposed. */
bool op_recipe_transposes(const struct op_recipe *r, int64_t sm_arch);

#endif
