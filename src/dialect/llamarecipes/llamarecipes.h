/* Options of Meta's llama-recipes (llama-cookbook), finetuning.py: fields of its
 * dataclasses, alone or after "fsdp_config." and the like. Names and defaults:
 * meta-llama/llama-cookbook of 2025 (src/llama_cookbook/configs, finetuning.py,
 * policies/mixed_precision.py). */
#ifndef DIALECT_LLAMARECIPES_LLAMARECIPES_H
#define DIALECT_LLAMARECIPES_LLAMARECIPES_H

#include "dialect/dialect.h"

bool llamarecipes_recognises(const struct dialect_input *in);
void llamarecipes_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table llamarecipes_tables[];

#endif
