/* A file, as the dialect reads it that recognises it. */
#include "dialect/launch/launch.h"

#include "base/file.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_commands.h"
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_document.h"
#include "dialect/launch/launch_found.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/python/python.h"
#include "dialect/source/document.h"
#include "dialect/source/notebook.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES_MAX = 70, FILE_MAX_B = 64 << 20 }; /* as config/cfg.h */

void launch_release(struct launch *l)
{
    VEC_RELEASE(&l->resolved);
    VEC_RELEASE(&l->unresolved);
    VEC_RELEASE(&l->origins);
    VEC_RELEASE(&l->autos);
    VEC_RELEASE(&l->values);
    VEC_RELEASE(&l->notes);
    launch_release_names(l);
    launch_release_found(l);
    if (l->notebook)
        notebook_release(l->notebook);
}

static void begin(struct launch *l, struct cfg_loader *loader, const char *file)
{
    *l = (struct launch) { .loader = loader,
                           .what = "the script",
                           .file = arena_strdup(&loader->arena, file) };
    l->where = l->file;
    launch_init_found(l);
}

static const struct launch_given nothing_given = { .estimator = NULL };

static void no_estimators(const struct launch *l)
{
    diags_add(&l->loader->diags, launch_diag(l, DIAG_REFUSED_KEY, 0, 0),
              "has no estimators (leave --estimator out)");
}

/* Python --------------------------------------------------------------------------- */

static void no_calls(const struct launch *l, const struct python *p)
{
    if (p->ended) {
        diags_add(&l->loader->diags,
                  diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, p->ended),
                  "the assertion does not hold on this many GPUs: the program ends "
                  "there, and trains nothing (give another --set /cluster/count=N)");
        return;
    }
    diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, 0, 0),
              "it has no estimator, trainer, loop or configuration that is read (smsim "
              "help dialects lists them; give a launch script)");
    for (int64_t i = 0; i < p->notes.n && i < 3; i++)
        diags_add(
            &l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, p->notes.v[i].line),
            "%s", p->notes.v[i].text);
}

/* The commands that a program starts which trains nothing itself; NULL. */
static const char *commands_of(struct launch *l, const char *text)
{
    const struct python_wanted given = { .gpu = { l->gpus, l->arch, 0, l->memory_B } };
    const char *commands = launch_commands_of(&l->loader->arena, text, &given);
    if (commands)
        launch_note(l, 1, DIAG_ASSUMED,
                    "the script trains nothing itself: what it starts by a shell is "
                    "read, by lines of those commands");
    return commands;
}

static json_t *read_python(struct launch *l, const char *text, size_t len,
                           const struct launch_given *given)
{
    struct arena *arena = &l->loader->arena;
    struct python_wanted wanted = dialect_calls(arena);
    if (l->notebook)
        wanted.calls = launch_wanted_of_cells(arena, wanted.calls);
    wanted.gpu =
        (struct python_gpu) { l->gpus, l->arch, l->gpus * given->count, l->memory_B };
    struct launch_imports imports;
    wanted.modules = launch_imports(&imports, l, NULL);
    struct python p;
    struct err err = { 0 };
    struct launch_context t = { .tree = NULL };
    const struct dialect_input in = { .source = DIALECT_CALLS,
                                      .python = &p,
                                      .estimator = given->estimator };
    const struct dialect *d;
    const char *commands;
    struct shell_given variables[VARIABLES_MAX];
    struct launch_given with = *given;
    int rc = python_read(&p, arena, text, len, &wanted, &err);
    if (rc == 0 && l->notebook) {
        with.n_shell = launch_join_cells(l, &p, given, variables, VARIABLES_MAX);
        with.shell = variables;
    }
    if (rc) {
        diags_add(&l->loader->diags, launch_syntax(l, &err), "%s", err.text);
    } else if ((d = dialect_of(&in)) == NULL && l->notebook && l->notebook->has_shell) {
        t.tree =
            launch_read_shell(l, l->notebook->shell, strlen(l->notebook->shell), &with);
    } else if (d == NULL && !l->notebook && (commands = commands_of(l, text)) != NULL) {
        t.tree = launch_read_shell(l, commands, strlen(commands), given);
    } else if (d == NULL) {
        no_calls(l, &p);
    } else {
        launch_begin(&t, l);
        dialect_read(d, &t, &in);
        launch_take_python_notes(l, &p);
    }
    python_release(&p);
    return t.tree;
}

/* What the command gives has no line of the program's: it is where the training is. */
static void place_given(struct launch *l)
{
    for (int64_t i = 0; i < l->resolved.n; i++)
        l->resolved.v[i].line =
            l->resolved.v[i].line < 0 ? l->line : l->resolved.v[i].line;
    for (int64_t i = 0; i < l->unresolved.n; i++)
        l->unresolved.v[i].line =
            l->unresolved.v[i].line < 0 ? l->line : l->unresolved.v[i].line;
    for (int64_t i = 0; i < l->notes.n; i++)
        l->notes.v[i].line = l->notes.v[i].line < 0 ? l->line : l->notes.v[i].line;
}

/* A program that a command of a shell script starts, as if it had been given itself. */
static json_t *read_program(struct launch *l, const struct launch_script *p)
{
    struct arena *arena = &l->loader->arena;
    struct python_wanted wanted = dialect_calls(arena);
    const char *from = launch_last_part(l->file);
    struct launch_imports imports;
    struct launch_context t = { .tree = NULL };
    struct python read;
    struct err err = { 0 };
    const struct dialect_input in = { .source = DIALECT_CALLS, .python = &read };
    const struct dialect *d = NULL;
    wanted.gpu =
        (struct python_gpu) { l->gpus, l->arch, l->gpus * l->count, l->memory_B };
    wanted.modules = launch_imports(&imports, l, p->path);
    wanted.given = p->given;
    if (python_read(&read, arena, p->text, strlen(p->text), &wanted, &err) == 0)
        d = dialect_of(&in);
    if (d) {
        l->file = p->path;
        launch_begin(&t, l);
        dialect_read(d, &t, &in);
        launch_take_python_notes(l, &read);
        launch_note(l, l->line, DIAG_ASSUMED,
                    "%.80s starts it, with the options of its line %" PRId64, from,
                    p->line);
        place_given(l);
    }
    python_release(&read);
    return t.tree;
}

/* A notebook's cells of Python; what of them starts the training in a shell, where those
 * have no call that does. */
static json_t *read_notebook(struct launch *l, const char *text, size_t len,
                             const struct launch_given *given)
{
    if (launch_open_notebook(l, text, len))
        return NULL;
    const struct notebook *nb = l->notebook;
    return read_python(l, nb->python, strlen(nb->python), given);
}

/* Any file ------------------------------------------------------------------------- */

bool launch_is_script(const char *file)
{
    const char *dot = strrchr(file, '.');
    bool python = dot && (strcmp(dot, ".py") == 0 || strcmp(dot, ".txt") == 0);
    return python || launch_is_shell(file) || launch_is_notebook(file) ||
           launch_is_document(file);
}

static struct cfg load_script(struct launch *l, const char *text, size_t len,
                              const struct launch_given *given)
{
    struct launch_given with = *given;
    with.program = read_program;
    json_t *tree = launch_is_shell(l->file) ? launch_read_shell(l, text, len, &with)
                   : launch_is_notebook(l->file) ? read_notebook(l, text, len, given)
                                                 : read_python(l, text, len, given);
    return tree ? cfg_from_tree(l->loader, l->file, tree) : (struct cfg) { 0 };
}

struct cfg launch_load_text(struct launch *l, struct cfg_loader *loader,
                            const char *name, const char *text)
{
    begin(l, loader, name);
    if (document_is(name))
        return launch_read_document(l, text, strlen(text), &nothing_given);
    return load_script(l, text, strlen(text), &nothing_given);
}

struct cfg launch_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_given *given)
{
    struct err err = { 0 };
    size_t len;
    given = given ? given : &nothing_given;
    begin(l, loader, file);
    l->gpus = given->gpus;
    l->arch = given->arch;
    l->memory_B = given->memory_B;
    l->count = given->count;
    bool document = launch_is_document(file);
    l->named = document ? given->estimator : NULL;
    char *text = file_read(
        file, document || launch_is_notebook(file) ? FILE_MAX_B : PYTHON_TEXT_MAX_B,
        &len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return (struct cfg) { 0 };
    }
    struct cfg root = document ? launch_read_document(l, text, len, given)
                               : load_script(l, text, len, given);
    if (l->named)
        no_estimators(l);
    free(text);
    return root;
}
