#include "cmd/script.h"

#include "base/plain.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "hardware/instance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SHOWN = 60, VARIABLES_MAX = 64 };

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
        strbuf_printf(&line, "%s%s%s)", f->from, f->line ? "" : ", by --set /shell",
                      f->replaced ? "; --set has another" : "");
        end_line(out, &line);
    }
    for (int64_t i = 0; i < l->notes.n; i++) {
        strbuf_addstr(&line, "  note: ");
        add_place(&line, l, l->notes.v[i].line);
        strbuf_addstr(&line, ": ");
        diag_write(&line, &l->notes.v[i]);
        end_line(out, &line);
    }
}

void script_notes(json_t *list, const struct launch *l)
{
    for (int64_t i = 0; list && i < l->notes.n; i++)
        json_array_append_new(list, diag_json(&l->notes.v[i]));
}

/* Loading -------------------------------------------------------------------------- */

/* "/shell/NAME=VALUE" is a variable of a shell script; false: it is no such thing. */
static bool is_variable(struct arena *arena, const char *set, struct shell_given *out)
{
    static const char prefix[] = "/shell/";
    const char *name = set + sizeof(prefix) - 1, *equals = strchr(set, '=');
    if (strncmp(set, prefix, sizeof(prefix) - 1) != 0 || !equals)
        return false;
    *out = (struct shell_given) {
        .name = arena_strndup(arena, name, (size_t)(equals - name)),
        .value = equals + 1,
        .fixed = true,
    };
    return true;
}

/* How many GPUs an instance has, and which, as far as --set says; 0: it does not. */
static void gpus_of(const struct script_options *how, struct launch_given *out)
{
    static const char count[] = "/cluster/gpus_per_instance=",
                      name[] = "/cluster/instance=", many[] = "/cluster/count=";
    int64_t gpus = 0, given = 0;
    for (int64_t i = 0; how->sets && i < how->sets->n; i++) {
        const char *set = how->sets->values[i];
        if (strncmp(set, count, sizeof(count) - 1) == 0)
            given = strtoll(set + sizeof(count) - 1, NULL, 10);
        if (strncmp(set, many, sizeof(many) - 1) == 0)
            out->count = strtoll(set + sizeof(many) - 1, NULL, 10);
        if (strncmp(set, name, sizeof(name) - 1) != 0)
            continue;
        struct cfg_loader loader;
        cfg_loader_init(&loader);
        const struct instance *inst =
            instance_get(&loader, set + sizeof(name) - 1, (struct cfg) { 0 });
        gpus = inst ? inst->n_gpus : 0;
        out->arch = inst ? inst->gpu->sm_arch : 0;
        out->cpus = inst ? inst->vcpus : 0;
        cfg_loader_release(&loader);
    }
    out->gpus = given > 0 ? given : gpus;
    out->count = out->count > 0 && out->count < 1 << 24 ? out->count : 0;
}

/* The document of the file, changed by what is set. */
static struct cfg load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const struct script_options *how)
{
    struct shell_given variables[VARIABLES_MAX];
    struct launch_given given = { .estimator = how->estimator, .shell = variables };
    gpus_of(how, &given);
    bool shell = launch_is_shell(file) || launch_takes_variables(file);
    int32_t n = how->sets ? how->sets->n : 0;
    for (int32_t i = 0; shell && i < n && given.n_shell < VARIABLES_MAX; i++)
        given.n_shell += is_variable(&loader->arena, how->sets->values[i],
                                     &variables[given.n_shell]);
    struct cfg root = launch_load(l, loader, file, &given);
    int rc = root.json && loader->diags.n_errors == 0 ? 0 : -1;
    for (int32_t i = 0; rc == 0 && i < n; i++) {
        struct shell_given unused;
        if (!shell || !is_variable(&loader->arena, how->sets->values[i], &unused))
            rc = cfg_set(root, how->sets->values[i]);
    }
    if (rc == 0 && how->prepare)
        rc = how->prepare(root, how->arg);
    return rc ? (struct cfg) { 0 } : root;
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
