/* What precedes an emitted text, and how it is printed. */
#include "dialect/emit/emit_drive.h"

#include <stdio.h>

static void add_sets(struct strbuf *b, const struct emitted *e, const char *comment,
                     bool lost, const char *why)
{
    bool any = false;
    for (int64_t i = 0; i < e->sets.n; i++) {
        if (e->sets.v[i].lost != lost)
            continue;
        if (!any)
            strbuf_printf(b, "%s%s\n", comment, why);
        any = true;
        strbuf_printf(b, "%s  --set ", comment);
        emit_word(b, e->sets.v[i].assignment);
        strbuf_addch(b, '\n');
    }
}

/* what reading needs in addition to the file, before it. */
void emit_header(struct emitted *e, const struct dialect_emit *how)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, how->first);
    add_sets(&b, e, how->comment, false,
             "Outside this file: smsim simulate FILE, with these options, reads it "
             "as it was planned.");
    add_sets(&b, e, how->comment, true,
             "NOT said by this file: a job that it starts differs in each of these.");
    strbuf_addstr(&b, strbuf_get(&e->text));
    strbuf_release(&e->text);
    e->text = b;
}

/* As a shell takes it, so that it can be pasted. */
static void print_set(const struct emit_set *one, const char *name, bool in_header)
{
    struct strbuf word;
    strbuf_init(&word);
    emit_word(&word, one->assignment);
    if (one->lost)
        fprintf(stderr, "warning: --emit %s has no word for %s: --set %s\n", name,
                one->pointer, strbuf_get(&word));
    else if (!in_header)
        fprintf(stderr, "warning: outside --emit %s: --set %s\n", name,
                strbuf_get(&word));
    strbuf_release(&word);
}

void emit_print(const struct emitted *e, const char *name)
{
    fputs(strbuf_get(&e->text), stdout);
    fflush(stdout);
    for (int64_t i = 0; i < e->sets.n; i++)
        print_set(&e->sets.v[i], name, e->comments);
}
