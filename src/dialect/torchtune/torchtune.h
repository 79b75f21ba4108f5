/* torchtune's configurations: YAML, alone or named by a command (tune run RECIPE --config
 * x.yaml batch_size=4), and those that torchtune ships, by their names (--config
 * llama3/8B_full), whose facts are models/launch/torchtune.json.
 *
 * Keys and defaults: torchtune/_cli/run.py, recipes/ and torchtune/models/ (main of
 * 2026). torchtune has no profile of its own here: torchtitan's is taken, which has the
 * same layers and FSDP2. */
#ifndef DIALECT_TORCHTUNE_TORCHTUNE_H
#define DIALECT_TORCHTUNE_TORCHTUNE_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

/* Its recipes, as `tune run` names them. */
extern const char *const torchtune_recipes[];
extern const struct dialect_table torchtune_tables[];

bool torchtune_recognises(const struct dialect_input *in);
void torchtune_read(struct launch_context *t, const struct dialect_input *in);

/* The model and its adapters, of the flat configuration. */
void torchtune_take_model(struct launch_context *t, const struct value *c);

/* The configuration of that name that torchtune ships; NULL: it has none. */
struct value *torchtune_shipped(struct launch_context *t, const char *name,
                                int64_t line);

#endif
