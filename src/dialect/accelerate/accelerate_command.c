/* `accelerate launch --config_file X.yaml --num_processes 8 script.py`: its options are
 * keys of the configuration, and go before the file's (accelerate/commands/launch.py,
 * Accelerate 1.15). */
#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/launch_starter.h"
#include "dialect/trainer/trainer.h"

#include <stdio.h>
#include <string.h>

enum { KEY_MAX_B = 80 };

/* Options that are members of a section, and the switch that makes it. */
static const char *section_of(const char *key)
{
    static const char *const deepspeed[] = {
        "zero_stage",
        "offload_optimizer_device",
        "offload_param_device",
        "gradient_clipping",
        "gradient_accumulation_steps",
        "deepspeed_config_file",
        "use_deepspeed",
        "zero3_init_flag",
        "zero3_save_16bit_model",
        NULL,
    };
    return strncmp(key, "fsdp_", 5) == 0 || strcmp(key, "use_fsdp") == 0 ? "fsdp_config"
           : strncmp(key, "parallelism_config_", 19) == 0 ? "parallelism_config"
           : names_listed(deepspeed, key)                 ? "deepspeed_config"
                                                          : NULL;
}

/* A member in place of one of the same name. */
static void put(struct launch_context *t, struct value *dict, const char *key,
                int64_t line, struct value *v)
{
    for (int32_t i = 0; i < dict->n; i++)
        if (strcmp(dict->items[i].key, key) == 0) {
            dict->items[i] = (struct value_item) { key, line, v };
            return;
        }
    value_add(t->arena, dict, key, line, v);
}

static struct value *section(struct launch_context *t, struct value *config,
                             const char *key, int64_t line)
{
    const struct value_item *it = value_get(config, key);
    if (it && it->value->kind == VALUE_DICT)
        return it->value;
    struct value *made = value_new(t->arena, VALUE_DICT, line, 0);
    put(t, config, key, line, made);
    return made;
}

static void put_option(struct launch_context *t, struct value *config, const char *key,
                       const struct shell_word *w, const char *text)
{
    static const char *const switches[] = { "use_fsdp", "use_deepspeed", "multi_gpu",
                                            NULL };
    const char *of = section_of(key);
    struct value *in = of ? section(t, config, of, w->line) : config;
    if (strcmp(key, "config_file") == 0)
        return;
    if (!names_listed(switches, key))
        put(t, in, key, w->line, launch_word_value(t->arena, w, text));
    else /* whatever the file has (_validate_launch_command) */
        put(t, config, "distributed_type", w->line,
            value_new_string(t->arena,
                             key[0] == 'm'   ? "MULTI_GPU"
                             : key[4] == 'f' ? "FSDP"
                                             : "DEEPSPEED",
                             w->line, 0));
}

/* Without a switch and a file that say so, options of DeepSpeed's and FSDP's do nothing. */
static void settle_type(struct launch_context *t, struct value *config)
{
    static const char *const sections[] = { "deepspeed_config", "fsdp_config" };
    for (int i = 0; i < 2 && !value_get(config, "distributed_type"); i++) {
        const struct value_item *it = value_get(config, sections[i]);
        if (it)
            put(t, config, "distributed_type", it->line,
                value_new_string(t->arena, "MULTI_GPU", it->line, 0));
    }
}

/* Where the words of `accelerate launch` begin; -1: it is not the starter. */
static int32_t launcher_of(const struct launch_command *c)
{
    for (int32_t i = c->script; i-- > 0;) {
        const char *word = launch_last_part(c->command->words[i].text);
        if (strcmp(word, "accelerate") == 0 ||
            strcmp(word, "accelerate.commands.launch") == 0)
            return i;
    }
    return -1;
}

static void take_options(struct launch_context *t, struct value *config,
                         const struct launch_command *c, int32_t from)
{
    const struct shell_word *w = c->command->words;
    for (int32_t i = from; i < c->script; i++) {
        const char *equals = strchr(w[i].text, '=');
        char key[KEY_MAX_B];
        if (strncmp(w[i].text, "--", 2) != 0)
            continue;
        size_t n = equals ? (size_t)(equals - w[i].text) - 2 : strlen(w[i].text) - 2;
        snprintf(key, sizeof(key), "%.*s", (int)n, w[i].text + 2);
        for (char *s = key; *s; s++)
            *s = *s == '-' ? '_' : *s;
        bool valued = !equals && i + 1 < c->script && w[i + 1].text[0] != '-';
        const struct shell_word *of = valued ? &w[i + 1] : &w[i];
        put_option(t, config, arena_strdup(t->arena, key), of,
                   equals   ? arena_strdup(t->arena, equals + 1)
                   : valued ? w[i + 1].text
                            : "true");
    }
}

/* The file's dictionary, or an empty one; one that is not there leaves open what it
 * decides. */
static struct value *file_of(struct launch_context *t, const struct launch_command *c,
                             int32_t from)
{
    static const char *const names[] = { "--config-file", NULL };
    const struct starter_option file =
        launch_starter_find(c->command->words, from, c->script, names);
    const char *name = file.value;
    struct value *empty = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    if (!name)
        return empty;
    struct value *v =
        file.word->why ? NULL : trainer_load_next_to(t, name, file.word->line);
    if (v)
        return v;
    launch_add_unresolved(t, "/parallelism/library", file.word->line,
                          "--config_file: Accelerate's configuration \"%.80s\" was not "
                          "found (put it next to the script)",
                          name);
    launch_add_unresolved(t, "/cluster/count", file.word->line,
                          "--config_file: \"%.80s\" says on how many machines, and was "
                          "not found",
                          name);
    return empty;
}

/* What runs before Accelerate's own words may start it on several nodes: open-instruct's
 * mason.py multiplies --num_processes by its --num_nodes (mason.py of 2026). */
static void take_outer(struct launch_context *t, struct value *config,
                       const struct launch_command *c, int32_t launcher)
{
    const struct shell_word *w = c->command->words;
    const struct value_item *all = value_get(config, "num_processes");
    const struct shell_word *of = NULL;
    bool mason = false;
    for (int32_t i = 0; i + 1 < launcher; i++) {
        mason |= strcmp(launch_last_part(w[i].text), "mason.py") == 0;
        if (mason && strcmp(w[i].text, "--num_nodes") == 0)
            of = &w[i + 1];
    }
    int64_t nodes, n;
    struct value *count = of ? launch_word_value(t->arena, of, of->text) : NULL;
    if (count && (!launch_whole(count, &nodes) || nodes < 1))
        launch_add_unresolved(t, "/cluster/count", of->line,
                              "--num_nodes: \"%.40s\" is no whole number of at least 1",
                              of->text);
    if (!count || launch_is_unresolved(t, "/cluster/count"))
        return;
    put(t, config, "num_machines", of->line, count);
    if (all && launch_whole(all->value, &n) && n > 0 && n < INT32_MAX &&
        nodes < INT32_MAX) {
        struct value *product = value_new(t->arena, VALUE_INT, all->line, 0);
        product->integer = n * nodes;
        put(t, config, "num_processes", all->line, product);
    }
}

struct value *accelerate_take_command(struct launch_context *t,
                                      const struct launch_command *c)
{
    int32_t from = launcher_of(c);
    struct value v = { .line = c->command->line };
    const struct value_item one = { "num_machines' default", v.line, &v };
    if (from < 0)
        return accelerate_of_environment(t, launch_environment(t, c), c->command->line);
    struct value *config = file_of(t, c, from + 1);
    take_options(t, config, c, from + 1);
    take_outer(t, config, c, from);
    if (!launch_is_unresolved(t, "/parallelism/library"))
        settle_type(t, config);
    if (!value_get(config, "num_machines") &&
        !launch_is_unresolved(t, "/cluster/count"))
        launch_set(t, "/cluster/count", json_integer(1), &one);
    accelerate_take(t, config);
    return config;
}
