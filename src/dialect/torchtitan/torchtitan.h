/* torchtitan's configuration in TOML (torchtitan/config/job_config.py, v0.1 to v0.2;
 * torchtitan/config_manager.py of 2024 for the older names), alone or by a command
 * (torchtitan.train, train.py, run_train.sh) with options over it; and configurations of
 * its newer registry by name, whose facts are models/launch/torchtitan.json. */
#ifndef DIALECT_TORCHTITAN_TORCHTITAN_H
#define DIALECT_TORCHTITAN_TORCHTITAN_H

#include "dialect/dialect.h"

extern const struct dialect_table torchtitan_tables[];

struct launch_command;

/* What a command trains by. */
const struct value *torchtitan_arguments(struct launch_context *t,
                                         const struct launch_command *c);

/* The batch, where it is given as tokens; false: it is not. */
bool torchtitan_take_tokens(struct launch_context *t, const struct value *c);

/* The schedule of a pipeline, and what each of its stages has. */
void torchtitan_take_stages(struct launch_context *t, const struct value *c);

/* torchtitan_precision.c: formats of parameters, gradients and products. */
void torchtitan_take_precision(struct launch_context *t, const struct value *c);

/* Whether a list has a word, or a text that holds it; NULL has none. */
bool torchtitan_has_word(const struct value_item *it, const char *word);

/* torchtitan_registry.c: configurations of a registry in Python. The one by its name in a
 * module next to the script, all lines `line`; NULL: there is none. Whether a text is such
 * a registry; its configuration of that name, NULL after reporting. */
extern const char *const torchtitan_calls[];
struct value *torchtitan_registry(struct launch_context *t, const char *module,
                                  const char *name, int64_t line);
bool torchtitan_is_registry(const struct python *p);
struct value *torchtitan_own_registry(struct launch_context *t, const char *name);

bool torchtitan_recognises(const struct dialect_input *in);
void torchtitan_read(struct launch_context *t, const struct dialect_input *in);

#endif
