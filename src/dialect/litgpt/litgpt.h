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

#endif
