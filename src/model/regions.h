/* Modules of a layer that selective recomputation runs again in backward (Megatron-LM's
 * --recompute-modules, megatron/core/transformer/transformer_config.py): which operators
 * each has, what it does not keep, and when it is run again (MODEL.md, R9). */
#ifndef MODEL_REGIONS_H
#define MODEL_REGIONS_H

#include "model/ops.h"

enum op_region {
    OP_REGION_CORE,       /* scores to context, or flash attention */
    OP_REGION_MOE,        /* router to the sum of experts, shared ones too */
    OP_REGION_SHARED,     /* the experts that all tokens go through */
    OP_REGION_MOE_ACT,    /* the activation between experts' products */
    OP_REGION_MLP,        /* a dense MLP with the norm before it */
    OP_REGION_LATENT,     /* latent attention's up products and rotation */
    OP_REGION_NORMS,      /* of attention's and of the experts' input */
    OP_REGION_DELTA,      /* a gated delta rule's mixer, from its first product on */
    OP_REGION_DELTA_NORM, /* the gated norm of its result */
    OP_REGIONS
};
extern const struct name_value op_region_names[];

/* Sets the regions of a layer's forward operators; other blocks have none. */
void op_regions_mark(struct op_block *b);

/* The instance of a region among those asked for (bits 1 << region) that a forward
 * operator of the block is in, from 0 to OP_REGION_INSTANCES - 1; -1: none. */
enum { OP_REGION_INSTANCES = OP_REGIONS + 1 };
int32_t op_region_of(const struct op_block *b, int32_t at, uint32_t regions);

/* Whether its out j, which backward needs, is not kept but made again. */
bool op_region_drops(const struct op_block *b, int32_t at, int32_t j, uint32_t regions);

/* The backward operator before which the instance is run again; -1: it drops nothing. */
int32_t op_region_user(const struct op_block *b, int32_t instance, uint32_t regions);

/* Whether some block has the region, and keeps something that is made again. */
bool op_region_acts(const struct op_list *list, enum op_region region);

#endif
