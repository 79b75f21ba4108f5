/* What comes before "=" in Python source; private to the files of dialect/source. */
#ifndef DIALECT_PYTHON_PYTHON_TARGET_H
#define DIALECT_PYTHON_PYTHON_TARGET_H

#include "dialect/python/python_parse.h"

enum { PYTHON_KEYS_MAX = 8 };

/* name, name.attribute, name["key"]["key"], name[0].attribute, *name. */
struct python_target {
    const char *name;
    int n_keys;
    const char *keys[PYTHON_KEYS_MAX]; /* NULL: not known */
    const struct value *either;        /* what the last is, where it is not known */
    bool starred;                      /* all that the others leave */
    const char *beyond;                /* "attribute" after keys; NULL: none */
    struct value *of;                  /* whose that is, where it is known */
    int64_t line;
};

/* A name at the token, and no keyword that begins a value. */
bool python_at_name(const struct python_parser *r);
/* One at the parser; false: it is none, the parser anywhere. */
bool python_read_target(struct python_parser *r, struct python_target *t);
/* What a target's path is bound to, or is a member of: "args" of args.names. */
struct value *python_holder(struct python_parser *r, const char *path,
                            const char **key);
/* x.requires_grad = False: an attribute of a wanted name, kept as a call that is given the
 * value. */
void python_record_attribute(struct python_parser *r, const struct python_target *t,
                             struct value *v);
/* Sets what is beyond keys, if anything is; false: nothing is. */
bool python_assign_beyond(struct python_parser *r, const struct python_target *t,
                          struct value *v);
/* What a target holds now, or NULL. */
struct value *python_target_value(struct python_parser *r,
                                  const struct python_target *t);

#endif
