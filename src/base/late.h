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
 *
 * In a static program (SMSIM_STATIC) they are linked as all others are. */
#ifndef BASE_LATE_H
#define BASE_LATE_H

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

/* Finds them all in a shared library, which stays loaded. NULL, or what the system says
 * of what is not there, which stays the caller's. One thread at a time for each
 * table. */
char *late_load(const char *library, const struct late_function *functions, size_t n);

#endif
