/* What the readers of sections say: notes, warnings, and what they assume. */
#include "scenario/parse.h"

#include <stdarg.h>
#include <string.h>

void parse_say(struct parse_context *r, struct cfg c, enum diag_code code,
               const char *what)
{
    struct arena *arena = &r->loader->arena;
    struct scenario *s = r->s;
    const int32_t n = s->n_notes;
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, 8, ...: the array is full */
        struct diag *more = ARENA_ARRAY(arena, n ? 2 * n : 1, struct diag);
        if (n)
            memcpy(more, s->notes, (size_t)n * sizeof(*more));
        s->notes = more;
    }
    s->notes[s->n_notes++] = diag_made(arena, cfg_diag(c, DIAG_NOTE, code), what);
}

void parse_note(struct parse_context *r, struct cfg c, const char *why)
{
    parse_say(r, c, DIAG_WITHOUT_EFFECT,
              arena_printf(&r->loader->arena, "without effect: %s", why));
}

bool parse_is_tensorflow(const struct parse_context *r)
{
    static const char start[] = "tensorflow";
    const char *name = json_string_value(cfg_get(r->training, "framework").json);
    return name && strncmp(name, start, sizeof(start) - 1) == 0;
}

void parse_assume(struct parse_context *r, const char *pointer, const char *value,
                  const char *why)
{
    assumptions_add(&r->s->assumed, &r->loader->arena, pointer, value, why);
}

int parse_unsure(struct parse_context *r, struct cfg c, enum diag_code code,
                 const char *fmt, ...)
{
    enum diag_severity severity = r->strict ? DIAG_ERROR : DIAG_WARNING;
    va_list ap;
    va_start(ap, fmt);
    diags_vadd(&r->loader->diags, cfg_diag(c, severity, code), fmt, ap);
    va_end(ap);
    return r->strict ? -1 : 0;
}
