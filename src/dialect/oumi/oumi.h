/* Oumi's configuration (YAML) of `oumi train`, in sections: its own words, PEFT's and the
 * Trainer's. Its trainers are TRL's, the Hugging Face Trainer, and a loop of its own.
 *
 * Files of this folder:
 *     oumi          the configuration
 *     oumi_sections its sections as arguments of the Trainer
 *
 * Keys and defaults: oumi/core/configs/params, and what becomes of them:
 * training_config.py, TrainingParams.to_hf and oumi/core/distributed.py (Oumi 0.8). */
#ifndef DIALECT_OUMI_OUMI_H
#define DIALECT_OUMI_OUMI_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool oumi_recognises(const struct dialect_input *in);
void oumi_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table oumi_tables[];

/* oumi_sections.c: all sections as one dictionary. */
struct value *oumi_arguments(struct launch_context *t, const struct value *root);

#endif
