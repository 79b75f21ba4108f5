/* Options of a dialect as rows: what one is called, which field of a scenario it is,
 * and what becomes of it. One row serves reading, writing, what is said of options
 * without effect, docs/dialects.md and the tests. */
#ifndef DIALECT_OPTION_H
#define DIALECT_OPTION_H

#include "dialect/source/value.h"

#include <jansson.h>

struct launch_context;
struct dialect_option;
struct scenario;

/* What becomes of an option that a file gives. */
enum dialect_class {
    DIALECT_ACTS,        /* a field, or several, are made of it */
    DIALECT_IDLE,        /* a step's time and memory do not depend on it */
    DIALECT_UNSIMULATED, /* they do, and it is not simulated */
    DIALECT_REFUSED,     /* the file is refused; `why` says for what */
};

/* The values of an option that is a field on its own. */
enum dialect_kind {
    DIALECT_OWN,         /* `take` reads it, or a function that reads several */
    DIALECT_WHOLE,       /* a whole number; none says nothing */
    DIALECT_POSITIVE,    /* likewise; 0 and less say nothing */
    DIALECT_SIZE,        /* a whole number of at least 1 */
    DIALECT_DEGREE,      /* likewise; 1 says nothing */
    DIALECT_NORM,        /* a number of at least 0 */
    DIALECT_PROBABILITY, /* a number from 0 to 1 */
    DIALECT_TEXT,        /* the word as it is */
    DIALECT_WORD,        /* one of `words` */
    DIALECT_FLAG,        /* given without a value: `value` */
    DIALECT_SWITCH,      /* true or false; where it is true, `value` */
};

/* A word of the dialect and the scenario's; of several for one value the first is
 * written. "*" at the end represents any rest, and is not written. */
struct dialect_word {
    const char *word, *value;
};

struct dialect_option {
    const char *name;    /* "*" at the end represents any rest; NULL ends a table */
    const char *pointer; /* of the field; NULL: several, or none */
    enum dialect_class class;
    enum dialect_kind kind;
    const struct dialect_word *words; /* one without a word ends them */
    const char *value;                /* of FLAG and SWITCH; NULL: true */
    const char *wanted;               /* what a value that is none should have been */
    bool only;    /* without its field the option did nothing, though it was read */
    bool written; /* by this name, of several of the field, the value is written */
    void (*take)(struct launch_context *t, const struct dialect_option *o,
                 const struct value_item *it);
    /* the value as it is written, in place of the field's; NULL: left out */
    json_t *(*give)(const struct scenario *s);
    /* values that ask for nothing; NULL: none, false and 0 */
    bool (*off)(const struct value *v);
    const char *why;
    const char *needs; /* a switch without which it does nothing; NULL: none */
};

/* Rows: ROW("--seq-length", "/training/sequence_length", .kind = DIALECT_SIZE). */
#define ROW(NAME, POINTER, ...)                           \
    {                                                     \
        .name = (NAME), .pointer = (POINTER), __VA_ARGS__ \
    }
#define ROW_ACTS(NAME, POINTER)              \
    {                                        \
        .name = (NAME), .pointer = (POINTER) \
    }
#define ROW_ONLY(NAME, POINTER)                            \
    {                                                      \
        .name = (NAME), .pointer = (POINTER), .only = true \
    }
#define ROW_IDLE(NAME)                        \
    {                                         \
        .name = (NAME), .class = DIALECT_IDLE \
    }
#define ROW_UNSIMULATED(NAME)                        \
    {                                                \
        .name = (NAME), .class = DIALECT_UNSIMULATED \
    }
#define ROW_END      \
    {                \
        .name = NULL \
    }

/* What is said of keys that no row has. */
enum dialect_unknown {
    DIALECT_UNKNOWN_IDLE,        /* named as without effect: scripts have their own */
    DIALECT_UNKNOWN_OPEN,        /* named: what a script makes of it is not known */
    DIALECT_UNKNOWN_NEAR_WARNED, /* a warning where a known name is near, else so */
    DIALECT_UNKNOWN_NEAR_WRONG,  /* an error there, else so */
    DIALECT_UNKNOWN_WARNED,      /* a warning of each */
    DIALECT_UNKNOWN_WRONG,       /* an error there, else a warning */
};

/* The rows of a dictionary; several tables may be of one. */
struct dialect_table {
    const char *path; /* of its keys, "" the file's own; NULL ends the tables */
    const struct dialect_option *options;
    enum dialect_unknown unknown; /* of the first table of the path */
};

/* The one name of the tables of a path that a word begins, as argparse completes an option
 * (argparse.py, allow_abbrev); NULL: it is a name itself, or begins none or several. */
const char *dialect_option_begun(const struct dialect_table *tables, const char *path,
                                 const char *word);

/* The row of a word in the tables of a path: that very word, else the longest pattern;
 * "-" and "_" are the same. NULL: none. */
const struct dialect_option *dialect_option_of(const struct dialect_table *tables,
                                               const char *path, const char *word);

/* Reads a value by its row. */
void dialect_take(struct launch_context *t, const struct dialect_option *o,
                  const struct value_item *it);

/* The same as of another kind, for what `take` leaves to it. */
void dialect_take_as(struct launch_context *t, const struct dialect_option *o,
                     const struct value_item *it, enum dialect_kind kind);

/* What a flag or a switch that is on says (a new reference). */
json_t *dialect_constant(const struct dialect_option *o);

/* Whether a value asks for nothing by its row. */
bool dialect_is_off(const struct dialect_option *o, const struct value *v);
/* Values that ask for nothing: 1 or less too, as of degrees; 1 or more, as of
 * shares. */
bool dialect_off_at_one(const struct value *v);
bool dialect_off_from_one(const struct value *v);

/* The place of a report, what is before it, and before each key. */
struct dialect_place {
    int64_t line;
    const char *prefix, *section; /* "ds.json: ", "zero_optimization." */
    bool heard; /* of rows that act, those that did nothing are named, too */
};

/* Says of each key of the dictionary of a path that did nothing why: without effect,
 * not simulated, refused, not known. None is left out. */
void dialect_report(struct launch_context *t, const struct dialect_table *tables,
                    const char *path, const struct value *dict,
                    struct dialect_place at);

#endif
