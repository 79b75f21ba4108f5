/* The plugin that the program of a command makes: which of the command's options it takes,
 * and what its text decides. */
#include "dialect/colossalai/colossalai_parts.h"

#include "dialect/launch/launch_imports.h"

#include <string.h>

static const char *const calls[] = {
    "HybridParallelPlugin",
    "MoeHybridParallelPlugin",
    "LowLevelZeroPlugin",
    "GeminiPlugin",
    "TorchDDPPlugin",
    "TorchFSDPPlugin",
    NULL,
};

/* Options that act through a plugin alone, with their other names. */
static const struct {
    const char *name, *other;
} own[] = {
    { "tp_size", "tp" },
    { "pp_size", "pp" },
    { "ep_size", "ep" },
    { "sp_size", "sp" },
    { "zero_stage", "zero" },
    { "microbatch_size", "mbs" },
    { "num_model_chunks", "n_chunks" },
    { "sp_mode", "sp_mode" },
    { "enable_sequence_parallelism", "enable_sequence_parallelism" },
    { "offload_optim_frac", "offload_optim_frac" },
    { "offload_param_frac", "offload_param_frac" },
    { "zero_cpu_offload", "zero_cpu_offload" },
};
enum { N_OWN = sizeof(own) / sizeof(own[0]) };

/* The last call that is made for sure; else the only one of the plugin's kind. NULL: it
 * is not known which. */
static const struct python_call *chosen(const struct python *p,
                                        const struct colossalai_plugin *plugin)
{
    const struct python_call *sure = NULL, *alike = NULL;
    int n = 0;
    for (int64_t i = 0; i < p->calls.n; i++) {
        const struct python_call *c = &p->calls.v[i];
        const char *class = python_last_part(c->function);
        if (!colossalai_has_class(class))
            continue;
        sure = c->unsure ? sure : c;
        if (plugin && colossalai_kind_of(class) == plugin->kind)
            alike = c, n++;
    }
    return sure ? sure : n == 1 ? alike : NULL;
}

/* Without a member of a dictionary. */
void colossalai_leave_out(struct value *c, const char *name)
{
    for (int32_t i = 0; i < c->n; i++)
        if (strcmp(c->items[i].key, name) == 0) {
            c->items[i] = c->items[--c->n];
            return;
        }
}

/* Of an option of the command and an argument of the call: what the text knows goes
 * before, what it does not is what the command says, and what the plugin is not given
 * does nothing. */
static void join_one(struct launch_context *t, struct value *c,
                     const struct value *made, int which)
{
    const char *name = own[which].name, *other = own[which].other;
    const struct value_item *of_text = value_get(made, name),
                            *given = value_get(c, name);
    given = given ? given : value_get(c, other);
    if (of_text && of_text->value->kind == VALUE_UNKNOWN && given)
        return;
    if (!of_text && given)
        launch_note(t->l, given->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect: the plugin of this program is not given it",
                    given->key);
    colossalai_leave_out(c, name);
    colossalai_leave_out(c, other);
    if (of_text)
        colossalai_put(t->arena, c, name, of_text->value->line, of_text->value);
}

/* All of them; num_microbatches cuts the batch of a replica. */
static void join(struct launch_context *t, struct value *c, const struct value *made,
                 int64_t batch, int64_t line)
{
    int64_t n = 0;
    for (int i = 0; i < N_OWN; i++)
        join_one(t, c, made, i);
    const struct value_item *parts = value_get(made, "num_microbatches"),
                            *it = value_get(c, "batch_size");
    if (it && !launch_whole(it->value, &batch))
        return;
    if (parts && launch_whole(parts->value, &n) && n > 0 && batch % n == 0) {
        struct value *each = value_new(t->arena, VALUE_INT, line, 0);
        each->integer = batch / n;
        colossalai_put(t->arena, c, "microbatch_size", line, each);
    }
    for (int32_t i = 0; i < made->n; i++) {
        const struct value_item *m = &made->items[i];
        bool flash = strcmp(m->key, "use_flash_attn") == 0,
             type = strcmp(m->key, "precision") == 0;
        if ((flash || type) && m->value->kind != VALUE_UNKNOWN)
            colossalai_put(t->arena, c, m->key, m->value->line, m->value);
    }
}

/* What an option gives is at its line, the rest at the command's. */
static void place(struct value *given, int64_t line)
{
    for (int32_t i = 0; i < given->n; i++) {
        struct value *v = given->items[i].value;
        value_move_to(v, v->line < 0 ? -v->line : line);
    }
}

/* Options that the command leaves to the text's own defaults. */
static void take_defaults(struct launch_context *t, struct value *words,
                          const struct value *parsed, int64_t line)
{
    static const char *const names[] = {
        "max_length",
        "max_len",
        "mixed_precision",
        "batch_size",
        "micro_batch_size",
        "accumulation_steps",
        "gradient_accumulation_steps",
        "grad_clip",
        NULL,
    };
    for (const char *const *name = names; parsed && *name; name++) {
        const struct value_item *it = value_get(parsed, *name);
        bool known =
            it && it->value->kind != VALUE_UNKNOWN && it->value->kind != VALUE_NONE;
        if (!known || value_get(words, *name))
            continue;
        struct value *v = value_new(t->arena, it->value->kind, line, 0);
        *v = *it->value;
        v->line = line;
        value_add(t->arena, words, *name, line, v);
    }
}

bool colossalai_read_program(struct launch_context *t, const struct launch_command *c,
                             struct value *words,
                             const struct colossalai_plugin *plugin, int64_t batch)
{
    const char *path = c->command->words[c->script].text,
               *text = launch_program_text(t->l, t->arena, path);
    int64_t line = c->command->line;
    struct launch_imports imports;
    const struct python_wanted wanted = {
        .calls = calls,
        .same = (const char *const[]) { NULL },
        .given = words,
        .gpu = { t->l->gpus, t->l->arch, 0, t->l->memory_B },
        .modules = launch_imports(&imports, t->l, path),
    };
    struct python p;
    struct err err = { 0 };
    const struct python_call *call = NULL;
    if (!text)
        return false;
    if (python_read(&p, t->arena, text, strlen(text), &wanted, &err) == 0)
        call = chosen(&p, plugin);
    take_defaults(t, words, p.parsed, line);
    if (call) {
        int64_t budget = 1000;
        struct value *given = value_copy(t->arena, call->arguments, &budget);
        if (given) {
            place(given, line);
            join(t, words, colossalai_words_of_call(t, given, NULL, line), batch, line);
        }
        launch_note(t->l, line, DIAG_ASSUMED,
                    "%.60s is read: its %.40s(...) at line %d", launch_last_part(path),
                    python_last_part(call->function), (int)call->line);
    }
    python_release(&p);
    return call != NULL;
}
