/* What the readers of sections say: notes, doubts, and what they assume. */
#include "scenario/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* clang-format on */

void parse_say(struct parse_context *r, struct cfg c, const char *what)
{
    struct arena *arena = &r->loader->arena;
    struct scenario *s = r->s;
    const int32_t n = s->n_notes;
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, 8, ...: the array is full */
        const char **more = ARENA_ARRAY(arena, n ? 2 * n : 1, const char *);
        if (n)
            memcpy(more, s->notes, (size_t)n * sizeof(*more));
        s->notes = more;
    }
    s->notes[s->n_notes++] = arena_printf(arena, "%s: %s", c.path, what);
}

void parse_note(struct parse_context *r, struct cfg c, const char *why)
{
    parse_say(r, c, arena_printf(&r->loader->arena, "without effect: %s", why));
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

int parse_unsure(struct parse_context *r, struct cfg c, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (r->strict)
        return cfg_error(c, "%s", text);
    cfg_warn(c, "%s", text);
    return 0;
}
