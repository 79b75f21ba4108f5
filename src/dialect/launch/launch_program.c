/* Which word of a command is its program, by the words alone: see launch_choose.h. */
#include "base/names.h"
#include "dialect/launch/launch_choose.h"
#include "dialect/launch/launch_starter.h"

#include <string.h>

bool launch_is_plain(const struct shell_command *c)
{
    static const char *const others[] = { "eval", "echo", "printf",  "cp",
                                          "ls",   "cat",  "rm",      "mkdir",
                                          "grep", "cd",   "#SBATCH", NULL };
    return c->n == 0 || names_listed(others, c->words[0].text);
}

int32_t launch_named_program(const struct shell_command *c)
{
    static const char *const marks[] = { "model_name_or_path",
                                         "per_device_train_batch_size" };
    int32_t first = 0, found = 0;
    while (first < c->n && !launch_is_option(&c->words[first]))
        first++;
    for (int32_t i = 0; i < first; i++)
        if (launch_is_starter(c->words[i].text) || c->words[i].why ||
            strncmp(launch_last_part(c->words[i].text), "python", 6) == 0 ||
            launch_is_shell(c->words[i].text))
            return -1;
    for (int32_t i = first; i < c->n; i++)
        for (int k = 0; k < 2 && launch_is_option(&c->words[i]); k++)
            found |= launch_same_word(c->words[i].text + 2, marks[k]) << k;
    return !launch_is_plain(c) && found == 3 ? first - 1 : -1;
}

int32_t launch_open_script(const struct shell_command *c)
{
    bool starts = false;
    for (int32_t i = 0; i + 1 < c->n; i++) {
        const struct shell_word *w = &c->words[i];
        const char *name = launch_last_part(w->text);
        bool value = i && launch_is_option(w - 1) && !strchr(w[-1].text, '=');
        if (starts && w->whole && !value && !w->may && launch_is_option(w + 1))
            return i;
        starts |= (launch_is_starter(name) && strcmp(name, "srun") != 0 &&
                   strcmp(name, "mpirun") != 0) ||
                  strncmp(name, "python", 6) == 0;
    }
    return -1;
}
