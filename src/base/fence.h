/* A fence around what the process reads: once something is added, files outside of it
 * are refused. For programs that read for somebody else (smsim serve). Links are seen
 * through: what counts is where a path leads.
 *
 * Not for threads: it is built before they begin. */
#ifndef BASE_FENCE_H
#define BASE_FENCE_H

#include <stdbool.h>

/* A directory with all below it, or a file; what is not there is not added. The fence
 * is up from then on, in any case. */
void fence_add(const char *path);

/* Whether the path leads to something inside, or to nothing; true where there is no
 * fence. Sets errno where not. */
bool fence_allows(const char *path);

#endif
