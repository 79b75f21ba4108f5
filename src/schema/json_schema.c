/* A kind of file as a JSON Schema: each table is an object without other members. */
#include "schema/reference.h"

#include <stdlib.h>
#include <string.h>

static json_t *value_of(const struct reference *r, const char *pointer,
                        const struct cfg_field *f);

/* Single values -------------------------------------------------------------------- */

static void set_bounds(json_t *o, const struct cfg_field *f)
{
    bool whole = f->type == CFG_T_INT;
    if (f->min > 0 && f->min < 1e-100) /* a table's "above 0" */
        json_object_set_new(o, "exclusiveMinimum", json_integer(0));
    else if (f->min > -9.2e18)
        json_object_set_new(
            o, "minimum", whole ? json_integer((json_int_t)f->min) : json_real(f->min));
    if (f->max < (whole ? 9.2e18 : 1e300))
        json_object_set_new(
            o, "maximum", whole ? json_integer((json_int_t)f->max) : json_real(f->max));
}

static json_t *typed(const char *type)
{
    return json_pack("{s:s}", "type", type);
}

static json_t *quantity(enum unit_kind unit)
{
    char *pattern = units_pattern(unit);
    json_t *o = typed("string");
    json_object_set_new(o, "pattern", json_string(pattern));
    free(pattern);
    return o;
}

static json_t *names_schema(const struct name_value *names)
{
    json_t *list = json_array();
    for (; names->name; names++)
        json_array_append_new(list, json_string(names->name));
    return json_pack("{s:o}", "enum", list);
}

static json_t *number(const struct cfg_field *f)
{
    json_t *o = typed(f->type == CFG_T_INT ? "integer" : "number");
    set_bounds(o, f);
    return o;
}

static json_t *words(void)
{
    return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

/* Objects, arrays ------------------------------------------------------------------ */

/* Members in the order of the table; "comment" is known everywhere. */
static json_t *table_schema(const struct reference *r,
                            const struct reference_table *table)
{
    json_t *members = json_object(), *required = json_array(), *o = typed("object");
    for (const struct cfg_field *f = table->fields; f->key; f++) {
        const char *pointer = arena_printf(r->arena, "%s/%s", table->pointer, f->key);
        json_object_set_new(members, f->key, value_of(r, pointer, f));
        if (f->required)
            json_array_append_new(required, json_string(f->key));
    }
    json_object_set_new(members, "comment", json_true());
    json_object_set_new(o, "properties", members);
    if (json_array_size(required) > 0)
        json_object_set(o, "required", required);
    json_decref(required);
    json_object_set_new(o, "additionalProperties", json_false());
    return o;
}

static json_t *one_or_any(json_t *list)
{
    if (json_array_size(list) != 1)
        return json_pack("{s:o}", "anyOf", list);
    json_t *only = json_incref(json_array_get(list, 0));
    json_decref(list);
    return only;
}

/* The object of the tables at a pointer; NULL: there is none. */
static json_t *object_schema(const struct reference *r, const char *pointer)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < r->tables.n; i++)
        if (strcmp(r->tables.v[i].pointer, pointer) == 0)
            json_array_append_new(list, table_schema(r, &r->tables.v[i]));
    if (json_array_size(list) > 0)
        return one_or_any(list);
    json_decref(list);
    return NULL;
}

/* Where the schema of a pointer is: tables of the same place are the only ones there. */
static json_t *reference_to(const char *pointer)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addch(&b, '#');
    while (*pointer == '/') {
        int n = (int)strcspn(pointer + 1, "/");
        bool items = n == 1 && pointer[1] == '*';
        if (items)
            strbuf_addstr(&b, "/items");
        else
            strbuf_printf(&b, "/properties/%.*s", n, pointer + 1);
        pointer += n + 1;
    }
    json_t *o = json_pack("{s:s}", "$ref", strbuf_get(&b));
    strbuf_release(&b);
    return o;
}

/* What the elements of an array are; NULL: it is none that tables read. */
static json_t *items_schema(const struct reference *r, const char *any)
{
    const json_t *text = json_object_get(r->texts, any);
    const char *as = json_string_value(json_object_get(text, "as"));
    json_t *object = as ? reference_to(as) : object_schema(r, any);
    json_t *value = json_object_get(text, "value");
    return object || !value ? object : json_incref(value);
}

/* An object that is read without a table, and may have other members. */
static json_t *listed_schema(const struct reference *r, const char *pointer,
                             const json_t *text)
{
    static const struct cfg_field any = { .type = CFG_T_CHILD };
    const json_t *list = json_object_get(text, "members"), *member;
    json_t *members = json_object();
    size_t i;
    json_array_foreach(list, i, member)
    {
        const char *key = json_string_value(member);
        const char *at = arena_printf(r->arena, "%s/%s", pointer, key);
        json_object_set_new(members, key, value_of(r, at, &any));
    }
    json_object_set_new(members, "comment", json_true());
    return json_pack("{s:s, s:o}", "type", "object", "properties", members);
}

static json_t *child(const struct reference *r, const char *pointer, const json_t *text)
{
    const char *any = arena_printf(r->arena, "%s/*", pointer);
    const char *as = json_string_value(json_object_get(text, "as"));
    if (as)
        return reference_to(as);
    json_t *list = json_array(), *object = object_schema(r, pointer);
    json_t *items = items_schema(r, any), *chosen = json_object_get(r->texts, any);
    bool map = chosen && !json_object_get(chosen, "as");
    if (json_object_get(text, "value"))
        json_array_append(list, json_object_get(text, "value"));
    if (object)
        json_array_append_new(list, object);
    if (json_object_get(text, "members"))
        json_array_append_new(list, listed_schema(r, pointer, text));
    if (items)
        json_array_append_new(list,
                              json_pack("{s:s, s:o}", "type", map ? "object" : "array",
                                        map ? "additionalProperties" : "items", items));
    return one_or_any(list);
}

/* Keys ----------------------------------------------------------------------------- */

/* Under an old name a key is what it is under the new one. */
static json_t *renamed(const struct reference *r, const char *pointer,
                       const struct cfg_field *f)
{
    const char *at = reference_new_name(r, pointer, f);
    json_t *o = json_object();
    for (int64_t i = 0; i < r->keys.n; i++)
        if (strcmp(r->keys.v[i].pointer, at) == 0)
            json_object_update_new(o, value_of(r, at, r->keys.v[i].field));
    json_object_set_new(o, "deprecated", json_true());
    return o;
}

static json_t *plain_value(const struct reference *r, const char *pointer,
                           const struct cfg_field *f, const json_t *text)
{
    switch (f->type) {
    case CFG_T_INT:
    case CFG_T_REAL:
        return number(f);
    case CFG_T_BOOL:
        return typed("boolean");
    case CFG_T_STRING:
    case CFG_T_TEXT:
        return words();
    case CFG_T_ENUM:
        return names_schema(f->names);
    case CFG_T_QUANTITY:
    case CFG_T_BYTES:
        return quantity(f->type == CFG_T_BYTES ? UNIT_BYTES : f->unit);
    case CFG_T_REFUSED:
        return typed("null");
    case CFG_T_RENAMED:
        return renamed(r, pointer, f);
    case CFG_T_CHILD:
        break;
    }
    return child(r, pointer, text);
}

/* null is the same as an absent key. */
static json_t *or_null(json_t *o)
{
    json_t *type = json_object_get(o, "type"), *names = json_object_get(o, "enum");
    json_t *any = json_object_get(o, "anyOf");
    if (json_is_string(type) && strcmp(json_string_value(type), "null") != 0)
        json_object_set_new(o, "type", json_pack("[O,s]", type, "null"));
    else if (json_is_array(type))
        json_array_append_new(type, json_string("null"));
    else if (names)
        json_array_append_new(names, json_null());
    else if (any)
        json_array_append_new(any, typed("null"));
    else if (!type)
        o = json_pack("{s:[o,o]}", "anyOf", o, typed("null"));
    return o;
}

static void describe(json_t *o, const struct reference_key *key,
                     const struct cfg_field *f)
{
    const char *meaning = reference_text(key, "meaning");
    const char *otherwise = reference_text(key, "default");
    const json_t *example = json_object_get(key->text, "example");
    if (f->type == CFG_T_REFUSED)
        meaning = f->why;
    if (f->type == CFG_T_RENAMED)
        meaning = "An old name; it is read with a warning.";
    if (meaning && otherwise)
        json_object_set_new(o, "description",
                            json_sprintf("%s Default: %s.", meaning, otherwise));
    else if (meaning)
        json_object_set_new(o, "description", json_string(meaning));
    if (example)
        json_object_set_new(o, "examples", json_pack("[O]", example));
}

static json_t *value_of(const struct reference *r, const char *pointer,
                        const struct cfg_field *f)
{
    const json_t *text = json_object_get(r->texts, pointer);
    const struct reference_key key = { pointer, f, text };
    json_t *plain = plain_value(r, pointer, f, text), *o = json_deep_copy(plain);
    json_decref(plain);
    if (!f->required && f->type != CFG_T_RENAMED) /* which is as the new one */
        o = or_null(o);
    describe(o, &key, f);
    return o;
}

json_t *reference_schema(const struct reference *r)
{
    json_t *o = json_object(), *root = object_schema(r, "");
    json_object_set_new(o, "$schema",
                        json_string("https://json-schema.org/draft/2020-12/schema"));
    json_object_set_new(
        o, "$id",
        json_sprintf("urn:smsim:%s:%" JSON_INTEGER_FORMAT, r->kind,
                     json_integer_value(json_object_get(r->root, "version"))));
    json_object_set(o, "title", json_object_get(r->root, "title"));
    json_object_update(o, root);
    json_decref(root);
    return o;
}
