/* What a program trains, by its name: models/launch/entry_points.json is the list of
 * those that are known. One that the list does not have is asked for. */
#ifndef DIALECT_LAUNCH_ENTRY_POINTS_H
#define DIALECT_LAUNCH_ENTRY_POINTS_H

#include "dialect/launch/launch_context.h"

struct launch_entry {
    const char *program; /* the pattern that fits; NULL: the list has none */
    const char
        *model; /* of Megatron that it builds: "gpt", "bert", "t5", "mamba"; or NULL */
    const char *task;     /* of /training/task; NULL: the model's own */
    const char *refused;  /* what it does instead of training; NULL: it trains */
    const char *note;     /* of what is approximate; NULL: nothing */
    struct cfg arguments; /* of its adapters, by their words, where none are given */
    int64_t each, longest, decoder, batch; /* as of struct launch_lengths */
    bool assumed; /* that it trains the model's own task is a guess */
};

/* The row of a program, "examples/pretrain_gpt.py". */
struct launch_entry launch_entry_of(struct launch_context *t, const char *path);

/* Sets the task of a program; reports one that is refused, and asks for the task of one
 * that is not known. `from` is what names it. */
void launch_take_entry(struct launch_context *t, const char *path,
                       const struct value_item *from);

/* Whether a program's text is of the kind of transformers' examples, whose copies keep
 * their names and their lengths. */
bool launch_is_example(const char *text);

/* The lengths and the batch that the list has for such a program, where its text is one:
 * what its options leave out. */
void launch_take_example(struct launch_context *t, const char *path, const char *text,
                         int64_t line);

extern const char launch_trains_on_pairs[]; /* a reason: with a reference */

/* The error of a program that trains nothing, or what is not simulated. */
void launch_refuse_entry(struct launch *l, const char *path, const char *refused,
                         int64_t line);

/* The word by which options make a program evaluate and not train: the
 * Trainer's scripts do what do_train, do_eval and do_predict say (transformers,
 * training_args.py). NULL: it may train. Those without the Trainer train always
 * (run_qa_no_trainer.py). And what is said of it. */
const char *launch_evaluates(const struct value *options, const char *program);
const char *launch_why_evaluates(struct arena *arena, const char *word);

/* Whether a program is called a training, as train.py and finetune_x.py are: it may train
 * whatever such options say. */
bool launch_is_called_training(const char *program);

#endif
