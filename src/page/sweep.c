#include "page/sweep.h"

#include "base/file.h"
#include "base/xmalloc.h"
#include "draw/palette.h"
#include "page/page.h"
#include "page/palette.h"
#include "report/figure/meaning.h"
#include "report/figure/sweep_data.h"

#include <stdlib.h>
#include <string.h>

void page_sweep_init(struct page_sweep *p, const struct sweep *s)
{
    *p = (struct page_sweep) { .sweep = s,
                               .rows = json_array(),
                               .colours = json_object() };
}

void page_sweep_release(struct page_sweep *p)
{
    json_decref(p->rows);
    json_decref(p->colours);
    p->rows = p->colours = NULL;
}

/* Rows ------------------------------------------------------------------------------- */

static json_t *axis_value(const struct sweep_field *f, json_t *v)
{
    const char *label = report_sweep_label(f, v);
    if (label)
        return json_string(label);
    if (json_is_object(v) || json_is_array(v)) {
        char *text = json_dumps(v, JSON_COMPACT);
        json_t *value = json_string(text);
        free(text);
        return value;
    }
    return v ? json_incref(v) : json_null();
}

/* In the units of the columns. */
static json_t *result_value(const char *name, json_t *results)
{
    json_t *v = sweep_result_get(results, name);
    double factor = figure_quantity_of(name).factor;
    if (json_is_number(v) && factor != 1)
        return json_real(json_number_value(v) * factor);
    return v ? json_incref(v) : json_null();
}

/* An instance has the colour here that it has in figures. */
static void add_colour(struct page_sweep *p, json_t *instance)
{
    const char *name = json_string_value(instance);
    int32_t i = name ? figure_instance_colour(name) : -1;
    if (i >= 0)
        json_object_set_new(p->colours, name, page_colour(palette_at((size_t)i)));
}

void page_sweep_add(struct page_sweep *p, json_t *record)
{
    const struct sweep *s = p->sweep;
    json_t *axes = json_object_get(record, "axes"),
           *results = json_object_get(record, "results"),
           *error = json_object_get(record, "error"), *row;
    if (json_array_size(p->rows) >= PAGE_POINTS) {
        p->n_left++;
        return;
    }
    row = json_array();
    for (int32_t i = 0; i < s->n_fields; i++) {
        const struct sweep_field *f = &s->fields[i];
        json_t *value = axis_value(f, json_object_get(axes, f->path));
        if (strcmp(f->path, "/cluster/instance") == 0)
            add_colour(p, value);
        json_array_append_new(row, value);
    }
    for (int64_t i = 0; i < s->outputs.n; i++)
        json_array_append_new(row, result_value(s->outputs.v[i], results));
    json_array_append(row, error ? error : json_null());
    json_array_append_new(p->rows, row);
}

/* Columns ---------------------------------------------------------------------------- */

static json_t *column(struct arena *arena, const char *name, bool is_axis)
{
    static const char *const units[] = {
        [AXIS_PLAIN] = "number",     [AXIS_BYTES] = "bytes",
        [AXIS_SECONDS] = "time",     [AXIS_BYTES_PER_S] = "bytes/s",
        [AXIS_FLOP_PER_S] = "flops", [AXIS_FRACTION] = "share",
        [AXIS_USD] = "usd",
    };
    struct sweep_quantity q = figure_quantity_of(name);
    return json_pack("{s:s, s:s, s:s, s:s*, s:b, s:b}", "name", name, "label",
                     figure_quantity_label(arena, name), "unit", units[q.unit],
                     "unit_text", q.unit_text, "axis", is_axis, "more_is_better",
                     q.more_is_better);
}

static json_t *columns_of(const struct sweep *s)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < s->n_fields; i++)
        json_array_append_new(list, column(s->arena, s->fields[i].path, true));
    for (int64_t i = 0; i < s->outputs.n; i++)
        json_array_append_new(list, column(s->arena, s->outputs.v[i], false));
    return list;
}

/* Figures ---------------------------------------------------------------------------- */

/* The text of a figure that was drawn as SVG; null of other kinds. */
static json_t *drawn(const char *dir, const char *file)
{
    const size_t most_B = 4 << 20;
    const char *dot = strrchr(file, '.');
    struct err err = { 0 };
    size_t len;
    if (!dot || strcmp(dot, ".svg") != 0)
        return json_null();
    char *path = xasprintf("%s/%s", dir, file);
    char *text = file_read(path, most_B, &len, &err);
    json_t *value = text ? json_string(text) : json_null();
    free(text);
    free(path);
    return value;
}

static json_t *figures_json(const struct sweep_figures *f, const char *dir)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < f->n; i++) {
        const struct sweep_figure *x = &f->v[i];
        json_array_append_new(list, json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:o}",
                                              "file", x->file, "title", x->title,
                                              "question", x->question, "x", x->x.name,
                                              "y", x->y.n == 1 ? x->y.v[0].name : "",
                                              "svg", drawn(dir, x->file)));
    }
    return list;
}

/* All of it -------------------------------------------------------------------------- */

json_t *page_sweep_data(struct page_sweep *p, const char *name, const char *dir,
                        const struct sweep_figures *figures,
                        const struct sweep_summary *sum)
{
    const struct sweep *s = p->sweep;
    json_t *result = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:O, s:O}", "points",
        (json_int_t)s->n_points, "written", (json_int_t)sum->n_written, "failed",
        (json_int_t)sum->n_failed, "unfit", (json_int_t)sum->n_unfit, "excluded",
        (json_int_t)sum->n_excluded, "left_out", (json_int_t)sum->n_left_out,
        "not_shown", (json_int_t)p->n_left, "columns", columns_of(s), "rows", p->rows,
        "warnings", sum->warnings);
    json_t *data = page_data("sweep", name, result);
    json_object_set(data, "colours", p->colours);
    json_object_set_new(data, "figures", figures_json(figures, dir));
    json_decref(result);
    return data;
}
