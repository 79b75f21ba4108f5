/* docs/dialects.md: what each dialect heeds, from the tables by which it is read. */
#include "dialect/dialect.h"
#include "schema/reference.h"

#include <string.h>

static const char *sources_of(const struct dialect *d)
{
    return d->sources & DIALECT_CALLS ? "calls in a Python script"
           : d->sources == (DIALECT_COMMAND | DIALECT_DOCUMENT)
               ? "options of a command in a shell script and keys of a document"
           : d->sources & DIALECT_COMMAND ? "options of a command in a shell script"
                                          : "keys of a document";
}

/* "zero_optimization.stage" */
static void add_name(struct strbuf *out, const struct dialect_table *t,
                     const struct dialect_option *o)
{
    strbuf_addch(out, '`');
    for (const char *c = t->path; *c; c++)
        strbuf_addch(out, *c == '/' ? '.' : *c);
    strbuf_printf(out, "%s%s`", *t->path ? "." : "", o->name);
}

static void add_heeded(struct strbuf *out, const struct dialect_table *tables)
{
    strbuf_addstr(out, "\n| option | field of a scenario |\n|---|---|\n");
    for (const struct dialect_table *t = tables; t->path; t++)
        for (const struct dialect_option *o = t->options; o->name; o++) {
            if (o->class != DIALECT_ACTS)
                continue;
            strbuf_addstr(out, "| ");
            add_name(out, t, o);
            strbuf_printf(out, " | %s%s%s |\n", o->pointer ? "`" : "",
                          o->pointer ? o->pointer : "several", o->pointer ? "`" : "");
        }
}

static void add_class(struct strbuf *out, const struct dialect_table *tables,
                      enum dialect_class class, const char *title)
{
    bool any = false;
    for (const struct dialect_table *t = tables; t->path; t++)
        for (const struct dialect_option *o = t->options; o->name; o++) {
            if (o->class != class)
                continue;
            strbuf_addstr(out, any ? ", " : title);
            add_name(out, t, o);
            if (o->why)
                strbuf_printf(out, " (%s)", o->why);
            any = true;
        }
    strbuf_addstr(out, any ? ".\n" : "");
}

static const char *unknown_of(const struct dialect_table *tables)
{
    static const char *const said[] = {
        [DIALECT_UNKNOWN_IDLE] = "is named as without effect",
        [DIALECT_UNKNOWN_OPEN] = "is named as what may change time or memory",
        [DIALECT_UNKNOWN_NEAR_WARNED] =
            "is warned of where it is near a known one, else named as without effect",
        [DIALECT_UNKNOWN_NEAR_WRONG] =
            "is refused where it is near a known one, else named as without effect",
        [DIALECT_UNKNOWN_WARNED] = "is warned of",
        [DIALECT_UNKNOWN_WRONG] =
            "is refused where it is near a known one, else warned of",
    };
    return said[tables->unknown];
}

static void add_tables(struct strbuf *out, const struct dialect_table *tables)
{
    strbuf_printf(out, " An option that is not listed %s.\n", unknown_of(tables));
    add_heeded(out, tables);
    add_class(out, tables, DIALECT_UNSIMULATED, "\nNot simulated, and named: ");
    add_class(out, tables, DIALECT_REFUSED, "\nRefused: ");
    add_class(out, tables, DIALECT_IDLE,
              "\nWithout effect on a step's time and memory: ");
}

void reference_dialects(struct strbuf *out)
{
    for (const struct dialect *d = dialects; d->name; d++) {
        if (!d->tables)
            continue;
        strbuf_printf(out, "\n## %s: %s\n\nRead from %s; ", d->name, d->summary,
                      sources_of(d));
        if (d->emit.name)
            strbuf_printf(out, "written by `--emit %s`.", d->emit.name);
        else
            strbuf_addstr(out, "not written.");
        add_tables(out, d->tables);
        for (const struct dialect_kind_tables *k = d->kinds; k && k->title; k++) {
            strbuf_printf(out, "\n### %s: %s\n\nOptions of such files.", d->name,
                          k->title);
            add_tables(out, k->tables);
        }
    }
}
