/* NVIDIA's NeMo: configurations of NeMo 1 (hydra's YAML, as NeMo-Framework-Launcher has
 * them, and overrides of a command), and of the same words those of SageMaker HyperPod.
 * Sources: NVIDIA/NeMo v1.23 and v2.0 (nemo/collections/nlp/models/language_modeling),
 * NVIDIA/NeMo-Framework-Launcher 24.09, aws/sagemaker-hyperpod-recipes v1.3 and v2.0.
 *
 * Whatever a file's form, its keys are sorted into parts, whose words are the same.
 *
 * Files of this folder:
 *     nemo             the file; the order of reading
 *     nemo_parts       keys by the parts that they are of
 *     nemo_rows        options of the parts
 *     nemo_model       sizes and choices of the model; its vocabulary
 *     nemo_stack       precision, recomputation, what is sharded and overlaps
 *     nemo_peft        adapters
 *     recipe           recipes of NeMo 2 and Megatron-Bridge, as Python has them
 *     recipe_helper    a function of NeMo's scripts that writes into them
 *     recipe_data      what recipes set that a file names
 *     recipe_command   commands that start them
 *     recipe_cli       NeMo-Run's command line, and programs that end in it
 *     nemo_override    files of changes of a recipe, configurations that were saved
 *     core, core_rows  their words, which are Megatron-Core's
 *     core_model       of these, the model
 *     nemo_command     overrides of a command, and the files that it names
 *     nemo_rl          NeMo-RL's configurations of supervised fine-tuning and DPO
 *     hyperpod         recipes of SageMaker HyperPod that train Hugging Face's models
 *     hyperpod_tuning  those of 2025 and later
 *     hyperpod_verl    of these, verl's of supervised fine-tuning */
#ifndef DIALECT_NEMO_NEMO_H
#define DIALECT_NEMO_NEMO_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_config.h"

struct python;

enum nemo_part {
    NEMO_MODEL, /* sizes and degrees */
    NEMO_TRAINER,
    NEMO_DATA, /* batches and lengths */
    NEMO_OPTIM,
    NEMO_PEFT,
    NEMO_DDP,
    NEMO_MIXED, /* precision */
    NEMO_COMM,  /* what overlaps */
    NEMO_REST,  /* by their whole paths */
    NEMO_PARTS
};

/* Keys of a prefix are a part's; the longest goes. One without a prefix ends them. */
struct nemo_route {
    const char *prefix;
    enum nemo_part part;
};

struct nemo {
    struct launch_context *t;
    struct value *part[NEMO_PARTS];
    bool tuned; /* it goes on from a checkpoint, whose model no key says */
};

/* Whether a document is a launcher's main file, whose groups nemo_with_groups takes. */
bool nemo_composes(const struct value *root);
bool nemo_recognises(const struct dialect_input *in);
void nemo_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table nemo_tables[];

/* Rows that are fields on their own. */
extern const struct dialect_option nemo_model_rows[], nemo_width_rows[],
    nemo_trainer_rows[], nemo_data_rows[], nemo_tuning_rows[];
extern const struct dialect_table hyperpod_tables[];

/* Sorts keys by their paths; of several of a name the last goes. */
void nemo_sort(struct nemo *n, const struct nemo_route *routes,
               const struct value *flat);

/* What a part has under a name, and is not null; NULL. */
const struct value_item *nemo_find(const struct nemo *n, enum nemo_part part,
                                   const char *name);
/* Whether it is there and true; it is heard. */
bool nemo_is_on(const struct nemo *n, enum nemo_part part, const char *name,
                bool otherwise);
/* A word of a part, or `otherwise`. */
const char *nemo_word(const struct nemo *n, enum nemo_part part, const char *name,
                      const char *otherwise);
/* Sets a field by the item, or by a default that `otherwise` names; not one that is
 * set. The reference is stolen. */
void nemo_set(const struct nemo *n, const char *pointer, json_t *value,
              const struct value_item *it, const char *otherwise);

void nemo_take_model(const struct nemo *n);
void nemo_take_pipeline(const struct nemo *n);
void nemo_take_precision(const struct nemo *n);
void nemo_take_recompute(const struct nemo *n);
void nemo_take_offloaded_layers(const struct nemo *n);

/* nemo_mixed.c: precision by the function that makes it, or its members; formats of
 * the optimizer's states. */
void nemo_take_mixed(const struct nemo *n);
void nemo_take_stack(const struct nemo *n);
void nemo_take_peft(const struct nemo *n);

/* recipe.c: DIALECT_CALLS. */
bool nemo_recipe_recognises(const struct dialect_input *in);
void nemo_recipe_read(struct launch_context *t, const struct dialect_input *in);
extern const char *const nemo_calls[], *const nemo_same[], *const nemo_objects[];

/* recipe_helper.c: what set_primary_perf_configs() of NeMo's scripts writes over a
 * recipe; `own` is what the script sets itself. */
struct value *nemo_helped(struct launch_context *t, const struct python *p,
                          struct value *flat, const struct value *own);
/* Asks for what such a call writes where its arguments are not known. */
void nemo_ask_helped(struct launch_context *t, const struct python *p);

/* core.c: reads a flat configuration of Megatron-Core's words; `title` is shown. */
void core_read(struct launch_context *t, const struct value *flat, const char *title);
extern const struct dialect_table core_tables[];
extern const struct dialect_option core_model_rows[], core_width_rows[],
    core_train_rows[], core_optimizer_rows[];
/* core_model.c: the model by its class, an id or sizes. */
void core_take_model(const struct nemo *n);
/* Whether a document is of these words. */
bool core_recognises(const struct value *root);

/* recipe_data.c: facts of recipes. */
struct nemo_call {
    const char *recipe; /* "llama3_8b", or a function of Megatron-Bridge's */
    const char *kind; /* "pretrain" or "finetune" of NeMo 2; NULL: Megatron-Bridge's */
    bool full, performance, packed;
    int64_t line;
    const struct value_item *length; /* its argument seq_length, or NULL */
};
/* The flat configuration that a recipe has; NULL after reporting that it is refused, or
 * asking for what is not known. */
struct value *nemo_recipe_facts(struct launch_context *t, const struct nemo_call *call);
/* recipe_override.c: puts over the facts what the script sets, the file that it reads and
 * what the command says. */
void nemo_overlay_changes(struct launch_context *t, const struct python *p,
                          struct value *facts, const struct value *own);
/* What a data module that the file makes has where it does not say so: a whole one takes
 * the place of the recipe's. */
void nemo_take_data_module(struct launch_context *t, struct value *flat);
/* What a recipe of Megatron-Bridge is called now: X_finetune_config of v0.3 and before made
 * X_peft_config or, without adapters, X_sft_config. */
const char *nemo_recipe_now(struct launch_context *t, const char *name, bool adapters,
                            int64_t line);
/* Whether there is a table of it. */
bool nemo_recipe_known(struct launch_context *t, const struct nemo_call *call);

/* recipe_parts.c: a part that another function makes; NULL: there is none. */
const struct value_item *nemo_open_part(const struct value *flat);
/* What a script's own objects leave to others, by the name of a recipe of NeMo's own, or
 * asked for; NULL: that recipe is not simulated. */
struct value *nemo_complete(struct launch_context *t, const struct python *p,
                            const struct python_call *c, struct value *flat);
/* The open parts of a recipe that is known, which are taken out of what is set; once it is
 * read, they are asked for. */
struct value *nemo_take_out_parts(struct launch_context *t, struct value *flat);
void nemo_ask_parts(struct launch_context *t, const struct value *open);
/* The facts of a recipe that is not known; once it is read, all that it may set and the
 * file does not is asked for. */
struct value *nemo_unknown_recipe(struct launch_context *t,
                                  const struct nemo_call *call);
/* The same of a recipe whose name is not known, as an argument of the script decides it. */
struct value *nemo_unknown_name(struct launch_context *t, struct value *name);
void nemo_ask_recipe(struct launch_context *t, const struct value *flat);
/* Puts `over` over a flat configuration: an object goes before all of its place. */
void nemo_overlay(struct arena *arena, struct value *flat, const struct value *over);
/* The model of a configuration's class; absent where it is not known. */
struct cfg nemo_class(struct launch_context *t, const char *name);

/* The name of the recipe of Megatron-Bridge that tunes a model (an id, or the path of a
 * copy), "sft" or "peft"; NULL: it has none. */
const char *nemo_recipe_of(struct launch_context *t, const char *model,
                           const char *kind);

/* nemo_override.c: a file of changes of a recipe; `name` is the recipe, or NULL where
 * the checkpoint says it. A configuration that Megatron-Bridge saved next to a
 * checkpoint (ConfigContainer), and its keys without how they are made. */
void nemo_read_override(struct launch_context *t, const struct value *root,
                        const char *name);
bool nemo_is_container(const struct value *root);
/* Whether recipe._target_ is a function of Megatron-Bridge's. */
bool nemo_names_recipe(const struct value *root);
struct value *nemo_plain_container(struct launch_context *t, const struct value *root);

/* recipe_command.c: "nemo llm pretrain --factory ..." and Megatron-Bridge's scripts. */
bool nemo_is_recipe_command(const struct launch_command *c);
/* Reports a program of NeMo-Run's command line, "$SCRIPT --factory X", that is not there. */
bool nemo_lacks_program(struct launch_context *t, const struct launch_command *c);
void nemo_read_recipe_command(struct launch_context *t, const struct launch_command *c);

/* recipe_cli.c: NeMo-Run's command line. Whether a program is it by its name. */
bool nemo_is_cli(const char *program);
/* Reads the recipe that "pretrain" or "finetune" gets of a factory, "llama3_8b(num_nodes=2)"
 * (NULL: none is named), and the words over it. */
void nemo_read_factory(struct launch_context *t, const char *kind,
                       const struct value *factory, struct value *words);
/* Puts words "a.b=1" and "a.b*=2" over a flat configuration. */
void nemo_overlay_words(struct launch_context *t, struct value *flat,
                        const struct value *words);
/* A program's run.cli.main(); NULL. */
const struct python_call *nemo_cli_main(const struct python *p);
/* The factory that the command names, or the program's default; NULL. */
const struct value *nemo_cli_factory(const struct launch *l, const struct python *p);
/* Reads such a program whose factory is none of its own functions. */
void nemo_read_cli(struct launch_context *t, const struct python *p);

/* A configuration that is not NeMo's own: of Hugging Face's models on HyperPod. */
bool hyperpod_recognises(const struct value *root);
void hyperpod_read(struct launch_context *t, const struct value *root);

/* hyperpod_tuning.c: recipes with a section "training_config". */
bool hyperpod_is_tuning(const struct value *root);
void hyperpod_tuning_read(struct launch_context *t, const struct value *root);
extern const struct dialect_table hyperpod_tuning_tables[];

/* hyperpod_verl.c: of these, by their keys as paths, those that verl tunes. */
bool hyperpod_is_verl(const struct value *flat);
void hyperpod_verl_read(struct launch_context *t, const struct value *flat);
extern const struct dialect_table hyperpod_verl_tables[];

/* nemo_rl.c: NeMo-RL's configurations of supervised fine-tuning and DPO. */
bool nemo_rl_recognises(const struct value *root);
void nemo_rl_read(struct launch_context *t, const struct value *root);
extern const struct dialect_table nemo_rl_tables[];

/* What a command's configuration is: the file that it names, and over that its words
 * NAME=VALUE. */
struct value *nemo_of_command(struct launch_context *t, const struct launch_command *c);
/* The instances that HyperPod's main file names, as SageMaker calls them. */
void nemo_take_instance(struct launch_context *t, struct value *root);
/* The groups of hydra's `defaults` put in place of their names. */
struct value *nemo_with_groups(struct launch_context *t, struct value *root);

#endif
