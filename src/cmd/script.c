#include "cmd/script.h"

#include "base/plain.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "dialect/launch/launch_open.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SHOWN = 60 };

/* Ends a line of what was read: text of others, so that it is made plain. */
static void end_line(FILE *out, struct strbuf *line)
{
    plain_make(line->s);
    fprintf(out, "%s\n", line->s);
    strbuf_release(line);
}

/* "line 12", or "cell 5, line 3" of a notebook. */
static void add_place(struct strbuf *out, const struct launch *l, int64_t line)
{
    int64_t cell, within;
    if (launch_cell(l, line, &cell, &within))
        strbuf_printf(out, "cell %" PRId64 ", line %" PRId64, cell, within);
    else
        strbuf_printf(out, "line %" PRId64, line);
}

/* What the file asks for and is not simulated under a heading of its own; or the rest. */
static void print_notes(FILE *out, const struct launch *l, bool unsimulated)
{
    bool any = false;
    struct strbuf line;
    strbuf_init(&line);
    for (int64_t i = 0; i < l->notes.n; i++) {
        const struct diag *note = &l->notes.v[i];
        if ((note->code == DIAG_NOT_SIMULATED) != unsimulated)
            continue;
        if (unsimulated && !any)
            fprintf(out, "  not simulated, though it may change time or memory:\n");
        any = true;
        strbuf_addstr(&line, unsimulated ? "    " : "  note: ");
        add_place(&line, l, note->line);
        strbuf_addstr(&line, ": ");
        diag_write(&line, note);
        end_line(out, &line);
    }
}

void script_print(FILE *out, const struct launch *l)
{
    struct strbuf line;
    strbuf_init(&line);
    if (l->notebook) {
        strbuf_printf(&line, "%s: ", l->file);
        add_place(&line, l, l->line);
        strbuf_printf(&line, ": %s", l->title);
    } else {
        strbuf_printf(&line, "%s:%" PRId64 ": %s", l->file, l->line, l->title);
    }
    end_line(out, &line);
    for (int64_t i = 0; i < l->resolved.n; i++) {
        const struct launch_resolved *f = &l->resolved.v[i];
        bool cut = strlen(f->value) > VALUE_SHOWN;
        strbuf_printf(&line, "  %-38s %.*s%s  (", f->pointer, VALUE_SHOWN, f->value,
                      cut ? "..." : "");
        if (f->line)
            add_place(&line, l, f->line);
        strbuf_addstr(&line, f->line ? ", " : "");
        strbuf_printf(&line, "%s%s%s)", f->from, f->line ? "" : ", by --set",
                      f->replaced ? "; --set has another" : "");
        end_line(out, &line);
    }
    print_notes(out, l, true);
    print_notes(out, l, false);
}

void script_notes(json_t *list, const struct launch *l)
{
    for (int64_t i = 0; list && i < l->notes.n; i++)
        json_array_append_new(list, diag_json(&l->notes.v[i]));
}

/* Loading -------------------------------------------------------------------------- */

/* The document of the file, changed by what is set. */
static struct cfg load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct script_options *how)
{
    const struct launch_sets sets = { how->sets ? how->sets->n : 0,
                                      how->sets ? how->sets->values : NULL };
    struct cfg root = launch_open(l, loader, file, &sets, how->estimator);
    int rc = root.json && how->prepare ? how->prepare(root, how->arg) : 0;
    if (rc)
        root = (struct cfg) { 0 };
    return root;
}

int script_read(struct cfg *root, struct cfg_loader *loader, const char *file,
                const struct script_options *how,
                int (*take)(struct cfg_loader *loader, struct cfg root, void *arg),
                void *arg)
{
    struct launch l = { 0 };
    *root = load(&l, loader, file, how);
    int rc = root->json ? launch_complete(&l, *root) : -1;
    if (rc && root->json)
        script_print(stderr, &l);
    if (rc == 0)
        rc = take(loader, *root, arg);
    launch_place(&l);
    script_notes(how->notes, &l);
    if (rc == 0 && how->log)
        script_print(how->log, &l);
    launch_release(&l);
    return rc;
}

static int read_scenario(struct cfg_loader *loader, struct cfg root, void *arg)
{
    return scenario_read(arg, loader, root);
}

int script_scenario(struct scenario *s, struct cfg *root, struct cfg_loader *loader,
                    const char *name, const struct script_options *how)
{
    if (launch_is_script(name))
        return script_read(root, loader, name, how, read_scenario, s);
    if (how->estimator) {
        diags_error(&loader->diags, DIAG_REFUSED_KEY,
                    "--estimator: %s is no launch script (leave it out)", name);
        return -1;
    }
    *root = cmd_scenario(loader, name, how->sets);
    return root->json ? scenario_read(s, loader, *root) : -1;
}
