/* The drive of all writers: a text is read back by its own dialect, and what it lacks
 * is found by comparing what both scenarios come down to. */
#include "config/pointer.h"
#include "dialect/emit/emit_drive.h"

enum { TRIES = 6 };

static void release(struct emit_back *b)
{
    launch_release(&b->launch);
    cfg_loader_release(&b->loader);
}

/* What the reader asks for. */
static void set_asked(struct emit_drive *d, const struct emit_back *b)
{
    for (int64_t i = 0; i < b->launch.unresolved.n; i++)
        if (!emit_find(d, b->launch.unresolved.v[i].pointer))
            emit_set_own(d, b->launch.unresolved.v[i].pointer);
    if (!pointer_get(b->root.json, "/training/sequence_length"))
        emit_set_own(d, "/training/sequence_length");
}

/* As far as the file says it, or as a scenario with the sets. */
static int read_back(struct emit_back *b, const struct emit_drive *d, bool whole,
                     struct err *err)
{
    *b = (struct emit_back) { 0 };
    cfg_loader_init(&b->loader);
    b->loader.shared = d->files;
    b->root =
        launch_load_text(&b->launch, &b->loader, d->w->file, strbuf_get(&d->out->text));
    int rc = b->root.json && b->loader.diags.n_errors == 0 ? 0 : -1;
    for (int64_t i = 0; rc == 0 && i < d->out->sets.n; i++)
        rc = cfg_set(b->root, d->out->sets.v[i].assignment);
    if (rc == 0 && whole)
        rc = launch_complete(&b->launch, b->root) ||
                     scenario_read(&b->s, &b->loader, b->root)
                 ? -1
                 : 0;
    if (rc)
        err_set(err, "it would not be read back: %.600s",
                diags_error_text(&b->loader.diags, 0));
    return rc;
}

/* A version that the scenario does not name is taken back: it decides attention and the
 * profile. */
static bool unpin(struct emit_drive *d, const struct emit_back *b)
{
    static const char *const versions[] = { "/software/pytorch",
                                            "/software/transformers" };
    bool any = false;
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (!pointer_get(d->root.json, versions[i]) && !emit_find(d, versions[i]) &&
            pointer_get(b->root.json, versions[i])) {
            emit_set_null(d, versions[i]);
            any = true;
        }
    return any;
}

static int settle(struct emit_drive *d, struct err *err)
{
    struct emit_back b;
    int differ = 1, rc = read_back(&b, d, false, err);
    if (rc == 0) {
        emit_set_sections(d, b.root.json);
        set_asked(d, &b);
    }
    release(&b);
    for (int try = 0; rc == 0 && differ && try <= TRIES; try++) {
        struct err unread = { 0 };
        rc = read_back(&b, d, true, &unread);
        if ((rc || !emit_agrees(d, &b)) && unpin(d, &b)) {
            release(&b);
            unread = (struct err) { 0 };
            rc = read_back(&b, d, true, &unread);
        }
        if (rc)
            err_set(err, "%s", unread.text);
        else
            rc = emit_compare(d, &b, try, &differ, err);
        release(&b);
    }
    return rc == 0 && differ ? err_set(err, "what it lacks is unknown") : rc;
}

/* The writer's text, and what it lacks. */
static int write_back(struct emit_drive *d, const struct emit_source *e,
                      struct err *err)
{
    struct cfg_loader files;
    cfg_loader_init(&files);
    d->files = &files;
    int rc = d->w->write(&d->out->text, e, err) ? -1 : 0;
    if (rc == 0 && d->w->file)
        rc = settle(d, err);
    d->files = NULL;
    cfg_loader_release(&files);
    return rc;
}

int emit_scenario(struct emitted *out, const struct dialect_emit *how,
                  const struct scenario *s, struct cfg root, struct err *err)
{
    const struct emit_source e = { s, root };
    struct emit_drive d = {
        .w = how, .s = s, .root = root, .arena = cfg_arena(root), .out = out
    };
    *out = (struct emitted) { .comments = how->comment != NULL };
    strbuf_init(&out->text);
    if (write_back(&d, &e, err)) {
        emit_release(out);
        return -1;
    }
    if (out->comments)
        emit_header(out, how);
    return 0;
}

void emit_release(struct emitted *e)
{
    strbuf_release(&e->text);
    VEC_RELEASE(&e->sets);
}
