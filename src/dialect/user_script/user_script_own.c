/* Options that are a program's own and decide what no text that is read says: degrees,
 * by which its ranks divide a sequence or the model, and a second model that teaches.
 *
 * Names as programs of Megatron-LM (main of 2026), DeepSpeedExamples (main of 2026),
 * verl 0.5 and torchtitan 0.2 call them. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

/* clang-format off */
static const struct degree { const char *name, *pointer; } degrees[] = {
    { "sp_size", "/parallelism/context" }, { "sp_degree", "/parallelism/context" }, { "sequence_parallel_size", "/parallelism/context" },
    { "sequence_parallel_degree", "/parallelism/context" }, { "ds_sequence_parallel_size", "/parallelism/context" },
    { "ulysses_size", "/parallelism/context" }, { "ulysses_degree", "/parallelism/context" }, { "ulysses_sequence_parallel_size", "/parallelism/context" },
    { "ring_degree", "/parallelism/context" }, { "cp_size", "/parallelism/context" }, { "cp_degree", "/parallelism/context" },
    { "context_parallel_size", "/parallelism/context" }, { "context_parallel_degree", "/parallelism/context" },
    { "tp_size", "/parallelism/tensor" }, { "tp_degree", "/parallelism/tensor" }, { "tensor_parallel_size", "/parallelism/tensor" },
    { "tensor_parallel_degree", "/parallelism/tensor" }, { "tensor_model_parallel_size", "/parallelism/tensor" }, { "model_parallel_size", "/parallelism/tensor" },
    { "tp", "/parallelism/tensor" }, { "pp", "/parallelism/pipeline" },
    { "pp_size", "/parallelism/pipeline" }, { "pp_degree", "/parallelism/pipeline" }, { "pipeline_parallel_size", "/parallelism/pipeline" },
    { "pipeline_parallel_degree", "/parallelism/pipeline" }, { "pipeline_model_parallel_size", "/parallelism/pipeline" }, { "pipe_parallel_size", "/parallelism/pipeline" },
    { "ep_size", "/parallelism/expert" }, { "ep_degree", "/parallelism/expert" }, { "expert_parallel_size", "/parallelism/expert" },
    { "expert_parallel_degree", "/parallelism/expert" }, { "expert_model_parallel_size", "/parallelism/expert" },
};
/* Ways by which ranks divide a sequence, whose degree is the program's own (EasyContext's
 * train.py, LongVA's text_extend_train.py: --parallel_mode zigzag_ring_attn). */
static const char *const modes[] = { "parallel_mode", "sequence_parallel_mode", "seq_parallel_mode", "context_parallel_mode", NULL };
static const char *const whole_modes[] = { "data_parallel", "ddp", "dp", "fsdp", NULL };
/* Of options, and of names that a model is bound to: what a second model is for. */
static const struct second { const char *part, *why; } seconds[] = {
    { "teacher", "trains with a second, frozen model (distillation)" }, { "distill", "trains with a second, frozen model (distillation)" },
    { "critic", "trains on rollouts (reinforcement learning)" }, { "rollout", "trains on rollouts (reinforcement learning)" },
    { "reward_model", "trains on rollouts (reinforcement learning)" },
};
/* Parts of names of a frozen model with which a loss compares the trained one. */
static const char *const references[] = { "ref", "reference", "frozen", NULL };
/* What such an option says where there is none. */
static const char *const none[] = { "", "none", "None", "null", "false", "False", "no", "off", "0", NULL };
/* clang-format on */

static const char *second_of(const char *word)
{
    for (size_t i = 0; word && i < sizeof(seconds) / sizeof(seconds[0]); i++)
        if (strstr(word, seconds[i].part))
            return seconds[i].why;
    return NULL;
}

static bool is_none(const struct value *v)
{
    return launch_is_off(v) || (v->kind == VALUE_STRING && names_listed(none, v->text));
}

static const char *degree_of(const char *option)
{
    for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
        if (strcmp(degrees[i].name, option) == 0)
            return degrees[i].pointer;
    return NULL;
}

static void take_mode(struct launch_context *t, const struct value_item *it,
                      const char *program, int64_t line)
{
    static const char pointer[] = "/parallelism/context";
    const struct value *v = it->value;
    bool text = v->kind == VALUE_STRING;
    if (!names_listed(modes, it->key) || is_none(v) || launch_has(t, pointer) ||
        launch_is_unresolved(t, pointer) || v->kind == VALUE_NONE ||
        (text && names_listed(whole_modes, v->text)))
        return;
    launch_add_unresolved(t, pointer, line,
                          "--%s %.60s is %.60s's own: over how many ranks it divides a "
                          "sequence is not read",
                          it->key, text ? v->text : "", program);
}

/* As the command has it: -pp 4. */
static const char *dashes_of(const struct launch_context *t, const char *key)
{
    const struct value *letters = t->command ? &t->command->letters : NULL;
    for (int32_t i = 0; letters && i < letters->n; i++) {
        const char *own = letters->items[i].key;
        if (strcmp(own + strspn(own, "-"), key) == 0)
            return "-";
    }
    return "--";
}

/* SMP takes its degrees from SageMaker's dictionary, whatever a program's words say. */
static bool dictionary_says(const struct launch_context *t)
{
    return pointer_get(t->tree, "/distribution/smdistributed/modelparallel") != NULL;
}

static void take_degree(struct launch_context *t, const struct value_item *it,
                        const char *program, int64_t line)
{
    const char *pointer = degree_of(it->key);
    int64_t n = 0;
    bool known = launch_whole(it->value, &n);
    if (!pointer || dictionary_says(t) || launch_has(t, pointer) ||
        launch_is_unresolved(t, pointer) || (known ? n < 2 : launch_is_off(it->value)))
        return;
    if (known) {
        launch_add_unresolved(t, pointer, line,
                              "%s%s %lld is %.60s's own, and how it divides the work "
                              "is not read",
                              dashes_of(t, it->key), it->key, (long long)n, program);
        launch_add_example(t, pointer, arena_printf(t->arena, "%lld", (long long)n));
    } else
        launch_add_unresolved(t, pointer, line, "%s%s is %.60s's own, and is not known",
                              dashes_of(t, it->key), it->key, program);
}

void user_script_ask_degrees(struct launch_context *t, const struct value *options,
                             const char *program, int64_t line)
{
    for (int32_t i = 0; options && i < options->n; i++) {
        const struct value_item *it = &options->items[i];
        if (!it->key)
            continue;
        take_degree(t, it, program, line);
        take_mode(t, it, program, line);
    }
}

void user_script_take_own(struct launch_context *t, const struct user_script *g,
                          const struct value *given, const char *program)
{
    user_script_ask_degrees(t, given, program, g->line);
    user_script_ask_degrees(t, g->python->parsed, program, g->line);
}

bool user_script_take_job_own(struct launch_context *t, const char *program)
{
    struct value *all = value_new(t->arena, VALUE_DICT, t->call->line, 0);
    for (int i = 0; i < t->n_hyper; i++)
        for (int32_t k = 0; t->hyper[i]->kind == VALUE_DICT && k < t->hyper[i]->n;
             k++) {
            const struct value_item *it = &t->hyper[i]->items[k];
            char *key = arena_strdup(t->arena, it->key);
            for (char *c = key; *c; c++)
                *c = *c == '-' ? '_' : *c;
            value_add(t->arena, all, key, it->line, it->value);
        }
    if (user_script_refuses_options(t, all, program))
        return true;
    const char *word = launch_evaluates(all, program);
    if (word && !launch_is_called_training(program)) {
        launch_refuse_entry(t->l, program, launch_why_evaluates(t->arena, word),
                            t->call->line);
        return true;
    }
    user_script_ask_degrees(t, all, program, t->call->line);
    return false;
}

bool user_script_refuses_options(struct launch_context *t, const struct value *given,
                                 const char *program)
{
    for (int32_t i = 0; given && i < given->n; i++) {
        const struct value_item *it = &given->items[i];
        const char *why = is_none(it->value) ? NULL : second_of(it->key);
        if (!why)
            continue;
        if (strstr(it->key, "critic") && value_get(given, "beta")) /* DPO's, alone */
            why = launch_trains_on_pairs;
        launch_refuse_entry(
            t->l, program,
            arena_printf(t->arena, "%s, as --%.60s asks for", why, it->key), it->line);
        return true;
    }
    return false;
}

static const struct python_call *call_of(const struct python *p,
                                         enum user_script_part part)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (user_script_part_of(&p->calls.v[i]) == part && !p->calls.v[i].quoted)
            return &p->calls.v[i];
    return NULL;
}

/* A model that is bound to a name of a second: teacher_model = X.from_pretrained(...). A
 * reward model whose scores the text's own loss compares is the one that is trained. */
static const struct python_call *bound_second(const struct user_script *g,
                                              const char **why)
{
    bool scores =
        call_of(g->python, SCRIPT_COMPARED) && !call_of(g->python, SCRIPT_SAMPLED);
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        *why = user_script_part_of(c) == SCRIPT_MODEL && !c->quoted &&
                       !(scores && c->target && strstr(c->target, "reward_model"))
                   ? second_of(c->target)
                   : NULL;
        if (*why)
            return c;
    }
    return NULL;
}

/* Whether a statement of the text deletes the name: what a loop no longer has it does not
 * compare with (weights that were loaded to be copied, say). */
static bool is_deleted(const struct python *p, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = p->text; at && (at = strstr(at, "del ")); at += 4) {
        const char *of = at + 4 + strspn(at + 4, " (");
        bool statement = at == p->text || strchr(" \t\n;", at[-1]);
        if (statement && strncmp(of, name, n) == 0 && !isalnum((unsigned char)of[n]) &&
            of[n] != '_' && of[n] != '.' && of[n] != '[')
            return true;
    }
    return false;
}

/* Another model that a loop of the text's own loads before its optimizer; NULL. */
static const struct python_call *loaded_second(const struct user_script *g)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL],
                             *step = g->parts[SCRIPT_OPTIMIZER];
    for (int64_t i = 0; model && step && i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        bool loads = user_script_part_of(c) == SCRIPT_MODEL && !c->quoted &&
                     !c->unsure && !model->unsure && c->line < step->line;
        if (loads && c->target && model->target &&
            strcmp(c->target, model->target) != 0 && !is_deleted(g->python, c->target))
            return c;
    }
    return NULL;
}

/* The call by which a loop of the text's own generates what it trains on: before its
 * backward(), in the same function, and each time. */
static const struct python_call *sampled_in(const struct user_script *g)
{
    const struct python_call *back = g->parts[SCRIPT_BACKWARD];
    for (int64_t i = 0; back && i < g->python->calls.n; i++) {
        const struct python_call *c = &g->python->calls.v[i];
        const char *last = python_last_part(c->function);
        if (user_script_part_of(c) == SCRIPT_SAMPLED && !c->quoted &&
            strcmp(last, "generate") != 0)
            return c; /* PPO(...) of its own */
        bool same =
            c->within == back->within || (c->within && strstr(c->within, "rollout"));
        if (user_script_part_of(c) == SCRIPT_SAMPLED && !c->quoted && !c->unsure &&
            !c->imported && c->loops > 0 && same && c->line < back->line)
            return c;
    }
    return NULL;
}

/* Preferences ---------------------------------------------------------------------- */

bool user_script_is_reference(const char *name)
{
    while (name && *name) {
        size_t n = strcspn(name, "_.");
        for (const char *const *p = references; *p; p++)
            if (strlen(*p) == n && strncmp(name, *p, n) == 0)
                return true;
        name += n + (name[n] != '\0');
    }
    return false;
}

static bool is_model(const char *name)
{
    return name && (strstr(name, "model") || strstr(name, "policy"));
}

/* A name of the text, or of its functions' calls, that a frozen model has. */
static const char *reference_in(const struct python *p, int64_t *line)
{
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        bool loads = (user_script_part_of(c) == SCRIPT_MODEL || is_model(c->target)) &&
                     !c->quoted;
        *line = c->line;
        if (loads && user_script_is_reference(c->target))
            return c->target;
    }
    for (int64_t i = 0; i < p->names.n; i++) {
        const struct python_name *n = &p->names.v[i];
        bool model = is_model(n->name);
        *line = n->value ? n->value->line : 0;
        if (n->value && model && user_script_is_reference(n->name) &&
            !launch_is_off(n->value) && n->value->kind != VALUE_STRING)
            return n->name;
    }
    return NULL;
}

/* Scores of a classifier that its own loss compares: a reward model's pairs. */
static bool takes_reward(struct launch_context *t, const struct user_script *g,
                         const struct python_call *compared)
{
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    const char *class = model ? user_script_class(t->arena, model) : "";
    if (!names_ends(class, "ForSequenceClassification"))
        return false;
    struct value v = { .kind = VALUE_STRING,
                       .line = g->line ? g->line : compared->line };
    const struct value_item from = { compared->function, v.line, &v };
    launch_set(t, "/training/task", json_string("reward"), &from);
    launch_note(
        t->l, v.line, DIAG_ASSUMED,
        "%.60s(...) of line %lld compares scores: each sample is taken to be a "
        "pair of sequences (give --set /training/task=classification where it is "
        "one)",
        compared->function, (long long)compared->line);
    return true;
}

/* Asks what a loss of the text's own trains, of what it compares and with which model. */
static void ask_loss(struct launch_context *t, const struct user_script *g,
                     const struct python_call *c, const char *reference, int64_t line)
{
    static const char task[] = "/training/task";
    if (c && reference)
        launch_add_unresolved(t, task, line,
                              "%.60s(...) compares answers, and %.60s is a reference: "
                              "its own loss is dpo's or kto's",
                              c->function, reference);
    else if (c)
        launch_add_unresolved(t, task, line,
                              "%.60s(...) compares answers, and no reference model is "
                              "seen: its own loss is simpo's, orpo's, cpo's, or a "
                              "reward model's",
                              c->function);
    if (c && !reference && g->python->text && strstr(g->python->text, "reward"))
        launch_add_example(t, task, "reward");
    if (!c)
        launch_add_unresolved(t, task, line,
                              "%.60s is a second model, with which its own loss may "
                              "compare: dpo or kto, or causal-lm where it does not",
                              reference);
}

/* Whether the model's head gives words, whose probabilities a second model's are compared
 * with; a classifier's are of no preference. */
static bool has_words(struct launch_context *t, const struct user_script *g)
{
    static const char *const others[] = { "Classification", "QuestionAnswering",
                                          "MultipleChoice", "Detection", NULL };
    const struct python_call *model = g->parts[SCRIPT_MODEL];
    return model && !names_within(others, user_script_class(t->arena, model));
}

bool user_script_ask_compared(struct launch_context *t, const struct user_script *g)
{
    static const char task[] = "/training/task";
    int64_t line = 0;
    const struct python_call *c = call_of(g->python, SCRIPT_COMPARED);
    const char *reference = reference_in(g->python, &line);
    const struct python_call *second =
        g->parts[SCRIPT_TRAINER] || !has_words(t, g) ? NULL : loaded_second(g);
    if (!reference && second) {
        reference = second->target;
        line = second->line;
    }
    bool own = call_of(g->python, SCRIPT_LOSS) || !g->parts[SCRIPT_TRAINER];
    if (!own || (!c && !reference) || launch_has(t, task))
        return false;
    if (launch_is_unresolved(t, task))
        return true;
    if (c && !reference && takes_reward(t, g, c))
        return true;
    ask_loss(t, g, c, reference, g->line ? g->line : c ? c->line : line);
    return true;
}

/* Refusals ------------------------------------------------------------------------ */

/* What a loop of the text's own does with a model that no step simulated has. */
static const struct python_call *refused_in(const struct user_script *g,
                                            const char **why)
{
    int64_t line;
    bool own = !g->parts[SCRIPT_TRAINER] && !g->parts[SCRIPT_ARGUMENTS];
    const struct python_call *c = own ? sampled_in(g) : NULL;
    *why = "trains on what it generates (reinforcement learning)";
    /* a reference without a loss of pairs, and answers that it generates somewhere */
    if (!c && own && reference_in(g->python, &line) &&
        !call_of(g->python, SCRIPT_COMPARED))
        c = call_of(g->python, SCRIPT_SAMPLED);
    if (c && !c->imported)
        return c;
    *why = "trains with a second, frozen model (distillation)";
    c = own && loaded_second(g) ? call_of(g->python, SCRIPT_DIVERGED) : NULL;
    return c ? c : bound_second(g, why);
}

bool user_script_refuses_second(struct launch_context *t, const struct user_script *g,
                                const struct value *given, const char *program)
{
    const char *why;
    if (user_script_refuses_options(t, given, program))
        return true;
    const struct python_call *c = refused_in(g, &why);
    if (c)
        launch_refuse_entry(t->l, program, why, g->line ? g->line : c->line);
    return c != NULL;
}
