/* torchtitan's commands: a file in TOML, or a configuration of its registry by name, with
 * options "--section.key value" over it (torchtitan/config/manager.py, v0.1 to v0.2;
 * run_train.sh). */
#include "config/datadir.h"
#include "dialect/launch/launch_config.h"
#include "dialect/launch/launch_override.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/torchtitan/torchtitan.h"

#include <string.h>

/* run_train.sh starts NGPU processes, 8 without a number, on its node. */
static void take_script(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_binding *n = launch_variable(c, "NGPU");
    struct value v = { .kind = VALUE_STRING, .line = n ? n->line : c->command->line };
    const struct value_item from = { n ? "NGPU" : "run_train.sh's default", v.line,
                                     &v };
    int64_t gpus = 8;
    v.text = n ? n->value : "8";
    if (!v.text) {
        v.kind = VALUE_UNKNOWN;
        v.why = "its value is not known";
    }
    launch_assume(t, "/cluster/count", json_integer(1), "run_train.sh, on one node");
    if (!launch_whole(&v, &gpus) || gpus < 1)
        launch_unresolved_item(t, "/cluster/gpus_per_instance", &from,
                               "number of GPUs");
    else
        launch_set(t, "/cluster/gpus_per_instance", json_integer((json_int_t)gpus),
                   &from);
}

static bool is_known_word(const struct value_item *it, const char **text)
{
    bool known = it && it->value->kind == VALUE_STRING;
    *text = known ? it->value->text : "";
    return known;
}

/* "--module llama3 --config llama3_8b": facts as data. */
static struct value *of_registry(struct launch_context *t,
                                 const struct launch_command *c)
{
    const struct value_item *it = launch_option(c, "--config");
    const struct shell_binding *b = launch_variable(c, "CONFIG");
    const char *name;
    bool given = is_known_word(it, &name);
    if (!given && !(b && b->value))
        return NULL;
    name = given ? name : b->value;
    const struct value_item *of = launch_option(c, "--module");
    const struct shell_binding *m = launch_variable(c, "MODULE");
    const char *module;
    if (!is_known_word(of, &module))
        module = m && m->value ? m->value : "llama3";
    int64_t at = given ? it->line : b->line;
    struct value *own = torchtitan_registry(t, module, name, at);
    if (own)
        return own;
    struct cfg all =
        datadir_load(t->l->loader, "models/launch", "torchtitan", (struct cfg) { 0 });
    struct cfg row = cfg_get(cfg_get(all, "configs"), name);
    struct value *root = value_new(t->arena, VALUE_DICT, at, 0);
    if (!row.json)
        launch_lost(t->l, name, at,
                    "is no configuration of torchtitan's registry that is known (put "
                    "its config_registry.py next to the script, or give its values in "
                    "TOML)");
    else
        launch_note(t->l, at, DIAG_ASSUMED,
                    "%.60s: as torchtitan's registry of August 2026 has it, since no "
                    "config_registry.py is next to the script",
                    name);
    launch_override_members(t->arena, root, row, at);
    return root;
}

static struct value *of_file(struct launch_context *t, const struct launch_command *c)
{
    const struct shell_binding *b = launch_variable(c, "CONFIG_FILE");
    struct launch_named named = { NULL, NULL };
    int64_t line = c->command->line;
    if (launch_names_document(c, &named))
        line = named.word->line;
    else if (b && b->value)
        named.text = b->value, line = b->line;
    if (!named.text)
        return NULL;
    struct value *root = launch_open_document(t->l, c, named.text, line);
    if (!root)
        launch_lost(t->l, named.text, line,
                    "was not found (put it next to the script)");
    return root ? root : value_new(t->arena, VALUE_DICT, line, 0);
}

/* Options that say where the configuration is. */
static bool names_it(const char *key)
{
    return strcmp(key, "job.config_file") == 0 || strcmp(key, "config") == 0 ||
           strcmp(key, "module") == 0 || strcmp(key, "job.config_manager_module") == 0;
}

const struct value *torchtitan_arguments(struct launch_context *t,
                                         const struct launch_command *c)
{
    struct value *root = of_file(t, c);
    root = root ? root : of_registry(t, c);
    root = root ? root : value_new(t->arena, VALUE_DICT, c->command->line, 0);
    if (strcmp(launch_last_part(c->command->words[c->script].text), "run_train.sh") ==
        0)
        take_script(t, c);
    for (int32_t i = 0; i < c->options.n; i++) {
        const struct value_item *it = &c->options.items[i];
        char *key = launch_argument(t->arena, it->key);
        if (!names_it(key))
            launch_override_value(t->arena, root, key, it->value);
    }
    return root;
}

/* Of 2026's versions a batch is tokens: of a microbatch, and of a step. */
bool torchtitan_take_tokens(struct launch_context *t, const struct value *c)
{
    static const char micro[] = "/training/micro_batch_size";
    const struct value_item *it =
        value_get(c, "training.num_tokens_per_microbatch_per_dp_rank");
    const struct value_item *step = value_get(c, "training.num_tokens_per_train_step"),
                            *many = value_get(c, "parallelism.num_pp_microbatches");
    int64_t length = launch_number(t, "/training/sequence_length", 2048), n = 0;
    launch_hear(t, it);
    launch_hear(t, step);
    launch_hear(t, many);
    if (!it && !value_get(c, "training.max_context_length"))
        return false;
    n = 16384; /* torchtitan/config/configs.py */
    if ((it && !launch_whole(it->value, &n)) || n < length || n % length) {
        launch_add_unresolved(t, micro, it ? it->line : 1,
                              "num_tokens_per_microbatch_per_dp_rank is no multiple of "
                              "the context's length");
        return true;
    }
    if (it)
        launch_set(t, micro, json_integer((json_int_t)(n / length)), it);
    else
        launch_assume(t, micro, json_integer((json_int_t)(n / length)),
                      "num_tokens_per_microbatch_per_dp_rank's default");
    if (many && launch_number(t, "/parallelism/pipeline", 1) > 1 &&
        launch_whole(many->value, &n) && n > 0)
        launch_set(t, "/training/microbatches", json_integer((json_int_t)n), many);
    if (step && launch_whole(step->value, &n) && n > 0 && n % length == 0)
        launch_set(t, "/training/global_batch_size",
                   json_integer((json_int_t)(n / length)), step);
    return true;
}
