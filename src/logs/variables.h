/* Variables of the environment that logs name: NCCL's own lines ("NCCL_ALGO set by
 * environment to Ring"), and settings as scripts and launchers print them
 * ("NCCL_ALGO=Ring", 'NCCL_ALGO': 'Ring'). The first of each is kept. */
#ifndef LOGS_VARIABLES_H
#define LOGS_VARIABLES_H

#include <stddef.h>
#include <stdint.h>

enum { LOGS_VARIABLES_MAX = 64, LOGS_VARIABLE_TEXT = 48 };

struct logs_variable {
    char name[LOGS_VARIABLE_TEXT], value[LOGS_VARIABLE_TEXT];
};

struct logs_variables {
    int32_t n;
    struct logs_variable of[LOGS_VARIABLES_MAX];
};

/* The value of a variable; NULL: no line names it. */
const char *logs_variable(const struct logs_variables *v, const char *name);

/* Adds those that a line sets. */
void logs_variables_read(struct logs_variables *v, const char *line);

#endif
