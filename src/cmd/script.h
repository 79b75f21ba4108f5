/* Launch scripts in place of scenarios, for the commands that take either. */
#ifndef CMD_SCRIPT_H
#define CMD_SCRIPT_H

#include "cmd/options.h"
#include "dialect/launch/launch.h"
#include "scenario/scenario.h"

#include <stdio.h>

struct script_options {
    /* NULL: none; those of "/shell/NAME" are variables of a shell script */
    const struct option_list *sets;
    const char *estimator; /* NULL: the last */
    FILE *log;             /* gets the fields that were imported, a line each; NULL:
                              nobody */
    json_t *notes;         /* gets the notes as findings; NULL: nobody */
    /* changes the scenario before what it lacks is asked for; NULL: nothing */
    int (*prepare)(struct cfg root, void *arg);
    void *arg;
};

/* Loads the scenario in a launch script, gives it to `take`, and prints what was taken
 * where that works; what is missing is printed on standard error. -1 after
 * reporting. */
int script_read(struct cfg *root, struct cfg_loader *loader, const char *file,
                const struct script_options *how,
                int (*take)(struct cfg_loader *loader, struct cfg root, void *arg),
                void *arg);

/* What was taken, a line a field, and what else there is to say. */
void script_print(FILE *out, const struct launch *l);

/* The notes alone, as findings at the end of an array; NULL: nothing is done. */
void script_notes(json_t *list, const struct launch *l);

/* Reads a scenario, from a launch script or from its own file; *root is its tree. */
int script_scenario(struct scenario *s, struct cfg *root, struct cfg_loader *loader,
                    const char *name, const struct script_options *how);

#endif
