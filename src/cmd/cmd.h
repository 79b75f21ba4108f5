/* The subcommands: one file each, all of the same shape. They alone (with main.c) print
 * and decide on exit codes.
 *
 * Files of this folder:
 *     cmd_*: one subcommand each
 *     options, script: tables of options; files that users bring
 *     collective_*, cmd_topology_import, validate_*: parts of one subcommand each */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "config/cfg.h"

enum {
    EXIT_DONE = 0,
    EXIT_UNFIT = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_INPUT = 3,
    EXIT_FAULT = 5,    /* of the program's own */
    EXIT_STOPPED = 130 /* by Ctrl-C, with what there was by then */
};

/* argv[0] is the subcommand's name; the result is the exit code. */
int cmd_simulate(int argc, char **argv);
int cmd_collective(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_ranks(int argc, char **argv);
int cmd_partition(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_pilot(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_model(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_serve(int argc, char **argv);

/* Prints what a key of a file means: its pointer or its name; the exit code. Where
 * there is no such key, the nearest of keys and commands is named. */
int cmd_help(const char *word, const struct name_value *commands);

/* The document of a scenario (a file, "-" for standard input, or the name of a shipped
 * one) with what --set changes in it (NULL: nothing); absent after reporting. A model's
 * name is refused with the commands that take it. */
struct option_list;
struct cfg cmd_scenario(struct cfg_loader *loader, const char *name,
                        const struct option_list *sets);

/* Progress of long work on a terminal: done/total, rate, time left. Shown from after_s
 * on, ten times a second, and wiped at the end; a callback of those who do the work. */
struct cmd_progress {
    const char *what; /* "points" */
    double after_s, start_s, shown_s;
    double first_s; /* when it was first reported: what comes before has no rate */
};

struct cmd_progress cmd_progress_of(const char *what, double after_s);
void cmd_progress_show(void *progress, int64_t done, int64_t total);

/* Prints the loader's warnings to standard error. */
void cmd_warn(const struct cfg_loader *loader);

/* Prints the loader's errors to standard error, or `err`'s text when set there, and
 * releases the loader; yields EXIT_BAD_INPUT, or EXIT_FAULT where the program
 * failed. */
struct err;
int cmd_fail(struct cfg_loader *loader, const struct err *err);

/* The same of a command that was to write JSON to a path (NULL: it was not), which gets
 * what went wrong (cmd/failure.h). */
int cmd_fail_json(struct cfg_loader *loader, const struct err *err, const char *command,
                  const char *path);

#endif
