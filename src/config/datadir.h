/* Where the program's own data files are: models/, topologies/, scenarios/, validate/.
 *
 * $SMSIM_DATA when set; else the nearest of the three directories above the executable
 * or libsmsim.so that is the data (build/smsim -> the repository) or has them in
 * share/smsim (/usr/bin/smsim -> /usr/share/smsim); else the one fixed at build
 * time. */
#ifndef CONFIG_DATADIR_H
#define CONFIG_DATADIR_H

#include "base/err.h"
#include "config/cfg.h"

/* The root directory, in the arena. */
const char *datadir_root(struct arena *arena);

/* The file for what a user named: `name` itself when it has a '/' or ends in ".json",
 * else ROOT/dir/name.json. */
const char *datadir_file(struct arena *arena, const char *dir, const char *name);

/* A name as ROOT/dir has it where it differs in case, blanks and signs alone ("RTX 4090" is
 * "RTX-4090"); else itself. */
const char *datadir_spelling(struct arena *arena, const char *dir, const char *name);

/* Sorted names (without ".json") of the files in ROOT/dir; NULL ends the list. None
 * where the directory cannot be read, which datadir_check reports. */
const char **datadir_list(struct arena *arena, const char *dir);
int datadir_check(struct arena *arena, const char *dir, struct err *err);

/* Loads the named file; when there is none, reports an error at `where` that lists the
 * nearest name (without a place where `where` is {0}), and the value is absent. */
struct cfg datadir_load(struct cfg_loader *loader, const char *dir, const char *name,
                        struct cfg where);

#endif
