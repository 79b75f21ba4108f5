/* The fields of a config.json, as the rows of its family say: where each is, of which type,
 * and what is said where one is missing. */
#include "base/names.h"
#include "model/families/families.h"

#include <limits.h>
#include <string.h>

/* Of "a/b" the member b of the object a. */
static struct cfg find_key(struct cfg root, const char *key)
{
    char outer[64];
    const char *slash = strchr(key, '/');
    if (!slash)
        return cfg_get(root, key);
    snprintf(outer, sizeof(outer), "%.*s", (int)(slash - key), key);
    struct cfg object = cfg_get(root, outer);
    return cfg_is_object(object) ? cfg_get(object, slash + 1) : (struct cfg) { 0 };
}

static struct cfg find_field(struct cfg root, const struct family_field *f)
{
    struct cfg value = find_key(root, f->key);
    if (!cfg_present(value) && f->alias && cfg_present(cfg_get(root, f->alias)))
        return cfg_get(root, f->alias);
    return value;
}

static bool is_known(const struct family_field *fields, const char *key)
{
    for (const struct family_field *f = fields; f->key; f++)
        if (strcmp(f->key, key) == 0 || (f->alias && strcmp(f->alias, key) == 0))
            return true;
    return strcmp(key, "model_type") == 0 || strcmp(key, "architectures") == 0;
}

/* Keys that no row names are Hugging Face's own business, but where a size is missing
 * the nearest of them is likely that size, misspelt. */
static int missing(struct cfg root, const struct family_field *fields,
                   const struct family_field *f)
{
    const char *near = NULL;
    int best = INT_MAX;
    for (void *it = cfg_first(root); it; it = cfg_next(root, it)) {
        int distance = names_distance(f->key, cfg_key(it));
        if (!is_known(fields, cfg_key(it)) && distance < best) {
            best = distance;
            near = cfg_key(it);
        }
    }
    size_t longer =
        near && strlen(near) > strlen(f->key) ? strlen(near) : strlen(f->key);
    if (near && 2 * (size_t)best <= longer)
        return cfg_error(root, DIAG_MISSING,
                         "\"%s\" is missing (is \"%s\" meant to be it?)", f->key, near);
    return cfg_error(root, DIAG_MISSING,
                     "\"%s\" is missing (a model of this model_type needs it)", f->key);
}

/* A number, or as many equal ones as there are layers. */
static int read_each(struct cfg value, const struct family_field *f, int64_t *v)
{
    int64_t other;
    if (!cfg_is_array(value))
        return cfg_int(value, v, f->min, f->max);
    if (cfg_int(cfg_at(value, 0), v, f->min, f->max) < 0)
        return -1;
    for (int64_t i = 1; i < cfg_len(value); i++)
        if (cfg_int(cfg_at(value, i), &other, f->min, f->max) < 0)
            return -1;
        else if (other != *v)
            return cfg_error(cfg_at(value, i), DIAG_NOT_SIMULATED,
                             "layers that differ in \"%s\" are not modelled", f->key);
    return 0;
}

/* What the model is read without; 0, false and "" say that there is none. */
static void note(struct cfg value, const struct family_field *f)
{
    bool none = json_is_false(value.json) || json_number_value(value.json) == 0;
    if (!none || json_is_true(value.json) || cfg_is_string(value) || cfg_len(value))
        cfg_warn(value, DIAG_NOT_SIMULATED, "%s", f->why);
}

/* A row whose value is a list, or words that only families understand. */
static int read_list(struct cfg value, const struct family_field *f,
                     struct family_raw *raw)
{
    void *member = (char *)raw + f->at;
    switch (f->type) {
    case FAMILY_LENGTH:
        if (!cfg_is_array(value))
            return cfg_error(value, DIAG_WRONG_TYPE,
                             "this is an array (write [] for none)");
        *(int64_t *)member = cfg_len(value);
        return 0;
    case FAMILY_ITEMS:
        return families_read_items(value, member);
    case FAMILY_EACH:
        return read_each(value, f, member);
    case FAMILY_SIDES:
        return families_read_sides(value, member, f->max);
    case FAMILY_PATTERN:
        if (families_read_pattern(value, member) < 0)
            return -1;
        if (!raw->m.layers) /* the list alone says how many */
            raw->m.layers = raw->pattern.n;
        return 0;
    case FAMILY_MEMBERS:
        return families_read_members(value, member);
    case FAMILY_MLP_TYPES:
        return families_read_mlps(value, raw);
    case FAMILY_SHARES:
        return families_read_shares(value, member);
    case FAMILY_LAYER_TYPES:
        return families_read_types(value, member);
    default:
        return 0;
    }
}

static int read_value(struct cfg value, const struct family_field *f,
                      struct family_raw *raw)
{
    void *member = (char *)raw + f->at;
    double number;
    switch (f->type) {
    case FAMILY_INT:
    case FAMILY_OR_NONE:
        return cfg_int(value, member, f->min, f->max);
    case FAMILY_BOOL:
        return cfg_bool(value, member);
    case FAMILY_STRING:
        return cfg_string(value, member);
    case FAMILY_PROBABILITY:
    case FAMILY_NONZERO:
        if (cfg_real(value, &number, 0, f->type == FAMILY_NONZERO ? 1e9 : 1) < 0)
            return -1;
        *(bool *)member = number > 0;
        return 0;
    case FAMILY_REAL:
        return cfg_real(value, member, 0, (double)f->max);
    case FAMILY_NOTED:
        note(value, f);
        return 0;
    case FAMILY_ELSEWHERE:
        return 0;
    default:
        return read_list(value, f, raw);
    }
}

static int read_field(struct cfg root, const struct family_field *fields,
                      const struct family_field *f, struct family_raw *raw)
{
    void *member = (char *)raw + f->at;
    struct cfg value = find_field(root, f);
    bool null = value.json && !cfg_present(value);
    if (null && f->type == FAMILY_OR_NONE)
        *(int64_t *)member = 0;
    if (null && f->type == FAMILY_NONZERO)
        *(bool *)member = false;
    if (cfg_present(value))
        return read_value(value, f, raw);
    bool has = f->type == FAMILY_INT && *(int64_t *)member > 0;
    return f->required && !has ? missing(root, fields, f) : 0;
}

int families_read_fields(struct cfg root, const struct family_field *fields,
                         struct family_raw *raw)
{
    int rc = 0;
    for (const struct family_field *f = fields; f->key; f++)
        if (read_field(root, fields, f, raw) < 0)
            rc = -1;
    return rc;
}
