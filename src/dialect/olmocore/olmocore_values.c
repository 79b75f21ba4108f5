#include "base/names.h"
#include "dialect/olmocore/olmocore.h"

#include <fnmatch.h>
#include <string.h>

enum { PATH_MAX_B = 200, DEPTH_MAX = 8 };

/* internal/experiment.py, build_config. */
enum { SEQUENCE_LENGTH = 4096 };

const char *const olmocore_calls[] = { "partial", NULL };
const char *const olmocore_objects[] = {
    "olmo_core.*.[A-Z]*",
    "olmo_core.internal.experiment.main",
    "olmo_core.internal.experiment.build_config",
    NULL,
};

const struct python_call *olmocore_call(const struct python *p, const char *class)
{
    const struct python_call *found = NULL;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (strncmp(c->function, "olmo_core.", 10) == 0 &&
            names_ends(c->function, class) && (!found || found->unsure || !c->unsure))
            found = c;
    }
    return found;
}

const struct python_call *olmocore_model_call(const struct python *p)
{
    const struct python_call *found = NULL;
    for (int64_t i = 0; i < p->calls.n; i++)
        if (fnmatch("olmo_core.*.TransformerConfig.*", p->calls.v[i].function, 0) == 0)
            found = &p->calls.v[i];
    return found;
}

const struct value *olmocore_members(const struct python_call *c)
{
    return c->result && c->result->kind == VALUE_DICT ? c->result : c->arguments;
}

void olmocore_flatten(struct arena *arena, struct value *out, const char *path,
                      const struct value *v, int depth)
{
    if (*path && v->text)
        value_add(arena, out, arena_printf(arena, "%s.@", path), v->line,
                  value_new_string(arena, v->text, v->line, 0));
    for (int32_t i = 0; i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        const char *key = *path ? arena_printf(arena, "%s.%s", path, it->key) : it->key;
        if (strlen(key) > PATH_MAX_B || depth == DEPTH_MAX)
            continue;
        if (it->value->kind == VALUE_DICT)
            olmocore_flatten(arena, out, key, it->value, depth + 1);
        else
            value_add(arena, out, key, it->line, it->value);
    }
}

const char *olmocore_word(const struct value *flat, const char *path,
                          const char *otherwise)
{
    const struct value_item *it = value_get(flat, path);
    if (!it || !it->value->text)
        return otherwise;
    return it->value->kind == VALUE_UNKNOWN ? python_last_part(it->value->text)
                                            : it->value->text;
}

/* What the functions of a script are called with ------------------------------------ */

/* A keyword of build_config(), main() of earlier versions, or partial(build_config). */
static const struct value_item *keyword(const struct python *p, const char *name)
{
    static const char *const functions[] = { "functools.partial", "partial",
                                             "olmo_core.internal.experiment.main",
                                             "olmo_core.internal.experiment.build_"
                                             "config" };
    for (int64_t i = 0; i < p->calls.n; i++)
        for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
            const struct value_item *it =
                strcmp(p->calls.v[i].function, functions[f]) == 0
                    ? value_get(p->calls.v[i].arguments, name)
                    : NULL;
            if (it)
                return it;
        }
    return NULL;
}

static void add_keyword(const struct python *p, struct value *to, const char *name,
                        int64_t otherwise, int64_t line)
{
    const struct value_item *it = keyword(p, name);
    struct value *v = value_new(p->arena, VALUE_INT, line, 0);
    v->integer = otherwise;
    if (it || otherwise)
        value_add(p->arena, to, name, it ? it->line : line, it ? it->value : v);
}

/* What build_config makes of the data (internal/experiment.py): a set's effective length
 * is its sequence_length. */
static void add_lengths(const struct python *p, struct value *dataset, int64_t line)
{
    static const char *const names[] = { "sequence_length", "max_sequence_length",
                                         "effective_sequence_length" };
    const struct value_item *it = keyword(p, names[0]);
    struct value *otherwise = value_new(p->arena, VALUE_INT, line, 0);
    otherwise->integer = SEQUENCE_LENGTH;
    it = it ? it : keyword(p, names[1]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        value_add(p->arena, dataset, names[i], it ? it->line : line,
                  it ? it->value : otherwise);
}

const struct value *olmocore_argument(const struct python *p, const char *name,
                                      int64_t line)
{
    bool common = strcmp(name, "common") == 0, opts = strcmp(name, "opts") == 0;
    bool own = false;
    for (int64_t i = 0; i < p->names.n && !own; i++) {
        const struct value *v = p->names.v[i].value;
        own = v && v->kind == VALUE_UNKNOWN && v->text &&
              strncmp(v->text, "olmo_core.", 10) == 0;
    }
    if (own && strcmp(name, "overrides") == 0) /* a command line without any */
        return value_new(p->arena, VALUE_LIST, line, 0);
    if (!own || (!common && !opts))
        return NULL;
    struct value *v = value_new(p->arena, VALUE_DICT, line, 0),
                 *dataset = value_new(p->arena, VALUE_DICT, line, 0),
                 *none = value_new(p->arena, VALUE_NONE, line, 0);
    v->text = common ? "CommonComponents" : "Namespace";
    if (opts) {
        value_add(p->arena, v, "sequence_length", line, none);
        return v;
    }
    add_keyword(p, v, "max_sequence_length", SEQUENCE_LENGTH, line);
    add_lengths(p, dataset, line);
    value_add(p->arena, v, "dataset", line, dataset); /* of versions until 2025 */
    add_keyword(p, v, "global_batch_size", 0, line);
    value_add(p->arena, v, "launch", line, none); /* but on AI2's own cluster */
    return v;
}
