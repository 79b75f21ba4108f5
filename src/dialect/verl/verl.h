/* verl's trainers of supervised fine-tuning: configurations, and commands with words over the
 * trainers' own defaults (verl 0.2 to 0.7: verl/trainer/fsdp_sft_trainer.py and
 * config/sft_trainer.yaml; sft_trainer.py and config/sft_trainer_engine.yaml). HyperPod's
 * recipes that run the second are read by dialect/nemo/hyperpod_verl.c. */
#ifndef DIALECT_VERL_VERL_H
#define DIALECT_VERL_VERL_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

extern const struct dialect_table verl_tables[];

bool verl_recognises(const struct dialect_input *in);
void verl_read(struct launch_context *t, const struct dialect_input *in);

#endif
