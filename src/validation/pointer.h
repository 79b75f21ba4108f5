/* JSON pointers into trees: what a mapping reads of a result, and what it sets in a
 * scenario. A name without a leading '/' is a member of the root. */
#ifndef VALIDATION_POINTER_H
#define VALIDATION_POINTER_H

#include "base/err.h"

#include <jansson.h>

/* The value there (borrowed), or NULL. */
json_t *pointer_get(json_t *root, const char *pointer);

/* Puts a value (its reference is stolen, also on failure) at the pointer. Objects that
 * are missing on the way are made; elements of arrays must exist. */
int pointer_set(json_t *root, const char *pointer, json_t *value, struct err *err);

#endif
