/* Configurations of nested sections, as YAML and TOML have them: each key is read by its
 * path, "training.seq_len". Shared by the dialects of frameworks. */
#ifndef DIALECT_LAUNCH_LAUNCH_CONFIG_H
#define DIALECT_LAUNCH_LAUNCH_CONFIG_H

#include "dialect/launch/launch_context.h"

enum { LAUNCH_PATH_MAX_B = 300 }; /* longer paths stay as they are */

/* All values of a dictionary, those of dictionaries within it by their path. Lists and
 * empty dictionaries are values. O(values). */
struct value *launch_flatten(struct arena *arena, const struct value *root);

/* Begins a configuration: its title and what messages call it. */
void launch_config_title(struct launch_context *t, const char *title);

/* Sets a field that the file leaves open; `what` says whose default it is. The reference
 * is stolen. */
void launch_assume(struct launch_context *t, const char *pointer, json_t *value,
                   const char *what);

/* Sets a field to what the item says, or without one to `what`'s default. The item, or
 * NULL, is heard; the reference is stolen. */
void launch_settle_item(struct launch_context *t, const char *pointer, json_t *value,
                        const struct value_item *it, const char *what);

/* The item at a path, which is heard; NULL where it is none. */
const struct value_item *launch_find(struct launch_context *t, const struct value *flat,
                                     const char *path);

/* A word of the flat dictionary; `otherwise` where it is none. */
const char *launch_word(const struct value *flat, const char *path,
                        const char *otherwise);

/* What models/launch/flavors.json has of a framework under a model's name: a name, or a
 * config.json; absent where it has none. */
struct cfg launch_flavor(struct launch_context *t, const char *framework,
                         const char *name);

#endif
