/* What every source becomes: Python's literals, a shell's options, JSON, YAML and TOML are
 * values that know their line, and why they are not known where they are not. The dialects
 * take these alone. */
#ifndef DIALECT_SOURCE_VALUE_H
#define DIALECT_SOURCE_VALUE_H

#include "config/cfg.h"

enum value_kind {
    VALUE_NONE,
    VALUE_BOOL, /* integer: 0 or 1 */
    VALUE_INT,
    VALUE_REAL,
    VALUE_STRING,
    VALUE_LIST, /* and tuples */
    VALUE_DICT,
    VALUE_UNKNOWN, /* why; text where a string is known in part, as '{}-a'.format(b) */
};

struct value {
    enum value_kind kind;
    int64_t line;     /* where it was written, from 1 */
    int64_t column;   /* likewise; 0: the source does not say */
    int64_t integer;  /* of INT and BOOL; of UNKNOWN of Python's: 1 is not None */
    double real;      /* of REAL */
    const char *text; /* of STRING */
    const char *why; /* of UNKNOWN: "get_role() is a call"; of a class of Python's: what
                         it derives from, or NULL */
    const char
        *ask;    /* likewise: the variable of a shell that would decide it, or NULL */
    int64_t gap; /* the line of a "..." among the items: some are left out; or 0 */
    int32_t n, cap;
    struct value_item *items; /* of LIST and DICT, in the order of the text */
};

struct value_item {
    const char *key; /* NULL in a list; numbers as text */
    int64_t line;    /* of the key */
    struct value *value;
};

/* What a reader says of a line: what was assumed or passed over. */
struct value_note {
    int64_t line;
    const char *text;
};

/* A value in the arena, all zero but for its kind and place. */
struct value *value_new(struct arena *arena, enum value_kind kind, int64_t line,
                        int64_t column);
struct value *value_new_string(struct arena *arena, const char *text, int64_t line,
                               int64_t column);
struct value *value_new_bool(struct arena *arena, bool on, int64_t line);
/* Not known; `why` is printed into the arena. */
struct value *value_new_unknown(struct arena *arena, int64_t line, int64_t column,
                                const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* One more item at the end; key is NULL in a list, and is not looked up. */
void value_add(struct arena *arena, struct value *container, const char *key,
               int64_t line, struct value *value);

/* Without the item at a place; those after it move up. */
void value_remove(struct value *container, int32_t at);

/* A copy with all inside; NULL when that takes more than *budget values. */
struct value *value_copy(struct arena *arena, const struct value *v, int64_t *budget);

/* A member of a dictionary, or NULL; of anything else NULL, too. */
const struct value_item *value_get(const struct value *dict, const char *key);

/* Its value; likewise NULL. */
struct value *value_member(const struct value *dict, const char *key);

/* A value of a JSON document with its lines. Of more than `most` values NULL, after an
 * error that says `what` to leave out. O(values x text). */
struct value *value_of_json(struct cfg root, int64_t most, const char *what);

/* The keys of a JSON object alone, each with none for its value; NULL of anything else. */
struct value *value_keys_of_json(struct cfg root);

/* All lines of a value moved by so many, or to one. */
void value_move_by(struct value *v, int64_t lines);
void value_move_to(struct value *v, int64_t line);

#endif
