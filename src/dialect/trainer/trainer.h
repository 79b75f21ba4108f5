/* Arguments of the Hugging Face Trainer (transformers.TrainingArguments, and those of
 * its example scripts): of a command, or hyperparameters of an estimator.
 *
 * Files of this folder:
 *     trainer          a field each, and the reading of a command
 *     trainer_idle     those without effect, and those that are not simulated
 *     trainer_model    what they say of the model next to its name
 *     trainer_usual    names that programs of one's own have for the same
 *     trainer_names    names of models, tasks and data sets (models/launch/names.json)
 *     trainer_fsdp     "full_shard auto_wrap" and the like
 *     fsdp_section     "fsdp_config", which Accelerate and axolotl have, too
 *     trainer_document arguments as a document; what dialects on top of it share
 *     trainer_pictures pictures that are not read, or shrunk
 *     trainer_tower    models with pictures, of which the tower is frozen
 *     trainer_chat     DeepSpeed-Chat's arguments
 *     trainer_preference methods that train on pairs of answers
 *     emit_trainer     a scenario as arguments */
#ifndef DIALECT_TRAINER_TRAINER_H
#define DIALECT_TRAINER_TRAINER_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

struct peft_kind;

bool trainer_recognises_document(const struct dialect_input *in);
void trainer_read_document(struct launch_context *t, const struct dialect_input *in);
bool trainer_recognises(const struct dialect_input *in);
void trainer_read(struct launch_context *t, const struct dialect_input *in);

/* Which hyperparameters mean what; all tables, with those of fsdp_config. */
extern const struct dialect_option trainer_rows[];
extern const struct dialect_table trainer_tables[];
extern const struct dialect_option trainer_idle_rows[], trainer_unsimulated_rows[],
    trainer_fsdp_config_rows[];
/* Names of others for the same: of a GPU's batch, before the rows; and after them. */
extern const struct dialect_option trainer_batch_rows[], trainer_usual_rows[];
void trainer_take_usual_batch(struct launch_context *t);

/* Optimizers by the Trainer's names. */
extern const struct dialect_word trainer_optimizer_words[];

/* Of the context's hyperparameters: what they say; what is open after all other rows;
 * the names of those without effect. */
void trainer_take(struct launch_context *t);
void trainer_settle(struct launch_context *t);
void trainer_note_unused(struct launch_context *t);

/* The configuration of a model that is a file next to the script, or in a folder there (a
 * new reference), of a model_type where it says none (NULL: it has to say one); NULL: there
 * is none. */
json_t *trainer_config_next_to(struct launch_context *t, const char *name,
                               const char *type, int64_t line);
/* The model of a name or an id, as a scenario has it; NULL: it is not known. */
const char *trainer_model_named(struct launch_context *t, const char *text);

/* Of the model next to its name: a tower of images before it, other sizes. */
void trainer_take_image_tower(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);
void trainer_take_overrides(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it);

/* config_name of transformers' examples: the model's sizes, whatever its weights are of. */
void trainer_take_config_name(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);

/* Fields by names: of models, of scripts, of data sets. */
void trainer_take_attention(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it); /* attn_implementation */
void trainer_take_model(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it);
void trainer_take_task(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
void trainer_take_samples(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it);

void trainer_take_fsdp(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
/* The same, or a section of a program's own document that is called so. */
void trainer_take_fsdp_given(struct launch_context *t, const struct dialect_option *row,
                             const struct value_item *it);
void trainer_take_fsdp_config(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);

/* The GPUs of an instance that the scenario's cluster names; 0: not known. */
int64_t trainer_gpus_of(const json_t *cluster);
/* The instances that the degrees take where a file has its data-parallel ranks, if --set
 * says of which kind. */
void trainer_settle_replicas(struct launch *l, struct cfg root);

/* hybrid_shard over an instance that --set gives. */
void trainer_settle_hybrid(struct launch *l, struct cfg root);

/* A framework's switches that freeze the tower of a model with pictures, and its
 * projector, unless they are false; rows of those that do where they are given. Whether
 * the model has them is known with the model (trainer_tower.c). */
void trainer_frozen_parts(struct launch_context *t, const struct value *dict,
                          const char *tower, const char *projector);
void trainer_take_frozen(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it);
/* Words that leave the projector alone to train, and lists of what is trained. */
void trainer_take_only(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
void trainer_take_tunable(struct launch_context *t, const struct dialect_option *row,
                          const struct value_item *it);

/* The model that a tower's name and a language model's make; false: none is known. */
bool trainer_take_pair(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);
void trainer_settle_tower(struct launch *l, struct cfg root);

/* trainer_pictures.c: a program that is given texts alone, whatever its model reads, and
 * the option that bounds the pixels of pictures, with its default. Whether the model reads
 * any is known with the model. */
void trainer_take_texts(struct launch_context *t, const char *who, int64_t line);
void trainer_take_pixels(struct launch_context *t, const struct value *dict,
                         const char *key, int64_t usual);
void trainer_settle_pictures(struct launch *l, struct cfg root);

struct model;
/* The model of a scenario, without reports; the loader is to be released in any case. */
bool trainer_peek(struct cfg root, struct model *m, struct cfg_loader *loader);

/* Notes that a key has a tower, or its projector, trained next to adapters. */
void trainer_free_part(struct launch_context *t, bool projector, const char *key);

/* trainer_settle.c: units of adapters under FSDP2; all of these, and sources and targets that
 * are one sequence. */
void trainer_settle_units(struct launch *l, struct cfg root);
void trainer_settle_sharded(struct launch *l, struct cfg root);
void trainer_settle_parts(struct launch *l, struct cfg root);

/* hybrid_shard's degree, and what CPUOffload moves. */
void trainer_take_hybrid(struct launch_context *t, const struct value_item *it);

/* The same of a number of copies of the model; once all GPUs are known, each is sharded
 * over as many. */
void trainer_take_copies(struct launch_context *t, const struct value_item *it);
void trainer_take_offload(struct launch_context *t, const struct value_item *it,
                          bool full);

/* The section "fsdp_config", which shards. */
void trainer_take_fsdp_section(struct launch_context *t, const struct value_item *it);

/* Whether a command's options are DeepSpeed-Chat's; what they say, before the rows. */
bool trainer_chat_is(const struct value *options);
void trainer_take_chat(struct launch_context *t, const struct launch_command *c,
                       const struct value *options);
/* The task of the step that a program of it, or a copy, is. */
void trainer_take_chat_step(struct launch_context *t, const struct launch_command *c,
                            const struct value *options);
/* The adapters that they ask for. */
void trainer_take_chat_adapters(struct launch_context *t, const struct value *options);
/* DeepSpeed's configuration, which get_train_ds_config makes of them. */
void trainer_take_chat_configuration(struct launch_context *t,
                                     const struct value *options, int64_t line);

/* Documents ------------------------------------------------------------------------ */

/* A document (JSON, YAML, TOML) by its name next to the file that is read, all its
 * lines being `line`; NULL: it is not there, or no dictionary. */
struct value *trainer_load_next_to(struct launch_context *t, const char *name,
                                   int64_t line);
/* The same of the item's own text, in the form of files with that ending. */
struct value *trainer_parse_as(struct launch_context *t, const struct value_item *it,
                               const char *ending);
struct value *trainer_parse(struct launch_context *t, const struct value_item *it);

/* What names a command's document, as text: --config, or the first word that is no option;
 * NULL. */
const struct value_item *trainer_document(struct launch_context *t,
                                          const struct launch_command *c);

/* What a program is asked to train by: its document, and over that its options. What
 * is named and not there leaves the model open. */
struct value *trainer_command_arguments(struct launch_context *t,
                                        const struct launch_command *c);

/* What a framework has for an argument that is not given: JSON, or a word; what
 * converts the model has "bf16" for "amp_bf16". One without a pointer ends them. */
struct trainer_default {
    const char *pointer, *value, *from;
};
/* Sets what is neither known nor doubted (the reference is stolen). */
void trainer_default(struct launch_context *t, const char *pointer, json_t *value,
                     const char *from);
void trainer_take_defaults(struct launch_context *t, const struct trainer_default *d);
/* max_grad_norm's default, of what the Trainer trains: after all else is read. */
void trainer_take_clipping(struct launch_context *t);
/* Whether a program's name, or a hyperparameter, is of those that have a loop of their own
 * (accelerate's run_clm_no_trainer.py). */
bool trainer_is_loop(const struct launch_context *t, const char *program);

/* A framework whose arguments are the Trainer's and its own. */
struct trainer_kind {
    const struct dialect_option *own;       /* before the Trainer's rows; NULL: none */
    const struct trainer_default *defaults; /* likewise */
    const struct dialect_table *tables;     /* all its rows */
    const char *packing;          /* what fills sequences; NULL: nobody asks */
    const struct peft_kind *peft; /* how it asks for adapters; NULL: as scripts do */
    bool loop; /* of its own: the Trainer's defaults are none of it */
};
void trainer_read_arguments(struct launch_context *t, const struct value *dict,
                            const struct trainer_kind *kind);

/* Training that is not simulated: an error. */
void trainer_refuse(struct launch_context *t, const struct value_item *it,
                    const char *what);

/* Methods of training on preferences ("dpo", "SimPO", "rm"), which
 * the item names: sets the task; false: the word is none of them. Whether the task is one.
 * Where their reference models are, of rows that TRL, LLaMA-Factory, axolotl and ms-swift
 * share. */
bool trainer_take_method(struct launch_context *t, const struct value_item *it,
                         const char *method);
bool trainer_prefers(const struct launch_context *t);
extern const struct dialect_option trainer_preference_rows[];

/* torch_dtype */
void trainer_take_dtype(struct launch_context *t, const struct dialect_option *row,
                        const struct value_item *it);

/* emit_trainer.c: what rows write that no field says alone. */
json_t *trainer_give_model(const struct scenario *s);
json_t *trainer_give_fp16(const struct scenario *s);
json_t *trainer_give_bf16(const struct scenario *s);
json_t *trainer_give_norm(const struct scenario *s);
json_t *trainer_give_bucket(const struct scenario *s);
json_t *trainer_give_workers(const struct scenario *s);

#endif
