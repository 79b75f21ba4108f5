/* Paths in Python source, and the documents that they name: a path is its text, and a
 * document (YAML, JSON) is read where a call loads it. */
#include "base/names.h"
#include "dialect/python/python_parse.h"

#include <string.h>

static const char opened[] = "open"; /* the text of the value of an open file */

/* Paths ---------------------------------------------------------------------------- */

static struct value *path_text(struct python_parser *r, int64_t line, const char *text)
{
    return python_text(r, line, text);
}

struct value *python_path_join(struct python_parser *r, const struct value *a,
                               const struct value *b)
{
    size_t n = strlen(a->text);
    if (n + strlen(b->text) >= PYTHON_STRING_MAX)
        return python_unknown(r, a->line, "it is too long for a path");
    bool bare = !n || a->text[n - 1] == '/' || *b->text == '/';
    return path_text(r, a->line,
                     arena_printf(r->p->arena, "%s%s%s", *b->text == '/' ? "" : a->text,
                                  bare ? "" : "/", b->text));
}

/* The folder of a path; ".." of one that has no more parts. */
static struct value *folder(struct python_parser *r, const char *path, int64_t line)
{
    const char *slash = strrchr(path, '/');
    if (slash && slash > path)
        return path_text(r, line,
                         arena_strndup(r->p->arena, path, (size_t)(slash - path)));
    return path_text(r, line, slash ? "/" : ".");
}

struct value *python_path_part(struct python_parser *r, const struct value *v,
                               const char *attribute, int64_t line)
{
    bool is = v && v->kind == VALUE_STRING && strcmp(attribute, "parent") == 0;
    return is ? folder(r, v->text, line) : NULL;
}

/* Documents ------------------------------------------------------------------------ */

static bool is_open(const struct value *v)
{
    return v->kind == VALUE_DICT && v->text == opened;
}

static struct value *open_at(struct python_parser *r, const struct value *path,
                             int64_t line)
{
    struct value *v = python_new(r, VALUE_DICT, line);
    v->text = opened;
    python_put(r, v, "0", line, (struct value *)(uintptr_t)path);
    return v;
}

/* The document of that name as values of the line that loads it. */
static struct value *load(struct python_parser *r, const char *name, int64_t line)
{
    const struct python_modules *m = r->wanted->modules;
    const char *path = name;
    const struct value *root =
        m && m->document ? m->document(m->of, r->p->arena, name, false, &path) : NULL;
    if (!root)
        return python_unknown(r, line, "%.80s was not found next to the script", name);
    struct value *v = python_deep_copy(r, root);
    value_move_to(v, line);
    python_note(r, line, "%.160s is read", path);
    return v;
}

static bool is_loader(const char *function)
{
    static const char *const loaders[] = { "yaml.safe_load",
                                           "yaml.load",
                                           "yaml.full_load",
                                           "yaml.unsafe_load",
                                           "json.load",
                                           "json.loads",
                                           "OmegaConf.load",
                                           "omegaconf.OmegaConf.load",
                                           "safe_load",
                                           "yaml.CLoader",
                                           NULL };
    return names_listed(loaders, function);
}

struct value *python_file_call(struct python_parser *r, const char *function,
                               const struct value *arguments, int64_t line)
{
    static const char *const folders[] = { "os.path.dirname", "dirname", NULL };
    static const char *const same[] = { "os.path.abspath", "os.path.realpath",
                                        "os.path.expanduser", NULL };
    const struct value_item *it = value_get(arguments, "0"),
                            *mode = value_get(arguments, "1");
    const struct value *first = it ? it->value : NULL;
    bool writes = mode && mode->value->kind == VALUE_STRING &&
                  strpbrk(mode->value->text, "wax+") != NULL;
    if (!first || (first->kind != VALUE_STRING && !is_open(first)))
        return NULL;
    if (is_loader(function))
        return is_open(first) ? load(r, first->items[0].value->text, line)
               : strstr(function, "OmegaConf") ? load(r, first->text, line)
                                               : NULL;
    if (first->kind != VALUE_STRING)
        return NULL;
    if (names_listed(folders, function))
        return folder(r, first->text, line);
    if (names_listed(same, function))
        return path_text(r, line, first->text);
    return strcmp(function, "open") == 0 && !writes ? open_at(r, first, line) : NULL;
}

struct value *python_file_method(struct python_parser *r, struct value *x,
                                 const char *method, int64_t line)
{
    static const char *const opens[] = { "open", "read_text", "read_bytes", NULL };
    static const char *const same[] = { "resolve", "absolute", "expanduser", "as_posix",
                                        NULL };
    if (is_open(x))
        return strcmp(method, "read") == 0 ? x : NULL;
    if (x->kind != VALUE_STRING)
        return NULL;
    if (names_listed(opens, method))
        return open_at(r, x, line);
    return names_listed(same, method) ? path_text(r, line, x->text) : NULL;
}
