#include "scenario/assumed.h"

#include <string.h>

static struct assumption *row_of(struct assumptions *a, struct arena *arena,
                                 const char *pointer)
{
    for (int32_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].pointer, pointer) == 0)
            return &a->v[i];
    if ((a->n & (a->n - 1)) == 0) { /* 0, 1, 2, 4, ...: the table is full */
        struct assumption *more =
            ARENA_ARRAY(arena, a->n ? 2 * a->n : 1, struct assumption);
        if (a->n)
            memcpy(more, a->v, (size_t)a->n * sizeof(*more));
        a->v = more;
    }
    return &a->v[a->n++];
}

void assumptions_add(struct assumptions *a, struct arena *arena, const char *pointer,
                     const char *value, const char *why)
{
    *row_of(a, arena, pointer) = (struct assumption) { pointer, value, why };
}

void assumptions_text(struct strbuf *out, const struct assumptions *a)
{
    for (int32_t i = 0; i < a->n; i++) {
        const struct assumption *x = &a->v[i];
        strbuf_printf(out, "%s%s=%s", i ? ", " : "", x->pointer, x->value);
        if (x->why[0])
            strbuf_printf(out, " (%s)", x->why);
    }
}

json_t *assumptions_json(const struct assumptions *a)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < a->n; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s}", "pointer", a->v[i].pointer,
                                        "value", a->v[i].value, "why", a->v[i].why));
    return list;
}
