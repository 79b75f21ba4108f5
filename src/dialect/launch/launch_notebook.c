/* Jupyter's notebooks as launch scripts. */
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_document.h"

#include "base/names.h"
#include "base/strbuf.h"
#include "dialect/python/python.h"
#include "dialect/shell/shell.h"
#include "dialect/source/notebook.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 20, JSON_MAX_B = 1 << 18 };

bool launch_is_notebook(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ".ipynb") == 0;
}

int launch_open_notebook(struct launch *l, const char *text, size_t len)
{
    struct cfg root = cfg_parse(l->loader, l->file, text, len);
    l->notebook = ARENA_NEW(&l->loader->arena, struct notebook);
    l->what = "the notebook";
    return root.json ? notebook_read(l->notebook, root) : -1;
}

bool launch_cell(const struct launch *l, int64_t line, int64_t *cell, int64_t *within)
{
    return l->notebook && notebook_place(l->notebook, line, cell, within);
}

const struct source_file *launch_own_file(const struct launch *l, const char *name)
{
    const struct source_file *own =
        l->notebook
            ? source_files_find(l->notebook->files.v, l->notebook->files.n, name)
            : NULL;
    return own ? own : source_files_find(l->written, l->n_written, name);
}

/* Between cells --------------------------------------------------------------------- */

static const char *text_of(struct arena *arena, const struct value *v)
{
    if (v->kind == VALUE_INT)
        return arena_printf(arena, "%" PRId64, v->integer);
    if (v->kind == VALUE_REAL)
        return arena_printf(arena, "%.15g", v->real);
    return v->kind == VALUE_STRING ? v->text : NULL;
}

/* How many lines of a text begin with an assignment to what is written so. */
static int assigned(const char *text, const char *written)
{
    size_t n = strlen(written);
    int times = 0;
    for (const char *s = text; (s = strstr(s, written)) != NULL; s += n) {
        const char *before = s, *after = s + n + strspn(s + n, " \t");
        while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
            before--;
        bool begins = before == text || before[-1] == '\n';
        times += begins && *after && strchr("=+-*/|", *after) && after[1] != '=';
        times += begins && *after && strchr("+-*/|", *after) && after[1] == '=';
    }
    return times;
}

static bool is_used(const char *shell, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = shell; (s = strchr(s, '$')) != NULL; s++) {
        const char *at = s + 1 + (s[1] == '{');
        if (strncmp(at, name, n) == 0 && !isalnum((unsigned char)at[n]) && at[n] != '_')
            return true;
    }
    return false;
}

static void give(struct arena *arena, const char *name, const struct value *v,
                 struct shell_given *out, int32_t *n, int32_t most)
{
    const char *text = text_of(arena, v);
    if (text && *n < most)
        out[(*n)++] = (struct shell_given) { name, text, v->line, false };
}

/* Files of Python ------------------------------------------------------------------ */

/* A value as JSON, which YAML is, too; false: a part of it is not known. */
static bool add_json(struct strbuf *b, const struct value *v, int depth)
{
    bool dict = v->kind == VALUE_DICT, list = v->kind == VALUE_LIST, known = !v->gap;
    if (depth > JSON_DEPTH_MAX || b->len > JSON_MAX_B)
        return false;
    if (v->kind == VALUE_STRING) {
        json_t *text = json_string(v->text);
        char *quoted = json_dumps(text, JSON_ENCODE_ANY);
        strbuf_addstr(b, quoted ? quoted : "null");
        known = quoted != NULL;
        free(quoted);
        json_decref(text);
    } else if (v->kind == VALUE_INT) {
        strbuf_printf(b, "%" PRId64, v->integer);
    } else if (v->kind == VALUE_REAL) {
        strbuf_printf(b, "%.15g", v->real);
    } else if (v->kind == VALUE_BOOL) {
        strbuf_addstr(b, v->integer ? "true" : "false");
    } else if (v->kind == VALUE_NONE) {
        strbuf_addstr(b, "null");
    }
    strbuf_addstr(b, dict ? "{" : list ? "[" : "");
    for (int32_t i = 0; (dict || list) && i < v->n && known; i++) {
        const struct value key = { .kind = VALUE_STRING, .text = v->items[i].key };
        strbuf_addstr(b, i ? ", " : "");
        if (dict) {
            known = v->items[i].key && add_json(b, &key, depth + 1);
            strbuf_addstr(b, ": ");
        }
        known = known && add_json(b, v->items[i].value, depth + 1);
    }
    strbuf_addstr(b, dict ? "}" : list ? "]" : "");
    return known && v->kind != VALUE_UNKNOWN;
}

/* The name in open("NAME", "w"); NULL: it is another call. */
static const char *opened(const struct python_call *c)
{
    const struct value_item *name = value_get(c->arguments, "0"),
                            *mode = value_get(c->arguments, "1");
    mode = mode ? mode : value_get(c->arguments, "mode");
    bool writes = strcmp(c->function, "open") == 0 && name &&
                  name->value->kind == VALUE_STRING && mode &&
                  mode->value->kind == VALUE_STRING && mode->value->text[0] == 'w';
    return writes ? name->value->text : NULL;
}

/* f.write(text), json.dump(x, f) and yaml.dump(x, f): what is written; NULL: it is not
 * known. *writes: it is such a call. */
static const char *written_by(struct arena *arena, const struct python_call *c,
                              bool *writes)
{
    static const char *const dumps[] = { "json.dump", "yaml.dump", "yaml.safe_dump",
                                         NULL };
    const struct value_item *it = value_get(c->arguments, "0");
    bool text = strcmp(python_last_part(c->function), "write") == 0,
         dump = names_listed(dumps, c->function);
    struct strbuf b;
    *writes = it && (text || dump);
    if (!*writes || text)
        return *writes && it->value->kind == VALUE_STRING ? it->value->text : NULL;
    strbuf_init(&b);
    const char *out =
        add_json(&b, it->value, 0) ? arena_strdup(arena, strbuf_get(&b)) : NULL;
    strbuf_release(&b);
    return out;
}

/* with open("args.yaml", "w") as f: f.write(text): files of the notebook's, as those of
 * %%writefile. One of several writes is a part of a file: it is not known. */
static void take_python_files(struct launch *l, const struct python *p)
{
    struct notebook *nb = l->notebook;
    const char *name = NULL, *text = NULL;
    int64_t line = 0;
    int times = 0;
    for (int64_t i = 0; i <= p->calls.n; i++) {
        const struct python_call *c = i < p->calls.n ? &p->calls.v[i] : NULL;
        const char *next = c ? opened(c) : NULL;
        bool writes = false;
        const char *more =
            c && !next ? written_by(&l->loader->arena, c, &writes) : NULL;
        if (writes && name && !c->quoted) {
            text = times++ ? NULL : more;
            line = value_get(c->arguments, "0")->value->line;
        }
        if (c && !next)
            continue;
        if (name && times && text)
            VEC_PUSH(&nb->files, ((struct source_file) { name, text, line }));
        else if (name && times)
            launch_note(l, line, DIAG_LEFT_OUT,
                        "%.60s is written here, and what is in it is not known", name);
        name = next;
        times = 0;
    }
}

int32_t launch_join_cells(struct launch *l, const struct python *p,
                          const struct launch_given *given, struct shell_given *out,
                          int32_t most)
{
    struct notebook *nb = l->notebook;
    struct arena *arena = &l->loader->arena;
    const struct value *environment = python_name(p, PYTHON_ENVIRONMENT);
    const struct shell_setting in = { .file = l->file,
                                      .gpus = given->gpus,
                                      .cpus = given->cpus,
                                      .arch = given->arch,
                                      .files = nb->files.v,
                                      .n_files = nb->files.n };
    struct shell s;
    struct err err = { 0 };
    int32_t n = 0;
    take_python_files(l, p);
    for (int64_t i = 0; i < p->names.n; i++) {
        const char *name = p->names.v[i].name;
        if (is_used(nb->shell, name) && assigned(nb->python, name) == 1)
            give(arena, name, p->names.v[i].value, out, &n, most);
    }
    for (int32_t i = 0;
         environment && environment->kind == VALUE_DICT && i < environment->n; i++) {
        const struct value_item *it = &environment->items[i];
        int times =
            assigned(nb->python, arena_printf(arena, "os.environ[\"%s\"]", it->key)) +
            assigned(nb->python, arena_printf(arena, "os.environ['%s']", it->key));
        if (times <= 1)
            give(arena, it->key, it->value, out, &n, most);
    }
    for (int32_t i = 0; i < given->n_shell && n < most; i++)
        out[n++] = given->shell[i];
    if (!strchr(nb->shell, '>'))
        return n;
    if (shell_read(&s, &in, arena, nb->shell, strlen(nb->shell), out, n, &err) == 0)
        for (int64_t i = 0; i < s.files.n; i++)
            VEC_PUSH(&nb->files, s.files.v[i]);
    else
        launch_note(l, err.line, DIAG_LEFT_OUT, "the shell's cells: %s", err.text);
    shell_release(&s);
    return n;
}

const char *const *launch_wanted_of_cells(struct arena *arena, const char *const *calls)
{
    static const char *const own[] = { "open", "write", "dump", "safe_dump", NULL };
    size_t n = 0;
    while (calls[n])
        n++;
    const char **all =
        ARENA_ARRAY(arena, n + sizeof(own) / sizeof(own[0]), const char *);
    memcpy(all, calls, n * sizeof(*all));
    memcpy(all + n, own, sizeof(own));
    return all;
}
