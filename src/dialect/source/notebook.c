#include "dialect/source/notebook.h"

#include "base/names.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <string.h>

/* What a cell's first line makes of it. */
enum cell_kind { CELL_PYTHON, CELL_SHELL, CELL_FILE, CELL_OTHER };

struct writer {
    struct notebook *nb;
    struct arena *arena;
    struct strbuf python, shell;
    int64_t line; /* of both texts, from 1 */
    bool goes_on; /* the line of the shell that ended with "\" */
};

/* Lines ---------------------------------------------------------------------------- */

static void add_line(struct writer *w, const char *python, size_t n_python,
                     const char *shell, size_t n_shell)
{
    strbuf_add(&w->python, python, n_python);
    strbuf_add(&w->shell, shell, n_shell);
    strbuf_addch(&w->python, '\n');
    strbuf_addch(&w->shell, '\n');
    w->nb->has_shell |= n_shell > 0;
    w->line++;
}

static bool has_word(const char *line, size_t n, const char *word)
{
    size_t m = strlen(word);
    for (size_t i = 0; i + m <= n; i++)
        if (memcmp(line + i, word, m) == 0)
            return true;
    return false;
}

/* {name} as ${name}; braces around anything else, and $$, are kept. */
static void add_interpolated(struct strbuf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;
        bool open = s[i] == '{' && (i == 0 || s[i - 1] != '$');
        while (open && i + 1 + m < n &&
               (isalnum((unsigned char)s[i + 1 + m]) || s[i + 1 + m] == '_'))
            m++;
        if (m && i + 1 + m < n && s[i + 1 + m] == '}' &&
            isalpha((unsigned char)s[i + 1]))
            strbuf_addch(out, '$');
        strbuf_addch(out, s[i]);
    }
}

/* What a line of a Python cell says to a shell: !COMMAND that starts a script, %run,
 * %env. */
static void shell_line(struct writer *w, struct strbuf *out, const char *line, size_t n)
{
    static const char *const marks[] = { ".py",       " -m ",       "torchrun",
                                         "deepspeed", "accelerate", "export ",
                                         ".sh" };
    size_t blanks = strspn(line, " \t");
    const char *s = line + blanks;
    size_t m = blanks < n ? n - blanks : 0;
    bool starts = false;
    if (w->goes_on) { /* IPython joins lines with a blank (core/inputtransformer2.py) */
        strbuf_addch(out, ' ');
        add_interpolated(out, s, m);
    } else if (m > 1 && *s == '!') {
        for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
            starts |= has_word(s, m, marks[i]);
        /* a command whose options begin on the next line */
        starts |= s[m - 1] == '\\';
        if (starts)
            add_interpolated(out, s + 1, m - 1);
    } else if (m > 5 && strncmp(s, "%run ", 5) == 0) {
        strbuf_addstr(out, "python ");
        add_interpolated(out, s + 5, m - 5);
    } else if (m > 5 &&
               (strncmp(s, "%env ", 5) == 0 || strncmp(s, "%set_env ", 9) == 0)) {
        size_t from = s[1] == 'e' ? 5 : 9;
        const char *equals = memchr(s + from, '=', m > from ? m - from : 0);
        if (equals) {
            strbuf_addstr(out, "export ");
            add_interpolated(out, s + from, m - from);
        }
    }
    w->goes_on = out->len && m && s[m - 1] == '\\';
}

/* Cells ---------------------------------------------------------------------------- */

/* The first line that is not blank; *n: its length. */
static const char *first_line(const char *text, size_t *n)
{
    const char *s = text + strspn(text, " \t\r\n");
    *n = strcspn(s, "\r\n");
    return s;
}

/* Of "%%writefile -a NAME", NAME; NULL: it has none. */
static const char *file_name(struct arena *arena, const char *s, size_t n, bool *adds)
{
    const char *line = arena_strndup(arena, s, n), *name = line + strcspn(line, " \t");
    *adds = false;
    for (name += strspn(name, " \t"); *name == '-'; name += strspn(name, " \t")) {
        *adds |= strncmp(name, "-a", 2) == 0 || strncmp(name, "--append", 8) == 0;
        name += strcspn(name, " \t");
    }
    size_t m = strcspn(name, " \t");
    bool quoted = m > 1 && (*name == '"' || *name == '\'') && name[m - 1] == *name;
    return m ? arena_strndup(arena, name + quoted, m - 2 * quoted) : NULL;
}

static enum cell_kind kind_of(const char *text)
{
    static const char *const shells[] = { "bash", "sh", "script bash", "script sh",
                                          NULL };
    static const char *const python[] = { "time",  "timeit", "capture", "prun",
                                          "local", "python", "python3", NULL };
    char word[24] = "";
    size_t n, m = 0;
    const char *s = first_line(text, &n);
    if (n < 3 || s[0] != '%' || s[1] != '%')
        return CELL_PYTHON;
    for (s += 2, n -= 2; m < n && m + 1 < sizeof(word) && !strchr(" \t", s[m]); m++)
        word[m] = s[m];
    if (strcmp(word, "writefile") == 0 || strcmp(word, "file") == 0)
        return CELL_FILE;
    bool bash = strcmp(word, "script") == 0 &&
                (has_word(s, n, " bash") || has_word(s, n, " sh"));
    if (bash || names_listed(shells, word))
        return CELL_SHELL;
    return names_listed(python, word) ? CELL_PYTHON : CELL_OTHER;
}

static void add_file(struct writer *w, const char *text)
{
    size_t n;
    bool adds;
    const char *s = first_line(text, &n), *name = file_name(w->arena, s, n, &adds);
    const char *body = s + n + (s[n] == '\r') + (s[n] != '\0');
    if (!name)
        return;
    const struct source_file *old =
        adds ? source_files_find(w->nb->files.v, w->nb->files.n, name) : NULL;
    int64_t line = w->line + 1;
    for (const char *c = text; c < s; c++)
        line += *c == '\n';
    VEC_PUSH(&w->nb->files, ((struct source_file) {
                                name,
                                old ? arena_printf(w->arena, "%s%s", old->text, body)
                                    : arena_strdup(w->arena, body),
                                old ? old->line : line }));
}

static void add_cell(struct writer *w, const char *text)
{
    enum cell_kind kind = kind_of(text);
    bool first = true;
    if (kind == CELL_FILE)
        add_file(w, text);
    w->goes_on = false;
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n"), m = n && s[n - 1] == '\r' ? n - 1 : n;
        struct strbuf line;
        bool magic = first && m > 1 && s[0] == '%' && s[1] == '%';
        strbuf_init(&line);
        if (kind == CELL_SHELL && !magic)
            strbuf_add(&line, s, m);
        else if (kind == CELL_PYTHON)
            shell_line(w, &line, s, m);
        add_line(w, s, kind == CELL_PYTHON ? m : 0, strbuf_get(&line), line.len);
        strbuf_release(&line);
        first &= m == 0;
        s += n + (s[n] == '\n');
    }
}

/* The notebook --------------------------------------------------------------------- */

/* The text of a cell: one string, or a list of lines. NULL after reporting. */
static const char *text_of(struct arena *arena, struct cfg cell)
{
    struct cfg source = cfg_get(cell, "source");
    if (!cfg_present(source))
        source = cfg_get(cell, "input"); /* nbformat 3 */
    if (cfg_is_string(source))
        return arena_strdup(arena, json_string_value(source.json));
    struct strbuf b;
    strbuf_init(&b);
    for (int64_t i = 0; cfg_is_array(source) && i < cfg_len(source); i++) {
        const char *line = json_string_value(cfg_at(source, i).json);
        strbuf_addstr(&b, line ? line : "");
    }
    const char *text = arena_strdup(arena, strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

static bool is_code(struct cfg cell)
{
    const char *type = json_string_value(cfg_get(cell, "cell_type").json);
    return type && strcmp(type, "code") == 0;
}

static int add_cells(struct writer *w, struct cfg cells)
{
    for (int64_t i = 0; i < cfg_len(cells); i++) {
        struct cfg cell = cfg_at(cells, i);
        if (!is_code(cell))
            continue;
        const char *text = text_of(w->arena, cell);
        if (w->nb->cells.n == NOTEBOOK_CELLS_MAX ||
            w->python.len + strlen(text) > NOTEBOOK_TEXT_MAX_B)
            return cfg_error(cells, DIAG_OUT_OF_RANGE,
                             "has more than %d cells of code, or 4 MiB (give the "
                             "cells that start the training)",
                             NOTEBOOK_CELLS_MAX);
        strbuf_printf(&w->python, "In [%d]:", (int)(i + 1));
        add_line(w, "", 0, "", 0);
        VEC_PUSH(&w->nb->cells, ((struct notebook_cell) { i + 1, w->line }));
        add_cell(w, text);
    }
    return 0;
}

int notebook_read(struct notebook *nb, struct cfg root)
{
    *nb = (struct notebook) { .python = "", .shell = "" };
    struct cfg cells = cfg_get(root, "cells");
    if (!root.json)
        return -1;
    if (!cfg_present(cells)) /* nbformat 3 */
        cells = cfg_get(cfg_at(cfg_get(root, "worksheets"), 0), "cells");
    if (!cfg_is_array(cells))
        return cfg_error(root, DIAG_WRONG_TYPE,
                         "is no notebook: it has no list \"cells\" (save it from "
                         "Jupyter)");
    struct writer w = { .nb = nb, .arena = cfg_arena(root), .line = 1 };
    strbuf_init(&w.python);
    strbuf_init(&w.shell);
    int rc = add_cells(&w, cells);
    nb->python = arena_strndup(w.arena, strbuf_get(&w.python), w.python.len);
    nb->shell = arena_strndup(w.arena, strbuf_get(&w.shell), w.shell.len);
    strbuf_release(&w.python);
    strbuf_release(&w.shell);
    return rc;
}

void notebook_release(struct notebook *nb)
{
    VEC_RELEASE(&nb->cells);
    VEC_RELEASE(&nb->files);
    VEC_RELEASE(&nb->notes);
}

bool notebook_place(const struct notebook *nb, int64_t line, int64_t *cell,
                    int64_t *within)
{
    const struct notebook_cell *found = NULL;
    for (int64_t i = 0; i < nb->cells.n && nb->cells.v[i].first <= line; i++)
        found = &nb->cells.v[i];
    if (!found)
        return false;
    *cell = found->number;
    *within = line - found->first + 1;
    return true;
}
