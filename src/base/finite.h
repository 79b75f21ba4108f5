/* Numbers that must be numbers: tables of the real members of a result, walked before
 * anything of it is written. Amounts of time, bytes, shares and money are finite and
 * not below 0; what is unknown is said next to the number, not in it. */
#ifndef BASE_FINITE_H
#define BASE_FINITE_H

#include "base/err.h"

#include <stddef.h>

struct finite_field {
    const char *name;   /* as the JSON of the result has it; NULL ends a table */
    size_t at;          /* of a double */
    bool may_be_absent; /* NAN or infinite where nothing is known: no number is
                          written */
};

#define FINITE_ROW(type, member)               \
    {                                          \
#member, offsetof(type, member), false \
    }
#define FINITE_MAY_BE_ABSENT(type, member)    \
    {                                         \
#member, offsetof(type, member), true \
    }

/* -1 with a fault of the program's own set, which names the first member that is wrong
 * ("step_time_s is -nan"), after `what` ("goodput/"; "" for none). */
int finite_check(const struct finite_field *fields, const void *object,
                 const char *what, struct err *err);

/* The same of one number. */
int finite_one(const char *what, const char *name, double v, struct err *err);

#endif
