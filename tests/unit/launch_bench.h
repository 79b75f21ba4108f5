/* Readings of launch files: the base of tests of dialects. */
#ifndef TESTS_LAUNCH_BENCH_H
#define TESTS_LAUNCH_BENCH_H

#include "dialect/launch/launch.h"

#include <string.h>

/* Whether a note, a question, an error or a warning has that part. */
static inline bool is_said(const struct launch *l, const char *part)
{
    for (int64_t i = 0; i < l->notes.n; i++)
        if (strstr(l->notes.v[i].text, part))
            return true;
    for (int64_t i = 0; i < l->unresolved.n; i++)
        if (strstr(l->unresolved.v[i].what, part))
            return true;
    for (int64_t i = 0; i < l->loader->diags.n; i++)
        if (strstr(l->loader->diags.v[i].text, part))
            return true;
    return false;
}

#endif
