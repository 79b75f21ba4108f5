/* Text wrapped to a width. */
#include "report/text/wrap.h"

#include "base/strbuf.h"
#include "base/terminal.h"
#include "base/xmalloc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Characters of the next word; a number is not parted from its percent sign. */
static int word_length(const char *text)
{
    size_t n = strcspn(text, " ");
    while (text[n] == ' ' && text[n + 1] == '%')
        n += 1 + strcspn(text + n + 1, " ");
    return (int)n;
}

/* Of a word that no line holds ("one|another|..."), what goes before its last bar that
 * does; all of it where there is none. */
static int part_length(const char *word, int n, int most)
{
    for (int i = most < n ? most : n; i > 1; i--)
        if (word[i - 1] == '|')
            return i;
    return n;
}

void report_wrap(FILE *out, const char *first, const char *indent, const char *text)
{
    const int width = terminal_width(out);
    int column = fprintf(out, "%s", first);
    bool at_start = true;
    while (*(text += strspn(text, " "))) {
        int n = word_length(text);
        if (!at_start && column + 1 + n > width) {
            column = fprintf(out, "\n%s", indent) - 1;
            at_start = true;
        }
        if (at_start && column + n > width)
            n = part_length(text, n, width - column);
        column += fprintf(out, "%s%.*s", at_start ? "" : " ", n, text);
        at_start = false;
        text += n;
    }
    fputc('\n', out);
}

/* Where the last column of a row begins that is in its first half: after two blanks or
 * more. 0: it has none. */
static size_t last_column(const char *line, size_t width)
{
    size_t at = 0, n = strlen(line);
    for (size_t i = 2; i < n && i < width / 2; i++)
        if (line[i] != ' ' && line[i - 1] == ' ' && line[i - 2] == ' ')
            at = i;
    return at;
}

static void wrap_row(FILE *out, const char *line, size_t width)
{
    enum { INDENT = 4 };
    size_t blanks = strspn(line, " "), at = last_column(line, width);
    char *first = xstrndup(line, at), *indent = NULL;
    size_t hang = at > blanks ? at : blanks + INDENT;
    if (at <= blanks) {
        free(first);
        first = xstrndup(line, at = blanks);
    }
    indent = xcalloc(hang + 1, 1);
    memset(indent, ' ', hang);
    report_wrap(out, first, indent, line + at);
    free(indent);
    free(first);
}

void report_lines(FILE *out, const char *text)
{
    size_t width = (size_t)terminal_width(out);
    while (*text) {
        size_t n = strcspn(text, "\n");
        char *line = xstrndup(text, n);
        if (n <= width)
            fprintf(out, "%s\n", line);
        else
            wrap_row(out, line, width);
        free(line);
        text += n + (text[n] == '\n');
    }
}

/* A paragraph that is being gathered, if there is one. */
static void end_paragraph(FILE *out, struct strbuf *paragraph)
{
    if (paragraph->len)
        report_wrap(out, "", "", strbuf_get(paragraph));
    strbuf_release(paragraph);
    strbuf_init(paragraph);
}

void report_prose(FILE *out, const char *text)
{
    struct strbuf paragraph;
    strbuf_init(&paragraph);
    while (*text) {
        size_t n = strcspn(text, "\n");
        char *line = xstrndup(text, n);
        if (n > 0 && line[0] != ' ') {
            strbuf_printf(&paragraph, "%s ", line);
        } else {
            end_paragraph(out, &paragraph);
            report_lines(out, n ? line : "\n");
        }
        text += n + (text[n] == '\n');
        free(line);
    }
    end_paragraph(out, &paragraph);
    strbuf_release(&paragraph);
}

void report_line(FILE *out, const char *text)
{
    if (terminal_is(out))
        report_wrap(out, "", "    ", text);
    else
        fprintf(out, "%s\n", text);
}

void report_linef(FILE *out, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    size_t n = 0;
    FILE *line = open_memstream(&text, &n);
    va_start(args, format);
    vfprintf(line, format, args);
    va_end(args);
    fclose(line);
    report_line(out, text);
    free(text);
}

void report_warnings(FILE *out, const struct diags *d)
{
    for (int64_t i = 0; i < d->n; i++) {
        struct strbuf b;
        if (d->v[i].severity != DIAG_WARNING)
            continue;
        strbuf_init(&b);
        diag_write(&b, &d->v[i]);
        report_linef(out, "warning: %s", strbuf_get(&b));
        strbuf_release(&b);
    }
}

void report_errors(FILE *out, const struct diags *d)
{
    char *text = NULL;
    size_t n = 0;
    FILE *lines = open_memstream(&text, &n);
    diags_print_errors(d, lines);
    fclose(lines);
    for (char *line = text, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = '\0';
        report_line(out, line);
    }
    free(text);
}

void report_diag(FILE *out, const char *first, const struct diag *d)
{
    struct strbuf b;
    strbuf_init(&b);
    diag_write(&b, d);
    fputs(terminal_style(out, TERMINAL_WARNING), out);
    report_wrap(out, first, "    ", strbuf_get(&b));
    fputs(terminal_style(out, TERMINAL_PLAIN), out);
    strbuf_release(&b);
}
