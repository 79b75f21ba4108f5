/* Accelerate's configuration (YAML or JSON), alone or named by `accelerate launch`:
 * processes, precision, and what shards.
 *
 * Files of this folder:
 *     accelerate              the configuration
 *     accelerate_command      options of `accelerate launch`
 *     accelerate_environment  variables that stand for it
 *     accelerate_sections     Megatron-LM's plugin, FP8
 *     accelerate_deepspeed    DeepSpeed's section in DeepSpeed's words
 *
 * Keys and defaults: accelerate/commands/config/config_args.py (Accelerate 1.15). */
#ifndef DIALECT_ACCELERATE_ACCELERATE_H
#define DIALECT_ACCELERATE_ACCELERATE_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool accelerate_recognises(const struct dialect_input *in);
void accelerate_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table accelerate_tables[];
extern const struct dialect_option accelerate_megatron_rows[], accelerate_fp8_rows[];

/* accelerate_command.c: what `accelerate launch` starts a script with, taken; the
 * configuration for accelerate_settle. Where something else starts it, that of the
 * environment; NULL: there is none. */
struct value *accelerate_take_command(struct launch_context *t,
                                      const struct launch_command *c);

/* accelerate_environment.c: the configuration that variables of the environment are, at a
 * line; NULL: there is none. accelerate_settle takes it, as arguments of the script
 * set these variables anew; its text is accelerate_environment. */
extern const char accelerate_environment[];
struct value *accelerate_of_environment(struct launch_context *t,
                                        const struct value *all, int64_t line);

/* Whether a variable went into that configuration. */
bool accelerate_has_variable(const struct value *config, const char *name);

/* Takes what the dictionary says, where nothing was taken so far: the options of
 * `accelerate launch` go before it. */
void accelerate_take(struct launch_context *t, const struct value *config);

/* accelerate_deepspeed.c: a section as DeepSpeed's configuration, of the precision that an
 * item has (NULL: none). */
struct value *accelerate_deepspeed_of(struct launch_context *t,
                                      const struct value *section,
                                      const struct value_item *mixed, int64_t line);

/* accelerate_sections.c: the plugin of Megatron-LM; FP8 that `precision` asks for, by the
 * configuration's section, or by a backend's name (NULL: not given). */
void accelerate_take_megatron(struct launch_context *t, const struct value_item *it);
void accelerate_take_fp8(struct launch_context *t, const struct value *config,
                         const struct value_item *precision);
void accelerate_set_fp8(struct launch_context *t, const struct value_item *it,
                        const char *backend);

/* ParallelismConfig's degrees, by their names with or without "parallelism_config_". */
void accelerate_take_degrees(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it);

/* After the script's own arguments: its precision goes before Accelerate's. */
void accelerate_settle(struct launch_context *t, const struct value *config);

#endif
