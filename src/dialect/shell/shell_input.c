/* What a shell script reads into variables: read, mapfile, printf -v. */
#include "dialect/shell/shell_machine.h"

#include <string.h>

static bool is_option(const struct shell_text *t)
{
    return t->n > 1 && !t->v[0].unknown && t->v[0].c == '-';
}

static bool has_letter(const struct shell_text *t, char c)
{
    for (int32_t i = 1; i < t->n; i++)
        if (t->v[i].c == c)
            return true;
    return false;
}

const char *shell_separators(struct shell_machine *m)
{
    const struct shell_variable *x = shell_find(m, "IFS");
    const struct shell_text *t =
        x && !x->gone && x->values.n == 1 ? &x->values.v[0] : NULL;
    return !t ? " \t\n" : shell_unknown_of(m, t) ? NULL : shell_string(m, t, false);
}

/* The pieces of a text; the last of `most` has all that is left. */
static void split(struct shell_machine *m, const struct shell_text *t, const char *by,
                  int32_t most, struct shell_texts *out)
{
    bool blanks = strchr(by, ' ') != NULL;
    struct shell_text now = { 0 };
    bool has = false;
    for (int32_t i = 0; i < t->n && !shell_works(m, 1); i++) {
        struct shell_char x = t->v[i];
        bool ends = strchr(by, x.c) != NULL && out->n + 1 < most;
        if (!ends || (blanks && !has && out->n + 1 == most)) {
            has |= !(strchr(by, x.c) && blanks && !has);
            if (has)
                shell_push(m, &now, x);
        } else if (has || !blanks) {
            shell_texts_take(m, out, &now);
            has = false;
        }
    }
    if (has)
        shell_texts_take(m, out, &now);
    shell_text_release(&now);
}

static void lose(struct shell_machine *m, const char *name, const char *how)
{
    shell_void(m, name,
               shell_not_known(m, arena_printf(m->arena, "$%.40s", name), false,
                               "$%.40s is %s", name, how));
}

/* Words from i on are names of variables. */
static void lose_all(struct shell_machine *m, const struct shell_texts *w, int32_t i,
                     const char *how)
{
    for (; i < w->n; i++)
        if (!shell_unknown_of(m, &w->v[i]))
            lose(m, shell_string(m, &w->v[i], false), how);
}

/* read -r a b <<< TEXT, read -ra LIST <<< TEXT. */
static void read_known(struct shell_machine *m, const struct shell_texts *w, int32_t i,
                       const struct shell_text *input, bool array)
{
    const char *by = shell_separators(m);
    struct shell_texts pieces = { 0 };
    struct shell_text none = { 0 };
    split(m, input, by, array ? SHELL_WORDS_MAX : w->n - i, &pieces);
    if (array)
        shell_assign(m, shell_string(m, &w->v[i], false), &pieces, true, false);
    for (int32_t j = 0; !array && i + j < w->n; j++) {
        struct shell_texts one = { j < pieces.n ? &pieces.v[j] : &none, 1, 0 };
        shell_assign(m, shell_string(m, &w->v[i + j], false), &one, false, false);
    }
    shell_texts_release(&pieces);
}

/* read -d '' X <<END: all of the document, without blanks around it. */
static void read_whole(struct shell_machine *m, const struct shell_texts *w, int32_t i,
                       const struct shell_text *input)
{
    struct shell_text t = *input;
    while (t.n && !t.v[t.n - 1].unknown && strchr(" \t\n", t.v[t.n - 1].c))
        t.n--;
    for (; t.n && !t.v[0].unknown && strchr(" \t\n", t.v[0].c); t.n--)
        t.v++;
    struct shell_text kept = shell_keep(m, &t);
    struct shell_texts one = { &kept, 1, 0 };
    shell_assign(m, shell_string(m, &w->v[i], false), &one, false, false);
}

enum shell_status shell_do_read(struct shell_machine *m, const struct shell_texts *w,
                                const struct shell_text *input)
{
    static const char taking[] = "pdtnNiu"; /* options with a value */
    bool array = false, plain = true, whole = false;
    int32_t i = 1;
    for (; i < w->n && is_option(&w->v[i]); i++) {
        const struct shell_text *t = &w->v[i];
        array |= has_letter(t, 'a');
        plain &= !has_letter(t, 'd') && !has_letter(t, 'n') && !has_letter(t, 'N');
        whole |= has_letter(t, 'd') && i + 1 < w->n && w->v[i + 1].n == 0;
        i += strchr(taking, t->v[t->n - 1].c) != NULL;
    }
    if (input && whole && w->n == i + 1 && !shell_unknown_of(m, &w->v[i])) {
        read_whole(m, w, i, input);
        return SHELL_NO; /* its end comes before the delimiter */
    }
    bool known = input && plain && i < w->n && shell_separators(m);
    for (int32_t j = 0; known && j < input->n; j++)
        known = !input->v[j].unknown && input->v[j].c != '\n';
    for (int32_t j = i; j < w->n; j++)
        known &= !shell_unknown_of(m, &w->v[j]);
    if (known) {
        read_known(m, w, i, input, array);
        return SHELL_YES;
    }
    lose_all(m, w, i, "read from input");
    if (i >= w->n)
        lose(m, "REPLY", "read from input");
    m->because = shell_not_known(m, "?", false, "it is read from input");
    return SHELL_UNKNOWN;
}

enum shell_status shell_do_mapfile(struct shell_machine *m, const struct shell_texts *w)
{
    int32_t last = w->n - 1;
    if (last > 0 && !is_option(&w->v[last]))
        lose_all(m, w, last, "read from input");
    return SHELL_DONE;
}

bool shell_do_printf(struct shell_machine *m, const struct shell_texts *w)
{
    if (w->n < 4 || !shell_is(&w->v[1], "-v"))
        return false;
    const char *name = shell_string(m, &w->v[2], false);
    struct shell_texts one = { w->n > 4 ? &w->v[4] : &w->v[3], 1, 0 };
    if (w->n == 5 && shell_is(&w->v[3], "%s"))
        shell_assign(m, name, &one, false, false);
    else
        lose(m, name, "printed by a format");
    return true;
}
