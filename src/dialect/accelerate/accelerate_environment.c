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
    static const char *const words[] = { "y",    "yes", "t", "true", "True",
                                         "TRUE", "on",  "1", "Yes",  "YES",
                                         "On",   "ON",  NULL };
    return names_listed(words, text);
}

/* A variable as a key: its words are those of options. */
static void add(struct launch_context *t, struct value *to, const char *key,
                const struct value *v, int64_t line)
{
    const struct shell_word word = { .text = v->text, .line = line };
    value_add(t->arena, to, key, line, launch_word_value(t->arena, &word, v->text));
}

static const struct value *variable_of(const struct value *all, const char *name)
{
    const struct value *v = value_member(all, name);
    return v && v->kind == VALUE_STRING ? v : NULL;
}

/* "FSDP_OFFLOAD_PARAMS" is the key fsdp_offload_params. */
static void add_prefixed(struct launch_context *t, const struct value *all,
                         const char *prefix, struct value *section)
{
    for (int32_t i = 0; i < all->n; i++) {
        const char *name = all->items[i].key;
        char *key = arena_strdup(t->arena, name);
        for (char *s = key; *s; s++)
            *s = (char)tolower((unsigned char)*s);
        if (strncmp(name, prefix, strlen(prefix)) == 0 && variable_of(all, name))
            add(t, section, key, all->items[i].value, section->line);
    }
}

static struct value *section_of(struct launch_context *t, const struct value *all,
                                const struct starter *of, int64_t line)
{
    struct value *section = value_new(t->arena, VALUE_DICT, line, 0);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct value *v = variable_of(all, variables[i].name);
        if (v && variables[i].section && strcmp(variables[i].section, of->section) == 0)
            add(t, section, variables[i].key, v, line);
    }
    if (of->prefix)
        add_prefixed(t, all, of->prefix, section);
    return section;
}

/* The switch's section, and what is started by it. */
static void add_switch(struct launch_context *t, const struct value *all,
                       const struct starter *of, int64_t line, struct value *config)
{
    launch_note(t->l, line, DIAG_ASSUMED,
                "%s: variables are read as Accelerate's distributed_type and %s",
                of->name, of->section);
    value_add(t->arena, config, "distributed_type", line,
              value_new_string(t->arena, of->type, line, 0));
    value_add(t->arena, config, of->section, line, section_of(t, all, of, line));
}

struct value *accelerate_of_environment(struct launch_context *t,
                                        const struct value *all, int64_t line)
{
    struct value *config = value_new(t->arena, VALUE_DICT, line, 0);
    for (size_t i = 0; all && i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct value *v = variable_of(all, variables[i].name);
        if (v && !variables[i].section)
            add(t, config, variables[i].key, v, line);
    }
    for (size_t i = 0; all && i < SWITCHES; i++) {
        const struct value *v = variable_of(all, switches[i].name);
        if (v && is_on(v->text)) {
            add_switch(t, all, &switches[i], line, config);
            break;
        }
    }
    config->text = accelerate_environment;
    return config->n > 0 ? config : NULL;
}

bool accelerate_has_variable(const struct value *config, const char *name)
{
    bool has = false;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const struct value *in =
            variables[i].section ? value_member(config, variables[i].section) : config;
        has |= in && value_get(in, variables[i].key) &&
               strcmp(variables[i].name, name) == 0;
    }
    for (size_t i = 0; i < SWITCHES; i++) {
        const struct starter *s = &switches[i];
        bool prefixed = s->prefix && strncmp(name, s->prefix, strlen(s->prefix)) == 0;
        has |= value_member(config, s->section) &&
               (prefixed || strcmp(s->name, name) == 0);
    }
    return has;
}
