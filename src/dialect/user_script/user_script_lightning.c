/* Lightning's Trainer(...) and Fabric(...): devices and nodes, which it starts by itself,
 * strategy and precision (lightning 2.5: pytorch/trainer/trainer.py,
 * fabric/strategies, fabric/plugins/precision). */
#include "base/names.h"
#include "dialect/deepspeed/deepspeed.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/user_script/user_script.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char count_at[] = "/cluster/count",
                  gpus_at[] = "/cluster/gpus_per_instance",
                  library_at[] = "/parallelism/library";

/* Precision ------------------------------------------------------------------------ */

/* Words of the Trainer's rows: autocast, or all in 16 bits. */
static const struct precision {
    const char *word, *key; /* NULL: fp32 */
    bool mixed;
} precisions[] = {
    { "16-mixed", "fp16", true },   { "16", "fp16", true },
    { "fp16", "fp16", true },       { "bf16-mixed", "bf16", true },
    { "bf16", "bf16", true },       { "16-true", "fp16", false },
    { "bf16-true", "bf16", false }, { "32-true", NULL, false },
    { "32", NULL, false },
};

static const struct precision *precision_of(const struct python_call *c)
{
    const struct value *v = user_script_given(c, "precision", "");
    const char *word = !v                                         ? "32-true"
                       : v->kind == VALUE_STRING                  ? v->text
                       : v->kind == VALUE_INT && v->integer == 16 ? "16"
                       : v->kind == VALUE_INT && v->integer == 32 ? "32"
                       : v->kind == VALUE_NONE                    ? "32"
                                                                  : "";
    for (size_t i = 0; i < sizeof(precisions) / sizeof(precisions[0]); i++)
        if (strcmp(precisions[i].word, word) == 0)
            return &precisions[i];
    return NULL;
}

/* A configuration of DeepSpeed's own may leave it to them. */
static void put_precision(struct user_script *g, struct arena *arena,
                          const struct python_call *c)
{
    const struct precision *p = precision_of(c);
    if (p && p->key && p->mixed)
        user_script_put(g, arena, p->key, c->line, value_new_bool(arena, true, c->line),
                        true);
    else if (p && p->key)
        user_script_put(
            g, arena, "torch_dtype", c->line,
            value_new_string(arena,
                             p->key[0] == 'b' ? "torch.bfloat16" : "torch.float16",
                             c->line, 0),
            false);
}

/* Strategies ----------------------------------------------------------------------- */

/* A strategy by its registered name, "*" any ending, or its class. */
static const struct strategy {
    const char *name;
    enum { AUTO, DDP, FSDP, DEEPSPEED, NOT_READ } kind;
    int stage;
    const char *offloads; /* to the host: "optimizer", "all"; NULL: nothing */
} strategies[] = {
    { "auto", AUTO, 0, NULL },
    { "fsdp", FSDP, 0, NULL },
    { "fsdp_native", FSDP, 0, NULL },
    { "fsdp_cpu_offload", FSDP, 0, "all" },
    { "fsdp_native_full_shard_offload", FSDP, 0, "all" },
    { "FSDPStrategy", FSDP, 0, NULL },
    { "DDPFullyShardedNativeStrategy", FSDP, 0, NULL },
    { "deepspeed", DEEPSPEED, 2, NULL },
    { "deepspeed_stage_1", DEEPSPEED, 1, NULL },
    { "deepspeed_stage_2", DEEPSPEED, 2, NULL },
    { "deepspeed_stage_2_offload", DEEPSPEED, 2, "optimizer" },
    { "deepspeed_stage_3", DEEPSPEED, 3, NULL },
    { "deepspeed_stage_3_offload", DEEPSPEED, 3, "all" },
    { "DeepSpeedStrategy", DEEPSPEED, 2, NULL },
    { "DeepSpeedPlugin", DEEPSPEED, 2, NULL },
    { "ddp_sharded*", NOT_READ, 0, NULL }, /* fairscale's */
    { "ddp*", DDP, 0, NULL },
    { "DDPStrategy", DDP, 0, NULL },
    { "DDPSpawnStrategy", DDP, 0, NULL },
    { "DDPPlugin", DDP, 0, NULL },
};

/* What says the strategy: before 1.5 "accelerator", "distributed_backend" or "plugins",
 * which may be of something else; NULL: nothing. */
static const struct value *strategy_given(const struct python_call *c)
{
    static const char *const devices[] = { "gpu", "cuda", "auto", "cpu", "tpu",
                                           "mps", "hpu",  "ipu",  NULL };
    static const char *const older[] = { "plugins", "accelerator",
                                         "distributed_backend" };
    const struct value *v = user_script_given(c, "strategy", "");
    for (size_t i = 0; !v && i < sizeof(older) / sizeof(older[0]); i++) {
        const struct value *old = user_script_given(c, older[i], "");
        bool says = old && (old->kind == VALUE_STRING || old->kind == VALUE_DICT);
        if (says && old->text && !names_listed(devices, old->text))
            v = old;
    }
    return v;
}

/* NULL: what is given is no strategy of the table. */
static const struct strategy *strategy_of(const struct python_call *c)
{
    const struct value *v = strategy_given(c);
    const char *word = !v || v->kind == VALUE_NONE ? "auto"
                       : (v->kind == VALUE_STRING || v->kind == VALUE_DICT) && v->text
                           ? v->text
                           : "";
    for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++)
        if (fnmatch(strategies[i].name, word, 0) == 0)
            return &strategies[i];
    return NULL;
}

/* The arguments of the strategy's own class; none of a name. */
static const struct value *own_of(struct arena *arena, const struct python_call *c)
{
    const struct value *v = strategy_given(c);
    return v && v->kind == VALUE_DICT ? v : value_new(arena, VALUE_DICT, c->line, 0);
}

static void put_number(struct arena *arena, struct value *to, const char *key,
                       int64_t line, int64_t n)
{
    struct value *v = value_new(arena, VALUE_INT, line, 0);
    v->integer = n;
    value_add(arena, to, key, line, v);
}

static void put_offload(struct arena *arena, struct value *to, const char *key,
                        int64_t line)
{
    struct value *device = value_new(arena, VALUE_DICT, line, 0);
    value_add(arena, device, "device", line, value_new_string(arena, "cpu", line, 0));
    value_add(arena, to, key, line, device);
}

/* What Lightning makes of DeepSpeedStrategy's arguments (strategies/deepspeed.py,
 * _create_default_config: buckets of 2e8, overlap on). */
static struct value *deepspeed_of(struct arena *arena, const struct python_call *c,
                                  const struct strategy *s)
{
    static const char *const buckets[] = { "allgather_bucket_size",
                                           "reduce_bucket_size" };
    const struct value *own = own_of(arena, c);
    const struct value_item *stage = value_get(own, "stage");
    const struct precision *p = precision_of(c);
    bool all = s->offloads && strcmp(s->offloads, "all") == 0;
    struct value *root = value_new(arena, VALUE_DICT, c->line, 0),
                 *zero = value_new(arena, VALUE_DICT, c->line, 0);
    if (stage)
        value_add(arena, zero, "stage", stage->line, stage->value);
    else
        put_number(arena, zero, "stage", c->line, s->stage);
    for (int i = 0; i < 2; i++) {
        const struct value_item *it = value_get(own, buckets[i]);
        if (it)
            value_add(arena, zero, buckets[i], it->line, it->value);
        else
            put_number(arena, zero, buckets[i], c->line, 200000000);
    }
    value_add(arena, zero, "overlap_comm", c->line,
              value_new_bool(arena, true, c->line));
    if (s->offloads || launch_is_on(own, "offload_optimizer"))
        put_offload(arena, zero, "offload_optimizer", c->line);
    if (all || launch_is_on(own, "offload_parameters"))
        put_offload(arena, zero, "offload_param", c->line);
    value_add(arena, root, "zero_optimization", c->line, zero);
    if (p && p->key) {
        struct value *half = value_new(arena, VALUE_DICT, c->line, 0);
        value_add(arena, half, "enabled", c->line,
                  value_new_bool(arena, true, c->line));
        value_add(arena, root, p->key, c->line, half);
    }
    return root;
}

void user_script_give_lightning(struct launch_context *t, const struct python *p)
{
    bool any = false;
    for (int64_t i = 0; t->fabric && i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        if (user_script_part_of(c) != SCRIPT_LIGHTNING)
            continue;
        any = true;
        for (int32_t k = 0; k < t->fabric->n; k++) {
            const struct value_item *it = &t->fabric->items[k];
            if (!value_get(c->arguments, it->key))
                value_add(t->arena, c->arguments, it->key, it->line, it->value);
        }
    }
    t->fabric = any ? NULL : t->fabric;
}

void user_script_put_lightning(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING];
    const struct strategy *s = c ? strategy_of(c) : NULL;
    const struct value_item *config = s ? value_get(own_of(arena, c), "config") : NULL;
    if (!c)
        return;
    bool deepspeed = s && s->kind == DEEPSPEED,
         given = config && config->value->kind != VALUE_NONE;
    if (deepspeed)
        user_script_put(g, arena, "deepspeed", c->line,
                        given ? config->value : deepspeed_of(arena, c, s), false);
    if (!deepspeed || given)
        put_precision(g, arena, c);
}

/* Whether an argument is there, and not None. */
static bool is_given(const struct value *arguments, const char *name)
{
    const struct value *v = value_member(arguments, name);
    return v && v->kind != VALUE_NONE;
}

/* FSDP's units are what a policy makes; without one the model is a unit. Autocast has
 * weights in fp32 and sums in 16 bits (plugins/precision/fsdp.py). */
static void take_fsdp(struct launch_context *t, const struct user_script *g,
                      const struct strategy *s, int64_t line)
{
    static const char gradients_at[] = "/training/gradient_dtype",
                      keep_at[] = "/training/activation_checkpointing";
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING];
    const struct precision *p = precision_of(c);
    struct value *own = value_new(t->arena, VALUE_DICT, line, 0), at = { .line = line };
    const struct value *given = own_of(t->arena, c);
    for (int32_t i = 0; i < given->n; i++)
        value_add(t->arena, own, given->items[i].key, line, given->items[i].value);
    if (s->offloads)
        value_add(t->arena, own, "cpu_offload", line,
                  value_new_bool(t->arena, true, line));
    user_script_take_sharded(t, g, own, "strategy", line);
    const struct value_item strategy = { "strategy", line, &at };
    if (is_given(own, "activation_checkpointing_policy") ||
        is_given(own, "activation_checkpointing"))
        launch_set(t, keep_at, json_string("full"), &strategy);
    if (!is_given(own, "auto_wrap_policy") && !g->parts[SCRIPT_SHARDED])
        launch_set(t, "/parallelism/sharding/unit", json_string("model"), &strategy);
    const struct value_item precision = { "precision", line, &at };
    t->converts = false;
    if (p && p->mixed && !launch_has(t, gradients_at))
        launch_set(t, gradients_at, json_string(p->key), &precision);
}

static void take_strategy(struct launch_context *t, const struct user_script *g,
                          int64_t line)
{
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING];
    const struct strategy *s = strategy_of(c);
    const struct value *given = strategy_given(c);
    /* a module that makes DeepSpeed's engine itself leaves nothing to a strategy */
    bool engine = g->parts[SCRIPT_ENGINE] || launch_has(t, library_at);
    if (s && s->kind == AUTO && engine)
        return;
    if (s && s->kind == FSDP)
        take_fsdp(t, g, s, line);
    else if (s && s->kind == DDP)
        user_script_take_replicated(t, own_of(t->arena, c), "strategy", line);
    else if (s && s->kind == AUTO && !c->arguments->gap)
        user_script_take_replicated(t, own_of(t->arena, c), "strategy's default", line);
    else if (!s || s->kind == NOT_READ || (c->arguments->gap && !given))
        launch_add_unresolved(
            t, library_at, line, "%.60s(...): its strategy%s%.60s is not read",
            python_last_part(c->function), given && given->text ? " " : "",
            given && given->text ? given->text : "");
}

static void ask_precision(struct launch_context *t, const struct python_call *c,
                          int64_t line)
{
    if (!precision_of(c) ||
        (c->arguments->gap && !user_script_given(c, "precision", "")))
        launch_add_unresolved(
            t, "/training/precision", line,
            "%.60s(...): its precision is not known without running it",
            python_last_part(c->function));
}

void user_script_take_lightning(struct launch_context *t, const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING];
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    if (!c)
        return;
    if (!g->parts[SCRIPT_BACKWARD])
        launch_note(t->l, line, DIAG_ASSUMED,
                    "the module is the script's own: its training_step is taken to run "
                    "the model once on each batch");
    take_strategy(t, g, line);
    ask_precision(t, c, line);
}

/* DeepSpeed converts the model by itself; other strategies leave it to autocast. */
static void take_precision(struct launch_context *t, const struct python_call *c,
                           const struct value_item *from, bool deepspeed)
{
    const struct precision *p = precision_of(c);
    ask_precision(t, c, c->line);
    if (p)
        launch_set(t, "/training/precision",
                   json_sprintf("%s%s", p->mixed && !deepspeed ? "amp_" : "",
                                p->key ? p->key : "fp32"),
                   from);
}

void user_script_take_fabric(struct launch_context *t)
{
    if (!t->fabric)
        return;
    const struct python nothing = { .calls = { .n = 0 } };
    const struct python_call c = { .function = "fabric run",
                                   .arguments = (struct value *)(uintptr_t)t->fabric,
                                   .line = t->fabric->line };
    const struct user_script g = { .python = &nothing,
                                   .parts = { [SCRIPT_LIGHTNING] = &c } };
    const struct strategy *s = strategy_given(&c) ? strategy_of(&c) : NULL;
    const struct value_item *precision = value_get(t->fabric, "precision");
    bool deepspeed = s && s->kind == DEEPSPEED;
    if (deepspeed)
        deepspeed_take(t, deepspeed_of(t->arena, &c, s), "--strategy: ");
    else if (strategy_given(&c))
        take_strategy(t, &g, c.line);
    if (precision && !(deepspeed && launch_has(t, "/training/precision")))
        take_precision(t, &c, precision, deepspeed);
}

/* Devices and nodes ---------------------------------------------------------------- */

/* How many devices: 8, "8", [0, 1], "0,1"; 0: all; -1: it is not known. */
static int64_t devices_of(const struct value *v)
{
    int64_t n = 1;
    if (!v || v->kind == VALUE_NONE ||
        (v->kind == VALUE_STRING && !strcmp(v->text, "auto")))
        return 0;
    if (v->kind == VALUE_LIST)
        return v->n > 0 ? v->n : -1;
    if (v->kind == VALUE_STRING && strchr(v->text, ',')) {
        for (const char *s = v->text; *s; s++)
            n += *s == ',' && s[1];
        return n;
    }
    if (!launch_whole(v, &n))
        return -1;
    return n == -1 ? 0 : n > 0 ? n : -1;
}

static void set_number(struct launch_context *t, const char *pointer, const char *name,
                       int64_t line, int64_t n)
{
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item from = { name, line, &v };
    launch_forget(t, pointer);
    launch_set(t, pointer, json_integer((json_int_t)n), &from);
}

static void take_devices(struct launch_context *t, const struct python_call *c,
                         int64_t line)
{
    const struct value *v = user_script_given(c, "devices", ""),
                       *old = user_script_given(c, "gpus", "");
    const char *name = v || !old ? "devices" : "gpus";
    int64_t n = devices_of(v || !old ? v : old);
    if (n == 0 && t->command)
        n = launch_slurm_gpus(&t->command->directives);
    if (n > 0 && n <= 1 << 20)
        set_number(t, gpus_at, name, line, n);
    else if (n < 0 || (c->arguments->gap && !v && !old))
        launch_add_unresolved(t, gpus_at, line,
                              "%.60s(...): how many %s it takes is not known",
                              python_last_part(c->function), name);
    else if (t->l->gpus > 0 &&
             !(t->command && launch_variable(t->command, "CUDA_VISIBLE_DEVICES")))
        set_number(t, gpus_at, name, line, t->l->gpus);
    else { /* those that are visible, which are read later */
        launch_forget(t, gpus_at);
        json_object_del(json_object_get(t->tree, "cluster"), "gpus_per_instance");
    }
}

static void take_nodes(struct launch_context *t, const struct python_call *c,
                       int64_t line)
{
    const struct value *v = user_script_given(c, "num_nodes", "");
    int64_t n = 1;
    bool known = v ? launch_whole(v, &n) && n > 0 && n <= 1 << 20 : !c->arguments->gap;
    if (known)
        set_number(t, count_at, v ? "num_nodes" : "num_nodes' default", line, n);
    else
        launch_add_unresolved(t, count_at, line,
                              "%.60s(...): its num_nodes is not known",
                              python_last_part(c->function));
}

bool user_script_take_lightning_devices(struct launch_context *t,
                                        const struct user_script *g)
{
    const struct python_call *c = g->parts[SCRIPT_LIGHTNING];
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    const struct value *v = user_script_given(c, "accelerator", "");
    static const char *const others[] = { "cpu", "tpu", "mps", "hpu", "ipu", NULL };
    if (!c)
        return false;
    if (v && v->kind == VALUE_STRING && names_listed(others, v->text)) {
        launch_refuse_entry(t->l, python_last_part(c->function),
                            "trains on no GPU of CUDA's (its accelerator)", line);
        return true;
    }
    /* torchrun and srun start its processes in its place, and a job has its instances */
    if ((t->command && !launch_is_alone(t->command)) || launch_has(t, "/distribution"))
        return true;
    take_devices(t, c, line);
    if (!t->call->function[0])
        take_nodes(t, c, line);
    return true;
}
