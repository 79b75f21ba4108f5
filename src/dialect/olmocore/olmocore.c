#include "dialect/olmocore/olmocore.h"

#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"

#include <string.h>

#define WIDE "/parallelism/"
#define CKPT "/training/activation_checkpointing"
#define OF "train_module."

/* Rows ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct dialect_option joint[] = {
    ROW_ACTS("model.*", "/model"), ROW_ACTS("build.global_batch_size", "/training/global_batch_size"), ROW_ACTS("build.max_sequence_length", "/training/sequence_length"),
    ROW_ACTS("data_loader.global_batch_size", "/training/global_batch_size"), ROW_ACTS("dataset.sequence_length", "/training/sequence_length"),
    ROW_ACTS(OF "rank_microbatch_size", "/training/micro_batch_size"), ROW_ACTS("trainer.rank_microbatch_size", "/training/micro_batch_size"),
    ROW_ACTS(OF "max_sequence_length", "/training/sequence_length"), ROW_ACTS(OF "optim.@", "/training/optimizer"), ROW_ACTS(OF "max_grad_norm", "/training/gradient_clipping"),
    ROW_ACTS(OF "compile_model", "/training/framework"), ROW_ACTS(OF "autocast_precision", "/training/precision"), ROW_ACTS(OF "float8_config.@", "/training/precision"),
    ROW_ACTS(OF "float8_config.enabled", "/training/precision"), ROW_ACTS(OF "dp_config.@", WIDE "library"), ROW_ACTS(OF "dp_config.name", WIDE "sharding/strategy"),
    ROW_ACTS(OF "dp_config.param_dtype", "/training/precision"), ROW_ACTS(OF "dp_config.reduce_dtype", "/training/gradient_dtype"),
    ROW_ACTS(OF "dp_config.num_replicas", WIDE "sharding/degree"), ROW_ACTS(OF "dp_config.shard_degree", WIDE "sharding/degree"),
    ROW_ACTS(OF "dp_config.wrapping_strategy", WIDE "sharding/unit"), ROW_ACTS(OF "tp_config.@", WIDE "tensor"), ROW_ACTS(OF "tp_config.degree", WIDE "tensor"),
    ROW_ACTS(OF "cp_config.@", WIDE "context_comm"), ROW_ACTS(OF "cp_config.degree", WIDE "context"), ROW_ACTS(OF "pp_config.@", WIDE "pipeline"),
    ROW_ACTS(OF "pp_config.degree", WIDE "pipeline"), ROW_ACTS(OF "pp_config.schedule", WIDE "schedule"), ROW_ACTS(OF "ep_config.@", WIDE "expert"),
    ROW_ACTS(OF "ep_config.degree", WIDE "expert"), ROW_ACTS(OF "ac_config.@", CKPT), ROW_ACTS(OF "ac_config.mode", CKPT), ROW_ACTS(OF "ac_config.0", CKPT),
    ROW_ACTS(OF "ac_config.block_interval", CKPT), ROW_ACTS(OF "ac_config.modules", CKPT), ROW_ACTS("trainer.max_duration.*", "/training/steps"),
    ROW_ACTS("trainer.hard_stop.*", "/training/steps"), ROW_ACTS(OF "cp_config.0", WIDE "context"), ROW_ACTS(OF "dp_config", WIDE "library"),
    ROW_END,
};
static const struct dialect_option others[] = {
    ROW_UNSIMULATED(OF "dp_config.prefetch_factor"), ROW_UNSIMULATED(OF "tp_config.enable_async"), ROW_UNSIMULATED(OF "pp_config.split_points"), ROW_UNSIMULATED(OF "pp_config.style"),
    ROW_ACTS(OF "ac_config.activation_memory_budget", CKPT), ROW_UNSIMULATED("dataset.generate_doc_lengths"), ROW_UNSIMULATED("dataset.sequence_length_schedule"),
    ROW_ACTS(OF "float8_config.ao_recipe", "/training/precision"), ROW_UNSIMULATED(OF "float8_config.*"), ROW_IDLE(OF "float8_config.modules_to_ignore"), ROW_UNSIMULATED(OF "optim.foreach"), ROW_IDLE(OF "cp_config.head_stride"),
    ROW_UNSIMULATED("data_loader.target_device_type"), ROW_IDLE(OF "ac_config.determinism_check"),
    ROW_IDLE(OF "optim.*"), ROW_IDLE(OF "scheduler*"), ROW_IDLE(OF "z_loss_multiplier"), ROW_IDLE(OF "label_ignore_index"), ROW_IDLE(OF "state_dict_*"), ROW_IDLE(OF "load_key_mapping"),
    ROW_IDLE(OF "@"), ROW_IDLE("data_loader.*"), ROW_IDLE("dataset.*"), ROW_IDLE("trainer.*"), ROW_IDLE("build.*"),
    ROW_END,
};
const struct dialect_table olmocore_tables[] = {
    { "", joint, DIALECT_UNKNOWN_WARNED }, { "", others, DIALECT_UNKNOWN_WARNED }, { NULL, NULL, DIALECT_UNKNOWN_WARNED },
};
/* clang-format on */

/* All of it ------------------------------------------------------------------------ */

static const char *const classes[] = { ".TransformerTrainModuleConfig",
                                       ".TransformerPipelineTrainModuleConfig",
                                       ".MoETrainModuleConfig" };

static const struct python_call *train_module(const struct python *p)
{
    const struct python_call *c = NULL;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && !c; i++)
        c = olmocore_call(p, classes[i]);
    return c;
}

/* Any object of its own but those that start jobs. */
bool olmocore_recognises(const struct dialect_input *in)
{
    const struct python *p = in->python;
    bool own = false;
    for (int64_t i = 0; in->source == DIALECT_CALLS && i < p->calls.n && !own; i++)
        own = strncmp(p->calls.v[i].function, "olmo_core.", 10) == 0 &&
              strncmp(p->calls.v[i].function, "olmo_core.launch.", 17) != 0;
    return own;
}

/* The object that says how is trained: of earlier versions the trainer's. */
static const struct python_call *main_call(const struct python *p)
{
    const struct python_call *old = olmocore_call(p, ".TrainerConfig"),
                             *c = train_module(p);
    return c                                                          ? c
           : old && value_get(old->arguments, "rank_microbatch_size") ? old
                                                                      : NULL;
}

static void add(struct launch_context *t, struct value *flat, const char *name,
                const struct python_call *c)
{
    if (c)
        olmocore_flatten(t->arena, flat, name, olmocore_members(c), 0);
}

/* Members of one object under the name of another, where that has none. */
static void move(struct launch_context *t, struct value *flat, const char *from,
                 const char *to)
{
    size_t n = strlen(from);
    int32_t many = flat->n;
    for (int32_t i = 0; i < many; i++) {
        const char *key = flat->items[i].key;
        const char *place = strncmp(key, from, n) == 0
                                ? arena_printf(t->arena, "%s%s", to, key + n)
                                : NULL;
        if (place && !value_get(flat, place))
            value_add(t->arena, flat, place, flat->items[i].line, flat->items[i].value);
    }
}

/* An object whose class a module next to the script defines has members and no class. */
static void name_class(struct launch_context *t, struct value *flat, const char *part)
{
    const char *class = arena_printf(t->arena, OF "%s@", part);
    size_t n = strlen(class) - 1;
    int32_t first = 0;
    while (first < flat->n && strncmp(flat->items[first].key, class, n) != 0)
        first++;
    if (first == flat->n || value_get(flat, class))
        return;
    int64_t line = flat->items[first].line;
    value_add(t->arena, flat, class, line,
              value_new_string(t->arena, "Config", line, 0));
}

/* All objects as one flat dictionary. */
static const struct value *flat_of(struct launch_context *t, const struct python *p)
{
    static const char *const loaders[] = { ".NumpyDataLoaderConfig",
                                           ".ComposableDataLoaderConfig" };
    static const char *const sets[] = { ".NumpyFSLDatasetConfig",
                                        ".NumpyPackedFSLDatasetConfig",
                                        ".NumpyFSLDatasetConfig.from_data_mix",
                                        ".NumpyDatasetConfig.from_data_mix",
                                        ".NumpyFSLDatasetConfig.glob" };
    static const char *const parts[] = { "dp_config.", "ac_config.", "tp_config.",
                                         "cp_config.", "float8_config." };
    struct value *flat = value_new(t->arena, VALUE_DICT, 1, 0);
    add(t, flat, "model", olmocore_model_call(p));
    add(t, flat, "train_module", train_module(p));
    add(t, flat, "trainer", olmocore_call(p, ".TrainerConfig"));
    for (size_t i = 0; i < 2; i++)
        add(t, flat, "data_loader", olmocore_call(p, loaders[i]));
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        add(t, flat, "dataset", olmocore_call(p, sets[i]));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        move(t, flat, arena_printf(t->arena, "model.%s", parts[i]),
             arena_printf(t->arena, OF "%s", parts[i]));
        name_class(t, flat, parts[i]);
    }
    move(t, flat, "trainer.max_grad_norm", OF "max_grad_norm");
    const struct value *common = olmocore_argument(p, "common", 1);
    for (int32_t i = 0; common && i < common->n; i++)
        if (common->items[i].value->kind != VALUE_DICT) /* the set has its own keys */
            value_add(t->arena, flat,
                      arena_printf(t->arena, "build.%s", common->items[i].key),
                      common->items[i].line, common->items[i].value);
    return flat;
}

void olmocore_read(struct launch_context *t, const struct dialect_input *in)
{
    const struct python_call *c = main_call(in->python);
    t->l->title = "a training script of OLMo-core";
    if (!c) {
        diags_add(
            &t->l->loader->diags, launch_diag(t->l, DIAG_UNKNOWN_FORMAT, 0, 0),
            "OLMo-core's objects without TransformerTrainModuleConfig(...): how is "
            "trained, another file says (give that one)");
        return;
    }
    t->l->line = c->line;
    const struct value *flat = flat_of(t, in->python);
    olmocore_take_model(t, in->python, flat);
    olmocore_take_fields(t, flat);
    launch_assume(t, "/training/task", json_string("causal-lm"), "OLMo-core's models");
    dialect_report(t, olmocore_tables, "", flat,
                   (struct dialect_place) { c->line, "", "", false });
}
