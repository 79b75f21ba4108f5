/* Every row of the dialects' tables (an estimator's arguments, hyperparameters and
 * environment, Megatron's arguments, DeepSpeed's keys) acts, is refused by name, or is
 * named as without effect; so is a key that nobody has. tests/walk/dialects.json has
 * the files on which each is changed. */
#include "base/strbuf.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch.h"
#include "sample.h"
#include "scenario/scenario.h"
#include "walk.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_dialect_keys_register(void);

enum { WORD_MAX_B = 80, FILE_MAX_B = 300, POINTER_MAX_B = 400 };

/* --- a file as text --------------------------------------------------------------- */

static void write_python(struct strbuf *b, const json_t *v)
{
    const char *key, *separator = "";
    json_t *member;
    if (json_is_object(v)) {
        strbuf_addch(b, '{');
        json_object_foreach((json_t *)(uintptr_t)v, key, member)
        {
            strbuf_printf(b, "%s\"%s\": ", separator, key);
            write_python(b, member);
            separator = ", ";
        }
        strbuf_addch(b, '}');
        return;
    }
    char *text = json_dumps(v, JSON_ENCODE_ANY);
    bool is_word = json_is_boolean(v) || json_is_null(v);
    strbuf_addstr(b, !is_word          ? text
                     : json_is_true(v) ? "True"
                     : json_is_null(v) ? "None"
                                       : "False");
    free(text);
}

static void write_estimator(struct strbuf *b, const json_t *base)
{
    const char *key;
    json_t *v;
    strbuf_printf(b, "estimator = %s(\n",
                  json_string_value(json_object_get(base, "class")));
    json_object_foreach(json_object_get(base, "arguments"), key, v)
    {
        strbuf_printf(b, "    %s=", key);
        write_python(b, v);
        strbuf_addstr(b, ",\n");
    }
    strbuf_addstr(b, ")\n");
}

static void write_words(struct strbuf *b, json_t *words)
{
    const char *key;
    json_t *v;
    json_object_foreach(words, key, v)
    {
        char *text = json_dumps(v, JSON_ENCODE_ANY);
        strbuf_printf(b, "%s ", key);
        if (!json_is_boolean(v) && strcmp(text, "\"\"") != 0)
            strbuf_printf(b, "%s ", text);
        free(text);
    }
}

static void write_shell(struct strbuf *b, const json_t *base)
{
    write_words(b, json_object_get(base, "starter"));
    strbuf_addstr(b, "pretrain_gpt.py ");
    write_words(b, json_object_get(base, "options"));
    strbuf_addch(b, '\n');
}

/* A file of names, each a dictionary or a value. */
static void write_names(struct strbuf *b, const json_t *names)
{
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)names, key, v)
    {
        strbuf_printf(b, "%s = ", key);
        write_python(b, v);
        strbuf_addch(b, '\n');
    }
}

static void write_file(const char *file, const json_t *base)
{
    struct strbuf b;
    char *text;
    strbuf_init(&b);
    if (json_object_get(base, "class")) {
        write_estimator(&b, base);
    } else if (json_object_get(base, "starter")) {
        write_shell(&b, base);
    } else if (json_object_get(base, "names")) {
        write_names(&b, json_object_get(base, "names"));
    } else {
        text = json_dumps(base, JSON_INDENT(1));
        strbuf_addstr(&b, text);
        free(text);
    }
    FILE *out = fopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs(strbuf_get(&b), out);
    fclose(out);
    strbuf_release(&b);
}

/* --- what a file comes to --------------------------------------------------------- */

static void say(struct walk_outcome *out, const struct launch *l, struct diags *d)
{
    for (int64_t i = 0; i < l->notes.n; i++)
        json_array_append_new(out->said,
                              json_string(diag_text(&d->arena, &l->notes.v[i])));
    for (int64_t i = 0; i < d->n; i++)
        json_array_append_new(out->said, json_string(diag_text(&d->arena, &d->v[i])));
}

/* The data files that it names are borrowed from `shared`. */
static void read_file(struct walk_outcome *out, const char *file, const json_t *sets,
                      struct cfg_loader *shared)
{
    struct cfg_loader loader;
    struct launch l;
    struct scenario s;
    *out = (struct walk_outcome) { .said = json_array() };
    cfg_loader_init(&loader);
    loader.shared = shared;
    struct cfg root = launch_load(&l, &loader, file, NULL);
    for (size_t i = 0; root.json && i < json_array_size(sets); i++)
        cfg_set(root, json_string_value(json_array_get(sets, i)));
    out->failed = !root.json || loader.diags.n_errors > 0 ||
                  launch_complete(&l, root) || scenario_read(&s, &loader, root);
    if (!out->failed)
        out->digest = json_dumps(root.json, JSON_SORT_KEYS);
    say(out, &l, &loader.diags);
    launch_release(&l);
    cfg_loader_release(&loader);
}

/* --- the walk --------------------------------------------------------------------- */

struct walker {
    const json_t *row;         /* of dialects.json */
    struct cfg_loader *shared; /* GPUs, instances, models, profiles */
    int seen, every;           /* rows of tables; of so many one is changed */
    const char *name;
    char file[FILE_MAX_B];
    struct walk_outcome before;
    int walked, missing;
};

/* As messages have it: "--model_name" of the Trainer is its model_name. */
static bool says(const struct walker *w, const struct walk_outcome *after,
                 const char *key)
{
    char word[WORD_MAX_B];
    size_t n = (size_t)snprintf(word, sizeof(word), "%s", key + strspn(key, "-"));
    bool said = walk_says(&w->before, after, key) || walk_says(&w->before, after, word);
    for (size_t i = 0; i < n; i++)
        word[i] = word[i] == '_' ? '-' : word[i];
    said |= walk_says(&w->before, after, word);
    for (size_t i = 0; i < n; i++)
        word[i] = word[i] == '-' ? '_' : word[i];
    return said || walk_says(&w->before, after, word);
}

/* With a value of NULL the key is left out. */
static enum walk_effect try_value(struct walker *w, const char *pointer,
                                  const char *key, json_t *value, bool *named)
{
    struct walk_outcome after;
    struct err err;
    json_t *base = json_deep_copy(json_object_get(w->row, "base"));
    if (!value) {
        char place[POINTER_MAX_B];
        snprintf(place, sizeof(place), "%.*s", (int)(strrchr(pointer, '/') - pointer),
                 pointer);
        json_object_del(*place ? pointer_get(base, place) : base,
                        strrchr(pointer, '/') + 1);
    } else if (pointer_set(base, pointer, json_incref(value), &err)) {
        fprintf(stderr, "%s: %s: %s\n", w->name, pointer, err.text);
        w->missing++;
    }
    write_file(w->file, base);
    read_file(&after, w->file, json_object_get(w->row, "sets"), w->shared);
    bool said = says(w, &after, key);
    enum walk_effect e = walk_effect(&w->before, &after, key);
    e = said && e == WALK_NOTHING   ? WALK_WARNS
        : said && e == WALK_UNNAMED ? WALK_REFUSED
                                    : e;
    walk_outcome_release(&after);
    json_decref(base);
    *named = said;
    return e;
}

static json_t *values_of(const struct walker *w, const char *key)
{
    json_t *given = json_object_get(json_object_get(w->row, "values"), key);
    return given ? json_incref(given)
                 : json_pack("[i, s, b, i, s, s, i, f, {s:s}]", 2, "word", 1, 4, "bf16",
                             "cpu", 0, 0.5, "device", "cpu");
}

/* Whether some value of the key acts, or is named in a message. */
static void walk_key(struct walker *w, const char *place, const char *key)
{
    char pointer[POINTER_MAX_B];
    enum walk_effect e = WALK_NOTHING;
    json_t *values = values_of(w, key);
    bool named;
    snprintf(pointer, sizeof(pointer), "%s/%s", place, key);
    if (json_object_get(w->row, "sections")) /* "a.b" is the key b of the section a */
        for (char *s = pointer; *s; s++)
            *s = *s == '.' ? '/' : *s;
    for (size_t i = 0; i < json_array_size(values) && e != WALK_ACTS && e != WALK_WARNS;
         i++) {
        enum walk_effect now =
            try_value(w, pointer, key, json_array_get(values, i), &named);
        e = now == WALK_NOTHING || now == WALK_UNNAMED ? e : now;
    }
    if (e == WALK_NOTHING && pointer_get(json_object_get(w->row, "base"), pointer))
        e = try_value(w, pointer, key, NULL, &named);
    json_decref(values);
    bool silent = json_object_get(json_object_get(w->row, "silent"), pointer) != NULL;
    bool reported = e != WALK_NOTHING && e != WALK_UNNAMED;
    w->walked++;
    w->missing += reported == silent;
    if (reported == silent)
        fprintf(stderr, "%s: %s: %s\n", w->name, pointer,
                silent ? "is not silent any more"
                       : "no value acts, is refused or warned of");
}

/* The rows of a path's tables; "--data-*" is tried as "--data-x". */
static void walk_rows(struct walker *w, const char *place,
                      const struct dialect_option *row, const char *prefix)
{
    char key[WORD_MAX_B];
    for (; row->name; row++) {
        size_t n = strcspn(row->name, "*");
        if (w->seen++ % w->every)
            continue;
        snprintf(key, sizeof(key), "%s%.*s%s", prefix, (int)n, row->name,
                 row->name[n] ? "x" : "");
        walk_key(w, place, key);
    }
}

static const struct dialect *dialect_named(const char *name)
{
    const struct dialect *d = dialects;
    while (d->name && strcmp(d->name, name) != 0)
        d++;
    CU_ASSERT_PTR_NOT_NULL_FATAL(d->name);
    return d;
}

/* Of "nemo", or of the first of its other kinds of files, "nemo#1". */
static const struct dialect_table *tables_of(const char *name)
{
    char word[WORD_MAX_B];
    const char *number = strchr(name, '#');
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "#"), name);
    const struct dialect *d = dialect_named(word);
    if (!number)
        return d->tables;
    const struct dialect_kind_tables *k = d->kinds;
    for (int i = atoi(number + 1); i > 1 && k && k->title; i--)
        k++;
    CU_ASSERT_FATAL(k && k->title);
    return k->tables;
}

/* "deepspeed": all sections of the dialect, under that place; "sagemaker.environment":
 * the tables of one path. A command's hyperparameters are spelled with dashes. */
static void walk_table(struct walker *w, const char *table, const char *place)
{
    char name[WORD_MAX_B];
    const char *dot = strchr(table, '.');
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(table, "."), table);
    bool words = json_object_get(json_object_get(w->row, "base"), "starter") != NULL;
    for (const struct dialect_table *t = tables_of(name); t->path; t++) {
        char at[FILE_MAX_B];
        if (dot && strcmp(t->path, dot + 1) != 0)
            continue;
        snprintf(at, sizeof(at), "%s%s%s", place, !dot && *t->path ? "/" : "",
                 dot ? "" : t->path);
        walk_rows(w, at, t->options, words && t->options->name[0] != '-' ? "--" : "");
    }
}

static void walk_unknown(struct walker *w, const char *place)
{
    bool words = json_object_get(json_object_get(w->row, "base"), "starter") != NULL;
    const char *key = words ? "--invented-key" : "invented_key";
    char pointer[FILE_MAX_B];
    json_t *value = json_integer(2);
    snprintf(pointer, sizeof(pointer), "%s/%s", place, key);
    bool reported = false;
    try_value(w, pointer, key, value, &reported);
    w->missing += !reported;
    if (!reported)
        fprintf(stderr, "%s: %s: is passed over without a word\n", w->name, pointer);
    json_decref(value);
}

static void walk_dialect(const json_t *row, const char *dir, struct cfg_loader *shared)
{
    struct walker w = { .row = row,
                        .shared = shared,
                        .every = sample_every(),
                        .name = json_string_value(json_object_get(row, "name")) };
    const char *table;
    json_t *place;
    size_t i;
    snprintf(w.file, sizeof(w.file), "%s/%s", dir, w.name);
    write_file(w.file, json_object_get(row, "base"));
    read_file(&w.before, w.file, json_object_get(row, "sets"), shared);
    if (w.before.failed)
        json_dumpf(w.before.said, stderr, JSON_INDENT(1));
    CU_ASSERT_FALSE_FATAL(w.before.failed);
    json_object_foreach(json_object_get(row, "tables"), table, place)
        walk_table(&w, table, json_string_value(place));
    json_array_foreach(json_object_get(row, "unknown"), i, place)
        walk_unknown(&w, json_string_value(place));
    CU_ASSERT_EQUAL(w.missing, 0);
    CU_ASSERT(w.walked > 10 / w.every);
    walk_outcome_release(&w.before);
    unlink(w.file);
}

static void test_tables(void)
{
    struct cfg_loader loader, shared;
    char dir[] = "/tmp/dialect_keys_XXXXXX";
    const char *only = getenv("WALK");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
    cfg_loader_init(&loader);
    cfg_loader_init(&shared);
    const char *file = arena_printf(&loader.arena, "%s/tests/walk/dialects.json",
                                    datadir_root(&loader.arena));
    struct cfg root = cfg_load(&loader, file);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root.json);
    for (size_t i = 0; i < json_array_size(root.json); i++) {
        const json_t *row = json_array_get(root.json, i);
        const char *name = json_string_value(json_object_get(row, "name"));
        if (!only || strcmp(only, name) == 0)
            walk_dialect(row, dir, &shared);
    }
    rmdir(dir);
    cfg_loader_release(&shared);
    cfg_loader_release(&loader);
}

void test_dialect_keys_register(void)
{
    CU_pSuite suite = CU_add_suite("dialect keys", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
}
