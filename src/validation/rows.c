#include "validation/rows.h"

#include "config/pointer.h"
#include "validation/groups.h"
#include "validation/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *keep_text(struct rows *r, struct strbuf *b)
{
    const char *text = arena_strdup(r->arena, strbuf_get(b));
    strbuf_release(b);
    return text;
}

/* Index of the job; the tree's reference is stolen. */
static int64_t add_job(struct rows *r, json_t *tree)
{
    char *text = json_dumps(tree, JSON_COMPACT | JSON_SORT_KEYS);
    json_t *known = json_object_get(r->ids, text);
    if (!known) {
        known = json_integer(r->jobs.n);
        json_object_set_new(r->ids, text, known);
        VEC_PUSH(&r->jobs, ((struct rows_job) { json_incref(tree), NULL, NULL }));
    }
    json_decref(tree);
    free(text);
    return json_integer_value(known);
}

static int set_field(json_t *tree, const char *pointer, json_t *value,
                     struct value_row row, struct err *err)
{
    json_t *v = mapping_resolve(value, row, err);
    return v ? pointer_set(tree, pointer, v, err) : -1;
}

static int set_fields(json_t *tree, struct cfg set, struct value_row row,
                      struct err *err)
{
    int rc = 0;
    for (void *it = cfg_first(set); it && rc == 0; it = cfg_next(set, it))
        rc = set_field(tree, cfg_key(it), json_object_iter_value(it), row, err);
    return rc;
}

static json_t *variant_tree(const struct mapping *m, const struct mapping_variant *v,
                            struct value_row row, struct err *err)
{
    json_t *tree = mapping_resolve(m->subject, row, err);
    if (tree && set_fields(tree, v->set, row, err) == 0)
        return tree;
    json_decref(tree);
    return NULL;
}

/* The i-th combination of what is to be chosen, as digits of a mixed-radix number. */
static int choose(const struct mapping *m, json_t *tree, size_t i, struct value_row row,
                  struct err *err)
{
    for (int32_t c = 0; c < m->n_choices; c++) {
        json_t *values = m->choices[c].values;
        size_t n = json_array_size(values);
        if (set_field(tree, m->choices[c].pointer, json_array_get(values, i % n), row,
                      err))
            return -1;
        i /= n;
    }
    return 0;
}

static int add_candidates(struct rows *r, struct rows_candidates *c, int32_t variant,
                          struct value_row row, struct err *err)
{
    const struct mapping *m = r->m;
    size_t n = 1;
    for (int32_t i = 0; i < m->n_choices; i++)
        n *= json_array_size(m->choices[i].values);
    c->first = r->candidates.n;
    c->n = 0;
    for (size_t i = 0; i < n; i++) {
        json_t *tree = variant_tree(m, &m->variants[variant], row, err);
        if (!tree)
            return -1;
        if (choose(m, tree, i, row, err)) {
            json_decref(tree);
            return -1;
        }
        VEC_PUSH(&r->candidates, add_job(r, tree));
        c->n++;
    }
    return 0;
}

/* The states that the row's run may have been in. */
static int add_states(struct rows *r, struct mapping_outcome *o, struct rows_plan *plan,
                      int32_t variant, struct value_row row, struct err *err)
{
    const struct mapping *m = r->m;
    double all = 0;
    for (int32_t i = 0; i < m->n_states; i++) {
        enum value_state state;
        double chance = 0;
        if (mapping_number(m->states[i].chance, row, &state, &chance, err))
            return -1;
        all += chance;
        if (chance < 0 || all > 1)
            return err_set(err, "chances of states are from 0 to 1 together, not %g",
                           all);
        if (state != VALUE_GIVEN || chance <= 0)
            continue;
        json_t *tree = variant_tree(m, &m->variants[variant], row, err);
        if (!tree || set_fields(tree, m->states[i].set, row, err)) {
            json_decref(tree);
            return -1;
        }
        o->states[i].chance = chance;
        plan->states[i] = add_job(r, tree);
    }
    return 0;
}

static const char *outcome_name(struct rows *r, const struct mapping_variant *v,
                                struct value_row row)
{
    struct strbuf b;
    struct err err = { 0 };
    strbuf_init(&b);
    if (r->m->row_name)
        column_fill(r->m->row_name, row, &b, &err);
    else
        strbuf_printf(&b, "line %" PRId64, (int64_t)row.csv->lines[row.row]);
    if (v->name)
        strbuf_printf(&b, "/%s", v->name);
    return keep_text(r, &b);
}

/* What was measured of the row; -1 with err set when a cell is no number. */
static int read_measured(struct rows *r, struct mapping_outcome *o,
                         struct rows_plan *plan, const struct mapping_variant *v,
                         struct value_row row, struct err *err)
{
    o->quantities = ARENA_ARRAY(r->arena, v->n_measured + 1, struct mapping_quantity);
    plan->ratios = ARENA_ARRAY(r->arena, v->n_measured + 1, struct rows_candidates);
    plan->of =
        ARENA_ARRAY(r->arena, v->n_measured + 1, const struct mapping_measured *);
    bool oom = false;
    for (int32_t i = 0; i < v->n_measured; i++) {
        const struct mapping_measured *q = &v->measured[i];
        enum value_state state;
        double measured = 0;
        struct err inner = { 0 };
        if (mapping_number(q->value, row, &state, &measured, &inner))
            return err_set(err, "measured %s: %s", q->name, inner.text);
        oom |= state == VALUE_OOM;
        if (state != VALUE_GIVEN)
            continue;
        o->has_fits = o->fits_measured = true;
        if (strcmp(q->name, "fits") == 0) {
            oom |= measured == 0;
            continue;
        }
        if (measured == 0)
            return err_set(err, "measured %s: 0 has no relative error", q->name);
        plan->of[o->n_quantities] = q;
        o->quantities[o->n_quantities++] =
            (struct mapping_quantity) { q->key, measured, (double)NAN };
    }
    if (oom) {
        o->has_fits = true;
        o->fits_measured = false;
        o->n_quantities = 0;
    }
    return 0;
}

/* A template's text of the row; nothing where there is none. */
static int fill(struct rows *r, const char *template, struct value_row row,
                const char **text, struct err *err)
{
    struct strbuf b;
    if (!template)
        return 0;
    strbuf_init(&b);
    int rc = column_fill(template, row, &b, err);
    *text = keep_text(r, &b);
    return rc;
}

static int read_place(struct rows *r, struct mapping_outcome *o, struct value_row row,
                      struct err *err)
{
    const struct mapping *m = r->m;
    if (m->n_edges) {
        enum value_state state;
        double v;
        if (mapping_number(m->band_of, row, &state, &v, err))
            return -1;
        if (state != VALUE_GIVEN)
            return err_set(err, "the cell that decides the band is empty");
        while (o->band < m->n_edges && v >= m->edges[o->band])
            o->band++;
    }
    if (fill(r, m->table, row, &o->table, err) ||
        fill(r, m->equal, row, &o->equal, err) ||
        fill(r, m->system, row, &o->system, err))
        return -1;
    if (m->rank_by.n)
        o->rank_group = groups_key(r->arena, row.csv, row.row, &m->rank_by);
    return 0;
}

static int read_jobs(struct rows *r, const struct mapping_outcome *o,
                     struct rows_plan *plan, int32_t variant, struct value_row row,
                     struct err *err)
{
    if (add_candidates(r, &plan->own, variant, row, err))
        return -1;
    for (int32_t i = 0; i < o->n_quantities; i++)
        if (plan->of[i]->ratio_to >= 0 &&
            add_candidates(r, &plan->ratios[i], plan->of[i]->ratio_to, row, err))
            return -1;
    return 0;
}

/* Adds the row's outcome in a variant; whether anything of it was measured. */
static bool add_outcome(struct rows *r, int32_t variant, struct value_row row)
{
    const struct mapping_variant *v = &r->m->variants[variant];
    struct mapping_outcome o = { .row = row.row, .name = outcome_name(r, v, row) };
    struct rows_plan plan = { 0 };
    struct err err = { 0 };
    int rc = read_measured(r, &o, &plan, v, row, &err);
    if (rc == 0 && !o.has_fits)
        return false;
    if (rc || read_place(r, &o, row, &err) ||
        read_jobs(r, &o, &plan, variant, row, &err) ||
        add_states(r, &o, &plan, variant, row, &err)) {
        o.error = arena_strdup(r->arena, err.text);
        plan.own.n = 0;
    }
    o.fitted = r->m->held_out && !filters_pass(&r->m->fitted, &r->m->csv, row.row);
    VEC_PUSH(&r->outcomes, o);
    VEC_PUSH(&r->plans, plan);
    return true;
}

void rows_resolve(struct rows *r, struct arena *arena, struct mapping *m)
{
    *r = (struct rows) { .arena = arena, .m = m, .ids = json_object() };
    for (int64_t i = 0; i < m->csv.n_rows; i++) {
        bool measured = false;
        if (!filters_pass(&m->filters, &m->csv, i)) {
            r->n_dropped++;
            continue;
        }
        for (int32_t v = 0; v < m->n_variants; v++)
            if (m->variants[v].n_measured)
                measured |= add_outcome(r, v, (struct value_row) { &m->csv, i });
        r->n_unmeasured += !measured;
    }
}

void rows_release(struct rows *r)
{
    for (int64_t i = 0; i < r->jobs.n; i++) {
        json_decref(r->jobs.v[i].tree);
        json_decref(r->jobs.v[i].result);
    }
    json_decref(r->ids);
    VEC_RELEASE(&r->jobs);
    VEC_RELEASE(&r->candidates);
    VEC_RELEASE(&r->outcomes);
    VEC_RELEASE(&r->plans);
}
