/* Calls of a text that start its training on several GPUs or nodes by themselves: how
 * many, as rows.
 *
 * accelerate/launchers.py (1.12), kubeflow/trainer/types/types.py (SDK 0.2),
 * kubeflow/training/api/training_client.py (1.9), ray/air/config.py (2.48),
 * pyspark/ml/torch/distributor.py (3.5), torch/multiprocessing/spawn.py (PyTorch 2.8),
 * sparkdl/horovod/runner_base.py (2.2). */
#include "base/names.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static const char count_at[] = "/cluster/count",
                  gpus_at[] = "/cluster/gpus_per_instance";

enum { COPIED_MAX = 1000 };

/* clang-format off */
static const struct starter {
    const char *function;
    const char *marks[3];          /* arguments of which a call has one, NULL ends them; else it is of something else */
    const char *nodes, *processes; /* arguments: nodes, processes on each; NULL: it has none */
    const char *place;             /* of the latter where it has no name; or NULL */
    const char *resources;         /* dictionary of each node's "gpu"; or NULL */
    const char *workers;           /* processes in all; or NULL */
    bool alone;                    /* on the instance that the text is on */
} starters[] = {
    { "notebook_launcher", { NULL }, "num_nodes", "num_processes", "2", NULL, NULL, true },
    { "CustomTrainer", { "func", "num_nodes", "resources_per_node" }, "num_nodes", NULL, NULL, "resources_per_node", NULL, false },
    { "TransformersTrainer", { "func", "num_nodes", "resources_per_node" }, "num_nodes", NULL, NULL, "resources_per_node", NULL, false },
    { "create_job", { "train_func", NULL }, "num_workers", "num_procs_per_worker", NULL, "resources_per_worker", NULL, false },
    { "train", { "num_workers", "num_procs_per_worker", NULL }, "num_workers", "num_procs_per_worker", NULL, "resources_per_worker", NULL, false },
    { "ScalingConfig", { "num_workers", NULL }, NULL, NULL, NULL, NULL, "num_workers", false },
    { "TorchDistributor", { "num_processes", NULL }, NULL, NULL, NULL, NULL, "num_processes", false },
    { "DeepspeedTorchDistributor", { "numGpus", NULL }, "nnodes", "numGpus", NULL, NULL, NULL, false },
    { "HorovodRunner", { "np", NULL }, NULL, NULL, NULL, NULL, "np", false },
    { "spawn", { "nprocs", NULL }, NULL, "nprocs", NULL, NULL, NULL, false },
};
/* clang-format on */

static const struct starter *starter_of(const struct python_call *c)
{
    const char *last = python_last_part(c->function);
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++) {
        const struct starter *s = &starters[i];
        bool marked = !s->marks[0];
        for (size_t k = 0; k < 3 && s->marks[k]; k++)
            marked |= value_get(c->arguments, s->marks[k]) != NULL;
        if (strcmp(s->function, last) == 0 && marked)
            return s;
    }
    return NULL;
}

bool user_script_starts(const struct python_call *c)
{
    return starter_of(c) != NULL;
}

static void take_size(struct launch_context *t, const char *pointer,
                      const struct value_item *it)
{
    dialect_take_as(t, &(struct dialect_option) { .pointer = pointer }, it,
                    DIALECT_SIZE);
}

static void take_one(struct launch_context *t, const char *pointer, const char *why,
                     int64_t line)
{
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item from = { why, line, &v };
    if (!launch_has(t, pointer) && !launch_is_unresolved(t, pointer))
        launch_set(t, pointer, json_integer(1), &from);
}

static const struct value_item *argument(const struct python_call *c, const char *name)
{
    return name ? value_get(c->arguments, name) : NULL;
}

/* Each node's "gpu": {"cpu": 8, "nvidia.com/gpu": 4}; NULL: there is none. */
static const struct value_item *gpus_of(const struct python_call *c,
                                        const struct starter *s)
{
    static const char *const names[] = { "gpu", "nvidia.com/gpu", "GPU" };
    const struct value_item *of = argument(c, s->resources), *it = NULL;
    for (size_t i = 0; of && !it && i < sizeof(names) / sizeof(names[0]); i++)
        it = value_get(of->value, names[i]);
    return it ? it : of && of->value->kind == VALUE_UNKNOWN ? of : NULL;
}

static void take_processes(struct launch_context *t, const struct python_call *c,
                           const struct starter *s)
{
    const struct value_item *gpus = gpus_of(c, s), *n = argument(c, s->processes);
    const char *name = python_last_part(c->function);
    int64_t each;
    n = n || !s->place ? n : value_get(c->arguments, s->place);
    if (n && launch_whole(n->value, &each)) /* not "auto", and not what nobody knows */
        take_size(t, gpus_at, n);
    else if (gpus)
        take_size(t, gpus_at, gpus);
    else if (s->alone && n)
        take_size(t, gpus_at, n);
    else if (s->alone)
        take_one(t, gpus_at, "a notebook is one process", c->line);
    else
        launch_note(t->l, c->line, DIAG_ASSUMED,
                    "%s(...) gives no number of GPUs that is known: a process on each "
                    "GPU of the instance is taken (give --set %s=N for others)",
                    name, gpus_at);
}

/* So many processes in all, over whatever instances. */
static void take_workers(struct launch_context *t, const struct value_item *it)
{
    int64_t n;
    if (launch_whole(it->value, &n) && n > 0)
        t->l->replicas =
            (struct launch_replicas) { .n = n, .line = it->line, .what = it->key };
    else if (!launch_has(t, count_at))
        launch_add_unknown(t, count_at, it->key, it->value);
    else
        launch_note(t->l, it->line, DIAG_ASSUMED,
                    "%s is not known: a worker on each GPU of the job's instances is "
                    "taken (give --set %s=N for others)",
                    it->key, gpus_at);
}

/* device_count() of a command that sees a part of the instance's GPUs; those are read
 * later. */
static bool is_visible(const struct launch_context *t, const struct value_item *n)
{
    return t->command && launch_variable(t->command, "CUDA_VISIBLE_DEVICES") && n &&
           n->value->kind == VALUE_INT && n->value->integer == t->l->gpus;
}

/* Of a call that starts. */
static bool take_started(struct launch_context *t, const struct python_call *c)
{
    const struct starter *s = starter_of(c);
    const struct value_item *workers = argument(c, s->workers),
                            *nodes = argument(c, s->nodes);
    if (workers) {
        take_workers(t, workers);
        return true;
    }
    take_processes(t, c, s);
    if (nodes && nodes->value->kind != VALUE_NONE)
        take_size(t, count_at, nodes);
    else if (s->nodes)
        take_one(t, count_at,
                 arena_printf(t->arena, "%s's default", python_last_part(c->function)),
                 c->line);
    return true;
}

bool user_script_take_started(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_STARTED];
    return c && (!starter_of(c)->alone || t->l->notebook) && take_started(t, c);
}

/* What a program that nothing else starts was taken to run on. */
static void forget_alone(struct launch_context *t, const char *pointer, const char *key)
{
    launch_forget(t, pointer);
    json_object_del(json_object_get(t->tree, "cluster"), key);
}

bool user_script_take_started_alone(struct launch_context *t,
                                    const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_STARTED];
    const struct starter *s = c ? starter_of(c) : NULL;
    int64_t budget = COPIED_MAX;
    if (!s || s->alone || (t->command && !launch_is_alone(t->command)) ||
        launch_has(t, "/distribution"))
        return false;
    struct python_call at = *c;
    at.line = g->line;
    at.arguments = value_copy(t->arena, c->arguments, &budget);
    if (!at.arguments)
        return false;
    value_move_to(at.arguments, g->line);
    forget_alone(t, gpus_at, "gpus_per_instance");
    t->alone = false;
    if (!t->call->function[0] && (s->workers || s->nodes))
        forget_alone(t, count_at, "count");
    return is_visible(t, argument(c, s->processes)) || take_started(t, &at);
}

/* The GPUs of an instance that the program sees; 0: it is not known how many. */
static int64_t seen_gpus(const struct launch_context *t)
{
    const struct shell_binding *b =
        t->command ? launch_variable(t->command, "CUDA_VISIBLE_DEVICES") : NULL;
    return b && b->value ? launch_devices_listed(b->value, strlen(b->value))
                         : t->l->gpus;
}

/* Where a text puts something on a GPU other than its first: .to("cuda:1"), .cuda(1), or a
 * list of all: [torch.device(f"cuda:{i}") for i in range(torch.cuda.device_count())].
 * NULL: nowhere. */
static const char *another_gpu(const char *text)
{
    static const char *const words[] = { "\"cuda:1\"", "'cuda:1'", ".cuda(1)" };
    static const char each[] = "cuda:{";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(text, words[i]))
            return strstr(text, words[i]);
    for (const char *s = text; (s = strstr(s, each)) != NULL; s++) {
        size_t rest = strcspn(s, "\n");
        const char *all = strstr(s, "device_count()"), *in = strstr(s, " for ");
        if (all && in && in < all && all < s + rest)
            return s;
    }
    return NULL;
}

static int64_t line_of(const char *text, const char *at)
{
    int64_t line = 1;
    for (const char *s = text; s < at; s++)
        line += *s == '\n';
    return line;
}

/* Layers that a process puts on several GPUs by itself, and runs on one after another. */
static void ask_placed(struct launch_context *t, const struct user_script *g)
{
    static const enum user_script_part others[] = {
        SCRIPT_TRAINER, SCRIPT_ARGUMENTS,   SCRIPT_REPLICATED, SCRIPT_SHARDED,
        SCRIPT_ENGINE,  SCRIPT_ACCELERATOR, SCRIPT_LIGHTNING,  SCRIPT_HOROVOD,
        SCRIPT_BOOSTER, SCRIPT_BACKEND,
    };
    static const char library_at[] = "/parallelism/library";
    const char *text = g->python->text ? g->python->text : "", *at = another_gpu(text);
    bool any = !at || !g->parts[SCRIPT_BACKWARD] || !strstr(text, "nn.Module") ||
               launch_has(t, library_at) || launch_is_unresolved(t, library_at);
    for (size_t i = 0; !any && i < sizeof(others) / sizeof(others[0]); i++)
        any = g->parts[others[i]] != NULL;
    if (any)
        return;
    launch_add_unresolved(
        t, library_at, g->line ? g->line : line_of(text, at),
        "one process puts parts of its model on several GPUs, and runs them one after "
        "another, which is not simulated; ddp has the whole model on each GPU");
    launch_add_example(t, library_at, "ddp");
}

/* nn.DataParallel (torch/nn/parallel/data_parallel.py, PyTorch 2.8): one process divides
 * the loader's batch among the GPUs of its instance, copies the model to them in each pass
 * and adds up their gradients. */
void user_script_take_spread(struct launch_context *t, struct user_script *g)
{
    static const char word[] = "per_device_train_batch_size",
                      library_at[] = "/parallelism/library";
    const struct python_call *c = g->parts[SCRIPT_SPREAD];
    const struct value_item *batch = value_get(g->words, word);
    int64_t line = c ? (g->line ? g->line : c->line) : 0, n;
    const int64_t gpus = seen_gpus(t);
    if (!c)
        ask_placed(t, g);
    if (!c || gpus == 1 || g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        g->parts[SCRIPT_REPLICATED] || g->parts[SCRIPT_SHARDED] ||
        g->parts[SCRIPT_ENGINE] || g->parts[SCRIPT_ACCELERATOR] ||
        launch_has(t, library_at))
        return;
    launch_add_unresolved(
        t, library_at, line,
        "%s(...): one process drives all GPUs of the instance and divides the loader's "
        "batch among them, which is not simulated; ddp, a process on each GPU with its "
        "part of the batch, comes nearest",
        python_last_part(c->function));
    if (batch && launch_whole(batch->value, &n) && gpus > 1) {
        struct value part = { .kind = VALUE_INT,
                              .line = batch->value->line,
                              .integer = (n + gpus - 1) / gpus };
        const struct value_item from = { "its part of batch_size", batch->line, &part };
        launch_set(t, "/training/micro_batch_size", json_integer(part.integer), &from);
        value_remove(g->words, (int32_t)(batch - g->words->items));
    }
    if (t->command && t->alone) {
        forget_alone(t, gpus_at, "gpus_per_instance");
        t->alone = false;
    }
    take_one(t, count_at, "nn.DataParallel is one process", line);
}
