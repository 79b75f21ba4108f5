#include "validation/summary.h"

#include "base/xmalloc.h"
#include "risk/tries.h"
#include "validation/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct maker {
    struct summary *s;
    struct arena *arena;
    const struct mapping_run *run;
    double *errors; /* room for as many as there are quantities */
    int64_t n_equal;
    int64_t *equal; /* outcomes that share a text with others, alike ones together */
};

/* Which outcomes a set of statistics is over. */
struct scope {
    bool by_table;
    const char *table;
    int32_t band;    /* -1: every one */
    bool cumulative; /* and those below */
};

static bool in_scope(const struct mapping_outcome *o, struct scope scope)
{
    if (o->outlier)
        return false;
    if (scope.band >= 0 &&
        (scope.cumulative ? o->band > scope.band : o->band != scope.band))
        return false;
    return !scope.by_table || (o->table && strcmp(o->table, scope.table) == 0);
}

static struct stats key_stats(const struct maker *mk, const char *key,
                              struct scope scope)
{
    int64_t n = 0;
    for (int64_t i = 0; i < mk->run->n_outcomes; i++) {
        const struct mapping_outcome *o = &mk->run->outcomes[i];
        if (o->error || !in_scope(o, scope))
            continue;
        for (int32_t k = 0; k < o->n_quantities; k++)
            if (strcmp(o->quantities[k].key, key) == 0)
                mk->errors[n++] =
                    o->quantities[k].predicted / o->quantities[k].measured - 1;
    }
    return stats_of(mk->errors, n);
}

/* Rows that should be equal --------------------------------------------------------- */

struct equal_row {
    const char *text;
    int64_t outcome;
};

static int by_text(const void *a, const void *b)
{
    const struct equal_row *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

static void list_equal(struct maker *mk)
{
    const struct mapping_run *run = mk->run;
    struct equal_row *rows = xcalloc((size_t)run->n_outcomes + 1, sizeof(*rows));
    int64_t n = 0;
    for (int64_t i = 0; i < run->n_outcomes; i++)
        if (run->outcomes[i].equal && !run->outcomes[i].error)
            rows[n++] = (struct equal_row) { run->outcomes[i].equal, i };
    qsort(rows, (size_t)n, sizeof(*rows), by_text);
    mk->equal = xcalloc((size_t)n + 1, sizeof(*mk->equal));
    for (int64_t i = 0; i < n; i++)
        mk->equal[i] = rows[i].outcome;
    mk->n_equal = n;
    free(rows);
}

static double measured_of(const struct mapping_outcome *o, const char *key)
{
    for (int32_t k = 0; k < o->n_quantities; k++)
        if (strcmp(o->quantities[k].key, key) == 0)
            return o->quantities[k].measured;
    return 0;
}

/* How far the next of each row's equals is from it, in a circle: as many differences as
 * there are rows in the scope that have equals. */
static struct stats equal_stats(const struct maker *mk, const char *key,
                                struct scope scope)
{
    int64_t n = 0;
    for (int64_t first = 0, end; first < mk->n_equal; first = end) {
        const struct mapping_outcome *all = mk->run->outcomes;
        const char *text = all[mk->equal[first]].equal;
        for (end = first; end < mk->n_equal; end++)
            if (strcmp(all[mk->equal[end]].equal, text) != 0)
                break;
        for (int64_t i = first; i < end && end - first > 1; i++) {
            const struct mapping_outcome *own = &all[mk->equal[i]];
            int64_t next = i + 1 < end ? i + 1 : first;
            double mine = measured_of(own, key);
            double other = measured_of(&all[mk->equal[next]], key);
            if (in_scope(own, scope) && mine != 0 && other != 0)
                mk->errors[n++] = other / mine - 1;
        }
    }
    return stats_of(mk->errors, n);
}

/* Keys that rows in the scope have, in the order of the mapping. */
static struct summary_metrics make_metrics(const struct maker *mk, struct scope scope)
{
    const struct mapping *m = mk->run->mapping;
    struct summary_metrics metrics = { 0 };
    int64_t most = 0;
    for (int32_t v = 0; v < m->n_variants; v++)
        most += m->variants[v].n_measured;
    metrics.v = ARENA_ARRAY(mk->arena, most + 1, struct summary_metric);
    for (int32_t v = 0; v < m->n_variants; v++)
        for (int32_t q = 0; q < m->variants[v].n_measured; q++) {
            const char *key = m->variants[v].measured[q].key;
            bool known = false;
            for (int32_t i = 0; i < metrics.n; i++)
                known |= strcmp(metrics.v[i].key, key) == 0;
            if (known)
                continue;
            struct stats stats = key_stats(mk, key, scope);
            if (stats.n)
                metrics.v[metrics.n++] =
                    (struct summary_metric) { key, stats, equal_stats(mk, key, scope) };
        }
    return metrics;
}

/* Distinct tables in order of appearance; one NULL when rows name none. */
static int64_t list_tables(const struct maker *mk, const char **tables)
{
    int64_t n = 0;
    for (int64_t i = 0; i < mk->run->n_outcomes; i++) {
        const char *table = mk->run->outcomes[i].table;
        bool known = !table;
        for (int64_t k = n - 1; k >= 0 && !known; k--)
            known = strcmp(tables[k], table) == 0;
        if (!known)
            tables[n++] = table;
    }
    if (n == 0)
        tables[n++] = NULL;
    return n;
}

static void make_bands(struct maker *mk)
{
    const struct mapping *m = mk->run->mapping;
    int64_t most = mk->run->n_outcomes + 1;
    if (!m->n_edges && !m->table)
        return;
    const char **tables = xcalloc((size_t)most, sizeof(*tables));
    int64_t n_tables = list_tables(mk, tables);
    int32_t n_bands = m->n_edges + 1;
    struct summary *s = mk->s;
    s->bands = ARENA_ARRAY(mk->arena, n_tables * n_bands, struct summary_band);
    for (int64_t t = 0; t < n_tables; t++)
        for (int32_t b = 0; b < n_bands; b++) {
            struct scope scope = { tables[t] != NULL, tables[t], b, m->cumulative };
            struct summary_band *band = &s->bands[s->n_bands];
            band->table = tables[t];
            band->from = b > 0 && !m->cumulative ? m->edges[b - 1] : (double)-INFINITY;
            band->to = b < m->n_edges ? m->edges[b] : (double)INFINITY;
            band->metrics = make_metrics(mk, scope);
            s->n_bands += band->metrics.n > 0;
        }
    free(tables);
}

/* The alternative that an outcome is a run of; a new one, added to the *n, where no
 * earlier outcome of the members is a run of the same job. */
static int64_t alternative_of(const struct mapping_run *run, const int64_t *members,
                              int64_t k, int64_t *alternatives, int64_t *n)
{
    for (int64_t i = 0; i < k; i++)
        if (run->outcomes[members[i]].job == run->outcomes[members[k]].job)
            return alternatives[i];
    return (*n)++;
}

/* As `plan` orders them: those to try first, then what loses little. */
static void order(double *merits, const struct risk_plan *plans, int32_t n)
{
    struct risk_verdict *verdicts = xcalloc((size_t)n, sizeof(*verdicts));
    int32_t first = 0;
    risk_judge(verdicts, plans, n, &risk_widths, &risk_usual);
    for (int32_t i = 0; i < n; i++) {
        merits[i] = 2 - risk_regret(&verdicts[i], risk_usual.rule);
        first = merits[i] > merits[first] ? i : first;
    }
    struct risk_tries t = risk_tries_make(plans, n, first, &risk_widths, &risk_usual);
    for (int32_t k = 0; k < t.n; k++)
        merits[t.plan[k]] = 2 + RISK_TRIES - k;
    free(verdicts);
}

/* What speaks for each alternative: its place in plan's order; its predicted rate where
 * nothing else is known of some. 0: it does not fit. */
static void find_merits(struct ranked *v, const struct mapping_outcome **first,
                        int64_t n)
{
    struct risk_plan *plans = xcalloc((size_t)n, sizeof(*plans));
    double *merits = xcalloc((size_t)n, sizeof(*merits));
    bool by_regret = true;
    int32_t n_fit = 0, k = 0;
    for (int64_t i = 0; i < n; i++) {
        v[i].merit = v[i].predicted;
        by_regret = by_regret && first[i]->by_regret;
        if (v[i].predicted > 0)
            plans[n_fit++] = choices_plan_of(first[i]);
    }
    if (by_regret && n_fit)
        order(merits, plans, n_fit);
    for (int64_t i = 0; by_regret && i < n; i++)
        if (v[i].predicted > 0)
            v[i].merit = merits[k++];
    free(merits);
    free(plans);
}

/* Runs of one job are one alternative, with the mean of those that did not fail. */
static struct ranking rank(const struct maker *mk, const int64_t *members, int64_t n)
{
    const struct mapping_outcome **first = xcalloc((size_t)n, sizeof(*first));
    struct ranked *v = xcalloc((size_t)n, sizeof(*v));
    int64_t *at = xcalloc(2 * (size_t)n, sizeof(*at)), *ran = at + n, n_jobs = 0;
    double best = 0;
    for (int64_t i = 0; i < n; i++) {
        const struct mapping_outcome *o = &mk->run->outcomes[members[i]];
        at[i] = alternative_of(mk->run, members, i, at, &n_jobs);
        struct ranked *r = &v[at[i]];
        r->predicted = o->rate_predicted;
        first[at[i]] = first[at[i]] ? first[at[i]] : o;
        if (o->rate_measured <= 0)
            continue;
        ran[at[i]]++;
        r->measured += (o->rate_measured - r->measured) / (double)ran[at[i]];
        best = fmax(best, o->rate_measured);
    }
    struct ranking r = { 0 };
    if (best > 0 && n_jobs >= 2) {
        find_merits(v, first, n_jobs);
        r = ranking_of(v, n_jobs);
    }
    free(at);
    free(v);
    free(first);
    return r;
}

static bool is_ranked(const struct mapping_outcome *o)
{
    return !o->error && o->rank_group && o->has_rate;
}

/* Members of a group: the outcomes from `first` on that are alike in it. */
static int64_t group_members(const struct mapping_run *run, int64_t first,
                             int64_t *members)
{
    int64_t n = 0;
    const char *name = run->outcomes[first].rank_group;
    for (int64_t i = first; i < run->n_outcomes; i++)
        if (is_ranked(&run->outcomes[i]) &&
            strcmp(run->outcomes[i].rank_group, name) == 0)
            members[n++] = i;
    return n;
}

static void make_groups(struct maker *mk)
{
    const struct mapping_run *run = mk->run;
    struct summary *s = mk->s;
    size_t most = (size_t)run->n_outcomes + 1;
    int64_t *members = xcalloc(most, sizeof(*members));
    bool *seen = xcalloc(most, sizeof(*seen));
    s->group_names = ARENA_ARRAY(mk->arena, most, const char *);
    s->rankings = ARENA_ARRAY(mk->arena, most, struct ranking);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        if (seen[i] || !is_ranked(&run->outcomes[i]))
            continue;
        int64_t n = group_members(run, i, members);
        for (int64_t k = 0; k < n; k++)
            seen[members[k]] = true;
        struct ranking r = { 0 };
        if (n >= 2)
            r = rank(mk, members, n);
        if (r.n == 0)
            continue;
        s->group_names[s->n_groups] = run->outcomes[i].rank_group;
        s->rankings[s->n_groups++] = r;
    }
    free(members);
    free(seen);
}

static void count_verdicts(struct summary_verdicts *v, const struct mapping_run *run)
{
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        const struct mapping_outcome *o = &run->outcomes[i];
        v->failed_refused += o->refused;
        if (o->error || !o->has_fits)
            continue;
        if (o->fits_measured)
            (*(o->fits_predicted ? &v->ran_fits : &v->ran_not))++;
        else
            (*(o->fits_predicted ? &v->failed_fits : &v->failed_not))++;
        if (o->outdone)
            (*(o->fits_predicted ? &v->outdone_fits : &v->outdone_not))++;
    }
}

void summary_make(struct summary *s, struct arena *arena, const struct mapping_run *run)
{
    struct maker mk = { s, arena, run, NULL, 0, NULL };
    *s = (struct summary) { 0 };
    int64_t most = 1; /* a row may have one key once per variant */
    for (int64_t i = 0; i < run->n_outcomes; i++)
        most += run->outcomes[i].n_quantities;
    mk.errors = xcalloc((size_t)most, sizeof(*mk.errors));
    list_equal(&mk);
    s->metrics = make_metrics(&mk, (struct scope) { false, NULL, -1, false });
    make_bands(&mk);
    make_groups(&mk);
    count_verdicts(&s->verdicts, run);
    free(mk.equal);
    free(mk.errors);
}
