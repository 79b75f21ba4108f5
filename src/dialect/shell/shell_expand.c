/* What follows "$" in a shell script: arithmetic, and what would have to be run; variables
 * are shell_parameter.c's. */
#include "dialect/shell/shell_machine.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 40 };

void shell_take_unknown(struct shell_machine *m, struct shell_texts *out,
                        struct shell_char place, int32_t unknown)
{
    struct shell_text t = { 0 };
    place.c = '?';
    place.unknown = unknown;
    shell_push(m, &t, place);
    shell_texts_take(m, out, &t);
}

void shell_take_string(struct shell_machine *m, struct shell_texts *out,
                       struct shell_char place, const char *s)
{
    struct shell_text t = { 0 };
    shell_add_string(m, &t, s, place);
    shell_texts_take(m, out, &t);
}

/* What would have to be run -------------------------------------------------------- */

/* Whether a command asks how many GPUs an instance has. */
static bool asks_gpus(const char *text)
{
    const char *counted = strstr(text, "wc -l") ? text : "";
    bool lists = strstr(counted, "nvidia-smi") || strstr(counted, "/dev/nvidia");
    return lists || strstr(text, "device_count()") ||
           (strstr(text, "nvidia-smi") && strstr(text, "grep -c"));
}

/* The lines of such a list: of ds_ssh (DeepSpeed's, 0.16) those of all nodes, after two of
 * its own; 0: not known. */
static int64_t gpus_listed(const struct shell_machine *m, const char *text)
{
    bool all = strstr(text, "ds_ssh") != NULL;
    if (!all || !m->in->gpus)
        return m->in->gpus;
    return m->in->nodes ? m->in->gpus * m->in->nodes + 2 : 0;
}

/* Whether it asks how many processors. */
static bool asks_cpus(const char *text)
{
    static const char *const commands[] = { "nproc", "nproc --all",
                                            "getconf _NPROCESSORS_ONLN" };
    size_t n = strlen(text);
    while (n && text[n - 1] == ' ')
        n--;
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (n == strlen(commands[i]) && strncmp(text, commands[i], n) == 0)
            return true;
    return false;
}

static int32_t command_unknown(struct shell_machine *m, struct shell_cursor inner,
                               const struct shell_char *place)
{
    struct shell_cursor here = m->at;
    m->at = inner;
    const char *asked = shell_slice(m, inner.i, inner.n);
    bool gpus = asks_gpus(asked) && !strstr(asked, "ds_ssh");
    bool cut = inner.n - inner.i > SHOWN;
    const char *text = shell_slice(m, inner.i, cut ? inner.i + SHOWN : inner.n);
    const char *name = arena_printf(m->arena, "$(%s%s)", text, cut ? "..." : "");
    (void)place;
    m->at = here;
    int32_t row = gpus ? shell_not_known(m, name, false,
                                         "%s is how many GPUs an instance has (--set "
                                         "/cluster/gpus_per_instance=8 gives it)",
                                         name)
                       : shell_not_known(m, name, false, "%s is a command", name);
    m->unknowns.v[row - 1].gpus |= gpus;
    return row;
}

/* The answer to that, where the setting has one. */
static bool answer_gpus(struct shell_machine *m, struct shell_cursor inner,
                        struct shell_text *out, struct shell_char place)
{
    struct shell_cursor here = m->at;
    m->at = inner;
    const char *text = shell_slice(m, inner.i, inner.n);
    int64_t n = asks_gpus(text)   ? gpus_listed(m, text)
                : asks_cpus(text) ? m->in->cpus
                                  : 0;
    m->at = here;
    if (n)
        shell_add_string(m, out, arena_printf(m->arena, "%" PRId64, n), place);
    return n > 0;
}

void shell_backtick(struct shell_machine *m, struct shell_text *out)
{
    struct shell_char place = shell_peek(m, 0);
    int32_t from = ++m->at.i;
    while (!shell_ends(m) && !shell_at(m, "`"))
        m->at.i += shell_at(m, "\\") ? 2 : 1;
    if (m->at.i >= m->at.n) {
        shell_fail(m, &place, "the command is never closed (add a `)");
        m->at.i = m->at.n;
        return;
    }
    struct shell_cursor inner = { m->at.v, m->at.i++, from, -1, -1 };
    if (answer_gpus(m, inner, out, place) || m->hooks->answer(m, inner, out))
        return;
    place.unknown = command_unknown(m, inner, &place);
    place.c = '?';
    shell_push(m, out, place);
}

static void read_command(struct shell_machine *m, struct shell_texts *out,
                         struct shell_char place)
{
    int32_t from = m->at.i += 2;
    if (!shell_skip_brackets(m, '(', ')')) {
        shell_fail(m, &place, "the command is never closed (add a ))");
        return;
    }
    struct shell_cursor inner = { m->at.v, m->at.i - 1, from, -1, -1 };
    struct shell_text t = { 0 };
    if (answer_gpus(m, inner, &t, place) || m->hooks->answer(m, inner, &t)) {
        shell_texts_take(m, out, &t);
        return;
    }
    shell_text_release(&t);
    shell_take_unknown(m, out, place, command_unknown(m, inner, &place));
}

static void read_arithmetic(struct shell_machine *m, struct shell_texts *out,
                            struct shell_char place)
{
    int64_t v = 0;
    int32_t why = 0;
    m->at.i += 3;
    if (shell_arithmetic(m, &v, &why))
        shell_take_string(m, out, place, arena_printf(m->arena, "%" PRId64, v));
    else if (!m->failed)
        shell_take_unknown(m, out, place, why);
}

/* $[X + 1], as it was written before $(( )). */
static void read_old_arithmetic(struct shell_machine *m, struct shell_texts *out,
                                struct shell_char place)
{
    int64_t v = 0;
    int32_t why = 0, from = m->at.i += 2;
    if (!shell_skip_brackets(m, '[', ']')) {
        shell_fail(m, &place, "the arithmetic is never closed (add a ])");
        return;
    }
    struct shell_cursor inner = { m->at.v, m->at.i - 1, from, -1, -1 };
    if (shell_calculate_within(m, inner, &v, &why))
        shell_take_string(m, out, place, arena_printf(m->arena, "%" PRId64, v));
    else if (!m->failed)
        shell_take_unknown(m, out, place, why);
}

/* $ -------------------------------------------------------------------------------- */

void shell_dollar(struct shell_machine *m, struct shell_texts *out, bool *fields)
{
    struct shell_char place = shell_peek(m, 0);
    *fields = false;
    shell_works(m, 4);
    if (shell_at(m, "$(("))
        read_arithmetic(m, out, place);
    else if (shell_at(m, "$("))
        read_command(m, out, place);
    else if (shell_at(m, "$["))
        read_old_arithmetic(m, out, place);
    else if (shell_at(m, "${"))
        shell_braces(m, out, fields, place);
    else
        shell_plain(m, out, fields, place);
}

void shell_expand_within(struct shell_machine *m, struct shell_cursor inner,
                         struct shell_text *out)
{
    struct shell_cursor here = m->at;
    m->at = inner;
    while (!shell_ends(m)) {
        char next = shell_peek(m, 1).c;
        struct shell_texts t = { 0 };
        bool fields;
        if (shell_at(m, "\\") && next && strchr("$`\\\n", next)) {
            if (next != '\n')
                shell_push(m, out, shell_peek(m, 1));
            m->at.i += 2;
        } else if (shell_at(m, "$")) {
            shell_dollar(m, &t, &fields);
        } else if (shell_at(m, "`")) {
            shell_backtick(m, out);
        } else {
            shell_push(m, out, m->at.v[m->at.i++]);
        }
        for (int32_t i = 0; i < t.n; i++) {
            if (i > 0)
                shell_add_string(m, out, " ", inner.v[inner.i]);
            shell_append(m, out, &t.v[i]);
        }
        shell_texts_release(&t);
    }
    m->at = here;
}
