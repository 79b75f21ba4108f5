/* Functions of Python and of its library between their files: python_number.c,
 * python_list.c, python_library.c. */
#ifndef DIALECT_PYTHON_PYTHON_BUILTIN_H
#define DIALECT_PYTHON_PYTHON_BUILTIN_H

#include "dialect/python/python_parse.h"

struct python_arguments {
    struct value *all;
    struct value *first, *second, *third; /* NULL: not given */
    int64_t line;
};

/* A function by its path; "*Name" is one of any path that ends so. */
struct python_function_row {
    const char *name; /* NULL ends the rows */
    struct value *(*call)(struct python_parser *r, const struct python_arguments *a);
};

extern const struct python_function_row python_numbers[], python_lists[],
    python_library[];

/* python_hydra.c: what hydra.main(config_path=..., config_name=...) gives the function
 * that follows. */
struct value *python_hydra_main(struct python_parser *r,
                                const struct python_arguments *a);

/* An argument by its place, else by its name; NULL: it is not given. */
struct value *python_placed(const struct python_arguments *a, struct value *placed,
                            const char *name);

/* Not known, and why of the argument's, if that is not. */
struct value *python_lost(struct python_parser *r, const struct python_arguments *a,
                          const char *what);

#endif
