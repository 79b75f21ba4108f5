#include "sweep/sweep_assumed.h"

#include "scenario/scenario.h"
#include "sweep/sweep_point.h"

#include <string.h>

enum { POINTS_MOST = 256 };

/* Whether a list "a or b" has the value. */
static bool lists(const char *list, const char *value)
{
    const size_t n = strlen(value);
    for (const char *at = list; at; at = strstr(at, " or ")) {
        at += at == list ? 0 : strlen(" or ");
        if (strncmp(at, value, n) == 0 && (!at[n] || strncmp(at + n, " or ", 4) == 0))
            return true;
    }
    return false;
}

static const struct assumption *find(const struct assumptions *a, const char *pointer)
{
    for (int32_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].pointer, pointer) == 0)
            return &a->v[i];
    return NULL;
}

static void add(struct assumptions *out, struct arena *arena,
                const struct assumption *row)
{
    const struct assumption *before = find(out, row->pointer);
    if (!before)
        assumptions_add(out, arena, arena_strdup(arena, row->pointer),
                        arena_strdup(arena, row->value), arena_strdup(arena, row->why));
    else if (!lists(before->value, row->value))
        assumptions_add(out, arena, before->pointer,
                        arena_printf(arena, "%s or %s", before->value, row->value), "");
}

static void add_point(struct assumptions *out, const struct sweep *s,
                      struct arena *arena, int64_t point)
{
    struct cfg_loader loader;
    struct scenario scenario = { 0 };
    struct err err = { 0 };
    cfg_loader_init(&loader);
    json_t *tree = sweep_point_scenario(s, point, &err);
    if (tree && scenario_read(&scenario, &loader,
                              cfg_from_tree(&loader, "scenario", tree)) == 0)
        for (int32_t i = 0; i < scenario.assumed.n; i++)
            add(out, arena, &scenario.assumed.v[i]);
    cfg_loader_release(&loader);
}

void sweep_assumed(struct assumptions *out, const struct sweep *s, struct arena *arena)
{
    int64_t stride = 1, left = POINTS_MOST;
    if (s->n_points == 0)
        return;
    add_point(out, s, arena, 0);
    for (int32_t axis = s->n_axes; axis-- > 0; stride *= s->axes[axis])
        for (int64_t i = 1; i < s->axes[axis] && left > 0; i++, left--)
            add_point(out, s, arena, i * stride);
}
