/* JSON pointers into trees: what is read of a result, and what is set in a
 * scenario. A name without a leading '/' is a member of the root. */
#ifndef CONFIG_POINTER_H
#define CONFIG_POINTER_H

#include "base/err.h"

#include <jansson.h>

/* The value there (borrowed), or NULL. */
json_t *pointer_get(json_t *root, const char *pointer);

/* Puts a value (its reference is stolen, also on failure) at the pointer. Objects that
 * are missing on the way are made; elements of arrays must exist. */
int pointer_set(json_t *root, const char *pointer, json_t *value, struct err *err);

#endif
