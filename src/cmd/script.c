#include "cmd/script.h"

#include "cmd/cmd.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_SHOWN = 60 };

void script_print(FILE *out, const struct launch *l)
{
    fprintf(out, "%s:%" PRId64 ": %s\n", l->file, l->line, l->title);
    for (int64_t i = 0; i < l->facts.n; i++) {
        const struct launch_fact *f = &l->facts.v[i];
        bool cut = strlen(f->value) > VALUE_SHOWN;
        fprintf(out, "  %-38s %.*s%s  (line %" PRId64 ", %s%s)\n", f->pointer,
                VALUE_SHOWN, f->value, cut ? "..." : "", f->line, f->from,
                f->replaced ? "; --set has another" : "");
    }
    for (int64_t i = 0; i < l->notes.n; i++)
        fprintf(out, "  note: %s\n", l->notes.v[i]);
}

struct cfg script_load(struct launch *l, struct cfg_loader *loader, const char *file,
                       const char *estimator, const struct option_list *sets)
{
    struct cfg root = launch_load(l, loader, file, estimator);
    int rc = root.json && loader->diags.n_errors == 0 ? 0 : -1;
    for (int32_t i = 0; rc == 0 && sets && i < sets->n; i++)
        rc = cfg_set(root, sets->values[i]);
    if (rc == 0 && launch_complete(l, root)) {
        script_print(stderr, l);
        rc = -1;
    }
    return rc ? (struct cfg) { 0 } : root;
}

int script_scenario(struct scenario *s, struct cfg_loader *loader, const char *name,
                    const struct option_list *sets)
{
    struct launch l = { 0 };
    bool is_script = launch_is_script(name);
    struct cfg root = is_script ? script_load(&l, loader, name, NULL, sets)
                                : cmd_scenario(loader, name, sets);
    int rc = root.json ? scenario_read(s, loader, root) : -1;
    if (is_script) {
        launch_place(&l);
        launch_release(&l);
    }
    return rc;
}
