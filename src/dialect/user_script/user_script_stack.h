/* A stack of layers that a text builds of its own modules, as far as their sizes say it.
 * Inside of the folder. */
#ifndef DIALECT_USER_SCRIPT_USER_SCRIPT_STACK_H
#define DIALECT_USER_SCRIPT_USER_SCRIPT_STACK_H

#include "dialect/user_script/user_script.h"

struct user_script_stack {
    int64_t vocabulary; /* 0: it reads pictures, or is `open`: not known before */
    int64_t hidden, positions, layers, heads, kv_width, mlp;
    int64_t experts, chosen; /* of a router; 0: there is none */
    int64_t shared;          /* experts that all words go through */
    int64_t classes;         /* of a head that has no vocabulary; 0: there is none */
    int64_t patch, picture;  /* of a picture: pixels of a side; 0: it reads words */
    int64_t line;
    bool gated, causal, sdpa, flash, efficient, open, types;
};

/* false: it is none that is understood. */
bool user_script_read_stack(struct user_script_stack *s, const struct python *p);

/* user_script_sizes.c: a number that is called so, among the members of an object at any
 * depth; of the text's names, settings and objects. 0: there is none, or they differ. */
int64_t user_script_member(const struct value *v, const char *const *names);
int64_t user_script_size(const struct python *p, const char *const *names);

/* user_script_freezes.c: adds the words of /training/frozen for the part of a model that
 * the call freezes whole. false: it is not known. */
bool user_script_freezes(json_t *to, struct arena *arena, const struct python *p,
                         const struct python_call *c);

#endif
