/* The texts of files that a shell script reads. */
#include "dialect/shell/shell_machine.h"

#include "base/file.h"
#include "config/lenient.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS_MAX = 1000 };

/* A line for each task of the job; NULL: how many nodes it has is not known. */
static const char *hosts_of(struct shell_machine *m)
{
    int64_t each = m->in->tasks > 0 ? m->in->tasks : 1, n = m->in->nodes;
    const char *text = "";
    if (n <= 0 || n > HOSTS_MAX / each)
        return NULL;
    for (int64_t i = 0; i < n * each; i++)
        text = arena_printf(m->arena, "%snode%" PRId64 "\n", text, i / each + 1);
    shell_works(m, (int64_t)strlen(text));
    return text;
}

/* Of one path as it is. */
static const char *text_of(struct shell_machine *m, const char *name)
{
    if (strcmp(name, SHELL_NODE_FILE) == 0)
        return hosts_of(m);
    const struct source_file *own =
        source_files_find(m->in->files, m->in->n_files, name);
    if (own)
        return own->text;
    for (int64_t i = m->out->files.n; i-- > 0;)
        if (strcmp(m->out->files.v[i].name, name) == 0)
            return m->out->files.v[i].text;
    const char *path =
        m->in->file ? source_files_next_to(m->arena, m->in->file, name) : NULL;
    struct err err = { 0 };
    size_t len = 0;
    char *text = path ? file_read(path, SHELL_TEXT_MAX_B, &len, &err) : NULL;
    const char *kept = text && lenient_bad_byte(text, len) == len
                           ? arena_strndup(m->arena, text, len)
                           : NULL;
    free(text);
    return kept;
}

const char *shell_file_text(struct shell_machine *m, const char *name)
{
    const char *path = shell_path(m->arena, m->directory, name),
               *text = text_of(m, path);
    return text || strcmp(path, name) == 0 ? text : text_of(m, name);
}

/* What a variable may hold more is a field of its own in it: "logs/a $MORE/job.sh". */
static const char *last_field(const char *name)
{
    const char *blank = strrchr(name, ' ');
    return blank ? blank + 1 : name;
}

static const struct shell_written *written_as(const struct shell_machine *m,
                                              const char *name)
{
    const struct shell_written *w = m->written;
    while (w && strcmp(last_field(w->name), last_field(name)) != 0)
        w = w->before;
    return w;
}

void shell_write(struct shell_machine *m, const char *name,
                 const struct shell_text *text, bool appends)
{
    const struct shell_written *before = appends ? written_as(m, name) : NULL;
    struct shell_text all = { 0 };
    if (before) {
        shell_append(m, &all, &before->text);
        shell_add_string(m, &all, "\n", (struct shell_char) { .line = 1 });
    }
    shell_append(m, &all, text);
    struct shell_written *w = ARENA_NEW(m->arena, struct shell_written);
    *w = (struct shell_written) { name, shell_keep(m, &all), m->written };
    m->written = w;
    shell_text_release(&all);
}

const struct shell_text *shell_own_text(struct shell_machine *m,
                                        const struct shell_text *name)
{
    const struct shell_written *w = written_as(m, shell_string(m, name, false));
    return w && (shell_unknown_of(m, name) || shell_unknown_of(m, &w->text)) ? &w->text
                                                                             : NULL;
}

const char *shell_shown(struct arena *arena, const char *path)
{
    enum { SHOWN_B = 60, DOTS_B = 3 };
    size_t n = strlen(path);
    const char *from = n > SHOWN_B ? path + n - (SHOWN_B - DOTS_B) : path;
    while ((*from & 0xC0) == 0x80) /* within a character */
        from++;
    const char *slash = from > path ? strchr(from, '/') : NULL;
    return from > path ? arena_printf(arena, "...%s", slash ? slash : from) : path;
}
