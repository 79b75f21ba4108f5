/* Colossal-AI's booster scripts: `colossalai run --nproc_per_node 8 benchmark.py -c 7b
 * --plugin 3d --tp 4 --pp 2 --mbs 1`, with the arguments of its examples.
 *
 * Plugins and defaults: colossalai/booster/plugin and the examples' parsers
 * (hpcaitech/ColossalAI of 2026-04, 4f9953b). No framework profile is of Colossal-AI:
 * ZeRO is taken as DeepSpeed's, tensor and pipeline parallelism as Megatron's.
 *
 * Files of this folder:
 *     colossalai         programs and plugins: model, degrees, batches
 *     colossalai_words   options as rows; words of a command
 *     colossalai_class   plugins that a script makes
 *     colossalai_program the plugin that a command's program makes
 *     colossalai_config  configurations of 0.1 */
#ifndef DIALECT_COLOSSALAI_COLOSSALAI_H
#define DIALECT_COLOSSALAI_COLOSSALAI_H

#include "dialect/dialect.h"

bool colossalai_recognises(const struct dialect_input *in);
void colossalai_read(struct launch_context *t, const struct dialect_input *in);
bool colossalai_is_flag(const char *option);
extern const struct dialect_table colossalai_tables[];

/* A configuration of 0.1 in Python. */
bool colossalai_is_configuration(const struct python *p);
void colossalai_read_configuration(struct launch_context *t, const struct python *p);
extern const struct dialect_table colossalai_config_tables[];

/* A plugin as a script makes it: whether a class is one; takes its arguments, which carry
 * the class as their text, and the batch of the script's loader (or NULL). */
bool colossalai_has_class(const char *class);
void colossalai_take_call(struct launch_context *t, const struct value *given,
                          const struct value *batch, int64_t line);

#endif
