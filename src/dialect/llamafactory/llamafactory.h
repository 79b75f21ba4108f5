/* LLaMA-Factory's arguments (YAML or JSON): its own words, PEFT's and the Trainer's.
 *
 * Keys and defaults: llamafactory/hparams (LLaMA-Factory 0.9.6).
 *
 * Files of this folder:
 *     llamafactory       the words of HfArgumentParser; what a command trains
 *     llamafactory_core  Megatron-Core's among them
 *     llamafactory_v1    the form with sections of plugins (USE_V1) */
#ifndef DIALECT_LLAMAFACTORY_LLAMAFACTORY_H
#define DIALECT_LLAMAFACTORY_LLAMAFACTORY_H

#include "dialect/dialect.h"

bool llamafactory_recognises(const struct dialect_input *in);
void llamafactory_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table llamafactory_tables[], llamafactory_v1_tables[];
extern const struct dialect_option llamafactory_core_rows[];

/* Whether arguments have words of Megatron-Core; takes them, before all other rows. */
bool llamafactory_core_is(const struct value *v);
void llamafactory_take_core(struct launch_context *t, const struct value *v);

/* Whether arguments are of v1, whose sections have names of plugins; reads them. */
bool llamafactory_v1_is(const struct value *v);
void llamafactory_v1_read(struct launch_context *t, const struct value *root);

#endif
