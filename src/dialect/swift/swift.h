/* ms-swift's arguments: options of `swift sft`, `swift pt` and `megatron sft`, or the
 * document that they name. Keys and defaults: modelscope/ms-swift of 2026-08
 * (swift/arguments, swift/megatron/arguments, swift/cli/main.py, swift/config,
 * swift/trainers/arguments.py); words of its versions 2 and 3, too.
 *
 * Files of this folder:
 *     swift           the dialect; its Trainer's arguments; processes
 *     swift_megatron  Megatron-SWIFT: Megatron's options with defaults of its own */
#ifndef DIALECT_SWIFT_SWIFT_H
#define DIALECT_SWIFT_SWIFT_H

#include "dialect/dialect.h"

bool swift_recognises(const struct dialect_input *in);
void swift_read(struct launch_context *t, const struct dialect_input *in);
extern const struct dialect_table swift_tables[];

/* Of the whole scenario: a frozen tower, experts that are shared. */
void swift_settle(struct launch *l, struct cfg root);

/* Rows of both: the task, the method of training on pairs or rollouts. */
void swift_take_task(struct launch_context *t, const struct dialect_option *row,
                     const struct value_item *it);
void swift_take_method(struct launch_context *t, const struct dialect_option *row,
                       const struct value_item *it);

/* Arguments by the names of the newest version. */
struct value *swift_renamed(struct launch_context *t, const struct value *given);

/* Instances and GPUs, by variables of the command's environment. */
struct launch_command;
void swift_take_processes(struct launch_context *t, const struct launch_command *c);

/* swift_megatron.c: whether a document's keys, or a command's program are of it; reads
 * it (the command may be NULL). */
bool swift_megatron_is(const struct value *v);
bool swift_megatron_starts(const struct launch_command *c);
void swift_megatron_read(struct launch_context *t, const struct launch_command *c,
                         const struct value *given);

#endif
