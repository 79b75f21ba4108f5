/* Variables of the environment: those that are set, and those that starters hand on to
 * what they start (mpirun -x, srun --export). */
#include "dialect/launch/launch_shell.h"
#include "dialect/launch/launch_starter.h"
#include "scenario/nccl_environment.h"

#include <string.h>

void launch_take_variable(struct launch_context *t, const struct shell_binding *b)
{
    struct value v = { .kind = VALUE_STRING, .line = b->line };
    const struct value_item from = { b->name, b->line, &v };
    launch_take_device(t, b);
    if (!environment_knows(b->name))
        return;
    if (!b->value) {
        launch_note(t->l, b->line, DIAG_LEFT_OUT,
                    "%s: its value is not known; it is left out", b->name);
        return;
    }
    const char *pointer = launch_pointer(t, "/software/environment", b->name);
    if (!t->call || !launch_has(t, pointer)) /* a job has given it already */
        launch_set(t, pointer, json_string(b->value), &from);
}

/* "NAME=VALUE" as a starter hands it on; a name alone hands on the shell's. */
static void take_export(struct launch_context *t, const char *option,
                        const struct shell_word *w, const char *text, size_t n)
{
    char *name = arena_strndup(t->arena, text, n), *equals = strchr(name, '=');
    struct value v = { .kind = VALUE_STRING, .line = w->line };
    const struct value_item from = { option, w->line, &v };
    if (!equals)
        return;
    *equals = '\0';
    const char *pointer = launch_pointer(t, "/software/environment", name);
    if (!environment_knows(name))
        launch_note(t->l, w->line, DIAG_WITHOUT_EFFECT,
                    "%s: without effect here: %.60s", option, name);
    else if (w->why)
        launch_add_unknown(t, pointer, option, launch_word_value(t->arena, w, NULL));
    else
        launch_set(t, pointer, json_string(equals + 1), &from);
}

/* mpirun -x NAME=VALUE */
void launch_take_mpi_exports(struct launch_context *t, const struct starter_line *l)
{
    for (int32_t i = l->at + 1; i + 1 < l->end; i++)
        if (strcmp(l->w[i].text, "-x") == 0)
            take_export(t, "-x", &l->w[i + 1], l->w[i + 1].text,
                        strlen(l->w[i + 1].text));
}

/* srun --export=ALL,NAME=VALUE */
void launch_take_srun_exports(struct launch_context *t, const struct starter_line *l)
{
    for (int32_t i = l->at + 1; i < l->end; i++) {
        const char *list = l->w[i].text;
        if (strncmp(list, "--export=", 9) != 0)
            continue;
        for (list += 9; *list; list += strspn(list, ",")) {
            size_t n = strcspn(list, ",");
            take_export(t, "--export", &l->w[i], list, n);
            list += n;
        }
    }
}
