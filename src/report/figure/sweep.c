#include "report/figure/sweep.h"

#include "base/xmalloc.h"
#include "draw/chart.h"
#include "report/figure/meaning.h"
#include "report/figure/sweep_data.h"
#include "report/figure/written.h"
#include "report/provenance.h"
#include "report/report.h"
#include "sweep/sweep_assumed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct name_value kind_names[] = {
    { "line", FIGURE_LINE },       { "points", FIGURE_POINTS },
    { "bars", FIGURE_BARS },       { "stacked_bars", FIGURE_STACKED_BARS },
    { "front", FIGURE_FRONT },     { "band", FIGURE_BAND },
    { "heatmap", FIGURE_HEATMAP }, { NULL, 0 },
};
static const struct name_value pick_names[] = {
    { "best", PICK_BEST }, { "least", PICK_LEAST }, { "most", PICK_MOST }, { NULL, 0 }
};
static const struct name_value scale_names[] = { { "linear", AXIS_LINEAR },
                                                 { "log2", AXIS_LOG2 },
                                                 { "log10", AXIS_LOG10 },
                                                 { "category", AXIS_CATEGORY },
                                                 { NULL, 0 } };

struct figure_raw {
    const char *file, *title, *question, *x_label, *y_label;
    int kind, pick, x_scale, y_scale;
    bool all, efficiency, optimum;
    struct cfg x, y, series, label, value, limit, where;
};

static const struct cfg_field figure_fields[] = {
    CFG_ROW("file", CFG_T_STRING, struct figure_raw, file, .required = true),
    CFG_ROW("kind", CFG_T_ENUM, struct figure_raw, kind, .required = true,
            .names = kind_names),
    CFG_STRING("title", struct figure_raw, title),
    CFG_STRING("question", struct figure_raw, question),
    CFG_ROW("x", CFG_T_CHILD, struct figure_raw, x, .required = true,
            .why = "as the path of an axis or the name of a result"),
    CFG_ROW("y", CFG_T_CHILD, struct figure_raw, y, .required = true,
            .why = "as the path of an axis or the name of a result"),
    CFG_CHILD("series", struct figure_raw, series),
    CFG_CHILD("label", struct figure_raw, label),
    CFG_CHILD("value", struct figure_raw, value),
    CFG_CHILD("limit", struct figure_raw, limit),
    CFG_CHILD("where", struct figure_raw, where),
    CFG_BOOL("all", struct figure_raw, all),
    CFG_BOOL("efficiency", struct figure_raw, efficiency),
    CFG_BOOL("optimum", struct figure_raw, optimum),
    CFG_ENUM("pick", struct figure_raw, pick, pick_names),
    CFG_ENUM("x_scale", struct figure_raw, x_scale, scale_names),
    CFG_ENUM("y_scale", struct figure_raw, y_scale, scale_names),
    CFG_STRING("x_label", struct figure_raw, x_label),
    CFG_STRING("y_label", struct figure_raw, y_label),
    CFG_END,
};

/* Reading */

static int read_ref(struct sweep_ref *ref, struct sweep *s, struct cfg c)
{
    if (!cfg_present(c))
        return 0;
    if (cfg_string(c, &ref->name))
        return -1;
    ref->field = sweep_field_find(s, ref->name);
    if (ref->field < 0 && sweep_check_result(s, ref->name, c))
        return -1;
    if (ref->field < 0)
        sweep_add_output(s, ref->name);
    return 0;
}

static int read_refs(struct sweep_refs *refs, struct sweep *s, struct cfg c)
{
    if (!cfg_is_array(c)) {
        refs->n = cfg_present(c);
        return read_ref(&refs->v[0], s, c);
    }
    if (cfg_len(c) < 1 || cfg_len(c) > FIGURE_REFS_MAX)
        return cfg_error(c, DIAG_WRONG_TYPE, "should have 1 to %d names",
                         FIGURE_REFS_MAX);
    int rc = 0;
    for (int64_t i = 0; i < cfg_len(c); i++)
        rc |= read_ref(&refs->v[refs->n++], s, cfg_at(c, i));
    return rc;
}

/* A name within the output directory that the drawing layer knows the format of. */
static int check_file(struct cfg plot, const char *file)
{
    struct err err = { 0 };
    struct cfg c = cfg_get(plot, "file");
    if (!file)
        return -1; /* reported */
    if (strchr(file, '/') || file[0] == '-')
        return cfg_error(c, DIAG_SYNTAX, "should be a file name, without a directory");
    return draw_check_name(file, &err) ? cfg_error(c, DIAG_UNKNOWN_NAME, "%s", err.text)
                                       : 0;
}

static int check_figure(const struct sweep_figure *f, const struct figure_raw *raw,
                        struct cfg plot)
{
    bool heatmap = f->kind == FIGURE_HEATMAP;
    if (heatmap != cfg_present(raw->value))
        return heatmap
                   ? cfg_error(plot, DIAG_REQUIRES, "a heatmap needs a \"value\"")
                   : cfg_error(raw->value, DIAG_REFUSED_KEY, "is for heatmaps alone");
    if (heatmap && f->y.n > 1)
        return cfg_error(raw->y, DIAG_WRONG_TYPE, "should be one name in a heatmap");
    if (f->kind == FIGURE_BAND && f->y.n != 3)
        return cfg_error(plot, DIAG_WRONG_TYPE,
                         "a band needs three names in \"y\": its lower edge, the "
                         "line in it, its upper edge");
    if (f->kind == FIGURE_STACKED_BARS && cfg_present(raw->series))
        return cfg_error(raw->series, DIAG_CONTRADICTION,
                         "the bars are stacked of \"y\", a list (leave it "
                         "out)");
    if (f->optimum && (f->kind != FIGURE_LINE || f->x.field >= 0 || f->label.n))
        return cfg_error(cfg_get(plot, "optimum"), DIAG_REFUSED_KEY,
                         "is for lines over a result that have no \"label\"");
    return 0;
}

static int read_figure(struct sweep_figure *f, struct sweep *s, struct cfg plot)
{
    struct figure_raw raw = { .x_scale = SCALE_AUTO, .y_scale = SCALE_AUTO };
    if (!cfg_is_object(plot))
        return cfg_error(plot, DIAG_WRONG_TYPE,
                         "should be an object with \"file\", \"kind\", \"x\", "
                         "\"y\"");
    int rc = cfg_read(plot, figure_fields, &raw);
    *f = (struct sweep_figure) {
        .file = raw.file,
        .title = raw.title ? raw.title : "",
        .question = raw.question,
        .x_label = raw.x_label,
        .y_label = raw.y_label,
        .kind = (enum sweep_figure_kind)raw.kind,
        .pick = (enum sweep_pick)raw.pick,
        .x_scale = raw.x_scale,
        .y_scale = raw.y_scale,
        .all = raw.all,
        .efficiency = raw.efficiency,
        .optimum = raw.optimum,
        .limit_at = (double)NAN,
    };
    rc |= check_file(plot, raw.file);
    rc |= read_ref(&f->x, s, raw.x) | read_ref(&f->value, s, raw.value) |
          read_ref(&f->limit, s, raw.limit);
    rc |= read_refs(&f->y, s, raw.y) | read_refs(&f->series, s, raw.series) |
          read_refs(&f->label, s, raw.label);
    rc |= sweep_wheres_read(&f->wheres, s, raw.where);
    for (int32_t i = 0; i < f->wheres.n; i++)
        if (f->wheres.v[i].result)
            sweep_add_output(s, f->wheres.v[i].result);
    return rc ? -1 : check_figure(f, &raw, plot);
}

struct sweep_figures *figure_sweep_new(struct sweep *s)
{
    struct sweep_figures *f = xcalloc(1, sizeof(*f));
    f->sweep = s;
    return f;
}

int figure_sweep_read(struct sweep_figures *f)
{
    struct cfg plots = f->sweep->plots;
    int rc = 0;
    if (!cfg_present(plots))
        return 0;
    if (!cfg_is_array(plots))
        return cfg_error(plots, DIAG_WRONG_TYPE, "should be an array of figures");
    f->v = ARENA_ARRAY(f->sweep->arena, cfg_len(plots) + 1, struct sweep_figure);
    for (int64_t i = 0; i < cfg_len(plots); i++)
        rc |= read_figure(&f->v[f->n++], f->sweep, cfg_at(plots, i));
    sweep_add_output(f->sweep, "/memory/fits");
    return rc;
}

void figure_sweep_free(struct sweep_figures *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        VEC_RELEASE(&f->v[i].data);
        VEC_RELEASE(&f->v[i].series_names);
        VEC_RELEASE(&f->v[i].x_names);
        VEC_RELEASE(&f->v[i].y_names);
        VEC_RELEASE(&f->v[i].colour_names);
        VEC_RELEASE(&f->v[i].instances);
        VEC_RELEASE(&f->v[i].colours);
        VEC_RELEASE(&f->v[i].meanings);
    }
    free(f);
}

/* Collecting */

struct source {
    struct sweep *sweep;
    json_t *axes, *results;
};

static json_t *get(const struct source *from, const struct sweep_ref *ref)
{
    return ref->field >= 0 ? json_object_get(from->axes, ref->name)
                           : sweep_result_get(from->results, ref->name);
}

static const char *arena_written(struct arena *arena, const char *model)
{
    char *text = written_model(model);
    const char *kept = arena_strdup(arena, text);
    free(text);
    return kept;
}

/* A value as text: its axis' label, itself, or JSON. */
static const char *text_of(const struct source *from, const struct sweep_ref *ref)
{
    struct arena *arena = from->sweep->arena;
    json_t *v = get(from, ref);
    const struct sweep_field *f =
        ref->field >= 0 ? &from->sweep->fields[ref->field] : NULL;
    for (size_t i = 0; f && f->labels && i < json_array_size(f->values); i++)
        if (json_equal(json_array_get(f->values, i), v))
            return f->labels[i];
    if (json_is_string(v))
        return strcmp(ref->name, "/model") == 0
                   ? arena_written(arena, json_string_value(v))
                   : json_string_value(v);
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));
    const char *kept = arena_strdup(arena, text ? text : "?");
    free(text);
    return kept;
}

/* The same in a legend, where a bare number says of what: "128 tokens", "4 instances",
 * "bucket size 25". */
static const char *key_of(const struct source *from, const struct sweep_ref *ref)
{
    struct arena *arena = from->sweep->arena;
    const char *text = text_of(from, ref),
               *of = figure_quantity_of(ref->name).unit_text;
    if ((ref->field >= 0 && from->sweep->fields[ref->field].labels) ||
        !json_is_number(get(from, ref)))
        return text;
    const char *label = figure_quantity_label(arena, ref->name);
    size_t n = strlen(label);
    bool plural = n > 0 && label[n - 1] == 's';
    double number = json_number_value(get(from, ref));
    char grouped[AXIS_TEXT_MAX];
    if (number >= 1000 && number < 1e6)
        text =
            arena_strdup(arena, axis_value_text(grouped, &(struct axis) { 0 }, number));
    if (plural && !of && number >= 1 && number <= 1)
        return arena_printf(arena, "%s %.*s", text, (int)n - 1, label);
    return of || plural ? arena_printf(arena, "%s %s", text, of ? of : label)
                        : arena_printf(arena, "%s %s", label, text);
}

static const char *keys_of(const struct source *from, const struct sweep_refs *refs)
{
    const char *all = refs->n ? key_of(from, &refs->v[0]) : NULL;
    for (int32_t i = 1; i < refs->n; i++)
        all =
            arena_printf(from->sweep->arena, "%s, %s", all, key_of(from, &refs->v[i]));
    return all;
}

/* The index of a name, added if it is new; the newest are the likeliest. */
static int32_t intern(struct sweep_names *names, struct arena *arena, const char *name)
{
    for (int64_t i = names->n; i-- > 0;)
        if (strcmp(names->v[i], name) == 0)
            return (int32_t)i;
    VEC_PUSH(names, arena_strdup(arena, name));
    return (int32_t)names->n - 1;
}

/* A result or a value in the unit of its axis; NAN where it is no number. */
static double number_of(const struct source *from, const struct sweep_ref *ref)
{
    json_t *v = get(from, ref);
    return json_is_number(v)
               ? json_number_value(v) * figure_quantity_of(ref->name).factor
               : (double)NAN;
}

/* Whether x is text: by the scale asked for, else as the first record has it. */
static double x_of(struct sweep_figure *f, const struct source *from)
{
    json_t *v = get(from, &f->x);
    bool by_name = f->kind == FIGURE_BARS || f->kind == FIGURE_STACKED_BARS ||
                   f->kind == FIGURE_HEATMAP || f->x_scale == AXIS_CATEGORY;
    if (f->data.n == 0)
        f->x_is_text = by_name || !json_is_number(v);
    if (f->x_is_text)
        return intern(&f->x_names, from->sweep->arena, text_of(from, &f->x));
    return number_of(from, &f->x);
}

/* What a series is called: by its values, by the quantity where there are several. */
static const char *series_of(struct sweep_figure *f, const struct source *from,
                             int32_t y)
{
    const char *values = keys_of(from, &f->series), *quantity;
    if (f->y.n == 1)
        return values ? values : "";
    quantity = figure_quantity_label(from->sweep->arena, f->y.v[y].name);
    return values ? arena_printf(from->sweep->arena, "%s: %s", values, quantity)
                  : quantity;
}

/* Series of two or more values have the colour of the first. */
static int32_t colour_of(struct sweep_figure *f, const struct source *from,
                         int32_t series)
{
    return f->series.n < 2 ? series
                           : intern(&f->colour_names, from->sweep->arena,
                                    text_of(from, &f->series.v[0]));
}

/* The instance that a series is of; "": it is of something else. */
static const char *instance_of(const struct sweep_figure *f, const struct source *from)
{
    const char *name = NULL;
    if (f->series.n > 0 && strcmp(f->series.v[0].name, "/cluster/instance") == 0)
        name = json_string_value(get(from, &f->series.v[0]));
    if (name && strncmp(name, "ml.", 3) == 0)
        name += 3;
    return arena_strdup(from->sweep->arena, name ? name : "");
}

static void add_datum(struct sweep_figure *f, const struct source *from, int32_t y,
                      bool unfit)
{
    struct arena *arena = from->sweep->arena;
    struct sweep_datum d = { .x = x_of(f, from),
                             .label = keys_of(from, &f->label),
                             .unfit = unfit };
    d.series = intern(&f->series_names, arena, series_of(f, from, y));
    if (d.series == f->colours.n) {
        VEC_PUSH(&f->colours, colour_of(f, from, d.series));
        VEC_PUSH(&f->instances, instance_of(f, from));
        VEC_PUSH(&f->meanings, f->y.n > 1 && f->series.n == 0
                                   ? (int32_t)figure_meaning_of(f->y.v[y].name)
                                   : MEANING_NONE);
    }
    if (f->kind == FIGURE_HEATMAP) {
        d.value = number_of(from, &f->value);
        d.y = intern(&f->y_names, arena, text_of(from, &f->y.v[0]));
    } else {
        d.y = number_of(from, &f->y.v[y]);
    }
    if (isfinite(d.x) && isfinite(d.y))
        VEC_PUSH(&f->data, d);
}

static void add_record(struct sweep_figure *f, const struct source *from, int64_t point)
{
    bool fits = !json_is_false(sweep_result_get(from->results, "/memory/fits"));
    if ((!fits && !f->all && f->kind != FIGURE_HEATMAP) ||
        !sweep_wheres_axes(&f->wheres, from->sweep, point) ||
        !sweep_wheres_results(&f->wheres, from->results))
        return;
    if (f->limit.name)
        f->limit_at = number_of(from, &f->limit);
    for (int32_t y = 0; y < f->y.n; y++)
        add_datum(f, from, y, !fits && !f->all);
}

void figure_sweep_add(struct sweep_figures *f, int64_t point, json_t *record)
{
    const struct source from = { f->sweep, json_object_get(record, "axes"),
                                 json_object_get(record, "results") };
    for (int32_t i = 0; from.results && i < f->n; i++)
        add_record(&f->v[i], &from, point);
}

static void add_scenario(void *arg, const struct scenario *s)
{
    provenance_add(arg, s);
}

/* Instances have the same colour in every figure; what has none takes those that are
 * left, in its order. */
static void fix_colours(struct sweep_figure *f)
{
    enum { NONE = -1 };
    int64_t n = f->colours.n;
    int32_t *own = xcalloc((size_t)n + 1, sizeof(*own)), next = 0;
    bool *taken = xcalloc((size_t)n + FIGURE_INSTANCE_COLOURS + 1, sizeof(*taken));
    for (int64_t i = 0; i < n; i++)
        own[i] = NONE;
    for (int64_t i = 0; i < n; i++) {
        int32_t *to = &own[f->colours.v[i]],
                colour = figure_instance_colour(f->instances.v[i]);
        if (*to != NONE || colour < 0 || taken[colour])
            continue;
        *to = colour;
        taken[colour] = true;
    }
    for (int64_t i = 0; i < n; i++) {
        int32_t *to = &own[f->colours.v[i]];
        while (*to == NONE && taken[next])
            next++;
        if (*to == NONE) {
            *to = next;
            taken[next] = true;
        }
        f->colours.v[i] = *to;
    }
    free(own);
    free(taken);
}

static bool is_priced(const struct sweep_figure *f)
{
    bool any = strstr(f->x.name, "usd") != NULL;
    for (int32_t y = 0; y < f->y.n; y++)
        any |= strstr(f->y.v[y].name, "usd") != NULL;
    return any || (f->value.name && strstr(f->value.name, "usd"));
}

int figure_sweep_write(struct sweep_figures *f, const char *dir, struct draw_look look,
                       struct err *err)
{
    int rc = 0;
    struct provenance p;
    provenance_init(&p, f->sweep->arena);
    if (f->n > 0)
        sweep_visit(f->sweep, add_scenario, &p);
    for (int32_t i = 0; i < f->n; i++) {
        f->v[i].provenance = provenance_text(&p, is_priced(&f->v[i]));
        fix_colours(&f->v[i]);
    }
    for (int32_t i = 0; i < f->n && rc == 0; i++) {
        char *path = xasprintf("%s/%s", dir, f->v[i].file);
        const struct draw_to to = { path, look };
        rc = figure_sweep_write_one(&f->v[i], f->sweep->arena, &to, err);
        free(path);
    }
    return rc;
}

void figure_sweep_list(const struct sweep_figures *f, FILE *out, const char *dir)
{
    for (int32_t i = 0; i < f->n; i++) {
        fprintf(out, "%s/%s\n", dir, f->v[i].file);
        if (f->v[i].question)
            report_wrap(out, "    ", "    ", f->v[i].question);
    }
}
