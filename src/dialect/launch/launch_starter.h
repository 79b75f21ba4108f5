/* Words of a command or of lines #SBATCH as options with values. */
#ifndef DIALECT_LAUNCH_STARTER_H
#define DIALECT_LAUNCH_STARTER_H

#include "dialect/launch/launch_shell.h"

/* An option of a starter, with the value that follows it or its "=". */
struct starter_option {
    const char *name, *value;
    const struct shell_word *word; /* of the value */
};

/* Words before a script: its own command's, or those of the command whose text that
 * is. */
struct starter_line {
    const struct shell_word *w;
    int32_t at, end; /* the starter, and the word after its last */
};

/* launch_exports.c: variables that a starter hands on, as its words say. */
void launch_take_mpi_exports(struct launch_context *t, const struct starter_line *l);
void launch_take_srun_exports(struct launch_context *t, const struct starter_line *l);

/* Whether n characters of a word are that name: "_" is "-" there. */
bool launch_starter_names(const char *word, size_t n, const char *name);

/* The last of the words from..to that is one of the names (a list NULL ends). */
struct starter_option launch_starter_find(const struct shell_word *w, int32_t from,
                                          int32_t to, const char *const *names);

/* The last of the names among the options of the sbatch by which a command's file is
 * submitted; no name: there is none. */
struct starter_option launch_submitted(const struct launch_command *c,
                                       const char *const *names);

/* 8, or the number after the last colon: "gpu:a100:8"; false: it is none. */
bool launch_starter_number(const char *text, int64_t *n);

/* "/cluster/count" or "/cluster/gpus_per_instance", unless the job that starts the command
 * has said it. */
void launch_starter_set(struct launch_context *t, const char *pointer,
                        const struct starter_option *g, int64_t n);
/* A count that was given; what is not known is doubted. False: it is not given. */
bool launch_starter_count(struct launch_context *t, const char *pointer,
                          const struct starter_option *g);
/* What is not given counts as one. */
void launch_starter_one(struct launch_context *t, const char *pointer, const char *name,
                        int64_t line);

/* Whether a job that starts the command has said it. */
bool launch_starter_is_of_job(const struct launch_context *t, const char *pointer);

/* launch_alone.c: a script that nothing starts is a process. */
void launch_alone_take(struct launch_context *t, const struct launch_command *c,
                       const struct starter_line *l);

/* launch_mpi.c: mpirun and horovodrun, and the options of theirs that are read. */
void launch_mpi_take(struct launch_context *t, const struct launch_command *c,
                     const struct starter_line *l);
extern const char *const launch_mpi_ranks[], *const launch_mpi_each[];
extern const char *const launch_mpi_map[], *const launch_mpi_hosts[],
                                               *const launch_mpi_files[];
extern const char *const launch_mpi_export[];

/* jsrun: sets of resources, of which each host takes so many, and tasks in each. */
void launch_jsrun_take(struct launch_context *t, const struct launch_command *c,
                       const struct starter_line *l);
extern const char *const launch_jsrun_sets[], *const launch_jsrun_each[];
extern const char *const launch_jsrun_tasks[];

/* launch_fabric.c: `fabric run`, and likewise. Its strategy and precision are kept for the
 * script's Fabric(). */
void launch_fabric_take(struct launch_context *t, const struct launch_command *c,
                        const struct starter_line *l);
extern const char *const launch_fabric_nodes[], *const launch_fabric_devices[];
extern const char *const launch_fabric_strategy[], *const launch_fabric_precision[];

/* launch_composer.c: Composer's. */
void launch_composer_take(struct launch_context *t, const struct launch_command *c,
                          const struct starter_line *l);
extern const char *const launch_composer_gpus[], *const launch_composer_ranks[];

/* SLURM's options of nodes, of GPUs of each and of all, and of tasks on each node. */
extern const char *const launch_slurm_node_names[];
extern const char *const launch_slurm_gpu_names[], *const launch_slurm_all_gpu_names[];
extern const char *const launch_slurm_task_names[];

#endif
