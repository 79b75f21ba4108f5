/* Measured points for the figure of a collective: the rows of validate/cases that are
 * collectives on the same machines. */
#include "cmd/collective_explain.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "base/xmalloc.h"
#include "config/datadir.h"
#include "hardware/instance.h"
#include "report/figure/collective.h"
#include "report/figure/written.h"
#include "report/text/wrap.h"
#include "validation/column.h"
#include "validation/mapping.h"
#include "validation/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct finder {
    struct collective_points *want;
    const struct mapping *m;
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

/* "AWS DLAMI guide", "cybertronai, tree, NCCL 2.4": the row's publisher, else its table and
 * that of the source. The caller frees it. */
static char *table_name(const struct finder *f, json_t *job, struct value_row row)
{
    const char *nccl = json_string_value(json_object_get(job, "nccl"));
    const char *source = f->m->source ? f->m->source : f->m->name;
    struct err err = { 0 };
    struct strbuf b;
    strbuf_init(&b);
    json_t *publisher =
        f->m->publisher ? mapping_resolve(f->m->publisher, row, &err) : NULL;
    if (json_is_string(publisher))
        strbuf_addstr(&b, json_string_value(publisher));
    else if (!f->m->table || column_fill(f->m->table, row, &b, &err))
        strbuf_printf(&b, "%.*s", (int)strcspn(source, ",:@/"), source);
    else
        strbuf_printf(&b, " (%.*s)", (int)strcspn(source, ",:@/"), source);
    if (nccl && !strstr(strbuf_get(&b), "NCCL"))
        strbuf_printf(&b, ", NCCL %s", nccl);
    json_decref(publisher);
    char *name = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return name;
}

/* The table of that name, a new one where there is none; takes the name. */
static struct collective_table *table_get(struct collective_points *p, char *name)
{
    for (int64_t i = 0; i < p->tables.n; i++)
        if (strcmp(p->tables.v[i].name, name) == 0) {
            free(name);
            return &p->tables.v[i];
        }
    VEC_PUSH(&p->tables, ((struct collective_table) { .name = name }));
    return &p->tables.v[p->tables.n - 1];
}

static void add_measured(struct finder *f, json_t *job, double size_B,
                         struct value_row row)
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
            struct collective_table *table =
                table_get(f->want, table_name(f, job, row));
            VEC_PUSH(&table->size_B, size_B);
            VEC_PUSH(&table->busbw_Bps, is_bus ? x : size_B / x * factor);
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
            add_measured(f, job, json_number_value(json_object_get(job, "bytes")), row);
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
        } else {
            report_errors(stderr, &loader.diags); /* the figure goes without it */
        }
        cfg_loader_release(&loader);
    }
    arena_release(&arena);
}

void collective_points_release(struct collective_points *p)
{
    for (int64_t i = 0; i < p->tables.n; i++) {
        free(p->tables.v[i].name);
        VEC_RELEASE(&p->tables.v[i].size_B);
        VEC_RELEASE(&p->tables.v[i].busbw_Bps);
    }
    VEC_RELEASE(&p->tables);
}

/* "All-reduce on 2 x p4d.24xlarge". */
static const char *title(struct arena *arena, const struct collective_points *p)
{
    const char *name = p->cluster, *colon = strrchr(name, ':');
    char *op = written_collective(names_of(coll_op_names, (int)p->op));
    const char *text = colon ? arena_printf(arena, "%s on %s x %.*s", op, colon + 1,
                                            (int)(colon - name), name)
                             : arena_printf(arena, "%s on %s", op, name);
    free(op);
    return text;
}

/* What the curve is of: the GPUs, and over several nodes the network. */
static const char *provenance(struct arena *arena, const struct collective_figure *f)
{
    const struct fabric *fabric = f->fabric;
    const char *nccl = f->nccl ? f->nccl : fabric ? fabric->nccl : NULL;

    return arena_printf(arena, "Simulated: %" PRId64 " GPU%s%s%s%s%s",
                        f->measured->n_ranks, units_plural(f->measured->n_ranks),
                        fabric ? " over " : "", fabric ? fabric->name : "",
                        nccl ? ", NCCL " : "", nccl ? nccl : "");
}

int collective_figure_write(const struct collective_figure *f, struct err *err)
{
    struct collective_table simulated = { 0 };
    VEC(struct collective_curve) curves = { 0 };
    for (int64_t i = 0; i < f->n_rows; i++) {
        VEC_PUSH(&simulated.size_B, f->rows[i].size_B);
        VEC_PUSH(&simulated.busbw_Bps, f->rows[i].busbw_Bps);
    }
    VEC_PUSH(&curves, ((struct collective_curve) {
                          "simulated", (size_t)simulated.size_B.n, simulated.size_B.v,
                          simulated.busbw_Bps.v, false }));
    for (int64_t i = 0; i < f->measured->tables.n; i++) {
        const struct collective_table *t = &f->measured->tables.v[i];
        VEC_PUSH(&curves,
                 ((struct collective_curve) { t->name, (size_t)t->size_B.n, t->size_B.v,
                                              t->busbw_Bps.v, true }));
    }
    struct arena arena;
    arena_init(&arena);
    const struct figure_collective figure = {
        .title = title(&arena, f->measured),
        .subtitle = "What bandwidth, and what time, does a message of each size reach?",
        .provenance = provenance(&arena, f),
        .curves = curves.v,
        .n_curves = (size_t)curves.n,
        .bus_factor = coll_bus_factor(f->measured->op, f->measured->n_ranks),
    };
    int rc = figure_collective_write(&figure, &f->to, err);
    arena_release(&arena);
    VEC_RELEASE(&curves);
    VEC_RELEASE(&simulated.size_B);
    VEC_RELEASE(&simulated.busbw_Bps);
    return rc;
}
