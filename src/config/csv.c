#include "config/csv.h"

#include "base/file.h"
#include "base/plain.h"
#include "base/units.h"
#include "base/vec.h"
#include "config/lenient.h"
#include "config/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_B = 64 << 20 };

/* Cells are unquoted in place, in a copy of the text: a cell never grows. */
struct reader {
    const char *file;
    struct diags *diags;
    const char *text; /* as it was read */
    char *s;          /* the copy that becomes the cells */
    size_t i, n;
    int64_t line;
    VEC(const char *) cells;
    VEC(int64_t) lines;
    int64_t width; /* of the header */
};

static int error_at(struct reader *r, size_t at, const char *what)
{
    struct place p = place_of(r->text, at);
    diags_add(
        r->diags,
        (struct diag) {
            .code = DIAG_SYNTAX, .file = r->file, .line = p.line, .column = p.column },
        "%s", what);
    return -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
    while (r->i < r->n && is_blank(r->s[r->i]))
        r->i++;
}

static bool cell_ends(const struct reader *r)
{
    const char *s = r->s + r->i;
    return r->i == r->n || *s == ',' || *s == '\n' || (s[0] == '\r' && s[1] == '\n');
}

/* A cell that begins with a quote; "" within represents one. Its text ends at *end. */
static int read_quoted(struct reader *r, char **end)
{
    size_t start = r->i++;
    char *to = r->s + start;
    for (;; r->i++) {
        if (r->i == r->n)
            return error_at(r, start, "the quote is not closed (end it with \")");
        char c = r->s[r->i];
        if (c == '"' && r->s[++r->i] != '"')
            break;
        r->line += c == '\n';
        *to++ = c;
    }
    skip_blanks(r);
    if (!cell_ends(r))
        return error_at(r, r->i,
                        "text after the closing quote (write \"\" for a quote "
                        "within quotes)");
    *end = to;
    return 0;
}

/* One cell without the blanks around it, and what ends it; *more when that is a
 * comma. */
static int read_cell(struct reader *r, bool *more)
{
    skip_blanks(r);
    size_t start = r->i;
    char *cell = r->s + start, *end = cell;
    if (*cell == '"') {
        if (read_quoted(r, &end))
            return -1;
    } else {
        while (!cell_ends(r))
            r->i++;
        end = r->s + r->i;
    }
    *more = r->i < r->n && r->s[r->i] == ',';
    if (r->i < r->n && r->s[r->i] == '\r')
        r->i++;
    if (r->i < r->n) {
        r->line += r->s[r->i] == '\n';
        r->i++;
    }
    while (end > cell && is_blank(end[-1]))
        end--;
    *end = '\0';
    while (is_blank(*cell))
        cell++;
    if (*cell == '\'' && csv_is_formula(cell + 1))
        cell++;
    if (cell[plain_length(cell, true)])
        return error_at(r, start, "the cell has a control character (leave it out)");
    VEC_PUSH(&r->cells, cell);
    return 0;
}

bool csv_is_formula(const char *cell)
{
    const char *text = cell + strspn(cell, "'");
    char *end;
    if (!*text || !strchr("=+-@\t\r", *text))
        return false;
    strtod(text, &end);
    return text != cell || end == text || *end;
}

static int read_header(struct reader *r)
{
    bool more = true;
    size_t start = r->i;
    if (start == r->n)
        return error_at(r, start,
                        "the table is empty (begin with a line of column "
                        "names)");
    while (more) {
        size_t at = r->i;
        if (read_cell(r, &more))
            return -1;
        const char *name = r->cells.v[r->cells.n - 1];
        if (name[0] == '\0')
            return error_at(r, at, "a column has no name (name it)");
        for (int64_t i = 0; i < r->cells.n - 1; i++)
            if (strcmp(r->cells.v[i], name) == 0)
                return error_at(r, at, "two columns have this name (rename one)");
    }
    r->width = r->cells.n;
    return 0;
}

static int read_row(struct reader *r)
{
    size_t start = r->i;
    int64_t line = r->line, before = r->cells.n;
    bool more = true;
    while (more)
        if (read_cell(r, &more))
            return -1;
    int64_t width = r->cells.n - before;
    if (width != r->width) {
        char what[120];
        snprintf(what, sizeof(what),
                 "the row has %" PRId64 " cell%s, the header has %" PRId64 " "
                 "(give a row as many cells as the header)",
                 (int64_t)width, units_plural(width), (int64_t)r->width);
        r->cells.n = before;
        return error_at(r, start, what);
    }
    VEC_PUSH(&r->lines, line);
    return 0;
}

/* Errors of width do not end the reading; an open quote does. */
static int read_table(struct reader *r)
{
    size_t bad = lenient_bad_byte(r->text, r->n);
    if (bad < r->n)
        return error_at(r, bad,
                        "a byte that is not UTF-8 text (save the file as UTF-8)");
    if (strncmp(r->text, "\xef\xbb\xbf", 3) == 0)
        r->i = 3;
    if (read_header(r))
        return -1;
    int rc = 0;
    while (r->i < r->n) {
        size_t start = r->i;
        if (r->s[start] == '\n' || strncmp(r->s + start, "\r\n", 2) == 0) {
            r->i += r->s[start] == '\n' ? 1 : 2;
            r->line++;
            continue;
        }
        if (read_row(r))
            rc = -1;
    }
    return rc;
}

/* A copy in the arena; n may be 0. */
static void *keep(struct arena *arena, const void *v, int64_t n, size_t size)
{
    void *copy = arena_alloc(arena, (size_t)n, size);
    if (n)
        memcpy(copy, v, (size_t)n * size);
    return copy;
}

int csv_load(struct csv *csv, struct cfg_loader *loader, const char *file)
{
    *csv = (struct csv) { .file = arena_strdup(&loader->arena, file) };
    struct err err = { 0 };
    size_t len;
    char *text = file_read(file, FILE_MAX_B, &len, &err);
    if (!text) {
        diags_unreadable(&loader->diags, file, &err);
        return -1;
    }
    struct reader r = { .file = file, .diags = &loader->diags, .text = text, .n = len };
    r.s = arena_strndup(&loader->arena, text, len);
    r.line = 1;
    int rc = read_table(&r);
    if (rc == 0) {
        csv->n_columns = r.width;
        csv->n_rows = r.lines.n;
        csv->columns = keep(&loader->arena, r.cells.v, r.cells.n, sizeof(*r.cells.v));
        csv->cells = csv->columns + r.width;
        csv->lines = keep(&loader->arena, r.lines.v, r.lines.n, sizeof(*r.lines.v));
    }
    VEC_RELEASE(&r.cells);
    VEC_RELEASE(&r.lines);
    free(text);
    return rc;
}

int64_t csv_column(const struct csv *csv, const char *name)
{
    for (int64_t i = 0; i < csv->n_columns; i++)
        if (strcmp(csv->columns[i], name) == 0)
            return i;
    return -1;
}
