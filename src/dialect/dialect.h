/* What a dialect is: somebody else's format, read into a scenario and written from one.
 * Adding one is a folder and a row of dialects.c: launch scripts, --emit and the docs
 * take it from there.
 *
 * Files of this layer:
 *     dialect.h, dialects.c
 *                  what a dialect is; the rows
 *     option       rows of options, and what is said of them
 *     python/, shell/
 *                  programs, read and not run: what their calls and commands are given
 *     source/      syntax alone: JSON, YAML, TOML, notebooks, manifests, files next to one
 *     launch/      which dialect a file is in; what all readers share
 *     user_script/, peft/
 *                  training programs in Python; words of adapters, which many share
 *     sagemaker/, megatron/, nemo/, ...
 *                  options of each, as fields of a scenario
 *     emit/        what all writers share; reading back */
#ifndef DIALECT_DIALECT_H
#define DIALECT_DIALECT_H

#include "base/err.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "config/cfg.h"
#include "dialect/option.h"

struct launch;
struct launch_context;
struct launch_command;
struct launch_words;
struct python;
struct python_wanted;
struct emit_source;

/* What a dialect's words are in. */
enum dialect_source {
    DIALECT_CALLS = 1 << 0,    /* calls and names of a Python script */
    DIALECT_COMMAND = 1 << 1,  /* options of a command that a shell script starts */
    DIALECT_DOCUMENT = 1 << 2, /* a document that is a dictionary, as JSON */
};

/* One file, or one of its commands. */
struct dialect_input {
    enum dialect_source source;
    const struct value *root;             /* options, or the document */
    const struct launch_command *command; /* of COMMAND */
    struct launch_context
        *context; /* of COMMAND: files next to it are found so; or NULL */
    const struct python *python; /* of CALLS */
    const char *estimator;       /* likewise: the variable that is asked for, or NULL */
};

/* How it is written. */
struct dialect_emit {
    const char *name; /* as --emit has it; NULL: it is not written */
    /* adds the text without its header; -1 after err_set */
    int (*write)(struct strbuf *out, const struct emit_source *e, struct err *err);
    const char *file;    /* a name by which the text is read back; NULL: it is not */
    const char *first;   /* its first line */
    const char *comment; /* before a line of the header; NULL: it has no comments */
    bool holds_model;    /* the model's sizes are in the file */
    bool sagemaker;      /* SageMaker's launchers start its job */
    const char *stacks;  /* of plans, which alone it can say; NULL: any */
    const char *const *outside; /* pointers that its words do not reach */
};

/* Options of one kind of a dialect's files. */
struct dialect_kind_tables {
    const char *title; /* "HyperPod's recipes"; NULL ends them */
    const struct dialect_table *tables;
};

struct dialect {
    const char *name; /* of its folder */
    const char *summary;
    uint32_t sources; /* bits of enum dialect_source; 0: it is not read here */
    /* DIALECT_CALLS: functions whose calls it wants, and those that give back what they
     * are given; NULL ends each */
    const char *const *calls, *const *same;
    /* likewise: patterns of what gives an object (python/python.h) */
    const char *const *objects;
    /* likewise: names of functions that it asks for (python/python.h) */
    const char *const *kept;
    const char *const *attributes; /* alone, that something is assigned to */
    /* likewise: modules of a network */
    const char *const *modules;
    /* likewise: what a parameter is (python/python.h); NULL: it knows of none */
    const struct value *(*argument)(const struct python *p, const char *name,
                                    int64_t line);
    /* likewise: whether calls so far are a training (python/python.h); NULL: never */
    bool (*enough)(const struct python *p);
    bool (*recognises)(const struct dialect_input *in);
    /* documents whose groups (hydra's defaults) it puts in place itself; NULL: none */
    bool (*composes)(const struct value *root);
    /* fills the scenario; what is wrong is reported */
    void (*read)(struct launch_context *t, const struct dialect_input *in);
    /* after `read` of whatever dialect: what a library does by default; NULL: nothing */
    void (*assume)(struct launch_context *t);
    /* after --set: what that left open; NULL: nothing */
    void (*settle)(struct launch *l, struct cfg root);
    /* programs that train by its arguments, with a word "train" and the like after them,
     * or modules; NULL ends them, or: none */
    const char *const *programs;
    /* a command names the document that it recognises, and its words change keys:
     * `read` is given COMMAND, with launch_override.h to read both */
    bool commands;
    /* a program that is given a document of it is the dialect's own, whatever its name */
    bool own_documents;
    /* DIALECT_COMMAND: its programs start all GPUs by themselves, and its options say
     * what they train, whatever a program is called */
    bool starts;
    /* DIALECT_COMMAND: a process that nothing starts trains on all GPUs that it sees */
    bool spreads;
    /* DIALECT_COMMAND: programs that train by its options, though the list of programs
     * refuses their names; NULL ends them, or: none */
    const char *const *trains;
    const struct dialect_table *tables; /* of its options; NULL: none */
    /* and of its other kinds of files, with what the page calls each; NULL: none */
    const struct dialect_kind_tables *kinds;
    /* it reads what the program's own text trains, whose name is nothing then */
    bool reads_program;
    /* DIALECT_COMMAND: `read` takes commands that start a training by options that no
     * dialect has: it names them, and asks */
    bool any;
    /* DIALECT_COMMAND: after `read` of whatever dialect, what the starter keeps for the
     * program's text and that did not take; NULL: nothing */
    void (*take_left)(struct launch_context *t);
    /* DIALECT_COMMAND: puts in place of a command's options those of a file that one of
     * them names; NULL: none does */
    void (*expand)(struct launch_context *t, const struct launch_command *c,
                   struct launch_words *words);
    /* a document that has a command's arguments, as the script that starts it, each word
     * on the document's line; NULL: the dialect has none */
    const char *(*script)(struct arena *arena, const struct value *root,
                          const char *file);
    /* whether an option of a command takes no value; NULL: none is known to */
    bool (*is_flag)(const char *option);
    struct dialect_emit emit;
};

/* The rows, which one without a name ends. */
extern const struct dialect dialects[];

/* Reads by a row, then what libraries do where nothing says it. */
void dialect_read(const struct dialect *d, struct launch_context *t,
                  const struct dialect_input *in);

/* The row that recognises it; NULL: none does. */
const struct dialect *dialect_of(const struct dialect_input *in);

/* The row of a document that a command names; NULL: none reads it so. */
const struct dialect *dialect_of_named(const struct value *root);

/* The row whose own programs are given the document; NULL: none. */
const struct dialect *dialect_of_own(const struct value *root);

/* The row of commands alone that has options ("--num-layers") of whatever program; NULL:
 * none has. */
const struct dialect *dialect_of_options(const struct value *options);

/* The row that --emit calls so, by its number from 1; NULL: none. */
const struct dialect *dialect_emitted(int number);

/* Whether a dialect puts the groups of a document in place itself. */
bool dialect_composes(const struct value *root);

/* The row that takes commands whose options no dialect has. */
const struct dialect *dialect_of_any(void);

/* The row that has the program; NULL: none. */
const struct dialect *dialect_of_program(const char *name);

/* The words of --emit with their numbers from 1; the last is without a name. At most
 * `most` rows are filled. */
void dialect_emit_names(struct name_value *out, int most);

/* After a command is read: what its starter says and nothing took so far. */
void dialect_take_left(struct launch_context *t);

/* The script that starts what a document of arguments has, as any dialect has it; NULL:
 * it is none. */
const char *dialect_script_of(struct arena *arena, const struct value *root,
                              const char *file);

/* A command's options by the file that one of them names, as any dialect has it. */
void dialect_expand(struct launch_context *t, const struct launch_command *c,
                    struct launch_words *words);

/* Whether any dialect knows that an option of a command takes no value. */
bool dialect_is_flag(const char *option);

/* Functions whose calls any dialect wants, those that give back what they are given, and
 * patterns of those that give objects; NULL ends each list. */
struct python_wanted dialect_calls(struct arena *arena);

#endif
