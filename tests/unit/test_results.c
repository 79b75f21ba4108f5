/* What commands write as JSON keeps to its schema: the rows of tests/walk/results.txt,
 * run by the program itself. No member that the schema lacks, none missing, and each
 * member of each schema is in some result. */
#include "config/datadir.h"
#include "config/pointer.h"
#include "json_schema.h"
#include "sample.h"
#include "schema/reference.h"

#include <ctype.h>
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void test_results_register(void);

static void expect(bool ok, const char *where, const char *what)
{
    CU_ASSERT_TRUE(ok);
    if (!ok)
        fprintf(stderr, "results: %s: %s\n", where, what);
}

/* --- the program ------------------------------------------------------------------- */

/* What it writes: on standard output, or into the file; NULL: it ended otherwise. */
static char *output_of(const char *arguments, const char *file, int status)
{
    const char *smsim = getenv("SMSIM");
    char *text = NULL, command[1000];
    size_t size = 0;
    snprintf(command, sizeof(command), "%s %s 2>/dev/null </dev/null",
             smsim ? smsim : "build/smsim", arguments);
    FILE *out = popen(command, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    bool any = getdelim(&text, &size, '\0', out) >= 0;
    int rc = pclose(out);
    bool ended = WIFEXITED(rc) && WEXITSTATUS(rc) == status;
    expect(ended, arguments, "ended with another exit code");
    if (ended && file) {
        FILE *in = fopen(file, "r");
        CU_ASSERT_PTR_NOT_NULL_FATAL(in);
        any = getdelim(&text, &size, '\0', in) >= 0;
        fclose(in);
    }
    if (ended && any)
        return text;
    free(text);
    return NULL;
}

/* --- members that results have -------------------------------------------------------- */

struct seen {
    const json_t *root;
    json_t *pointers; /* of properties of the schema, as keys */
};

static void see(const struct seen *s, const json_t *schema, const char *at,
                const json_t *value);

static void see_members(const struct seen *s, const json_t *schema, const char *at,
                        const json_t *value)
{
    const json_t *members = json_object_get(schema, "properties");
    const json_t *other = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        char inner[400];
        const json_t *of = json_object_get(members, key);
        snprintf(inner, sizeof(inner), "%s/%s", at, key);
        if (of && !json_is_null(member))
            json_object_set_new(s->pointers, inner, json_true());
        if (of || json_is_object(other))
            see(s, of ? of : other, inner, member);
    }
}

/* Of several forms, that which the value has. */
static const json_t *form_of(const struct seen *s, const json_t *schema,
                             const json_t *value)
{
    const json_t *any = json_object_get(schema, "anyOf"), *one;
    size_t i;
    json_array_foreach(any, i, one)
    {
        if (json_schema_holds(s->root, one, value, NULL))
            return one;
    }
    return schema;
}

static void see(const struct seen *s, const json_t *schema, const char *at,
                const json_t *value)
{
    const json_t *form = form_of(s, schema, value), *element;
    const char *name = json_string_value(json_object_get(form, "$ref"));
    size_t i;
    if (name) {
        const char *last = strrchr(name, '/') + 1;
        form = json_object_get(json_object_get(s->root, "$defs"), last);
        at = last;
    }
    see_members(s, form, at, value);
    json_array_foreach(value, i, element)
    {
        see(s, json_object_get(form, "items"), at, element);
    }
}

/* Objects have no members but those listed, unless their members have one schema; what
 * is optional says so in its description. */
static void lint(const char *name, const struct seen *s, const json_t *schema,
                 const char *at)
{
    const json_t *members = json_object_get(schema, "properties");
    const json_t *other = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member;
    if (members)
        expect(json_is_false(other), name, at);
    json_object_foreach((json_t *)members, key, member)
    {
        char inner[400];
        snprintf(inner, sizeof(inner), "%s/%s", at, key);
        if (!json_object_get(s->pointers, inner))
            fprintf(stderr, "results: %s: no result has %s\n", name, inner);
        CU_ASSERT_PTR_NOT_NULL(json_object_get(s->pointers, inner));
        /* in "a/b" are names of a table: categories, precisions */
        expect(json_object_get(member, "description") || strchr(at, '/'), inner,
               "has no text");
        lint(name, s, member, inner);
    }
    if (json_object_get(schema, "items"))
        lint(name, s, json_object_get(schema, "items"), at);
}

static void lint_all(const char *name, const struct seen *s)
{
    const char *key;
    json_t *definition;
    lint(name, s, s->root, "");
    json_object_foreach(json_object_get(s->root, "$defs"), key, definition)
    {
        if (strcmp(key, "finding") != 0)
            lint(name, s, definition, key);
    }
}

/* --- results -------------------------------------------------------------------------- */

struct contracts {
    json_t *schemas, *seen; /* by name */
};

static json_t *schema_of(struct contracts *c, const char *name)
{
    json_t *schema = json_object_get(c->schemas, name);
    if (schema)
        return schema;
    schema = result_schema(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    json_object_set_new(c->schemas, name, schema);
    json_object_set_new(c->seen, name, json_object());
    return schema;
}

/* As it is it holds; with another member, or without one of those required, not. */
static void check_result(struct contracts *c, const char *name, const char *where,
                         json_t *result)
{
    char why[200] = "";
    size_t i;
    const json_t *schema = schema_of(c, name), *required;
    bool holds = json_schema_holds(schema, schema, result, why);
    expect(holds, where, why);
    CU_ASSERT_TRUE(
        json_equal(json_object_get(schema, "$id"), json_object_get(result, "schema")));
    json_object_set_new(result, "no such member", json_null());
    expect(!json_schema_holds(schema, schema, result, NULL), where,
           "holds with an unknown member");
    json_object_del(result, "no such member");
    json_array_foreach(json_object_get(schema, "required"), i, required)
    {
        json_t *copy = json_copy(result);
        json_object_del(copy, json_string_value(required));
        expect(!json_schema_holds(schema, schema, copy, NULL), where,
               json_string_value(required));
        json_decref(copy);
    }
    const struct seen seen = { schema, json_object_get(c->seen, name) };
    see(&seen, schema, "", result);
}

/* One document, or one a line. */
static void check_output(struct contracts *c, const char *name, const char *where,
                         char *text, bool lines)
{
    char *save = NULL;
    char *from = lines ? strtok_r(text, "\n", &save) : text;
    for (; from; from = lines ? strtok_r(NULL, "\n", &save) : NULL) {
        json_t *result = json_loads(from, JSON_REJECT_DUPLICATES, NULL);
        expect(result != NULL, where, "is no JSON");
        if (result)
            check_result(c, name, where, result);
        json_decref(result);
    }
}

static const char *trimmed(char *text)
{
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text + strspn(text, " ");
}

/* "OUT" is the folder. */
static void with_folder(char *to, size_t size, const char *from, const char *folder)
{
    const char *out = strstr(from, "OUT");
    if (out)
        snprintf(to, size, "%.*s%s%s", (int)(out - from), from, folder, out + 3);
    else
        snprintf(to, size, "%s", from);
}

static void check_row(struct contracts *c, char *line)
{
    char *save = NULL, folder[64], remove_it[100], arguments[800], file[200];
    const char *name = trimmed(strtok_r(line, "|", &save));
    int status = atoi(strtok_r(NULL, "|", &save));
    const char *words = trimmed(strtok_r(NULL, "|", &save));
    char *rest = strtok_r(NULL, "|", &save);
    snprintf(folder, sizeof(folder), "/tmp/smsim-results-%d", (int)getpid());
    snprintf(remove_it, sizeof(remove_it), "rm -rf %s", folder);
    with_folder(arguments, sizeof(arguments), words, folder);
    with_folder(file, sizeof(file), rest ? trimmed(rest) : "", folder);
    char *text = output_of(arguments, rest ? file : NULL, status);
    expect(text || rest, words, "writes nothing"); /* a sweep may have no points */
    if (text)
        check_output(c, name, words, text, rest != NULL);
    free(text);
    CU_ASSERT_EQUAL(system(remove_it), 0);
}

static void check_all_seen(struct contracts *c)
{
    for (int i = 0; result_contracts[i]; i++) {
        const char *own;
        char name[40];
        size_t n = result_name(result_contracts[i], &own);
        snprintf(name, sizeof(name), "%.*s", (int)n, own);
        const json_t *schema = schema_of(c, name);
        const struct seen seen = { schema, json_object_get(c->seen, name) };
        lint_all(name, &seen);
    }
}

static void contracts_init(struct contracts *c)
{
    c->schemas = json_object();
    c->seen = json_object();
}

static void contracts_release(struct contracts *c)
{
    json_decref(c->schemas);
    json_decref(c->seen);
}

static void test_commands(void)
{
    struct contracts c;
    char *line = NULL;
    size_t size = 0;
    const int every = sample_every();
    contracts_init(&c);
    FILE *rows = fopen("tests/walk/results.txt", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(rows);
    for (int i = 0; getline(&line, &size, rows) > 0;)
        if (line[0] != '#' && i++ % every == 0)
            check_row(&c, line);
    free(line);
    fclose(rows);
    if (every == 1)
        check_all_seen(&c);
    contracts_release(&c);
}

/* --- codes ------------------------------------------------------------------------------ */

/* Of all bad files: each finding has a code, a text, and a place where it is one of a
 * line. */
static void test_codes(void)
{
    struct contracts c;
    const json_t *file, *finding;
    size_t i, k;
    int64_t n = 0;
    contracts_init(&c);
    char *text =
        output_of("check --json tests/bad/*/in.json tests/bad/*/launch.py", NULL, 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    json_t *result = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    check_result(&c, "check", "tests/bad", result);
    json_array_foreach(json_object_get(result, "files"), i, file)
    {
        json_array_foreach(json_object_get(file, "findings"), k, finding)
        {
            const char *code = json_string_value(json_object_get(finding, "code"));
            const char *says = json_string_value(json_object_get(finding, "text"));
            expect(strcmp(code, diag_codes[DIAG_INVALID].name) != 0, says,
                   "has no code of its own");
            n++;
        }
    }
    CU_ASSERT_TRUE(n > 200);
    json_decref(result);
    free(text);
    contracts_release(&c);
}

/* Names and meanings of codes are there, and no two are the same. */
static void test_code_rows(void)
{
    for (int i = 0; i < DIAG_CODES; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(diag_codes[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(diag_codes[i].meaning);
        for (int k = 0; k < i; k++)
            CU_ASSERT_STRING_NOT_EQUAL(diag_codes[i].name, diag_codes[k].name);
    }
}

/* --- renamed keys -------------------------------------------------------------------- */

static const struct {
    const char *kind, *folder;
} folders[] = {
    { "scenario", "scenarios" },        { "sweep", "scenarios/sweeps" },
    { "gpu", "topologies/gpus" },       { "instance", "topologies/instances" },
    { "fabric", "topologies/fabrics" }, { "framework", "models/frameworks" },
};

static const char *folder_of(const char *kind)
{
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        if (strcmp(folders[i].kind, kind) == 0)
            return folders[i].folder;
    return NULL;
}

/* A shipped file of a kind that has a key; absent: none has. */
static struct cfg file_with(struct cfg_loader *loader, const char *kind,
                            const char *key)
{
    const char *folder = folder_of(kind);
    CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
    const char **names = datadir_list(&loader->arena, folder);
    for (int i = 0; names[i]; i++) {
        struct cfg file = datadir_load(loader, folder, names[i], (struct cfg) { 0 });
        if (pointer_get(file.json, key))
            return file;
    }
    return (struct cfg) { 0 };
}

/* The finding of a code that check has of a file; NULL: none. */
static json_t *finding_of(json_t *tree, enum diag_code code, int status)
{
    char path[64], arguments[100];
    const json_t *finding;
    size_t i;
    json_t *found = NULL;
    snprintf(path, sizeof(path), "/tmp/smsim-results-%d.json", (int)getpid());
    snprintf(arguments, sizeof(arguments), "check --json %s", path);
    CU_ASSERT_EQUAL_FATAL(json_dump_file(tree, path, 0), 0);
    char *text = output_of(arguments, NULL, status);
    json_t *result = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *file = json_array_get(json_object_get(result, "files"), 0);
    json_array_foreach(json_object_get(file, "findings"), i, finding)
    {
        const char *is = json_string_value(json_object_get(finding, "code"));
        if (strcmp(is, diag_codes[code].name) == 0 && !found)
            found = json_deep_copy(finding);
    }
    json_decref(result);
    free(text);
    remove(path);
    return found;
}

/* Under its old name alone it is read, and the warning names the new one; next to the
 * new one it is an error. */
static void check_renamed(struct cfg_loader *loader, const char *kind,
                          const struct reference_key *key)
{
    const char *name = key->field->why, *last = strrchr(key->pointer, '/');
    struct err err = { 0 };
    char within[200], renamed[300];
    snprintf(within, sizeof(within), "%.*s", (int)(last - key->pointer), key->pointer);
    snprintf(renamed, sizeof(renamed), "%s/%s", within, name);
    struct cfg file = file_with(loader, kind, renamed);
    CU_ASSERT_TRUE_FATAL(cfg_present(file));
    json_t *tree = json_deep_copy(file.json),
           *object = within[0] ? pointer_get(tree, within) : tree;
    pointer_set(tree, key->pointer, json_deep_copy(pointer_get(tree, renamed)), &err);
    json_t *both = finding_of(tree, DIAG_RENAMED_KEY, 3);
    expect(both != NULL, key->pointer, "may be given next to its new name");
    json_object_del(object, name);
    json_t *old = finding_of(tree, DIAG_RENAMED_KEY, 0);
    const char *mend = json_string_value(json_object_get(old, "mend"));
    expect(mend && strstr(mend, name), key->pointer,
           "has no warning with the new name");
    json_decref(both);
    json_decref(old);
    json_decref(tree);
}

static void test_renamed(void)
{
    int n = 0;
    for (int i = 0; reference_kinds[i]; i++) {
        struct cfg_loader loader;
        struct reference r;
        cfg_loader_init(&loader);
        CU_ASSERT_EQUAL_FATAL(reference_load(&r, &loader, reference_kinds[i]), 0);
        for (int64_t k = 0; k < r.keys.n; k++) {
            const struct cfg_field *row = r.keys.v[k].field;
            if (!row || row->type != CFG_T_RENAMED)
                continue;
            check_renamed(&loader, reference_kinds[i], &r.keys.v[k]);
            n++;
        }
        reference_release(&r);
        cfg_loader_release(&loader);
    }
    CU_ASSERT_TRUE(n >= 3);
}

/* clang-format off */
static CU_TestInfo tests[] = {
    { "results of commands keep to their schemas", test_commands },
    { "what is found of bad files has a code", test_codes },
    { "codes have names and meanings", test_code_rows },
    { "renamed keys keep being read", test_renamed },
    CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
    { "results", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL,
};
/* clang-format on */

void test_results_register(void)
{
    CU_register_suites(suites);
}
