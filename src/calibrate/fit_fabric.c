/* Constants of a fabric: software costs of each protocol and the share of the line that
 * payload reaches, fitted to collectives with the same plans that predict them. */
#include "calibrate/calibration.h"

#include "base/units.h"
#include "base/xmalloc.h"
#include "cost/collective.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer than ROWS_ALL identify the share of the line alone. */
enum { ROWS_LEAST = 3, ROWS_ALL = 12 };

/* Terms of a fabric that can be fitted; those that are 0 or infinite in the base
 * profile are left so: that profile has no such cost. */
struct place {
    size_t at;
    const char *name, *path;
    enum unit_kind unit;
    double min, max;
};

#define PROTO(p, m)                                     \
    (offsetof(struct fabric, proto[FABRIC_PROTO_##p]) + \
     offsetof(struct fabric_protocol, m))
#define LAW(a, p, m)                                                  \
    (offsetof(struct fabric, laws.of[FABRIC_##a][FABRIC_PROTO_##p]) + \
     offsetof(struct fabric_law, m))
#define SECONDS UNIT_SECONDS, 1e-8, 1e-2
#define RATE UNIT_BYTES_PER_S, 1e8, 1e13

/* clang-format off */
/* What trees, NVLS and point to point have: see fabric_law.h. */
#define LAW_PLACES(a, p, name, path) \
    { LAW(a, p, base_s), name " base", path "/base", SECONDS }, \
    { LAW(a, p, level_s), name " level", path "/level", SECONDS }, \
    { LAW(a, p, fill_frac), name " fill", path "/fill", UNIT_NONE, 0.01, 100 }, \
    { LAW(a, p, max_Bps), name " rate", path "/max", RATE }

static const struct place places[] = {
    { offsetof(struct fabric, efficiency), "efficiency", "efficiency", UNIT_NONE, 0.05, 1 },
    { offsetof(struct fabric, fill_frac), "fill_frac", "fill_frac", UNIT_NONE, 0.01, 10 },
    { offsetof(struct fabric, fill_max_s), "fill_max", "fill_max", SECONDS },
    { PROTO(SIMPLE, base_s), "Simple base", "protocols/simple/base", SECONDS },
    { PROTO(SIMPLE, step_s), "Simple step", "protocols/simple/step", SECONDS },
    { PROTO(SIMPLE, quantum_s), "Simple quantum", "protocols/simple/quantum_time", SECONDS },
    { PROTO(SIMPLE, copy_Bps), "Simple copy", "protocols/simple/copy", RATE },
    { PROTO(LL, base_s), "LL base", "protocols/ll/base", SECONDS },
    { PROTO(LL, step_s), "LL step", "protocols/ll/step", SECONDS },
    { PROTO(LL, max_Bps), "LL rate", "protocols/ll/max", RATE },
    { PROTO(LL128, base_s), "LL128 base", "protocols/ll128/base", SECONDS },
    { PROTO(LL128, step_s), "LL128 step", "protocols/ll128/step", SECONDS },
    { PROTO(LL128, max_Bps), "LL128 rate", "protocols/ll128/max", RATE },
    { PROTO(LL128, copy_Bps), "LL128 copy", "protocols/ll128/copy", RATE },
    LAW_PLACES(TREE, SIMPLE, "tree", "tree/simple"),
    LAW_PLACES(TREE, LL, "tree LL", "tree/ll"),
    LAW_PLACES(TREE, LL128, "tree LL128", "tree/ll128"),
    LAW_PLACES(NVLS, SIMPLE, "NVLS", "nvls/simple"),
    LAW_PLACES(NVLS_TREE, SIMPLE, "NVLS tree", "nvls_tree/simple"),
    LAW_PLACES(P2P, SIMPLE, "p2p", "p2p/simple"),
    { LAW(NVLS, SIMPLE, efficiency), "NVLS efficiency", "nvls/simple/efficiency", UNIT_NONE, 0.05, 1 },
    { LAW(P2P, SIMPLE, efficiency), "p2p efficiency", "p2p/simple/efficiency", UNIT_NONE, 0.05, 1 },
};
/* clang-format on */
enum { RING_PLACES_N = 14 }; /* those before the laws */
enum { PLACES_N = sizeof(places) / sizeof(places[0]) };
_Static_assert((int)PLACES_N <= (int)FIT_PARAMS_MAX, "each place is a parameter");

/* Rows of one group of GPUs: the instances and the net they run on. */
struct table {
    int64_t n_ranks, n_nodes;
    struct cluster cluster;
    struct instance
        instance; /* a copy, whose inside may be the fabric that is fitted */
    struct coll_group group;
};

struct fabric_fit {
    struct calibration *c;
    struct fabric *fabric;
    int32_t which[PLACES_N]; /* place of each parameter */
    int32_t n_params;
    struct table *tables;
    int64_t n_tables;
    const struct sample_coll **rows;
    int32_t *table_of;
    int64_t n;
    struct err *err; /* of a plan that cannot be made */
};

static double *place_in(struct fabric *f, const struct place *p)
{
    return (double *)(void *)((char *)f + p->at);
}

static int predict(struct fabric_fit *f, double *times_s)
{
    struct arena arena;
    int rc = 0;
    arena_init(&arena);
    struct net **nets = ARENA_ARRAY(&arena, f->n_tables, struct net *);
    for (int64_t i = 0; i < f->n_tables && rc == 0; i++) {
        nets[i] = net_new(&f->tables[i].cluster, true, f->err);
        rc = nets[i] ? 0 : -1;
    }
    for (int64_t i = 0; i < f->n && rc == 0; i++) {
        struct table *t = &f->tables[f->table_of[i]];
        struct net *net = nets[f->table_of[i]];
        struct coll_request request = { .op = f->rows[i]->op,
                                        .protocol = -1,
                                        .size_B = f->rows[i]->bytes,
                                        .groups = &t->group,
                                        .n_groups = 1,
                                        .gpus_per_thread = sample_coll_launched(
                                            f->rows[i], t->group.spans[0].n_gpus) };
        struct coll_plan plan;
        rc = coll_plan_make(&plan, &arena, net, &request, f->err);
        if (rc == 0)
            times_s[i] = coll_plan_time_s(&plan, net);
    }
    for (int64_t i = 0; i < f->n_tables; i++)
        if (nets[i])
            net_free(nets[i]);
    arena_release(&arena);
    return rc;
}

static void residuals(const double *values, double *out, void *arg)
{
    struct fabric_fit *f = arg;
    for (int32_t i = 0; i < f->n_params; i++)
        *place_in(f->fabric, &places[f->which[i]]) = values[i];
    if (predict(f, out)) {
        out[0] = (double)NAN;
        return;
    }
    for (int64_t i = 0; i < f->n; i++)
        out[i] = log(out[i] / f->rows[i]->time_s);
}

/* Tables --------------------------------------------------------------------------- */

static int set_table(struct table *t, const struct cluster *cluster,
                     struct fabric *fabric, struct err *err)
{
    const struct instance *inst = cluster->groups[0].instance;
    int64_t per_node = t->n_ranks / t->n_nodes;
    if (t->n_ranks % t->n_nodes || per_node > inst->n_gpus)
        return err_set(err,
                       "%" PRId64 " ranks on %" PRId64
                       " nodes do not go onto %s, which has %d GPUs "
                       "(name another by --instance)",
                       (int64_t)t->n_ranks, (int64_t)t->n_nodes, inst->name,
                       inst->n_gpus);
    t->instance = *inst;
    t->cluster = *cluster;
    t->cluster.n_groups = 1;
    t->cluster.groups[0].instance = &t->instance;
    t->cluster.groups[0].count = t->n_nodes;
    t->cluster.n_instances = t->n_nodes;
    t->cluster.n_gpus = t->n_nodes * cluster->groups[0].gpus_per_instance;
    if (fabric_is_inside(fabric))
        t->instance.inside = fabric;
    else
        t->cluster.fabric = fabric;
    t->group = coll_group_world(&t->cluster);
    t->group.spans[0].n_gpus = (int32_t)per_node;
    return 0;
}

/* The table of a row, made when there is none. */
static int32_t table_of(struct fabric_fit *f, const struct sample_coll *row)
{
    for (int64_t i = 0; i < f->n_tables; i++)
        if (f->tables[i].n_ranks == row->n_ranks &&
            f->tables[i].n_nodes == row->n_nodes)
            return (int32_t)i;
    f->tables[f->n_tables] =
        (struct table) { .n_ranks = row->n_ranks, .n_nodes = row->n_nodes };
    return (int32_t)f->n_tables++;
}

/* Rows of one operation and group are taken one in each eighth of an octave of sizes,
 * so that a table in equal steps does not count for its large sizes alone. */
static bool is_taken(const struct fabric_fit *f, const struct sample_coll *k,
                     int32_t table)
{
    double bucket = floor(8 * log2(k->bytes));
    for (int64_t i = 0; i < f->n; i++)
        if (f->table_of[i] == table && f->rows[i]->op == k->op &&
            floor(8 * log2(f->rows[i]->bytes)) == bucket)
            return false;
    return true;
}

/* Whether the operation can be planned on the table; an err that it cannot is dropped:
 * such rows are left to the table of links. */
static bool is_simulated(const struct table *t, const struct sample_coll *k)
{
    struct err err = { 0 };
    struct arena arena;
    struct coll_plan plan;
    struct coll_request request = { .op = k->op,
                                    .protocol = -1,
                                    .size_B = k->bytes,
                                    .groups = &t->group,
                                    .n_groups = 1 };
    struct net *net = net_new(&t->cluster, true, &err);
    arena_init(&arena);
    bool good = net && coll_plan_make(&plan, &arena, net, &request, &err) == 0 &&
                coll_plan_time_s(&plan, net) > 0;
    arena_release(&arena);
    if (net)
        net_free(net);
    return good;
}

static int collect(struct fabric_fit *f, const struct cluster *cluster,
                   const struct samples *s, struct err *err)
{
    bool inside = fabric_is_inside(f->fabric);
    size_t n = (size_t)s->colls.n + 1;
    f->rows = xmalloc(n * sizeof(const struct sample_coll *));
    f->table_of = xmalloc(n * sizeof(*f->table_of));
    f->tables = xmalloc(n * sizeof(*f->tables));
    for (int64_t i = 0; i < s->colls.n; i++) {
        const struct sample_coll *k = &s->colls.v[i];
        if (k->n_ranks < 2 || inside != (k->n_nodes == 1))
            continue;
        int64_t known = f->n_tables;
        int32_t table = table_of(f, k);
        if (f->n_tables > known &&
            set_table(&f->tables[table], cluster, f->fabric, err))
            return -1;
        if (!is_taken(f, k, table) || !is_simulated(&f->tables[table], k))
            continue;
        f->table_of[f->n] = table;
        f->rows[f->n++] = k;
    }
    if (f->n < ROWS_LEAST)
        return err_set(
            err,
            "%" PRId64 " measurement%s of collectives %s: too few for a fit (%d "
            "sizes are needed, %d to fit more than the efficiency)",
            (int64_t)f->n, units_plural(f->n),
            inside ? "inside a node" : "between nodes", ROWS_LEAST, ROWS_ALL);
    return 0;
}

/* The fit -------------------------------------------------------------------------- */

/* Whether any row's time depends on a place: those of algorithms that no row ran are
 * not worth a fit. */
static bool is_felt(struct fabric_fit *f, const struct place *p, const double *base_s,
                    double *times_s)
{
    double *v = place_in(f->fabric, p), start = *v;
    bool felt = false;
    for (int i = 0; i < 2; i++) {
        *v = calibration_within(i ? start / 2 : start * 2, p->min, p->max);
        if (predict(f, times_s))
            felt = true; /* the fit will say why */
        for (int64_t r = 0; r < f->n && !felt; r++)
            felt = fabs(times_s[r] / base_s[r] - 1) > 1e-9;
    }
    *v = start;
    return felt;
}

/* Few rows identify rates alone, and fewer of them than there are rows. */
static const char *kept_because(const struct fabric_fit *f, const struct place *p,
                                int32_t n_free)
{
    bool rate = strstr(p->name, "efficiency") || p->unit == UNIT_BYTES_PER_S;
    if (f->n >= ROWS_ALL || (rate && n_free + 1 < f->n))
        return NULL;
    return arena_printf(f->c->arena, "too few measurements (%d are needed)", ROWS_ALL);
}

static void set_params(struct fabric_fit *f, struct fit *fit,
                       struct calibration_term *terms, const double *base_s)
{
    const char *group = arena_printf(f->c->arena, "%s", f->fabric->name);
    double *times_s = xmalloc((size_t)f->n * sizeof(*times_s));
    int32_t n_free = 0;
    for (int32_t i = 0; i < PLACES_N; i++) {
        const struct place *p = &places[i];
        double v = *place_in(f->fabric, p);
        if (!isfinite(v) || v <= 0)
            continue;
        bool felt = is_felt(f, p, base_s, times_s);
        if (!felt && i >= RING_PLACES_N)
            continue;
        const char *kept = felt ? kept_because(f, p, n_free) : NULL;
        int32_t at = f->n_params++;
        f->which[at] = i;
        fit->params[at] = (struct fit_param) {
            .name = p->name,
            .start = calibration_within(v, p->min, p->max),
            .min = p->min,
            .max = p->max,
            .fixed = kept || !felt,
        };
        terms[at] = (struct calibration_term) { .group = group,
                                                .name = p->name,
                                                .path = p->path,
                                                .unit = p->unit,
                                                .base = v,
                                                .why = kept };
        n_free += !fit->params[at].fixed;
    }
    fit->n_params = f->n_params;
    free(times_s);
}

static const char *size_band(double bytes)
{
    return bytes < 65536     ? "below 64 KiB"
           : bytes < 1 << 20 ? "64 KiB to 1 MiB"
           : bytes < 1 << 25 ? "1 MiB to 32 MiB"
                             : "from 32 MiB";
}

static void add_figures(struct fabric_fit *f, const double *fitted, const double *base)
{
    static const double edges[] = { 1, 65536, 1 << 20, 1 << 25 };
    double *v = xmalloc((size_t)(3 * f->n) * sizeof(*v));
    for (int b = 0; b < 4; b++) {
        const char *band = size_band(edges[b]);
        int64_t n = 0;
        for (int64_t i = 0; i < f->n; i++)
            if (size_band(f->rows[i]->bytes) == band) {
                v[n] = fitted[i];
                v[f->n + n] = base[i];
                v[2 * f->n + n++] = f->rows[i]->time_s;
            }
        calibration_add_figure(f->c, arena_printf(f->c->arena, "collectives %s", band),
                               v, v + f->n, v + 2 * f->n, n);
    }
    free(v);
}

static int fit_rows(struct fabric_fit *f, struct err *err)
{
    struct fit fit = { .n = f->n, .residuals = residuals, .arg = f };
    struct calibration_term terms[PLACES_N];
    double *times = xmalloc((size_t)(2 * f->n) * sizeof(*times));
    int rc = predict(f, times + f->n);
    if (rc == 0) {
        set_params(f, &fit, terms, times + f->n);
        rc = fit_run_known(&fit, calibration_unreported, err);
    }
    for (int32_t i = 0; i < f->n_params && rc == 0; i++)
        *place_in(f->fabric, &places[f->which[i]]) = fit.params[i].value;
    if (rc == 0)
        rc = predict(f, times);
    if (rc == 0) {
        calibration_add_fit(f->c, &fit, terms);
        add_figures(f, times, times + f->n);
    }
    free(times);
    return rc;
}

int calibrate_fabric(struct calibration *c, struct fabric *fabric,
                     const struct cluster *cluster, const struct samples *s,
                     struct err *err)
{
    struct err plan_err = { 0 };
    struct fabric_fit f = { .c = c, .fabric = fabric, .err = &plan_err };
    c->base = fabric->name;
    int rc = collect(&f, cluster, s, err);
    if (rc == 0)
        rc = fit_rows(&f, err);
    if (rc && plan_err.set)
        *err = plan_err;
    free(f.tables);
    free(f.table_of);
    free(f.rows);
    return rc;
}
