/* Shell scripts that start Megatron-LM, Megatron-DeepSpeed or the Trainer: shared by
 * launch_shell.c (the file, and which of its commands trains), launch_starter.c
 * (torchrun, deepspeed, srun and the like: on how many GPUs), launch_megatron*.c
 * (Megatron's arguments; their table is launch_megatron_keys.c). */
#ifndef DIALECT_LAUNCH_LAUNCH_SHELL_H
#define DIALECT_LAUNCH_LAUNCH_SHELL_H

#include "dialect/launch/launch_context.h"
#include "dialect/source/shell.h"

/* The command that trains, apart. */
struct launch_command {
    const struct shell *shell;
    const struct shell_command *command;
    int32_t script;              /* of its words: "pretrain_gpt.py" */
    struct raw_shell directives; /* of the lines #SBATCH */
    /* "--num-layers" and so on: true without a value, a string, a list, unknown; the
     * last of several that are the same */
    struct value options;
    const int64_t *columns; /* of their values */
};

/* The scenario in a shell script; NULL after reporting. */
json_t *launch_read_shell(struct launch *l, const char *text, size_t len,
                          const struct launch_given *given);

/* Instances and the GPUs of each, as the words before the script say. */
void launch_take_starter(struct launch_context *t, const struct launch_command *c);

/* What SLURM sets of its own accord, as the directives say; at most `most`. */
int32_t launch_slurm_variables(struct arena *arena, const struct raw_shell *directives,
                               struct shell_given *out, int32_t most);

/* Megatron ------------------------------------------------------------------------- */

/* Whether it takes no value, so that what follows is none. */
bool launch_is_megatron_flag(const char *option);
bool launch_is_megatron(const struct value *options);
void launch_take_megatron(struct launch_context *t, const struct launch_command *c);

/* What is said of options that no field is made of: one note of those that are not
 * simulated each, one warning of those that are not known. */
void launch_check_megatron(struct launch_context *t, const struct launch_command *c);

/* The options that no row is of: without effect (0), read where they matter (1), not
 * simulated (2); NULL for others. "*" at an end stands for any rest. */
const char *const *launch_megatron_words(int which);

/* The rows of launch_megatron_model.c (sizes and choices of the model) and of
 * launch_megatron.c; both tables, which NULL ends. */
extern const struct launch_row launch_megatron_model[], launch_megatron_job[];
extern const struct launch_row *const launch_megatron_tables[];
/* Vocabulary and what follows of several options; behind the rows. */
void launch_settle_megatron_model(struct launch_context *t,
                                  const struct launch_command *c);

/* launch_megatron_stack.c: what several options say together of the profile (behind
 * DeepSpeed's configuration), attention, precision, recomputation (behind the pipeline)
 * and of what is sharded and overlaps (behind the profile). */
void launch_take_framework(struct launch_context *t, const struct launch_command *c);
void launch_take_attention(struct launch_context *t, const struct launch_command *c);
void launch_take_precision(struct launch_context *t, const struct launch_command *c);
void launch_take_recompute(struct launch_context *t, const struct launch_command *c);
void launch_take_overlaps(struct launch_context *t, const struct launch_command *c);
bool launch_uses_deepspeed(const struct launch_command *c);

/* launch_megatron_deepspeed.c: --deepspeed, --deepspeed_config, --zero-stage; behind
 * the batch and precision, which go before what the configuration says. */
void launch_take_megatron_deepspeed(struct launch_context *t,
                                    const struct launch_command *c);

/* Values of options: a whole number of at least 1, a word. What is neither known nor
 * right is doubted or reported, and the field left open. */
void launch_take_size(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it);
void launch_take_word(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it);
void launch_take_flag(struct launch_context *t, const struct launch_row *row,
                      const struct value_item *it);

const struct value_item *launch_option(const struct launch_command *c,
                                       const char *name);
const char *launch_last_part(const char *path); /* behind the last "/" */
/* The first of the options (a list NULL ends) that is there, or NULL. */
const struct value_item *launch_any_option(const struct launch_command *c,
                                           const char *const *names);
/* A field that an option decides, or, without one, its default; what was said before
 * stands. The reference is stolen. */
void launch_decide(struct launch_context *t, const char *pointer, json_t *value,
                   const struct value_item *it, const char *otherwise);
bool launch_option_is(const struct launch_command *c, const char *name,
                      const char *word);
/* The whole number of a field so far, or `otherwise`. */
int64_t launch_number(const struct launch_context *t, const char *pointer,
                      int64_t otherwise);
/* "FILE:LINE:COLUMN: --option: what". */
void launch_wrong_option(const struct launch_context *t, const struct value_item *it,
                         enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
