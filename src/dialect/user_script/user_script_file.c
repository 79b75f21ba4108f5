/* A script or notebook that trains by itself, as a file that is given: what it is of, its
 * processes, and which call the reading is called after. Commands and documents of such
 * programs are handed on. */
#include "dialect/user_script/user_script.h"

#include "dialect/accelerate/accelerate.h"
#include "dialect/launch/entry_points.h"
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_shell.h"
#include "dialect/peft/peft.h"
#include "dialect/source/notebook.h"

#include <string.h>

bool user_script_recognises(const struct dialect_input *in)
{
    struct arena arena;
    struct user_script g;
    if (in->source == DIALECT_COMMAND)
        return user_script_recognises_command(in);
    if (in->source == DIALECT_DOCUMENT)
        return user_script_recognises_document(in);
    if (user_script_is_of_megatron(in->python->text) &&
        strstr(in->python->text, "pretrain("))
        return false; /* the command's options are its training */
    arena_init(&arena);
    user_script_gather(&g, &arena, in->python);
    bool trains = user_script_trains(&g) || user_script_loops(&g);
    arena_release(&arena);
    return trains;
}

static void take_one(struct launch_context *t, const char *pointer, int64_t line)
{
    struct value v = { .kind = VALUE_INT, .line = line };
    const struct value_item from = { "a notebook is one process", line, &v };
    if (!launch_has(t, pointer))
        launch_set(t, pointer, json_integer(1), &from);
}

/* os.environ["CUDA_VISIBLE_DEVICES"] = "0,1": so many GPUs of the instance. */
static void take_visible(struct launch_context *t, const struct user_script *g)
{
    static const char name[] = "CUDA_VISIBLE_DEVICES",
                      gpus_at[] = "/cluster/gpus_per_instance";
    const struct value *all = python_name(g->python, PYTHON_ENVIRONMENT);
    const struct value_item *it = all ? value_get(all, name) : NULL;
    const char *text = it && it->value->kind == VALUE_STRING ? it->value->text : "";
    int64_t n = launch_devices_listed(text, strlen(text));
    if (!n || text[strspn(text, "0123456789, ")] || launch_has(t, gpus_at))
        return;
    const struct value_item from = { name, it->line, it->value };
    launch_set(t, gpus_at, json_integer((json_int_t)n), &from);
}

/* A notebook runs in one process, or starts several on its instance. */
static void take_processes(struct launch_context *t, const struct user_script *g)
{
    if (user_script_take_remote(t, g) || user_script_take_started(t, g) ||
        user_script_take_lightning_devices(t, g))
        return;
    if (!t->l->notebook) {
        take_visible(t, g);
        return;
    }
    take_one(t, "/cluster/gpus_per_instance", t->l->line);
    take_one(t, "/cluster/count", t->l->line);
}

/* The call that the reading is called after; one of them is there. */
static const struct python_call *first_of(const struct user_script *g)
{
    static const enum user_script_part parts[] = {
        SCRIPT_TRAINER,     SCRIPT_ARGUMENTS, SCRIPT_MODEL,     SCRIPT_CONFIGURATION,
        SCRIPT_DIFFUSION,   SCRIPT_LIGHTNING, SCRIPT_BACKWARD,  SCRIPT_ENGINE,
        SCRIPT_ACCELERATOR, SCRIPT_BOOSTER,   SCRIPT_OPTIMIZER,
    };
    size_t i = 0;
    while (i + 1 < sizeof(parts) / sizeof(parts[0]) && !g->parts[parts[i]])
        i++;
    return g->parts[parts[i]];
}

static void read_cli(struct launch_context *t, const struct value *root)
{
    struct user_script g;
    user_script_open_cli(t, root, &g);
    user_script_take(t, &g);
    if (!user_script_trains(&g))
        user_script_ask_plain(t, &g);
    user_script_take_lightning_devices(t, &g);
}

void user_script_read(struct launch_context *t, const struct dialect_input *in)
{
    struct user_script g;
    if (in->source == DIALECT_COMMAND) {
        user_script_read_command(t, in->command);
        return;
    }
    if (in->source == DIALECT_DOCUMENT) {
        if (user_script_recognises_cli(in->root))
            read_cli(t, in->root);
        else
            user_script_read_document(t, in);
        return;
    }
    user_script_gather(&g, t->arena, in->python);
    user_script_name_copied(&g, t->arena);
    const struct python_call *c = first_of(&g);
    t->l->title =
        arena_printf(t->arena, "%s%s%s(...): read, not run", c->target ? c->target : "",
                     c->target ? " = " : "", c->function);
    t->l->line = c->line;
    const char *name = launch_last_part(t->l->file);
    const struct user_script_start whole = {
        .name = name,
        .text = t->l->notebook ? t->l->notebook->python
                               : launch_program_text(t->l, t->arena, name),
        .line = c->line,
    };
    if (!user_script_trains(&g) && user_script_refuses(t, &whole))
        return;
    /* a loop whose optimizer is not seen may be none */
    struct launch_entry own = launch_entry_of(t, t->l->file);
    bool loop = !g.parts[SCRIPT_TRAINER] && !g.parts[SCRIPT_ARGUMENTS] &&
                !g.parts[SCRIPT_OPTIMIZER];
    if (own.refused && loop && !t->l->notebook) {
        launch_refuse_entry(t->l, t->l->file, own.refused, c->line);
        return;
    }
    if (!g.parts[SCRIPT_MODEL])
        peft_ask_imported(t, launch_last_part(t->l->file), c->line);
    if (user_script_refuses_second(t, &g, NULL, t->l->file))
        return;
    user_script_take(t, &g);
    const struct value *set = accelerate_of_environment(
        t, python_name(g.python, PYTHON_ENVIRONMENT), c->line);
    if (set)
        accelerate_settle(t, set);
    if (!g.parts[SCRIPT_MODEL])
        peft_ask_base(t, c->line);
    user_script_take_own(t, &g, NULL, launch_last_part(t->l->file));
    if (user_script_trains(&g))
        user_script_take_alone(t, &g, c->line);
    else
        user_script_ask_plain(t, &g);
    take_processes(t, &g);
}
