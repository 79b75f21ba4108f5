/* What a file leaves open, as questions: each with the option that answers it. */
#include "dialect/launch/launch_ask.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_context.h"
#include "dialect/launch/launch_near.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ENCODERS_MAX = 512 }; /* positions that most encoders have learned */

static const char length_at[] = "/training/sequence_length";

/* clang-format off */
/* What a scenario cannot do without. */
static const struct need {
    const char *pointer;
    const char *instead[2]; /* or one of these */
    const char *what, *example, *named; /* where the file gives what is not known */
} needs[] = {
    { "/model", { NULL }, "which model is trained", "bert-large-uncased", "PATH/config.json" },
    { "/cluster/instance", { "/cluster/groups", "/cluster/like" }, "on which instances",
      "ml.p4d.24xlarge", NULL },
    { "/cluster/count", { "/cluster/groups" }, "on how many instances", "2", NULL },
    { length_at, { NULL }, "how long sequences are", "384", NULL },
    { "/training/micro_batch_size", { "/training/global_batch_size" },
      "how many sequences a GPU takes at once", "8", NULL },
};
/* What a question without choices of its own may be answered by: the first that its text
 * has, or the first. */
static const struct answer {
    const char *pointer, *examples[3];
} answers[] = {
    { "/cluster/gpus_per_instance", { "8" } }, /* as the example of an instance has */
    { "/model/vocab_size", { "32000" } },
    { "/model/num_layers", { "32" } },
    { "/model/hidden_size", { "4096" } },
    { "/model/num_attention_heads", { "32" } },
    { "/model/num_query_groups", { "8" } },
    { "/model/num_experts", { "8" } },
    { "/model/moe_router_topk", { "2" } },
    { "/model/max_position_embeddings", { "4096" } },
    { "/model/normalization", { "RMSNorm" } },
    { "/model/position_embedding_type", { "rope" } },
    { "/model/swiglu", { "true" } },
    { "/model/add_bias_linear", { "false" } },
    { "/model/untie_embeddings_and_output_weights", { "true" } },
    { "/training/framework", { "megatron-core" } },
    { "/model/ffn_hidden_size", { "11008" } },
    { "/parallelism/library", { "fsdp", "deepspeed", "ddp" } },
    { "/parallelism/sharding/strategy", { "full" } },
    { "/parallelism/sharding/degree", { "8" } },
    { "/parallelism/sharding/offload", { "none" } },
    { "/parallelism/tensor", { "1" } },
    { "/parallelism/pipeline", { "1" } },
    { "/parallelism/context", { "1" } },
    { "/parallelism/expert", { "1" } },
    { "/parallelism/virtual_stages", { "1" } },
    { "/training/activation_checkpointing", { "none" } },
    { "/training/attention", { "flash" } },
    { "/model/num_hidden_layers", { "8" } },
    { "/model/n_layer", { "8" } },
    { "/training/decoder_length", { "128" } },
    { "/training/frozen", { "[]" } },
    { "/training/global_batch_size", { "64" } },
    { "/training/gradient_accumulation_steps", { "1" } },
    { "/training/gradient_clipping", { "1" } },
    { "/training/lora", { "null" } },
    { "/training/lora/base", { "nf4" } },
    { "/training/lora/rank", { "16" } },
    { "/training/lora/target_modules", { "all-linear" } },
    { "/training/lora/trained", { "[]" } },
    { "/training/steps", { "1000" } },
    { "/training/optimizer", { "adam" } },
    { "/training/precision", { "amp_bf16" } },
    { "/training/task", { "dpo", "simpo", "causal-lm" } },
    { "/distribution/mpi/processes_per_host", { "8" } },
    { "/parallelism/bucket_size", { "25MiB" } },
    { "/parallelism/context_comm", { "ring" } },
    { "/parallelism/expert_tensor", { "1" } },
    { "/parallelism/overlap", { "true" } },
    { "/parallelism/schedule", { "1f1b" } },
    { "/parallelism/sequence_parallel", { "false" } },
    { "/parallelism/sharding/reshard_after_forward", { "true" } },
    { "/training/epochs", { "1" } },
    { "/training/gradient_dtype", { "fp32" } },
    { "/training/lora/alpha", { "16" } },
    { "/training/lora/dropout", { "0" } },
    { "/training/lora/dtype", { "fp32" } },
    { "/training/master_weights", { "true" } },
    { "/training/microbatches", { "1" } },
    { "/training/reference_model", { "separate" } },
    { "/training/samples", { "10000" } },
    { "/training/vocab_padding", { "128" } },
};
/* clang-format on */

/* An answer to a question that has no row of what a scenario needs. */
static const char *answer_of(const char *pointer, const char *question)
{
    const struct answer *a = answers;
    const struct answer *end = answers + sizeof(answers) / sizeof(answers[0]);
    while (a < end && strcmp(a->pointer, pointer) != 0)
        a++;
    for (int i = 0; a < end && i < 3 && a->examples[i]; i++)
        if (strstr(question, a->examples[i]))
            return a->examples[i];
    return a < end                               ? a->examples[0]
           : strncmp(pointer, "/shell/", 7) == 0 ? "1"
                                                 : "null"; /* any field's default */
}

static const struct need *need_of(const char *pointer)
{
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
        if (strcmp(needs[i].pointer, pointer) == 0)
            return &needs[i];
    return NULL;
}

/* Whether the file gives what replaces a field, and not --set. */
static bool is_of_file(const struct launch *l, const char *pointer)
{
    for (int64_t i = 0; i < l->resolved.n; i++)
        if (strcmp(l->resolved.v[i].pointer, pointer) == 0)
            return !l->resolved.v[i].replaced;
    return false;
}

/* Whether --set gives it: a value, null for it or what is around it, or a name in place
 * of what is around it ("/model"). */
static bool is_answered(const struct launch *l, struct cfg root, const char *pointer)
{
    char around[200];
    const char *slash = pointer;
    if (launch_is_set(root, pointer))
        return true;
    while (slash && strlen(pointer) < sizeof(around)) {
        slash = strchr(slash + 1, '/');
        snprintf(around, sizeof(around), "%.*s",
                 (int)(slash ? slash - pointer : (ptrdiff_t)strlen(pointer)), pointer);
        json_t *v = pointer_get(root.json, around);
        if (json_is_null(v) || (json_is_string(v) && !is_of_file(l, around)))
            return true;
    }
    return false;
}

static struct diag unresolved_at(const struct launch *l, const char *pointer,
                                 int64_t line)
{
    struct diag at = launch_diag(l, DIAG_UNRESOLVED, line, 0);
    at.pointer = pointer;
    return at;
}

/* Models that read something else than texts, by their class; the length of a sequence
 * follows from the model, or is of frames. */
static const struct sense {
    const char *part, *model, *length; /* NULL: the length is the model's */
} senses[] = {
    { "ImageClassification", "google/vit-base-patch16-224", NULL },
    { "SpeechSeq2Seq", "openai/whisper-small", NULL },
    { "Whisper", "openai/whisper-small", NULL },
    { "AudioClassification", "facebook/wav2vec2-base", "499" }, /* of 10 s */
    { "ForCTC", "facebook/wav2vec2-base", "499" },
    { "Wav2Vec2", "facebook/wav2vec2-base", "499" },
    { "ForSpeechClassification", "facebook/wav2vec2-base", "499" },
};

static const struct sense *sense_of(const struct launch *l)
{
    for (size_t k = 0; l->model_class && k < sizeof(senses) / sizeof(senses[0]); k++)
        if (strstr(l->model_class, senses[k].part))
            return &senses[k];
    return NULL;
}

/* A model that can do the task which the file says, or is to be asked for. */
static const char *example_of_need(const struct launch *l, struct cfg root,
                                   const struct need *n)
{
    static const char *const encoders[] = {
        "masked-lm",      "pretraining",          "question-answering",
        "classification", "token-classification", NULL
    };
    static const char task_at[] = "/training/task";
    const char *task = json_string_value(pointer_get(root.json, task_at));
    bool decodes =
        launch_unresolved_of(l, task_at) || launch_is_set(root, "/training/lora");
    const struct sense *sense = sense_of(l);
    bool model = strcmp(n->pointer, needs[0].pointer) == 0;
    if (sense && sense->length && strcmp(n->pointer, length_at) == 0)
        return sense->length;
    if (sense || !model)
        return model ? sense->model : n->example;
    if (task && strcmp(task, "seq2seq") == 0)
        return "google/flan-t5-base";
    const json_t *length = pointer_get(root.json, length_at);
    decodes |= json_is_integer(length) && json_integer_value(length) > ENCODERS_MAX;
    decodes = task ? !names_listed(encoders, task) : decodes;
    return decodes ? "meta-llama/Llama-3.1-8B" : n->example;
}

/* Of a variable of a shell: the values that the script compares it with; NULL. */
static const struct launch_values *values_of(const struct launch *l, const char *ask)
{
    for (int64_t i = 0; ask && i < l->values.n; i++)
        if (strcmp(l->values.v[i].ask, ask) == 0)
            return &l->values.v[i];
    return NULL;
}

/* "3" of "/shell/3"; NULL. */
static const char *variable_in(const char *pointer)
{
    static const char prefix[] = "/shell/";
    bool is = strncmp(pointer, prefix, sizeof(prefix) - 1) == 0;
    return is ? pointer + sizeof(prefix) - 1 : NULL;
}

/* An example for a variable: of a field that it gives. */
static const char *answer_of_variable(const struct launch *l, const char *name)
{
    for (int64_t i = 0; i < l->unresolved.n; i++) {
        const struct launch_unresolved *o = &l->unresolved.v[i];
        if (!o->ask || strcmp(o->ask, name) != 0 || variable_in(o->pointer))
            continue;
        const struct need *n = need_of(o->pointer);
        return n ? n->example : answer_of(o->pointer, o->what);
    }
    return "1";
}

/* Whether the file has the model, in a way that only a configuration of it can replace. */
static bool is_configured(const struct need *n, const struct launch_unresolved *open)
{
    return open && n->named && strstr(open->what, "config.json");
}

/* What a question may be answered by. */
static const char *example_of(const struct launch *l, struct cfg root,
                              const char *pointer, const struct launch_unresolved *open)
{
    const char *name = variable_in(pointer);
    const struct launch_values *v = values_of(l, name);
    const struct need *n = need_of(pointer);
    if (v || (open && open->example))
        return v ? v->first : open->example;
    if (name)
        return answer_of_variable(l, name);
    if (l->gpus > 0 && strcmp(pointer, "/cluster/gpus_per_instance") == 0)
        return arena_printf(&l->loader->arena, "%" PRId64, l->gpus);
    if (n && is_configured(n, open))
        return n->named;
    return n ? example_of_need(l, root, n) : answer_of(pointer, open ? open->what : "");
}

/* What is asked for, with a value as an example. */
static void ask(struct launch *l, struct cfg root, const struct need *n)
{
    const struct launch_unresolved *open = launch_unresolved_of(l, n->pointer);
    struct diag at = unresolved_at(l, n->pointer, open ? open->line : l->line);
    struct diags *d = &l->loader->diags;
    const char *other = is_configured(n, open) ? NULL : n->named;
    if (open)
        diags_add(d, at, "%s (give --set %s=%s%s%s)", open->what, n->pointer,
                  example_of(l, root, n->pointer, open), other ? ", or its " : "",
                  other ? other : "");
    else
        diags_add(d, at, "%s does not say %s (give --set %s=%s)", l->what, n->what,
                  n->pointer, example_of_need(l, root, n));
}

/* A field that is to be asked for. */
struct question {
    const struct need *need;              /* or NULL */
    const struct launch_unresolved *open; /* or NULL: nothing is said of it */
    bool asked;
};

typedef VEC(struct question) question_vec;

/* Whether another field says it; one of the file's own does not where the file leaves the
 * first open. */
static bool says_instead(const struct launch *l, struct cfg root, const struct need *n,
                         bool open)
{
    for (size_t i = 0; i < sizeof(n->instead) / sizeof(n->instead[0]); i++)
        if (n->instead[i] && launch_is_set(root, n->instead[i]) &&
            !(open && is_of_file(l, n->instead[i])))
            return true;
    return false;
}

/* Whether a length follows from the model, which is asked for itself. */
static bool is_of_model(const struct launch *l, struct cfg root, const struct need *n)
{
    const struct sense *sense = sense_of(l);
    bool follows = sense && !sense->length;
    return (l->lengths.full || l->lengths.cut || l->patches || follows) &&
           !launch_is_set(root, needs[0].pointer) &&
           strcmp(n->pointer, length_at) == 0 && !launch_unresolved_of(l, n->pointer);
}

/* What a scenario needs first, then all else that is open. A batch of all GPUs says
 * nothing of one that the file itself leaves open: it would be divided as it is not. */
static void gather(question_vec *all, const struct launch *l, struct cfg root)
{
    for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
        const struct need *n = &needs[i];
        const struct launch_unresolved *open = launch_unresolved_of(l, n->pointer);
        if (!launch_is_set(root, n->pointer) &&
            !says_instead(l, root, n, open != NULL) && !is_of_model(l, root, n))
            VEC_PUSH(all, ((struct question) { n, open, false }));
    }
    for (int64_t i = 0; i < l->unresolved.n; i++) {
        const struct launch_unresolved *open = &l->unresolved.v[i];
        if (!need_of(open->pointer) && !is_answered(l, root, open->pointer))
            VEC_PUSH(all, ((struct question) { NULL, open, false }));
    }
}

/* "(one of 7B, 72B: give --set /shell/3=7B)", at the end of a question. */
static const char *way(struct launch *l, struct cfg root, const char *pointer,
                       const struct launch_unresolved *open)
{
    const struct launch_values *v = values_of(l, variable_in(pointer));
    struct arena *arena = &l->loader->arena;
    const char *example = example_of(l, root, pointer, open);
    return v ? arena_printf(arena, "(one of %.300s: give --set %.80s=%.60s)", v->all,
                            pointer, example)
             : arena_printf(arena, "(give --set %.80s=%s)", pointer, example);
}

/* The options of "it decides of --fp16, --bf16" (launch_words.c). */
static const char *options_of(const struct launch_unresolved *o)
{
    const char *first = strstr(o->what, "--");
    return first ? first : o->what;
}

/* Whether a variable decides it: gives it, or is asked for itself. */
static bool is_decided_by(const struct launch_unresolved *o, const char *name)
{
    const char *itself = o ? variable_in(o->pointer) : NULL;
    return (o && o->ask && strcmp(o->ask, name) == 0) ||
           (itself && strcmp(itself, name) == 0);
}

/* One variable of a shell that leaves several fields open is asked for once; so is one
 * whose values the script names. */
static bool ask_variable(struct launch *l, struct cfg root, question_vec *all,
                         int64_t first)
{
    const struct launch_unresolved *open = all->v[first].open;
    struct strbuf others;
    strbuf_init(&others);
    for (int64_t i = first + 1; open && open->ask && i < all->n; i++) {
        const struct launch_unresolved *o = all->v[i].open;
        if (!is_decided_by(o, open->ask))
            continue;
        if (variable_in(o->pointer))
            strbuf_printf(&others, "%s%.200s", others.len ? ", " : "", options_of(o));
        else
            strbuf_printf(&others, "%s%.80s (%.60s)", others.len ? ", " : "",
                          o->pointer, o->from);
        all->v[i].asked = true;
    }
    bool any = others.len > 0 || (open && values_of(l, open->ask));
    if (any)
        diags_add(&l->loader->diags, unresolved_at(l, open->pointer, open->line),
                  "%s%s%s%s %s", open->what, others.len ? "; it decides " : "",
                  strbuf_get(&others), others.len ? ", too" : "",
                  way(l, root,
                      arena_printf(&l->loader->arena, "/shell/%.60s", open->ask),
                      open));
    strbuf_release(&others);
    return any;
}

/* The option that answers a question by its example. */
static void add_option(struct strbuf *line, struct launch *l, struct cfg root,
                       const struct question *q, bool of_variable)
{
    const struct need *n = of_variable ? NULL : q->need;
    const char *pointer = n ? n->pointer : q->open->pointer;
    if (of_variable)
        pointer = arena_printf(&l->loader->arena, "/shell/%.60s", q->open->ask);
    const char *option = arena_printf(&l->loader->arena, " --set %.80s=%.300s", pointer,
                                      example_of(l, root, pointer, q->open));
    if (!strstr(strbuf_get(line), option)) /* one variable may answer two */
        strbuf_addstr(line, option);
}

/* Whether an argument of a script answers it: "$7". */
static bool is_of_argument(const struct question *q)
{
    const char *ask = !q->open       ? NULL
                      : q->open->ask ? q->open->ask
                                     : variable_in(q->open->pointer);
    return ask && *ask >= '1' && *ask <= '9';
}

/* The options that answer all, to paste; and a call of the script that it shows. */
static void ask_at_once(struct launch *l, int n, const struct strbuf *line,
                        bool arguments)
{
    struct diags *d = &l->loader->diags;
    if (n > 1)
        diags_add(d, unresolved_at(l, NULL, l->line), "these %d at once:%s", n,
                  strbuf_get(line));
    if (arguments && l->usage.arguments)
        diags_add(d, unresolved_at(l, NULL, l->usage.line),
                  "its arguments, as this comment shows them: --set '/shell/@=%s'",
                  l->usage.arguments);
    else if (arguments && l->usage.names && n > 1)
        diags_add(d, unresolved_at(l, NULL, l->line),
                  "or all its arguments, in the order of these names: --set "
                  "'/shell/@=%s'",
                  l->usage.names);
}

/* A program that is asked of is mostly started by a file that gives what is asked; but
 * for the cluster, which the user knows. */
static void name_starters(struct launch *l, const question_vec *all)
{
    static const char cluster[] = "/cluster/";
    const char *near = NULL;
    for (int64_t i = 0; i < all->n && !near; i++) {
        const struct question *q = &all->v[i];
        const char *pointer = q->need ? q->need->pointer : q->open->pointer;
        if (strncmp(pointer, cluster, sizeof(cluster) - 1) != 0)
            near = launch_starters_near(l);
    }
    if (near)
        diags_add(&l->loader->diags, unresolved_at(l, NULL, l->line),
                  "or read what starts it, with its values: smsim simulate %s", near);
}

/* Each question, and where there are several the options that answer all. */
static void ask_all(struct launch *l, struct cfg root, question_vec *all)
{
    struct strbuf line;
    int n = 0;
    bool arguments = false;
    strbuf_init(&line);
    for (int64_t i = 0; i < all->n; i++) {
        const struct question *q = &all->v[i];
        arguments |= is_of_argument(q);
        if (q->asked)
            continue;
        bool of_variable = ask_variable(l, root, all, i);
        add_option(&line, l, root, q, of_variable);
        n++;
        if (!of_variable && q->need)
            ask(l, root, q->need);
        else if (!of_variable)
            diags_add(&l->loader->diags,
                      unresolved_at(l, q->open->pointer, q->open->line), "%s %s",
                      q->open->what, way(l, root, q->open->pointer, q->open));
    }
    ask_at_once(l, n, &line, arguments);
    strbuf_release(&line);
}

int launch_ask(struct launch *l, struct cfg root)
{
    question_vec all = { 0 };
    gather(&all, l, root);
    ask_all(l, root, &all);
    name_starters(l, &all);
    int rc = all.n ? -1 : 0;
    VEC_RELEASE(&all);
    return rc;
}
