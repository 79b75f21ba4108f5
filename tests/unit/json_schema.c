#include "json_schema.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

struct place {
    const json_t *root;
    const char *key;
    char *why; /* NULL: not asked */
};

static bool fail(const struct place *p, const char *keyword)
{
    if (p->why && !p->why[0])
        snprintf(p->why, 200, "%s: %s", p->key, keyword);
    return false;
}

static bool check(struct place p, const json_t *schema, const json_t *value);

typedef bool keyword_fn(const struct place *p, const json_t *schema, const json_t *word,
                        const json_t *value);

/* --- values
 * ------------------------------------------------------------------------ */

static bool is_type(const char *type, const json_t *v)
{
    double real = json_number_value(v);
    return strcmp(type, "object") == 0    ? json_is_object(v)
           : strcmp(type, "array") == 0   ? json_is_array(v)
           : strcmp(type, "string") == 0  ? json_is_string(v)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(v)
           : strcmp(type, "null") == 0    ? json_is_null(v)
           : strcmp(type, "number") == 0  ? json_is_number(v)
                                          : json_is_number(v) && real == floor(real);
}

static bool has_type(const struct place *p, const json_t *schema, const json_t *word,
                     const json_t *value)
{
    bool is = json_is_string(word) && is_type(json_string_value(word), value);
    (void)schema;
    for (size_t i = 0; i < json_array_size(word); i++) {
        is |= is_type(json_string_value(json_array_get(word, i)), value);
        for (size_t k = 0; k < i; k++) /* a schema has each once */
            CU_ASSERT_FALSE(
                json_equal(json_array_get(word, i), json_array_get(word, k)));
    }
    return is || fail(p, "type");
}

static bool is_listed(const struct place *p, const json_t *schema, const json_t *word,
                      const json_t *value)
{
    (void)schema;
    for (size_t i = 0; i < json_array_size(word); i++)
        if (json_equal(json_array_get(word, i), value))
            return true;
    return fail(p, "enum");
}

static bool is_const(const struct place *p, const json_t *schema, const json_t *word,
                     const json_t *value)
{
    (void)schema;
    return json_equal(word, value) || fail(p, "const");
}

static bool is_least(const struct place *p, const json_t *schema, const json_t *word,
                     const json_t *value)
{
    (void)schema;
    return !json_is_number(value) ||
           json_number_value(value) >= json_number_value(word) || fail(p, "minimum");
}

static bool is_above(const struct place *p, const json_t *schema, const json_t *word,
                     const json_t *value)
{
    (void)schema;
    return !json_is_number(value) ||
           json_number_value(value) > json_number_value(word) ||
           fail(p, "exclusiveMinimum");
}

static bool is_most(const struct place *p, const json_t *schema, const json_t *word,
                    const json_t *value)
{
    (void)schema;
    return !json_is_number(value) ||
           json_number_value(value) <= json_number_value(word) || fail(p, "maximum");
}

static bool is_long(const struct place *p, const json_t *schema, const json_t *word,
                    const json_t *value)
{
    (void)schema;
    return !json_is_string(value) ||
           (json_int_t)json_string_length(value) >= json_integer_value(word) ||
           fail(p, "minLength");
}

static bool has_items(const struct place *p, const json_t *schema, const json_t *word,
                      const json_t *value)
{
    (void)schema;
    return !json_is_array(value) ||
           (json_int_t)json_array_size(value) >= json_integer_value(word) ||
           fail(p, "minItems");
}

static bool matches(const struct place *p, const json_t *schema, const json_t *word,
                    const json_t *value)
{
    regex_t re;
    (void)schema;
    if (!json_is_string(value))
        return true;
    int rc = regcomp(&re, json_string_value(word), REG_EXTENDED | REG_NOSUB);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    bool is = regexec(&re, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&re);
    return is || fail(p, "pattern");
}

/* --- members and elements
 * ----------------------------------------------------------- */

static bool has_members(const struct place *p, const json_t *schema, const json_t *word,
                        const json_t *value)
{
    const json_t *other = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        const json_t *of = json_object_get(word, key);
        struct place inner = { p->root, key, p->why };
        if (!of && json_is_false(other))
            return fail(&inner, "unknown key");
        if ((of || other) && !check(inner, of ? of : other, member))
            return false;
    }
    return true;
}

/* Next to "properties" it is looked at there. */
static bool has_others(const struct place *p, const json_t *schema, const json_t *word,
                       const json_t *value)
{
    (void)word;
    return json_object_get(schema, "properties") || has_members(p, schema, NULL, value);
}

static bool has_required(const struct place *p, const json_t *schema,
                         const json_t *word, const json_t *value)
{
    (void)schema;
    for (size_t i = 0; json_is_object(value) && i < json_array_size(word); i++)
        if (!json_object_get(value, json_string_value(json_array_get(word, i))))
            return fail(p, "required");
    return true;
}

static bool all_items(const struct place *p, const json_t *schema, const json_t *word,
                      const json_t *value)
{
    (void)schema;
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        if (!check(*p, word, json_array_get(value, i)))
            return false;
    return true;
}

static bool any_of(const struct place *p, const json_t *schema, const json_t *word,
                   const json_t *value)
{
    (void)schema;
    for (size_t i = 0; i < json_array_size(word); i++)
        if (check((struct place) { p->root, p->key, NULL }, json_array_get(word, i),
                  value))
            return true;
    return fail(p, "anyOf");
}

static bool all_of(const struct place *p, const json_t *schema, const json_t *word,
                   const json_t *value)
{
    (void)schema;
    for (size_t i = 0; i < json_array_size(word); i++)
        if (!check(*p, json_array_get(word, i), value))
            return false;
    return true;
}

static bool refers(const struct place *p, const json_t *schema, const json_t *word,
                   const json_t *value)
{
    const char *at = json_string_value(word);
    const json_t *to = p->root;
    char part[128];
    (void)schema;
    for (at++; *at == '/';) {
        size_t n = strcspn(at + 1, "/");
        snprintf(part, sizeof(part), "%.*s", (int)n, at + 1);
        const json_t *next = json_object_get(to, part), *any;
        for (size_t i = 0;
             !next && (any = json_object_get(to, "anyOf")) && i < json_array_size(any);
             i++)
            next = json_object_get(json_array_get(any, i), part);
        to = next;
        at += n + 1;
    }
    CU_ASSERT_PTR_NOT_NULL(to);
    return to && check(*p, to, value);
}

static bool says_nothing(const struct place *p, const json_t *schema,
                         const json_t *word, const json_t *value)
{
    (void)p, (void)schema, (void)word, (void)value;
    return true;
}

/* clang-format off */
static const struct {
    const char *name;
    keyword_fn *check;
} keywords[] = {
    { "type", has_type }, { "enum", is_listed }, { "const", is_const },
    { "minimum", is_least }, { "exclusiveMinimum", is_above }, { "maximum", is_most },
    { "minLength", is_long }, { "minItems", has_items }, { "pattern", matches },
    { "properties", has_members }, { "additionalProperties", has_others },
    { "required", has_required }, { "items", all_items }, { "anyOf", any_of }, { "allOf", all_of },
    { "$ref", refers }, { "$schema", says_nothing }, { "$id", says_nothing },
    { "$defs", says_nothing }, { "title", says_nothing }, { "description", says_nothing },
    { "examples", says_nothing }, { "deprecated", says_nothing },
};
/* clang-format on */

static keyword_fn *keyword(const char *name)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
        if (strcmp(keywords[i].name, name) == 0)
            return keywords[i].check;
    fprintf(stderr, "json_schema: no keyword %s\n", name);
    CU_FAIL_FATAL("keyword");
    return NULL;
}

static bool check(struct place p, const json_t *schema, const json_t *value)
{
    const char *name;
    json_t *word;
    if (json_is_boolean(schema))
        return json_is_true(schema) || fail(&p, "false");
    json_object_foreach((json_t *)schema, name, word)
    {
        if (!keyword(name)(&p, schema, word, value))
            return false;
    }
    return true;
}

bool json_schema_holds(const json_t *root, const json_t *schema, const json_t *value,
                       char why[200])
{
    if (why)
        why[0] = '\0';
    return check((struct place) { root, "the root", why }, schema, value);
}
