#include "report/report.h"

void report_assumed(FILE *out, const char *first, const struct assumptions *a)
{
    struct strbuf text;
    if (a->n == 0)
        return;
    strbuf_init(&text);
    assumptions_text(&text, a);
    report_wrap(out, first, "    ", strbuf_get(&text));
    strbuf_release(&text);
}
