#include "dialect/deepspeed/deepspeed.h"

#include "base/names.h"
#include "config/pointer.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_shell.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Values --------------------------------------------------------------------------- */

void deepspeed_wrong(const struct deepspeed *c, const struct value_item *it,
                     const char *where, enum diag_code code, const char *what)
{
    struct launch *l = c->t->l;
    diags_add(&l->loader->diags,
              diag_at_line(DIAG_ERROR, code, l->file, it->value->line), "%s%s%s: %s",
              c->prefix, where, it->key, what);
}

void deepspeed_bad_value(const struct deepspeed *c, const struct value_item *it,
                         const char *where, const char *what)
{
    const struct value *v = it->value;
    const char *text = "it";
    struct arena *arena = c->t->arena;
    if (v->kind == VALUE_UNKNOWN) {
        deepspeed_wrong(
            c, it, where, DIAG_UNRESOLVED,
            arena_printf(arena, "%s, and nothing is run (write the value)", v->why));
        return;
    }
    if (v->kind == VALUE_STRING)
        text = arena_printf(arena, "\"%.40s\"", v->text);
    else if (v->kind == VALUE_INT)
        text = arena_printf(arena, "%" PRId64, v->integer);
    else if (v->kind == VALUE_REAL)
        text = arena_printf(arena, "%g", v->real);
    else if (v->kind == VALUE_BOOL)
        text = v->integer ? "true" : "false";
    deepspeed_wrong(c, it, where, DIAG_WRONG_TYPE,
                    arena_printf(arena, "%s is %s", text, what));
}

bool deepspeed_is_auto(const struct value_item *it)
{
    return it && it->value->kind == VALUE_STRING &&
           strcmp(it->value->text, "auto") == 0;
}

void deepspeed_set(const struct deepspeed *c, const char *pointer, json_t *value,
                   const char *key, const struct value_item *it)
{
    const struct value_item from = { arena_printf(c->t->arena, "%s%s", c->prefix, key),
                                     it->line, it->value };
    const json_t *set = pointer_get(c->t->tree, pointer);
    size_t n = strlen(key), m = it->key ? strlen(it->key) : 0;
    bool given = m && n >= m && strcmp(key + n - m, it->key) == 0; /* no default */
    if (!set)
        launch_set(c->t, pointer, json_incref(value), &from);
    else if (given && !json_equal(set, value))
        launch_note(c->t->l, it->value->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect, as %s is given", from.key, pointer);
    json_decref(value);
}

bool deepspeed_whole(const struct deepspeed *c, const struct value_item *it,
                     const char *where, int64_t least, int64_t *n)
{
    char what[80];
    if (!it || deepspeed_is_auto(it) || it->value->kind == VALUE_NONE)
        return false;
    if (launch_whole(it->value, n) && *n >= least)
        return true;
    snprintf(what, sizeof(what), "no whole number of at least %" PRId64, least);
    deepspeed_bad_value(c, it, where, what);
    return false;
}

void deepspeed_check_switch(const struct deepspeed *c, const struct value_item *it,
                            const char *where)
{
    static const char *const words[] = { "true",  "True", "1", "false",
                                         "False", "0",    NULL };
    const struct value *v = it->value;
    bool is_switch = v->kind == VALUE_BOOL || v->kind == VALUE_NONE ||
                     (v->kind == VALUE_INT && (v->integer == 0 || v->integer == 1)) ||
                     (v->kind == VALUE_STRING && names_listed(words, v->text));
    if (!is_switch)
        deepspeed_bad_value(c, it, where, "neither true nor false");
}

static void take_whole(const struct deepspeed *c, const struct value *dict,
                       const char *where, const char *name, int64_t least,
                       const char *pointer)
{
    const struct value_item *it = dict ? value_get(dict, name) : NULL;
    int64_t n;
    if (deepspeed_whole(c, it, where, least, &n))
        deepspeed_set(c, pointer, json_integer((json_int_t)n),
                      arena_printf(c->t->arena, "%s%s", where, name), it);
}

void deepspeed_auto(const struct deepspeed *c, const struct value_item *it,
                    struct launch_auto filled)
{
    if (!deepspeed_is_auto(it))
        return;
    filled.key =
        arena_printf(c->t->arena, "%s%s", c->prefix, filled.key ? filled.key : it->key);
    filled.line = it->value->line;
    VEC_PUSH(&c->t->l->autos, filled);
}

/* Batches and precision ------------------------------------------------------------ */

static const char steps_at[] = "/training/gradient_accumulation_steps";

/* How many microbatches a step takes of the sizes that are configured: one of a single
 * size (deepspeed/runtime/config.py, _set_batch_related_parameters). */
static void take_configured_steps(const struct deepspeed *c,
                                  const struct value_item *all, int64_t n_all,
                                  const struct value_item *micro, int64_t n_micro)
{
    int64_t ranks = launch_number(c->t, "/cluster/count", 0) *
                    launch_number(c->t, "/cluster/gpus_per_instance", 0);
    bool both = n_all && n_micro, whole = ranks && both && !(n_all % (n_micro * ranks));
    int64_t steps = whole ? n_all / (n_micro * ranks) : 1;
    if (launch_has(c->t, steps_at) || !(n_all || n_micro))
        return;
    if (!both || whole) {
        launch_assume(c->t, steps_at, json_integer((json_int_t)steps),
                      both ? "train_batch_size by GPUs"
                           : arena_printf(c->t->arena, "%s alone gives no more",
                                          n_all ? all->key : micro->key));
        return;
    }
    launch_add_unresolved(c->t, steps_at, all->line,
                          "%strain_batch_size: it is divided by %s and the GPUs",
                          c->prefix, micro->key);
    launch_add_example(c->t, steps_at, "1");
}

/* The engine runs the batches that it is handed, whatever its configuration says; false:
 * that says the same. */
static bool take_loaded(const struct deepspeed *c, const char *micro)
{
    static const char at[] = "/training/micro_batch_size";
    const struct value_item *in = c->t->loaded, *it = value_get(c->root, micro),
                            *all = value_get(c->root, "train_batch_size");
    bool open = in && in->value->kind == VALUE_UNKNOWN;
    int64_t n = 0, n_all = 0;
    if (!in || launch_has(c->t, at) ||
        (!open && it && launch_whole(it->value, &n) && n == in->value->integer))
        return false;
    n = deepspeed_whole(c, it, "", 1, &n) ? n : 0;
    n_all = deepspeed_whole(c, all, "", 1, &n_all) ? n_all : 0;
    if (open)
        launch_add_unknown(c->t, at, in->key, in->value);
    else
        launch_set(c->t, at, json_integer((json_int_t)in->value->integer), in);
    launch_hear(c->t, in);
    take_whole(c, c->root, "", "gradient_accumulation_steps", 1, steps_at);
    take_configured_steps(c, all, n_all, it, n);
    if ((n || n_all) && !open)
        launch_note(c->t->l, in->line, DIAG_ASSUMED,
                    "%s%s is passed over: the program's own loader gives %lld, which "
                    "the engine runs as they come",
                    c->prefix, n ? micro : "train_batch_size",
                    (long long)in->value->integer);
    return true;
}

static void take_batches(const struct deepspeed *c)
{
    static const char micro[] = "train_micro_batch_size_per_gpu",
                      steps[] = "gradient_accumulation_steps";
    if (take_loaded(c, micro))
        return;
    take_whole(c, c->root, "", "train_batch_size", 1, "/training/global_batch_size");
    take_whole(c, c->root, "", micro, 1, "/training/micro_batch_size");
    take_whole(c, c->root, "", steps, 1, steps_at);
    deepspeed_auto(c, value_get(c->root, micro),
                   (struct launch_auto) { .pointer = "/training/micro_batch_size",
                                          .argument = "per_device_train_batch_size" });
}

static const struct value_item *enabled_of(const struct deepspeed *c, const char *name)
{
    const struct value_item *it = value_get(c->root, name);
    const struct value_item *on = it ? value_get(it->value, "enabled") : NULL;
    if (on && !deepspeed_is_auto(on))
        deepspeed_check_switch(c, on, arena_printf(c->t->arena, "%s.", name));
    return on;
}

/* Autocast's type: bfloat16 unless it is float16 (deepspeed/runtime/config.py). */
static const char *autocast_precision(const struct deepspeed *c)
{
    static const struct name_value types[] = {
        { "bfloat16", 0 }, { "torch.bfloat16", 0 }, { "bf16", 0 },
        { "float16", 1 },  { "torch.float16", 1 },  { "fp16", 1 },
        { NULL, 0 },
    };
    const struct value_item *it = value_get(c->root, "torch_autocast"),
                            *dtype = it ? value_get(it->value, "dtype") : NULL;
    const char *word =
        dtype && dtype->value->kind == VALUE_STRING ? dtype->value->text : "bfloat16";
    int half = 0;
    if (names_find(types, word, &half))
        deepspeed_bad_value(c, dtype, "torch_autocast.",
                            "no type of autocast (write \"bfloat16\" or \"float16\")");
    return half ? "amp_fp16" : "amp_bf16";
}

/* The model is converted to 16 bits; apex and autocast convert operators. */
static void take_precision(struct deepspeed *c)
{
    const struct {
        const char *key, *precision;
        int width_B;
        bool wraps; /* the model's calls, whatever its weights are */
    } modes[] = { { "fp16", "fp16", 2, false },
                  { "bf16", "bf16", 2, false },
                  { "bfloat16", "bf16", 2, false },
                  { "amp", "amp_fp16", 4, false },
                  { "torch_autocast", autocast_precision(c), 4, true } };
    const char *first = NULL;
    c->width_B = 4;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        const struct value_item *on = enabled_of(c, modes[i].key);
        if (deepspeed_is_auto(on)) {
            c->width_B = first ? c->width_B : 2;
            deepspeed_auto(
                c, on,
                (struct launch_auto) {
                    .pointer = "/training/precision",
                    .key = arena_printf(c->t->arena, "%s.enabled", modes[i].key),
                    .argument = *modes[i].key == 'b' ? "bf16" : "fp16" });
        } else if (on && launch_true(on->value) && first && modes[i].wraps) {
            launch_note(c->t->l, on->line, DIAG_WITHOUT_EFFECT,
                        "%s%s: without effect: the weights are of 16 bits, by %s",
                        c->prefix, modes[i].key, first);
        } else if (on && launch_true(on->value) && first) {
            deepspeed_wrong(c, value_get(c->root, modes[i].key), "", DIAG_CONTRADICTION,
                            "two precisions are enabled (keep one)");
        } else if (on && launch_true(on->value)) {
            first = modes[i].key;
            c->width_B = modes[i].width_B;
            deepspeed_set(c, "/training/precision", json_string(modes[i].precision),
                          arena_printf(c->t->arena, "%s.enabled", first), on);
        }
    }
}

static void take_wire(struct deepspeed *c)
{
    static const struct name_value types[] = {
        { "fp16", 2 }, { "bf16", 2 }, { "fp32", 4 }, { NULL, 0 }
    };
    const struct value_item *it = value_get(c->root, "communication_data_type");
    if (!it || it->value->kind == VALUE_NONE || deepspeed_is_auto(it))
        return;
    const char *word = it->value->kind == VALUE_STRING ? it->value->text : "";
    word = strcmp(word, "bfp16") == 0 ? "bf16" : word;
    if (names_find(types, word, &c->width_B))
        deepspeed_bad_value(c, it, "",
                            "no type of gradients (write \"fp16\", \"bf16\" or "
                            "\"fp32\")");
    else
        deepspeed_set(c, "/training/gradient_dtype", json_string(word), it->key, it);
}

/* Optimizer, clipping, checkpoints ------------------------------------------------- */

static void take_optimizer(const struct deepspeed *c)
{
    const struct value_item *o = value_get(c->root, "optimizer");
    const struct value_item *type = o ? value_get(o->value, "type") : NULL;
    if (!type)
        return;
    const char *word = type->value->kind == VALUE_STRING ? type->value->text : "";
    for (const struct dialect_word *w = deepspeed_optimizers; w->word; w++) {
        if (strcasecmp(word, w->word) != 0)
            continue;
        deepspeed_set(c, "/training/optimizer", json_string(w->value), "optimizer.type",
                      type);
        return;
    }
    launch_add_unresolved(c->t, "/training/optimizer", type->value->line,
                          "%soptimizer.type: \"%.40s\" is not simulated", c->prefix,
                          word);
}

static void take_clipping(const struct deepspeed *c)
{
    const struct value_item *it = value_get(c->root, "gradient_clipping");
    if (!it || it->value->kind == VALUE_NONE)
        return;
    const struct value *v = it->value;
    double norm = v->kind == VALUE_REAL  ? v->real
                  : v->kind == VALUE_INT ? (double)v->integer
                                         : -1;
    if (deepspeed_is_auto(it))
        deepspeed_auto(c, it,
                       (struct launch_auto) { .pointer = "/training/gradient_clipping",
                                              .argument = "max_grad_norm" });
    else if (norm < 0)
        deepspeed_bad_value(c, it, "", "no norm of at least 0 (0 is none)");
    else if (norm > 0)
        deepspeed_set(c, "/training/gradient_clipping", json_real(norm), it->key, it);
}

/* The section says how checkpoints are kept; that there are some only where it moves
 * them, and never of transformers' models, which recompute by PyTorch's own function
 * (transformers/modeling_utils.py, gradient_checkpointing_enable). */
static void take_checkpointing(const struct deepspeed *c)
{
    const struct value_item *it = value_get(c->root, "activation_checkpointing");
    if (!it || it->value->kind != VALUE_DICT)
        return;
    const struct value_item *cpu = value_get(it->value, "cpu_checkpointing"),
                            *parts = value_get(it->value, "partition_activations");
    bool moves = cpu && launch_true(cpu->value),
         cuts = parts && launch_true(parts->value);
    if (c->of_trainer) {
        launch_hear(c->t, cpu);
        launch_hear(c->t, parts);
        launch_note(c->t->l, it->value->line, DIAG_LEFT_OUT,
                    "%sactivation_checkpointing%s%s: without effect on transformers' "
                    "models, which have gradient_checkpointing",
                    c->prefix, parts ? ", its partition_activations" : "",
                    cpu ? ", its cpu_checkpointing" : "");
        return;
    }
    if (moves || cuts)
        deepspeed_set(c, "/training/activation_checkpointing", json_string("full"),
                      it->key, it);
    else
        launch_note(c->t->l, it->value->line, DIAG_LEFT_OUT,
                    "%sactivation_checkpointing: says how, not whether (give --set "
                    "/training/activation_checkpointing=full where the model does)",
                    c->prefix);
    if (moves)
        deepspeed_set(c, "/parallelism/offload_activations", json_true(),
                      "activation_checkpointing.cpu_checkpointing", cpu);
    if (cuts)
        launch_note(
            c->t->l, parts->value->line, DIAG_ASSUMED,
            "%spartition_activations: checkpoints are taken to be whole on every "
            "rank of a tensor group",
            c->prefix);
}

/* All of it ------------------------------------------------------------------------ */

static void take_degrees(const struct deepspeed *c)
{
    const struct value_item *pipe = value_get(c->root, "pipeline"),
                            *split = value_get(c->root, "tensor_parallel");
    take_whole(c, pipe ? pipe->value : NULL, "pipeline.", "stages", 1,
               "/parallelism/pipeline");
    const struct value_item *size =
        split ? value_get(split->value, "autotp_size") : NULL;
    int64_t n;
    if (deepspeed_whole(c, size, "tensor_parallel.", 0, &n) && n > 0)
        deepspeed_set(c, "/parallelism/tensor", json_integer((json_int_t)n),
                      "tensor_parallel.autotp_size", size);
}

/* A mesh of two sides, whose sequences are dealt out by all-to-all (DeepSpeed 0.16,
 * deepspeed/__init__.py, sequence/layer.py). */
static void take_sequence_parallel(const struct deepspeed *c)
{
    const struct value_item *size = value_get(c->root, "sequence_parallel_size");
    int64_t n;
    if (!deepspeed_whole(c, size, "", 1, &n) || n < 2)
        return;
    deepspeed_set(c, "/parallelism/context", json_integer((json_int_t)n), size->key,
                  size);
    deepspeed_set(c, "/parallelism/context_comm", json_string("alltoall"), size->key,
                  size);
}

/* A model of some layers of its teacher's (DeepSpeed 0.16, compression/compress.py:
 * init_compression reduces the layers before the first step). */
static void take_layer_reduction(const struct deepspeed *c)
{
    const struct value_item *all = value_get(c->root, "compression_training"),
                            *section =
                                all ? value_get(all->value, "layer_reduction") : NULL,
                            *on = section ? value_get(section->value, "enabled") : NULL,
                            *kept = on ? value_get(section->value, "keep_number_layer")
                                       : NULL;
    int64_t n = 0;
    if (!on || !launch_true(on->value))
        return;
    const char *number = kept && launch_whole(kept->value, &n)
                             ? arena_printf(c->t->arena, "%lld", (long long)n)
                             : "some";
    launch_add_unresolved(c->t, "/model", on->value->line,
                          "%scompression_training.layer_reduction keeps %s of its "
                          "layers (a config.json with num_hidden_layers says so)",
                          c->prefix, number);
}

/* Sections that are written as something else would be passed over. */
/* Sections of adapters are the program's own that reads the file, too: DeepSpeed has
 * none. */
static void ask_adapters(const struct deepspeed *c)
{
    static const char lora[] = "/training/lora";
    for (int32_t i = 0; i < c->root->n; i++) {
        const struct value_item *it = &c->root->items[i];
        bool own = it->key && (strncmp(it->key, "lora", 4) == 0 ||
                               strncmp(it->key, "peft", 4) == 0);
        if (!own || launch_is_off(it->value) || launch_has(c->t, lora) ||
            launch_is_unresolved(c->t, lora))
            continue;
        launch_hear(c->t, it);
        launch_add_unresolved(c->t, lora, it->line,
                              "%s%.60s: adapters that the program makes of it are not "
                              "read; without them it is null",
                              c->prefix, it->key);
    }
}

static void check_sections(const struct deepspeed *c)
{
    static const char *const sections[] = {
        "fp16",
        "bf16",
        "bfloat16",
        "amp",
        "optimizer",
        "torch_autocast",
        "pipeline",
        "tensor_parallel",
        "activation_checkpointing",
        NULL,
    };
    for (const char *const *name = sections; *name; name++) {
        const struct value_item *it = value_get(c->root, *name);
        if (it && it->value->kind != VALUE_DICT && it->value->kind != VALUE_NONE)
            deepspeed_bad_value(c, it, "", "no object (write it in braces)");
    }
}

static void take_all(struct launch_context *t, const struct value *config,
                     const char *prefix, bool of_trainer)
{
    struct deepspeed c = {
        .t = t, .root = config, .prefix = prefix, .of_trainer = of_trainer
    };
    const struct value_item *zero = value_get(config, "zero_optimization");
    if (config->kind != VALUE_DICT || config->n == 0)
        return;
    c.zero = zero && zero->value->kind == VALUE_DICT ? zero->value : NULL;
    c.where = c.zero ? value_get(c.zero, "stage") : NULL;
    c.where = c.where ? c.where : zero ? zero : &config->items[0];
    c.stage = deepspeed_stage(&c);
    t->converts = true;
    deepspeed_check_keys(&c);
    check_sections(&c);
    take_degrees(&c);
    take_sequence_parallel(&c);
    take_layer_reduction(&c);
    ask_adapters(&c);
    take_batches(&c);
    take_precision(&c);
    take_wire(&c);
    take_optimizer(&c);
    take_clipping(&c);
    take_checkpointing(&c);
    deepspeed_take_zero(&c);
}

void deepspeed_take(struct launch_context *t, const struct value *config,
                    const char *prefix)
{
    take_all(t, config, prefix, false);
}

void deepspeed_take_for_trainer(struct launch_context *t, const struct value *config,
                                const char *prefix)
{
    take_all(t, config, prefix, true);
}
