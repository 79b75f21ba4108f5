/* set_primary_perf_configs(recipe, task, num_nodes=8, ...) of NeMo's performance scripts,
 * which writes its arguments into a recipe (scripts/performance/helpers.py, 25.02 to
 * 25.09). */
#include "dialect/nemo/nemo.h"
#include "dialect/python/python.h"

#include <string.h>
#include <strings.h>

const char *const nemo_calls[] = { "set_primary_perf_configs",
                                   "get_perf_optimized_parallelism",
                                   "process_config_with_overrides",
                                   "create_omegaconf_dict_config", NULL };
/* They give back the recipe. */
const char *const nemo_same[] = { "set_primary_perf_configs",
                                  "set_perf_optimization_configs",
                                  "set_exp_logging_configs",
                                  "process_config_with_overrides", NULL };

/* clang-format off */
#define STRATEGY "trainer.strategy."
/* Arguments in their order, and what they write; NULL: more than one key, or none. */
static const struct {
    const char *name, *path;
} arguments[] = {
    { "recipe", NULL }, { "task", NULL }, { "num_nodes", "trainer.num_nodes" }, { "num_gpus_per_node", "trainer.devices" },
    { "mbs", "data.micro_batch_size" }, { "gbs", "data.global_batch_size" }, { "max_steps", "trainer.max_steps" },
    { "tp_size", STRATEGY "tensor_model_parallel_size" }, { "pp_size", STRATEGY "pipeline_model_parallel_size" },
    { "cp_size", STRATEGY "context_parallel_size" }, { "vp_size", STRATEGY "virtual_pipeline_model_parallel_size" },
    { "ep_size", STRATEGY "expert_model_parallel_size" }, { "etp_size", STRATEGY "expert_tensor_parallel_size" },
    { "enable_cuda_graphs", "model.config.enable_cuda_graph" },
};
static const char *const formats[][2] = {
    { "ds", "bf16_with_fp8_mixed" }, { "cs", "bf16_with_fp8_current_scaling_mixed" },
    { "mxfp8", "bf16_with_mxfp8_mixed" }, { "ss", "bf16_with_fp8_subchannel_scaling_mixed" },
};
/* clang-format on */

/* The call of a script that writes into recipes; NULL: there is none. */
static const struct python_call *helper_of(const struct python *p)
{
    for (int64_t i = 0; i < p->calls.n; i++)
        if (strcmp(python_last_part(p->calls.v[i].function), nemo_calls[0]) == 0)
            return &p->calls.v[i];
    return NULL;
}

static const struct value_item *argument(const struct python_call *c, const char *name)
{
    const struct value_item *it = value_get(c->arguments, name);
    for (size_t i = 0; !it && i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        char number[8] = { (char)(i < 10 ? '0' + i : '1'),
                           (char)(i < 10 ? '\0' : '0' + i - 10), '\0' };
        if (strcmp(arguments[i].name, name) == 0)
            it = value_get(c->arguments, number);
    }
    return it && it->value->kind != VALUE_NONE ? it : NULL;
}

/* Whether the script passes what the helper needs, as values. */
static bool is_whole(const struct python_call *c)
{
    static const char *const needed[] = { "mbs", "gbs", "tp_size", "pp_size", NULL };
    for (const char *const *name = needed; *name; name++) {
        const struct value_item *it = argument(c, *name);
        if (!it || it->value->kind == VALUE_UNKNOWN)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ what it writes */

struct writing {
    struct arena *arena;
    const struct value *own; /* what the script sets itself */
    struct value *out;
    int64_t line;
};

/* What the script sets after the call goes over it. */
static void write_value(const struct writing *w, const char *path, struct value *v)
{
    const struct value_item *own = value_get(w->own, path);
    if (!own || own->line < w->line)
        value_add(w->arena, w->out, path, w->line, v);
}

static void write_word(const struct writing *w, const char *path, const char *word)
{
    write_value(w, path, value_new_string(w->arena, word, w->line, 0));
}

static void write_switch(const struct writing *w, const char *path, bool on)
{
    struct value *v = value_new_bool(w->arena, on, w->line);
    write_value(w, path, v);
}

static bool is_on(const struct python_call *c, const char *name)
{
    const struct value_item *it = argument(c, name);
    return it && launch_true(it->value);
}

static int64_t number(const struct python_call *c, const char *name)
{
    const struct value_item *it = argument(c, name);
    int64_t n;
    return it && launch_whole(it->value, &n) ? n : 0;
}

/* helpers.py, set_precision_configs. */
static void write_precision(const struct writing *w, const struct python_call *c)
{
    const struct value_item *dtype = argument(c, "compute_dtype"),
                            *recipe = argument(c, "fp8_recipe");
    const char *word = recipe && recipe->value->text ? recipe->value->text : "ds";
    if (!dtype || !dtype->value->text)
        return;
    if (strcasecmp(dtype->value->text, "bf16") == 0)
        write_switch(w, "optim.config.use_precision_aware_optimizer", true);
    for (size_t i = 0; strcasecmp(dtype->value->text, "fp8") == 0 &&
                       i < sizeof(formats) / sizeof(formats[0]);
         i++)
        if (strcasecmp(formats[i][0], word) == 0)
            write_word(w, "trainer.plugins.@",
                       arena_printf(w->arena, "nemo.%s", formats[i][1]));
    if (strcasecmp(word, "cs") == 0)
        write_switch(w, "trainer.plugins.first_last_layers_bf16", false);
    write_switch(w, "trainer.plugins.grad_reduce_in_fp32", false);
}

/* helpers.py, set_mcore_fsdp_configs and set_recompute_configs. */
static void write_memory(const struct writing *w, const struct python_call *c)
{
    const struct value_item *layers = argument(c, "recompute_layers"),
                            *modules = argument(c, "recompute_modules"),
                            *moved = argument(c, "activation_offload_layers");
    if (is_on(c, "use_mcore_fsdp")) {
        write_word(w, STRATEGY "fsdp", "megatron");
        write_word(w, STRATEGY "ddp.data_parallel_sharding_strategy",
                   "optim_grads_params");
    }
    if (number(c, "recompute_layers") > 0) {
        write_word(w, "model.config.recompute_granularity", "full");
        write_word(w, "model.config.recompute_method", "block");
        write_value(w, "model.config.recompute_num_layers", layers->value);
    }
    if (modules)
        write_value(w, "model.config.recompute_modules", modules->value);
    if (number(c, "activation_offload_layers") > 0) {
        write_switch(w, "model.config.cpu_offloading", true);
        write_switch(w, "model.config.cpu_offloading_weights", false);
        write_value(w, "model.config.cpu_offloading_num_layers", moved->value);
    }
}

struct value *nemo_helped(struct launch_context *t, const struct python *p,
                          struct value *flat, const struct value *own)
{
    const struct python_call *c = helper_of(p);
    if (!c || !is_whole(c))
        return flat;
    struct writing w = { .arena = t->arena, .own = own, .line = c->line };
    w.out = value_new(t->arena, VALUE_DICT, c->line, 0);
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        const struct value_item *it = argument(c, arguments[i].name);
        bool whole = strcmp(arguments[i].name, "vp_size") == 0 &&
                     number(c, "vp_size") == 1; /* it is None */
        if (it && arguments[i].path && !whole)
            write_value(&w, arguments[i].path, it->value);
        else if (whole)
            write_value(&w, arguments[i].path,
                        value_new(t->arena, VALUE_NONE, c->line, 0));
    }
    write_switch(&w, STRATEGY "sequence_parallel", number(c, "tp_size") > 1);
    write_word(&w, "model.config.cross_entropy_fusion_impl", "te");
    write_precision(&w, c);
    write_memory(&w, c);
    nemo_overlay(t->arena, flat, w.out);
    return flat;
}

void nemo_ask_helped(struct launch_context *t, const struct python *p)
{
    static const char *const asked[] = { "/parallelism/tensor", "/parallelism/pipeline",
                                         "/training/micro_batch_size",
                                         "/training/global_batch_size" };
    const struct python_call *c = helper_of(p);
    for (size_t j = 0; c && !is_whole(c) && j < sizeof(asked) / sizeof(asked[0]); j++) {
        json_t *in = json_object_get(t->tree, j < 2 ? "parallelism" : "training");
        json_object_del(in, strrchr(asked[j], '/') + 1);
        launch_add_unresolved(t, asked[j], c->line,
                              "%s() sets it by a table that is not read",
                              nemo_calls[0]);
    }
}
