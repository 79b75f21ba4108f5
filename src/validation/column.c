#include "validation/column.h"

#include "base/names.h"
#include "base/xmalloc.h"
#include "validation/cell.h"

#include <stdlib.h>
#include <string.h>

static int64_t find_exactly(const struct csv *csv, const char *name, size_t n)
{
    for (int64_t i = 0; i < csv->n_columns; i++)
        if (strncmp(csv->columns[i], name, n) == 0 && csv->columns[i][n] == '\0')
            return i;
    return -1;
}

/* The column named COLUMN, or COLUMN#I for the I-th number within its text (*part; 0:
 * the whole cell). */
static int64_t find_part(const struct csv *csv, const char *name, size_t n, int *part)
{
    int64_t column = find_exactly(csv, name, n);
    *part = 0;
    if (column < 0 && n > 2 && name[n - 2] == '#' && name[n - 1] >= '1' &&
        name[n - 1] <= '9') {
        *part = name[n - 1] - '0';
        column = find_exactly(csv, name, n - 2);
    }
    return column;
}

int64_t column_find(const struct csv *csv, const char *name, size_t n)
{
    int part;
    return find_part(csv, name, n, &part);
}

int column_unknown(const struct csv *csv, const char *name, size_t n, struct err *err)
{
    char *word = xstrndup(name, n);
    const char *nearest = NULL;
    int least = (int)n / 2 + 1;
    for (int64_t i = 0; i < csv->n_columns && n < 200; i++) {
        int d = names_distance(word, csv->columns[i]);
        if (d < least) {
            least = d;
            nearest = csv->columns[i];
        }
    }
    if (nearest)
        err_set(err, "the table has no column {%s} (did you mean {%s}?)", word,
                nearest);
    else
        err_set(err, "the table has no column {%.100s}", word);
    free(word);
    return -1;
}

const char *column_cell(struct value_row row, const char *name, size_t n, size_t *len,
                        struct err *err)
{
    int part;
    int64_t column = find_part(row.csv, name, n, &part);
    if (column < 0) {
        column_unknown(row.csv, name, n, err);
        return NULL;
    }
    const char *cell = csv_cell(row.csv, row.row, column);
    *len = strlen(cell);
    if (part && cell_find_number(cell, part, &cell, len)) {
        *len = 0;
        return "";
    }
    return cell;
}

int column_next(const char **at, const char **name, size_t *n, struct err *err)
{
    *at += strcspn(*at, "{");
    *name = NULL;
    if (**at == '\0')
        return 0;
    *n = strcspn(*at + 1, "}");
    if ((*at)[1 + *n] == '\0')
        return err_set(err, "\"{\" without \"}\" in \"%.200s\"", *at);
    *name = *at + 1;
    *at += *n + 2;
    return 0;
}

int column_fill(const char *template, struct value_row row, struct strbuf *b,
                struct err *err)
{
    const char *at = template, *name;
    size_t n = 0;
    do {
        const char *from = at;
        if (column_next(&at, &name, &n, err))
            return -1;
        strbuf_add(b, from, (size_t)((name ? name - 1 : at) - from));
        size_t len = 0;
        const char *cell = name ? column_cell(row, name, n, &len, err) : "";
        if (!cell)
            return -1;
        strbuf_add(b, cell, len);
    } while (name);
    return 0;
}
