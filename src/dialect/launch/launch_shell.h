/* Shell scripts that start a training: shared by launch_shell.c (the file),
 * launch_choose.c (which of its commands trains), launch_starter.c (torchrun, deepspeed,
 * srun and the like: on how many GPUs), shell_options.c (what dialects ask of a
 * command). */
#ifndef DIALECT_LAUNCH_LAUNCH_SHELL_H
#define DIALECT_LAUNCH_LAUNCH_SHELL_H

#include "dialect/launch/launch_context.h"
#include "dialect/shell/shell.h"

struct dialect;

/* The command that trains, apart. */
struct launch_command {
    const struct shell *shell;
    const struct shell_command *command;
    const struct dialect *dialect; /* of its options */
    int32_t script;                /* of its words: "pretrain_gpt.py" */
    bool unknown;  /* it starts a training by options that no dialect has */
    bool named;    /* that is no file, and whether it starts all GPUs is not known */
    bool starts;   /* that "script" starts all GPUs by itself */
    bool numbered; /* its starter passes CUDA_VISIBLE_DEVICES over */
    struct raw_shell directives; /* of the lines #SBATCH */
    /* "--num-layers" and so on: true without a value, a string, a list, unknown; the
     * last of several that are the same */
    struct value options;
    const int64_t *columns; /* of their values */
    struct value letters;   /* likewise of one dash: "-dp" */
};

/* The scenario in a shell script; NULL after reporting. */
json_t *launch_read_shell(struct launch *l, const char *text, size_t len,
                          const struct launch_given *given);

/* A command, or a script of them, by which a job of another dialect starts its
 * program. */
struct launch_started {
    const char *text;
    struct shell_setting in; /* of one line of the file; its path is where files are */
    const struct shell_given *given;
    int32_t n_given;
    const char *missing; /* a script that is known not to be there, or NULL */
};

/* Its last command of Python, where no dialect has its options; or NULLs. Of one that
 * starts a script which is not there, the options alone. */
struct launch_program {
    const char *name;
    const struct value *options; /* without "--" */
    const char *starter;         /* that may shard the model: accelerate, deepspeed */
};

/* Reads it into the scenario of the context. False: no dialect has its options. */
bool launch_take_started(struct launch_context *t, const struct launch_started *s,
                         struct launch_program *program);

/* A word as a value with that text. */
struct value *launch_word_value(struct arena *arena, const struct shell_word *w,
                                const char *text);

/* Instances and the GPUs of each, as the words before the script say. */
void launch_take_starter(struct launch_context *t, struct launch_command *c);

/* launch_devices.c: names what a script's nvidia-smi limits. */
void launch_note_limits(struct launch *l, const struct shell *s);

/* launch_exports.c: a variable of the environment where the scenario has it; others are passed over. */
void launch_take_variable(struct launch_context *t, const struct shell_binding *b);

/* GPUs of a list by numbers, of n characters: "0,1,2" has three; an empty list none. */
int64_t launch_devices_listed(const char *list, size_t n);

/* The hosts and the GPUs of each in deepspeed's "HOST:0,1@HOST:0,1"; 0 of each: all.
 * False: hosts are unlike, or one has none. */
bool launch_devices_of(const char *text, int64_t *hosts, int64_t *each);

/* launch_hosts.c: the hosts in a file that the script writes, or that is next to it, and
 * the slots of each; 0 of these: all GPUs. False: it cannot be read, or hosts are unlike. */
bool launch_hosts_in(struct launch_context *t, const char *name, int64_t *hosts,
                     int64_t *each);

/* A program without a starter whose model is split over GPUs is a rank of many. */
void launch_settle_ranks(struct launch_context *t, const struct launch_command *c);

/* Those of CUDA_VISIBLE_DEVICES, where nothing else says how many GPUs there are. */
void launch_take_visible(struct launch_context *t, const struct launch_command *c);

/* A variable of other devices' software: refused, or said. */
void launch_take_device(struct launch_context *t, const struct shell_binding *b);
/* Likewise those that the script's text reads, "${HL_NUM_NODES:-2}", and GPUs that the
 * lines #SBATCH ask for by name, "mi250:8". */
void launch_take_makers(struct launch_context *t, const struct launch_command *c,
                        const char *text);

/* Whether a word is a starter's name: torchrun, torch.distributed.launch. */
bool launch_is_starter(const char *word);

/* The dialect that has a program; NULL: none (dialect_of_program). */
typedef const struct dialect *launch_program_of(const char *name);

/* launch_modules.c: the words after -m become the files that they name, but for a
 * dialect's own program. */
void launch_name_modules(struct arena *arena, struct shell *s, launch_program_of *own);

/* Whether a starter of PyTorch's ranks starts the script of a command; srun and mpirun
 * start anything. */
bool launch_has_starter(const struct launch_command *c);
/* Whether nothing at all does. */
bool launch_is_alone(const struct launch_command *c);

/* Instances and GPUs that the lines #SBATCH give, where no starter's words do. */
void launch_take_directives(struct launch_context *t, const struct launch_command *c);

/* What SLURM sets of its own accord, as the directives say; at most `most`. */
int32_t launch_slurm_variables(struct arena *arena, const struct raw_shell *directives,
                               struct shell_given *out, int32_t most);

/* The lines #SBATCH are those of the file that sbatch submits, where it has some. */
void launch_take_job_lines(struct launch_context *t, struct launch_command *c);

/* The nodes that the directives ask for; 0: they do not say. */
int64_t launch_slurm_nodes(const struct raw_shell *directives);
/* Of the scheduler that a script is for, after the n that there are: how many nodes the job
 * has, and the file of its hosts; how many there are then. */
int32_t launch_job_variables(struct arena *arena, const char *text, int64_t nodes,
                             struct shell_given *out, int32_t n, int32_t most);
/* Tasks of each node; 0: not known. */
int64_t launch_job_tasks(const struct raw_shell *directives);
/* Likewise the GPUs of each. */
int64_t launch_slurm_gpus(const struct raw_shell *directives);

const struct value_item *launch_option(const struct launch_command *c,
                                       const char *name);
/* What a variable is for the command: as it is set for it alone (X=1 COMMAND), or by the
 * script; NULL. */
const struct shell_binding *launch_variable(const struct launch_command *c,
                                            const char *name);
/* What its environment is by both: strings, whose lines are negative, as those of elsewhere
 * are in a program's text (dialect/python/python.h). */
struct value *launch_environment(struct launch_context *t,
                                 const struct launch_command *c);
const char *launch_last_part(const char *path);    /* after the last "/" */
bool launch_is_option(const struct shell_word *w); /* --name */
/* The first of the options (a list NULL ends) that is there, or NULL. */
const struct value_item *launch_any_option(const struct launch_command *c,
                                           const char *const *names);
/* A field that an option decides, or, without one, its default; what was said before
 * is. The reference is stolen. */
void launch_decide(struct launch_context *t, const char *pointer, json_t *value,
                   const struct value_item *it, const char *otherwise);
bool launch_option_is(const struct launch_command *c, const char *name,
                      const char *word);
/* The whole number of a field so far, or `otherwise`. */
int64_t launch_number(const struct launch_context *t, const char *pointer,
                      int64_t otherwise);
/* As many sequences of that length as a microbatch of so many tokens holds on each rank of
 * a context group, of those that a rank has of the batch; 1 at least. */
int64_t launch_sequences(const struct launch_context *t, int64_t tokens,
                         int64_t length);
/* "FILE:LINE:COLUMN: --option: what". */
void launch_wrong_option(const struct launch_context *t, const struct value_item *it,
                         enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
