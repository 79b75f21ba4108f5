/* Commands and documents of frameworks whose kernels and libraries are not simulated. */
#ifndef DIALECT_LAUNCH_FOREIGN_H
#define DIALECT_LAUNCH_FOREIGN_H

#include "dialect/shell/shell.h"

/* The word by which a command starts one, and what to say of it; NULL: it starts none. */
const char *launch_foreign(const struct shell_command *c, const char **why);

/* launch_foreign_document.c: likewise the key of a document that names one. */
struct value;
const struct value_item *launch_foreign_document(const struct value *root,
                                                 const char **what);

#endif
