/* Arguments of the Hugging Face Trainer (transformers.TrainingArguments, and those of
 * its example scripts): of a command, or hyperparameters of an estimator.
 *
 * Files of this folder:
 *     trainer          a field each, and the reading of a command
 *     trainer_names    names of models, tasks and data sets (models/launch/names.json)
 *     trainer_fsdp     "full_shard auto_wrap" and the like
 *     emit_trainer     a scenario as arguments */
#ifndef DIALECT_TRAINER_TRAINER_H
#define DIALECT_TRAINER_TRAINER_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

bool trainer_recognises(const struct dialect_input *in);
void trainer_read(struct launch_context *t, const struct dialect_input *in);

/* Which hyperparameters mean what; all tables, with those of fsdp_config. */
extern const struct dialect_option trainer_rows[];
extern const struct dialect_table trainer_tables[];

/* Of the context's hyperparameters: what they say; what is open after all other rows;
 * the names of those without effect. */
void trainer_take(struct launch_context *t);
void trainer_settle(struct launch_context *t);
void trainer_note_unused(struct launch_context *t);

/* Fields by names: of models, of scripts, of data sets. */
void trainer_take_model(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it);
void trainer_take_task(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
void trainer_take_samples(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it);

void trainer_take_fsdp(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
void trainer_take_fsdp_config(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);

/* emit_trainer.c: what rows write that no field says alone. */
json_t *trainer_give_model(const struct scenario *s);
json_t *trainer_give_fp16(const struct scenario *s);
json_t *trainer_give_bf16(const struct scenario *s);
json_t *trainer_give_norm(const struct scenario *s);
json_t *trainer_give_bucket(const struct scenario *s);
json_t *trainer_give_workers(const struct scenario *s);

#endif
