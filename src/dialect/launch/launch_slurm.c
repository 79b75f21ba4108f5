/* Options of starters and of the lines #SBATCH, and the variables that SLURM makes of
 * these. */
#include "dialect/launch/launch_imports.h"
#include "dialect/launch/launch_override.h"
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

static int64_t asked_for(const struct raw_shell *directives, const char *const *names)
{
    struct starter_option g =
        launch_starter_find(directives->v, 0, directives->n, names);
    int64_t n;
    return g.name && launch_starter_number(g.value, &n) ? n : 0;
}

/* Schedulers, by the lines of a job and by their variables: how many nodes it has, and the
 * file of its hosts (their manuals, as of shell_scheduler.c). */
static const struct scheduler {
    const char *mark, *family;
    const char *nodes[3];
    const char *file;
} schedulers[] = {
    { "#SBATCH", "SLURM_", { "SLURM_NNODES", "SLURM_JOB_NUM_NODES", NULL }, NULL },
    { "#PBS", "PBS_", { "PBS_NUM_NODES", NULL }, "PBS_NODEFILE" },
    { "#BSUB", "LSB_", { NULL }, "LSB_DJOB_HOSTFILE" },
    { "#PJM", "PJM_", { "PJM_NODE", NULL }, "PJM_O_NODEINF" },
    { "#$ ", "NHOSTS", { "NHOSTS", NULL }, "SGE_JOB_HOSTLIST" },
};

/* The one that a script is for: by its lines, else the only one whose variables it has;
 * NULL: there is none. */
static const struct scheduler *scheduler_of(const char *text)
{
    const size_t n = sizeof(schedulers) / sizeof(schedulers[0]);
    const struct scheduler *found = NULL;
    for (const struct scheduler *s = schedulers; s < schedulers + n; s++)
        for (const char *c = text; (c = strstr(c, s->mark)) != NULL; c++)
            if (c == text || c[-1] == '\n')
                return s;
    int families = 0;
    for (const struct scheduler *s = schedulers; s < schedulers + n; s++)
        if (strstr(text, s->family)) {
            found = s;
            families++;
        }
    return families == 1 ? found : NULL;
}

/* ABCI's variable of the kind of node that a line of Grid Engine asks for, "-l rt_AF=32"
 * (ABCI 2.0 User Guide, Job Execution). */
static int32_t add_resource(struct arena *arena, const char *text,
                            struct shell_given *out, int32_t n, int32_t most)
{
    static const char mark[] = "#$ -l rt_";
    const char *at = strstr(text, mark);
    if (!at || (at != text && at[-1] != '\n') || n >= most)
        return n;
    at += sizeof(mark) - sizeof("rt_");
    out[n++] = (struct shell_given) { "SGE_RESOURCE_TYPE",
                                      arena_strndup(arena, at, strcspn(at, "= \t\r\n")),
                                      0, false };
    return n;
}

int32_t launch_job_variables(struct arena *arena, const char *text, int64_t nodes,
                             struct shell_given *out, int32_t n, int32_t most)
{
    n = add_resource(arena, text, out, n, most);
    const struct scheduler *s = nodes > 0 ? scheduler_of(text) : NULL;
    int32_t made = n;
    for (int i = 0; s && s->nodes[i] && n < most; i++) {
        bool has = false;
        for (int32_t k = 0; k < made; k++)
            has |= strcmp(out[k].name, s->nodes[i]) == 0;
        if (!has)
            out[n++] = (struct shell_given) { s->nodes[i],
                                              arena_printf(arena, "%" PRId64, nodes), 0,
                                              false };
    }
    if (s && s->file && n < most)
        out[n++] = (struct shell_given) { s->file, SHELL_NODE_FILE, 0, false };
    return n;
}

int64_t launch_job_tasks(const struct raw_shell *directives)
{
    return asked_for(directives, launch_slurm_task_names);
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
            const struct shell_word *w = &own->words[i];
            const char *text = w->text[0] == '-' ? NULL
                               : w->why ? launch_written_text(t->l, c->shell, w->text)
                                        : launch_program_text(t->l, t->arena, w->text);
            struct raw_shell lines =
                text ? shell_directives(t->arena, text) : (struct raw_shell) { 0 };
            if (lines.n)
                c->directives = lines;
        }
    }
}

int64_t launch_slurm_nodes(const struct raw_shell *directives)
{
    return asked_for(directives, launch_slurm_node_names);
}

int64_t launch_slurm_gpus(const struct raw_shell *directives)
{
    return asked_for(directives, launch_slurm_gpu_names);
}
