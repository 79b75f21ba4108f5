/* Libraries that few commands need, loaded when one does: those of figures, servers and
 * databases bring in thirty others, whose loading takes longer than a simulation. Their
 * functions are members of a table:
 *
 *     #define FUNCTIONS(F) F(create) F(destroy)
 *     #define MEMBER(name) LATE_MEMBER(cairo_##name, name)
 *     #define PLACE(name)  LATE_PLACE(cairo_##name, &cairo.name)
 *
 *     static struct { FUNCTIONS(MEMBER) } cairo;
 *     static const struct late_function functions[] = { FUNCTIONS(PLACE) };
 *     static struct late_library library = LATE_LIBRARY("libcairo.so.2", functions);
 *
 * In a static program (SMSIM_STATIC) they are linked as all others are. */
#ifndef BASE_LATE_H
#define BASE_LATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef void (*late_address)(void);

/* A function of the library, and where its address goes. */
struct late_function {
    const char *name;
    late_address *at;
    late_address linked; /* NULL, but in a static program */
};

#define LATE_MEMBER(function, name) __typeof__(function) *name;
#ifdef SMSIM_STATIC
#define LATE_PLACE(function, place) \
    { #function, (late_address *)(place), (late_address)(function) },
#else
#define LATE_PLACE(function, place) { #function, (late_address *)(place), NULL },
#endif

/* A library and its functions, looked for once by whichever thread comes first. */
struct late_library {
    const char *name;
    const struct late_function *functions;
    size_t n;
    pthread_mutex_t lock;
    bool tried;
    char *missing; /* what the system says of what is not there; NULL: all is */
};

#define LATE_LIBRARY(name, table)                            \
    {                                                        \
        (name), (table), sizeof(table) / sizeof((table)[0]), \
            PTHREAD_MUTEX_INITIALIZER, false, NULL           \
    }

/* Finds all functions in the library, which stays loaded. NULL, or `missing`, which
 * stays the library's. Any thread may ask. */
const char *late_load(struct late_library *library);

#endif
