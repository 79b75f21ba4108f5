/* The script of a job, where it is there: its calls with the job's hyperparameters. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/sagemaker/sagemaker.h"
#include "dialect/user_script/user_script.h"
#include "hardware/instance.h"

#include <string.h>

struct value *sagemaker_given(struct launch_context *t)
{
    struct value *all = value_new(t->arena, VALUE_DICT, t->call->line, 0);
    for (int i = 0; i < t->n_hyper; i++) {
        const struct value *v = t->hyper[i];
        if (v->kind != VALUE_DICT && v->kind != VALUE_NONE)
            return NULL;
        for (int32_t j = 0; j < v->n; j++) {
            char *key = arena_strdup(t->arena, v->items[j].key);
            for (char *s = key; *s; s++)
                *s = *s == '-' ? '_' : *s;
            if (!value_get(all, key))
                value_add(t->arena, all, key, v->items[j].line, v->items[j].value);
        }
        if (v->gap)
            return NULL;
    }
    return all;
}

/* What the script asks of the GPU it runs on (get_device_capability()) is the job's
 * instance's to say. */
static void take_gpu(struct launch_context *t)
{
    const char *name = json_string_value(pointer_get(t->tree, "/cluster/instance"));
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    const struct instance *inst =
        name ? instance_get(&loader, name, (struct cfg) { 0 }) : NULL;
    if (inst && !t->l->arch) {
        t->l->gpus = inst->n_gpus;
        t->l->arch = inst->gpu->sm_arch;
        t->l->memory_B = inst->gpu->memory_B;
    }
    cfg_loader_release(&loader);
}

/* from_pretrained(device_map="auto") in the one process that SageMaker starts without a
 * distribution: layers are spread over the GPUs and run one after the other
 * (accelerate, big_modeling.py, dispatch_model). */
static void ask_spread(struct launch_context *t, const struct user_script *g,
                       int64_t line)
{
    static const char *const maps[] = { "auto", "balanced", "balanced_low_0",
                                        "sequential", NULL };
    if (launch_has(t, "/distribution") || launch_has(t, "/parallelism/library") ||
        value_get(t->call->arguments, "command") || t->l->gpus < 2)
        return;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct value_item *it = value_get(c->arguments, "device_map");
        if (!it || strcmp(python_last_part(c->function), "from_pretrained") != 0 ||
            it->value->kind != VALUE_STRING || !names_listed(maps, it->value->text))
            continue;
        launch_add_unresolved(
            t, "/parallelism/library", line,
            "device_map=\"%s\": one process runs the layers on one GPU "
            "after the other, which is not simulated; ddp is a process "
            "on each GPU",
            it->value->text);
        return;
    }
}

/* MPI starts the processes: what joins those of a Trainer is no Horovod. */
static void ask_joined(struct launch_context *t, const struct user_script *g,
                       int64_t line)
{
    static const char library_at[] = "/parallelism/library";
    const struct python_call *const *p = g->parts;
    if (!pointer_get(t->tree, "/distribution/mpi") || launch_has(t, library_at) ||
        launch_is_unresolved(t, library_at) ||
        pointer_get(t->tree, "/distribution/smdistributed") || p[SCRIPT_HOROVOD] ||
        !(p[SCRIPT_TRAINER] || p[SCRIPT_ARGUMENTS]))
        return;
    launch_add_unresolved(
        t, library_at, line,
        "mpi starts a process on each GPU, and the Trainer joins them "
        "by what its environment says: ddp, fsdp or deepspeed");
    launch_add_example(t, library_at, "ddp");
}

bool sagemaker_take_program(struct launch_context *t)
{
    const struct value_item *it = value_get(t->call->arguments, "entry_point");
    struct user_script g;
    int64_t line;
    if (!it || it->value->kind != VALUE_STRING || sagemaker_is_smp_script(t))
        return false;
    const struct value_item *dir = value_get(t->call->arguments, "source_dir");
    bool known =
        dir && dir->value->kind == VALUE_STRING && !strstr(dir->value->text, ":");
    struct value *given = sagemaker_given(t);
    if (given)
        given->gap = t->lost; /* a document that is not there may give more */
    const struct user_script_start start = {
        .name = known
                    ? arena_printf(t->arena, "%s/%s", dir->value->text, it->value->text)
                    : it->value->text,
        .text = sagemaker_text(t, it->value->text, &line),
        .line = it->value->line,
        .given = given,
        .plain = !pointer_get(t->tree, "/distribution/smdistributed/modelparallel"),
    };
    take_gpu(t);
    if (user_script_refuses(t, &start))
        return false;
    if (!start.text || !start.given || !user_script_load(&g, t, &start))
        return false;
    if (user_script_refuses_second(t, &g, start.given, launch_last_part(start.name))) {
        user_script_release(&g);
        return false;
    }
    /* it says its lengths itself, whatever its name is */
    t->l->has_program = !launch_is_example(start.text);
    t->n_hyper = 0;
    if (t->lost) {
        static const char why[] = "the document that a hyperparameter names gives it";
        user_script_ask(t, t->lost, why);
        if (!value_get(start.given, "model_id") &&
            !value_get(start.given, "model_name_or_path"))
            launch_add_unresolved(t, "/model", t->lost, "%s", why);
    }
    user_script_take(t, &g);
    if (!user_script_trains(&g))
        user_script_ask_plain(t, &g);
    if (!user_script_take_started_alone(t, &g))
        user_script_take_lightning_devices(t, &g);
    user_script_take_own(t, &g, start.given, launch_last_part(start.name));
    ask_spread(t, &g, start.line);
    ask_joined(t, &g, start.line);
    user_script_release(&g);
    return true;
}
