/* Text wrapped to a width. */
#include "report/report.h"

#include "base/strbuf.h"
#include "base/terminal.h"
#include "base/xmalloc.h"

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
        column += fprintf(out, "%s%.*s", at_start ? "" : " ", n, text);
        at_start = false;
        text += n;
    }
    fputc('\n', out);
}

void report_lines(FILE *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        char *line = xstrndup(text, n);
        if (line[0] == ' ' || strlen(line) <= (size_t)terminal_width(out))
            fprintf(out, "%s\n", line);
        else
            report_wrap(out, "", "    ", line);
        free(line);
        text += n + (text[n] == '\n');
    }
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
