/* Options of starters and of the lines #SBATCH, and the variables that SLURM makes of
 * these. */
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_starter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool launch_starter_names(const char *a, size_t n, const char *b)
{
    size_t i = 0;
    for (; i < n && b[i]; i++)
        if (a[i] != b[i] && !(a[i] == '_' && b[i] == '-'))
            return false;
    return i == n && !b[i];
}

struct starter_option launch_starter_find(const struct shell_word *w, int32_t from,
                                          int32_t to, const char *const *names)
{
    struct starter_option found = { .name = NULL };
    for (int32_t i = from; i < to; i++) {
        const char *equals = strchr(w[i].text, '=');
        size_t n = equals ? (size_t)(equals - w[i].text) : strlen(w[i].text);
        for (const char *const *name = names; *name; name++) {
            if (!launch_starter_names(w[i].text, n, *name))
                continue;
            if (equals)
                found = (struct starter_option) { *name, equals + 1, &w[i] };
            else if (i + 1 < to)
                found = (struct starter_option) { *name, w[i + 1].text, &w[i + 1] };
        }
    }
    return found;
}

bool launch_starter_number(const char *text, int64_t *n)
{
    const char *colon = strrchr(text, ':');
    char *end;
    text = colon ? colon + 1 : text;
    *n = strtoll(text, &end, 10);
    return end != text && (!*end || *end == '(') && *n > 0 && *n <= 1 << 20;
}

const char *const launch_slurm_node_names[] = { "--nodes", "-N", NULL };
const char *const launch_slurm_gpu_names[] = { "--gpus-per-node", "--gres", NULL };
const char *const launch_slurm_all_gpu_names[] = { "--gpus", "-G", NULL };
const char *const launch_slurm_task_names[] = { "--ntasks-per-node", NULL };

static int32_t add_variable(struct shell_given *out, int32_t n, int32_t most,
                            struct arena *arena, const struct starter_option *g,
                            const char *name, int64_t value)
{
    if (n < most && value > 0)
        out[n++] = (struct shell_given) { name, arena_printf(arena, "%" PRId64, value),
                                          g->word->line, false };
    return n;
}

int32_t launch_slurm_variables(struct arena *arena, const struct raw_shell *directives,
                               struct shell_given *out, int32_t most)
{
    static const struct {
        const char *const *names;
        const char *variables[3];
    } rows[] = {
        { launch_slurm_node_names, { "SLURM_NNODES", "SLURM_JOB_NUM_NODES", NULL } },
        { launch_slurm_gpu_names,
          { "SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE", NULL } },
        { launch_slurm_task_names, { "SLURM_NTASKS_PER_NODE", NULL, NULL } },
        { launch_slurm_all_gpu_names, { "SLURM_GPUS", NULL, NULL } },
    };
    int64_t values[4] = { 0 };
    int32_t n = 0;
    struct starter_option last = { .name = NULL };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct starter_option g =
            launch_starter_find(directives->v, 0, directives->n, rows[i].names);
        if (!g.name || !launch_starter_number(g.value, &values[i]))
            continue;
        for (const char *const *name = rows[i].variables; *name; name++)
            n = add_variable(out, n, most, arena, &g, *name, values[i]);
        last = g;
    }
    if (values[0] > 0 && values[2] > 0)
        n = add_variable(out, n, most, arena, &last, "SLURM_NTASKS",
                         values[0] * values[2]);
    return n;
}

struct starter_option launch_submitted(const struct launch_command *c,
                                       const char *const *names)
{
    const struct shell_command *own = c->command;
    while (own->within) {
        own = &c->shell->commands.v[own->within - 1];
        if (own->n && strcmp(launch_last_part(own->words[0].text), "sbatch") == 0)
            return launch_starter_find(own->words, 1, own->n, names);
    }
    return (struct starter_option) { .name = NULL };
}

void launch_take_job_lines(struct launch_context *t, struct launch_command *c)
{
    const struct shell_command *own = c->command;
    while (own->within) {
        own = &c->shell->commands.v[own->within - 1];
        if (!own->n || strcmp(launch_last_part(own->words[0].text), "sbatch") != 0)
            continue;
        for (int32_t i = 1; i < own->n; i++) {
            const char *text =
                own->words[i].text[0] == '-' || own->words[i].why
                    ? NULL
                    : launch_program_text(t->l, t->arena, own->words[i].text);
            struct raw_shell lines =
                text ? shell_directives(t->arena, text) : (struct raw_shell) { 0 };
            if (lines.n)
                c->directives = lines;
        }
    }
}

static int64_t asked_for(const struct raw_shell *directives, const char *const *names)
{
    struct starter_option g =
        launch_starter_find(directives->v, 0, directives->n, names);
    int64_t n;
    return g.name && launch_starter_number(g.value, &n) ? n : 0;
}

int64_t launch_slurm_nodes(const struct raw_shell *directives)
{
    return asked_for(directives, launch_slurm_node_names);
}

int64_t launch_slurm_gpus(const struct raw_shell *directives)
{
    return asked_for(directives, launch_slurm_gpu_names);
}
