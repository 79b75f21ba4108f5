/* The words of a shell command as options: --name value, as argparse has them. */
#ifndef DIALECT_LAUNCH_LAUNCH_WORDS_H
#define DIALECT_LAUNCH_LAUNCH_WORDS_H

#include "dialect/dialect.h"
#include "dialect/launch/launch_context.h"
#include "dialect/shell/shell.h"

enum { LAUNCH_LOST_MAX = 60 };

struct launch_words {
    struct launch_context *t;
    struct value dict;
    int64_t *columns;
    struct value letters; /* likewise of one dash: -dp 2 */
    int32_t n_lost;       /* words that may hold any options */
    const struct shell_word *lost[LAUNCH_LOST_MAX];
};

/* Fills the dictionary by the words from there on; of an option given twice the last
 * counts. */
void launch_take_options(struct launch_words *o, const struct shell_command *c,
                         int32_t from);

/* Names the words that are not known, and are where options are expected; and options of
 * one dash, where the dialect has none and no text of the program's is read. */
void launch_note_lost(const struct launch_words *o, const struct dialect *d);

#endif
