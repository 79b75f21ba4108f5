/* litgpt's configurations (YAML), as `litgpt finetune_lora --config FILE` and others read
 * them: of LoRA, of all parameters, of pre-training.
 *
 * Keys and defaults: litgpt/finetune/lora.py, full.py, litgpt/pretrain.py and args.py
 * (Lightning-AI/litgpt of 2026-06, 2685705). On several GPUs Fabric's FSDP trains, with
 * checkpoints of each block but in pre-training. */
#ifndef DIALECT_LITGPT_LITGPT_H
#define DIALECT_LITGPT_LITGPT_H

#include "dialect/dialect.h"

bool litgpt_recognises(const struct dialect_input *in);
void litgpt_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table litgpt_tables[];

/* litgpt_model.c: the model that a flat configuration names or describes. */
void litgpt_take_model(struct launch_context *t, const struct value *c);

/* litgpt_command.c: what "litgpt finetune_lora ..." is given; NULL after refusing it.
 * `adapts`: it trains adapters. */
struct launch_command;
const struct value *litgpt_arguments(struct launch_context *t,
                                     const struct launch_command *c, bool *adapts);

#endif
