/* A command that no starter starts: one process, unless a program before the script, or what
 * starts the file, may start more. */
#include "dialect/launch/launch_starter.h"

#include "base/names.h"
#include "dialect/dialect.h"

#include <ctype.h>
#include <string.h>

static const char count_at[] = "/cluster/count",
                  gpus_at[] = "/cluster/gpus_per_instance";

/* transformers/trainer.py: n_gpu above 1 wraps the model in nn.DataParallel. */
static void note_spread(struct launch_context *t, const struct launch_command *c)
{
    if (c->dialect && c->dialect->spreads && !launch_has(t, gpus_at) &&
        !launch_variable(c, "CUDA_VISIBLE_DEVICES"))
        launch_note(t->l, c->command->line, DIAG_LEFT_OUT,
                    "no starter: one process on one GPU is simulated; where it sees "
                    "several, the Trainer runs on all of them by nn.DataParallel, "
                    "which is not simulated (torchrun starts a process on each)");
}

/* The program before a script, which may start it often: ibrun, dsh, ./launcher; NULL:
 * Python starts the script, or a program does that starts one process of it. */
static const struct shell_word *may_start(const struct launch_command *c)
{
    static const char *const once[] = {
        "time",      "nohup",   "exec",    "env",         "command",   "nice",
        "ionice",    "setsid",  "sudo",    "timeout",     "eval",      "stdbuf",
        "xargs",     "taskset", "numactl", "singularity", "apptainer", "conda",
        "mamba",     "docker",  "podman",  "micromamba",  "uv",        "poetry",
        "pixi",      "pipenv",  "pdm",     "shifter",     "nsys",      "ncu",
        "nvprof",    "hatch",   "dlprof",  "strace",      "coverage",  "enroot",
        "catchsegv", "script",  NULL
    };
    const struct shell_command *own = c->command;
    int32_t i = 0;
    while (i < c->script && names_listed(once, launch_last_part(own->words[i].text)))
        i++;
    const char *name = i < c->script ? launch_last_part(own->words[i].text) : "python";
    bool word = isalpha((unsigned char)*name) || strchr(own->words[i].text, '/');
    bool python = strstr(name, "python") || launch_is_shell(name);
    return i == 0 && word && !python && !own->words[0].why ? &own->words[0] : NULL;
}

/* A word before the script that is not known, and may be a starter; NULL: there is none,
 * or by its name or its branches it is Python. */
static const struct shell_word *hidden_starter(const struct launch_command *c)
{
    static const char *const names[] = { "PY", "py", NULL };
    const struct shell_word *w = &c->command->words[0];
    bool python = names_within(names, w->text) || (w->may && strstr(w->may, "python"));
    for (int32_t i = 1; i < c->script; i++)
        python |= strstr(launch_last_part(c->command->words[i].text), "python") != NULL;
    return c->script > 0 && w->why && w->whole && !python ? w : NULL;
}

/* A script that nothing starts is a process. */
void launch_alone_take(struct launch_context *t, const struct launch_command *c,
                       const struct starter_line *l)
{
    const struct shell_binding *ranks = launch_variable(c, "WORLD_SIZE");
    const struct shell_word *other = may_start(c), *hidden = hidden_starter(c);
    (void)l;
    if (c->starts)
        return;
    if (other && !c->named) {
        launch_add_unresolved(t, count_at, other->line,
                              "%.60s: on how many instances it starts is not known",
                              launch_last_part(other->text));
        launch_add_unresolved(t, gpus_at, other->line,
                              "%.60s: how many processes it starts on each instance is "
                              "not known",
                              launch_last_part(other->text));
        return;
    }
    if (c->named) {
        launch_add_unresolved(t, gpus_at, c->command->line,
                              "%.60s: whether it starts a process for each GPU is not "
                              "known; 1 is one GPU",
                              launch_last_part(c->command->words[0].text));
        return;
    }
    if (hidden && !launch_starter_is_of_job(t, gpus_at)) {
        launch_add_unresolved(t, gpus_at, hidden->line,
                              "%s: whether it starts a process for each GPU is not "
                              "known; 1 is one GPU",
                              hidden->why);
        return;
    }
    if (ranks && !ranks->value && !launch_starter_is_of_job(t, count_at)) {
        launch_add_unresolved(
            t, count_at, ranks->line,
            "WORLD_SIZE: what starts this script for each rank is not "
            "in it");
        return;
    }
    note_spread(t, c);
    t->alone = true;
    launch_starter_one(t, count_at, "no starter", c->command->line);
    launch_starter_one(t, gpus_at, "no starter", c->command->line);
}
