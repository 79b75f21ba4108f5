/* Whether the axes of a sweep set what a scenario has. */
#include "campaign/campaign.h"
#include "config/pointer.h"
#include "sweep/sweep_point.h"

enum { POINTS_MOST = 256 };

/* Reads a point; why[i] stays, or becomes NULL where field i is a key. */
static void probe(const struct sweep *s, int64_t point,
                  const char *why[SWEEP_FIELDS_MAX], bool first)
{
    struct cfg_loader loader;
    struct scenario scenario = { 0 };
    struct campaign campaign;
    struct err err = { 0 };
    cfg_loader_init(&loader);
    json_t *tree = sweep_point_scenario(s, point, &err);
    struct cfg root = cfg_from_tree(&loader, "scenario", tree);
    if (tree && scenario_read(&scenario, &loader, root) == 0)
        campaign_read(&campaign, &scenario);
    for (int32_t i = 0; tree && i < s->n_fields; i++) {
        const char *now = cfg_unknown_at(root, s->fields[i].path);
        if (!now)
            why[i] = NULL;
        else if (first)
            why[i] = arena_strdup(s->arena, now);
    }
    cfg_loader_release(&loader);
}

static bool any(const struct sweep *s, const char *const why[SWEEP_FIELDS_MAX])
{
    for (int32_t i = 0; i < s->n_fields; i++)
        if (why[i])
            return true;
    return false;
}

/* Whether the paths lead somewhere, at the first point. */
static int check_places(const struct sweep *s)
{
    json_t *tree = json_deep_copy(s->base);
    int rc = 0;
    for (int32_t i = 0; i < s->n_fields; i++) {
        struct err err = { 0 };
        json_t *value = json_deep_copy(sweep_point_value(s, i, 0));
        if (pointer_set(tree, s->fields[i].path, value, &err))
            rc = cfg_error(s->fields[i].where, DIAG_UNKNOWN_KEY, "%s", err.text);
    }
    json_decref(tree);
    return rc;
}

int sweep_check_paths(const struct sweep *s)
{
    const char *why[SWEEP_FIELDS_MAX] = { NULL };
    int64_t stride = 1, left = POINTS_MOST;
    int rc = 0;
    if (s->n_points == 0)
        return 0;
    if (check_places(s))
        return -1;
    probe(s, 0, why, true);
    for (int32_t axis = s->n_axes; axis-- > 0; stride *= s->axes[axis])
        for (int64_t i = 1; i < s->axes[axis] && left > 0 && any(s, why); i++, left--)
            probe(s, i * stride, why, false);
    for (int32_t i = 0; i < s->n_fields; i++)
        if (why[i])
            rc = cfg_error(s->fields[i].where, DIAG_UNKNOWN_KEY, "%s", why[i]);
    return rc;
}
