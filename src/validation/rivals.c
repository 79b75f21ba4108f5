#include "validation/rivals.h"

#include "base/names.h"
#include "base/vec.h"
#include "config/csv.h"
#include "config/datadir.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "validate/arena"

/* validate/arena/NAME.json as it is written. */
struct rival_file {
    const char *name, *version, *source;
    struct cfg cases, claims;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("name", CFG_T_STRING, struct rival_file, name, .required = true),
    CFG_ROW("version", CFG_T_STRING, struct rival_file, version, .required = true),
    CFG_ROW("source", CFG_T_STRING, struct rival_file, source, .required = true),
    CFG_CHILD("cases", struct rival_file, cases),
    CFG_CHILD("claims", struct rival_file, claims),
    CFG_END,
};

static const struct cfg_field case_fields[] = {
    CFG_ROW("how", CFG_T_STRING, struct rival, how, .required = true),
    CFG_STRING("tuned", struct rival, tuned),
    CFG_QUANTITY("row", struct rival, row_s, UNIT_SECONDS, 0, 1e6),
    CFG_END,
};

static const struct cfg_field claim_fields[] = {
    CFG_ROW("what", CFG_T_STRING, struct rival_claim, what, .required = true),
    CFG_ROW("mean_error", CFG_T_REAL, struct rival_claim, mean_error, .required = true,
            .min = 0, .max = 1e3),
    CFG_END,
};

/* A table of predictions ------------------------------------------------------------ */

struct predictions {
    struct csv csv;
    int64_t row, seconds, bytes; /* columns; bytes -1: none */
};

static int find_columns(struct predictions *p, struct cfg_loader *loader)
{
    p->row = csv_column(&p->csv, "row");
    p->seconds = csv_column(&p->csv, "seconds");
    p->bytes = csv_column(&p->csv, "bytes");
    if (p->row >= 0 && p->seconds >= 0)
        return 0;
    diags_add(&loader->diags, diag_at_line(DIAG_ERROR, DIAG_MISSING, p->csv.file, 1),
              "no column \"%s\" (the header is row,seconds or row,seconds,bytes)",
              p->row < 0 ? "row" : "seconds");
    return -1;
}

/* A cell as a number above 0; NAN: it is empty, or none, which is reported. */
static double number(const struct predictions *p, struct cfg_loader *loader,
                     int64_t row, int64_t column)
{
    const char *cell = column >= 0 ? csv_cell(&p->csv, row, column) : "";
    char *end;
    double v = strtod(cell, &end);
    if (*cell == '\0')
        return (double)NAN;
    if (*end == '\0' && v > 0 && isfinite(v))
        return v;
    diags_add(&loader->diags,
              diag_at_line(DIAG_ERROR, DIAG_WRONG_TYPE, p->csv.file, p->csv.lines[row]),
              "%s: \"%.40s\" is no number above 0 (leave the cell empty where there "
              "is no prediction)",
              p->csv.columns[column], cell);
    return (double)NAN;
}

/* Joining --------------------------------------------------------------------------- */

struct named {
    const char *name;
    int64_t at;
    bool taken; /* by a row of the simulator */
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static bool is_memory(const char *key)
{
    return strncmp(key, "/memory/", 8) == 0;
}

/* Quantities that follow from the step's time as rates do; no others. */
static bool is_rate(const char *key)
{
    static const char *const rates[] = {
        "samples_per_s", "tokens_per_s", "model_flops_per_gpu_s", "mfu", "hfu", NULL
    };
    return names_listed(rates, key);
}

/* Puts a prediction in the place of ours, NAN none; quantities that it says nothing of
 * go. */
static void predict(struct mapping_outcome *o, struct arena *arena, double seconds,
                    double bytes)
{
    const struct mapping_quantity *ours = o->quantities;
    double slower = seconds / o->step_s;
    int32_t n = 0;
    o->quantities = ARENA_ARRAY(arena, o->n_quantities + 1, struct mapping_quantity);
    for (int32_t i = 0; i < o->n_quantities; i++) {
        struct mapping_quantity q = ours[i];
        if (strcmp(q.key, "step_time_s") == 0)
            q.predicted = seconds;
        else if (is_rate(q.key))
            q.predicted /= slower;
        else
            q.predicted = is_memory(q.key) ? bytes : (double)NAN;
        if (isfinite(q.predicted))
            o->quantities[n++] = q;
    }
    o->n_quantities = n;
    o->has_rate = o->has_rate && isfinite(slower);
    o->rate_predicted = o->rate / slower;
    o->has_fits = false; /* it says bytes, not whether they are there */
    o->by_regret = false;
}

static void begin_run(struct rival *r, struct arena *arena,
                      const struct mapping_run *run)
{
    r->run = *run;
    r->run.n_failed = r->run.n_wrong_fits = 0;
    r->run.outcomes = ARENA_ARRAY(arena, run->n_outcomes + 1, struct mapping_outcome);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        r->run.outcomes[i] = run->outcomes[i];
        r->run.outcomes[i].error = "no prediction";
    }
}

/* The outcomes by name, in the order of the table where names are equal. */
static struct named *names_sorted(struct arena *arena, const struct mapping_run *run)
{
    struct named *names = ARENA_ARRAY(arena, run->n_outcomes + 1, struct named);
    for (int64_t i = 0; i < run->n_outcomes; i++)
        names[i] = (struct named) { run->outcomes[i].name, i, false };
    if (run->n_outcomes)
        qsort(names, (size_t)run->n_outcomes, sizeof(*names), by_name);
    return names;
}

/* The first outcome of that name that no row of the simulator has taken; -1: none. */
static int64_t take_outcome(struct named *names, int64_t n, const char *name)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (strcmp(names[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < n && strcmp(names[low].name, name) == 0; low++)
        if (!names[low].taken) {
            names[low].taken = true;
            return names[low].at;
        }
    return -1;
}

/* Rows of the simulator that the table has not, by the first of them. */
static void warn_elsewhere(const struct rival *r, struct cfg_loader *loader,
                           const struct mapping_run *run, const struct predictions *p,
                           int64_t first)
{
    bool all = r->n_elsewhere == p->csv.n_rows;
    if (r->n_elsewhere == 0 || (r->version[0] && !all))
        return; /* of a part of the table the shipped files have more */
    struct diag at =
        diag_at_line(DIAG_WARNING, DIAG_UNKNOWN_NAME, p->csv.file, p->csv.lines[first]);
    diags_add(&loader->diags, at,
              "\"%s\" is no row of %s that is left%s%s%s; %" PRId64 " of %" PRId64
              " rows are none (rows are named as `smsim validate %s --rows` has them)",
              csv_cell(&p->csv, first, p->row), run->mapping->name,
              all && run->n_outcomes ? ", whose first is \"" : "",
              all && run->n_outcomes ? run->outcomes[0].name : "",
              all && run->n_outcomes ? "\"" : "", r->n_elsewhere, p->csv.n_rows,
              run->mapping->name);
}

static void join(struct rival *r, struct cfg_loader *loader, struct arena *arena,
                 const struct mapping_run *run, const struct predictions *p)
{
    struct named *names = names_sorted(arena, run);
    int64_t first = -1;
    begin_run(r, arena, run);
    for (int64_t i = 0; i < p->csv.n_rows; i++) {
        double seconds = number(p, loader, i, p->seconds),
               bytes = number(p, loader, i, p->bytes);
        int64_t at = take_outcome(names, run->n_outcomes, csv_cell(&p->csv, i, p->row));
        r->n_elsewhere += at < 0;
        first = at < 0 && first < 0 ? i : first;
        bool says = isfinite(seconds) || isfinite(bytes);
        if (at < 0 || !says || run->outcomes[at].error ||
            !(run->outcomes[at].step_s > 0))
            continue;
        r->run.outcomes[at].error = NULL;
        predict(&r->run.outcomes[at], arena, seconds, bytes);
    }
    for (int64_t i = 0; i < run->n_outcomes; i++)
        r->run.n_failed += r->run.outcomes[i].error != NULL;
    warn_elsewhere(r, loader, run, p, first);
}

/* Ours of the rows that it predicts. */
static void summarise_ours(struct rival *r, struct arena *arena,
                           const struct mapping_run *run)
{
    struct mapping_run same = *run;
    same.outcomes = ARENA_ARRAY(arena, run->n_outcomes + 1, struct mapping_outcome);
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        same.outcomes[i] = run->outcomes[i];
        if (r->run.outcomes[i].error)
            same.outcomes[i].error = "not compared";
    }
    summary_make(&r->ours, arena, &same);
}

static int add(struct rivals *all, struct cfg_loader *loader, struct arena *arena,
               const struct mapping_run *run, struct rival r, const char *file)
{
    struct predictions p;
    struct rival *grown = ARENA_ARRAY(arena, all->n + 1, struct rival);
    int64_t errors = loader->diags.n_errors;
    if (csv_load(&p.csv, loader, file) || find_columns(&p, loader))
        return -1;
    join(&r, loader, arena, run, &p);
    summary_make(&r.summary, arena, &r.run);
    summarise_ours(&r, arena, run);
    if (all->n)
        memcpy(grown, all->v, (size_t)all->n * sizeof(*grown));
    grown[all->n] = r;
    *all = (struct rivals) { all->n + 1, grown };
    return loader->diags.n_errors > errors ? -1 : 0;
}

/* validate/arena -------------------------------------------------------------------- */

static int read_file(struct rival_file *f, struct cfg_loader *loader, const char *name)
{
    *f = (struct rival_file) { 0 };
    struct cfg root = datadir_load(loader, FOLDER, name, (struct cfg) { 0 });
    return root.json ? cfg_read(root, file_fields, f) : -1;
}

bool rivals_known(struct cfg_loader *loader, const char *table)
{
    bool known = false;
    for (const char **name = datadir_list(&loader->arena, FOLDER); *name; name++) {
        struct rival_file f;
        known |=
            read_file(&f, loader, *name) == 0 && cfg_present(cfg_get(f.cases, table));
    }
    return known;
}

int rivals_load(struct rivals *r, struct cfg_loader *loader, struct arena *arena,
                const struct mapping_run *run)
{
    int rc = 0;
    *r = (struct rivals) { 0 };
    for (const char **name = datadir_list(arena, FOLDER); *name; name++) {
        struct rival_file f;
        rc |= read_file(&f, loader, *name);
        struct cfg own = cfg_get(f.cases, run->mapping->name);
        struct rival one = { .name = f.name, .version = f.version, .source = f.source };
        if (!cfg_present(own))
            continue;
        const char *file = arena_printf(arena, "%s/" FOLDER "/%s/%s.csv",
                                        datadir_root(arena), *name, run->mapping->name);
        rc |= cfg_read(own, case_fields, &one) || add(r, loader, arena, run, one, file);
    }
    return rc ? -1 : 0;
}

int rivals_add(struct rivals *r, struct cfg_loader *loader, struct arena *arena,
               const struct mapping_run *run, const char *file)
{
    const struct rival one = { .name = file, .version = "", .source = "" };
    return add(r, loader, arena, run, one, file);
}

static int take_claims(struct rival_claims *c, struct arena *arena,
                       const struct rival_file *f)
{
    int64_t n = cfg_len(f->claims);
    struct rival_claim *grown = ARENA_ARRAY(arena, c->n + n + 1, struct rival_claim);
    int rc = 0;
    if (c->n)
        memcpy(grown, c->v, (size_t)c->n * sizeof(*grown));
    for (int64_t i = 0; i < n; i++) {
        grown[c->n] = (struct rival_claim) { .name = f->name, .source = f->source };
        rc |= cfg_read(cfg_at(f->claims, i), claim_fields, &grown[c->n++]);
    }
    c->v = grown;
    return rc;
}

int rivals_claims(struct rival_claims *c, struct cfg_loader *loader,
                  struct arena *arena)
{
    int rc = 0;
    *c = (struct rival_claims) { 0 };
    for (const char **name = datadir_list(arena, FOLDER); *name; name++) {
        struct rival_file f;
        rc |= read_file(&f, loader, *name) || take_claims(c, arena, &f);
    }
    return rc ? -1 : 0;
}
