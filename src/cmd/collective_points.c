/* Measured points for the figure of a collective: the rows of validate/cases that are
 * collectives on the same machines. */
#include "cmd/collective_explain.h"

#include "base/vec.h"
#include "config/datadir.h"
#include "hardware/instance.h"
#include "report/figure_collective.h"
#include "validation/mapping.h"
#include "validation/value.h"

#include <string.h>

typedef VEC(double) doubles;

struct finder {
    struct collective_points *want;
    const struct mapping *m;
    doubles size_B, busbw_Bps;
};

/* "ml.p4d.24xlarge:1" and "p4d.24xlarge" are one cluster. */
static bool same_cluster(const char *a, const char *b)
{
    size_t na, nb;
    a = instance_plain_name(a);
    b = instance_plain_name(b);
    na = strlen(a) - (strlen(a) > 2 && strcmp(a + strlen(a) - 2, ":1") == 0 ? 2 : 0);
    nb = strlen(b) - (strlen(b) > 2 && strcmp(b + strlen(b) - 2, ":1") == 0 ? 2 : 0);
    return na == nb && strncmp(a, b, na) == 0;
}

static bool is_wanted(const struct collective_points *want, json_t *job)
{
    const char *cluster = json_string_value(json_object_get(job, "cluster"));
    const char *op = json_string_value(json_object_get(job, "op"));
    json_t *gpus = json_object_get(job, "n_gpus");
    return cluster && op && same_cluster(cluster, want->cluster) &&
           strcmp(op, names_of(coll_op_names, (int)want->op)) == 0 &&
           (!gpus || (int64_t)json_number_value(gpus) == want->n_gpus);
}

static void add_measured(struct finder *f, double size_B, struct value_row row)
{
    const struct mapping_variant *v = &f->m->variants[0];
    for (int32_t i = 0; i < v->n_measured; i++) {
        struct err err = { 0 };
        enum value_state state;
        double x;
        if (mapping_number(v->measured[i].value, row, &state, &x, &err) ||
            state != VALUE_GIVEN || !(x > 0))
            continue;
        double factor = coll_bus_factor(f->want->op, f->want->n_ranks);
        bool is_time = strcmp(v->measured[i].name, "time_s") == 0;
        bool is_bus = strcmp(v->measured[i].name, "busbw_Bps") == 0;
        if (is_time || is_bus) {
            VEC_PUSH(&f->size_B, size_B);
            VEC_PUSH(&f->busbw_Bps, is_bus ? x : size_B / x * factor);
        }
    }
}

static void search(struct finder *f, struct mapping *m)
{
    f->m = m;
    for (int64_t i = 0; i < m->csv.n_rows; i++) {
        struct value_row row = { &m->csv, i };
        struct err err = { 0 };
        json_t *job = filters_pass(&m->filters, &m->csv, i)
                          ? mapping_resolve(m->subject, row, &err)
                          : NULL;
        if (job && is_wanted(f->want, job))
            add_measured(f, json_number_value(json_object_get(job, "bytes")), row);
        json_decref(job);
    }
}

void collective_points_find(struct collective_points *p)
{
    struct finder f = { .want = p };
    struct arena arena;
    arena_init(&arena);
    const char **names = datadir_list(&arena, "validate/cases");
    for (; *names; names++) {
        struct cfg_loader loader;
        struct mapping m = { 0 };
        cfg_loader_init(&loader);
        if (mapping_load(&m, &loader, *names, NULL) == 0) {
            if (m.kind == MAPPING_COLLECTIVE)
                search(&f, &m);
            mapping_release(&m);
        }
        cfg_loader_release(&loader);
    }
    arena_release(&arena);
    p->n = f.size_B.n;
    p->size_B = f.size_B.v;
    p->busbw_Bps = f.busbw_Bps.v;
}

void collective_points_release(struct collective_points *p)
{
    free(p->size_B);
    free(p->busbw_Bps);
}

int collective_figure_write(const struct collective_figure *f, struct err *err)
{
    doubles size = { 0 }, busbw = { 0 };
    for (int64_t i = 0; i < f->n_rows; i++) {
        VEC_PUSH(&size, f->rows[i].size_B);
        VEC_PUSH(&busbw, f->rows[i].busbw_Bps);
    }
    const struct collective_curve curves[] = {
        { "simulated", (size_t)size.n, size.v, busbw.v, false },
        { NULL, (size_t)f->measured->n, f->measured->size_B, f->measured->busbw_Bps,
          true },
    };
    const struct figure_collective figure = { .title = f->title,
                                              .subtitle = f->subtitle,
                                              .curves = curves,
                                              .n_curves = f->measured->n ? 2 : 1 };
    int rc = figure_collective_write(&figure, f->path, err);
    VEC_RELEASE(&size);
    VEC_RELEASE(&busbw);
    return rc;
}
