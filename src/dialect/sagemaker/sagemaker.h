/* Estimators of SageMaker's Python SDK: which instances, the "distribution" dictionary,
 * versions, the job around its steps; hyperparameters are the Trainer's.
 *
 * Files of this folder:
 *     estimator        finds the estimator in a script
 *     sagemaker        reads it, and says what of it acts
 *     model_trainer    ModelTrainer's objects as an estimator's arguments
 *     smp_arguments    hyperparameters of AWS's own training scripts
 *     job_program      its script, where that is there
 *     job_recipe       scripts of SageMaker's own: recipes, JumpStart
 *     job_files        files that the job names: of hyperparameters, its script
 *     job_command      the command or shell script that starts its program
 *     arguments, job   a field each: of the training; of the job around its steps
 *     emit_sagemaker   a scenario as an estimator */
#ifndef DIALECT_SAGEMAKER_SAGEMAKER_H
#define DIALECT_SAGEMAKER_SAGEMAKER_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"

extern const char *const sagemaker_calls[], *const sagemaker_same[],
                                                *const sagemaker_objects[];
/* Algorithms whose containers are SageMaker's own, and train no transformer. */
extern const char *const sagemaker_algorithms[];

bool sagemaker_recognises(const struct dialect_input *in);
void sagemaker_read(struct launch_context *t, const struct dialect_input *in);

/* The call that `in` asks for, or what replaces one in a file without any; NULL: there
 * is none. The context gets it, and the file its title. */
bool sagemaker_find(struct launch_context *t, const struct dialect_input *in);

/* A call of ModelTrainer with an estimator's arguments. */
const struct python_call *sagemaker_as_estimator(struct arena *arena,
                                                 const struct python_call *c);

/* Which arguments of an estimator and entries of its environment mean what; a row
 * without a name ends each. */
extern const struct dialect_option sagemaker_arguments[], sagemaker_environment[];
extern const struct dialect_table sagemaker_tables[];

/* Whether hyperparameters are those of AWS's own scripts under SMP, and what they say. */
bool sagemaker_is_smp_script(const struct launch_context *t);
void sagemaker_take_smp_script(struct launch_context *t);

/* The version of transformers that requirements.txt pins, which the container installs
 * over its own. */
void sagemaker_take_requirements(struct launch_context *t);

/* Hyperparameters in a file that they name. */
void sagemaker_take_files(struct launch_context *t);

/* The command that starts the program, or the shell script that is the entry; true when
 * a dialect has read it, and hyperparameters are its arguments alone. */
bool sagemaker_take_command(struct launch_context *t);

/* All hyperparameters by argument names, the newest of several; NULL: not all of them are
 * known by name. */
struct value *sagemaker_given(struct launch_context *t);

/* The script that the job runs, where it is there: the defaults of its arguments, and
 * what it says of adapters. */
struct sagemaker_entry {
    const struct value_item *name;           /* NULL: none is named */
    const struct value *defaults, *adapters; /* NULL: it is not there; it has none */
    bool speaks;                             /* of adapters, anywhere */
    bool loads;                              /* a document that is not read */
    bool trainer; /* the Hugging Face Trainer is what it calls */
};
/* A recipe of HyperPod in place of a script; whether it names one. */
bool sagemaker_take_recipe(struct launch_context *t);
/* jumpstart.c: the model of JumpStart's id, and of the id that model_uris.retrieve is asked
 * for; after all, what else of its job is open. */
void sagemaker_take_model_uri(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);
void sagemaker_take_jumpstart(struct launch_context *t,
                              const struct dialect_option *row,
                              const struct value_item *it);
void sagemaker_settle_jumpstart(struct launch_context *t);
/* Whether its script is there and trains by the Trainer's calls, which are read with the
 * job's hyperparameters; all of them are taken then. */
bool sagemaker_take_program(struct launch_context *t);
/* The text of a file by its name: one that a notebook writes, in source_dir or next to
 * the file; with its line in a notebook, else 0. NULL: it is not there. */
const char *sagemaker_text(struct launch_context *t, const char *name, int64_t *line);
void sagemaker_read_entry(struct launch_context *t, struct sagemaker_entry *e);
/* Adapters by the job's words, then the script's; before the Trainer's rows. */
void sagemaker_take_adapters(struct launch_context *t, const struct sagemaker_entry *e);
/* What the job leaves open, after the Trainer's rows. */
void sagemaker_take_entry(struct launch_context *t, const struct sagemaker_entry *e);

/* What is around the steps. */
void sagemaker_take_seconds(struct launch_context *t, const struct dialect_option *row,
                            const struct value_item *it);
void sagemaker_take_keep_alive(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it);
void sagemaker_take_spot(struct launch_context *t, const struct dialect_option *row,
                         const struct value_item *it);
void sagemaker_take_input_mode(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it);
void sagemaker_take_volume(struct launch_context *t, const struct dialect_option *row,
                           const struct value_item *it);
void sagemaker_take_checkpoint(struct launch_context *t,
                               const struct dialect_option *row,
                               const struct value_item *it);

#endif
