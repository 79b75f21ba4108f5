/* The optimizer of a loop of the text's own, or that a trainer has in the place of its
 * arguments': torch/optim (PyTorch 2.8), bitsandbytes 0.48, Muon and its copies. */
#include "base/names.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <fnmatch.h>
#include <string.h>

bool user_script_divides(const struct python_call *c)
{
    return c && strcmp(python_last_part(c->function), "ZeroRedundancyOptimizer") == 0;
}

/* Classes and what the Trainer's rows call them; NULL: it is
 * asked for. Adamax, NAdam and RAdam have Adam's two moments; RMSprop and Adagrad one. */
static const struct optimizer {
    const char *class, *word;
} optimizers[] = {
    { "Muon", "muon" },
    { "AdamW", "adamw_torch" },
    { "Adam", "adamw_torch" },
    { "DistAdamW", "adamw_torch" },
    { "Adamax", "adamw_torch" },
    { "NAdam", "adamw_torch" },
    { "RAdam", "adamw_torch" },
    { "HybridAdam", "adamw_torch" },
    { "CPUAdam", "adamw_torch" },
    { "FusedAdam", "adamw_torch" },
    { "DeepSpeedCPUAdam", "adamw_torch" },
    { "AdamWScheduleFree", "adamw_torch" },
    { "SGD", "sgd" },
    { "SGDMomentum", "sgd_momentum" },
    { "Adafactor", "adafactor" },
    { "Lion", "lion" },
    { "FusedLAMB", "lamb" },
    { "Lamb", "lamb" },
    { "LAMB", "lamb" },
    { "PagedAdamW32bit", "adamw" },
    { "PagedAdam32bit", "adamw" },
    { "AdamW32bit", "adamw" },
    { "Adam32bit", "adamw" },
    { "PagedAdamW", "adamw" },
    { "PagedAdam", "adamw" },
    { "PagedAdamW8bit", "adamw_8bit" },
    { "PagedAdam8bit", "adamw_8bit" },
    { "AdamW8bit", "adamw_8bit" },
    { "Adam8bit", "adamw_8bit" },
    { "Lion32bit", "lion" },
    { "PagedLion", "lion" },
    { "PagedLion32bit", "lion" },
    { "Lion8bit", "lion_8bit" },
    { "PagedLion8bit", "lion_8bit" },
    { "AdEMAMix", "ademamix" },
    { "PagedAdEMAMix", "ademamix" },
    { "AdEMAMix8bit", "ademamix_8bit" },
    { "PagedAdEMAMix8bit", "ademamix_8bit" },
    { "RMSprop", "rmsprop" },
    { "Adagrad", "adagrad" },
    { "SOAP", NULL },
    { "Shampoo", NULL },
    { "Sophia", NULL },
    { "SophiaG", NULL },
    { "Prodigy", NULL },
    { "GaLoreAdamW", NULL },
};

static const struct optimizer *of_class(const char *class)
{
    const char *last = python_last_part(class);
    if (strstr(last, "Muon")) /* DistMuon, MuonWithAuxAdam */
        return &optimizers[0];
    for (size_t i = 0; i < sizeof(optimizers) / sizeof(optimizers[0]); i++)
        if (strcmp(optimizers[i].class, last) == 0)
            return &optimizers[i];
    return NULL;
}

const char *user_script_optimizer_word(const char *class)
{
    const struct optimizer *o = of_class(class);
    for (const struct dialect_word *w = trainer_optimizer_words;
         o && o->word && w->word; w++)
        if (fnmatch(w->word, o->word, 0) == 0)
            return w->value;
    return o ? "" : NULL;
}

static const struct optimizer *optimizer_of(const struct python_call *c)
{
    const struct value *of = user_script_given(c, "optimizer_class", "1");
    return of_class(of && of->text && user_script_divides(c) ? of->text
                    : c                                      ? c->function
                                                             : "");
}

/* Muon has most of the states where another has the embeddings'. */
static const struct python_call *chosen(const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_OPTIMIZER];
    for (int64_t i = 0; c && i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        if (user_script_part_of(other) == SCRIPT_OPTIMIZER && !other->quoted &&
            strstr(python_last_part(other->function), "Muon"))
            return other;
    }
    return c;
}

/* SGD(...) without momentum keeps no states (torch/optim/sgd.py, PyTorch 2.8). */
static const char *word_of(const struct optimizer *o, const struct python_call *c)
{
    const struct value *momentum = user_script_given(c, "momentum", "2");
    bool none = !momentum || (momentum->kind == VALUE_REAL && momentum->real == 0) ||
                (momentum->kind == VALUE_INT && momentum->integer == 0);
    bool sgd = strcmp(o->class, "SGD") == 0;
    return sgd && !(c && none && !c->arguments->gap) ? "sgd_momentum" : o->word;
}

/* Another with other states that the text may make in its place: of two branches of which
 * it is not known which is taken; NULL. */
static const struct python_call *instead(const struct user_script *g,
                                         const struct python_call *c, const char *word)
{
    for (int64_t i = 0; c->unsure && c->target && i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        bool same = other != c && !other->quoted && other->unsure && other->target &&
                    strcmp(other->target, c->target) == 0 &&
                    user_script_part_of(other) == SCRIPT_OPTIMIZER;
        const struct optimizer *o = same ? optimizer_of(other) : NULL;
        if (o && o->word && strcmp(word_of(o, other), word) != 0)
            return other;
    }
    return NULL;
}

/* The optimizer of a loop by its class, as the Trainer calls it. */
void user_script_put_optimizer(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = chosen(g);
    const struct optimizer *o = optimizer_of(c);
    const char *word = o && o->word ? word_of(o, c) : NULL;
    const struct python_call *other = word ? instead(g, c, word) : NULL;
    struct value *v =
        other
            ? value_new_unknown(arena, c->line, 0,
                                "%.60s(...) or %.60s(...), by a condition that is not "
                                "known",
                                c->function, other->function)
        : word ? value_new_string(arena, word, c->line, 0)
               : NULL;
    if (v)
        user_script_put(g, arena, "optim", c->line, v, false);
}

/* A call that makes a trainer's optimizer: in create_optimizer() of its class, or bound to
 * trainer.optimizer. */
static bool makes_trainer_s(const struct user_script *g, const struct python_call *c)
{
    static const char *const methods[] = { "create_optimizer",
                                           "create_optimizer_and_scheduler", NULL };
    const char *trainer = g->parts[SCRIPT_TRAINER]->target;
    const char *target = c->target ? c->target : "";
    size_t n = trainer ? strlen(trainer) : 0;
    bool any =
        n && strncmp(target, trainer, n) == 0 && strcmp(target + n, ".optimizer") == 0;
    for (const struct python_around *a = c->around; a && !any; a = a->outer)
        any = names_listed(methods, a->name);
    return any;
}

/* What a trainer is given in the place of its arguments' optimizer
 * (transformers/trainer.py, 4.57): optimizers=(AdamW(...), None),
 * optimizer_cls_and_kwargs=(AdamW, {...}). Where and by which call it is made, and NULL
 * where it is not known. */
static const struct optimizer *of_trainer(const struct user_script *g, int64_t *line,
                                          const struct python_call **by)
{
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER], *c = NULL;
    const struct value *made = user_script_given(trainer, "optimizers", ""),
                       *class =
                           user_script_given(trainer, "optimizer_cls_and_kwargs", "");
    made = made && made->kind == VALUE_LIST && made->n ? made->items[0].value : NULL;
    class =
        class && class->kind == VALUE_LIST && class->n ? class->items[0].value : NULL;
    for (int64_t i = 0; trainer && i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        if (user_script_part_of(other) == SCRIPT_OPTIMIZER && !other->quoted &&
            ((made && other->result == made) || makes_trainer_s(g, other)))
            c = other;
    }
    *by = c;
    *line = c ? c->line : trainer ? trainer->line : 0;
    return c ? optimizer_of(c) : class && class->text ? of_class(class->text) : NULL;
}

bool user_script_knows_optimizer(const struct user_script *g)
{
    int64_t line;
    const struct python_call *c;
    return of_trainer(g, &line, &c) != NULL;
}

void user_script_put_trainer_optimizer(struct user_script *g, struct arena *arena)
{
    int64_t line;
    const struct python_call *c;
    const struct optimizer *o = of_trainer(g, &line, &c);
    struct value *v =
        o && o->word ? value_new_string(arena, word_of(o, c), line, 0)
        : o ? value_new_unknown(arena, line, 0, "the states of %s are not simulated",
                                o->class)
            : NULL;
    if (v)
        user_script_put(g, arena, "optim", line, v, false);
}

/* AdamW(model.lm_head.parameters()): one of a part of the model. NULL: it is of all, or not
 * known; else the part. */
static const char *module_of(const struct user_script *g, const struct value *of)
{
    const char *why = of && of->kind == VALUE_UNKNOWN && of->why ? of->why : "";
    const char *model = g->parts[SCRIPT_MODEL] ? g->parts[SCRIPT_MODEL]->target : NULL;
    size_t n = model ? strlen(model) : 0;
    if (!n || strncmp(why, model, n) != 0)
        return NULL;
    const char *member = why + n;
    member += strncmp(member, ".module.", 8) == 0 ? 7 : 0; /* of DDP */
    bool within = *member == '.' && strncmp(member, ".parameters(", 12) != 0;
    return within && strstr(member, ".parameters(")
               ? arena_strndup(g->python->arena, why, strcspn(why, "("))
               : NULL;
}

/* What a line of the text chooses of a model's parameters by name or place: "" where it
 * does not. Those that are trained, and groups of decay, are of all. */
static const char *choice_of(const struct user_script *g, const struct value *of)
{
    static const char *const all[] = { "requires_grad", "ndim",  "dim()", "params\"",
                                       "params'",       "shape", NULL };
    const char *at = g->python->text;
    if (!at || !of || of->kind != VALUE_UNKNOWN || of->line <= 0)
        return NULL;
    for (int64_t i = 1; i < of->line && (at = strchr(at, '\n')) != NULL; i++)
        at++;
    const char *line = at ? arena_strndup(g->python->arena, at, strcspn(at, "\n")) : "";
    bool chosen = strstr(line, "parameters()") &&
                  ((strstr(line, " for ") && strstr(line, " if ")) ||
                   strstr(line, "parameters())["));
    return chosen && !names_within(all, line) ? line + strspn(line, " \t") : NULL;
}

/* Its other parameters have gradients and no states. */
static void name_part(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_OPTIMIZER];
    const struct value *of = user_script_given(c, "params", "0");
    const char *part = module_of(g, of);
    part = part ? part : choice_of(g, of);
    for (int64_t i = 0; part && i < g->python->calls.n; i++)
        if (&g->python->calls.v[i] != c && !g->python->calls.v[i].quoted &&
            user_script_part_of(&g->python->calls.v[i]) == SCRIPT_OPTIMIZER)
            return; /* others have the rest */
    if (part)
        launch_note(
            t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
            "%.60s(...) has a part alone (%.100s): the states and the update of "
            "all of the model are taken",
            c->function, part);
}

void user_script_ask_optimizer(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/optimizer";
    const struct python_call *c = chosen(g), *back = g->parts[SCRIPT_BACKWARD];
    const struct optimizer *o = optimizer_of(c);
    const char *other;
    name_part(t, g);
    if (!back || g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        g->parts[SCRIPT_ENGINE] || launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    if (o && !o->word)
        launch_add_unresolved(t, at, g->line ? g->line : c->line,
                              "%.60s(...): its states are not simulated; that of the "
                              "nearest",
                              c->function);
    else if (!o && (other = user_script_other_optimizer(t->arena, g->python->text)))
        user_script_ask_other_optimizer(t, other, "the text",
                                        g->line ? g->line : back->line);
    else if (!o)
        launch_note(t->l, g->line ? g->line : back->line, DIAG_ASSUMED,
                    "no optimizer that is known is made here: AdamW is taken (give "
                    "--set /training/optimizer=... for another)");
}
