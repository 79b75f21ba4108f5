/* A training loop of a text's own: what shards or replicates the model,
 * autocast, optimizers, and plugins of Accelerate.
 *
 * torch/utils/data/dataloader.py, torch/distributed/fsdp, torch/nn/parallel/
 * distributed.py, torch/amp/autocast_mode.py (PyTorch 2.8), accelerate/utils/
 * dataclasses.py (1.12), deepspeed/__init__.py (0.17). */
#include "config/pointer.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/colossalai/colossalai.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/trainer/trainer.h"
#include "dialect/user_script/user_script.h"

#include <string.h>

static const char library_at[] = "/parallelism/library",
                  precision_at[] = "/training/precision";

/* Sections ------------------------------------------------------------------------- */

/* "FULL_SHARD" of ShardingStrategy.FULL_SHARD, which is imported. */
static const struct value *word_of(struct launch_context *t, const struct value *v)
{
    if (v->kind != VALUE_UNKNOWN || !v->text)
        return v;
    return value_new_string(t->arena, python_last_part(v->text), v->line, 0);
}

/* CPUOffload(offload_params=True), CPUOffloadPolicy(), True. */
static bool offloads(const struct value *v)
{
    const struct value_item *it = value_get(v, "offload_params");
    it = it ? it : value_get(v, "0");
    if (v->kind == VALUE_DICT && v->text && strcmp(v->text, "CPUOffloadPolicy") == 0)
        return true;
    return it ? launch_true(it->value) : v->kind == VALUE_BOOL && v->integer;
}

static void put(struct launch_context *t, struct value *dict, const char *key,
                int64_t line, const struct value *v)
{
    value_add(t->arena, dict, key, line, (struct value *)(uintptr_t)v);
}

/* FSDP(model, None, ShardingStrategy.SHARD_GRAD_OP): by their places
 * (fsdp/fully_sharded_data_parallel.py, PyTorch 2.8). */
static const struct value *named_arguments(struct launch_context *t,
                                           const struct value *arguments)
{
    static const char *const names[] = {
        "module",           "process_group",     "sharding_strategy", "cpu_offload",
        "auto_wrap_policy", "backward_prefetch", "mixed_precision"
    };
    struct value *all = value_new(t->arena, VALUE_DICT, arguments->line, 0);
    all->gap = arguments->gap;
    for (int32_t i = 0; i < arguments->n; i++) {
        const struct value_item *it = &arguments->items[i];
        bool placed = it->key[0] >= '0' && it->key[0] < '7' && !it->key[1];
        bool none = placed && it->value->kind == VALUE_NONE;
        if (!none)
            put(t, all, placed ? names[it->key[0] - '0'] : it->key, it->line,
                it->value);
    }
    return all;
}

/* Arguments of FSDP, fully_shard or Accelerate's plugin, as "fsdp_config" has them. */
static struct value *section_of(struct launch_context *t, const struct value *arguments,
                                int64_t line)
{
    static const char *const idle[] = {
        "device_id",
        "param_init_fn",
        "mesh",
        "auto_wrap_policy",
        "ignored_states",
        "process_group",
        "device_mesh",
        "module",
        "state_dict_config",
        "optim_state_dict_config",
        "mixed_precision",
        "mixed_precision_policy",
        "mp_policy",
        NULL,
    };
    struct value *section = value_new(t->arena, VALUE_DICT, line, 0);
    for (int32_t i = 0; i < arguments->n; i++) {
        const struct value_item *it = &arguments->items[i];
        bool offload = strcmp(it->key, "cpu_offload") == 0 ||
                       strcmp(it->key, "offload_policy") == 0;
        if (names_listed(idle, it->key) || (it->key[0] >= '0' && it->key[0] <= '9'))
            continue;
        struct value *yes =
            value_new_bool(t->arena, offload && offloads(it->value), line);
        put(t, section, offload ? "offload_params" : it->key, line,
            offload ? yes : word_of(t, it->value));
    }
    return section;
}

/* Precision ------------------------------------------------------------------------ */

static const char *half_of(const struct value *v)
{
    const char *text = v && v->kind == VALUE_STRING ? v->text : "";
    return strcmp(text, "torch.bfloat16") == 0 || strcmp(text, "bf16") == 0 ||
                   strcmp(text, "bfloat16") == 0
               ? "bf16"
           : strcmp(text, "torch.float16") == 0 || strcmp(text, "fp16") == 0 ||
                   strcmp(text, "torch.half") == 0
               ? "fp16"
               : NULL;
}

/* MixedPrecision(param_dtype=..., reduce_dtype=...): FSDP converts what it gathers. */
static void take_mixed(struct launch_context *t, const struct value *arguments,
                       int64_t line)
{
    static const char *const names[] = { "mixed_precision", "mixed_precision_policy",
                                         "mp_policy" };
    const struct value *v = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !v; i++)
        v = value_member(arguments, names[i]);
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "param_dtype", line, &at };
    const struct value *parameters = value_member(v, "param_dtype"),
                       *reduced = value_member(v, "reduce_dtype");
    parameters = parameters ? parameters : value_member(v, "0");
    reduced = reduced ? reduced : value_member(v, "1");
    const char *half = half_of(parameters), *sums = half_of(reduced);
    if (v && v->kind == VALUE_UNKNOWN) {
        launch_add_unresolved(t, precision_at, line,
                              "mixed_precision: %s, and nothing is run", v->why);
    } else if (parameters && parameters->kind == VALUE_UNKNOWN) {
        launch_add_unresolved(t, precision_at, line,
                              "param_dtype: %s, and nothing is run", parameters->why);
    } else if (half) {
        t->converts = true;
        launch_set(t, precision_at, json_string(half), &from);
        if (reduced)
            launch_set(t, "/training/gradient_dtype", json_string(sums ? sums : "fp32"),
                       &from);
    }
}

/* Whether the weights of a loop's model are of 16 bits by themselves, and trained so: they
 * have no others. */
static bool loads_half(const struct user_script *g)
{
    const struct value_item *type = value_get(g->words, "torch_dtype");
    type = type ? type : value_get(g->words, "dtype");
    return type && half_of(type->value) && g->parts[SCRIPT_BACKWARD] &&
           !g->parts[SCRIPT_ADAPTERS] && !g->parts[SCRIPT_ACCELERATOR];
}

/* torch.autocast("cuda", dtype=torch.bfloat16); of CUDA fp16 without one. */
static void take_autocast(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_AUTOCAST];
    if (!c || launch_has(t, precision_at) || launch_is_unresolved(t, precision_at))
        return;
    const struct value *type = value_member(c->arguments, "dtype"),
                       *on = value_member(c->arguments, "enabled");
    const struct value *first = value_member(c->arguments, "0");
    type = type ? type : value_member(c->arguments, "1");
    on = on ? on
         : first && first->kind == VALUE_BOOL
             ? first /* torch.cuda.amp.autocast(False) */
             : value_member(c->arguments, "2");
    const char *half = type ? half_of(type) : "fp16";
    int64_t line = g->line ? g->line : c->line;
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "autocast", line, &at };
    if (on && on->kind != VALUE_UNKNOWN && !launch_true(on))
        return;
    if (loads_half(g)) /* autocast keeps no weights of its own */
        return;
    if (half && (!on || on->kind != VALUE_UNKNOWN))
        launch_set(t, precision_at,
                   json_sprintf("%s%s", t->converts ? "" : "amp_", half), &from);
    else
        launch_add_unresolved(t, precision_at, line,
                              "autocast: %s is not known without running it",
                              half ? "whether it is enabled" : "its dtype");
}

/* What shards and replicates ------------------------------------------------------- */

/* FSDP2's fully_shard is called for each layer and then for the model: the layers' calls
 * say what is gathered and when, and the model's what they leave out. */
static const struct value *sharded_arguments(struct launch_context *t,
                                             const struct user_script *g)
{
    static const char again[] = "reshard_after_forward";
    const struct python_call *c = g->parts[SCRIPT_SHARDED], *layers = NULL;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        if (other->loops > 0 && !other->quoted &&
            strcmp(python_last_part(other->function), "fully_shard") == 0)
            layers = other;
    }
    if (strcmp(python_last_part(c->function), "fully_shard") != 0)
        return named_arguments(t, c->arguments);
    if (!layers || layers == c)
        return c->arguments;
    struct value *both = value_new(t->arena, VALUE_DICT, c->line, 0);
    for (int32_t i = 0; i < layers->arguments->n; i++)
        put(t, both, layers->arguments->items[i].key, layers->line,
            layers->arguments->items[i].value);
    for (int32_t i = 0; i < c->arguments->n; i++) {
        const struct value_item *it = &c->arguments->items[i];
        if (strcmp(it->key, again) != 0 && !value_get(both, it->key))
            put(t, both, it->key, it->line, it->value);
    }
    return both;
}

void user_script_take_sharded(struct launch_context *t, const struct user_script *g,
                              const struct value *arguments, const char *name,
                              int64_t line)
{
    bool before = t->converts;
    const struct value_item section = { name, line, section_of(t, arguments, line) };
    trainer_take_fsdp_section(t, &section);
    if (strcmp(name, "fully_shard") == 0)
        t->l->fsdp2_line = line;
    t->converts = before || g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ACCELERATOR];
    take_mixed(t, arguments, line);
}

/* Whether the model is one unit: it is wrapped by one call alone, without a policy that
 * wraps its layers (fsdp/fully_sharded_data_parallel.py, auto_wrap_policy: None). */
static bool is_one_unit(const struct user_script *g)
{
    static const char *const wraps[] = { "wrap", "auto_wrap", "enable_wrap",
                                         "fully_shard", NULL };
    const struct python_call *c = g->parts[SCRIPT_SHARDED];
    const struct value *policy = user_script_given(c, "auto_wrap_policy", "4");
    if ((policy && policy->kind != VALUE_NONE) || c->arguments->gap || c->loops > 0)
        return false;
    for (int64_t i = 0; i < g->python->calls.n; i++) {
        const struct python_call *other = &g->python->calls.v[i];
        bool shards = user_script_part_of(other) == SCRIPT_SHARDED ||
                      names_listed(wraps, python_last_part(other->function));
        bool again = other->line == c->line && other->loops == 0; /* read twice */
        if (shards && !again && !other->quoted)
            return false;
    }
    return true;
}

/* ZeroRedundancyOptimizer(...) next to DDP. */
static void take_divided(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_OPTIMIZER];
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "ZeroRedundancyOptimizer", line, &at };
    if (user_script_divides(c))
        launch_set(t, "/parallelism/sharding/strategy", json_string("optimizer"),
                   &from);
}

/* DeepSpeedPlugin(...) is the section of Accelerate's configuration. */
static void take_deepspeed(struct launch_context *t, const struct value_item *plugin)
{
    static const char *const files[] = { "hf_ds_config", "config_file", NULL };
    struct value *config = value_new(t->arena, VALUE_DICT, plugin->line, 0),
                 *section = value_new(t->arena, VALUE_DICT, plugin->line, 0);
    const struct value *own = NULL;
    for (int32_t i = 0; i < plugin->value->n; i++) {
        const struct value_item *it = &plugin->value->items[i];
        bool file = names_listed(files, it->key) && it->value->kind != VALUE_NONE;
        own = file && it->value->kind == VALUE_DICT ? it->value : own;
        put(t, section, file ? "deepspeed_config_file" : it->key, it->line, it->value);
    }
    put(t, config, "deepspeed_config", plugin->line, section);
    if (own)
        deepspeed_take(t, own, "hf_ds_config: ");
    else
        accelerate_take(t, config);
    t->converts = true;
}

/* DistributedDataParallelKwargs(...) among the handlers is what DDP is given. */
static void take_handlers(struct launch_context *t, const struct value *handlers,
                          int64_t line)
{
    for (int32_t i = 0; handlers && handlers->kind == VALUE_LIST && i < handlers->n;
         i++) {
        const struct value *v = handlers->items[i].value;
        if (v->kind == VALUE_DICT && v->text && !launch_has(t, library_at) &&
            strcmp(python_last_part(v->text), "DistributedDataParallelKwargs") == 0)
            user_script_take_replicated(t, v, "kwargs_handlers", line);
    }
}

static void take_plugins(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_ACCELERATOR];
    const struct value *given = c ? c->arguments : NULL,
                       *fsdp = value_member(given, "fsdp_plugin"),
                       *ds = value_member(given, "deepspeed_plugin"),
                       *loader = value_member(given, "dataloader_config"),
                       *split = value_member(given, "split_batches");
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    split = split ? split : value_member(loader, "split_batches");
    if (fsdp && fsdp->kind == VALUE_DICT) {
        user_script_take_sharded(t, g, fsdp, "fsdp_plugin", line);
        if (!fsdp->gap && !value_get(fsdp, "auto_wrap_policy"))
            t->l->unwrapped_line = line;
    }
    if (ds && ds->kind == VALUE_DICT) {
        const struct value_item plugin = { "deepspeed_plugin", line,
                                           (struct value *)(uintptr_t)ds };
        take_deepspeed(t, &plugin);
    }
    take_handlers(t, value_member(given, "kwargs_handlers"), line);
    if (split && launch_true(split))
        launch_add_unresolved(t, "/training/micro_batch_size", line,
                              "split_batches: the loader's batch is divided by the "
                              "number of GPUs");
}

/* Accelerator(mixed_precision="fp8", kwargs_handlers=[TERecipeKwargs()]) (accelerate 1.15,
 * utils/dataclasses.py). */
static void take_fp8(struct launch_context *t, const struct user_script *g)
{
    static const char *const recipes[][2] = { { "TERecipe", "TE" },
                                              { "FP8Recipe", "TE" },
                                              { "AORecipe", "AO" },
                                              { "MSAMPRecipe", "MSAMP" } };
    const struct python_call *c = g->parts[SCRIPT_ACCELERATOR];
    const struct value *handlers =
        c ? value_member(c->arguments, "kwargs_handlers") : NULL;
    const struct value_item *mixed =
        c ? value_get(c->arguments, "mixed_precision") : NULL;
    const char *backend = NULL;
    if (!mixed || mixed->value->kind != VALUE_STRING ||
        strcmp(mixed->value->text, "fp8") != 0)
        return;
    for (int32_t i = 0; handlers && handlers->kind == VALUE_LIST && i < handlers->n;
         i++)
        for (size_t k = 0; k < sizeof(recipes) / sizeof(recipes[0]); k++) {
            const char *why = handlers->items[i].value->why;
            backend = why && strstr(why, recipes[k][0]) ? recipes[k][1] : backend;
        }
    struct value at = *mixed->value;
    at.line = g->line ? g->line : c->line;
    accelerate_set_fp8(t, &(struct value_item) { mixed->key, at.line, &at }, backend);
}

/* Booster(plugin=HybridParallelPlugin(...)), mixed_precision of what converts nothing. */
static void take_booster(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_BOOSTER],
                             *loader = g->parts[SCRIPT_LOADER];
    const struct value *plugin = value_member(c->arguments, "plugin"),
                       *batch = loader ? value_member(loader->arguments, "batch_size")
                                       : NULL;
    const char *half = half_of(value_member(c->arguments, "mixed_precision"));
    int64_t line = g->line ? g->line : c->line;
    struct value at = { .kind = VALUE_NONE, .line = line };
    const struct value_item from = { "mixed_precision", line, &at };
    if (half)
        launch_set(t, precision_at, json_sprintf("amp_%s", half), &from);
    bool known =
        plugin && plugin->kind == VALUE_DICT && colossalai_has_class(plugin->text);
    if (known)
        colossalai_take_call(t, plugin, batch, line);
    if (known && launch_has(t, "/training/micro_batch_size"))
        launch_hear(t, value_get(g->words, "per_device_train_batch_size"));
    if (!known)
        launch_add_unresolved(
            t, library_at, line, "Booster(...): %s",
            plugin && plugin->why ? plugin->why : "which plugin it has, is not known");
}

void user_script_take_loop(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_SHARDED];
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    take_plugins(t, g);
    if (g->parts[SCRIPT_BOOSTER])
        take_booster(t, g);
    else if (g->parts[SCRIPT_CHUNKED])
        launch_add_unresolved(t, library_at,
                              g->line ? g->line : g->parts[SCRIPT_CHUNKED]->line,
                              "%s(...): what Colossal-AI does before its booster is "
                              "not read",
                              python_last_part(g->parts[SCRIPT_CHUNKED]->function));
    user_script_take_engine(t, g);
    if (c) {
        user_script_take_sharded(t, g, sharded_arguments(t, g),
                                 python_last_part(c->function), line);
        if (is_one_unit(g))
            t->l->unwrapped_line = line;
    }
    user_script_take_lightning(t, g);
    take_fp8(t, g);
    user_script_take_gradients(t, g);
    c = g->parts[SCRIPT_REPLICATED];
    if (c && !launch_has(t, library_at)) {
        user_script_take_replicated(t, c->arguments, "DistributedDataParallel",
                                    g->line ? g->line : c->line);
        take_divided(t, g);
    }
    if (!g->parts[SCRIPT_TRAINER] && !g->parts[SCRIPT_ARGUMENTS] &&
        !g->parts[SCRIPT_LIGHTNING])
        take_autocast(t, g);
    user_script_take_casts(t, g);
    if (g->parts[SCRIPT_COMPILED])
        launch_note(t->l, g->line ? g->line : g->parts[SCRIPT_COMPILED]->line,
                    DIAG_NOT_SIMULATED, "torch.compile(...): is not simulated");
}

/* FSDP keeps the type in which a loop's model is loaded; Accelerate makes fp32 of it where
 * it has mixed precision (accelerator.py, 1.12), which its own configuration may give. */
void user_script_ask_weights(struct launch_context *t, const struct user_script *g)
{
    const struct value_item *it = value_get(g->words, "torch_dtype");
    it = it ? it : value_get(g->words, "dtype");
    const char *library = json_string_value(pointer_get(t->tree, library_at)),
               *half = it ? half_of(it->value) : NULL;
    bool adapters = g->parts[SCRIPT_ADAPTERS] || g->parts[SCRIPT_WRAPPED],
         mixed = value_get(g->words, "bf16") || value_get(g->words, "fp16");
    bool loop = !g->parts[SCRIPT_TRAINER] && !g->parts[SCRIPT_ARGUMENTS];
    if (it && it->value->kind == VALUE_UNKNOWN && loop && !adapters && !mixed &&
        !g->parts[SCRIPT_ENGINE] && !launch_has(t, precision_at))
        launch_add_unknown(t, precision_at, it->key, it->value);
    if (!half || !library || strcmp(library, "fsdp") != 0 || adapters || mixed ||
        g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        launch_is_unresolved(t, precision_at))
        return;
    if (launch_has(t, precision_at)) { /* its policy's: shards are as they are loaded */
        if (!g->parts[SCRIPT_ACCELERATOR] && g->parts[SCRIPT_SHARDED]) {
            launch_hear(t, it);
            launch_set(t, "/training/master_weights", json_false(), it);
        }
        return;
    }
    if (!g->parts[SCRIPT_ACCELERATOR])
        return;
    launch_hear(t, it);
    launch_add_unresolved(
        t, precision_at, it->line,
        "torch_dtype: the model is %s, which Accelerate keeps without "
        "mixed precision, and makes fp32 of with it",
        half);
}
