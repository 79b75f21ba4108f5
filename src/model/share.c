#include "model/share.h"

#include <inttypes.h>

/* A size of a module that its ranks would have to split. */
struct divided {
    const char *what;
    int64_t size;
};

enum { DIVIDED_MAX = 3 };

/* The first size of the module that the degree does not divide; NULL: none. */
static const struct divided *find_obstacle(struct divided rows[DIVIDED_MAX],
                                           const struct model *m,
                                           const struct op_settings *s,
                                           enum op_module module)
{
    bool mlp = module == OP_MLP;
    rows[0] = mlp ? (struct divided) { "intermediate columns", m->mlp.width }
                  : (struct divided) { "attention heads", m->attention.heads };
    rows[1] = mlp ? (struct divided) { NULL, 0 }
                  : (struct divided) { "key-value heads", m->attention.kv_heads };
    rows[2] = (struct divided) { "hidden columns", s->slices ? m->hidden : 0 };
    for (int i = 0; i < DIVIDED_MAX; i++)
        if (rows[i].size % s->tensor)
            return &rows[i];
    return NULL;
}

static bool is_layer(enum op_module module)
{
    return module == OP_ATTENTION || module == OP_MLP;
}

static bool can_split(const struct model *m, const struct op_settings *s,
                      enum op_module module)
{
    struct divided rows[DIVIDED_MAX];
    if (!s->best_effort)
        return true;
    if (!is_layer(module))
        return !s->whole_ends;
    if (m->parallel_residual) /* they share their input and their sum */
        return !find_obstacle(rows, m, s, OP_ATTENTION) &&
               !find_obstacle(rows, m, s, OP_MLP);
    return !find_obstacle(rows, m, s, module);
}

struct share share_of(const struct model *m, const struct op_settings *s,
                      enum op_module module)
{
    struct share whole = { 1, 1, SHARE_ALL };
    if (s->tensor <= 1)
        return whole;
    if (can_split(m, s, module))
        return (struct share) { s->tensor, 1,
                                s->slices && is_layer(module) ? SHARE_SLICE
                                                              : SHARE_ALL };
    if (s->prescaled && is_layer(module))
        return whole;
    return (struct share) { 1, s->tensor, SHARE_OWN };
}

enum share_stream share_between_layers(const struct model *m,
                                       const struct op_settings *s)
{
    return share_of(m, s, OP_MLP).stream;
}

const char *share_obstacle(struct arena *arena, const struct model *m,
                           const struct op_settings *s, enum op_module module)
{
    struct divided rows[DIVIDED_MAX];
    if (s->tensor <= 1 || !s->best_effort || !is_layer(module))
        return NULL;
    const struct divided *row = find_obstacle(rows, m, s, module);
    if (!row && m->parallel_residual)
        row = find_obstacle(rows, m, s, module == OP_MLP ? OP_ATTENTION : OP_MLP);
    return row ? arena_printf(arena, "%" PRId64 " %s", row->size, row->what) : NULL;
}
