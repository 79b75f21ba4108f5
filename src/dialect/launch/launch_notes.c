/* What the reader of Python passed over or took: notes of one kind are one note. */
#include "base/strbuf.h"
#include "dialect/launch/launch_context.h"

#include <inttypes.h>
#include <string.h>

enum { TOGETHER_MIN = 3, TEXT_MAX_B = 300 };

/* Notes whose text has a part, before which it names one thing; what is after it up to
 * `end` is shown in brackets or after "=". */
static const struct kind {
    const char *part, *end, *shown, *together; /* shown: "", "=", "(" */
} kinds[] = {
    { " is read: what it binds is taken, its environment's", "", "",
      "read for what they bind, with variables of the environment by their "
      "defaults: " },
    { " is read: what it binds is taken", "", "", "read for what they bind: " },
    { " is read, where ", "(...)", "(", "read where they are called: " },
    { " of the environment is taken to be ", ", its default", "=",
      "of the environment these are taken to have their defaults here: " },
    { " of the environment is taken not to be set", "", "",
      "of the environment these are taken not to be set: " },
};

static const struct kind *kind_of(const struct python_note *n)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strstr(n->text, kinds[i].part))
            return &kinds[i];
    return NULL;
}

static void add(struct strbuf *b, const struct kind *k, const struct python_note *n)
{
    const char *part = strstr(n->text, k->part), *value = part + strlen(k->part);
    const char *end = *k->end ? strstr(value, k->end) : NULL;
    if (strbuf_get(b)[0])
        strbuf_addstr(b, ", ");
    strbuf_printf(b, "%.*s", (int)(part - n->text), n->text);
    int shown = (int)(end ? end - value : (ptrdiff_t)strlen(value));
    if (*k->shown)
        strbuf_printf(b, *k->shown == '=' ? "=%.*s" : " (%.*s)", shown, value);
}

/* Notes of a kind, as few as their length allows, each at the line of its first. */
static void note_together(struct launch *l, const struct python *p,
                          const struct kind *k)
{
    struct strbuf b;
    int64_t line = 0;
    strbuf_init(&b);
    for (int64_t i = 0; i <= p->notes.n; i++) {
        const struct python_note *n = i < p->notes.n ? &p->notes.v[i] : NULL;
        bool full = strlen(strbuf_get(&b)) > TEXT_MAX_B;
        if (strbuf_get(&b)[0] && (!n || full)) {
            launch_note(l, line, DIAG_UNRESOLVED, "%s%s", k->together, strbuf_get(&b));
            strbuf_release(&b);
            strbuf_init(&b);
        }
        if (!n || kind_of(n) != k)
            continue;
        line = strbuf_get(&b)[0] ? line : n->line;
        add(&b, k, n);
    }
    strbuf_release(&b);
}

void launch_take_python_notes(struct launch *l, const struct python *p)
{
    int64_t n[sizeof(kinds) / sizeof(kinds[0])] = { 0 };
    for (int64_t i = 0; i < p->notes.n; i++) {
        const struct kind *k = kind_of(&p->notes.v[i]);
        if (k)
            n[k - kinds]++;
    }
    for (int64_t i = 0; i < p->notes.n; i++) {
        const struct kind *k = kind_of(&p->notes.v[i]);
        if (!k || n[k - kinds] < TOGETHER_MIN)
            launch_note(l, p->notes.v[i].line, DIAG_UNRESOLVED, "%s",
                        p->notes.v[i].text);
        else if (n[k - kinds] < INT64_MAX) {
            note_together(l, p, k);
            n[k - kinds] = INT64_MAX; /* noted */
        }
    }
    if (p->n_passed)
        launch_note(l, p->first_passed, DIAG_LEFT_OUT,
                    "this and %" PRId64 " more lines are no statements of Python, and "
                    "were passed over",
                    p->n_passed - 1);
}
