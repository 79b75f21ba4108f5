/* Names of enum values, as tables: `{ "nvlink", LINK_NVLINK }, ..., { NULL, 0 }`. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>
#include <string.h>

/* Whether two names are the same; most that are not differ in their first letter. */
static inline bool names_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

struct name_value {
    const char *name; /* NULL ends the table */
    int value;
};

/* The first name of that value; "?" when the table has none. */
const char *names_of(const struct name_value *table, int value);

/* 0 and *value when the table has that name, else -1. */
int names_find(const struct name_value *table, const char *name, int *value);

/* Whether a list, which NULL ends, has that very word; NULL is a list without any. */
bool names_listed(const char *const *list, const char *word);

/* Whether a text has one of a list's, which NULL ends, as a part; NULL has none. */
bool names_within(const char *const *list, const char *text);

/* The same in any case. */
bool names_mentioned(const char *const *list, const char *text);

/* Whether a name ends so; each ends in nothing, and in itself. */
bool names_ends(const char *name, const char *end);

/* The name of the table nearest to `word` by edits, or NULL when none is near (more
 * than a third of the longer word would have to change). One that differs only in upper
 * and lower case is nearest of all; of equals, the first of the table. Before more than
 * two edits comes a name that the word goes on from, or that goes on from the word,
 * with "_" or "-": "tensor" of "tensor_model_parallel_size". */
const char *names_nearest(const struct name_value *table, const char *word);

/* Edits (insert, delete, change, swap of neighbours) that turn a into b, in bytes;
 * takes time in the product of their lengths. */
int names_distance(const char *a, const char *b);

#endif
