/* Accelerate's configuration (YAML or JSON), alone or named by `accelerate launch`:
 * processes, precision, and what shards.
 *
 * Keys and defaults: accelerate/commands/config/config_args.py (Accelerate 1.15). */
#ifndef DIALECT_ACCELERATE_ACCELERATE_H
#define DIALECT_ACCELERATE_ACCELERATE_H

#include "dialect/dialect.h"

bool accelerate_recognises(const struct dialect_input *in);
void accelerate_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table accelerate_tables[];

/* accelerate_command.c: what `accelerate launch` starts a script with, taken; the
 * configuration for accelerate_settle, or NULL where something else starts it. */
struct value *accelerate_take_command(struct launch_context *t,
                                      const struct launch_command *c);

/* Takes what the dictionary says, where nothing was taken so far: the options of
 * `accelerate launch` go before it. */
void accelerate_take(struct launch_context *t, const struct value *config);

/* After the script's own arguments: its precision goes before Accelerate's. */
void accelerate_settle(struct launch_context *t, const struct value *config);

#endif
