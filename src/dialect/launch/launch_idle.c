/* What a script gives, and nothing of a scenario is made of: named in full, in notes of
 * one line each. */
#include "base/strbuf.h"
#include "dialect/launch/launch_context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LINE_MAX_B = 250, NAME_MAX_B = 320 };

void launch_idle_init(struct launch_idle *idle, struct launch *l, int64_t line,
                      const char *prefix)
{
    *idle = (struct launch_idle) { .l = l, .line = line, .prefix = prefix };
    strbuf_init(&idle->names);
}

static void write_note(struct launch_idle *idle)
{
    if (idle->names.len && idle->open)
        launch_note(idle->l, idle->line, DIAG_NOT_SIMULATED,
                    "%swhat the script makes of these is not known: %s", idle->prefix,
                    strbuf_get(&idle->names));
    else if (idle->names.len)
        launch_note(idle->l, idle->line, DIAG_WITHOUT_EFFECT,
                    "%swithout effect here: %s", idle->prefix,
                    strbuf_get(&idle->names));
    strbuf_release(&idle->names);
    strbuf_init(&idle->names);
}

void launch_idle_add(struct launch_idle *idle, const char *fmt, ...)
{
    char name[NAME_MAX_B];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof(name), fmt, ap);
    va_end(ap);
    if (idle->names.len + strlen(name) > LINE_MAX_B)
        write_note(idle);
    strbuf_printf(&idle->names, "%s%s", idle->names.len ? ", " : "", name);
}

void launch_idle_end(struct launch_idle *idle)
{
    write_note(idle);
    strbuf_release(&idle->names);
}

/* Which items did something -------------------------------------------------------- */

int64_t launch_said(const struct launch_context *t)
{
    const struct launch *l = t->l;
    const struct diags *d = &l->loader->diags;
    return l->resolved.n + l->unresolved.n + l->notes.n + l->autos.n + d->n_errors +
           d->n_warnings + (l->spot_line != 0);
}

void launch_hear(struct launch_context *t, const struct value_item *it)
{
    if (!it)
        return;
    struct launch_heard *h = ARENA_NEW(t->arena, struct launch_heard);
    *h = (struct launch_heard) { it, t->heard };
    t->heard = h;
}

bool launch_is_heard(const struct launch_context *t, const struct value_item *it)
{
    for (const struct launch_heard *h = t->heard; h; h = h->next)
        if (h->it == it)
            return true;
    return false;
}

bool launch_is_off(const struct value *v)
{
    static const char *const words[] = { "", "false", "none", "no", "f", "n", NULL };
    double x;
    if (v->kind == VALUE_NONE || (v->kind == VALUE_BOOL && !v->integer))
        return true;
    for (const char *const *w = words; v->kind == VALUE_STRING && *w; w++)
        if (strcasecmp(v->text, *w) == 0)
            return true;
    return launch_real(v, &x) && x <= 0;
}
