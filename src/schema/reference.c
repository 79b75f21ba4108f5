#include "schema/reference.h"

#include "config/datadir.h"
#include "scenario/libraries_fields.h"

#include <string.h>

const char *const reference_kinds[] = { "scenario",  "sweep",     "gpu",     "products",
                                        "attention", "transfers", "experts", "instance",
                                        "fabric",    "framework", NULL };

const char *reference_name(const char *pointer)
{
    const char *slash = strrchr(pointer, '/');
    return slash ? slash + 1 : pointer;
}

/* Pointers ------------------------------------------------------------------------- */

static bool is_index(const char *part)
{
    return *part && strspn(part, "0123456789") == strlen(part);
}

/* One part further; what the texts say is read as another key ("as") is that key. */
static const char *step(const struct reference *r, const char *pointer,
                        const char *part)
{
    const char *any = arena_printf(r->arena, "%s/*", pointer);
    const char *own = arena_printf(r->arena, "%s/%s", pointer, part);
    bool chosen = is_index(part) || json_object_get(r->texts, any);
    const char *at = chosen ? any : own;
    const json_t *as = json_object_get(json_object_get(r->texts, at), "as");
    return as ? json_string_value(as) : at;
}

const char *reference_pointer(const struct reference *r, const char *pointer)
{
    const char *at = "";
    while (*pointer == '/') {
        size_t n = strcspn(pointer + 1, "/");
        at = step(r, at, arena_strndup(r->arena, pointer + 1, n));
        pointer += n + 1;
    }
    return at;
}

/* Tables --------------------------------------------------------------------------- */

static int64_t count(const struct cfg_field *fields)
{
    int64_t n = 0;
    while (fields[n].key)
        n++;
    return n;
}

static bool same(const struct cfg_field *a, const struct cfg_field *b)
{
    while (a->key && b->key && strcmp(a->key, b->key) == 0)
        a++, b++;
    return !a->key && !b->key;
}

void reference_add_table(struct reference *r, const char *pointer,
                         const struct cfg_field *fields)
{
    for (int64_t i = 0; i < r->tables.n; i++)
        if (strcmp(r->tables.v[i].pointer, pointer) == 0 &&
            same(r->tables.v[i].fields, fields))
            return;
    int64_t n = count(fields);
    struct cfg_field *copy = ARENA_ARRAY(r->arena, n + 1, struct cfg_field);
    memcpy(copy, fields, (size_t)(n + 1) * sizeof(*copy));
    VEC_PUSH(&r->tables, ((struct reference_table) { pointer, copy }));
}

/* Keys ----------------------------------------------------------------------------- */

static bool is_known(const struct reference *r, const char *pointer)
{
    for (int64_t i = 0; i < r->keys.n; i++)
        if (strcmp(r->keys.v[i].pointer, pointer) == 0)
            return true;
    return false;
}

static void add_keys(struct reference *r, const char *at);

static void add_key(struct reference *r, const char *pointer,
                    const struct cfg_field *field);

/* Of an object that is read without a table, which schemas/NAME.json lists. */
static void add_members(struct reference *r, const char *at, const json_t *text)
{
    const json_t *members = json_object_get(text, "members"), *member;
    size_t i;
    json_array_foreach(members, i, member) add_key(
        r, arena_printf(r->arena, "%s/%s", at, json_string_value(member)), NULL);
}

static void add_key(struct reference *r, const char *pointer,
                    const struct cfg_field *field)
{
    const json_t *text = json_object_get(r->texts, pointer);
    if (is_known(r, pointer))
        return;
    VEC_PUSH(&r->keys, ((struct reference_key) { pointer, field, text }));
    if (json_object_get(text, "as"))
        return;
    const char *any = arena_printf(r->arena, "%s/*", pointer);
    add_members(r, pointer, text);
    add_keys(r, pointer);
    if (json_object_get(r->texts, any))
        add_key(r, any, NULL);
    else
        add_keys(r, any);
}

static void add_keys(struct reference *r, const char *at)
{
    for (int64_t i = 0; i < r->tables.n; i++)
        if (strcmp(r->tables.v[i].pointer, at) == 0)
            for (const struct cfg_field *f = r->tables.v[i].fields; f->key; f++)
                add_key(r, arena_printf(r->arena, "%s/%s", at, f->key), f);
}

int reference_load(struct reference *r, struct cfg_loader *loader, const char *kind)
{
    *r = (struct reference) { .arena = &loader->arena, .kind = kind };
    struct cfg root = datadir_load(loader, "schemas", kind, (struct cfg) { 0 });
    if (!cfg_is_object(root))
        return -1;
    r->root = root.json;
    r->texts = json_object_get(root.json, "keys");
    reference_probe(r);
    add_keys(r, "");
    return 0;
}

void reference_release(struct reference *r)
{
    VEC_RELEASE(&r->tables);
    VEC_RELEASE(&r->keys);
}

const char *reference_text(const struct reference_key *key, const char *what)
{
    return json_string_value(json_object_get(key->text, what));
}

static bool is_scenario(const struct reference *r)
{
    return strcmp(r->kind, "scenario") == 0;
}

const char *reference_default(const struct reference *r,
                              const struct reference_key *key)
{
    const char *rows =
        is_scenario(r) ? library_field_defaults(r->arena, key->pointer) : NULL;
    const char *text = reference_text(key, "default");
    if (rows && text)
        return arena_printf(r->arena, "%s; else %s", rows, text);
    return rows ? rows : text;
}

const char *reference_libraries(const struct reference *r,
                                const struct reference_key *key)
{
    const char *rows =
        is_scenario(r) ? library_field_owners(r->arena, key->pointer) : NULL;
    return rows ? rows : reference_text(key, "libraries");
}

const char *reference_new_name(const struct reference *r, const char *pointer,
                               const struct cfg_field *f)
{
    int n = (int)(strrchr(pointer, '/') - pointer);
    return arena_printf(r->arena, "%.*s/%s", n, pointer, f->why);
}
