/* Accelerate's configuration in variables of the environment, as `accelerate launch` sets
 * them for what it starts, and scripts by hand for torchrun and the like
 * (accelerate/utils/launch.py, state.py and utils/dataclasses.py, Accelerate 1.15). */
#include "base/names.h"
#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/launch_shell.h"

#include <ctype.h>
#include <string.h>

const char accelerate_environment[] = "the environment";

/* Variables, and the keys of the configuration that they are. */
static const struct variable {
    const char *name, *section, *key; /* section NULL: the configuration itself */
} variables[] = {
    { "ACCELERATE_MIXED_PRECISION", NULL, "mixed_precision" },
    { "ACCELERATE_DYNAMO_BACKEND", NULL, "dynamo_backend" },
    { "ACCELERATE_USE_CPU", NULL, "use_cpu" },
    { "ACCELERATE_DEEPSPEED_ZERO_STAGE", "deepspeed_config", "zero_stage" },
    { "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE", "deepspeed_config",
      "offload_optimizer_device" },
    { "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE", "deepspeed_config",
      "offload_param_device" },
    { "ACCELERATE_GRADIENT_ACCUMULATION_STEPS", "deepspeed_config",
      "gradient_accumulation_steps" },
    { "ACCELERATE_GRADIENT_CLIPPING", "deepspeed_config", "gradient_clipping" },
    { "ACCELERATE_DEEPSPEED_CONFIG_FILE", "deepspeed_config", "deepspeed_config_file" },
};

/* What is started, by the switches; the first that is on. Variables with the prefix are
 * keys of the section, in capitals. */
static const struct starter {
    const char *name, *type, *section, *prefix;
} switches[] = {
    { "ACCELERATE_USE_DEEPSPEED", "DEEPSPEED", "deepspeed_config", NULL },
    { "ACCELERATE_USE_FSDP", "FSDP", "fsdp_config", "FSDP_" },
    { "ACCELERATE_USE_MEGATRON_LM", "MEGATRON_LM", "megatron_lm_config",
      "MEGATRON_LM_" },
};

enum { SWITCHES = sizeof(switches) / sizeof(switches[0]) };

/* str_to_bool of accelerate/utils/environment.py */
static bool is_on(const char *text)
{
    static const char *const words[] = { "y",  "yes",  "t",    "true", "True", "TRUE",
                                         "on", "1",    "Yes",  "YES",  "On",   "ON",
                                         NULL };
    return names_listed(words, text);
}

static void add(struct launch_context *t, struct value *to, const char *key,
                const struct shell_binding *b)
{
    const struct shell_word word = { .text = b->value, .line = b->line };
    value_add(t->arena, to, key, b->line, launch_word_value(t->arena, &word, b->value));
}

/* "FSDP_OFFLOAD_PARAMS" is the key fsdp_offload_params. */
static void add_prefixed(struct launch_context *t, const struct launch_command *c,
                         const struct shell_binding *b, const char *prefix,
                         struct value *section)
{
    char *key = arena_strdup(t->arena, b->name);
    for (char *s = key; *s; s++)
        *s = (char)tolower((unsigned char)*s);
    if (strncmp(b->name, prefix, strlen(prefix)) == 0 && b->value &&
        launch_variable(c, b->name) == b)
        add(t, section, key, b);
}

static struct value *section_of(struct launch_context *t,
                                const struct launch_command *c,
                                const struct starter *of, int64_t line)
{
    const struct shell *s = c->shell;
    const struct shell_command *own = c->command;
    struct value *section = value_new(t->arena, VALUE_DICT, line, 0);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct shell_binding *b = launch_variable(c, variables[i].name);
        if (b && b->value && variables[i].section &&
            strcmp(variables[i].section, of->section) == 0)
            add(t, section, variables[i].key, b);
    }
    for (int64_t i = 0; of->prefix && i < s->bindings.n; i++)
        add_prefixed(t, c, &s->bindings.v[i], of->prefix, section);
    for (int32_t i = 0; of->prefix && i < own->n_own; i++)
        add_prefixed(t, c, &own->own[i], of->prefix, section);
    return section;
}

/* The switch's section, and what is started by it. */
static void add_switch(struct launch_context *t, const struct launch_command *c,
                       const struct starter *of, const struct shell_binding *b,
                       struct value *config)
{
    launch_note(t->l, b->line, DIAG_ASSUMED,
                "%s: variables are read as Accelerate's distributed_type and %s",
                of->name, of->section);
    value_add(t->arena, config, "distributed_type", b->line,
              value_new_string(t->arena, of->type, b->line, 0));
    value_add(t->arena, config, of->section, b->line, section_of(t, c, of, b->line));
}

struct value *accelerate_of_environment(struct launch_context *t,
                                        const struct launch_command *c)
{
    struct value *config = value_new(t->arena, VALUE_DICT, c->command->line, 0);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct shell_binding *b = launch_variable(c, variables[i].name);
        if (b && b->value && !variables[i].section)
            add(t, config, variables[i].key, b);
    }
    for (size_t i = 0; i < SWITCHES; i++) {
        const struct shell_binding *b = launch_variable(c, switches[i].name);
        if (b && b->value && is_on(b->value)) {
            add_switch(t, c, &switches[i], b, config);
            break;
        }
    }
    config->text = accelerate_environment;
    return config->n > 0 ? config : NULL;
}
