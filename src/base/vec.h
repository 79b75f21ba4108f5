/* A growable array of any type: `VEC(struct link) links;`, zero-initialised.
 * Elements move when it grows, so nothing may point into one that still does. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/xmalloc.h"

#include <stdint.h>
#include <stdlib.h>

#define VEC(type)                               \
    struct {                                    \
        type *v;        /* the elements */      \
        int64_t n, cap; /* in use, allocated */ \
    }

/* Makes room for one more element and yields a pointer to it. */
#define VEC_ADD(vec)                                                                   \
    ((vec)->n == (vec)->cap ? (void)((vec)->cap = (vec)->cap ? 2 * (vec)->cap : 8,     \
                                     (vec)->v = xrealloc((vec)->v, (size_t)(vec)->cap, \
                                                         sizeof(*(vec)->v)))           \
                            : (void)0,                                                 \
     &(vec)->v[(vec)->n++])

#define VEC_PUSH(vec, value) (*VEC_ADD(vec) = (value))

/* Room for that many more, so that they are added without moving. */
#define VEC_RESERVE(vec, more)                                                   \
    ((vec)->cap - (vec)->n < (int64_t)(more)                                     \
         ? (void)((vec)->cap = (vec)->n + (int64_t)(more) > 2 * (vec)->cap       \
                                   ? (vec)->n + (int64_t)(more)                  \
                                   : 2 * (vec)->cap,                             \
                  (vec)->v =                                                     \
                      xrealloc((vec)->v, (size_t)(vec)->cap, sizeof(*(vec)->v))) \
         : (void)0)

#define VEC_RELEASE(vec) (free((vec)->v), (vec)->v = NULL, (vec)->n = (vec)->cap = 0)

#endif
