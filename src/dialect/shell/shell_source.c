/* Files that a shell script reads as a part of itself. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

enum { JOB_VARIABLES_MAX = 16 };

/* sbatch FILE: what SLURM sets of the file's lines and of the command's words, which go
 * before. */
static void set_variables(struct shell_machine *m, const struct shell_texts *command,
                          const char *text)
{
    struct shell_given made[JOB_VARIABLES_MAX];
    if (!m->in->job || !shell_is(&command->v[0], "sbatch"))
        return;
    struct raw_shell lines = shell_directives(m->arena, text),
                     all = { .v = ARENA_ARRAY(m->arena, lines.n + command->n,
                                              struct shell_word) };
    for (int32_t i = 0; i < lines.n; i++)
        all.v[all.n++] = lines.v[i];
    for (int32_t i = 1; i < command->n; i++)
        all.v[all.n++] =
            (struct shell_word) { .text = shell_string(m, &command->v[i], false),
                                  .line = 1 };
    int32_t n = m->in->job(m->arena, &all, made, JOB_VARIABLES_MAX);
    for (int32_t i = 0; i < n; i++) {
        struct shell_text value = { 0 };
        shell_add_string(m, &value, made[i].value, (struct shell_char) { .line = 1 });
        struct shell_texts one = { &value, 1, 0 };
        shell_assign(m, made[i].name, &one, false, false);
        shell_text_release(&value);
    }
}

/* The file of that name next to the script, whatever folder a path names: it is where
 * one who has no more than the files has put it. */
static const char *without_folders(struct shell_machine *m, const char *name,
                                   int32_t line)
{
    const char *slash = strrchr(name, '/'),
               *text = slash ? shell_file_text(m, slash + 1) : NULL;
    for (int k = 0; text && k <= m->sourced; k++)
        if (strcmp(text, m->reading[k]) == 0)
            return NULL; /* the script itself */
    if (text)
        shell_note(m, line, "%s is taken to be %.60s next to the script",
                   shell_shown(m->arena, name), slash + 1);
    return text;
}

/* Reads the file that a word names, as if it stood there; false: it is not found. Its
 * characters stand at the line that names it; `started`: by this command. */
static bool read_file(struct shell_machine *m, const struct shell_text *w,
                      const struct shell_texts *started)
{
    int32_t line = w->n ? w->v[0].line : 0;
    const struct shell_unknown *u = shell_unknown_of(m, w);
    const char *name = shell_string(m, w, false), *text = NULL;
    bool deep = m->sourced >= SHELL_SOURCED_MAX;
    const struct shell_text *own = deep ? NULL : shell_own_text(m, w);
    if (own)
        text = shell_string(m, own, true);
    else if (!u && !deep)
        text = shell_file_text(m, name);
    if (!text && !u && !deep)
        text = without_folders(m, name, line);
    if (!text) {
        shell_note(m, line, "%s is not read: %s", shell_shown(m->arena, name),
                   u ? u->why : "it was not found next to the script");
        if (started && m->out->notes.n)
            m->out->notes.v[m->out->notes.n - 1].missing = name;
        return false;
    }
    for (int k = 0; started && k <= m->sourced; k++)
        if (strcmp(text, m->reading[k]) ==
            0) { /* sbatch $0: the next part of the job */
            shell_note(m, line, "%.60s starts itself again: it is read once", name);
            return true;
        }
    if (shell_works(m, (int64_t)strlen(text)))
        return false;
    m->reading[++m->sourced] = text;
    if (started)
        set_variables(m, started, text);
    shell_nested(m,
                 own ? (struct shell_cursor) { own->v, own->n, 0, -1, -1 }
                     : shell_characters(m->arena, text, strlen(text), line ? line : 1));
    m->sourced--;
    return true;
}

void shell_source(struct shell_machine *m, const struct shell_texts *words)
{
    struct shell_arguments outer = m->arguments;
    struct shell_frame f = shell_frame_begin(m, false);
    if (words->n > 2)
        m->arguments = shell_arguments_of(m, words, 2);
    read_file(m, &words->v[1], NULL);
    if (words->n > 2)
        m->arguments = outer;
    shell_frame_end(m, &f, false);
    m->ended = false;
}

bool shell_start(struct shell_machine *m, const struct shell_texts *words, int32_t i)
{
    struct shell_subshell *inner = shell_subshell_begin(m);
    m->arguments = shell_arguments_of(m, words, i + 1);
    bool found = read_file(m, &words->v[i], words);
    shell_subshell_end(m, inner);
    return found;
}
