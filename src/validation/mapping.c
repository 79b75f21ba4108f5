#include "validation/mapping.h"

#include "base/file.h"
#include "base/names.h"
#include "config/datadir.h"
#include "validation/groups.h"
#include "validation/value.h"

#include <math.h>
#include <string.h>

static const struct name_value read_names[] = { { "read", false },
                                                { "recalled", true },
                                                { NULL, 0 } };

/* The file as it is written. */
struct file {
    const char *source, *hardware, *row_name, *table;
    int recalled;
    bool held_out;
    struct cfg why, drop, keep, fitted, scenario, collective, kernel, measured,
        variants, choose, rank_by, bands, name_at, table_at, publisher, equal_at,
        system_at, healthy, outdone, run_states;
};

static const struct cfg_field file_fields[] = {
    CFG_ROW("source", CFG_T_STRING, struct file, source, .required = true),
    CFG_STRING("hardware", struct file, hardware),
    CFG_ENUM("read", struct file, recalled, read_names),
    CFG_BOOL("held_out", struct file, held_out),
    CFG_RENAMED("blind", "held_out"),
    CFG_CHILD("why", struct file, why),
    CFG_CHILD("drop", struct file, drop),
    CFG_CHILD("keep", struct file, keep),
    CFG_CHILD("fitted", struct file, fitted),
    CFG_CHILD("name", struct file, name_at),
    CFG_CHILD("scenario", struct file, scenario),
    CFG_CHILD("collective", struct file, collective),
    CFG_CHILD("kernel", struct file, kernel),
    CFG_CHILD("measured", struct file, measured),
    CFG_CHILD("variants", struct file, variants),
    CFG_CHILD("choose", struct file, choose),
    CFG_CHILD("rank_by", struct file, rank_by),
    CFG_CHILD("bands", struct file, bands),
    CFG_CHILD("tables", struct file, table_at),
    CFG_CHILD("publisher", struct file, publisher),
    CFG_CHILD("equal", struct file, equal_at),
    CFG_CHILD("system", struct file, system_at),
    CFG_CHILD("healthy", struct file, healthy),
    CFG_CHILD("outdone", struct file, outdone),
    CFG_CHILD("run_states", struct file, run_states),
    CFG_END,
};

struct reader {
    struct mapping *m;
    struct arena *arena;
    struct file file;
};

/* One of "scenario", "collective" and "kernel". */
static int read_subject(struct reader *r, struct cfg root)
{
    const struct cfg subjects[] = { [MAPPING_SCENARIO] = r->file.scenario,
                                    [MAPPING_COLLECTIVE] = r->file.collective,
                                    [MAPPING_KERNEL] = r->file.kernel };
    int n = 0;
    for (int kind = MAPPING_SCENARIO; kind <= MAPPING_KERNEL; kind++)
        if (cfg_present(subjects[kind])) {
            r->m->kind = (enum mapping_kind)kind;
            n++;
        }
    if (n != 1)
        return cfg_error(root, DIAG_MISSING,
                         "a mapping needs one of \"scenario\", \"collective\", "
                         "\"kernel\"");
    struct cfg subject = subjects[r->m->kind];
    if (!cfg_is_object(subject))
        return cfg_error(subject, DIAG_WRONG_TYPE, "should be an object");
    r->m->subject = subject.json;
    return mapping_check(subject, &r->m->csv);
}

static int find_variant(const struct mapping *m, const char *name)
{
    for (int32_t i = 0; i < m->n_variants; i++)
        if (strcmp(m->variants[i].name ? m->variants[i].name : "base", name) == 0)
            return i;
    return -1;
}

static int read_ratio(struct reader *r, struct mapping_measured *q, struct cfg value)
{
    const char *name;
    struct cfg ratio = cfg_get(value, "ratio_to");
    q->ratio_to = -1;
    q->key = q->name;
    if (!cfg_is_object(value) || !cfg_present(ratio))
        return 0;
    if (cfg_string(ratio, &name))
        return -1;
    q->ratio_to = find_variant(r->m, name);
    if (q->ratio_to < 0)
        return cfg_error(ratio, DIAG_UNKNOWN_NAME,
                         "no variant is called so (\"base\" is the scenario as "
                         "it is)");
    q->key = arena_printf(r->arena, "%s/%s", q->name, name);
    return 0;
}

static int read_measured(struct reader *r, struct mapping_variant *v, struct cfg object)
{
    int rc = 0;
    if (!cfg_present(object))
        return 0;
    if (!cfg_is_object(object) || cfg_len(object) == 0)
        return cfg_error(object, DIAG_WRONG_TYPE,
                         "should be an object: {\"step_time_s\": {\"expr\": "
                         "\"{COLUMN}\"}}");
    v->measured = ARENA_ARRAY(r->arena, cfg_len(object), struct mapping_measured);
    for (void *it = cfg_first(object); it; it = cfg_next(object, it)) {
        struct mapping_measured *q = &v->measured[v->n_measured++];
        struct cfg value = cfg_member(object, it);
        q->name = cfg_key(it);
        q->value = value.json;
        rc |= mapping_check_number(value, &r->m->csv) | read_ratio(r, q, value);
    }
    return rc;
}

struct variant_file {
    const char *name;
    struct cfg set, measured;
};

static const struct cfg_field variant_fields[] = {
    CFG_ROW("name", CFG_T_STRING, struct variant_file, name, .required = true),
    CFG_CHILD("set", struct variant_file, set),
    CFG_CHILD("measured", struct variant_file, measured),
    CFG_END,
};

static int check_pointers(struct cfg object, const struct csv *csv)
{
    int rc = 0;
    if (cfg_present(object) && !cfg_is_object(object))
        return cfg_error(object, DIAG_WRONG_TYPE,
                         "should be an object of pointers and their values");
    for (void *it = cfg_first(object); it; it = cfg_next(object, it)) {
        struct cfg value = cfg_member(object, it);
        if (cfg_key(it)[0] != '/')
            rc = cfg_error_key(value, DIAG_SYNTAX,
                               "is no JSON pointer (write "
                               "\"/training/micro_batch_size\")");
        rc |= mapping_check(value, csv);
    }
    return rc;
}

/* Names first, so that a ratio may be to a variant that comes later. */
static int read_variants(struct reader *r, struct cfg root)
{
    struct mapping *m = r->m;
    struct cfg list = r->file.variants;
    int64_t n = cfg_len(list);
    if (cfg_present(list) && (!cfg_is_array(list) || n > 100))
        return cfg_error(list, DIAG_WRONG_TYPE,
                         "should be an array of at most 100 variants");
    m->variants = ARENA_ARRAY(r->arena, n + 1, struct mapping_variant);
    struct variant_file *files = ARENA_ARRAY(r->arena, n + 1, struct variant_file);
    m->n_variants = 1;
    int rc = 0;
    for (int64_t i = 0; i < n; i++) {
        struct variant_file *f = &files[m->n_variants];
        if (cfg_read(cfg_at(list, i), variant_fields, f))
            return -1;
        if (find_variant(m, f->name) >= 0)
            rc = cfg_error(cfg_at(list, i), DIAG_CONTRADICTION,
                           "another variant is called so, too");
        rc |= check_pointers(f->set, &m->csv);
        m->variants[m->n_variants++] =
            (struct mapping_variant) { f->name, f->set, 0, NULL };
    }
    rc |= read_measured(r, &m->variants[0], r->file.measured);
    int64_t n_measured = m->variants[0].n_measured;
    for (int32_t i = 1; i < m->n_variants; i++) {
        rc |= read_measured(r, &m->variants[i], files[i].measured);
        n_measured += m->variants[i].n_measured;
    }
    if (rc == 0 && n_measured == 0)
        rc = cfg_error(root, DIAG_MISSING, "nothing is measured (write \"measured\")");
    return rc;
}

static int read_choices(struct reader *r)
{
    struct mapping *m = r->m;
    struct cfg object = r->file.choose;
    int64_t n_candidates = 1;
    int rc = check_pointers(object, &m->csv);
    if (!cfg_is_object(object))
        return rc;
    if (m->kind != MAPPING_SCENARIO)
        return cfg_error(object, DIAG_REFUSED_KEY, "is for scenarios");
    for (void *it = cfg_first(object); it; it = cfg_next(object, it)) {
        struct cfg values = cfg_member(object, it);
        if (!cfg_is_array(values) || cfg_len(values) == 0)
            return cfg_error(values, DIAG_WRONG_TYPE,
                             "should be an array of values to choose from");
        n_candidates *= cfg_len(values);
        if (m->n_choices == MAPPING_CHOICES_MAX ||
            n_candidates > MAPPING_CANDIDATES_MAX)
            return cfg_error(object, DIAG_OUT_OF_RANGE,
                             "at most %d fields and %d combinations",
                             MAPPING_CHOICES_MAX, MAPPING_CANDIDATES_MAX);
        m->choices[m->n_choices++] =
            (struct mapping_choice) { cfg_key(it), values.json };
    }
    return rc;
}

struct state_file {
    struct cfg set, chance;
    const char *why;
};

static const struct cfg_field state_fields[] = {
    CFG_CHILD("set", struct state_file, set),
    CFG_CHILD("chance", struct state_file, chance),
    CFG_ROW("why", CFG_T_STRING, struct state_file, why, .required = true),
    CFG_END,
};

static int read_run_states(struct reader *r)
{
    struct mapping *m = r->m;
    struct cfg list = r->file.run_states;
    if (!cfg_present(list))
        return 0;
    if (m->kind != MAPPING_SCENARIO || m->n_choices)
        return cfg_error(list, DIAG_REFUSED_KEY, "is for scenarios without \"choose\"");
    if (!cfg_is_array(list) || cfg_len(list) > RISK_STATES)
        return cfg_error(list, DIAG_WRONG_TYPE, "should be an array of at most %d",
                         RISK_STATES);
    for (int64_t i = 0; i < cfg_len(list); i++) {
        struct state_file f = { 0 };
        if (cfg_read(cfg_at(list, i), state_fields, &f) ||
            check_pointers(f.set, &m->csv) || mapping_check_number(f.chance, &m->csv))
            return -1;
        m->states[m->n_states++] = (struct mapping_state) { f.set, f.chance.json };
    }
    return 0;
}

struct bands_file {
    struct cfg of, edges;
    bool cumulative;
};

static const struct cfg_field bands_fields[] = {
    CFG_CHILD("of", struct bands_file, of),
    CFG_CHILD("edges", struct bands_file, edges),
    CFG_BOOL("cumulative", struct bands_file, cumulative),
    CFG_END,
};

static int read_bands(struct reader *r)
{
    struct mapping *m = r->m;
    struct bands_file f = { 0 };
    if (!cfg_present(r->file.bands))
        return 0;
    if (cfg_read(r->file.bands, bands_fields, &f) ||
        mapping_check_number(f.of, &m->csv))
        return -1;
    if (!cfg_is_array(f.edges) || cfg_len(f.edges) < 1 || cfg_len(f.edges) > 100)
        return cfg_error(f.edges, DIAG_WRONG_TYPE,
                         "should be an array of 1 to 100 rising numbers");
    m->edges = ARENA_ARRAY(r->arena, cfg_len(f.edges), double);
    for (int64_t i = 0; i < cfg_len(f.edges); i++) {
        double least = i ? m->edges[i - 1] : (double)-INFINITY;
        if (cfg_real(cfg_at(f.edges, i), &m->edges[i], -INFINITY, INFINITY))
            return -1;
        if (m->edges[i] <= least)
            return cfg_error(cfg_at(f.edges, i), DIAG_OUT_OF_RANGE,
                             "edges should rise");
    }
    m->n_edges = (int32_t)cfg_len(f.edges);
    m->band_of = f.of.json;
    m->cumulative = f.cumulative;
    return 0;
}

static int read_template(struct cfg value, const struct csv *csv, const char **text)
{
    if (!cfg_present(value))
        return 0;
    if (mapping_check_text(value, csv))
        return -1;
    *text = json_string_value(value.json);
    return 0;
}

static int read_mapping(struct reader *r, struct cfg root)
{
    struct mapping *m = r->m;
    int rc = cfg_read(root, file_fields, &r->file);
    m->source = r->file.source;
    m->hardware = r->file.hardware;
    m->recalled = r->file.recalled;
    m->held_out = r->file.held_out;
    if (cfg_present(r->file.why) && !cfg_is_object(r->file.why))
        rc = cfg_error(r->file.why, DIAG_WRONG_TYPE,
                       "should be an object: {\"/training/optimizer\": "
                       "\"why this value\"}");
    rc |= read_template(r->file.name_at, &m->csv, &m->row_name);
    rc |= read_template(r->file.table_at, &m->csv, &m->table);
    if (cfg_present(r->file.publisher)) {
        m->publisher = r->file.publisher.json;
        rc |= mapping_check(r->file.publisher, &m->csv);
    }
    rc |= read_template(r->file.equal_at, &m->csv, &m->equal);
    rc |= read_template(r->file.system_at, &m->csv, &m->system);
    rc |= filters_read(&m->filters, r->file.drop, r->file.keep, &m->csv);
    rc |= filters_read(&m->fitted, r->file.fitted, (struct cfg) { 0 }, &m->csv);
    rc |= read_subject(r, root);
    rc |= read_variants(r, root);
    rc |= read_choices(r);
    rc |= read_run_states(r);
    if (cfg_present(r->file.rank_by))
        rc |= groups_read_columns(&m->rank_by, r->file.rank_by, &m->csv, r->arena);
    rc |= groups_read_healthy(&m->healthy, r->file.healthy, &m->csv, r->arena);
    rc |= groups_read_outdone(&m->outdone, r->file.outdone, &m->csv, r->arena);
    rc |= read_bands(r);
    return rc ? -1 : 0;
}

/* The table next to a mapping that is given by its path, or in ../data from there; else
 * that of validate/data. */
static const char *table_of(struct arena *arena, const char *name)
{
    size_t n = strlen(name);
    bool file = names_ends(name, ".json");
    const char *slash = strrchr(name, '/');
    if (!file && !slash)
        return arena_printf(arena, "%s/validate/data/%s.csv", datadir_root(arena),
                            name);
    const char *base = slash ? slash + 1 : name;
    int stem = (int)(n - (size_t)(base - name) - (file ? strlen(".json") : 0));
    const char *next = arena_printf(arena, "%.*s%.*s.csv", (int)(base - name), name,
                                    stem, base),
               *other = arena_printf(arena, "%.*s../data/%.*s.csv", (int)(base - name),
                                     name, stem, base);
    return !file_is_there(next) && file_is_there(other) ? other : next;
}

int mapping_load(struct mapping *m, struct cfg_loader *loader, const char *name,
                 const char *data)
{
    *m = (struct mapping) { .name = name };
    struct reader r = { .m = m, .arena = &loader->arena };
    if (!data)
        data = table_of(r.arena, name);
    struct cfg root = datadir_load(loader, "validate/cases", name, (struct cfg) { 0 });
    if (!root.json || csv_load(&m->csv, loader, data))
        return -1;
    if (!cfg_is_object(root))
        return cfg_error(root, DIAG_WRONG_TYPE, "a mapping is an object");
    return read_mapping(&r, root);
}

void mapping_release(struct mapping *m)
{
    filters_release(&m->filters);
    filters_release(&m->fitted);
}
