/* What the builder writes into the block at hand: operators, their tensors, parameters.
 * Names carry the step's prefix and number; sizes are those of one microbatch on one
 * GPU. Nothing here fails: the tables are ours, and room is asserted. Private to
 * src/model/. */
#ifndef MODEL_BUILD_EMIT_H
#define MODEL_BUILD_EMIT_H

#include "model/build/build.h"

/* Room in a block's arrays; adapters of products take more. */
enum { FORWARD_MAX = 96, BACKWARD_MAX = 128, PARAMS_MAX = 40, ADAPTED_TIMES = 4 };

static inline int32_t build_room(const struct build *b, int32_t usual)
{
    return b->s->lora.rank > 0 ? usual * ADAPTED_TIMES : usual;
}

/* The flags of the step at hand: within cross attention the keys are another
 * sequence's, so there is no rotation, and no one product for all three. */
flagset build_flags(const struct build *b);

/* Whether a row or tensor with these flags belongs to the step at hand. */
bool build_has(const struct build *b, flagset when, flagset unless);

/* Bytes of a term, in the module at hand. */
double build_bytes(const struct build *b, struct term t);

/* The step's prefix, the text with '#' as the step's number, the suffix. */
const char *build_spell(struct build *b, const char *text, const char *suffix);

/* As spelt, the name of what belongs to a part: "cross_qkv.weight". */
const char *build_name(struct build *b, enum module part, const char *suffix);

/* Appends an operator of one launch and one dispatch, with no traffic yet. It stays
 * where it is while the block is built. */
struct op *build_op(struct build *b, const char *name, enum op_kind kind,
                    bool backward);

/* Appends a parameter tensor. `matrix`: the weight of a product. */
struct op_param *build_param(struct build *b, const char *name, double elements,
                             bool matrix);

/* The operator completes the gradients of `n` tensors from the part's weight (`which`
 * is ".weight"; or its ".bias") on. A part tied to another block's has none here. */
void build_completes(struct build *b, struct op *op, enum module part,
                     const char *which, int32_t n);

/* Appends a tensor that the operator makes; nothing where it has no size. `until` names
 * the backward operator that it is kept for, as `struct keep` does; NULL: not kept. */
void build_out(struct build *b, struct op *op, double size_B, const char *until);

/* What the row keeps, then what else the operator has written. */
void build_outs(struct build *b, struct op *op, const struct row *row);

/* model/build/frozen.c: whether a part's own parameters are trained; whether LoRA freezes the
 * parameter just made of it, and how that is stored; the bytes it is dequantized from,
 * 0 where it is not. */
bool build_trains(const struct build *b, enum module part);
void build_freeze(struct build *b, enum module part, struct op_param *param);
double build_quantized_B(const struct build *b, enum module part);

/* Matrices that are parameters of an expert, not layers: neither PEFT's nor
 * bitsandbytes' modules replace them (transformers, models/gpt_oss, models/llama4). */
bool build_is_bare(const struct build *b, enum module part);

/* model/build/lora.c: whether a product has adapters. */
bool build_adapts(struct build *b, enum module part);

/* Products of modules that have formats of their own take them. */
void build_set_formats(struct build *b);

/* model/build/lora_state.c: the modules of a state mixer's product that have adapters, and their
 * columns on a rank. */
enum { BUILD_STATE_MODULES = 6 };
struct state_module {
    const char *name;
    int64_t n;
};
int32_t build_state_modules(const struct build *b, enum module part,
                            struct state_module v[BUILD_STATE_MODULES]);

/* The adapters of a product, after it in forward and before it in backward. */
void build_adapters(struct build *b, enum module part);
void build_adapters_bwd(struct build *b, enum module part);

/* The backward operator that needs what was kept for the gradient of a weight that is
 * frozen; -1: none does. `maker` is what made it. */
int32_t build_needs_input(const struct build *b, const struct op *maker,
                          const char *until);

/* model/build/product.c: a product in forward with its casts and its bias, the products of
 * its gradients, and the sum that is its bias's. */
void build_linear(struct build *b, const struct row *row);
void build_dgrad(struct build *b, const struct row *row);
void build_wgrad(struct build *b, const struct row *row);
void build_bias_grad(struct build *b, const struct row *row);

#endif
