/* Manual pages: `smsim --man` and `smsim COMMAND --man` print them as roff. */
#ifndef CMD_MANUAL_H
#define CMD_MANUAL_H

#include "cmd/options.h"

#include <stdbool.h>

/* The page of one command, from its usage and its rows of options. */
void manual_command(const struct usage *usage);

struct manual_row {
    const char *name, *summary; /* NULL ends the list */
};

/* The page of the program: all commands. */
void manual_program(const struct manual_row *rows);

#endif
