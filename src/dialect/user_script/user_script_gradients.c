/* How gradients are summed, where a text says so: DDP's buckets, hooks of DDP and FSDP,
 * Horovod's optimizer, and sums of a loop's own (torch/nn/parallel/distributed.py,
 * torch/distributed/algorithms/ddp_comm_hooks and _comm_hooks, PyTorch 2.8;
 * horovod/torch/optimizer.py, 0.28). */
#include "base/names.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static const char library_at[] = "/parallelism/library",
                  gradients_at[] = "/training/gradient_dtype";

/* A hook by its function's name or Accelerate's word for it: what sums are sent in. */
static void take_hook(struct launch_context *t, const struct value *hook,
                      const char *name, int64_t line)
{
    static const char *const fp16[] = { "fp16_compress_hook", "fp16_compress_wrapper",
                                        "FP16", NULL },
                             *const bf16[] = { "bf16_compress_hook",
                                               "bf16_compress_wrapper", "BF16", NULL },
                             *const none[] = { "allreduce_hook", "NO", "no", NULL };
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "comm_hook", line, &at };
    if (!hook || hook->kind == VALUE_NONE)
        return;
    const char *word = hook->text ? python_last_part(hook->text) : "";
    if (names_listed(fp16, word))
        launch_set(t, gradients_at, json_string("fp16"), &from);
    else if (names_listed(bf16, word))
        launch_set(t, gradients_at, json_string("bf16"), &from);
    else if (!names_listed(none, word))
        launch_note(t->l, line, DIAG_NOT_SIMULATED,
                    "%.60s: what its hook%s%.60s makes of gradients is not simulated",
                    name, *word ? " " : "", word);
}

void user_script_take_replicated(struct launch_context *t,
                                 const struct value *arguments, const char *name,
                                 int64_t line)
{
    const struct value *view = value_member(arguments, "gradient_as_bucket_view"),
                       *cap = value_member(arguments, "bucket_cap_mb");
    int64_t n;
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { name, line, &at };
    const struct value_item of_cap = { "bucket_cap_mb", line, (struct value *)cap },
                            of_view = { "gradient_as_bucket_view", line,
                                        (struct value *)view };
    if (cap && launch_whole(cap, &n) && n > 0)
        launch_set(t, "/parallelism/bucket_size", json_sprintf("%lldMiB", (long long)n),
                   &from);
    else if (cap && cap->kind != VALUE_NONE)
        launch_unresolved_item(t, "/parallelism/bucket_size", &of_cap, "number of MiB");
    if (view &&
        launch_switch(t, "/parallelism/gradient_as_bucket_view", &of_view, false))
        launch_set(t, "/parallelism/gradient_as_bucket_view", json_true(), &from);
    launch_set(t, library_at, json_string("ddp"), &from);
    take_hook(t, value_member(arguments, "comm_hook"), name, line);
    take_hook(t, value_member(arguments, "ddp_comm_hook"), name, line);
}

/* hvd.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16) */
static void take_horovod(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_HOROVOD];
    const struct value *how = value_member(c->arguments, "compression"),
                       *op = value_member(c->arguments, "op");
    int64_t line = g->line ? g->line : c->line;
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "DistributedOptimizer", line, &at };
    const char *word = how && how->text ? python_last_part(how->text) : "none",
               *sum = op && op->text ? python_last_part(op->text) : "";
    launch_set(t, library_at, json_string("horovod"), &from);
    if (strcmp(word, "fp16") == 0)
        launch_set(t, gradients_at, json_string("fp16"), &from);
    else if (how && strcmp(word, "none") != 0)
        launch_add_unresolved(
            t, gradients_at, line,
            "compression of gradients is not known without running it");
    if (strcmp(sum, "Adasum") == 0)
        launch_note(t->l, line, DIAG_NOT_SIMULATED,
                    "op=Adasum: gradients are taken to be summed");
}

/* Whether a call is of an optimizer's step, by the name of its function; what shards
 * parameters itself does so, too. */
static bool is_of_step(const struct user_script *g, const struct python_call *c)
{
    static const char *const steps[] = { "step", "reduce", NULL }, *const shards[] = {
        "fsdp", "FSDP", "zero3", NULL
    };
    return c->within && names_within(steps, c->within) && !strstr(c->within, "hook") &&
           !names_within(shards, g->python->text) && !names_within(shards, c->function);
}

/* A call by which a loop without DDP sums its gradients itself: each rank's part of them
 * for an optimizer that keeps as much of the states (torch/distributed,
 * reduce_scatter_tensor; DistAdamW(...), DistMuon(...)), or all of them
 * (all_reduce(p.grad)); NULL: there is none. */
static const struct python_call *own_sum(const struct user_script *g)
{
    const struct python_call *all = NULL;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct value *of = user_script_given(c, "tensor", "0");
        const char *last = python_last_part(c->function), *why = of ? of->why : NULL;
        bool divides =
            user_script_part_of(c) == SCRIPT_OPTIMIZER && strncmp(last, "Dist", 4) == 0;
        if (!c->quoted && (divides || (strcmp(last, "reduce_scatter_tensor") == 0 &&
                                       is_of_step(g, c))))
            return c;
        if (!c->quoted && strcmp(last, "all_reduce") == 0 && why && strstr(why, "grad"))
            all = c;
    }
    return all;
}

/* What no library does for a loop, nor the words that start it. */
static bool is_bare(const struct launch_context *t, const struct user_script *g)
{
    static const enum user_script_part others[] = {
        SCRIPT_TRAINER,   SCRIPT_ARGUMENTS, SCRIPT_SHARDED, SCRIPT_REPLICATED,
        SCRIPT_SPREAD,    SCRIPT_ENGINE,    SCRIPT_BOOSTER, SCRIPT_ACCELERATOR,
        SCRIPT_LIGHTNING, SCRIPT_HOROVOD,   SCRIPT_CHUNKED,
    };
    bool any = launch_has(t, library_at) || launch_is_unresolved(t, library_at);
    for (size_t i = 0; !any && i < sizeof(others) / sizeof(others[0]); i++)
        any = g->parts[others[i]] != NULL;
    return g->parts[SCRIPT_BACKWARD] && !any;
}

/* PyTorch's replicas are the nearest; Muon's states are not divided with them. */
static void take_own_sum(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = is_bare(t, g) ? own_sum(g) : NULL;
    const struct value_item *optim = value_get(g->words, "optim");
    const char *word = optim && optim->value->text ? optim->value->text : "";
    if (!c)
        return;
    struct value v = { .kind = VALUE_STRING, .line = g->line ? g->line : c->line };
    const struct value_item from = { python_last_part(c->function), v.line, &v };
    bool part = strcmp(from.key, "all_reduce") != 0, muon = strcmp(word, "muon") == 0;
    launch_set(t, library_at, json_string("ddp"), &from);
    if (part && !muon)
        launch_set(t, "/parallelism/sharding/strategy", json_string("optimizer"),
                   &from);
    launch_note(t->l, v.line, DIAG_NOT_SIMULATED,
                "%.60s(...) sums gradients after backward%s: DDP's, which overlap with "
                "it, are taken%s",
                c->function, part ? " and each rank updates its part" : "",
                part && muon ? ", and all of Muon's states on each rank" : "");
}

/* model.register_comm_hook(state, hook) */
void user_script_take_gradients(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_HOOKED];
    if (g->parts[SCRIPT_HOROVOD])
        take_horovod(t, g);
    take_own_sum(t, g);
    if (c)
        take_hook(t, user_script_given(c, "hook", "1"), "register_comm_hook",
                  g->line ? g->line : c->line);
}
