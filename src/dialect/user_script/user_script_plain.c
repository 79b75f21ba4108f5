/* A loop of PyTorch alone, whose model is a class of the text's own: loss.backward() and
 * a loader, an optimizer or what shards and replicates; or Lightning's trainer. What its
 * calls state is read as of any loop, and all that they leave open is asked for. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/user_script/user_script_lengths.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char batch_at[] = "/training/micro_batch_size";

/* Whether a text itself has an optimizer's step, whoever made that. */
static bool steps(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (user_script_steps(p, &p->calls.v[i]) && !p->calls.v[i].quoted &&
            !p->calls.v[i].imported)
            return true;
    return false;
}

bool user_script_loops(const struct user_script *g)
{
    const struct python_call *const *p = g->parts;
    if (p[SCRIPT_BACKWARD] && steps(g->python))
        return true;
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
    const struct value *batch, *length;
    /* DataLoader(batch_size=None): its data set gives batches */
    const struct value_item *loads = value_get(g->words, word);
    /* of all of them, a step of so many has so many of each GPU */
    bool divides = launch_has(t, "/training/global_batch_size") &&
                   launch_has(t, "/training/gradient_accumulation_steps");
    if (g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] || !c || divides ||
        (loads && loads->value->kind != VALUE_NONE && !g->parts[SCRIPT_ENGINE]) ||
        launch_has(t, batch_at) || launch_is_unresolved(t, batch_at))
        return;
    if (!g->parts[SCRIPT_LOADER] && g->parts[SCRIPT_BACKWARD] &&
        user_script_random_batch(g->python, &batch, &length)) {
        struct value v = { .line = g->line ? g->line : batch->line };
        const struct value_item from = { "torch.randint", v.line, &v };
        launch_set(t, batch_at, json_integer((json_int_t)batch->integer), &from);
        return;
    }
    launch_add_unresolved(t, batch_at, g->line ? g->line : c->line,
                          "no call of a loader says how many sequences a GPU takes");
    propose(t, g, batch_at, user_script_batches);
}

static bool is_one_gpu(const struct launch_context *t)
{
    return json_integer_value(pointer_get(t->tree, "/cluster/count")) == 1 &&
           json_integer_value(pointer_get(t->tree, "/cluster/gpus_per_instance")) == 1;
}

/* The bytes of the string that begins there, of one line, if it is words for people, as
 * names of experiments are: "distributed-training", and no command. Else 0. */
static size_t label_at(const char *s)
{
    static const char *const commands[] = { "torchrun", "launch", "nproc", "mpirun",
                                            NULL };
    char text[256];
    size_t n = 1 + strcspn(s + 1, *s == '"' ? "\"\n" : "'\n");
    if (s[n] != *s || n >= sizeof(text))
        return 0;
    snprintf(text, sizeof(text), "%.*s", (int)n, s);
    return strpbrk(text, "- ") && !names_within(commands, text) ? n : 0;
}

/* A text without its comments, the strings that are statements of their own, and labels. */
static const char *code_of(struct arena *arena, const char *text)
{
    char *code = arena_strdup(arena, text), *to = code, quote = 0;
    bool begins = true; /* nothing but blanks before it in its line */
    for (const char *s = text; *s; s++) {
        bool mark = !quote && (*s == '"' || *s == '\'');
        if (begins && mark && s[1] == *s && s[2] == *s) {
            const char *end = strstr(s + 3, *s == '"' ? "\"\"\"" : "'''");
            s = end ? end + 2 : s + strlen(s) - 1;
            continue;
        }
        if (!quote && *s == '#') {
            s += strcspn(s, "\n") - 1;
            continue;
        }
        size_t label = mark ? label_at(s) : 0;
        s += label;
        if (quote ? *s == quote || *s == '\n' : mark && !label)
            quote = quote ? 0 : *s;
        begins = *s == '\n' || (begins && (*s == ' ' || *s == '\t'));
        *to++ = *s;
    }
    *to = '\0';
    return code;
}

/* Whether a text counts GPUs: n_gpu, and no other word that ends so. */
static bool counts_gpus(const char *text)
{
    static const char *const words[] = { "n_gpu", "ngpu", NULL };
    for (const char *s = text; *s; s++)
        for (const char *const *w = words; *w; w++)
            if (strncasecmp(s, *w, strlen(*w)) == 0 &&
                (s == text || !isalnum((unsigned char)s[-1])))
                return true;
    return false;
}

/* A loop of PyTorch's that nothing starts, and whose text starts and joins no other
 * process: one GPU. */
void user_script_take_alone(struct launch_context *t, const struct user_script *g,
                            int64_t line)
{
    static const char *const words[] = {
        "distributed",  "ddp",    "rank",      "world_size", "torchrun",
        "parallel",     "fsdp",   "accelera",  "horovod",    "deepspeed",
        "xla",          "spawn",  "multi_gpu", "multigpu",   "num_gpu",
        "device_count", "fabric", "colossal",  NULL
    };
    static const char *const places[] = { "/cluster/gpus_per_instance",
                                          "/cluster/count" };
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item from = { "no other process", line, &v };
    const struct python_call *back = g->parts[SCRIPT_BACKWARD];
    /* a class or a function alone may be called of a program that starts others */
    bool whole = back && (!back->within || strstr(g->python->text, "__main__"));
    if (!whole || t->command || g->parts[SCRIPT_LIGHTNING] ||
        g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        t->call->function[0] || launch_has(t, "/distribution"))
        return;
    const char *code = code_of(t->arena, g->python->text); /* a document has none */
    if (names_mentioned(words, code) || counts_gpus(code))
        return;
    for (int i = 0; i < 2; i++)
        if (!launch_has(t, places[i]) && !launch_is_unresolved(t, places[i]))
            launch_set(t, places[i], json_integer(1), &from);
    launch_note(t->l, line, DIAG_ASSUMED,
                "nothing in the text starts or joins other processes: it is taken to "
                "run on one GPU");
}

/* Of a text without a word of other precisions. */
static void take_full_precision(struct launch_context *t, const struct user_script *g,
                                int64_t line)
{
    static const char at[] = "/training/precision";
    static const char *const words[] = { "float16",
                                         ".half(",
                                         "fp16",
                                         "bf16",
                                         ".amp",
                                         "apex",
                                         "use_amp",
                                         "autocast",
                                         "_dtype",
                                         "precision",
                                         "quantiz",
                                         "dtype=",
                                         "accelerator.backward",
                                         "fabric.backward",
                                         NULL };
    struct value v = { .kind = VALUE_STRING, .line = line };
    const struct value_item from = { "PyTorch's default", line, &v };
    bool converts = g->parts[SCRIPT_LIGHTNING] || g->parts[SCRIPT_ENGINE] ||
                    g->parts[SCRIPT_BOOSTER] || g->parts[SCRIPT_CHUNKED] ||
                    g->parts[SCRIPT_ACCELERATOR];
    if (g->parts[SCRIPT_BACKWARD] && !converts && !launch_has(t, at) &&
        !launch_is_unresolved(t, at) && !names_mentioned(words, g->python->text))
        launch_set(t, at, json_string("fp32"), &from);
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
    static const char length_at[] = "/training/sequence_length";
    user_script_take_alone(t, g, line);
    take_full_precision(t, g, line);
    user_script_ask_picture(t, g, line);
    user_script_propose_model(t, g, line);
    user_script_ask(t, line, why);
    propose(t, g, length_at, lengths);
    /* PyTorch computes in fp32 unless something converts */
    if (launch_is_unresolved(t, "/training/precision") && !g->parts[SCRIPT_AUTOCAST])
        launch_add_example(t, "/training/precision", "fp32");
    if (!launch_has(t, library_at) && !launch_is_unresolved(t, library_at) &&
        !is_one_gpu(t)) {
        launch_add_unresolved(t, library_at, line, "%s", why);
        launch_add_example(t, library_at, "ddp");
    }
    launch_note(t->l, line, DIAG_ASSUMED,
                "the model is the script's own: whether parts of it are frozen or "
                "recomputed is not read (give --set /training/lora=... and "
                "/training/activation_checkpointing=... where they are)");
}
