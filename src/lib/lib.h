/* What the functions of libsmsim share: the begin and the end of a call, its errors, jobs.
 *
 * Files of this folder:
 *     smsim.h, smsim.map                  what programs include; the exported names
 *     lib_call                            locale, memory and errors of a call
 *     lib_job                             jobs: read, checked, changed
 *     lib_simulate, lib_plan, lib_compare the commands as functions */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include "base/err.h"
#include "config/cfg.h"
#include "lib/smsim.h"

#include <locale.h>
#include <setjmp.h>

struct smsim_job {
    char *name; /* as it was asked for */
    char *file; /* in messages: a path */
    char *text; /* of a scenario's file; NULL: `tree` is all there is */
    size_t length;
    char **sets; /* changes of the text */
    int32_t n_sets;
    json_t *tree; /* of the scenario with its changes; it does not change */
    bool script;  /* a launch script's or a configuration's */
    char *json, *warnings;
};

/* A call under way: what it reads, its error, what it puts back. Memory of the call is in
 * the loader. */
struct lib_call {
    struct smsim_error *error;
    struct cfg_loader loader;
    struct err err;
    locale_t locale; /* the caller's */
    int threads;     /* likewise, of OpenMP */
    bool has_threads;
    jmp_buf no_memory;
    struct lib_call *outer; /* of this thread; NULL */
};

enum { LIB_ALONE = -1 }; /* threads of a call that runs in its caller's; 0: all cores */

/* Between both, an allocation that fails goes on at the end of the setjmp that
 * LIB_BEGIN has. */
void lib_call_begin(struct lib_call *c, struct smsim_error *error, int32_t threads);
void lib_call_end(struct lib_call *c);

/* The end of a call that fails: by the loader's errors and c->err. NULL, as below. */
void *lib_call_fail(struct lib_call *c);

/* The end of a call whose request is wrong. */
void *lib_call_refuse(struct lib_call *c, const char *what, const char *value);

/* The end of a call that lost memory. */
void lib_call_lost(struct lib_call *c);

/* Begins a call that gives NULL where it fails. */
#define LIB_BEGIN(c, error, threads)         \
    lib_call_begin((c), (error), (threads)); \
    if (setjmp((c)->no_memory)) {            \
        lib_call_lost(c);                    \
        return NULL;                         \
    }

/* The scenario of a job, as a document of the call's loader: of its text, where it has
 * one, so that messages have their places. */
struct cfg lib_job_root(struct lib_call *c, const struct smsim_job *job);

/* A tree as --json writes it: a string of malloc. */
char *lib_json(const json_t *tree);

/* How many a list that NULL ends has; NULL: none. */
int32_t lib_count(const char *const *list);

#endif
