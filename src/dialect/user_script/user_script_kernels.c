/* Calls that change what kernels run, apart from those that make the training: formats of
 * products and parameters, what computes attention, losses in chunks, and what slows or
 * fills the GPU.
 *
 * torch/backends/cuda, torch/nn/attention, torch/autograd (PyTorch 2.8),
 * liger_kernel/transformers/monkey_patch.py (0.6), transformers/modeling_utils.py (4.48,
 * to_bettertransformer), transformer_engine/pytorch/fp8.py (2.x), torchao/float8. */
#include "base/names.h"
#include "config/pointer.h"
#include "dialect/user_script/user_script.h"

#include <fnmatch.h>
#include <string.h>

/* The last call of a name that the text makes; NULL: it makes none. */
static const struct python_call *last_call(const struct user_script *g,
                                           const char *function)
{
    for (int64_t i = g->python->calls.n; i-- > 0;) {
        const struct python_call *c = &g->python->calls.v[i];
        if (!c->quoted && fnmatch(function, c->function, 0) == 0)
            return c;
    }
    return NULL;
}

/* Formats -------------------------------------------------------------------------- */

/* F.linear(x, self.weight.to(x.dtype)) of a class of the text's own: its weights are of 32
 * bits and its products of the type of x, as under autocast. Where; NULL: nowhere. */
static const struct python_module *cast_product(const struct user_script *g)
{
    static const char *const casts[] = { ".weight.to(", ".weight.type_as(", NULL };
    for (int64_t i = 0; i < g->python->modules.n; i++) {
        const struct python_module *m = &g->python->modules.v[i];
        const struct value *w = value_member(m->arguments, "weight");
        w = w ? w : value_member(m->arguments, "1");
        if (strcmp(m->function, "linear") == 0 || names_ends(m->function, ".linear"))
            if (w && w->kind == VALUE_UNKNOWN && w->why && names_within(casts, w->why))
                return m;
    }
    return NULL;
}

/* The type of 16 bits that the text names for what such products are given; NULL. */
static const char *half_named(const struct user_script *g)
{
    for (int64_t i = 0; i < g->python->names.n; i++) {
        const struct value *v = g->python->names.v[i].value;
        const char *last =
            v && v->kind == VALUE_STRING ? python_last_part(v->text) : "";
        if (strcmp(last, "bfloat16") == 0)
            return "bf16";
        if (strcmp(last, "float16") == 0)
            return "fp16";
    }
    return g->python->text && strstr(g->python->text, "bfloat16") ? "bf16" : NULL;
}

/* A loop whose layers cast their own weights: no autocast says what they compute in. */
void user_script_take_casts(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/precision";
    const struct python_module *m = cast_product(g);
    const char *half = half_named(g);
    struct value v = { .kind = VALUE_STRING,
                       .line = m ? g->line ? g->line : m->line : 0 };
    const struct value_item from = { "weight.to(x.dtype)", v.line, &v };
    bool said = value_get(g->words, "torch_dtype") || value_get(g->words, "dtype") ||
                value_get(g->words, "bf16") || value_get(g->words, "fp16");
    if (!m || said || g->parts[SCRIPT_TRAINER] || g->parts[SCRIPT_ARGUMENTS] ||
        launch_has(t, at) || launch_is_unresolved(t, at))
        return;
    if (!half && t->l->arch > 0 && t->l->arch < 80) {
        launch_add_unresolved(
            t, at, v.line,
            "%.60s(x, weight.to(...)): products are of the type of x, "
            "which is not known: amp_fp16 or fp32",
            m->function);
        launch_add_example(t, at, "amp_fp16");
        return;
    }
    launch_set(t, at, json_sprintf("amp_%s", half ? half : "bf16"), &from);
    if (!half)
        launch_note(t->l, v.line, DIAG_ASSUMED,
                    "%.60s(x, weight.to(...)): products are of the type of x, which is "
                    "taken to be bf16",
                    m->function);
}

/* Products of fp32 that PyTorch may round; on CUDA "medium" is "high"
 * (aten/src/ATen/Context.cpp, setFloat32MatmulPrecision). */
static void put_products(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = g->parts[SCRIPT_PRODUCTS];
    const struct value *word = user_script_given(c, "precision", "0"),
                       *on = python_name(g->python,
                                         "torch.backends.cuda.matmul.allow_tf32");
    if (word && word->kind == VALUE_STRING &&
        (strcmp(word->text, "high") == 0 || strcmp(word->text, "medium") == 0))
        user_script_put_true(g, arena, "tf32", c->line, true);
    if (on && launch_true(on))
        user_script_put_true(g, arena, "tf32", on->line, true);
}

/* transformer_model.half(): what the object is called, where nothing says what made it. */
static bool is_called_model(const char *function)
{
    static const char *const others[] = { "teacher", "reward", "vae",   "draft",
                                          "old",     "target", "eval",  "critic",
                                          "value",   "embed",  "text_", "clip",
                                          "ema",     NULL };
    size_t n = (size_t)(python_last_part(function) - function);
    static const char end[] = "_model.";
    return n >= sizeof(end) - 1 &&
           strncmp(function + n - (sizeof(end) - 1), end, sizeof(end) - 1) == 0 &&
           !names_within(others, function) && !user_script_is_reference(function);
}

/* model.half(), and model = AutoModel.from_pretrained(...).half(). */
static bool converts_model(const struct user_script *g, const struct python_call *c)
{
    static const char *const methods[] = { "half", "bfloat16", "float",
                                           "to",   "type",     NULL },
                             *const models[] = { "model", "net", NULL };
    if (user_script_part_of(c) == SCRIPT_CAST)
        return true;
    if (!names_listed(methods, python_last_part(c->function)))
        return false;
    const struct python_call *made = c->of ? user_script_maker(g->python, c->of) : NULL;
    enum user_script_part part = made ? user_script_part_of(made) : SCRIPT_PARTS;
    if (part == SCRIPT_CAST) /* model.to("cuda").float() */
        return true;
    /* by what made it: a model that is loaded, or of a class of the text's */
    if ((part == SCRIPT_MODEL && !user_script_is_reference(made->target)) ||
        part == SCRIPT_PICTURES || part == SCRIPT_WRAPPED ||
        (!made && c->of && c->of->kind == VALUE_DICT && c->of->text))
        return true;
    if (!made && is_called_model(c->function))
        return true;
    return c->target && names_listed(methods, c->function) &&
           names_listed(models, python_last_part(c->target));
}

/* What a call converts a model to, as torch calls it; NULL: it moves it alone. */
static const char *converted_to(const struct python_call *c)
{
    static const char *const types[][2] = {
        { "bfloat16", "bfloat16" }, { "float16", "float16" }, { "half", "float16" },
        { "float32", "float32" },   { "float", "float32" },
    };
    const struct value *v = user_script_given(c, "dtype", "0"),
                       *second = user_script_given(c, "dtype", "1");
    const char *last = python_last_part(c->function);
    if (second && second->kind == VALUE_STRING) /* .to("cuda", torch.bfloat16) */
        v = second;
    if (strcmp(last, "to") == 0 || strcmp(last, "type") == 0)
        last = v && v->kind == VALUE_STRING ? python_last_part(v->text) : "";
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
        if (strcmp(last, types[k][0]) == 0)
            return types[k][1];
    return NULL;
}

/* What the text converts the model to that it trains: the last of what it says so. */
static void put_cast(struct user_script *g, struct arena *arena)
{
    static const char *const keys[] = { "torch_dtype", "dtype" };
    const struct python_call *trainer = g->parts[SCRIPT_TRAINER],
                             *loop = g->parts[SCRIPT_BACKWARD];
    for (int64_t i = g->python->calls.n; i-- > 0;) {
        const struct python_call *c = &g->python->calls.v[i];
        const char *to = converts_model(g, c) ? converted_to(c) : NULL;
        bool whole = to && strcmp(to, "float32") == 0;
        if (!to || c->quoted || (trainer && c->line > trainer->line) ||
            (whole && (c->unsure || (loop && c->line > loop->line)))) /* to save it */
            continue;
        for (int k = 0; k < 2; k++) {
            const struct value_item *it = value_get(g->words, keys[k]);
            if (it)
                value_remove(g->words, (int32_t)(it - g->words->items));
        }
        user_script_put(g, arena, keys[0], c->line,
                        value_new_string(arena, to, c->line, 0), true);
        return;
    }
}

/* torch.set_default_dtype(torch.bfloat16): models are made in it. */
static void put_default(struct user_script *g, struct arena *arena)
{
    const struct python_call *c = last_call(g, "*set_default_dtype");
    const struct value *v = user_script_given(c, "d", "0");
    const char *word = v && v->kind == VALUE_STRING ? python_last_part(v->text) : "";
    if (strcmp(word, "bfloat16") == 0 || strcmp(word, "float16") == 0)
        user_script_put(g, arena, "torch_dtype", c->line,
                        value_new_string(arena, word, c->line, 0), false);
}

/* Kernels -------------------------------------------------------------------------- */

/* A function that puts attention of its own in the model's place. */
static void put_attention(struct user_script *g, struct arena *arena)
{
    static const char key[] = "attn_implementation";
    const struct python_call *c = g->parts[SCRIPT_ATTENDS];
    const char *last = c ? python_last_part(c->function) : "";
    const char *word = strstr(last, "flash")      ? "flash_attention_2"
                       : strstr(last, "xformers") ? "memory-efficient"
                                                  : NULL;
    if (c)
        user_script_put(g, arena, key, c->line,
                        word ? value_new_string(arena, word, c->line, 0)
                             : value_new_unknown(arena, c->line, 0,
                                                 "%.60s(...) replaces the model's",
                                                 last),
                        true);
}

/* apply_liger_kernel_to_llama(), AutoLigerKernelForCausalLM.from_pretrained(...) */
static void put_liger(struct user_script *g, struct arena *arena)
{
    static const char *const calls[] = { "*apply_liger_kernel*", "*LigerKernelFor*" };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const struct python_call *c = last_call(g, calls[i]);
        if (c)
            user_script_put_true(g, arena, "use_liger_kernel", c->line, true);
    }
}

void user_script_put_kernels(struct user_script *g, struct arena *arena)
{
    const struct python_call *better = last_call(g, "*to_bettertransformer");
    better = better ? better : last_call(g, "*BetterTransformer.transform");
    put_cast(g, arena);
    put_default(g, arena);
    put_attention(g, arena);
    put_products(g, arena);
    put_liger(g, arena);
    if (better)
        user_script_put(g, arena, "attn_implementation", better->line,
                        value_new_string(arena, "sdpa", better->line, 0), false);
}

/* What is named -------------------------------------------------------------------- */

/* Which calls of a name count. */
enum counts { ALL, ON /* given True */, IN_LOOPS, OF_ANOTHER /* than "default" */ };

static const struct named {
    const char *function;
    enum counts counts;
    const char *what;
} named[] = {
    { "*use_deterministic_algorithms", ON,
      "kernels that repeat bit by bit are slower" },
    { "*enable_full_determinism", ALL, "kernels that repeat bit by bit are slower" },
    { "*set_detect_anomaly", ON, "each operation of backward is checked" },
    { "*.detect_anomaly", ALL, "each operation of backward is checked" },
    { "*save_on_cpu", ALL, "what backward keeps goes to the host's memory" },
    { "*set_per_process_memory_fraction", ALL, "a part of the GPU's memory is left" },
    { "*cuda.empty_cache", IN_LOOPS,
      "the allocator gives its cache back and takes it anew" },
    { "*model*.parallelize", ALL,
      "one process runs the layers on one GPU after another" },
    { "*model*.set_adapter", OF_ANOTHER,
      "the adapters that were read first are taken to be trained" },
};

static bool counts(const struct python_call *c, enum counts how)
{
    const struct value *v = user_script_given(c, "mode", "0"),
                       *adapter = user_script_given(c, "adapter_name", "0");
    if (how == OF_ANOTHER)
        return !adapter || adapter->kind != VALUE_STRING ||
               strcmp(adapter->text, "default") != 0;
    return how == ALL || (how == ON && v && launch_true(v)) ||
           (how == IN_LOOPS && c->loops > 0);
}

/* Whether the last switch of one of SDPA's kernels is off: of a call of its own, or an
 * argument of torch.backends.cuda.sdp_kernel(...). */
static bool is_off(const struct user_script *g, const char *function,
                   const char *argument)
{
    const struct value *own = user_script_given(last_call(g, function), "enabled", "0"),
                       *of =
                           user_script_given(last_call(g, "*sdp_kernel"), argument, "");
    return (own && launch_is_off(own)) || (of && launch_is_off(of));
}

/* Without both fused kernels SDPA is products around a softmax. */
static void take_sdpa(struct launch_context *t, const struct user_script *g)
{
    static const char at[] = "/training/attention";
    bool flash = is_off(g, "*enable_flash_sdp", "enable_flash"),
         efficient = is_off(g, "*enable_mem_efficient_sdp", "enable_mem_efficient");
    const struct python_call *c = last_call(g, "*enable_flash_sdp");
    c = c ? c : last_call(g, "*sdp_kernel");
    int64_t line = c ? (g->line ? g->line : c->line) : 0;
    struct value v = { .kind = VALUE_BOOL, .line = line };
    const struct value_item from = { c ? python_last_part(c->function) : "", line, &v };
    const struct value_item *given = value_get(g->words, "attn_implementation");
    bool other = given && !(given->value->kind == VALUE_STRING &&
                            strcmp(given->value->text, "sdpa") == 0);
    if (!flash || !c || other)
        return;
    if (efficient) {
        launch_hear(t, given);
        launch_set(t, at, json_string("unfused"), &from);
    } else
        launch_note(t->l, line, DIAG_NOT_SIMULATED,
                    "%s: SDPA without its flash kernel is not simulated", from.key);
}

/* Transformer Engine's, torchao's and MS-AMP's products in 8 bits. */
static void take_fp8(struct launch_context *t, const struct user_script *g)
{
    static const struct {
        const char *function, *precision; /* with parameters in bf16; NULL: not known */
    } calls[] = { { "*fp8_autocast", "fp8" },
                  { "*convert_to_float8_training", "fp8_current" },
                  { "*msamp.initialize", NULL } };
    static const char at[] = "/training/precision";
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const struct python_call *c = last_call(g, calls[i].function);
        const struct value *on = user_script_given(c, "enabled", "0");
        const char *word = json_string_value(pointer_get(t->tree, at));
        struct value v = { .line = c ? (g->line ? g->line : c->line) : 0 };
        const struct value_item from = { c ? python_last_part(c->function) : "", v.line,
                                         &v };
        bool said = word && strncmp(word, "fp8", 3) == 0; /* by Accelerate's recipes */
        if (!c || (on && launch_is_off(on)) || said)
            continue;
        bool pure = calls[i].precision && word && strcmp(word, "bf16") == 0;
        launch_take_back(t, at); /* and its word */
        if (pure) {
            launch_set(t, at, json_string(calls[i].precision), &from);
            return;
        }
        launch_add_unresolved(
            t, at, g->line ? g->line : c->line,
            "%.60s(...): products are in 8 bits: fp8 is Transformer Engine's, "
            "fp8_current torchao's, with parameters in bf16",
            c->function);
        launch_add_example(t, at, calls[i].precision ? calls[i].precision : "fp8");
        return;
    }
}

void user_script_take_kernels(struct launch_context *t, const struct user_script *g)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        for (int64_t k = 0; k < g->python->calls.n; k++) {
            const struct python_call *c = &g->python->calls.v[k];
            if (c->quoted || fnmatch(named[i].function, c->function, 0) != 0 ||
                !counts(c, named[i].counts) ||
                (named[i].counts == OF_ANOTHER && user_script_adapters_set(g)))
                continue;
            launch_note(t->l, g->line ? g->line : c->line, DIAG_NOT_SIMULATED,
                        "%.60s(...) is not simulated: %s", c->function, named[i].what);
            break;
        }
    take_sdpa(t, g);
    take_fp8(t, g);
}
