/* LLaMA-Factory's arguments (YAML or JSON): its own words, PEFT's and the Trainer's.
 *
 * Keys and defaults: llamafactory/hparams (LLaMA-Factory 0.9.6). */
#ifndef DIALECT_LLAMAFACTORY_LLAMAFACTORY_H
#define DIALECT_LLAMAFACTORY_LLAMAFACTORY_H

#include "dialect/dialect.h"

bool llamafactory_recognises(const struct dialect_input *in);
void llamafactory_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table llamafactory_tables[];

#endif
