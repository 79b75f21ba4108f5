/* Another program, run to its end. Its standard error is ours, its standard output goes
 * there, too, so that ours stays what the caller writes. */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/err.h"

/* Runs argv[0] (a path; no search) with the arguments after it, NULL at the end.
 * Yields its exit code; -1 with err set where it could not be started, was killed by a
 * signal, or took longer than limit_s, upon which it is ended. */
int child_run(const char *const argv[], double limit_s, struct err *err);

#endif
