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

/* The method by its name ("sft", "DPO"): of those that train on answers, pairs or rewards
 * an error or a question, of the item. */
void trl_take_method(struct launch_context *t, const char *method,
                     const struct value_item *it);

/* Takes a dictionary of its arguments; `older`: they are known to be of TRL before
 * 0.20, else by what they are. */
void trl_take(struct launch_context *t, const struct value *given, bool older);

#define TRL_CASTS "TRL's cast of a 4-bit model's other weights"
/* After it, of 4-bit models in bf16: embeddings, head and, `whole`, adapters are cast to
 * bf16, in which the residual stream is then (trl/trainer/utils.py, prepare_peft_model and
 * peft_module_casting_to_bf16, TRL 0.7.5 to 0.26; after it nothing is cast to fp32, and
 * adapters are bf16, too; Unsloth's loader has no fp32 ones but adapters). prepare_model_for_kbit_training alone leaves them in fp32. */
void trl_cast(struct launch_context *t, const char *who, bool whole);

#endif
