/* Modules that a starter runs as a program: `torchrun -m package.train` runs
 * package/train.py (runpy.run_module; torch/distributed/run.py --module, Accelerate's
 * `launch --module`, DeepSpeed's `--module`). */
#include "base/names.h"
#include "dialect/launch/launch_shell.h"

#include <ctype.h>
#include <string.h>

static bool runs_modules(const char *word)
{
    static const char *const others[] = { "torchrun", "accelerate", "deepspeed", NULL };
    const char *name = launch_last_part(word);
    return strncmp(name, "python", 6) == 0 || names_listed(others, name) ||
           launch_is_starter(name);
}

static bool is_module(const struct shell_word *w)
{
    const char *s = w->text;
    if (w->why || !(isalpha((unsigned char)*s) || *s == '_'))
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_' && *s != '.')
            return false;
    return s[-1] != '.';
}

/* The word that is a module's name, of those before any program; -1: none. */
static int32_t module_of(const struct shell_command *c, launch_program_of *own)
{
    bool starts = false;
    for (int32_t i = 0; i + 1 < c->n; i++) {
        const char *text = c->words[i].text, *dot = strrchr(text, '.');
        bool asks = strcmp(text, "-m") == 0 || strcmp(text, "--module") == 0;
        if (dot && strcmp(dot, ".py") == 0)
            return -1;
        starts |= runs_modules(text);
        const char *name = c->words[i + 1].text;
        if (starts && asks && is_module(&c->words[i + 1]) && !launch_is_starter(name))
            return own(name) ? -1 : i + 1;
    }
    return -1;
}

void launch_name_modules(struct arena *arena, struct shell *s, launch_program_of *own)
{
    for (int64_t i = 0; i < s->commands.n; i++) {
        struct shell_command *c = &s->commands.v[i];
        int32_t at = module_of(c, own);
        if (at < 0)
            continue;
        struct shell_word *words = ARENA_ARRAY(arena, c->n, struct shell_word);
        memcpy(words, c->words, (size_t)c->n * sizeof(words[0]));
        char *path = arena_printf(arena, "%s.py", words[at].text);
        for (char *p = path; p < path + strlen(path) - 3; p++)
            *p = *p == '.' ? '/' : *p;
        words[at].text = path;
        c->words = words;
    }
}
