/* sort and uniq, of what a command printed. */
#include "base/strbuf.h"
#include "dialect/shell/shell_machine.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 4000 };

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *shell_lines(struct shell_machine *m, const char *text, bool sorts,
                        bool once)
{
    const char **lines = ARENA_ARRAY(m->arena, LINES_MAX, const char *);
    int n = 0;
    shell_works(m, (int64_t)strlen(text));
    for (const char *s = text; *s && n < LINES_MAX; n++) {
        size_t len = strcspn(s, "\n");
        lines[n] = arena_strndup(m->arena, s, len);
        s += len + (s[len] == '\n');
    }
    if (n == LINES_MAX)
        return NULL;
    if (sorts)
        qsort(lines, (size_t)n, sizeof(*lines), by_text);
    struct strbuf out;
    strbuf_init(&out);
    for (int i = 0; i < n; i++)
        if (!once || i == 0 || strcmp(lines[i], lines[i - 1]) != 0)
            strbuf_printf(&out, "%s\n", lines[i]);
    const char *all = arena_strdup(m->arena, strbuf_get(&out));
    strbuf_release(&out);
    return all;
}
