/* Shared by the writers of dialects and the drive (see emit.h). */
#ifndef DIALECT_EMIT_EMIT_PARTS_H
#define DIALECT_EMIT_EMIT_PARTS_H

#include "dialect/dialect.h"
#include "dialect/emit/emit_scenario.h"

/* What a difference of a field makes. */
enum emit_weight {
    EMIT_JOB,     /* another job: refused */
    EMIT_DECIDES, /* named, and given by --set; what follows may follow of it */
    EMIT_WORD,    /* for writers alone: not compared */
    EMIT_DETAIL   /* named, and given by --set */
};

/* A field of a scenario as it was decided. */
struct emit_field {
    const char *pointer;
    enum emit_weight weight;
    json_t *(*value)(
        const struct scenario *s); /* in a scenario's words; null: absent */
};

/* The dictionary of the launcher, which holds NCCL to Simple over EFA. */
#define EMIT_LAUNCHER "/distribution"

/* The fields that decide a step, which a row without a pointer ends. */
extern const struct emit_field emit_fields[];

/* Likewise a model's, in the words of model_type "megatron"; defaults are null. */
extern const struct emit_field emit_model_fields[];

/* The value of a field (a new reference); NULL: there is no such field. */
json_t *emit_value(const struct scenario *s, const char *pointer);
/* The same as a whole number; 0 of what is none. */
int64_t emit_whole(const struct scenario *s, const char *pointer);

/* Whether the models have the same sizes and choices, as far as the step depends on
 * them. */
bool emit_same_model(const struct scenario *a, const struct scenario *b);

/* What a writer is given. */
struct emit_source {
    const struct scenario *s;
    struct cfg root; /* as it was read */
};

/* Each adds its text without the header; -1 after err_set. */
int emit_sagemaker(struct strbuf *out, const struct emit_source *e, struct err *err);
int emit_megatron(struct strbuf *out, const struct emit_source *e, struct err *err);
int emit_deepspeed(struct strbuf *out, const struct emit_source *e, struct err *err);
int emit_trainer(struct strbuf *out, const struct emit_source *e, struct err *err);
/* The scenario itself. */
int emit_tree(struct strbuf *out, const struct emit_source *e, struct err *err);

/* DeepSpeed's configuration as a tree, for a file or within hyperparameters. */
json_t *emit_deepspeed_tree(const struct scenario *s);

/* The Trainer's arguments by name (a new tree), as the table of hyperparameters reads
 * them; -1 after err_set. */
int emit_trainer_arguments(json_t **out, const struct emit_source *e, struct err *err);

/* Gives each option that is written, in the order of the tables, to `put`, which takes
 * the value. */
void emit_options(const struct dialect_table *tables, const struct scenario *s,
                  void (*put)(void *arg, const char *path, const char *name,
                              json_t *value),
                  void *arg);

/* "export NCCL_ALGO=Ring" of each variable. */
void emit_exports(struct strbuf *out, const struct scenario *s);
/* "torchrun --nnodes 2 --nproc_per_node 8 SCRIPT \" */
int emit_torchrun(struct strbuf *out, const struct scenario *s, const char *script,
                  struct err *err);
/* A word as a shell takes it. */
void emit_word(struct strbuf *out, const char *word);

#endif
