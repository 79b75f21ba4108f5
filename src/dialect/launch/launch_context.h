/* Taking fields of a scenario from somebody else's file: the toolbox of all
 * dialects. */
#ifndef DIALECT_LAUNCH_LAUNCH_CONTEXT_H
#define DIALECT_LAUNCH_LAUNCH_CONTEXT_H

#include "base/strbuf.h"
#include "dialect/launch/launch.h"
#include "dialect/option.h"
#include "dialect/python/python.h"

enum { LAUNCH_HYPER_MAX = 8 };

/* How values are shown. */
#define LAUNCH_SHOWN (JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15))

/* An item that did something, or of which something is said. */
struct launch_heard {
    const struct value_item *it;
    const struct launch_heard *next;
};

struct launch_context {
    struct launch *l;
    struct arena *arena;
    const struct python_call *call;
    json_t *tree;       /* the scenario so far */
    struct cfg names;   /* models/launch/names.json, once asked for */
    struct cfg entries; /* likewise rows of models/launch/entry_points.json */
    int n_hyper;        /* dictionaries of hyperparameters, the newest first */
    const struct value *hyper[LAUNCH_HYPER_MAX];
    int64_t
        lost; /* the line of a document of hyperparameters that is not there; or 0 */
    int64_t microbatches; /* of SMP's dictionary; 1 without */
    bool smp_precision;   /* SMP converts the model itself */
    bool converts;        /* so does what shards it: weights are in 16 bits */
    bool mixes;           /* a trainer does by its default: "bf16" of TRL's */
    bool trainer;         /* the Hugging Face Trainer runs the steps */
    bool alone;           /* no starter is there: one process is taken */
    bool adapters;        /* next to a frozen model are what is trained (LoRA) */
    bool lora_config;     /* a section describes them in LoraConfig's arguments */
    int32_t values;       /* given as JSON so far */
    const struct launch_command *command; /* of a shell script; NULL */
    const char *maker; /* whose accelerators a variable of the script is for, or NULL */
    const struct value_item *kept;   /* turns recomputation off, whatever the default */
    const struct value *fabric;      /* of `fabric run`; NULL: none is left */
    const struct value_item *loaded; /* the batch of a loader of the text's own that
                                        DeepSpeed's engine is handed; NULL */
    const struct launch_heard *heard; /* of the items that rows took */
};

/* launch_idle.c: names that nothing is made of, as notes "PREFIXwithout effect here:
 * NAME, NAME", none of them cut off. */
struct launch_idle {
    struct launch *l;
    int64_t line;
    const char *prefix;
    struct strbuf names;
    bool open; /* whether they have an effect is not known */
};
void launch_idle_init(struct launch_idle *idle, struct launch *l, int64_t line,
                      const char *prefix);
void launch_idle_add(struct launch_idle *idle, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void launch_idle_end(struct launch_idle *idle);

/* An empty context for a file. */
void launch_begin(struct launch_context *t, struct launch *l);

/* launch_notes.c: what the reader of Python noted. */
void launch_take_python_notes(struct launch *l, const struct python *p);

/* The longest row of such a table that an id fits, and what of the id its "*" is; without
 * JSON: there is none. */
struct cfg launch_names_row(struct launch_context *t, const char *table, const char *id,
                            const char **rest);
/* What models/launch/names.json has under that name. */
struct cfg launch_names(struct launch_context *t, const char *table);

/* How much was taken and said so far: an item after which it is more did something. */
int64_t launch_said(const struct launch_context *t);
void launch_hear(struct launch_context *t, const struct value_item *it); /* or NULL */
bool launch_is_heard(const struct launch_context *t, const struct value_item *it);
/* Whether a value is none, false, or no more than 0: it asks for nothing. */
bool launch_is_off(const struct value *v);

/* Hyperparameters are spelled with "-" or "_". */
bool launch_same_word(const char *a, const char *b);

/* The newest hyperparameter of that name; NULL. */
const struct value_item *launch_hyper(const struct launch_context *t, const char *name);

/* Takes what a dictionary (NULL: the hyperparameters) has of the rows, where nothing
 * was taken so far. */
void launch_take_rows(struct launch_context *t, const struct dialect_option *rows,
                      const struct value *dict);

/* Leaves out, with a note, what of the job the scenario cannot have as written:
 * epochs without samples, a job without a length, data without a size. After
 * `--set`. */
void launch_settle_job(struct launch *l, struct cfg root);

/* Names, in a note, what of the job could be taken and was not understood. */
void launch_leave_out(struct launch_context *t, const struct value_item *it,
                      const char *wanted);

/* What was set at a pointer and below is no longer shown: another value takes its
 * place, or none. */
void launch_forget(struct launch_context *t, const char *pointer);
/* Likewise with the value, for a question in its place. */
void launch_take_back(struct launch_context *t, const char *pointer);

/* Sets a field (the reference is stolen) and remembers where it came from. */
void launch_set(struct launch_context *t, const char *pointer, json_t *value,
                const struct value_item *from);
bool launch_has(const struct launch_context *t, const char *pointer);
bool launch_is_unresolved(const struct launch_context *t, const char *pointer);
void launch_add_unresolved(struct launch_context *t, const char *pointer, int64_t line,
                           const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* What may well answer the question of that field, where it is asked. */
void launch_add_example(struct launch_context *t, const char *pointer,
                        const char *example);
/* The same of a value that is not known, which the word `from` gives. */
void launch_add_unknown(struct launch_context *t, const char *pointer, const char *from,
                        const struct value *v);
/* Which parameters an option freezes, where neither it nor anything else says so; nothing
 * where adapters are trained. */
void launch_ask_frozen(struct launch_context *t, const struct value_item *it);
void launch_note(struct launch *l, int64_t line, enum diag_code code, const char *fmt,
                 ...) __attribute__((format(printf, 4, 5)));

/* The place of an error (config/diag.h): a line and a column, of which 0 is none; what
 * no line of a shell script has is of --set /shell. */
struct diag launch_diag(const struct launch *l, enum diag_code code, int64_t line,
                        int64_t column);

/* The place of what a script's language does not allow (base/err.h). */
struct err;
struct diag launch_syntax(const struct launch *l, const struct err *err);

/* The unresolved field at a pointer, or NULL. */
const struct launch_unresolved *launch_unresolved_of(const struct launch *l,
                                                     const char *pointer);

/* Whether the scenario has a value there, and no null. */
bool launch_is_set(struct cfg root, const char *pointer);

/* A value as JSON, its places remembered; what is not known inside is left out and
 * doubted. NULL when nothing is known. */
json_t *launch_json(struct launch_context *t, const struct value *v,
                    const char *pointer);

/* A JSON pointer with one more segment. */
const char *launch_pointer(struct launch_context *t, const char *pointer,
                           const char *key);

/* A whole number, also one in quotes, as hyperparameters travel. */
bool launch_whole(const struct value *v, int64_t *n);
bool launch_real(const struct value *v, double *x); /* finite; likewise */
bool launch_true(const struct value *v);
/* A switch that may be left out; one that is neither true nor false is asked for. */
bool launch_switch(struct launch_context *t, const char *pointer,
                   const struct value_item *it, bool otherwise);
bool launch_is_on(const struct value *dict,
                  const char *key); /* it is there, and true */

/* An option by the name that argparse has it under: "--max-steps" as "max_steps". All of a
 * command's, a dictionary. */
char *launch_argument(struct arena *arena, const char *option);
struct value *launch_arguments(struct arena *arena, const struct value *options);

/* Marks as unresolved a value that is not known, or is no `wanted`. */
void launch_unresolved_item(struct launch_context *t, const char *pointer,
                            const struct value_item *it, const char *wanted);

#endif
