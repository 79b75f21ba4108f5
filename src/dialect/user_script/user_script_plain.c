/* A loop of PyTorch alone, whose model is a class of the text's own: loss.backward() and
 * a loader, an optimizer or what shards and replicates; or Lightning's trainer. What its
 * calls state is read as of any loop, and all that they leave open is asked for. */
#include "dialect/user_script/user_script.h"

static const char batch_at[] = "/training/micro_batch_size";

bool user_script_loops(const struct user_script *g)
{
    const struct python_call *const *p = g->parts;
    return p[SCRIPT_LIGHTNING] ||
           (p[SCRIPT_BACKWARD] && (p[SCRIPT_LOADER] || p[SCRIPT_OPTIMIZER] ||
                                   p[SCRIPT_SHARDED] || p[SCRIPT_REPLICATED]));
}

/* A number of a usual name may well be what is asked for. */
static void propose(struct launch_context *t, const struct user_script *g,
                    const char *pointer, const char *const *names)
{
    for (; *names && launch_is_unresolved(t, pointer); names++) {
        const struct value *v = user_script_usual(g->python, *names);
        if (!v)
            continue;
        launch_add_example(t, pointer,
                           arena_printf(t->arena, "%lld", (long long)v->integer));
        return;
    }
}

/* Where no trainer has a default. */
void user_script_ask_batch(struct launch_context *t, const struct user_script *g)
{
    static const char word[] = "per_device_train_batch_size";
    const struct python_call *c = g->parts[SCRIPT_BACKWARD]
                                      ? g->parts[SCRIPT_BACKWARD]
                                      : g->parts[SCRIPT_OPTIMIZER];
    if (g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] || !c ||
        (value_get(g->words, word) && !g->parts[SCRIPT_ENGINE]) ||
        launch_has(t, batch_at) || launch_is_unresolved(t, batch_at))
        return;
    launch_add_unresolved(t, batch_at, g->line ? g->line : c->line,
                          "no call of a loader says how many sequences a GPU takes");
    propose(t, g, batch_at, user_script_batches);
}

void user_script_ask_plain(struct launch_context *t, const struct user_script *g)
{
    static const char *const lengths[] = { "seq_len",        "seq_length",
                                           "max_seq_len",    "max_seq_length",
                                           "max_length",     "block_size",
                                           "context_length", NULL };
    static const char library_at[] = "/parallelism/library",
                      why[] = "the loop and the model are the script's own";
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING]
                                      ? g->parts[SCRIPT_LIGHTNING]
                                      : g->parts[SCRIPT_BACKWARD];
    int64_t line = g->line ? g->line : c ? c->line : 0;
    user_script_ask(t, line, why);
    propose(t, g, "/training/sequence_length", lengths);
    /* PyTorch computes in fp32 unless something converts */
    if (launch_is_unresolved(t, "/training/precision") && !g->parts[SCRIPT_AUTOCAST])
        launch_add_example(t, "/training/precision", "fp32");
    if (!launch_has(t, library_at) && !launch_is_unresolved(t, library_at)) {
        launch_add_unresolved(t, library_at, line, "%s", why);
        launch_add_example(t, library_at, "ddp");
    }
    launch_note(t->l, line, DIAG_ASSUMED,
                "the model is the script's own: whether parts of it are frozen or "
                "recomputed is not read (give --set /training/lora=... and "
                "/training/activation_checkpointing=... where they are)");
}
