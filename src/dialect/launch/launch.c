/* A file, as the dialect reads it that recognises it. */
#include "dialect/launch/launch.h"

#include "base/file.h"
#include "config/pointer.h"
#include "dialect/dialect.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/source/python.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_VALUES_MAX = 500 };

void launch_release(struct launch *l)
{
    VEC_RELEASE(&l->resolved);
    VEC_RELEASE(&l->unresolved);
    VEC_RELEASE(&l->origins);
    VEC_RELEASE(&l->autos);
    VEC_RELEASE(&l->notes);
}

static void begin(struct launch *l, struct cfg_loader *loader, const char *file)
{
    *l = (struct launch) { .loader = loader,
                           .what = "the script",
                           .file = arena_strdup(&loader->arena, file) };
}

static const struct launch_given nothing_given = { .estimator = NULL };

static void no_estimators(const struct launch *l)
{
    diags_add(&l->loader->diags, launch_diag(l, DIAG_REFUSED_KEY, 0, 0),
              "has no estimators (leave --estimator out)");
}

/* Python --------------------------------------------------------------------------- */

static void take_notes(struct launch *l, const struct python *p)
{
    for (int64_t i = 0; i < p->notes.n; i++)
        launch_note(l, p->notes.v[i].line, DIAG_UNRESOLVED, "%s", p->notes.v[i].text);
    if (p->n_passed)
        launch_note(l, p->first_passed, DIAG_LEFT_OUT,
                    "this and %" PRId64 " more lines are no statements of Python, and "
                    "were passed over",
                    p->n_passed - 1);
}

static void no_calls(const struct launch *l, const struct python *p)
{
    struct strbuf looks;
    strbuf_init(&looks);
    dialect_looks(&looks, DIALECT_CALLS, ", no ");
    diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, 0, 0),
              "no %s (give a launch script)", strbuf_get(&looks));
    strbuf_release(&looks);
    for (int64_t i = 0; i < p->notes.n && i < 3; i++)
        diags_add(
            &l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_UNRESOLVED, l->file, p->notes.v[i].line),
            "%s", p->notes.v[i].text);
}

static json_t *read_python(struct launch *l, const char *text, size_t len,
                           const char *estimator)
{
    struct arena *arena = &l->loader->arena;
    const struct python_wanted wanted = { dialect_calls(arena, false),
                                          dialect_calls(arena, true) };
    struct python p;
    struct err err = { 0 };
    struct launch_context t = { .tree = NULL };
    const struct dialect_input in = { .source = DIALECT_CALLS,
                                      .python = &p,
                                      .estimator = estimator };
    const struct dialect *d;
    if (python_read(&p, arena, text, len, &wanted, &err)) {
        diags_add(&l->loader->diags, launch_syntax(l, &err), "%s", err.text);
    } else if ((d = dialect_of(&in)) == NULL) {
        no_calls(l, &p);
    } else {
        launch_begin(&t, l);
        d->read(&t, &in);
        take_notes(l, &p);
    }
    python_release(&p);
    return t.tree;
}

/* Documents ------------------------------------------------------------------------ */

static bool is_document(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && strcmp(dot, ".json") == 0;
}

/* The dialect of a document, by its keys; NULL: none, as of a scenario. */
static const struct dialect *document_dialect(struct cfg root)
{
    const struct dialect_input in = { .source = DIALECT_DOCUMENT,
                                      .root = value_keys_of_json(root) };
    return in.root ? dialect_of(&in) : NULL;
}

bool launch_is_document(const char *file)
{
    struct cfg_loader loader;
    if (!is_document(file))
        return false;
    cfg_loader_init(&loader);
    bool known = document_dialect(cfg_load(&loader, file)) != NULL;
    cfg_loader_release(&loader);
    return known;
}

static struct cfg read_document(struct launch *l, struct cfg root)
{
    const struct dialect *d = document_dialect(root);
    struct launch_context t;
    if (!d) {
        diags_add(&l->loader->diags, launch_diag(l, DIAG_UNKNOWN_FORMAT, 0, 0),
                  "no dialect has these keys (smsim help dialects)");
        return (struct cfg) { 0 };
    }
    const struct dialect_input in = {
        .source = DIALECT_DOCUMENT,
        .root = value_of_json(
            root, DOCUMENT_VALUES_MAX,
            arena_printf(&l->loader->arena, "what is none of %s", d->looks)),
    };
    launch_begin(&t, l);
    if (in.root)
        d->read(&t, &in);
    return cfg_from_tree(l->loader, l->file, t.tree);
}

/* Any file ------------------------------------------------------------------------- */

bool launch_is_script(const char *file)
{
    const char *dot = strrchr(file, '.');
    bool python = dot && (strcmp(dot, ".py") == 0 || strcmp(dot, ".txt") == 0);
    return python || launch_is_shell(file) || launch_is_document(file);
}

static struct cfg load_script(struct launch *l, const char *text, size_t len,
                              const struct launch_given *given)
{
    json_t *tree = launch_is_shell(l->file)
                       ? launch_read_shell(l, text, len, given)
                       : read_python(l, text, len, given->estimator);
    return tree ? cfg_from_tree(l->loader, l->file, tree) : (struct cfg) { 0 };
}

struct cfg launch_load_text(struct launch *l, struct cfg_loader *loader,
                            const char *name, const char *text)
{
    begin(l, loader, name);
    if (is_document(name))
        return read_document(l, cfg_parse(loader, name, text, strlen(text)));
    return load_script(l, text, strlen(text), &nothing_given);
}

struct cfg launch_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct launch_given *given)
{
    struct err err = { 0 };
    size_t len;
    given = given ? given : &nothing_given;
    begin(l, loader, file);
    if (launch_is_document(file)) {
        if (given->estimator)
            no_estimators(l);
        return read_document(l, cfg_load(loader, file));
    }
    char *text = file_read(file, PYTHON_TEXT_MAX_B, &len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return (struct cfg) { 0 };
    }
    struct cfg root = load_script(l, text, len, given);
    free(text);
    return root;
}
