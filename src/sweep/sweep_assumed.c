#include "sweep/sweep_assumed.h"

#include "base/vec.h"
#include "scenario/scenario.h"
#include "sweep/sweep_point.h"

#include <string.h>

enum { POINTS_MOST = 256 };

/* A field that scenarios leave open, with the values that points decided on. */
struct varied {
    const char *pointer, *why;
    VEC(const char *) values;
};

struct gathered {
    struct arena *arena;
    VEC(struct varied) fields;
};

static struct varied *find(struct gathered *g, const char *pointer)
{
    for (int64_t i = 0; i < g->fields.n; i++)
        if (strcmp(g->fields.v[i].pointer, pointer) == 0)
            return &g->fields.v[i];
    VEC_PUSH(&g->fields,
             ((struct varied) { .pointer = arena_strdup(g->arena, pointer) }));
    return &g->fields.v[g->fields.n - 1];
}

static bool has(const struct varied *field, const char *value)
{
    for (int64_t i = 0; i < field->values.n; i++)
        if (strcmp(field->values.v[i], value) == 0)
            return true;
    return false;
}

/* Why is of one value alone. */
static void add(struct gathered *g, const struct assumption *row)
{
    struct varied *field = find(g, row->pointer);
    if (has(field, row->value))
        return;
    field->why = arena_strdup(g->arena, field->values.n ? "" : row->why);
    VEC_PUSH(&field->values, arena_strdup(g->arena, row->value));
}

/* "a or b" */
static const char *values_text(const struct gathered *g, const struct varied *field)
{
    const char *text = field->values.v[0];
    for (int64_t i = 1; i < field->values.n; i++)
        text = arena_printf(g->arena, "%s or %s", text, field->values.v[i]);
    return text;
}

static void add_all(void *arg, const struct scenario *s)
{
    for (int32_t i = 0; i < s->assumed.n; i++)
        add(arg, &s->assumed.v[i]);
}

/* `files` lends what is read of files. */
static void visit_point(const struct sweep *s, int64_t point, struct cfg_loader *files,
                        void (*visit)(void *arg, const struct scenario *s), void *arg)
{
    struct cfg_loader loader;
    struct scenario scenario = { 0 };
    struct err err = { 0 };
    cfg_loader_init(&loader);
    loader.shared = files;
    json_t *tree = sweep_point_scenario(s, point, &err);
    if (tree && scenario_read(&scenario, &loader,
                              cfg_from_tree(&loader, "scenario", tree)) == 0)
        visit(arg, &scenario);
    cfg_loader_release(&loader);
}

void sweep_visit(const struct sweep *s,
                 void (*visit)(void *arg, const struct scenario *s), void *arg)
{
    int64_t stride = 1, left = POINTS_MOST;
    if (s->n_points == 0)
        return;
    struct cfg_loader files;
    cfg_loader_init(&files);
    visit_point(s, 0, &files, visit, arg);
    for (int32_t axis = s->n_axes; axis-- > 0; stride *= s->axes[axis])
        for (int64_t i = 1; i < s->axes[axis] && left > 0; i++, left--)
            visit_point(s, i * stride, &files, visit, arg);
    cfg_loader_release(&files);
}

void sweep_assumed(struct assumptions *out, const struct sweep *s, struct arena *arena)
{
    struct gathered g = { .arena = arena };
    sweep_visit(s, add_all, &g);
    for (int64_t i = 0; i < g.fields.n; i++) {
        struct varied *field = &g.fields.v[i];
        assumptions_add(out, arena, field->pointer, values_text(&g, field), field->why);
        VEC_RELEASE(&field->values);
    }
    VEC_RELEASE(&g.fields);
}
