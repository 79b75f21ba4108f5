/* nanotron's configuration: YAML, alone or named by a command (run_train.py
 * --config-file x.yaml).
 *
 * Keys and defaults: nanotron/config/{config,models_config,parallelism_config}.py
 * (nanotron v0.4, and main of 2026). nanotron has no profile of its own here: its
 * kernels, and when its collectives start, are taken to be Megatron's. */
#ifndef DIALECT_NANOTRON_NANOTRON_H
#define DIALECT_NANOTRON_NANOTRON_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool nanotron_recognises(const struct dialect_input *in);
void nanotron_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table nanotron_tables[];

/* The model of "model.model_config". */
void nanotron_take_model(struct launch_context *t, const struct value_item *config);

#endif
