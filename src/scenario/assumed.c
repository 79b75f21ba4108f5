#include "scenario/assumed.h"

#include "config/contract.h"

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

bool assumptions_has(const struct assumptions *a, const char *pointer)
{
    for (int32_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].pointer, pointer) == 0)
            return true;
    return false;
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

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("pointer", TEXT, assumption, pointer, "What --set takes."),
    CONTRACT_AT("value", TEXT, assumption, value, "As it was decided."),
    CONTRACT_AT("why", TEXT, assumption, why, "Whose default it is.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_END,
};
/* clang-format on */
const struct contract_object assumption_contract = { "assumption", rows };

json_t *assumptions_json(const struct assumptions *a)
{
    return contract_list(&assumption_contract, a->v, a->n, sizeof(*a->v));
}
