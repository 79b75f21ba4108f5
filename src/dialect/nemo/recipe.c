/* Recipes of NeMo 2 and Megatron-Bridge as Python has them: the call of a recipe with what
 * the script sets of it, or run.Partial() and llm.pretrain() of a script's own objects. */
#include "base/names.h"
#include "dialect/launch/launch_context.h"
#include "dialect/nemo/nemo.h"
#include "dialect/python/python.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

enum { PATH_MAX_B = 300, DEPTH_MAX = 12 };

const char *const nemo_objects[] = {
    "nemo_run.Config",
    "nemo_run.Partial",
    "nemo_run.run",
    "nemo_run.cli.main",
    "nemo.*_recipe",
    "nemo.*_mixed",
    "nemo.*_annealing",
    "nemo.*_lr",
    "nemo.*.[A-Z]*",
    "nemo.collections.llm.pretrain",
    "nemo.collections.llm.finetune",
    "nemo.collections.llm.train",
    "nemo.collections.llm.api.pretrain",
    "nemo.collections.llm.api.finetune",
    "nemo.collections.llm.api.train",
    "megatron.bridge.training.*.pretrain",
    "megatron.bridge.training.*.finetune",
    "megatron.bridge.*_config",
    "megatron.bridge.*.distill",
    "megatron.bridge.*_mixed",
    "megatron.bridge.*.[A-Z]*",
    "megatron.core.*.[A-Z]*",
    "*DataModule", /* of somebody's own */
    NULL,
};

/* Objects, flat --------------------------------------------------------------------- */

static bool is_wrapper(const char *function)
{
    return strcmp(function, "nemo_run.Config") == 0 ||
           strcmp(function, "nemo_run.Partial") == 0;
}

/* The class that an object is of: of run.Config(X, ...) X; NULL: not known. */
static const char *class_of(const struct value *v)
{
    const struct value_item *first = value_get(v, "0");
    if (!v->text)
        return NULL;
    if (!is_wrapper(v->text))
        return v->text;
    return first && first->value->text ? first->value->text : NULL;
}

static void flatten(struct arena *arena, struct value *out, const char *path,
                    const struct value *v, int depth);

/* What a positional argument is; NULL: nobody knows. */
static const char *positional(const struct value *v, const char *class,
                              const struct value_item *it)
{
    bool wrapped = is_wrapper(v->text);
    size_t n = class ? strlen(class) : 0;
    bool model = n > 5 && strcmp(class + n - 5, "Model") == 0;
    bool second = strcmp(it->key, wrapped ? "1" : "0") == 0;
    return model && second ? "config" : NULL;
}

static void add(struct arena *arena, struct value *out, const char *path,
                const struct value_item *it, const char *key, int depth)
{
    const struct value *v = it->value;
    const char *place = *path ? arena_printf(arena, "%s.%s", path, key) : key;
    if (strlen(place) > PATH_MAX_B || depth == DEPTH_MAX)
        return;
    if (v->kind == VALUE_DICT && (v->n > 0 || v->text)) {
        flatten(arena, out, place, v, depth + 1);
        return;
    }
    bool many = v->kind == VALUE_LIST &&
                (strcmp(key, "plugins") == 0 || strcmp(key, "callbacks") == 0);
    for (int32_t i = 0; many && i < v->n; i++) {
        const struct value *e = v->items[i].value;
        const char *class = e->kind == VALUE_DICT ? class_of(e) : NULL;
        if (class && strstr(class, "MegatronCommOverlapCallback"))
            flatten(arena, out, "comm_overlap", e, depth + 1);
        else if (class && strcmp(key, "plugins") == 0 &&
                 (strstr(class, "Precision") || names_ends(class, "_mixed")))
            flatten(arena, out, place, e, depth + 1);
    }
    if (!many)
        value_add(arena, out, place, it->line, it->value);
}

/* Places whose class says something. */
static bool names_its_class(const char *path)
{
    static const char *const places[] = { "model",           "model.config", "data",
                                          "trainer.plugins", "peft",         "optim",
                                          "mixed_precision", "comm_overlap" };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strcmp(places[i], path) == 0)
            return true;
    return false;
}

static void flatten(struct arena *arena, struct value *out, const char *path,
                    const struct value *v, int depth)
{
    const char *class = class_of(v);
    if (*path && class && names_its_class(path))
        value_add(arena, out, arena_printf(arena, "%s.@", path), v->line,
                  value_new_string(arena, class, v->line, 0));
    for (int32_t i = 0; i < v->n; i++) {
        const struct value_item *it = &v->items[i];
        const char *key = it->key;
        if (isdigit((unsigned char)*key) && v->text)
            key = positional(v, class, it);
        if (key && !(*path == '\0' && strcmp(key, "fn") == 0))
            add(arena, out, path, it, key, depth);
    }
}

/* Which call ------------------------------------------------------------------------ */

enum kind { NONE, RECIPE, BRIDGE, OWN, DISTILL };

/* "megatron.bridge.recipes.qwen.qwen3_14b.pretrain_config", as recipes were called until
 * v0.1: the module names the model. */
static bool is_of_module(const char *function)
{
    static const char *const names[] = { "pretrain_config", "sft_config", "peft_config",
                                         "finetune_config", NULL };
    return strncmp(function, "megatron.bridge.recipes.", 24) == 0 &&
           names_listed(names, python_last_part(function));
}

static enum kind kind_of(const struct python_call *c)
{
    static const char *const trains[] = { "pretrain", "finetune", "train", NULL };
    const char *last = python_last_part(c->function);
    bool parts = value_get(c->arguments, "trainer") || value_get(c->arguments, "model");
    if (strcmp(last, "pretrain_recipe") == 0 || strcmp(last, "finetune_recipe") == 0)
        return RECIPE;
    if (is_of_module(c->function))
        return BRIDGE;
    if (strncmp(c->function, "megatron.bridge.", 16) == 0 &&
        names_ends(last, "_config") &&
        (strstr(last, "_pretrain_") || strstr(last, "_sft_") ||
         strstr(last, "_peft_") || strstr(last, "_finetune_")) &&
        !strstr(last, "default_"))
        return BRIDGE;
    if (strncmp(c->function, "megatron.bridge.", 16) == 0 &&
        strcmp(last, "distill") == 0)
        return DISTILL;
    if (strcmp(c->function, "nemo_run.Partial") == 0 && parts)
        return OWN;
    for (const char *const *w = trains; *w; w++)
        if (strncmp(c->function, "nemo.", 5) == 0 && strcmp(last, *w) == 0 && parts)
            return OWN;
    return NONE;
}

/* Whether something starts what the call gave. */
static bool is_started(const struct python *p, const struct python_call *c)
{
    static const char *const names[] = { "0", "config", "fn_or_script" };
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *start = &p->calls.v[i];
        const char *last = python_last_part(start->function);
        bool starts = strcmp(start->function, "nemo_run.run") == 0 ||
                      strcmp(last, "pretrain") == 0 || strcmp(last, "finetune") == 0;
        for (size_t j = 0; starts && c->result && j < 3; j++) {
            const struct value_item *it = value_get(start->arguments, names[j]);
            if (it && it->value == c->result)
                return true;
        }
    }
    return false;
}

/* Whether a function of the text makes a recipe. */
static bool makes_recipe(const struct python *p, const char *function)
{
    for (int64_t i = 0; function && i < p->calls.n; i++)
        if (kind_of(&p->calls.v[i]) != NONE && p->calls.v[i].within &&
            strcmp(p->calls.v[i].within, function) == 0)
            return true;
    return false;
}

/* "recipe()" is recipe, without arguments; with some it stays as it is. */
static const char *plain_name(struct arena *arena, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    bool empty = n > 2 && strcmp(text + n - 2, "()") == 0;
    return empty ? arena_strndup(arena, text, n - 2) : text;
}

/* The named one; else the one that is started, or the last recipe that is called; else the
 * first of objects. `within`: of that function alone; NULL: of any. */
static const struct python_call *chosen(const struct python *p, const char *name,
                                        const char *within, int *n)
{
    const struct python_call *best = NULL;
    bool runs = false;
    *n = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        enum kind k = kind_of(c);
        if (k == NONE || c->quoted)
            continue;
        if (name && (!c->target || strcmp(c->target, name) != 0))
            continue;
        if (within && (!c->within || strcmp(c->within, within) != 0))
            continue;
        bool started = k == DISTILL || is_started(p, c);
        ++*n;
        if (!best || (started && !runs) ||
            (runs == started && k != OWN && (!c->unsure || best->unsure)))
            best = c;
        runs |= started;
    }
    return best;
}

bool nemo_recipe_recognises(const struct dialect_input *in)
{
    int n;
    return chosen(in->python, NULL, NULL, &n) || nemo_cli_main(in->python);
}

/* What a recipe is called with ------------------------------------------------------ */

/* clang-format off */
/* Arguments of recipes that are keys of what they give. */
static const struct {
    const char *argument, *path;
} arguments[] = {
    { "num_nodes", "trainer.num_nodes" }, { "num_gpus_per_node", "trainer.devices" },
    { "tensor_parallelism", "model.tensor_model_parallel_size" }, { "pipeline_parallelism", "model.pipeline_model_parallel_size" },
    { "virtual_pipeline_parallelism", "model.virtual_pipeline_model_parallel_size" }, { "context_parallelism", "model.context_parallel_size" },
    { "expert_parallelism", "model.expert_model_parallel_size" }, { "sequence_parallelism", "model.sequence_parallel" },
    { "tensor_model_parallel_size", "model.tensor_model_parallel_size" }, { "pipeline_model_parallel_size", "model.pipeline_model_parallel_size" },
    { "virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size" }, { "context_parallel_size", "model.context_parallel_size" },
    { "expert_model_parallel_size", "model.expert_model_parallel_size" }, { "sequence_parallel", "model.sequence_parallel" },
    { "train_iters", "train.train_iters" }, { "global_batch_size", "train.global_batch_size" }, { "micro_batch_size", "train.micro_batch_size" },
    { "seq_length", "dataset.seq_length" }, { "precision_config", "mixed_precision.@" },
};
/* Those that choose among its variants, or say nothing of a step. */
static const char *const choices[] = {
    "performance_mode", "peft_scheme", "packed_sequence", "dir", "name", "fn", "resume_path", "tokenizer", "hf_path", "data_paths", "train_data_path",
    "valid_data_path", "test_data_path", "mock", "pretrained_checkpoint", "lr", "min_lr", "lr_warmup_iters", "wandb_project", "wandb_exp_name", NULL,
};
/* clang-format on */

static bool is_choice(const char *key)
{
    for (const char *const *c = choices; *c; c++)
        if (strcmp(*c, key) == 0)
            return true;
    return false;
}

/* nemo/collections/llm/recipes/optim/adam.py: Megatron's distributed optimizer, of adam. */
static void expand_optimizer(struct arena *arena, struct value *flat)
{
    const struct value_item *made = value_get(flat, "optim.@"),
                            *clip = value_get(flat, "optim.clip_grad");
    const char *last = made ? python_last_part(made->value->text) : "";
    int64_t line = made ? made->line : 0;
    if (strncmp(last, "distributed_fused_adam", 22) != 0)
        return;
    struct value *on = value_new_bool(arena, true, line);
    if (!value_get(flat, "optim.config.use_distributed_optimizer"))
        value_add(arena, flat, "optim.config.use_distributed_optimizer", line, on);
    if (clip && !value_get(flat, "optim.config.clip_grad"))
        value_add(arena, flat, "optim.config.clip_grad", clip->line, clip->value);
}

/* What the script sets of the recipe, by its keys. */
static struct value *changes_of(struct launch_context *t, const struct value *object,
                                bool bridge)
{
    struct value *flat = value_new(t->arena, VALUE_DICT, object->line, 0),
                 *out = value_new(t->arena, VALUE_DICT, object->line, 0);
    flatten(t->arena, flat, "", object, 0);
    for (int32_t i = 0; i < flat->n; i++) {
        const struct value_item *it = &flat->items[i];
        const char *key = it->key;
        for (size_t j = 0; j < sizeof(arguments) / sizeof(arguments[0]); j++)
            if (strcmp(arguments[j].argument, key) == 0)
                key = arguments[j].path;
        if (!bridge && strcmp(key, "dataset.seq_length") == 0)
            key = "data.seq_length";
        if (strcmp(key, "mixed_precision") == 0 && it->value->kind == VALUE_STRING)
            key = "mixed_precision.@";
        if (!is_choice(key))
            value_add(t->arena, out, key, it->line, it->value);
    }
    expand_optimizer(t->arena, out);
    nemo_take_data_module(t, out);
    return out;
}

static bool argument_on(const struct value *arguments_of, const char *name)
{
    const struct value_item *it = value_get(arguments_of, name);
    return it && launch_true(it->value);
}

/* "nemo.collections.llm.llama3_8b.pretrain_recipe" is llama3_8b's. */
static struct nemo_call call_of(struct launch_context *t, const struct python_call *c,
                                const struct value *object)
{
    struct nemo_call call = { .line = c->line,
                              .length = value_get(object, "seq_length") };
    const char *last = python_last_part(c->function);
    const struct value_item *scheme = value_get(object, "peft_scheme");
    if (kind_of(c) == BRIDGE) {
        const char *module = python_last_part(
            arena_strndup(t->arena, c->function, (size_t)(last - c->function) - 1));
        const struct value_item *peft = value_get(c->arguments, "peft");
        call.recipe = nemo_recipe_now(
            t,
            is_of_module(c->function) ? arena_printf(t->arena, "%s_%s", module, last)
                                      : last,
            !peft || peft->value->kind != VALUE_NONE, c->line);
        return call;
    }
    call.recipe = last == c->function
                      ? "a recipe"
                      : python_last_part(arena_strndup(
                            t->arena, c->function, (size_t)(last - c->function) - 1));
    call.kind = last[0] == 'p' ? "pretrain" : "finetune";
    call.performance = argument_on(object, "performance_mode");
    call.packed = argument_on(object, "packed_sequence");
    call.full = scheme &&
                (scheme->value->kind == VALUE_NONE ||
                 (scheme->value->text && strcasecmp(scheme->value->text, "none") == 0));
    if (scheme && scheme->value->kind == VALUE_UNKNOWN)
        launch_unresolved_item(t, "/training/lora/rank", scheme, "scheme");
    return call;
}

/* "llama3_70b_pretrain_64gpu_h100_bf16_config" is for 64 GPUs, 8 of an instance. */
static void assume_gpus(struct launch_context *t, const char *recipe)
{
    const char *gpu = strstr(recipe, "gpu_"), *from = gpu;
    int64_t n = 0;
    while (from && from > recipe && isdigit((unsigned char)from[-1]))
        from--;
    for (; from && from < gpu && n < 1 << 20; from++)
        n = 10 * n + (*from - '0');
    bool eights =
        gpu && (strncmp(gpu, "gpu_h100", 8) == 0 || strncmp(gpu, "gpu_b200", 8) == 0);
    if (n < 1 || !eights || (n > 8 && n % 8))
        return;
    launch_assume(t, "/cluster/count", json_integer((json_int_t)(n > 8 ? n / 8 : 1)),
                  "the recipe's name");
    launch_assume(t, "/cluster/gpus_per_instance",
                  json_integer((json_int_t)(n > 8 ? 8 : n)), "the recipe's name");
}

/* A callback that is appended says what overlaps. */
static void add_callbacks(struct launch_context *t, const struct python *p,
                          struct value *flat)
{
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        struct value as = *c->arguments;
        as.text = as.text ? as.text : c->function;
        const char *class = class_of(&as);
        if (class && strstr(class, "MegatronCommOverlapCallback") && !c->unsure &&
            !value_get(flat, "comm_overlap.@"))
            flatten(t->arena, flat, "comm_overlap", &as, 0);
    }
}

/* A recipe of several, each under a condition that is not known; the number of them, or
 * 0. */
static int open_choice(const struct python *p, const struct python_call *best)
{
    int n = 0;
    bool others = false;
    for (int64_t i = 0; best->unsure && i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (kind_of(c) == NONE || c->quoted)
            continue;
        n++;
        others |= c->unsure && strcmp(c->function, best->function) != 0;
    }
    return others ? n : 0;
}

/* Reports a recipe of which it is not known what it sets, or that distils. */
static bool refused(struct launch_context *t, const struct dialect_input *in,
                    const struct python_call *c, enum kind k)
{
    struct diags *diags = &t->l->loader->diags;
    struct diag open = launch_diag(t->l, DIAG_UNRESOLVED, c->line, 0),
                not_simulated = launch_diag(t->l, DIAG_NOT_SIMULATED, c->line, 0);
    int n = in->estimator ? 0 : open_choice(in->python, c);
    if (n)
        diags_add(diags, open,
                  "which of %d recipes is called depends on what the script is given "
                  "(give its argument a default)",
                  n);
    else if (k == DISTILL)
        diags_add(diags, not_simulated,
                  "distillation, which has a second model, is not simulated");
    else if (c->result && c->result->kind == VALUE_UNKNOWN)
        diags_add(diags, not_simulated, "what the recipe sets is not known: %s",
                  c->result->why);
    else
        return false;
    return true;
}

void nemo_recipe_read(struct launch_context *t, const struct dialect_input *in)
{
    int n;
    const struct value *factory =
        in->estimator ? NULL : nemo_cli_factory(t->l, in->python);
    const char *own = factory ? plain_name(t->arena, factory->text) : NULL;
    own = own && makes_recipe(in->python, own) ? own : NULL;
    const struct python_call *c = chosen(in->python, in->estimator, own, &n);
    const char *title = "a recipe of NeMo 2";
    if (nemo_cli_main(in->python) && !own && (factory || !c)) {
        nemo_read_cli(t, in->python);
        return;
    }
    if (!c) {
        diags_add(&t->l->loader->diags, launch_diag(t->l, DIAG_UNKNOWN_NAME, 0, 0),
                  "--estimator: no recipe is called so");
        return;
    }
    enum kind k = kind_of(c);
    if (refused(t, in, c, k))
        return;
    const struct value *object =
        c->result && c->result->kind == VALUE_DICT ? c->result : c->arguments;
    struct value *flat = changes_of(t, object, k == BRIDGE);
    t->l->line = c->line;
    if (n > 1 && !in->estimator)
        launch_note(t->l, c->line, DIAG_ASSUMED,
                    "this one of %d recipes is taken (--estimator NAME takes another)",
                    n);
    const struct nemo_call call = call_of(t, c, object);
    struct value *parts = NULL;
    if (k == OWN || (nemo_open_part(flat) && !nemo_recipe_known(t, &call))) {
        if ((flat = nemo_complete(t, in->python, c, flat)) == NULL)
            return;
    } else {
        struct value *facts = nemo_recipe_facts(t, &call);
        parts = nemo_take_out_parts(t, flat);
        if (!facts)
            return;
        nemo_overlay_changes(t, in->python, facts, flat);
        flat = nemo_helped(t, in->python, facts, flat);
        title = k == BRIDGE ? "a recipe of Megatron-Bridge" : title;
        if (k == BRIDGE)
            assume_gpus(t, call.recipe);
    }
    if (k != OWN)
        add_callbacks(t, in->python, flat);
    if (nemo_cli_main(in->python) && t->l->changes)
        nemo_overlay_words(t, flat, t->l->changes->words);
    core_read(t, flat, title);
    nemo_ask_parts(t, parts);
    nemo_ask_helped(t, in->python);
}
