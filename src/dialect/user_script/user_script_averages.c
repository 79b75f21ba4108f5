/* Averages of the weights that a loop of the text's own keeps next to its model: a copy of
 * it that each step moves towards the weights. Its memory and its update are named, as
 * nothing simulates them.
 *
 * torch/optim/swa_utils.py (PyTorch 2.8), diffusers/training_utils.py (0.35),
 * timm/utils/model_ema.py (1.0), torch_ema (0.3). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

/* Whether a copy is by its name an average: ema = copy.deepcopy(model). */
static bool is_called_average(const char *name)
{
    static const char *const parts[] = { "ema", "EMA",    "averag", "avg_",
                                         "swa", "shadow", NULL };
    return names_within(parts, name);
}

static bool keeps_average(const struct python_call *c)
{
    static const char *const classes[] = { "AveragedModel", "EMAModel",
                                           "ModelEma",      "ModelEmaV2",
                                           "ModelEmaV3",    "ModelEMA",
                                           "EMA",           "ExponentialMovingAverage",
                                           "LitEma",        NULL };
    const char *last = python_last_part(c->function);
    return !c->quoted && c->arguments->n > 0 &&
           (names_listed(classes, last) ||
            (strcmp(last, "deepcopy") == 0 && is_called_average(c->target)));
}

void user_script_name_averages(struct launch_context *t, const struct user_script *g)
{
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (!keeps_average(c))
            continue;
        launch_note(
            t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
            "%.60s(...) keeps an average of the weights: a copy of them, and its "
            "update after each step",
            c->function);
        return;
    }
}
