#include "cmd/cmd.h"

#include "base/err.h"

int cmd_fail(struct cfg_loader *loader, const struct err *err)
{
    diags_print_errors(&loader->diags, stderr);
    if (err && err->set)
        fprintf(stderr, "smsim: %s\n", err->text);
    cfg_loader_release(loader);
    return EXIT_BAD_INPUT;
}
