/* AutoTrain's configuration (YAML) of language models: its params as arguments of the
 * Trainer, which autotrain/trainers/clm makes of them.
 *
 * Keys and defaults: autotrain/trainers/clm/params.py and utils.py, commands.py
 * (AutoTrain Advanced 0.8). */
#ifndef DIALECT_AUTOTRAIN_AUTOTRAIN_H
#define DIALECT_AUTOTRAIN_AUTOTRAIN_H

#include "dialect/dialect.h"

bool autotrain_recognises(const struct dialect_input *in);
void autotrain_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table autotrain_tables[];

#endif
