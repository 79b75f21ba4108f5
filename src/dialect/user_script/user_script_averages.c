/* Averages of the weights that a loop of the text's own keeps next to its model: a copy of
 * it that each step moves towards the weights. Where its memory and its update are not
 * simulated, they are named.
 *
 * torch/optim/swa_utils.py (PyTorch 2.8), diffusers/training_utils.py (0.35),
 * timm/utils/model_ema.py (1.0), torch_ema (0.3). */
#include "base/names.h"
#include "config/pointer.h"
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

/* Whether a step with it is simulated: states that each rank has whole or a part of all, on
 * the GPU, of a model that is trained whole. */
static bool is_simulated(const struct launch_context *t, const struct user_script *g,
                         const struct python_call *c)
{
    static const char strategy_at[] = "/parallelism/sharding/strategy",
                      library_at[] = "/parallelism/library";
    const struct value *device = user_script_given(c, "device", "1");
    const char *by = json_string_value(pointer_get(t->tree, strategy_at)),
               *library = json_string_value(pointer_get(t->tree, library_at));
    bool host = device && device->kind == VALUE_STRING && strstr(device->text, "cpu"),
         other = library && strcmp(library, "ddp") != 0 && strcmp(library, "fsdp") != 0;
    return !host && !other && (!by || strcmp(by, "full") == 0) && !c->unsure &&
           !g->parts[SCRIPT_ADAPTERS] && !g->parts[SCRIPT_WRAPPED] &&
           !pointer_get(t->tree, "/parallelism/sharding/offload") &&
           !pointer_get(t->tree, "/training/frozen");
}

void user_script_take_averages(struct launch_context *t, const struct user_script *g)
{
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        if (!keeps_average(c))
            continue;
        struct value v = { .kind = VALUE_BOOL, .line = g->line ? g->line : c->line };
        const struct value_item from = { python_last_part(c->function), v.line, &v };
        if (is_simulated(t, g, c))
            launch_set(t, "/training/weight_average", json_true(), &from);
        else
            launch_note(
                t->l, v.line, DIAG_NOT_SIMULATED,
                "%.60s(...) keeps an average of the weights: a copy of them, and its "
                "update after each step",
                c->function);
        return;
    }
}
