/* Configurations that a command names, with what its words put in place of their values:
 * "train.py x.yaml train_loader.dataset.split=val", "tune run ... --config x batch_size=4",
 * as OmegaConf merges them (dotlists; interpolations are resolved after). */
#ifndef DIALECT_LAUNCH_LAUNCH_OVERRIDE_H
#define DIALECT_LAUNCH_LAUNCH_OVERRIDE_H

#include "dialect/launch/launch_context.h"

enum { LAUNCH_OVERRIDE_DEPTH_MAX = 12 };

struct launch_command;

/* The word after the script that names a YAML or TOML file: the value of an option that
 * has "config" in its name, or of -c, or the first without an option; its text without "--x=".
 * false: there is none. */
struct launch_named {
    const struct shell_word *word;
    const char *text;
};
bool launch_names_document(const struct launch_command *c, struct launch_named *out);

/* A file of that name next to the script, or one that it writes itself, interpolations
 * as they are written and all lines `line`; NULL: it is not there, or no dictionary.
 * Reports nothing. */
struct value *launch_open_document(struct launch *l, const struct launch_command *c,
                                   const char *name, int64_t line);

/* The text of a file that the script writes itself, or a notebook's cells; NULL. `s`: the
 * script, or NULL. */
struct shell;
const char *launch_written_text(const struct launch *l, const struct shell *s,
                                const char *name);

/* The path of a file next to the script. A path of elsewhere ("/workspace/x.yaml") is
 * the file of that name there, which is said once; NULL: there is none. */
const char *launch_path_next_to(struct launch *l, const char *name, int64_t line);

/* Reports what a command names and nobody has: without it nothing is known but the
 * command's own words. `what` says what to do. */
void launch_lost(struct launch *l, const char *name, int64_t line, const char *what);

/* Sets the value at a path "a.b.c", dictionaries on the way made where there are none. A
 * word for a section that has a component is the component's (torchtune/config/_utils.py,
 * _merge_yaml_and_cli_args). */
void launch_override(struct arena *arena, struct value *root, const char *path,
                     const struct shell_word *w, const char *text);

void launch_override_value(struct arena *arena, struct value *root, const char *path,
                           const struct value *v);

/* The same of all members of an object, whose keys are paths; all lines `line`. */
void launch_override_members(struct arena *arena, struct value *root, struct cfg from,
                             int64_t line);

/* The same of all words KEY=VALUE after the script ("+" or "++" before the key adds),
 * and "~KEY", which takes a key away. */
void launch_take_overrides(struct arena *arena, struct value *root,
                           const struct launch_command *c);

/* Names the command's options as without effect, but those with `but` in their names. */
void launch_note_options(struct launch_context *t, const struct launch_command *c,
                         const char *but);

/* Resolves interpolations, those that failed in a document around it, too. */
void launch_interpolate(struct launch *l, struct value *root);

#endif
