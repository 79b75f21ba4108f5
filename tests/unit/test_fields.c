/* Every field of every table acts, is refused, or is warned of by name: never nothing.
 * tests/walk/bases.json has the scenarios on which each is changed, file_bases.json more
 * for the files that scenarios name, values.json values that a field's kind does not
 * give, silent.json the fields that no result can show. */
#include "config/datadir.h"
#include "config/pointer.h"
#include "sample.h"
#include "walk.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

void test_fields_register(void);

struct data {
    struct cfg_loader loader;
    json_t *bases, *file_bases, *values, *silent;
};

static json_t *data_file(struct cfg_loader *loader, const char *name)
{
    const char *file = arena_printf(&loader->arena, "%s/tests/walk/%s",
                                    datadir_root(&loader->arena), name);
    struct cfg root = cfg_load(loader, file);
    diags_print_errors(&loader->diags, stderr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root.json);
    return root.json;
}

static void data_load(struct data *d)
{
    cfg_loader_init(&d->loader);
    d->bases = data_file(&d->loader, "bases.json");
    d->file_bases = data_file(&d->loader, "file_bases.json");
    d->values = data_file(&d->loader, "values.json");
    d->silent = data_file(&d->loader, "silent.json");
}

/* Not all are walked, so that rows may be without a case. */
static bool in_part(void)
{
    return getenv("WALK") || sample_every() > 1;
}

/* --- fields of scenarios ---------------------------------------------------------- */

struct base {
    const char *name;
    json_t *scenario;
    struct walk_outcome outcome;
    struct walk_fields fields;
    struct cfg_loader loader;
};

/* A field on a base: what is found of it. */
struct finding {
    const struct base *base;
    const struct walk_field *field;
    bool idle;
    char *tried;
};

/* Whether the part of the scenario that the field is in is there. */
static bool is_walked(const struct base *b, const char *pointer)
{
    static const char *const always[] = { "training", "software", "parallelism" };
    char part[64];
    size_t n = strcspn(pointer + 1, "/");
    if (n == strlen(pointer + 1))
        return true;
    snprintf(part, sizeof(part), "%.*s", (int)n, pointer + 1);
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
        if (strcmp(part, always[i]) == 0)
            return true;
    return json_object_get(b->scenario, part) != NULL;
}

/* No value acts or is warned of, and none is refused by name, or two of them, or what
 * is there and one, come to the same. */
static bool is_idle(const struct base *b, const struct walk_field *f,
                    const json_t *given, char **tried, struct cfg_loader *shared)
{
    const json_t *at = pointer_get(b->scenario, f->pointer);
    json_t *values = walk_values(&f->field, at, given);
    int of[5] = { [WALK_NOTHING] = at != NULL };
    const char *key = strrchr(f->pointer, '/') + 1;
    for (size_t i = 0; i < json_array_size(values) && !of[WALK_ACTS] && !of[WALK_WARNS];
         i++) {
        struct walk_outcome after;
        const struct walk_change change = { "", f->pointer, json_array_get(values, i) };
        walk_run(&after, b->scenario, &change, shared);
        enum walk_effect e = walk_effect(&b->outcome, &after, key);
        of[e == WALK_UNNAMED && walk_blames(&after, f->pointer) ? WALK_REFUSED : e]++;
        walk_outcome_release(&after);
    }
    *tried = json_dumps(values, JSON_COMPACT);
    bool none = json_array_size(values) == 0;
    json_decref(values);
    return !none && of[WALK_ACTS] + of[WALK_WARNS] == 0 &&
           of[WALK_NOTHING] >= (of[WALK_REFUSED] > 0 ? 2 : 0);
}

static int count_findings(const struct base *bases, int n, struct finding *out)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < bases[i].fields.n; k++) {
            if (!is_walked(&bases[i], bases[i].fields.v[k].pointer))
                continue;
            if (out)
                out[count] = (struct finding) { .base = &bases[i],
                                                .field = &bases[i].fields.v[k] };
            count++;
        }
    return count;
}

static json_t *silent_row(const struct data *d, const struct finding *f)
{
    for (size_t i = 0; i < json_array_size(d->silent); i++) {
        json_t *row = json_array_get(d->silent, i);
        const char *field = json_string_value(json_object_get(row, "field"));
        const char *base = json_string_value(json_object_get(row, "base"));
        if (strcmp(field, f->field->pointer) == 0 &&
            (strcmp(base, "*") == 0 || strcmp(base, f->base->name) == 0))
            return row;
    }
    return NULL;
}

static void check_findings(const struct data *d, const struct finding *all, int n)
{
    int missing = 0;
    json_t *met = json_object();
    for (int i = 0; i < n; i++) {
        json_t *row = all[i].idle ? silent_row(d, &all[i]) : NULL;
        char key[32];
        snprintf(key, sizeof(key), "%p", (void *)row);
        if (row)
            json_object_set_new(met, key, json_true());
        if (!all[i].idle || row)
            continue;
        missing++;
        fprintf(stderr, "%s: %s: no value acts, is refused or warned of: %s\n",
                all[i].base->name, all[i].field->pointer, all[i].tried);
    }
    CU_ASSERT_EQUAL(missing, 0);
    for (size_t i = 0; i < json_array_size(d->silent); i++) {
        json_t *row = json_array_get(d->silent, i);
        char key[32];
        snprintf(key, sizeof(key), "%p", (void *)row);
        const char *base = json_string_value(json_object_get(row, "base"));
        bool is_met =
            json_object_get(met, key) || strcmp(base, "files") == 0 || in_part();
        CU_ASSERT_TRUE(is_met);
        if (!is_met)
            fprintf(stderr, "silent.json: %s is not silent any more\n",
                    json_string_value(json_object_get(row, "field")));
    }
    json_decref(met);
}

enum { BASES_MAX = 40 };

static int base_init(struct base *b, const char *name, json_t *scenario, bool files)
{
    *b = (struct base) { .name = name, .scenario = scenario };
    cfg_loader_init(&b->loader);
    walk_fields_find(&b->fields, &b->loader, scenario, files);
    walk_run(&b->outcome, scenario, NULL, NULL);
    CU_ASSERT_FALSE(b->outcome.failed);
    if (b->outcome.failed)
        json_dumpf(b->outcome.said, stderr, JSON_INDENT(1));
    return 1;
}

static int add_bases(struct base *bases, int n, json_t *scenarios, bool files)
{
    const char *name, *only = getenv("WALK");
    json_t *scenario;
    json_object_foreach(scenarios, name, scenario)
    {
        CU_ASSERT_FATAL(n < BASES_MAX);
        if (!only || strcmp(only, name) == 0)
            n += base_init(&bases[n], name, scenario, files);
    }
    return n;
}

/* All of them, or that of $WALK; how many. */
static int bases_init(struct base *bases, const struct data *d, bool files)
{
    int n = add_bases(bases, 0, d->bases, files);
    return files ? add_bases(bases, n, d->file_bases, files) : n;
}

static void bases_release(struct base *bases, int n)
{
    for (int i = 0; i < n; i++) {
        walk_outcome_release(&bases[i].outcome);
        free(bases[i].fields.v);
        cfg_loader_release(&bases[i].loader);
    }
}

static void find_idle(const struct data *d, struct finding *all, int n)
{
    const int every = sample_every();
#pragma omp parallel
    {
        struct cfg_loader shared; /* a thread's own */
        cfg_loader_init(&shared);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < n; i += every)
            all[i].idle = !all[i].base->outcome.failed &&
                          is_idle(all[i].base, all[i].field,
                                  json_object_get(d->values, all[i].field->pointer),
                                  &all[i].tried, &shared);
        cfg_loader_release(&shared);
    }
}

static void test_scenarios(void)
{
    struct data d;
    struct base bases[BASES_MAX];
    data_load(&d);
    int n = bases_init(bases, &d, false);
    int count = count_findings(bases, n, NULL);
    struct finding *all = calloc((size_t)count, sizeof(*all));
    count_findings(bases, n, all);
    find_idle(&d, all, count);
    check_findings(&d, all, count);
    for (int i = 0; i < count; i++)
        free(all[i].tried);
    free(all);
    bases_release(bases, n);
    cfg_loader_release(&d.loader);
}

/* --- fields of the files that scenarios name ------------------------------------- */

/* A key of a table of files: it acts in some of the documents that have it. */
struct file_key {
    const struct walk_field *field;
    bool acts;
};

enum { FILE_KEYS_MAX = 1024, FILE_TRIES = 128, FILE_VALUES = 4 };

static bool same_key(const struct walk_field *a, const struct walk_field *b)
{
    return a->table == b->table && strcmp(a->field.key, b->field.key) == 0;
}

static int list_keys(const struct base *bases, int n, struct file_key *keys)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < bases[i].fields.n; k++) {
            const struct walk_field *f = &bases[i].fields.v[k];
            int at = 0;
            while (at < count && !same_key(keys[at].field, f))
                at++;
            CU_ASSERT_FATAL(count < FILE_KEYS_MAX);
            if (at == count && f->field.type != CFG_T_CHILD)
                keys[count++] = (struct file_key) { .field = f };
        }
    return count;
}

/* What has to be refused: a name that nothing has, an old key next to the new one. */
static bool may_refuse(enum cfg_type type)
{
    return type == CFG_T_STRING || type == CFG_T_RENAMED || type == CFG_T_REFUSED;
}

/* One value is enough that changes the result, or is refused. */
static bool acts_on(const struct base *b, const struct walk_field *f,
                    const json_t *given)
{
    const json_t *at = walk_value_of(&b->loader, f);
    json_t *values = walk_values(&f->field, at, given);
    bool acts = false;
    for (size_t i = 0; i < json_array_size(values) && i < FILE_VALUES && !acts; i++) {
        struct walk_outcome after;
        const struct walk_change change = { f->document, f->pointer,
                                            json_array_get(values, i) };
        walk_run(&after, b->scenario, &change, NULL);
        enum walk_effect e = walk_effect(&b->outcome, &after, f->field.key);
        acts = e == WALK_ACTS || e == WALK_WARNS ||
               (e == WALK_REFUSED && may_refuse(f->field.type));
        walk_outcome_release(&after);
    }
    json_decref(values);
    return acts;
}

static bool key_acts(const struct base *bases, int n, const struct walk_field *key,
                     const json_t *given)
{
    int tries = 0;
    for (int i = n - 1; i >= 0; i--) /* those for files come last */
        for (int k = 0; k < bases[i].fields.n; k++) {
            const struct walk_field *f = &bases[i].fields.v[k];
            if (!same_key(key, f) || tries++ >= FILE_TRIES)
                continue;
            if (acts_on(&bases[i], f, given))
                return true;
        }
    return false;
}

/* The row of a key that no result of the bases shows, or NULL. */
static json_t *file_row(const struct data *d, const char *key)
{
    for (size_t i = 0; i < json_array_size(d->silent); i++) {
        json_t *row = json_array_get(d->silent, i);
        if (strcmp(json_string_value(json_object_get(row, "base")), "files") == 0 &&
            strcmp(json_string_value(json_object_get(row, "field")), key) == 0)
            return row;
    }
    return NULL;
}

/* A key that acts nowhere needs a row; a row whose keys all act somewhere is stale. */
static void check_keys(const struct data *d, const struct file_key *keys, int n)
{
    for (int i = 0; i < n; i++) {
        const struct walk_field *f = keys[i].field;
        json_t *row = file_row(d, f->field.key);
        bool reported = keys[i].acts || row;
        CU_ASSERT_TRUE(reported);
        if (!reported)
            fprintf(stderr, "%s: %s: no value acts\n", f->document, f->pointer);
        if (row && !keys[i].acts)
            json_object_set_new(row, "met", json_true());
    }
    for (size_t i = 0; i < json_array_size(d->silent) && !in_part(); i++) {
        json_t *row = json_array_get(d->silent, i);
        const char *base = json_string_value(json_object_get(row, "base"));
        bool stale = strcmp(base, "files") == 0 && !json_object_get(row, "met");
        CU_ASSERT_FALSE(stale);
        if (stale)
            fprintf(stderr, "silent.json: %s of files is not silent any more\n",
                    json_string_value(json_object_get(row, "field")));
    }
}

static void test_files(void)
{
    struct data d;
    struct base bases[BASES_MAX];
    static struct file_key keys[FILE_KEYS_MAX];
    data_load(&d);
    int n = bases_init(bases, &d, true), count = list_keys(bases, n, keys);
    const int every = sample_every();
    CU_ASSERT(count > 100 || getenv("WALK"));
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < count; i++)
        keys[i].acts =
            i % every || key_acts(bases, n, keys[i].field,
                                  json_object_get(d.values, keys[i].field->field.key));
    check_keys(&d, keys, count);
    bases_release(bases, n);
    cfg_loader_release(&d.loader);
}

void test_fields_register(void)
{
    CU_pSuite suite = CU_add_suite("fields", NULL, NULL);
    CU_add_test(suite, "scenarios", test_scenarios);
    CU_add_test(suite, "files", test_files);
}
