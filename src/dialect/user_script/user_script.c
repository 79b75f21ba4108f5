/* A script or a notebook that trains by itself: the calls that user_script_calls.c gathered,
 * read by the rows of the Trainer and of TRL. */
#include "dialect/user_script/user_script.h"

#include "base/names.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/trainer/trainer.h"
#include "dialect/trl/trl.h"

#include <string.h>

/* clang-format off */
/* Of the head that a class puts on the model (transformers/models/auto/modeling_auto.py). */
static const struct { const char *class, *task, *refused; } heads[] = {
    { "TF*", NULL, "is a model of TensorFlow" }, { "Flax*", NULL, "is a model of JAX" },
    { "*ForCausalLM", "causal-lm", NULL }, { "*LMHeadModel", "causal-lm", NULL },
    { "*ForMaskedLM", "masked-lm", NULL }, { "*ForPreTraining", "pretraining", NULL },
    { "*ForQuestionAnswering", "question-answering", NULL },
    { "*ForSequenceClassification", "classification", NULL },
    { "*ForImageClassification", "classification", NULL },
    { "*ForSeq2SeqLM", "seq2seq", NULL },
    { "T5ForConditionalGeneration", "seq2seq", NULL },
    { "*ForTokenClassification", "token-classification", NULL },
    { "*ForMultipleChoice", NULL, "chooses among several sequences, whose head is not simulated" },
    { "*ForObjectDetection", NULL, "detects objects" },
    { "*ForSemanticSegmentation", NULL, "segments images" },
    { "Fast*Model", "causal-lm", NULL }, { "*ChatModel", "causal-lm", NULL }, /* InternVL's */
};
/* Arguments of the Trainer's and of TRL's; those of TRL's alone are read where a class of its
 * is called. */
const struct dialect_table user_script_tables[] = {
    { "", trainer_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", peft_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", trainer_unsimulated_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { "", trainer_idle_rows, DIALECT_UNKNOWN_NEAR_WARNED },
    { NULL, NULL, DIALECT_UNKNOWN_IDLE },
};
/* clang-format on */

static bool ends(const char *word, const char *pattern)
{
    const char *star = strchr(pattern, '*');
    size_t head = star ? (size_t)(star - pattern) : 0, n = strlen(word);
    const char *tail = star ? star + 1 : pattern;
    size_t m = strlen(tail);
    return n >= head + m && strncmp(word, pattern, head) == 0 &&
           strcmp(word + n - m, tail) == 0;
}

/* Diffusers' U-Nets are no stack of layers that is known (diffusers 0.35, models/unets,
 * models/autoencoders); its transformers are, and their scripts are loops of their own. */
static bool refuse_diffusion(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_DIFFUSION];
    const char *class = c ? user_script_class(t->arena, c) : "";
    int64_t line = g->line ? g->line : c ? c->line : 0;
    if (ends(class, "Transformer2DModel"))
        diags_add(
            &t->l->loader->diags,
            diag_at_line(DIAG_ERROR, DIAG_REFUSED_KEY, t->l->file, line),
            "%.60s: scripts that train a diffusion transformer are not read (give a "
            "scenario with its id as the model, such as "
            "\"black-forest-labs/FLUX.1-dev\")",
            class);
    else if (c)
        launch_refuse_entry(t->l, class,
                            "is a model of diffusion (U-Nets and autoencoders)", line);
    return c != NULL;
}

/* A loop of its own that trains by Megatron's parts. */
static bool refuse_megatron(struct launch_context *t, const struct user_script *g)
{
    static const char *const parts[] = { "initialize_megatron", "setup_optimizer",
                                         "get_forward_backward_func", NULL };
    for (int64_t i = 0; i < g->python->names.n && !g->parts[SCRIPT_TRAINER]; i++) {
        const struct python_name *n = &g->python->names.v[i];
        const struct value *v = n->value;
        if (!v || v->kind != VALUE_UNKNOWN || !v->text ||
            strncmp(v->text, "megatron.", 9) != 0 ||
            !names_listed(parts, python_last_part(v->text)))
            continue;
        launch_refuse_entry(t->l, v->text, "is for a training loop of the script's own",
                            g->line ? g->line : v->line);
        return true;
    }
    return false;
}

/* Libraries that train other parts next to a frozen model than LoRA's (pyreft 0.1,
 * OpenDelta 0.3). */
static bool refuse_parts(struct launch_context *t, const struct user_script *g)
{
    static const char *const libraries[] = { "pyreft", "opendelta", NULL };
    for (int64_t i = 0; i < g->python->names.n; i++) {
        const struct value *v = g->python->names.v[i].value;
        const char *text = v && v->kind == VALUE_UNKNOWN && v->text ? v->text : "";
        const char *library = arena_strndup(t->arena, text, strcspn(text, "."));
        if (!names_listed(libraries, library))
            continue;
        launch_refuse_entry(t->l, library,
                            "trains parts of its own next to a frozen model",
                            g->line ? g->line : v->line);
        return true;
    }
    return false;
}

/* Trainers of other frameworks than PyTorch and TensorFlow. */
static bool refuse_framework(struct launch_context *t, const struct user_script *g)
{
    static const char *const frameworks[][2] = {
        { "mxnet.", "is a trainer of MXNet" },
        { "paddlenlp.", "is a trainer of PaddlePaddle" },
        { "mindnlp.", "is a trainer of MindSpore" },
    };
    const struct python_call *c = g->parts[SCRIPT_TRAINER];
    for (size_t i = 0; c && i < sizeof(frameworks) / sizeof(frameworks[0]); i++)
        if (strncmp(c->function, frameworks[i][0], strlen(frameworks[i][0])) == 0) {
            launch_refuse_entry(t->l, c->function, frameworks[i][1],
                                g->line ? g->line : c->line);
            return true;
        }
    return false;
}

/* Whether the trainer's model is of a class of the text's own, which loads `c`: it has
 * heads and losses of its own. */
static bool is_within_own(const struct user_script *g, const struct python_call *c)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER];
    const struct value *given =
        trainer ? user_script_given(trainer, "model", "0") : NULL;
    return given && c->within && strcmp(c->within, "__init__") == 0 &&
           !user_script_maker(g->python, given);
}

/* Whether the products that the text puts on a model are known, and have few columns. */
static bool has_few_scores(const struct python *p)
{
    enum { FEW = 1000 };
    bool any = false;
    for (int64_t i = 0; i < p->modules.n; i++) {
        const struct python_module *m = &p->modules.v[i];
        if (strcmp(python_last_part(m->function), "Linear") != 0)
            continue;
        const struct value *n = value_member(m->arguments, "1");
        n = n ? n : value_member(m->arguments, "out_features");
        if (!n || n->kind != VALUE_INT || n->integer > FEW)
            return false;
        any = true;
    }
    return any;
}

/* Whether a text speaks of pairs of answers, as data of preferences have them. */
static bool compares_answers(const struct python *p)
{
    return p->text && strstr(p->text, "chosen") && strstr(p->text, "reject");
}

/* A head of the text's own on a model that is loaded without one. */
static void take_own_head(struct launch_context *t, const struct user_script *g,
                          const struct value_item *from)
{
    static const char task[] = "/training/task";
    bool asked = launch_is_unresolved(t, task); /* by its name, which says none */
    if (launch_has(t, task) || (asked && !has_few_scores(g->python)))
        return;
    if (compares_answers(g->python)) {
        if (asked)
            return;
        launch_add_unresolved(t, task, from->line,
                              "%.60s has no head, and the text has answers that are "
                              "chosen and rejected: reward is of such pairs, "
                              "classification of single texts",
                              from->key);
        launch_add_example(t, task, "reward");
        return;
    }
    if (!has_few_scores(g->python)) {
        launch_add_unresolved(
            t, task, from->line,
            "%.60s has no head, and what the script puts on it is not "
            "known: classification, token-classification, causal-lm "
            "or masked-lm",
            from->key);
        launch_add_example(t, task, "classification");
        return;
    }
    launch_set(t, task, json_string("classification"), from);
    launch_note(t->l, from->line, DIAG_ASSUMED,
                "%.60s has no head: that of the script's own is taken to be a "
                "classifier's (give --set %s=token-classification where it is one of "
                "each token)",
                from->key, task);
}

/* What the model's class says of the task. */
static void take_head(struct launch_context *t, const struct user_script *g)
{
    static const char task[] = "/training/task";
    const struct python_call *c = g->parts[SCRIPT_MODEL];
    const char *class = c ? user_script_class(t->arena, c) : "";
    int64_t line = g->line ? g->line : c ? c->line : 0;
    struct value v = { .kind = VALUE_STRING, .line = line, .text = class };
    const struct value_item from = { class, v.line, &v };
    const char *head = user_script_is_keras(g) ? user_script_torch_class(class) : class;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        if (!ends(head, heads[i].class))
            continue;
        if (heads[i].refused)
            launch_refuse_entry(t->l, class, heads[i].refused, v.line);
        else if (!launch_has(t, task))
            launch_set(t, task, json_string(heads[i].task), &from);
        if (is_within_own(g, c))
            launch_note(
                t->l, v.line, DIAG_NOT_SIMULATED,
                "%.60s is loaded by a class of the script's own: what this adds "
                "(heads, pairs of sequences, a loss) is not read",
                class);
        return;
    }
    if (c && user_script_part_of(c) == SCRIPT_BODY)
        take_own_head(t, g, &from);
}

/* Whether a method's name is one of TRL's; of Unsloth's trainer, SFT. */
static bool is_trl(const char *method)
{
    static const char *const others[] = { "", "Seq2Seq", "ORT", NULL };
    return method && !names_listed(others, method) && strlen(method) < 10;
}

/* TRL before 0.20: the Trainer's own arguments and defaults, and options of the trainer. */
static bool is_older(const struct user_script *g)
{
    static const char *const options[] = { "tokenizer", "max_seq_length", "packing",
                                           "dataset_text_field", NULL };
    const struct python_call *args = g->parts[SCRIPT_ARGUMENTS],
                             *trainer = g->parts[SCRIPT_TRAINER];
    bool older = args && strstr(args->function, "TrainingArguments");
    for (const char *const *o = options; trainer && *o; o++)
        older |= value_get(trainer->arguments, *o) != NULL;
    return older;
}

void user_script_ask(struct launch_context *t, int64_t line, const char *why)
{
    static const char *const open[] = { "/training/micro_batch_size",
                                        "/training/sequence_length",
                                        "/training/precision" };
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
        if (!launch_has(t, open[i]) && !launch_is_unresolved(t, open[i]) &&
            !(t->l->patches && strcmp(open[i], open[1]) == 0))
            launch_add_unresolved(t, open[i], line, "%s", why);
}

/* What arguments of a trainer leave open where they are not all known. */
static void ask_open(struct launch_context *t, const struct user_script *g,
                     int64_t line, int n, const char *why)
{
    static const struct {
        const char *names[4], *pointer;
    } open[] = {
        { { "per_device_train_batch_size", NULL }, "/training/micro_batch_size" },
        { { "bf16", "fp16", "torch_dtype", NULL }, "/training/precision" },
        { { "max_seq_length", "max_length", NULL }, "/training/sequence_length" },
    };
    for (int i = 0; i < n; i++) {
        bool any = false;
        for (const char *const *name = open[i].names; *name; name++)
            any |= value_get(g->words, *name) != NULL;
        if (!any)
            launch_add_unresolved(t, open[i].pointer, line, "%s", why);
    }
}

/* Whether the trainer, its arguments, a loop or an engine is seen, rather than a model and
 * Accelerator() alone. */
static bool trains_visibly(const struct user_script *g)
{
    static const enum user_script_part parts[] = {
        SCRIPT_TRAINER,   SCRIPT_ARGUMENTS, SCRIPT_BACKWARD,  SCRIPT_ENGINE,
        SCRIPT_LIGHTNING, SCRIPT_BOOSTER,   SCRIPT_OPTIMIZER,
    };
    bool any = !g->parts[SCRIPT_MODEL] || user_script_is_keras(g);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        any |= g->parts[parts[i]] != NULL;
    return any;
}

/* A script whose arguments a command would give, read without one, or whose arguments
 * are a dictionary that is not known: what its text leaves open is no default of the
 * framework's. */
static void ask_command(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *args = g->parts[SCRIPT_ARGUMENTS],
                             *trainer = g->parts[SCRIPT_TRAINER];
    const struct value *handed = user_script_given(trainer, "args", "1");
    int n = is_trl(user_script_method(t->arena, g)) ? 3 : 2;
    if (!args && handed && handed->kind == VALUE_UNKNOWN)
        ask_open(
            t, g, g->line ? g->line : trainer->line, n,
            arena_printf(t->arena, "the trainer's arguments: %.100s", handed->why));
    if (!trains_visibly(g))
        user_script_ask(t, g->line ? g->line : g->parts[SCRIPT_MODEL]->line,
                        "what trains the model is not seen in the text");
    if (args && args->parsed && !g->line)
        ask_open(t, g, args->line, n,
                 "the command of the script gives it, and there is none here");
    else if (args && args->arguments->gap &&
             !value_get(g->words, "per_device_train_batch_size"))
        ask_open(t, g, g->line ? g->line : args->line, n,
                 "the trainer's arguments are a dictionary that is not known before, "
                 "and nothing is run");
}

/* A model that is handed in, and that is called one with adapters. */
static void ask_handed(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_TRAINER];
    const struct value *v = user_script_given(c, "model", "0");
    const char *why = v && v->kind == VALUE_UNKNOWN && v->why ? v->why : "";
    bool named = strncmp(why, "peft", 4) == 0 || strncmp(why, "lora", 4) == 0;
    if (named && strstr(why, "is an argument of") && !g->parts[SCRIPT_ADAPTERS] &&
        !g->parts[SCRIPT_WRAPPED] && !launch_has(t, PEFT_LORA) &&
        !launch_is_unresolved(t, PEFT_LORA))
        launch_add_unresolved(t, PEFT_LORA, g->line ? g->line : c->line,
                              "%.80s, and has adapters by its name", why);
}

/* A trainer of the user's own has defaults that are not known, and ways of its own. */
static void ask_own(struct launch_context *t, const struct user_script *g)
{
    static const char library_at[] = "/parallelism/library";
    const struct python_call *c = user_script_own_trainer(g);
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    if (!c)
        return;
    const char *why = arena_printf(
        t->arena, "%.80s is a trainer of its own, which is not read", c->function);
    user_script_ask(t, line, why);
    launch_add_unresolved(t, library_at, line, "%s: ddp, fsdp or deepspeed", why);
}

/* Calls under conditions that are not known are read as if they were made. */
static void name_unsure(struct launch_context *t, const struct user_script *g)
{
    for (int part = 0; part < SCRIPT_PARTS; part++) {
        const struct python_call *c = g->parts[part];
        bool asked = c && (part == SCRIPT_CHECKPOINTED || part == SCRIPT_RECOMPUTED) &&
                     user_script_is_chosen(c);
        if (c && c->unsure && !asked && part != SCRIPT_UNCHECKPOINTED)
            launch_note(t->l, g->line ? g->line : c->line, DIAG_ASSUMED,
                        "%.80s(...) of line %lld is under a condition that is not "
                        "known, and is taken to be called",
                        c->function, (long long)c->line);
    }
    const struct python_call *off = g->parts[SCRIPT_UNCHECKPOINTED];
    if (off && off->unsure && g->parts[SCRIPT_CHECKPOINTED])
        launch_note(
            t->l, g->line ? g->line : off->line, DIAG_ASSUMED,
            "%.80s(...) of line %lld is under a condition that is not known, and "
            "is taken not to be called",
            off->function, (long long)off->line);
}

/* exec(open("overrides.py").read()): its text is not known. */
static void name_executed(struct launch_context *t, const struct user_script *g)
{
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const struct value *text = value_member(c->arguments, "0");
        if (strcmp(c->function, "exec") == 0 && !c->quoted &&
            (!text || text->kind != VALUE_STRING))
            launch_note(t->l, g->line ? g->line : c->line, DIAG_ASSUMED,
                        "exec(...) of line %lld is not run: what it sets is taken to "
                        "be as it was",
                        (long long)c->line);
    }
}

/* os.environ["NCCL_P2P_DISABLE"] = "1" of the text; what is set outside is known. */
static void take_environment(struct launch_context *t, const struct user_script *g)
{
    const struct value *all = python_name(g->python, PYTHON_ENVIRONMENT);
    for (int32_t i = 0; all && all->kind == VALUE_DICT && i < all->n; i++) {
        const struct value_item *it = &all->items[i];
        const struct shell_binding b = {
            .name = it->key,
            .value = it->value->kind == VALUE_STRING ? it->value->text : NULL,
            .line = g->line ? g->line : it->line,
        };
        if (it->value->line > 0)
            launch_take_variable(t, &b);
    }
}

static void take_trl(struct launch_context *t, struct user_script *g)
{
    user_script_take_padded(t, g);
    trl_take(t, g->words, is_older(g));
    /* older trainers leave a model as it is that has its adapters already */
    if (user_script_is_unsloth(g))
        trl_cast(t, "Unsloth loads a 4-bit model's other weights so", false);
    else if (!is_older(g) || !g->parts[SCRIPT_WRAPPED])
        trl_cast(t, TRL_CASTS, true);
}

/* What arguments have not said, and what changes the model or its training after it. */
static void take_rest(struct launch_context *t, struct user_script *g)
{
    user_script_ask_models(t, g);
    user_script_ask_batch(t, g);
    user_script_note_loader(t, g);
    user_script_ask_optimizer(t, g);
    user_script_take_averages(t, g);
    user_script_take_text(t, g);
    user_script_take_accumulation(t, g);
    user_script_divide_batch(t, g);
    user_script_take_lengths(t, g);
    user_script_note_unsloth(t, g);
    user_script_take_kernels(t, g);
    user_script_take_edits(t, g);
    user_script_name_left(t, g);
    user_script_ask_frozen(t, g);
    user_script_ask_unfrozen(t, g);
    user_script_note_merged(t, g);
    user_script_ask_continued(t, g);
    ask_handed(t, g);
    user_script_propose_adapters(t, g);
    user_script_ask_assigned(t, g);
}

void user_script_take(struct launch_context *t, struct user_script *g)
{
    const struct trainer_kind kind = {
        .tables = user_script_tables,
        .loop = !g->parts[SCRIPT_TRAINER] && !g->parts[SCRIPT_ARGUMENTS],
    };
    const struct python_call *c = g->parts[SCRIPT_TRAINER] ? g->parts[SCRIPT_TRAINER]
                                                           : g->parts[SCRIPT_ARGUMENTS];
    const char *method = user_script_method(t->arena, g);
    struct value v = { .kind = VALUE_STRING,
                       .line = g->line ? g->line
                               : c     ? c->line
                                       : 0 };
    const struct value_item from = { c ? python_last_part(c->function) : "", v.line,
                                     &v };
    bool trl = is_trl(method) && !user_script_own_trainer(g);
    if (refuse_diffusion(t, g) || refuse_megatron(t, g) || refuse_parts(t, g) ||
        refuse_framework(t, g) || user_script_refuses_evaluation(t, g))
        return;
    if (method && strcmp(method, "SentenceTransformer") == 0) {
        launch_refuse_entry(t->l, from.key, "trains embeddings of pairs of texts",
                            v.line);
        return;
    }
    if (g->parts[SCRIPT_MODEL])
        t->l->model_class =
            user_script_class(&t->l->loader->arena, g->parts[SCRIPT_MODEL]);
    ask_command(t, g);
    ask_own(t, g);
    if (g->n_trainers > 1)
        launch_note(t->l, v.line, DIAG_ASSUMED, "the last of %d trainers is taken",
                    g->n_trainers);
    name_unsure(t, g);
    name_executed(t, g);
    take_environment(t, g);
    user_script_take_model(t, g);
    if (!g->parts[SCRIPT_MODEL] && user_script_take_picture(t, g))
        return;
    user_script_take_stack(t, g);
    user_script_take_keras(t, g);
    user_script_take_loop(t, g);
    user_script_take_mesh(t, g);
    user_script_take_spread(t, g);
    user_script_ask_weights(t, g);
    if (!g->parts[SCRIPT_ENGINE]) /* whose configuration may say it */
        user_script_ask_batch(t, g);
    int64_t said = launch_said(t);
    if (trl)
        trl_take_method(t, strcmp(method, "Unsloth") == 0 ? "SFT" : method, &from);
    /* what it compares with is asked for, whatever the head */
    if (trl ? launch_said(t) == said : !user_script_ask_compared(t, g))
        take_head(t, g);
    if (trl)
        take_trl(t, g);
    else
        trainer_read_arguments(t, g->words, &kind);
    t->trainer &= !user_script_own_trainer(g) &&
                  (g->parts[SCRIPT_TRAINER] || !g->parts[SCRIPT_BACKWARD]);
    take_rest(t, g);
}
