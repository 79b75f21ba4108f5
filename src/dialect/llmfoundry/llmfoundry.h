/* Configurations of MosaicML's llm-foundry, which Composer trains: YAML with
 * interpolations, alone, named by a command (composer train.py x.yaml max_duration=...),
 * or as the "parameters" of a run of the MosaicML platform (mcli).
 *
 * Keys and defaults: llmfoundry/utils/config_utils.py, TrainConfig; llmfoundry/models/
 * (llm-foundry v0.4 to v0.21); composer/utils/parallelism.py, FSDPConfig (Composer 0.32).
 *
 * Files of this folder:
 *     llmfoundry        keys
 *     llmfoundry_states the fields that several make
 *     llmfoundry_model  the section "model": checkpoints, adapters
 *     llmfoundry_mpt    likewise: MPT's sizes
 *     llmfoundry_run    runs of mcli: the command and GPUs around the configuration */
#ifndef DIALECT_LLMFOUNDRY_LLMFOUNDRY_H
#define DIALECT_LLMFOUNDRY_LLMFOUNDRY_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool llmfoundry_recognises(const struct dialect_input *in);
void llmfoundry_read(struct launch_context *t, const struct dialect_input *in);
/* A microbatch is no more than what a GPU has of the batch. */
void llmfoundry_settle(struct launch *l, struct cfg root);
extern const struct dialect_table llmfoundry_tables[];

/* The model, its attention and adapters, of the section. */
void llmfoundry_take_model(struct launch_context *t, const struct value *model);

/* MPT's sizes and attention. */
void llmfoundry_take_mpt(struct launch_context *t, const struct value *model,
                         const struct value_item *name);

/* What both use: a section in a dictionary, or NULL; a size that leaves the model open;
 * a key as it is, whole numbers of real ones. */
const struct value *llmfoundry_section(const struct value *v, const char *key);
void llmfoundry_refuse_size(struct launch_context *t, const struct value_item *it,
                            const char *why);
void llmfoundry_copy(struct launch_context *t, json_t *to, const struct value *from,
                     const char *key);

/* Sharding, precision and checkpointing of the flat configuration; `section`: it has
 * "fsdp_config". */
void llmfoundry_take_states(struct launch_context *t, const struct value *c,
                            bool section);

/* A run of mcli: the configuration that its command trains by, or NULL after
 * reporting. Sets the GPUs. */
bool llmfoundry_is_run(const struct value *root);
struct value *llmfoundry_run(struct launch_context *t, const struct value *root);

#endif
