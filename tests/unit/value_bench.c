#include "value_bench.h"

#include <inttypes.h>

void value_show(struct strbuf *out, const struct value *v)
{
    const char *open = v->kind == VALUE_LIST ? "[" : "{";
    switch (v->kind) {
    case VALUE_NONE:
        strbuf_addstr(out, "None");
        break;
    case VALUE_BOOL:
        strbuf_addstr(out, v->integer ? "True" : "False");
        break;
    case VALUE_INT:
        strbuf_printf(out, "%" PRId64, v->integer);
        break;
    case VALUE_REAL:
        strbuf_printf(out, "%.15g", v->real);
        break;
    case VALUE_STRING:
        strbuf_addstr(out, v->text);
        break;
    case VALUE_UNKNOWN:
        strbuf_printf(out, "?%s", v->why);
        break;
    case VALUE_LIST:
    case VALUE_DICT:
        for (int32_t i = 0; i < v->n; i++) {
            strbuf_addstr(out, i ? "," : open);
            if (v->kind == VALUE_DICT)
                strbuf_printf(out, "%s:", v->items[i].key);
            value_show(out, v->items[i].value);
        }
        strbuf_addstr(out, v->n ? "" : open);
        strbuf_addstr(out, v->gap ? "..." : "");
        strbuf_addstr(out, v->kind == VALUE_LIST ? "]" : "}");
        break;
    }
}
