/* A Hugging Face config.json as a JSON Schema: one form for each model_type, from the
 * rows by which it is read. Keys that no row has are Hugging Face's own business. */
#include "model/vision.h"

#include <string.h>

static json_t *number(const char *type, int64_t min, int64_t max)
{
    return json_pack("{s:s, s:I, s:I}", "type", type, "minimum", (json_int_t)min,
                     "maximum", (json_int_t)max);
}

static json_t *value_schema(const struct family_field *f)
{
    switch (f->type) {
    case FAMILY_INT:
    case FAMILY_OR_NONE:
        return number("integer", f->min, f->max);
    case FAMILY_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case FAMILY_STRING:
        return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
    case FAMILY_PROBABILITY:
        return number("number", 0, 1);
    case FAMILY_NONZERO:
        return number("number", 0, 1000000000);
    case FAMILY_LENGTH:
        return json_pack("{s:s}", "type", "array");
    case FAMILY_SIDES:
    case FAMILY_EACH:
        return json_pack("{s:[s,s], s:{s:s, s:I, s:I}, s:I, s:I}", "type", "integer",
                         "array", "items", "type", "integer", "minimum",
                         (json_int_t)f->min, "maximum", (json_int_t)f->max, "minimum",
                         (json_int_t)f->min, "maximum", (json_int_t)f->max);
    case FAMILY_SHARES:
        return json_pack("{s:[s,s], s:{s:s, s:i, s:i}, s:i, s:i}", "type", "number",
                         "array", "items", "type", "number", "minimum", 0, "maximum", 1,
                         "minimum", 0, "maximum", 1);
    case FAMILY_MLP_TYPES:
        return json_pack("{s:s, s:{s:[s,s]}}", "type", "array", "items", "enum",
                         "dense", "sparse");
    case FAMILY_NOTED:
    case FAMILY_ELSEWHERE:
        return json_object();
    case FAMILY_REAL:
        return json_pack("{s:s, s:i, s:I}", "type", "number", "minimum", 0, "maximum",
                         (json_int_t)f->max);
    case FAMILY_PATTERN:
        return json_pack("{s:[s,s], s:{s:s}}", "type", "string", "array", "items",
                         "type", "string");
    case FAMILY_MEMBERS:
    case FAMILY_ITEMS:
        return json_pack("{s:s, s:{s:s, s:i}}", "type", "array", "items", "type",
                         "integer", "minimum", 0);
    case FAMILY_LAYER_TYPES:
        break;
    }
    return json_pack("{s:s, s:{s:[s,s]}}", "type", "array", "items", "enum",
                     "full_attention", "sliding_attention");
}

/* null is the same as an absent key. */
static json_t *or_null(json_t *schema)
{
    json_t *type = json_object_get(schema, "type");
    if (json_is_array(type))
        json_array_append_new(type, json_string("null"));
    else if (type)
        json_object_set_new(schema, "type", json_pack("[O,s]", type, "null"));
    return schema;
}

/* "a/b" is b of the object a. */
static void put(json_t *members, const char *key, json_t *schema)
{
    char outer[64];
    const char *slash = strchr(key, '/');
    if (!slash) {
        json_object_set_new(members, key, schema);
        return;
    }
    snprintf(outer, sizeof(outer), "%.*s", (int)(slash - key), key);
    if (!json_object_get(members, outer))
        json_object_set_new(
            members, outer,
            json_pack("{s:[s,s], s:{}}", "type", "object", "null", "properties"));
    put(json_object_get(json_object_get(members, outer), "properties"), slash + 1,
        schema);
}

/* One of the names has to be there. */
static json_t *need(const struct family_field *f)
{
    if (!f->alias)
        return json_pack("{s:[s]}", "required", f->key);
    return json_pack("{s:[{s:[s]}, {s:[s]}]}", "anyOf", "required", f->key, "required",
                     f->alias);
}

/* A row that the file may leave out, as the family says what it is then. */
static bool has_usual(const struct family *family, const struct family_field *f)
{
    const char *member = (const char *)&family->usual + f->at;
    return f->type == FAMILY_INT && *(const int64_t *)(const void *)member > 0;
}

/* A model that reads pictures and words: its parts have forms of their own. */
static json_t *vision_schema(const char *name)
{
    const char *tower = vision_reads(vision_find(name));
    return json_pack("{s:s, s:{s:{s:s}, s:{s:s}}, s:[s,s]}", "type", "object",
                     "properties", "model_type", "const", name, tower, "type", "object",
                     "required", "model_type", tower);
}

static json_t *family_schema(const struct family *family)
{
    json_t *members = json_object(), *needs = json_array();
    json_array_append_new(needs, json_pack("{s:[s]}", "required", "model_type"));
    json_object_set_new(members, "model_type",
                        json_pack("{s:s}", "const", family->name));
    json_object_set_new(members, "architectures",
                        json_pack("{s:[s,s], s:{s:s}}", "type", "array", "null",
                                  "items", "type", "string"));
    for (const struct family_field *f = family->fields; f->key; f++) {
        put(members, f->key, or_null(value_schema(f)));
        if (f->alias)
            put(members, f->alias, or_null(value_schema(f)));
        if (f->required && !has_usual(family, f))
            json_array_append_new(needs, need(f));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", members,
                     "allOf", needs);
}

json_t *model_schema(void)
{
    json_t *forms = json_array();
    for (const struct family *f = NULL; (f = family_next(f)) != NULL;)
        json_array_append_new(forms, family_schema(f));
    for (int64_t i = 0; vision_name(i); i++)
        json_array_append_new(forms, vision_schema(vision_name(i)));
    return json_pack("{s:s, s:s, s:s, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "$id",
                     "urn:smsim:model:1", "title",
                     "A model of smsim: a Hugging Face config.json", "anyOf", forms);
}
