/* How gradients are summed, where a text says so: DDP's buckets, hooks of DDP and FSDP, and
 * Horovod's optimizer (torch/nn/parallel/distributed.py, torch/distributed/algorithms/
 * ddp_comm_hooks and _comm_hooks, PyTorch 2.8; horovod/torch/optimizer.py, 0.28). */
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

/* model.register_comm_hook(state, hook) */
void user_script_take_gradients(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_HOOKED];
    if (g->parts[SCRIPT_HOROVOD])
        take_horovod(t, g);
    if (c)
        take_hook(t, user_script_given(c, "hook", "1"), "register_comm_hook",
                  g->line ? g->line : c->line);
}
