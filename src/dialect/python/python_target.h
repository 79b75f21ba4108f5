/* What comes before "=" in Python source; private to the files of dialect/source. */
#ifndef DIALECT_PYTHON_PYTHON_TARGET_H
#define DIALECT_PYTHON_PYTHON_TARGET_H

#include "dialect/python/python_parse.h"

enum { PYTHON_KEYS_MAX = 8 };

/* name, name.attribute, name["key"]["key"], *name. */
struct python_target {
    const char *name;
    int n_keys;
    const char *keys[PYTHON_KEYS_MAX]; /* NULL: not known */
    const struct value *either;        /* what the last is, where it is not known */
    bool starred;                      /* all that the others leave */
    int64_t line;
};

/* A name at the token, and no keyword that begins a value. */
bool python_at_name(const struct python_parser *r);
/* One at the parser; false: it is none, the parser anywhere. */
bool python_read_target(struct python_parser *r, struct python_target *t);
/* What a target's path is bound to, or is a member of: "args" of args.names. */
struct value *python_holder(struct python_parser *r, const char *path,
                            const char **key);
/* What a target holds now, or NULL. */
struct value *python_target_value(struct python_parser *r,
                                  const struct python_target *t);

#endif
