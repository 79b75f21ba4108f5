/* Text wrapped to a width. */
#include "report/report.h"

#include "base/strbuf.h"

#include <string.h>

void report_wrap(FILE *out, const char *first, const char *indent, const char *text,
                 int width)
{
    int column = fprintf(out, "%s", first);
    bool at_start = true;
    while (*(text += strspn(text, " "))) {
        int n = (int)strcspn(text, " ");
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

void report_diag(FILE *out, const char *first, const struct diag *d)
{
    struct strbuf b;
    strbuf_init(&b);
    diag_write(&b, d);
    report_wrap(out, first, "    ", strbuf_get(&b), 88);
    strbuf_release(&b);
}
