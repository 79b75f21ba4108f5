/* Redirections of a shell script: files that it writes, documents within it. */
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <string.h>

/* From after the line on which it is named to the line that is its end. */
static void read_document(struct shell_machine *m, struct shell_redirect *r,
                          const char *end, bool tabs, bool expands)
{
    struct shell_cursor here = m->at, body = m->at;
    if (m->at.here_at >= 0) {
        m->at.i = m->at.here_to;
    } else {
        while (!shell_ends(m) && !shell_at(m, "\n"))
            m->at.i++;
        here.here_at = m->at.i++;
    }
    body.i = m->at.i;
    r->line = m->at.i < m->at.n ? m->at.v[m->at.i].line : 0;
    for (;;) {
        int32_t line = m->at.i;
        while (tabs && shell_at(m, "\t"))
            m->at.i++;
        bool last = shell_at(m, end);
        int32_t after = m->at.i + (int32_t)strlen(end);
        while (!shell_ends(m) && !shell_at(m, "\n"))
            m->at.i++;
        if ((last && m->at.i == after) || m->at.i >= m->at.n) {
            body.n = last ? line : m->at.i;
            break;
        }
        m->at.i++;
    }
    here.here_to = m->at.i < m->at.n ? m->at.i + 1 : m->at.n;
    shell_works(m, m->at.i - body.i);
    m->at = here;
    shell_text_release(&r->document);
    r->has_document = true;
    if (expands)
        shell_expand_within(m, body, &r->document);
    for (int32_t i = body.i; !expands && i < body.n; i++)
        shell_push(m, &r->document, body.v[i]);
}

static void read_here(struct shell_machine *m, struct shell_redirect *r)
{
    bool tabs = shell_at(m, "<<-");
    struct shell_text end = { 0 };
    m->at.i += tabs ? 3 : 2;
    shell_skip_blanks(m);
    char quote = shell_peek(m, 0).c;
    /* the end of a document that is not read is its end all the same */
    enum shell_mode mode = m->mode;
    m->mode = SHELL_RUN;
    shell_read_text(m, &end);
    m->mode = mode;
    if (m->mode == SHELL_SKIP && !end.n)
        shell_push(m, &end, (struct shell_char) { .c = '\n' });
    read_document(m, r, shell_string(m, &end, false), tabs,
                  !strchr("'\"\\", quote) || !quote);
    shell_text_release(&end);
}

/* How long an operator of redirection is, the descriptor's number included; 0: none. */
static int32_t operator_length(const struct shell_machine *m)
{
    static const char *const operators[] = { "&>>", "<<<", "<<-", ">>", "<<", "&>",
                                             ">&",  "<&",  ">|",  "<>", ">",  "<" };
    int32_t digits = 0;
    while (isdigit((unsigned char)shell_peek(m, digits).c))
        digits++;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const char *op = operators[i];
        int32_t j = 0;
        while (op[j] && shell_peek(m, digits + j).c == op[j] &&
               !shell_peek(m, digits + j).unknown)
            j++;
        if (!op[j] && !(digits && *op == '&'))
            return digits + j;
    }
    return 0;
}

bool shell_redirection(struct shell_machine *m, struct shell_redirect *r)
{
    int32_t n = operator_length(m);
    bool has_number = false;
    struct shell_char next = shell_peek(m, n);
    if (!n || shell_placeholder(m) ||
        (next.c == '(' && strchr("<>", shell_peek(m, n - 1).c)))
        return false;                       /* <( ) is a word */
    bool other = shell_peek(m, 0).c != '1'; /* 2> */
    while (isdigit((unsigned char)shell_peek(m, 0).c))
        m->at.i++, n--, has_number = true;
    bool here = (shell_at(m, "<<") && !shell_at(m, "<<<"));
    bool out = shell_at(m, ">") && !shell_at(m, ">&"), in = shell_at(m, "<<<");
    bool appends = shell_at(m, ">>"), other_output = shell_at(m, ">&"),
         reads = n == 1 && shell_at(m, "<");
    struct shell_text file = { 0 };
    if (here) {
        read_here(m, r);
        return true;
    }
    m->at.i += n;
    shell_skip_blanks(m);
    shell_read_text(m, &file);
    if (out && !(has_number && other)) {
        shell_text_release(&r->file);
        r->file = file;
        r->has_file = true;
        r->appends = appends;
    } else if (in) {
        shell_text_release(&r->input);
        r->input = file;
        r->has_input = true;
    } else if (reads && !has_number) {
        shell_text_release(&r->source);
        r->source = file;
    } else {
        r->elsewhere |= other_output && !(has_number && other);
        shell_text_release(&file);
    }
    return true;
}

void shell_redirect_release(struct shell_redirect *r)
{
    shell_text_release(&r->file);
    shell_text_release(&r->document);
    shell_text_release(&r->input);
    shell_text_release(&r->source);
}
