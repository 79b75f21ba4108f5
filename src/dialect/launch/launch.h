/* A SageMaker launch script, a shell script that starts Megatron-LM or the Trainer, or
 * DeepSpeed's configuration, as a scenario, without running it.
 *
 * The estimator (a call of Estimator, PyTorch, HuggingFace, TensorFlow or ModelTrainer)
 * says which instances, the "distribution" dictionary, versions and hyperparameters;
 * what these are called in scripts is a table here, and names of models, tasks and data sets are
 * models/launch/names.json. Reading follows dialect/python/python.h and
 * dialect/shell/shell.h: what would have to be run is not known, is said to be so, and
 * is asked for by `--set`.
 *
 * The order: launch_load, cfg_set on its scenario, launch_complete, scenario_read,
 * launch_place. Strings live in the loader's arena.
 *
 * Files of this folder:
 *     launch, launch_open
 *                      the file and its dialect; with what --set gives
 *     launch_shell     which command of a shell script trains
 *     launch_words     the words of that command as options
 *     launch_tokenizer how many entries a tokenizer has
 *     entry_points     what a program trains, by its name
 *     launch_starter   torchrun, srun and the like: on how many GPUs
 *     launch_complete, launch_ask, settle_job
 *                      what the file leaves open
 *     launch_usage     what a shell script says of its arguments
 *     launch_notes     what the reader of Python noted
 *     launch_imports, launch_found
 *                      modules next to it, each read once
 *     launch_context, launch_values, launch_idle, shell_options
 *                      what all dialects read with
 */
#ifndef DIALECT_LAUNCH_LAUNCH_H
#define DIALECT_LAUNCH_LAUNCH_H

#include "base/vec.h"
#include "config/cfg.h"
#include "dialect/shell/shell.h"

/* One field that was taken from the script. */
struct launch_resolved {
    const char *pointer; /* of the scenario */
    const char *value;   /* as JSON */
    const char *from;    /* "max_seq_length" */
    int64_t line;
    bool replaced; /* by --set */
};

/* A field that the script gives in a way that is not known without running it. */
struct launch_unresolved {
    const char *pointer;
    const char *what;    /* "hyperparameters: make() is a call" */
    const char *from;    /* what gives it there: "--seq-length"; NULL: nothing alone */
    const char *ask;     /* the variable of a shell that would decide it, or NULL */
    const char *example; /* a value that may well answer it; NULL: the usual one */
    int64_t line;
};

/* Where a value of the scenario was written. */
struct launch_origin {
    const char *pointer;
    int64_t line;
};

/* A value "auto" of DeepSpeed's configuration: the Trainer's argument fills it in, or
 * the model's hidden size h, as linear h + squared h^2. */
struct launch_auto {
    const char *pointer, *key;
    const char *argument; /* NULL: the hidden size */
    const char *unit;     /* of that: "B", or "" */
    double linear, squared;
    int64_t line;
};

/* What a shell script compares a variable with that nobody gives. */
struct launch_values {
    const char *ask;   /* "3" of $3 */
    const char *first; /* "7B" */
    const char *all;   /* "7B, 72B" */
};

/* How a shell script is called: by a comment, "# sh run.sh dsw 7B 1", or by the names that
 * it gives its arguments. */
struct launch_usage {
    const char *arguments; /* "dsw 7B 1"; NULL: there is no comment */
    const char *names;     /* "ENV MODEL_SIZE BATCH_SIZE"; NULL: one has none */
    int64_t line;          /* of the comment */
};

struct notebook;

/* How long a program's sequences are where no option of it says so. */
struct launch_lengths {
    const char *program; /* NULL: it is not known */
    int64_t each;        /* all are cut or padded to; 0: unlike */
    int64_t longest;     /* they are cut to, and padded to the longest of a batch; 0 */
    int64_t decoder;     /* targets are cut to; 0: unlike */
    bool full;           /* all are padded to the model's positions */
    bool cut;            /* they are cut at the model's positions */
    int64_t batch;       /* sequences a GPU by its default; 0: not known */
    int64_t line;        /* that names the program */
};

/* Of a model with pictures, once that is known. */
struct launch_pictures {
    const char *texts; /* who is given texts alone; NULL: pictures are read */
    const char *key;   /* the option that bounds their size; NULL: none does */
    bool given;        /* the key, by the file */
    int64_t pixels;    /* that bound */
    int64_t line;
};

/* Data-parallel ranks that a file has in so many words; 0: as many as there are GPUs. */
struct launch_replicas {
    int64_t n, line;
    const char *what; /* "parallelism.dp" */
    bool settled;
};

/* What a command changes of the recipe that its program starts. */
struct launch_changes {
    const struct value *words;   /* "train.train_iters=10", as a dictionary */
    const char *file;            /* of --config-file; or NULL */
    const struct value *factory; /* of --factory; or NULL */
};

/* A text of Python as launch_read_names has read it. */
struct launch_names;

/* A program that commands start, in the loader's arena, and whether it trains by its own
 * calls (user_script_is_program). */
struct launch_judged {
    const char *text;
    bool trains;
};

struct launch {
    struct cfg_loader *loader;
    const struct launch_changes *changes; /* or NULL */
    const char *file;
    const char *where;                   /* files that it names are next to this one */
    int64_t gpus, arch, memory_B, count; /* as of struct launch_given */
    const char *title;                   /* "estimator = PyTorch(...): read, not run" */
    const char *what;                    /* "the script" */
    int64_t line;                        /* of that */
    bool operated; /* a training operator starts a pod's program as a rank */
    /* copies of a model that is sharded: so many on all GPUs, or one an instance (-1);
     * 0: the degree of sharding is known, or not of this */
    int64_t shard_copies;
    struct launch_replicas replicas;
    /* arguments that freeze a vision tower and its projector in a full training, given
     * or by default; NULL: none */
    const char *tower, *projector, *language;
    /* arguments that have the tower and its projector trained next to adapters; NULL:
     * none */
    const char *freed[2];
    bool adapts_tower;   /* which puts adapters into the tower, too */
    int64_t frozen_line; /* where one of them is given; 0: they are by default */
    bool accelerated;    /* FSDP is asked of accelerate, as the Trainer does */
    int64_t fsdp2_line;  /* where FSDP2 is asked for; 0: it is not */
    /* where FSDP is given no policy of units (0: nowhere), if none is given elsewhere */
    int64_t unwrapped_line;
    bool wraps;
    struct launch_pictures pictures;
    const char *model_class; /* "ViTForImageClassification"; NULL: it is not known */
    bool patches;      /* its model reads pictures alone, and says how many patches */
    int64_t spot_line; /* where spot instances are asked for; 0: they are not */
    VEC(struct launch_resolved) resolved;
    VEC(struct launch_unresolved) unresolved;
    VEC(struct launch_origin) origins;
    VEC(struct launch_auto) autos;
    VEC(struct launch_values) values;
    struct launch_usage usage;
    struct launch_lengths lengths;
    const char *named; /* a document: what --estimator names until a dialect takes it */
    bool has_program;  /* it was read itself, and is none of transformers' examples */
    struct notebook *notebook; /* of such a file; lines are those of its texts */
    const struct source_file
        *written; /* that a shell script writes, while it is read */
    int64_t n_written;
    VEC(struct diag) notes; /* what was passed over or assumed, with its line */
    VEC(struct launch_names *)
    names;                      /* texts that several readers want (launch_imports) */
    struct launch_finds *finds; /* files that are asked for by name (launch_found) */
    VEC(struct launch_judged) judged; /* a script may start one a hundred times */
};

/* What is given in addition to the file. */
/* A program in Python that a command of a shell script starts. */
struct launch_script {
    const char *path, *text;
    const struct value *given; /* its options, by names with "_" */
    int64_t line;              /* of the command */
};

struct launch_given {
    const char *estimator; /* the variable that holds it; NULL takes the last one */
    const struct shell_given *shell; /* variables of a shell script */
    int32_t n_shell;
    /* of an instance, for scripts that ask: its GPUs, 80 of sm80, the memory of one, its
     * processors, and how many there are; 0: not known */
    int64_t gpus, arch, memory_B, cpus, count;
    /* reads such a program where it is a training by its calls; NULL: it is none */
    json_t *(*program)(struct launch *l, const struct launch_script *p);
};

/* Whether a file is read so: by the ending .py, .ipynb, .txt for a notebook's dump, .sh,
 * .slurm and the like for a shell's; .yaml, .yml and .toml; or a JSON document whose keys a
 * dialect recognises. */
bool launch_is_script(const char *file);

/* Whether it is a shell script, by its ending. */
bool launch_is_shell(const char *file);

/* Whether --set /shell/NAME gives it variables: a shell script, and what holds one. */
bool launch_takes_variables(const char *file);

/* Whether it is a document whose keys a dialect recognises. */
bool launch_is_document(const char *file);

/* The scenario that the script describes, as far as it does. Without any estimator in a
 * script of Python, the names that are usual for its arguments are taken. `given` may
 * be NULL. Errors are reported, and the value is absent then. */
struct cfg launch_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_given *given);
/* The same of a text that is in no file: a shell's, where the name ends with .sh,
 * DeepSpeed's configuration with .json, else Python's. */
struct cfg launch_load_text(struct launch *l, struct cfg_loader *loader,
                            const char *name, const char *text);
void launch_release(struct launch *l);

/* What is unresolved as notes, where nobody is asked. */
void launch_note_open(struct launch *l);

/* Reports what the scenario lacks and what is unresolved, each with the option that
 * gives it; what was set meanwhile is fine. What of the job around the steps is
 * incomplete is left out with a note. -1 when anything was reported. */
int launch_complete(struct launch *l, struct cfg root);

/* Puts the script's lines into what was reported of the scenario's values; of a notebook
 * the cells and the lines within. */
void launch_place(const struct launch *l);

/* The file of that name that the source itself writes, as a notebook's cells and a
 * script's here-documents do; NULL. */
const struct source_file *launch_own_file(const struct launch *l, const char *name);

/* The cell of a line of a notebook and the line within; false: it is none. */
bool launch_cell(const struct launch *l, int64_t line, int64_t *cell, int64_t *within);

#endif
