#include "config/diag.h"

#include "base/plain.h"
#include "base/xmalloc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void diags_init(struct diags *d)
{
    *d = (struct diags) { 0 };
    arena_init(&d->arena);
}

void diags_release(struct diags *d)
{
    free(d->warnings);
    arena_release(&d->arena);
    diags_init(d);
}

/* One line, whatever the user's names hold: control characters become '?'. */
static const char *line(struct diags *d, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *s = arena_alloc(&d->arena, (size_t)n + 1, 1);
    vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    plain_make(s);
    return s;
}

void diags_error(struct diags *d, const char *fmt, ...)
{
    if (d->n_errors++ >= DIAG_MAX)
        return;
    va_list ap;
    va_start(ap, fmt);
    d->errors[d->n_errors - 1] = line(d, fmt, ap);
    va_end(ap);
}

bool diags_are_full(const struct diags *d)
{
    return d->n_errors >= DIAG_MAX;
}

void diags_warn(struct diags *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = line(d, fmt, ap);
    va_end(ap);
    for (int64_t i = 0; i < d->n_warnings; i++)
        if (strcmp(d->warnings[i], text) == 0)
            return;
    if (d->n_warnings == d->warnings_cap) {
        d->warnings_cap = d->warnings_cap ? 2 * d->warnings_cap : 8;
        d->warnings =
            xrealloc(d->warnings, (size_t)d->warnings_cap, sizeof(*d->warnings));
    }
    d->warnings[d->n_warnings++] = text;
}

void diags_print_errors(const struct diags *d, FILE *out)
{
    for (int64_t i = 0; i < d->n_errors && i < DIAG_MAX; i++)
        fprintf(out, "%s\n", d->errors[i]);
    if (d->n_errors > DIAG_MAX)
        fprintf(out, "and %" PRId64 " more error%s\n", d->n_errors - DIAG_MAX,
                d->n_errors - DIAG_MAX == 1 ? "" : "s");
}
