/* Schemas and texts of keys: every key of every table has its text, no text is without
 * a key, examples and shipped files hold, files with wrong structure do not. */
#include "campaign/campaign.h"
#include "config/datadir.h"
#include "json_schema.h"
#include "report/report.h"
#include "schema/reference.h"
#include "simulate/result_json.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

void test_schema_register(void);

struct loaded {
    struct cfg_loader loader;
    struct reference r;
    json_t *schema;
};

static void load(struct loaded *l, const char *kind)
{
    cfg_loader_init(&l->loader);
    CU_ASSERT_EQUAL_FATAL(reference_load(&l->r, &l->loader, kind), 0);
    l->schema = reference_schema(&l->r);
}

static void release(struct loaded *l)
{
    json_decref(l->schema);
    reference_release(&l->r);
    cfg_loader_release(&l->loader);
}

static void expect(bool ok, const char *kind, const char *pointer, const char *what)
{
    CU_ASSERT_TRUE(ok);
    if (!ok)
        fprintf(stderr, "schemas/%s.json: %s: %s\n", kind, pointer, what);
}

/* --- texts ------------------------------------------------------------------------- */

static int count_words(const char *text)
{
    int n = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " "), n++)
        text += strcspn(text, " ");
    return n;
}

static bool is_child(const struct reference_key *key)
{
    return key->field && key->field->type == CFG_T_CHILD;
}

/* Whether the schema of a child comes from a table or from the text. */
static bool has_form(const struct reference *r, const struct reference_key *key)
{
    const char *pointer = key->pointer;
    const char *any = arena_printf(r->arena, "%s/*", pointer);
    size_t n = strlen(pointer);
    if (json_object_get(r->texts, any))
        return true;
    for (int64_t i = 0; i < r->tables.n; i++)
        if (strncmp(r->tables.v[i].pointer, pointer, n) == 0)
            return true;
    return json_object_get(key->text, "value") || json_object_get(key->text, "members");
}

static void check_key(const struct reference *r, const struct reference_key *key)
{
    const char *meaning = reference_text(key, "meaning");
    bool refused = key->field && (key->field->type == CFG_T_REFUSED ||
                                  key->field->type == CFG_T_RENAMED);
    bool same = json_object_get(key->text, "as") != NULL;
    if (refused) {
        expect(!key->text, r->kind, key->pointer,
               "is refused or renamed, and has a text");
        return;
    }
    expect(key->text != NULL, r->kind, key->pointer, "has no text");
    if (same || !key->text)
        return;
    expect(meaning != NULL, r->kind, key->pointer, "has no meaning");
    expect(!meaning || count_words(meaning) <= 25, r->kind, key->pointer,
           "is too long");
    expect(!key->field || key->field->required || reference_default(r, key), r->kind,
           key->pointer, "has no default");
    expect(!is_child(key) || has_form(r, key), r->kind, key->pointer, "has no form");
}

static bool has_key(const struct reference *r, const char *pointer)
{
    for (int64_t i = 0; i < r->keys.n; i++)
        if (strcmp(r->keys.v[i].pointer, pointer) == 0)
            return true;
    return false;
}

static void test_texts(void)
{
    for (int i = 0; reference_kinds[i]; i++) {
        struct loaded l;
        const char *pointer;
        json_t *text;
        load(&l, reference_kinds[i]);
        CU_ASSERT_TRUE(l.r.keys.n > 9);
        for (int64_t k = 0; k < l.r.keys.n; k++)
            check_key(&l.r, &l.r.keys.v[k]);
        json_object_foreach((json_t *)l.r.texts, pointer, text)
        {
            const char *as = json_string_value(json_object_get(text, "as"));
            expect(has_key(&l.r, pointer) || strchr(pointer, '*'), l.r.kind, pointer,
                   "is no key");
            expect(!as || has_key(&l.r, as) || strchr(as, '*'), l.r.kind, pointer,
                   "is the same as no key");
        }
        release(&l);
    }
}

/* --- examples ------------------------------------------------------------------------ */

/* The schema of a key; NULL: none. */
static const json_t *schema_at(const json_t *schema, const char *pointer)
{
    char part[128];
    const json_t *any = json_object_get(schema, "anyOf");
    if (!*pointer)
        return schema;
    for (size_t i = 0; i < json_array_size(any); i++) {
        const json_t *found = schema_at(json_array_get(any, i), pointer);
        if (found)
            return found;
    }
    size_t n = strcspn(pointer + 1, "/");
    snprintf(part, sizeof(part), "%.*s", (int)n, pointer + 1);
    const json_t *inner = json_object_get(json_object_get(schema, "properties"), part);
    if (strcmp(part, "*") == 0) {
        inner = json_object_get(schema, "items");
        inner = inner ? inner : json_object_get(schema, "additionalProperties");
    }
    return inner ? schema_at(inner, pointer + n + 1) : NULL;
}

/* An example of an object may show a part of it. */
static void check_example(const struct loaded *l, const struct reference_key *key)
{
    const json_t *example = json_object_get(key->text, "example");
    char why[200];
    if (!example || json_is_object(example))
        return;
    const json_t *schema = schema_at(l->schema, key->pointer);
    expect(schema != NULL, l->r.kind, key->pointer, "has no schema");
    if (schema && !json_schema_holds(l->schema, schema, example, why))
        expect(false, l->r.kind, key->pointer, why);
}

static void test_examples(void)
{
    for (int i = 0; reference_kinds[i]; i++) {
        struct loaded l;
        load(&l, reference_kinds[i]);
        for (int64_t k = 0; k < l.r.keys.n; k++)
            check_example(&l, &l.r.keys.v[k]);
        release(&l);
    }
}

/* --- files ------------------------------------------------------------------------- */

static void check_folder(const char *kind, const char *dir)
{
    struct loaded l;
    load(&l, kind);
    const char **names = datadir_list(&l.loader.arena, dir);
    CU_ASSERT_PTR_NOT_NULL(names[0]);
    for (int i = 0; names[i]; i++) {
        char why[200];
        struct cfg file = datadir_load(&l.loader, dir, names[i], (struct cfg) { 0 });
        if (!json_schema_holds(l.schema, l.schema, file.json, why))
            expect(false, kind, names[i], why);
    }
    release(&l);
}

static void test_shipped(void)
{
    check_folder("scenario", "scenarios");
    check_folder("sweep", "scenarios/sweeps");
    check_folder("gpu", "topologies/gpus");
    check_folder("instance", "topologies/instances");
    check_folder("fabric", "topologies/fabrics");
    check_folder("framework", "models/frameworks");
}

/* Shipped models hold; without a size that their family needs they do not, nor with
 * another type of it. */
static void test_models(void)
{
    struct cfg_loader loader;
    json_t *schema = model_schema();
    int64_t n = 0;
    cfg_loader_init(&loader);
    const char **names = datadir_list(&loader.arena, "models");
    for (int i = 0; names[i]; i++, n++) {
        struct cfg file = datadir_load(&loader, "models", names[i], (struct cfg) { 0 });
        char why[200];
        bool holds = json_schema_holds(schema, schema, file.json, why);
        expect(holds, "model", names[i], why);
        json_object_set_new(file.json, "vocab_size", json_string("many"));
        json_object_set_new(file.json, "padded_vocab_size", json_string("many"));
        expect(!json_schema_holds(schema, schema, file.json, NULL), "model", names[i],
               "holds with a size that is text");
        json_object_set_new(file.json, "model_type", json_string("no such type"));
        expect(!json_schema_holds(schema, schema, file.json, NULL), "model", names[i],
               "holds as no family");
    }
    CU_ASSERT_TRUE(n > 10);
    json_decref(schema);
    cfg_loader_release(&loader);
}

/* Those of tests/bad whose structure is wrong, not only what it means. */
static void test_bad(void)
{
    static const char *const bad[] = {
        "unknown-key",
        "wrong-types",
        "negative",
        "zero",
        "several-errors",
        "training-not-an-object",
        "no-unit",
        "wrong-unit",
        "missing-model",
        "nested-distribution",
        "smp-unknown-parameter",
        "job-unknown-key",
        "uncertainty-unknown-key",
    };
    struct loaded l;
    load(&l, "scenario");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *path = arena_printf(&l.loader.arena, "%s/tests/bad/%s/in.json",
                                        datadir_root(&l.loader.arena), bad[i]);
        struct cfg file = cfg_load(&l.loader, path);
        CU_ASSERT_PTR_NOT_NULL_FATAL(file.json);
        expect(!json_schema_holds(l.schema, l.schema, file.json, NULL), "scenario",
               bad[i], "holds, and should not");
    }
    release(&l);
}

/* --- no table is missed ---------------------------------------------------------------- */

static void note_table(void *arg, struct cfg object, const char *name,
                       const struct cfg_field *fields)
{
    struct reference *r = arg;
    if (strcmp(name, "scenario") == 0)
        reference_add_table(r, reference_pointer(r, object.path), fields);
}

static void read_base(struct reference *r, const json_t *base)
{
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct campaign c;
    const struct cfg_watch watch = { .table = note_table, .arg = r };
    cfg_loader_init(&loader);
    loader.watch = &watch;
    struct cfg root = cfg_from_tree(&loader, "scenario", json_deep_copy(base));
    if (scenario_read(&s, &loader, root) == 0)
        (void)campaign_read(&c, &s);
    cfg_loader_release(&loader);
}

/* Scenarios of all libraries are read by the tables that the probes found. */
static void test_tables(void)
{
    struct loaded l;
    const char *name;
    json_t *base;
    load(&l, "scenario");
    const char *path = arena_printf(&l.loader.arena, "%s/tests/walk/bases.json",
                                    datadir_root(&l.loader.arena));
    struct cfg bases = cfg_load(&l.loader, path);
    int64_t known = l.r.tables.n;
    json_object_foreach(bases.json, name, base)
    {
        read_base(&l.r, base);
    }
    for (int64_t i = known; i < l.r.tables.n; i++)
        expect(false, "scenario", l.r.tables.v[i].pointer, "is read, and not probed");
    release(&l);
}

/* --- results ------------------------------------------------------------------------- */

/* What simulate writes of a scenario; NULL: it cannot be simulated. */
static json_t *result_of(const json_t *scenario)
{
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct campaign c;
    struct campaign_result beyond;
    struct simulate_result r;
    struct err err = { 0 };
    const struct simulate_options step = { .network = FIDELITY_FLOW };
    const struct uncertainty_draws draws = { .network = FIDELITY_FLOW, .jobs = 1 };
    json_t *result = NULL;
    cfg_loader_init(&loader);
    const struct campaign_how how = { &step, &draws, interval_table_get(&loader) };
    struct cfg root = cfg_from_tree(&loader, "scenario", json_deep_copy(scenario));
    if (scenario_read(&s, &loader, root) == 0 && campaign_read(&c, &s) == 0 &&
        campaign_simulate(&r, &beyond, &loader, &c, &s, &how, &err) == 0)
        result = report_step_json(&s, &r, &beyond);
    cfg_loader_release(&loader);
    return result;
}

/* Of each library on several nodes, with and without what lies beyond a step. */
static void test_results(void)
{
    struct cfg_loader loader;
    const char *name;
    json_t *base;
    cfg_loader_init(&loader);
    const char *root = datadir_root(&loader.arena);
    json_t *schema = result_schema("simulate");
    struct cfg bases = cfg_load(
        &loader, arena_printf(&loader.arena, "%s/tests/walk/bases.json", root));
    json_object_foreach(bases.json, name, base)
    {
        char why[200] = "";
        json_t *result = result_of(base);
        CU_ASSERT_PTR_NOT_NULL_FATAL(result);
        bool holds = json_schema_holds(schema, schema, result, why);
        json_object_del(result, "step_time_s");
        bool lacks = !json_schema_holds(schema, schema, result, NULL);
        expect(holds, "results/simulate", name, why);
        expect(lacks, "results/simulate", name, "holds without a step time");
        json_decref(result);
    }
    json_decref(schema);
    cfg_loader_release(&loader);
}

/* clang-format off */
static CU_TestInfo tests[] = {
    { "every key has its text, every text its key", test_texts },
    { "examples hold", test_examples },
    { "shipped files hold", test_shipped },
    { "models hold", test_models },
    { "files of wrong structure do not", test_bad },
    { "no table is missed", test_tables },
    { "results hold", test_results },
    CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
    { "schema", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL,
};
/* clang-format on */

void test_schema_register(void)
{
    CU_register_suites(suites);
}
