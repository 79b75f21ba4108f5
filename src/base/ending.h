/* What is removed when the program ends before its work is done: temporary files and
 * directories, and a program that it runs.
 *
 * A signal's handler may do no more than system calls, so that what is to be removed is
 * kept in a table of fixed size. More than that is not removed by a signal, but by those
 * who registered it. Threads may share the table. */
#ifndef BASE_ENDING_H
#define BASE_ENDING_H

#include <sys/types.h>

/* From now on SIGHUP, SIGINT, SIGPIPE, SIGTERM and SIGXCPU, where they are not ignored,
 * end the program after what is registered is removed. A file beyond the limit of size
 * (SIGXFSZ) becomes an error of writing. For main alone. */
void ending_watch(void);

/* Registers a file, or a directory of files; the path stays the caller's, and has to be
 * taken off again before it is freed. */
void ending_add_file(const char *path);
void ending_add_dir(const char *path);
void ending_drop(const char *path);

/* Registers the program that is run (0: none any more): it gets SIGTERM. */
void ending_set_child(pid_t child);

/* Removes what is registered; no more than system calls. */
void ending_clean(void);

#endif
