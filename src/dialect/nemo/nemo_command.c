/* Commands of hydra's programs: NAME=VALUE over the configuration that they name, and the
 * groups of a main file. */
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/nemo/nemo.h"
#include "dialect/trainer/trainer.h"

#include <ctype.h>
#include <string.h>

/* Words ---------------------------------------------------------------------------- */

/* "++model.x=1" is x of model; NULL: no override. Deletions ("~x") are passed over. */
static const char *path_of(struct arena *arena, const char *word, const char **value)
{
    const char *equals = strchr(word, '=');
    size_t lead = strspn(word, "+\"'");
    *value = equals ? equals + 1 : "";
    if (!equals || equals == word + lead ||
        !(isalpha((unsigned char)word[lead]) || word[lead] == '_'))
        return NULL;
    for (const char *c = word + lead; c < equals; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._@-", *c))
            return NULL;
    return arena_strndup(arena, word + lead, (size_t)(equals - word) - lead);
}

/* Files ---------------------------------------------------------------------------- */

static const char *const groups[] = { "recipes", "training", "fine_tuning", "peft",
                                      NULL };

static bool is_group(const char *key)
{
    for (const char *const *g = groups; *g; g++)
        if (strcmp(key, *g) == 0)
            return true;
    return false;
}

/* A file by its name, as `c` names it, or another file (NULL). */
static struct value *open_file(struct launch_context *t, const struct launch_command *c,
                               const char *name, int64_t line)
{
    return c ? launch_open_document(t->l, c, name, line)
             : trainer_load_next_to(t, name, line);
}

/* What a group's name means: a file of a repository's folder, or one next to it. */
static struct value *load_group(struct launch_context *t,
                                const struct launch_command *c, const char *group,
                                const char *name, int64_t line)
{
    const char *const tries[] = {
        arena_printf(t->arena, "recipes_collection/recipes/%.200s.yaml", name),
        arena_printf(t->arena, "recipes/%.200s.yaml", name),
        arena_printf(t->arena, "launcher_scripts/conf/%s/%.200s.yaml", group, name),
        arena_printf(t->arena, "conf/%s/%.200s.yaml", group, name),
        arena_printf(t->arena, "%s/%.200s.yaml", group, name),
        arena_printf(t->arena, "%.200s.yaml", name),
        arena_printf(t->arena, "%.200s.yaml", launch_last_part(name)),
    };
    struct value *v = NULL;
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]) && !v; i++)
        v = open_file(t, c, tries[i], line);
    if (!v)
        launch_add_unresolved(t, "/model", line,
                              "%s: \"%.80s\" was not found (put the file next to this "
                              "one)",
                              group, name);
    return v;
}

/* The groups that a launcher's main file has are stages; the first that trains, of those
 * that are asked for. */
static const struct value_item *chosen(const struct value *root,
                                       const struct value *defaults)
{
    const struct value_item *stages = value_get(root, "stages"), *found = NULL;
    for (const char *const *g = groups; *g; g++)
        for (int32_t i = 0; i < defaults->n; i++) {
            const struct value_item *it = value_get(defaults->items[i].value, *g);
            bool asked = !stages;
            for (int32_t j = 0; stages && j < stages->value->n; j++)
                asked |= stages->value->items[j].value->kind == VALUE_STRING &&
                         strcmp(stages->value->items[j].value->text, *g) == 0;
            if (it && it->value->kind == VALUE_STRING && (asked || !found))
                found = it;
            if (found && asked)
                return found;
        }
    return found;
}

/* SageMaker's name of what main files name (p5.48xlarge); of several that a recipe is said
 * to run on, which one is the user's. */
void nemo_take_instance(struct launch_context *t, struct value *root)
{
    const struct value_item *it = value_get(root, "instance_type"),
                            *some = value_get(root, "instance_types");
    bool one = !it && some && some->value->kind == VALUE_LIST && some->value->n == 1;
    it = one ? some : it;
    if (!it)
        return;
    const struct value *v = one ? some->value->items[0].value : it->value;
    const char *name = v->kind == VALUE_STRING ? v->text : "";
    if (*name)
        launch_set(t, "/cluster/instance",
                   json_string(strncmp(name, "ml.", 3) == 0
                                   ? name
                                   : arena_printf(t->arena, "ml.%.60s", name)),
                   it);
    else
        launch_unresolved_item(t, "/cluster/instance", it, "instance");
    value_remove(root, (int32_t)(it - root->items)); /* all is said of it */
}

/* The group of a launcher's main file that trains; NULL: it is none. */
static const struct value_item *group_of(const struct value *root)
{
    const struct value_item *defaults = value_get(root, "defaults");
    if (!defaults || defaults->value->kind != VALUE_LIST || value_get(root, "trainer"))
        return NULL;
    return chosen(root, defaults->value);
}

bool nemo_composes(const struct value *root)
{
    return value_get(root, "cluster_type") && group_of(root);
}

struct value *nemo_with_groups(struct launch_context *t, struct value *root)
{
    const struct value_item *it = group_of(root), *instance;
    struct value *group =
        it ? load_group(t, NULL, it->key, it->value->text, it->line) : NULL;
    if (!group)
        return root;
    instance = value_get(root, "instance_type");
    if (instance && !value_get(group, "instance_type"))
        value_add(t->arena, group, "instance_type", instance->line, instance->value);
    return group;
}

/* Commands ------------------------------------------------------------------------- */

static const struct shell_word *option_of(const struct launch_command *c,
                                          const char *name, const char **text)
{
    size_t n = strlen(name);
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const struct shell_word *w = &c->command->words[i];
        bool same = strncmp(w->text, name, n) == 0;
        *text = same && w->text[n] == '=' ? w->text + n + 1 : NULL;
        if (*text)
            return w;
        if (same && !w->text[n] && i + 1 < c->command->n) {
            *text = w[1].text;
            return w + 1;
        }
    }
    return NULL;
}

/* --config-path DIR --config-name NAME: the file, or else what NeMo has of that name. */
static struct value *base_of(struct launch_context *t, const struct launch_command *c)
{
    const char *dir = NULL, *name = NULL;
    const struct shell_word *of_dir = option_of(c, "--config-path", &dir),
                            *of_name = option_of(c, "--config-name", &name);
    const char *ending = name ? strrchr(name, '.') : NULL;
    bool open = (of_name && of_name->why) || (of_dir && of_dir->why);
    struct value *v = NULL;
    if (!name)
        return NULL;
    const char *file = ending && strncmp(ending, ".y", 2) == 0
                           ? name
                           : arena_printf(t->arena, "%.200s.yaml", name);
    if (dir && !open)
        v = open_file(t, c, arena_printf(t->arena, "%.200s/%s", dir, file),
                      of_name->line);
    if (!v && !open)
        v = open_file(t, c, arena_printf(t->arena, "conf/%s", file), of_name->line);
    return v || open ? v : open_file(t, c, file, of_name->line);
}

/* What NeMo's megatron_llama_config.yaml sets (1.21 to 2.0), where only it is named. */
static bool take_stock(struct launch_context *t, const struct launch_command *c,
                       struct value *all)
{
    static const char *const sets[][2] = {
        { "trainer.precision", "32" },
        { "model.mcore_gpt", "True" },
        { "model.transformer_engine", "True" },
        { "model.micro_batch_size", "4" },
        { "model.global_batch_size", "8" },
        { "model.encoder_seq_length", "4096" },
        { "model.num_layers", "12" },
        { "model.hidden_size", "768" },
        { "model.ffn_hidden_size", "3072" },
        { "model.num_attention_heads", "12" },
        { "model.hidden_dropout", "0.0" },
        { "model.attention_dropout", "0.0" },
        { "model.normalization", "rmsnorm" },
        { "model.bias", "False" },
        { "model.activation", "fast-swiglu" },
        { "model.position_embedding_type", "rope" },
        { "model.share_embeddings_and_output_weights", "False" },
        { "model.optim.name", "fused_adam" },
    };
    static const char stock[] = "megatron_llama_config";
    const char *name = NULL;
    const struct shell_word *w = option_of(c, "--config-name", &name);
    if (!w || w->why || strncmp(name, stock, sizeof(stock) - 1) != 0 ||
        (name[sizeof(stock) - 1] && name[sizeof(stock) - 1] != '.'))
        return false;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        launch_override(t->arena, all, sets[i][0], w, sets[i][1]);
    launch_note(t->l, w->line, DIAG_ASSUMED,
                "--config-name: %s.yaml was not found, and is taken to be that of NeMo "
                "2.0 (put it next to the script)",
                stock);
    return true;
}

/* What a configuration that is not there sets, where no word does, is asked for: of one
 * that a command or a launcher's group names all that changes a step, of a script's own
 * degrees alone. */
static void ask_unfound(struct launch_context *t, const struct launch_command *c,
                        const struct value *all, const char *group)
{
    static const struct {
        const char *section, *key, *pointer;
        bool any;   /* of a script's own, too */
        bool words; /* of a model that words describe */
    } rows[] = {
        { "model", "tensor_model_parallel_size", "/parallelism/tensor", true, false },
        { "model", "pipeline_model_parallel_size", "/parallelism/pipeline", true,
          false },
        { "model", "micro_batch_size", "/training/micro_batch_size", false, false },
        { "model", "global_batch_size", "/training/global_batch_size", false, false },
        { "model", "encoder_seq_length", "/training/sequence_length", false, false },
        { "trainer", "precision", "/training/precision", false, false },
        { "model", "optim", "/parallelism/sharding/strategy", false, false },
        { "model", "activations_checkpoint_granularity",
          "/training/activation_checkpointing", false, false },
        { "model", "normalization", "/model/normalization", false, true },
        { "model", "position_embedding_type", "/model/position_embedding_type", false,
          true },
        { "model", "activation", "/model/swiglu", false, true },
        { "model", "bias", "/model/add_bias_linear", false, true },
        { "model", "share_embeddings_and_output_weights",
          "/model/untie_embeddings_and_output_weights", false, true },
        { "model", "num_query_groups", "/model/num_query_groups", false, true },
        { "model", "mcore_gpt", "/training/framework", false, true },
        { "model", "use_flash_attention", "/training/attention", false, true },
    };
    static const char own[] = "megatron_gpt_config";
    const char *name = NULL;
    const struct value_item *model = value_get(all, "model");
    bool named = group || (option_of(c, "--config-name", &name) && name &&
                           strncmp(name, own, sizeof(own) - 1) != 0),
         described = !group && model && value_get(model->value, "num_layers");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct value_item *section = value_get(all, rows[i].section);
        if ((section && value_get(section->value, rows[i].key)) ||
            (!rows[i].any && !named) || (rows[i].words && !described))
            continue;
        launch_add_unresolved(t, rows[i].pointer, c->command->line,
                              "%s: the configuration was not found (put it next to the "
                              "script), and no word sets %s.%s",
                              group ? group : "--config-name", rows[i].section,
                              rows[i].key);
    }
}

/* A recipe's model is by an id; the path of its weights that a launch script takes from its
 * user's environment is of that model, unless the variable is given. */
static bool keeps_model(struct launch_context *t, const struct value *group,
                        const char *path, const struct shell_word *w)
{
    const struct value_item *own = value_get(launch_flatten(t->arena, group), path);
    const char *last = strrchr(path, '.');
    bool model = strstr(path, "model_name_or_path") ||
                 (last && strcmp(last, ".path") == 0 && strstr(path, ".model"));
    if (!model || !w->ask || !own || own->value->kind != VALUE_STRING ||
        !own->value->text[0])
        return false;
    launch_note(t->l, w->line, DIAG_ASSUMED,
                "%s: $%.60s is not set in the script; the recipe's own %.80s is taken "
                "(--set /shell/%.60s=VALUE gives it)",
                path, w->ask, own->value->text, w->ask);
    return true;
}

/* The main file of HyperPod's launcher, main.py of aws/sagemaker-hyperpod-recipes, says on
 * which instances; a word goes before it. */
static void take_instance_of(struct launch_context *t, const struct launch_command *c,
                             struct value *all, int64_t line)
{
    static const char name[] = "recipes_collection/config.yaml";
    const struct value *main =
        value_get(all, "instance_type") ? NULL : open_file(t, c, name, line);
    const struct value_item *it = main ? value_get(main, "instance_type") : NULL;
    if (!it || it->value->kind != VALUE_STRING)
        return;
    value_add(t->arena, all, it->key, line, it->value);
    launch_note(t->l, line, DIAG_ASSUMED, "instance_type: %.60s is that of %s",
                it->value->text, name);
}

struct value *nemo_of_command(struct launch_context *t, const struct launch_command *c)
{
    struct value *all = base_of(t, c), *group = NULL;
    const bool found = all != NULL;
    const char *value, *prefix = NULL, *lost = NULL;
    for (int32_t i = c->script + 1; i < c->command->n && !group; i++) {
        const struct shell_word *w = &c->command->words[i];
        const char *path = path_of(t->arena, w->text, &value);
        if (!path || !is_group(path) || w->why)
            continue;
        group = load_group(t, c, path, value, w->line);
        prefix = arena_printf(t->arena, "%s.", path);
        lost = path;
    }
    all = group ? group
          : all ? all
                : value_new(t->arena, VALUE_DICT, c->command->line, 0);
    const bool known = found || group || take_stock(t, c, all);
    for (int32_t i = c->script + 1; i < c->command->n; i++) {
        const struct shell_word *w = &c->command->words[i];
        const char *path = path_of(t->arena, w->text, &value);
        if (!path || is_group(path))
            continue;
        if (prefix && strncmp(path, prefix, strlen(prefix)) == 0)
            path += strlen(prefix);
        if (!group || !keeps_model(t, all, path, w))
            launch_override(t->arena, all, path, w, value);
    }
    if (group && strcmp(lost, "recipes") == 0)
        take_instance_of(t, c, all, c->command->line);
    if (!known)
        ask_unfound(t, c, all, lost);
    launch_interpolate(t->l, all);
    return all;
}
