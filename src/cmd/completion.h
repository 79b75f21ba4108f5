/* Completion of command lines by bash, zsh and fish: `smsim --completion SHELL` prints a
 * script, made from the same rows as --help. A script has a begin, a part a command, and
 * an end. Names of scenarios, models and instances are asked of smsim when they are
 * needed. */
#ifndef CMD_COMPLETION_H
#define CMD_COMPLETION_H

#include "cmd/manual.h"

/* -1: there is no such shell. */
int completion_begin(const char *shell, const struct manual_row *commands);
int completion_command(const char *shell, const struct usage *usage);
int completion_end(const char *shell);

#endif
