/* Jupyter's notebooks as launch scripts. */
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_document.h"

#include "dialect/source/notebook.h"
#include "dialect/source/python.h"
#include "dialect/source/shell.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

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
                                      .files = nb->files.v,
                                      .n_files = nb->files.n };
    struct shell s;
    struct err err = { 0 };
    int32_t n = 0;
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
