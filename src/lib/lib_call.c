#define _GNU_SOURCE /* newlocale of threads */

#include "lib/lib.h"

#include "base/xmalloc.h"

#include <gsl/gsl_errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

static _Thread_local struct lib_call *current;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static locale_t plain_locale;

/* Memory and the process ----------------------------------------------------------- */

/* Of threads of OpenMP's, nothing can be taken back: xmalloc_fail then ends the
 * process. */
static void no_memory(void)
{
    if (current && omp_get_level() == 0)
        longjmp(current->no_memory, 1);
}

/* Within a call a tree that lacks a value would look whole. */
static void *json_memory(size_t size)
{
    void *p = malloc(size);
    if (!p && current)
        xmalloc_fail();
    return p;
}

static void start(void)
{
    json_malloc_t get;
    json_free_t give;
    gsl_set_error_handler_off();
    xmalloc_set_fail(no_memory);
    json_get_alloc_funcs(&get, &give);
    if (get == malloc && give == free)
        json_set_alloc_funcs(json_memory, free);
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Numbers of files have points, whatever the caller's do: in the threads that the call
 * has, too. These were of the process's locale. */
static void take_locale(locale_t own, locale_t threads, bool has_threads)
{
    if (has_threads) {
#pragma omp parallel
        uselocale(threads);
    }
    uselocale(own);
}

/* A call --------------------------------------------------------------------------- */

void lib_call_begin(struct lib_call *c, struct smsim_error *error, int32_t threads)
{
    static const struct err none;
    pthread_once(&started, start);
    c->error = error;
    c->err = none;
    c->outer = current;
    c->has_threads = threads != LIB_ALONE;
    c->threads = omp_get_max_threads();
    if (threads > 0)
        omp_set_num_threads(threads);
    c->locale = uselocale((locale_t)0);
    take_locale(plain_locale, plain_locale, c->has_threads);
    if (error) {
        error->status = SMSIM_OK;
        error->n_errors = 0;
        error->text[0] = '\0';
    }
    cfg_loader_init(&c->loader);
    current = c;
}

static void leave(struct lib_call *c)
{
    current = c->outer;
    take_locale(c->locale, LC_GLOBAL_LOCALE, c->has_threads);
    if (c->has_threads)
        omp_set_num_threads(c->threads);
}

void lib_call_end(struct lib_call *c)
{
    cfg_loader_release(&c->loader);
    leave(c);
}

static void say(struct smsim_error *error, const char *line)
{
    size_t n = strlen(error->text), most = sizeof(error->text);
    if (n + 2 < most)
        snprintf(error->text + n, most - n, "%s%s", n ? "\n" : "", line);
}

void *lib_call_fail(struct lib_call *c)
{
    struct smsim_error *e = c->error;
    if (e) {
        const struct diag *d;
        e->status = c->err.fault ? SMSIM_FAULT : SMSIM_BAD_INPUT;
        e->n_errors = (int32_t)c->loader.diags.n_errors + c->err.set;
        for (int64_t i = 0; (d = diags_get(&c->loader.diags, DIAG_ERROR, i)); i++)
            say(e, diag_text(&c->loader.arena, d));
        if (c->err.set)
            say(e, c->err.text);
    }
    lib_call_end(c);
    return NULL;
}

void *lib_call_refuse(struct lib_call *c, const char *what, const char *value)
{
    if (c->error) {
        c->error->status = SMSIM_BAD_REQUEST;
        c->error->n_errors = 1;
        snprintf(c->error->text, sizeof(c->error->text),
                 value ? "%s: \"%.200s\"" : "%s", what, value);
    }
    lib_call_end(c);
    return NULL;
}

void lib_call_lost(struct lib_call *c)
{
    leave(c);
    if (!c->error)
        return;
    c->error->status = SMSIM_NO_MEMORY;
    c->error->n_errors = 1;
    snprintf(c->error->text, sizeof(c->error->text), "out of memory");
}

char *lib_json(const json_t *tree)
{
    char *text = json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    if (!text)
        xmalloc_fail();
    return text;
}

int32_t lib_count(const char *const *list)
{
    int32_t n = 0;
    while (list && list[n])
        n++;
    return n;
}
