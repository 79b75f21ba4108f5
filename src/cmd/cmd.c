#include "cmd/cmd.h"

#include "base/err.h"
#include "cmd/options.h"
#include "config/datadir.h"

#include <string.h>

struct cfg cmd_scenario(struct cfg_loader *loader, const char *name,
                        const struct option_list *sets)
{
    struct cfg root = strcmp(name, "-") == 0
                          ? cfg_load(loader, name)
                          : datadir_load(loader, "scenarios", name, (struct cfg) { 0 });
    for (int32_t i = 0; root.json && i < sets->n; i++)
        if (cfg_set(root, sets->values[i]))
            root.json = NULL;
    return root;
}

int cmd_fail(struct cfg_loader *loader, const struct err *err)
{
    diags_print_errors(&loader->diags, stderr);
    if (err && err->set)
        fprintf(stderr, "smsim: %s\n", err->text);
    cfg_loader_release(loader);
    return EXIT_BAD_INPUT;
}
