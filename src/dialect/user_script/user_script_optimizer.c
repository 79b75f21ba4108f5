/* The optimizer of a loop of the text's own. */
#include "dialect/user_script/user_script.h"

#include <string.h>

bool user_script_divides(const struct python_call *c)
{
    return c && strcmp(python_last_part(c->function), "ZeroRedundancyOptimizer") == 0;
}

/* The optimizer of a loop by its class, as the Trainer calls it. */
void user_script_put_optimizer(struct user_script *g, struct arena *arena)
{
    static const struct {
        const char *class, *word;
    } optimizers[] = {
        { "AdamW", "adamw_torch" },
        { "Adam", "adamw_torch" },
        { "HybridAdam", "adamw_torch" },
        { "CPUAdam", "adamw_torch" },
        { "FusedAdam", "adamw_torch" },
        { "DeepSpeedCPUAdam", "adamw_torch" },
        { "SGD", "sgd" },
        { "Adafactor", "adafactor" },
        { "Lion", "lion" },
        { "Muon", "muon" },
        { "FusedLAMB", "lamb" },
        { "PagedAdamW32bit", "adamw" },
        { "PagedAdamW8bit", "adamw_8bit" },
        { "AdamW8bit", "adamw_8bit" },
        { "Adam8bit", "adamw_8bit" },
    };
    const struct python_call *c = g->parts[SCRIPT_OPTIMIZER];
    const struct value *of = user_script_given(c, "optimizer_class", "1");
    const char *class = of && of->text && user_script_divides(c) ? of->text
                        : c                                      ? c->function
                                                                 : "";
    for (size_t i = 0; c && i < sizeof(optimizers) / sizeof(optimizers[0]); i++)
        if (strcmp(optimizers[i].class, python_last_part(class)) == 0)
            user_script_put(g, arena, "optim", c->line,
                            value_new_string(arena, optimizers[i].word, c->line, 0),
                            false);
}
