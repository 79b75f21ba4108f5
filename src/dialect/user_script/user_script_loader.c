/* Data loaders of a text: which is the training's.
 *
 * torch/utils/data/dataloader.py (PyTorch 2.8). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

/* Whether what a loader is bound to, or the function that it is in, has one of the words:
 * def val_dataloader(self): return DataLoader(...). */
static bool names_any(const struct python_call *c, const char *const *parts)
{
    return names_within(parts, c->target) || names_within(parts, c->within);
}

/* Whether a call makes a loader: of get_dataloader() and prepare_dataloader(), which
 * programs name functions of their own, too, those that are given a batch. */
static bool makes_loader(const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    const struct value *batch = user_script_given(c, "batch_size", "1");
    if (batch && batch->kind == VALUE_STRING) /* a class of the program's own */
        return false;
    return user_script_part_of(c) == SCRIPT_LOADER && !c->quoted &&
           (strstr(last, "DataLoader") || value_get(c->arguments, "batch_size")) &&
           (c->arguments->n > 0 || c->arguments->gap);
}

/* The loader of the training: named so, else shuffled, else the first that is not of an
 * evaluation; NULL: there is none. */
const struct python_call *user_script_loader(const struct python *p)
{
    static const char *const trains[] = { "train", "Train", NULL };
    static const char *const others[] = { "val", "test", "eval", "Val", "Test", NULL };
    const struct python_call *best = NULL;
    int most = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const struct value_item *shuffled = value_get(c->arguments, "shuffle");
        if (!makes_loader(c))
            continue;
        int rank = names_any(c, others)                       ? 0
                   : names_any(c, trains)                     ? 3
                   : shuffled && launch_true(shuffled->value) ? 2
                                                              : 1;
        if (rank > most) {
            most = rank;
            best = c;
        }
    }
    return best;
}
