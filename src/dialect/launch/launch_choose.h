/* Which of a shell script's commands trains. */
#ifndef DIALECT_LAUNCH_LAUNCH_CHOOSE_H
#define DIALECT_LAUNCH_LAUNCH_CHOOSE_H

#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_words.h"

/* A command whose program trains nothing that is simulated. */
struct launch_refused {
    const char *program, *why; /* NULL: there is none */
    int64_t line;
};

/* A document that a command names, and that is not there. */
struct launch_lost {
    const char *name; /* NULL: there is none */
    int64_t line;
};

/* What is found on the way; zero-initialised, with words.t set. */
struct launch_choice {
    struct launch_words words;     /* of the command that was chosen */
    struct launch_refused refused; /* the last */
    struct launch_lost lost;       /* likewise */
};

/* Sets the command that trains by a dialect's options, or by a document that it names:
 * the last that is reached, else the last that may be. False: there is none. */
bool launch_choose(struct launch_context *t, struct launch_command *c,
                   struct launch_choice *to);

/* The last command that starts a training by options that no dialect has. */
bool launch_choose_unknown(struct launch_context *t, struct launch_command *c,
                           struct launch_choice *to);

/* The script among a command's words: the last NAME.py that is no option's value, else
 * the first; -1: none. */
int32_t launch_script_of(const struct shell_command *c);

/* launch_program.c, by the words alone: */

/* Whether a command is one of the shell's own, or of its everyday programs. */
bool launch_is_plain(const struct shell_command *c);

/* A program of one's own, by the Trainer's options that it is given: the last word before
 * them ("my-cli sft --model_name_or_path ..."); -1: none. */
int32_t launch_named_program(const struct shell_command *c);

/* The word that is a script by its place, "torchrun --nproc_per_node 8 $SCRIPT --fp16",
 * and is not known: after torchrun, deepspeed or Python, and no option's value; -1: none. */
int32_t launch_open_script(const struct shell_command *c);

/* The last program of the commands that trains by its own calls; NULL:
 * none does. Of recipes of NeMo and Megatron-Bridge, on the GPUs that `of`'s starter and
 * lines say. */
json_t *launch_read_program(struct launch_context *t, const struct shell *s,
                            const struct launch_given *given);
json_t *launch_read_recipes(struct launch_context *t, const struct shell *s,
                            const struct launch_command *of,
                            const struct launch_given *given);

#endif
