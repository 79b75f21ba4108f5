/* How much of time a set of intervals covers. Times are ns. */
#ifndef KINETO_SPANS_H
#define KINETO_SPANS_H

#include "base/vec.h"

struct span {
    int64_t start, end;
    int64_t before; /* covered by those before it */
    int64_t launch; /* of the kernel that begins it; INT64_MIN: unknown */
};

struct spans {
    VEC(struct span) v; /* in order, apart from each other */
};

/* Adds an interval; starts do not fall. */
void spans_add(struct spans *s, int64_t start, int64_t end, int64_t launch);

/* What is covered from a time to another. */
int64_t spans_covered(const struct spans *s, int64_t from, int64_t to);

/* The first interval that ends after a time; the number of all: none. */
int64_t spans_after(const struct spans *s, int64_t t);

void spans_release(struct spans *s);

#endif
