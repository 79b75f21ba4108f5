/* Files that name hosts for deepspeed, MPI and Horovod: "node1 slots=8", "node1:8" or
 * "node1" a line. */
#include "dialect/launch/launch_shell.h"

#include "base/file.h"
#include "dialect/source/files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 1 << 20, SLOTS_MAX = 64 };

/* The text of a file that the script writes, or that is next to it; NULL. */
static const char *text_of(struct launch_context *t, const char *name)
{
    const struct source_file *own = launch_own_file(t->l, name);
    struct err err = { 0 };
    size_t len;
    if (own)
        return own->text;
    const char *path =
        t->l->file ? source_files_next_to(t->arena, t->l->file, name) : NULL;
    char *read = path ? file_read(path, FILE_MAX_B, &len, &err) : NULL;
    const char *text = read ? arena_strdup(t->arena, read) : NULL;
    free(read);
    return text;
}

/* The slots that a line gives its host; 0: it gives none; -1: they are no number. */
static int64_t slots_of(const char *line, size_t n)
{
    static const char word[] = "slots=";
    const size_t host = strcspn(line, " \t:#\n");
    const char *at = host < n ? line + host : line + n;
    if (*at == ':')
        at++;
    else {
        at += strspn(at, " \t");
        if (at >= line + n || *at == '#')
            return 0;
        if (strncmp(at, word, sizeof(word) - 1) != 0)
            return -1;
        at += sizeof(word) - 1;
    }
    const int64_t slots = isdigit((unsigned char)*at) ? strtoll(at, NULL, 10) : 0;
    return slots > 0 && slots <= SLOTS_MAX ? slots : -1;
}

bool launch_hosts_in(struct launch_context *t, const char *name, int64_t *hosts,
                     int64_t *each)
{
    const char *text = text_of(t, name);
    bool same = text != NULL;
    *hosts = *each = 0;
    for (const char *line = text; same && *line;) {
        const size_t n = strcspn(line, "\n"), blank = strspn(line, " \t\r");
        if (blank < n && line[blank] != '#') {
            const int64_t slots = slots_of(line + blank, n - blank);
            same = slots >= 0 && (*hosts == 0 || slots == *each);
            *each = slots;
            ++*hosts;
        }
        line += n + (line[n] == '\n');
    }
    return same && *hosts > 0;
}
