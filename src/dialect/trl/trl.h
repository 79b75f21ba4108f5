/* TRL's arguments as a document (a script's YAML, alignment-handbook's recipes): the
 * Trainer's, ModelConfig's and SFTConfig's.
 *
 * Keys and defaults: trl/trainer/{base,sft,model}_config.py (TRL 1.10, and older where
 * max_seq_length is there). */
#ifndef DIALECT_TRL_TRL_H
#define DIALECT_TRL_TRL_H

#include "dialect/dialect.h"

bool trl_recognises(const struct dialect_input *in);
void trl_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table trl_tables[];

#endif
