#include "config/contract.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* --- writing ------------------------------------------------------------------------ */

json_t *contract_real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *reals(const struct name_value *names, const double *v)
{
    json_t *o = json_object();
    for (; names->name; names++)
        json_object_set_new(o, names->name,
                            isfinite(v[names->value]) ? json_real(v[names->value])
                                                      : json_null());
    return o;
}

static json_t *int64s(const struct name_value *names, const int64_t *v)
{
    json_t *o = json_object();
    for (; names->name; names++)
        json_object_set_new(o, names->name, json_integer(v[names->value]));
    return o;
}

static json_t *name(const struct name_value *names, int v)
{
    return v < 0 ? NULL : json_string(names_of(names, v));
}

/* NULL where there is none. */
static json_t *value(const struct contract_member *m, const void *from)
{
    const void *at = (const char *)from + m->at;
    const char *text;
    if (m->make)
        return m->make(from);
    switch (m->type) {
    case CONTRACT_REAL:
        return json_real(*(const double *)at); /* NULL where it is not finite */
    case CONTRACT_INT64:
        return json_integer(*(const int64_t *)at);
    case CONTRACT_INT32:
        return json_integer(*(const int32_t *)at);
    case CONTRACT_COUNT:
        return *(const int64_t *)at ? json_integer(*(const int64_t *)at) : NULL;
    case CONTRACT_BOOL:
        return json_boolean(*(const bool *)at);
    case CONTRACT_TEXT:
        text = *(const char *const *)at;
        return text ? json_string(text) : NULL;
    case CONTRACT_NAME:
        return name(m->names, *(const int *)at);
    case CONTRACT_REALS:
        return reals(m->names, at);
    case CONTRACT_INT64S:
        return int64s(m->names, at);
    case CONTRACT_OBJECT:
        return contract_json(m->of, at);
    case CONTRACT_LIST:
    case CONTRACT_MAP:
    case CONTRACT_TREE:
    case CONTRACT_TEXT_OR_TREE:
    case CONTRACT_NUMBER_OR_BOOL:
    case CONTRACT_ANY:
        break;
    }
    return json_incref(*(json_t *const *)at);
}

void contract_put(json_t *object, const struct contract_object *m, const void *from)
{
    for (const struct contract_member *row = m->rows; row->key; row++) {
        json_t *v = value(row, from);
        if (v || !(row->flags & CONTRACT_MAY_LACK))
            json_object_set_new(object, row->key, v ? v : json_null());
    }
}

json_t *contract_json(const struct contract_object *m, const void *from)
{
    json_t *o = json_object();
    contract_put(o, m, from);
    return o;
}

void contract_add(json_t *object, const struct contract_object *m, const char *key,
                  json_t *value_of)
{
    const struct contract_member *row = m->rows;
    while (row->key && strcmp(row->key, key) != 0)
        row++;
    assert(row->key);
    json_object_set_new(object, key, value_of);
}

json_t *contract_list(const struct contract_object *m, const void *first, int64_t n,
                      size_t size)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n; i++)
        json_array_append_new(list,
                              contract_json(m, (const char *)first + (size_t)i * size));
    return list;
}

json_t *contract_result(const struct contract *c, const void *from)
{
    json_t *o = json_object();
    json_object_set_new(o, "schema", json_string(c->urn));
    contract_put(o, c->sets[0], from);
    return o;
}

/* --- schemas ------------------------------------------------------------------------ */

static const char *const type_names[][2] = {
    [CONTRACT_REAL] = { "number" },
    [CONTRACT_INT64] = { "integer" },
    [CONTRACT_INT32] = { "integer" },
    [CONTRACT_COUNT] = { "integer" },
    [CONTRACT_BOOL] = { "boolean" },
    [CONTRACT_TEXT] = { "string" },
    [CONTRACT_NAME] = { "string" },
    [CONTRACT_REALS] = { "object" },
    [CONTRACT_INT64S] = { "object" },
    [CONTRACT_OBJECT] = { "object" },
    [CONTRACT_LIST] = { "array" },
    [CONTRACT_MAP] = { "object" },
    [CONTRACT_TREE] = { "object" },
    [CONTRACT_TEXT_OR_TREE] = { "string", "object" },
    [CONTRACT_NUMBER_OR_BOOL] = { "number", "boolean" },
    [CONTRACT_ANY] = { NULL },
};

/* {"type": ...}; "{}" of any. */
static json_t *typed(enum contract_type type, bool may_null)
{
    const char *const *names = type_names[type];
    json_t *o = json_object(), *list = json_array();
    if (may_null)
        json_array_append_new(list, json_string("null"));
    for (int i = 0; i < 2 && names[i]; i++)
        json_array_append_new(list, json_string(names[i]));
    if (names[0])
        json_object_set(o, "type",
                        json_array_size(list) > 1 ? list : json_array_get(list, 0));
    json_decref(list);
    return o;
}

/* Of an object with these members and no others; takes them over. */
static json_t *closed(json_t *members, json_t *required)
{
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", members,
                     "required", required, "additionalProperties", 0);
}

/* By names, of one type. */
static json_t *named(const struct name_value *names, enum contract_type type)
{
    json_t *members = json_object(), *required = json_array();
    for (; names->name; names++) {
        json_object_set_new(members, names->name, typed(type, type == CONTRACT_REAL));
        json_array_append_new(required, json_string(names->name));
    }
    return closed(members, required);
}

static json_t *row_schema(const struct contract_member *m, json_t *defs);

static void add_rows(json_t *members, json_t *required,
                     const struct contract_member *row, json_t *defs)
{
    for (; row->key; row++) {
        json_object_set_new(members, row->key, row_schema(row, defs));
        if (!(row->flags & CONTRACT_MAY_LACK))
            json_array_append_new(required, json_string(row->key));
    }
}

/* A reference to a table's schema, which is among the definitions afterwards. */
static json_t *refer(const struct contract_object *m, bool may_null, json_t *defs)
{
    if (!json_object_get(defs, m->name)) {
        json_t *members = json_object(), *required = json_array();
        json_object_set_new(defs, m->name, json_null()); /* it may refer to itself */
        add_rows(members, required, m->rows, defs);
        json_object_set_new(defs, m->name, closed(members, required));
    }
    json_t *o = json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s", m->name));
    return may_null ? json_pack("{s:[o, {s:s}]}", "anyOf", o, "type", "null") : o;
}

static json_t *items_schema(const struct contract_member *m, json_t *defs)
{
    bool may_null = m->flags & CONTRACT_NULL_ITEMS;
    return m->of ? refer(m->of, may_null, defs) : typed(m->items, may_null);
}

static json_t *row_schema(const struct contract_member *m, json_t *defs)
{
    bool may_null = m->flags & CONTRACT_MAY_NULL;
    json_t *o;
    if (m->schema)
        o = m->schema();
    else if (m->type == CONTRACT_OBJECT)
        o = refer(m->of, may_null, defs);
    else if (m->type == CONTRACT_REALS || m->type == CONTRACT_INT64S)
        o = named(m->names, m->type == CONTRACT_REALS ? CONTRACT_REAL : CONTRACT_INT64);
    else
        o = typed(m->type, may_null);
    if (m->type == CONTRACT_LIST)
        json_object_set_new(o, "items", items_schema(m, defs));
    if (m->type == CONTRACT_MAP)
        json_object_set_new(o, "additionalProperties", items_schema(m, defs));
    if (m->type == CONTRACT_NAME) {
        json_t *list = may_null ? json_pack("[n]") : json_array();
        for (const struct name_value *n = m->names; n->name; n++)
            json_array_append_new(list, json_string(n->name));
        json_object_del(o, "type");
        json_object_set_new(o, "enum", list);
    }
    json_object_set_new(o, "description", json_string(m->text));
    return o;
}

json_t *contract_schema(const struct contract *c)
{
    json_t *defs = json_object(), *members = json_object(), *required = json_array();
    json_object_set_new(members, "schema",
                        json_pack("{s:s, s:s}", "const", c->urn, "description",
                                  "The schema that the result keeps to."));
    json_array_append_new(required, json_string("schema"));
    for (int i = 0; i < 2 && c->sets[i]; i++)
        add_rows(members, required, c->sets[i]->rows, defs);
    json_t *o = json_pack("{s:s, s:s, s:s}", "$schema",
                          "https://json-schema.org/draft/2020-12/schema", "$id", c->urn,
                          "title", c->title);
    json_t *form = closed(members, required);
    json_object_update(o, form);
    json_decref(form);
    json_object_set_new(o, "$defs", defs);
    return o;
}
