/* Commands that start recipes: "nemo llm pretrain --factory ..." of NeMo-Run, and
 * run_recipe.py of Megatron-Bridge (scripts/training), which setup_experiment.py (v0.6)
 * and launch_with_nemo_run.py (before) start on nodes, setup_experiment.py and
 * run_script.py (scripts/performance, v0.2 to v0.5). */
#include "base/names.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/nemo/nemo.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The value of an option among the words after the script, "--x y" or "--x=y"; NULL. */
static const struct shell_word *option(const struct launch_command *c, const char *name,
                                       const char **text)
{
    size_t n = strlen(name);
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const struct shell_word *w = &c->command->words[i];
        if (strncmp(w->text, name, n) != 0)
            continue;
        if (w->text[n] == '=') {
            *text = w->text + n + 1;
            return w;
        }
        if (!w->text[n] && i + 1 < c->command->n) {
            *text = w[1].text;
            return w + 1;
        }
    }
    return NULL;
}

static bool is_nemo(const struct launch_command *c)
{
    const struct shell_word *w = &c->command->words[c->script];
    return nemo_is_cli(launch_last_part(w->text)) && c->script + 2 < c->command->n &&
           strcmp(w[1].text, "llm") == 0;
}

bool nemo_lacks_program(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_word *script = &c->command->words[c->script];
    const char *text;
    if (!option(c, "--factory", &text))
        return false;
    diags_add(&t->l->loader->diags, launch_diag(t->l, DIAG_UNRESOLVED, script->line, 0),
              "--factory: the program that has it is not at hand: %s",
              script->why ? script->why : script->text);
    return true;
}

/* The value of an option by its long name or its brief one; NULL. */
static const struct shell_word *either(const struct launch_command *c, const char *name,
                                       const char *brief, const char **text)
{
    const struct shell_word *w = option(c, name, text);
    return w ? w : option(c, brief, text);
}

/* A script of scripts/performance, which names its recipe by its parts. */
static bool is_performance(const struct launch_command *c)
{
    const char *text;
    const char *script = launch_last_part(c->command->words[c->script].text);
    return (strcmp(script, "setup_experiment.py") == 0 ||
            strcmp(script, "run_script.py") == 0) &&
           either(c, "--gpu", "-g", &text);
}

/* Scripts that start run_recipe.py on the nodes and GPUs that their options say. */
static bool is_launcher(const struct launch_command *c)
{
    static const char *const names[] = { "setup_experiment.py",
                                         "launch_with_nemo_run.py", NULL };
    for (int32_t i = 0; i <= c->script; i++) /* it may name what it starts */
        if (names_listed(names, launch_last_part(c->command->words[i].text)))
            return true;
    return false;
}

bool nemo_is_recipe_command(const struct launch_command *c)
{
    static const char *const runs[] = { "run_recipe.py",   "pretrain_gpt.py", /* v0.1 */
                                        "finetune_gpt.py", "pretrain_vlm.py",
                                        "finetune_vlm.py", NULL };
    const char *text;
    const char *script = launch_last_part(c->command->words[c->script].text);
    return is_nemo(c) || is_performance(c) ||
           ((names_listed(runs, script) || is_launcher(c)) &&
            (option(c, "--recipe", &text) || option(c, "--model", &text)));
}

static void read_nemo(struct launch_context *t, const struct launch_command *c)
{
    struct value *given = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    const char *text = NULL, *kind = c->command->words[c->script + 2].text;
    const struct shell_word *w = option(c, "--factory", &text);
    struct launch_idle idle;
    launch_take_overrides(t->arena, given, c);
    launch_idle_init(&idle, t->l, c->command->line, "nemo: ");
    for (int32_t i = c->script + 3; i < c->command->n; i++)
        if (c->command->words[i].text[0] == '-' &&
            strncmp(c->command->words[i].text, "--factory", 9) != 0)
            launch_idle_add(&idle, "%.60s", c->command->words[i].text);
    launch_idle_end(&idle);
    nemo_read_factory(t, kind, w ? launch_word_value(t->arena, w, text) : NULL, given);
}

/* clang-format off */
/* Options of run_recipe.py (scripts/training) that are keys of the recipe. */
static const struct {
    const char *name, *brief, *path;
} options[] = {
    { "--max_steps", "-ms", "train.train_iters" }, { "--global_batch_size", "-gb", "train.global_batch_size" },
    { "--micro_batch_size", "-mb", "train.micro_batch_size" }, { "--seq_length", "-sl", "dataset.seq_length" },
    { "--tensor_model_parallel_size", "-tp", "model.tensor_model_parallel_size" }, { "--pipeline_model_parallel_size", "-pp", "model.pipeline_model_parallel_size" },
    { "--context_parallel_size", "-cp", "model.context_parallel_size" }, { "--virtual_pipeline_model_parallel_size", "-vp", "model.virtual_pipeline_model_parallel_size" },
    { "--expert_model_parallel_size", "-ep", "model.expert_model_parallel_size" }, { "--expert_tensor_parallel_size", "-etp", "model.expert_tensor_parallel_size" },
    { "--peft_scheme", "--peft-scheme", "peft.peft_scheme" },
};
/* clang-format on */

/* "--seq-length" is "--seq_length". */
static bool same(const char *word, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!name[i] ||
            (word[i] != name[i] && !(i > 1 && word[i] == '-' && name[i] == '_')))
            return false;
    return !name[n];
}

/* Options that are the recipe's name. */
static bool is_part(const char *word, size_t n)
{
    static const char *const parts[] = {
        "--recipe",
        "--model",
        "--mode",
        "--config_file",
        "--nodes",
        "--devices",
        "--gpu",
        "-g",
        "--compute_dtype",
        "-c",
        "--task",
        "-m",
        "-mr",
        "--config_variant",
        "-cv",
        "--num_gpus",
        "-ng",
        "-s",
        "--model_name",
        "--model_recipe_name",
        "--model_size",
        "-gn",
        "--gpus_per_node",
        "--model_family_name",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (same(word, n, parts[i]))
            return true;
    return false;
}

/* What options say of the recipe; those that say nothing are named. */
static void take_options(struct launch_context *t, const struct launch_command *c,
                         struct value *given)
{
    struct launch_idle idle;
    launch_idle_init(&idle, t->l, c->command->line,
                     arena_printf(t->arena, "%.40s: ",
                                  launch_last_part(c->command->words[c->script].text)));
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const struct shell_word *w = &c->command->words[i];
        size_t n = strcspn(w->text, "="), j = 0,
               most = sizeof(options) / sizeof(options[0]);
        const char *value = w->text[n] ? w->text + n + 1 : NULL;
        if (w->text[0] != '-')
            continue;
        while (j < most && !same(w->text, n, options[j].name) &&
               !same(w->text, n, options[j].brief))
            j++;
        if (j == most) {
            if (!is_part(w->text, n))
                launch_idle_add(&idle, "%.*s", (int)n, w->text);
            continue;
        }
        if (!value && i + 1 < c->command->n)
            value = (++w)->text;
        if (value)
            launch_override(t->arena, given, options[j].path, w, value);
    }
    launch_idle_end(&idle);
}

/* Recipes that were tuned for a number of GPUs get a batch in proportion. */
static void note_scaling(struct launch_context *t, const char *recipe,
                         const struct value *given, int64_t line)
{
    const struct value_item *train = value_get(given, "train");
    bool own = train && value_get(train->value, "global_batch_size");
    if (strstr(recipe, "gpu_") && !own)
        launch_note(t->l, line, DIAG_APPROXIMATE,
                    "%.80s: on other GPUs than its name has, run_recipe.py changes the "
                    "global batch in proportion, which is not done here (give --set "
                    "/training/global_batch_size=N)",
                    recipe);
}

/* A number of GPUs; 0: it is not given so. */
static int64_t count_of(const struct launch_command *c, const char *name,
                        const char *brief)
{
    const char *text = "";
    char *end;
    int64_t n = either(c, name, brief, &text) ? strtoll(text, &end, 10) : 0;
    return n > 0 && !*end ? n : 0;
}

/* On so many GPUs, 8 a node, 4 of GB200 and its kin (utils/executors.py). */
static void take_gpus(struct launch_context *t, const struct launch_command *c,
                      int64_t all, const char *gpu)
{
    bool four = strncmp(gpu, "gb", 2) == 0 || strncmp(gpu, "vr", 2) == 0;
    int64_t each = count_of(c, "--gpus_per_node", "-gn");
    struct value v = { .kind = VALUE_INT, .line = c->command->line };
    const struct value_item from = { "num_gpus", v.line, &v };
    each = each ? each : four ? 4 : 8;
    each = all < each ? all : each;
    if (!all || all % each)
        return;
    launch_set(t, "/cluster/count", json_integer((json_int_t)(all / each)), &from);
    launch_set(t, "/cluster/gpus_per_instance", json_integer((json_int_t)each), &from);
}

/* "llama3_8b_pretrain_8gpu_h100_fp8cs_config" of its options (utils/utils.py,
 * _recipe_function_name; before v0.5 a family and a size); NULL: some are not given. */
static const char *name_of_parts(struct launch_context *t,
                                 const struct launch_command *c)
{
    const char *recipe = NULL, *family = NULL, *size = NULL, *gpu = "",
               *task = "pretrain", *type = "bf16", *variant = "";
    either(c, "--gpu", "-g", &gpu);
    either(c, "--compute_dtype", "-c", &type);
    option(c, "--task", &task);
    either(c, "--config_variant", "-cv", &variant);
    either(c, "--model_recipe_name", "-mr", &recipe);
    if (!either(c, "--model_name", "-m", &family))
        option(c, "--model_family_name", &family);
    either(c, "--model_size", "-s", &size);
    if (!recipe && family && size)
        recipe = arena_printf(t->arena, "%s_%s", family, size);
    int64_t gpus = count_of(c, "--num_gpus", "-ng");
    char *name = recipe && gpus ? arena_printf(t->arena, "%s_%s_%" PRId64 "gpu_%s_",
                                               recipe, task, gpus, gpu)
                                : NULL;
    if (!name)
        return NULL;
    take_gpus(t, c, gpus, gpu);
    char *plain = arena_strdup(t->arena, type), *to = plain;
    for (const char *s = type; *s; s++)
        if (*s != '_')
            *to++ = *s;
    *to = '\0';
    bool usual = !*variant || strcmp(variant, "v1") == 0 || strcmp(variant, "v2") == 0;
    name = arena_printf(t->arena, "%s%s%s%s_config", name, plain, usual ? "" : "_",
                        usual ? "" : variant);
    for (char *s = name; *s; s++)
        *s = (char)tolower((unsigned char)*s);
    return name;
}

static void read_performance(struct launch_context *t, const struct launch_command *c)
{
    struct value *given = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    const char *name = name_of_parts(t, c);
    const struct nemo_call call = { .recipe = name, .line = c->command->line };
    if (!name) {
        launch_add_unresolved(t, "/model", c->command->line,
                              "which recipe it is, its options do not say: model, "
                              "number of GPUs (-ng)");
        return;
    }
    take_options(t, c, given);
    launch_take_overrides(t->arena, given, c);
    struct value *facts = nemo_recipe_facts(t, &call);
    if (!facts)
        return;
    nemo_overlay(t->arena, facts, launch_flatten(t->arena, given));
    core_read(t, facts, arena_printf(t->arena, "%s of Megatron-Bridge", name));
}

/* A file of changes goes over the recipe, options over both. */
static void overlay_file(struct launch_context *t, const struct launch_command *c,
                         struct value *facts)
{
    const char *file = NULL;
    const struct shell_word *w = option(c, "--config-file", &file);
    w = w ? w : option(c, "--config_file", &file);
    if (!w || !file)
        return;
    const struct value *v = launch_open_document(t->l, c, file, w->line);
    if (v)
        nemo_overlay(t->arena, facts, launch_flatten(t->arena, v));
    else
        launch_lost(
            t->l, file, w->line,
            "changes the recipe, and was not found (put it next to the script)");
}

/* The nodes, and the GPUs of each, on which a launcher starts it. */
static void take_nodes(struct launch_context *t, const struct launch_command *c)
{
    static const struct {
        const char *name, *brief, *at;
    } counts[] = { { "--nodes", "--nodes", "/cluster/count" },
                   { "--gpus-per-node", "--gpus_per_node",
                     "/cluster/gpus_per_instance" },
                   { "--devices", "--devices", "/cluster/gpus_per_instance" } };
    struct value v = { .kind = VALUE_INT, .line = c->command->line };
    for (size_t i = 0; is_launcher(c) && i < sizeof(counts) / sizeof(counts[0]); i++) {
        const struct value_item from = { counts[i].name, v.line, &v };
        int64_t n = count_of(c, counts[i].name, counts[i].brief);
        n = n || i ? n : 1; /* nodes' default */
        if (n)
            launch_set(t, counts[i].at, json_integer((json_int_t)n), &from);
    }
}

/* The function that --recipe names, or that --model and --mode are parts of
 * (scripts/training/run_recipe.py, v0.6); NULL: it is asked for, and `lost` is what is
 * not known of its words. */
static const char *recipe_of(struct launch_context *t, const struct launch_command *c,
                             struct value **lost)
{
    const char *name = NULL, *mode = NULL;
    const struct shell_word *w = option(c, "--recipe", &name), *m = NULL;
    if (!w) {
        w = option(c, "--model", &name);
        m = option(c, "--mode", &mode);
    }
    if (w->why || (m && m->why)) {
        *lost = w->why ? launch_word_value(t->arena, w, name)
                       : launch_word_value(t->arena, m, mode);
        launch_add_unknown(t, "/model", w->why ? w[-1].text : "--mode", *lost);
        return NULL;
    }
    if (option(c, "--recipe", &name))
        return name;
    if (!mode)
        launch_add_unresolved(t, "/model", w->line,
                              "no --mode says which recipe of %.60s it is", name);
    bool adapters = mode && (strcmp(mode, "lora") == 0 || strcmp(mode, "dora") == 0);
    return mode ? arena_printf(t->arena, "%s_%s_config", name, adapters ? "peft" : mode)
                : NULL;
}

static void read_bridge(struct launch_context *t, const struct launch_command *c)
{
    struct value *given = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    struct value *lost = NULL, *facts = NULL;
    const char *text = recipe_of(t, c, &lost), *scheme = NULL;
    if (!text && !lost)
        return;
    take_nodes(t, c);
    take_options(t, c, given);
    launch_take_overrides(t->arena, given, c);
    if (text) {
        either(c, "--peft_scheme", "--peft-scheme", &scheme);
        text = nemo_recipe_now(t, text, scheme && strcasecmp(scheme, "none") != 0,
                               c->command->line);
        const struct nemo_call call = { .recipe = text, .line = c->command->line };
        facts = nemo_recipe_facts(t, &call);
    } else {
        facts = nemo_unknown_name(t, lost);
    }
    if (!facts)
        return;
    if (text)
        note_scaling(t, text, given, c->command->line);
    overlay_file(t, c, facts);
    nemo_overlay(t->arena, facts, launch_flatten(t->arena, given));
    core_read(t, facts, "a recipe of Megatron-Bridge");
}

void nemo_read_recipe_command(struct launch_context *t, const struct launch_command *c)
{
    t->l->line = c->command->line;
    if (is_nemo(c))
        read_nemo(t, c);
    else if (is_performance(c))
        read_performance(t, c);
    else
        read_bridge(t, c);
}
