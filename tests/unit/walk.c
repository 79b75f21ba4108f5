#include "walk.h"

#include "base/xmalloc.h"
#include "campaign/campaign.h"
#include "config/cfg_doc.h"
#include "config/pointer.h"
#include "simulate/result_json.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- one scenario ----------------------------------------------------------------- */

static const char *document_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static bool is_of(const char *name, const char *document)
{
    size_t n = strlen(name), m = strlen(document);
    return m && n >= m && strcmp(name + n - m, document) == 0;
}

/* Folders have names twice: a file without what the key is of is another one. */
static bool has_parent(json_t *root, const char *pointer)
{
    char parent[256];
    snprintf(parent, sizeof(parent), "%.*s", (int)(strrchr(pointer, '/') - pointer),
             pointer);
    return pointer_get(root, parent);
}

static void change_file(void *arg, struct cfg root, const char *name)
{
    const struct walk_change *change = arg;
    struct err err;
    if (is_of(name, change->document) && has_parent(root.json, change->pointer))
        pointer_set(root.json, change->pointer, json_deep_copy(change->value), &err);
}

static void say_all(json_t *said, struct diags *d)
{
    for (int64_t i = 0; i < d->n_errors && i < DIAG_MAX; i++)
        json_array_append_new(said, json_string(diags_error_text(d, i)));
    for (int64_t i = 0; i < d->n_warnings; i++)
        json_array_append_new(said, json_string(diags_warning_text(d, i)));
}

static void say_warnings(json_t *said, const json_t *warnings)
{
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        struct strbuf text;
        struct diag d = diag_read_json(json_array_get(warnings, i));
        strbuf_init(&text);
        diag_write(&text, &d);
        json_array_append_new(said, json_string(strbuf_get(&text)));
        strbuf_release(&text);
    }
}

/* The numbers alone: what is said, and how long it took, is no result. */
static char *digest_of(json_t *result, json_t *said)
{
    static const char *const other[] = { "scenario", "warnings", "range", "simulation",
                                         "assumed" };
    say_warnings(said, json_object_get(result, "warnings"));
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        json_object_del(result, other[i]);
    return json_dumps(result, JSON_REAL_PRECISION(13));
}

static int simulate_all(struct walk_outcome *out, struct cfg_loader *loader,
                        struct cfg root, struct err *err)
{
    struct scenario s = { 0 };
    struct campaign c;
    struct campaign_result beyond;
    struct simulate_result r;
    const struct simulate_options how = { .network = FIDELITY_FLOW };
    const struct uncertainty_draws draws = { .network = FIDELITY_FLOW, .jobs = 1 };
    if (scenario_read(&s, loader, root) || campaign_read(&c, &s) ||
        simulate(&r, &loader->arena, &s, &how, err))
        return -1;
    campaign_run(&beyond, &loader->arena, &c, &s, &r);
    if (campaign_draw(&beyond, &c, &s, &r, &draws, err))
        return -1;
    json_t *result = result_json(&s, &r);
    campaign_json(result, &beyond);
    out->digest = digest_of(result, out->said);
    json_decref(result);
    return 0;
}

void walk_run(struct walk_outcome *out, const json_t *scenario,
              const struct walk_change *change, struct cfg_loader *shared)
{
    struct cfg_loader loader;
    struct err err = { 0 };
    const struct cfg_watch watch = { .loaded = change_file, .arg = (void *)change };
    json_t *tree = json_deep_copy(scenario);
    *out = (struct walk_outcome) { .said = json_array() };
    cfg_loader_init(&loader);
    if (change && !change->document[0])
        pointer_set(tree, change->pointer, json_deep_copy(change->value), &err);
    else if (change)
        loader.watch = &watch;
    loader.shared = loader.watch ? NULL : shared;
    struct cfg root = cfg_from_tree(&loader, "scenario", tree);
    out->failed = simulate_all(out, &loader, root, &err) != 0;
    say_all(out->said, &loader.diags);
    if (err.text[0])
        json_array_append_new(out->said, json_string(err.text));
    cfg_loader_release(&loader);
}

void walk_outcome_release(struct walk_outcome *out)
{
    free(out->digest);
    json_decref(out->said);
}

/* --- its fields ------------------------------------------------------------------- */

struct finder {
    struct walk_fields *out;
    struct arena *arena;
    bool files;
};

static bool is_found(const struct walk_fields *all, const char *document,
                     const char *pointer)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->v[i].pointer, pointer) == 0 &&
            strcmp(all->v[i].document, document) == 0)
            return true;
    return false;
}

static void find_table(void *arg, struct cfg object, const char *name,
                       const struct cfg_field *fields)
{
    struct finder *f = arg;
    bool own = strcmp(name, "scenario") == 0;
    const char *document = own ? "" : arena_strdup(f->arena, document_of(name));
    if (own == f->files)
        return;
    for (; fields->key; fields++) {
        const char *pointer = arena_printf(f->arena, "%s/%s", object.path, fields->key);
        if (is_found(f->out, document, pointer))
            continue;
        if (f->out->n == f->out->cap) {
            f->out->cap = f->out->cap ? 2 * f->out->cap : 64;
            f->out->v = xrealloc(f->out->v, (size_t)f->out->cap, sizeof(*f->out->v));
        }
        f->out->v[f->out->n] =
            (struct walk_field) { document, pointer, fields, *fields };
        f->out->v[f->out->n].field.key = arena_strdup(f->arena, fields->key);
        f->out->n++;
    }
}

void walk_fields_find(struct walk_fields *out, struct cfg_loader *loader,
                      const json_t *scenario, bool files)
{
    struct finder f = { out, &loader->arena, files };
    const struct cfg_watch watch = { .table = find_table, .arg = &f };
    struct walk_outcome unused = { .said = json_array() };
    struct err err = { 0 };
    *out = (struct walk_fields) { .n = 0 };
    loader->watch = &watch;
    struct cfg root = cfg_from_tree(loader, "scenario", json_deep_copy(scenario));
    simulate_all(&unused, loader, root, &err);
    walk_outcome_release(&unused);
    loader->watch = NULL;
}

const json_t *walk_value_of(const struct cfg_loader *loader, const struct walk_field *f)
{
    for (const struct cfg_doc *d = loader->docs; d; d = d->next)
        if (d->root && is_of(d->name, f->document) && pointer_get(d->root, f->pointer))
            return pointer_get(d->root, f->pointer);
    return NULL;
}

/* --- values to try ---------------------------------------------------------------- */

static void add(json_t *list, const json_t *at, json_t *value)
{
    bool is_new = !json_equal(value, at);
    for (size_t i = 0; i < json_array_size(list); i++)
        is_new &= !json_equal(json_array_get(list, i), value);
    if (is_new)
        json_array_append(list, value);
    json_decref(value);
}

static void add_numbers(json_t *list, const json_t *at, const struct cfg_field *f)
{
    static const double each[] = { 2, 4, 1, 3, 0, 0.5, 1024, 1e5, 1e8 };
    const double now = json_number_value(at);
    const double near[] = { now * 2, now / 2 };
    const bool whole = f->type == CFG_T_INT;
    for (size_t i = 0; i < 2 + sizeof(each) / sizeof(each[0]); i++) {
        double v = i < 2 ? near[i] : each[i - 2];
        bool usual = v <= 1024 || f->max >= 1e9;
        if ((i < 2 && !at) || v < f->min || v > f->max || !usual ||
            (whole && v != floor(v)))
            continue;
        add(list, at, whole ? json_integer((json_int_t)v) : json_real(v));
    }
}

/* Through the range, the large ones first: buckets of a byte take long. */
static void add_quantities(json_t *list, const json_t *at, const struct cfg_field *f)
{
    char text[UNITS_TEXT_MAX];
    const char *now = json_string_value(at), *why;
    double value;
    if (now && units_parse(now, f->unit, &value, &why) == 0 && value > 0)
        for (double v = value / 2; v <= 2 * value; v *= 4)
            if (v >= f->min && v <= f->max)
                add(list, at, json_string(units_text(text, f->unit, v)));
    for (double v = 1e17; v > 1e-10; v /= 100)
        if (v >= f->min && v <= f->max)
            add(list, at, json_string(units_text(text, f->unit, v)));
}

json_t *walk_values(const struct cfg_field *f, const json_t *at, const json_t *given)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(given); i++)
        add(list, at, json_deep_copy(json_array_get(given, i)));
    if (given)
        return list;
    switch (f->type) {
    case CFG_T_INT:
    case CFG_T_REAL:
        add_numbers(list, at, f);
        break;
    case CFG_T_BOOL:
        add(list, at, json_true());
        add(list, at, json_false());
        break;
    case CFG_T_ENUM:
        for (int i = 0; f->names[i].name; i++)
            add(list, at, json_string(f->names[i].name));
        break;
    case CFG_T_QUANTITY:
    case CFG_T_BYTES:
        add_quantities(list, at, f);
        break;
    case CFG_T_STRING:
    case CFG_T_TEXT:
    case CFG_T_REFUSED:
        add(list, at, json_string("word"));
        break;
    case CFG_T_CHILD:
        break;          /* its own table is walked */
    case CFG_T_RENAMED: /* a number, as all that were renamed so far */
        add(list, at, json_real(0.5));
        break;
    }
    return list;
}

/* --- what a change did ------------------------------------------------------------ */

static bool names(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
        bool begins = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

static bool has(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
            return true;
    return false;
}

/* A field that is there already may be warned of already. */
bool walk_says(const struct walk_outcome *before, const struct walk_outcome *after,
               const char *key)
{
    bool said = false;
    for (size_t i = 0; i < json_array_size(after->said); i++) {
        const char *text = json_string_value(json_array_get(after->said, i));
        said |= names(text, key) && !has(before->said, text);
        said |= names(text, key) && strstr(text, "without effect");
    }
    return said;
}

enum walk_effect walk_effect(const struct walk_outcome *before,
                             const struct walk_outcome *after, const char *key)
{
    if (after->failed)
        return walk_says(before, after, key) ? WALK_REFUSED : WALK_UNNAMED;
    if (strcmp(before->digest, after->digest) != 0)
        return WALK_ACTS;
    return walk_says(before, after, key) ? WALK_WARNS : WALK_NOTHING;
}

bool walk_blames(const struct walk_outcome *after, const char *pointer)
{
    char around[256];
    size_t n = (size_t)(strrchr(pointer, '/') - pointer);
    bool blamed = false;
    snprintf(around, sizeof(around), "%.*s", (int)n, pointer);
    for (size_t i = 0;
         i < json_array_size(after->said) && strrchr(around, '/') > around; i++)
        blamed |=
            strstr(json_string_value(json_array_get(after->said, i)), around) != 0;
    return blamed;
}
