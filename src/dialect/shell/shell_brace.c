/* {a,b} and {1..4} in a word of a shell script: the words that they make. */
#include "base/xmalloc.h"
#include "dialect/shell/shell_machine.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 20 };

/* A bracket of a word: "{" at from, "}" at to. */
struct brace {
    int32_t from, to;
    bool list; /* {a,b} */
};

static bool is_sign(const struct shell_text *t, int32_t i, char c)
{
    return i < t->n && t->v[i].c == c && t->v[i].from == SHELL_WRITTEN &&
           !t->v[i].unknown;
}

static bool has_bracket(const struct shell_text *t)
{
    for (int32_t i = 0; i < t->n; i++)
        if (is_sign(t, i, '{'))
            return true;
    return false;
}

/* Where each bracket of a word ends, by where it begins; 0: it does not. The caller frees
 * it. In one pass, as a word may have a hundred thousand that do not. */
static int32_t *ends_of_brackets(const struct shell_text *t)
{
    int32_t *ends = xcalloc((size_t)t->n + 1, sizeof(*ends)),
            *open = xcalloc((size_t)t->n + 1, sizeof(*open)), n = 0;
    for (int32_t i = 0; i < t->n; i++) {
        if (is_sign(t, i, '{'))
            open[n++] = i;
        else if (is_sign(t, i, '}') && n > 0)
            ends[open[--n]] = i;
    }
    free(open);
    return ends;
}

static struct brace bracket(const struct shell_text *t, int32_t from, int32_t to)
{
    struct brace b = { .from = from, .to = to };
    int depth = 0;
    for (int32_t i = from; i < to && !b.list; i++) {
        depth += is_sign(t, i, '{') - is_sign(t, i, '}');
        b.list = depth == 1 && is_sign(t, i, ',');
    }
    return b;
}

static void take(struct shell_machine *m, const struct shell_text *t,
                 struct shell_texts *out)
{
    struct shell_text copy = { 0 };
    shell_append(m, &copy, t);
    shell_texts_take(m, out, &copy);
}

static void expand(struct shell_machine *m, const struct shell_text *t, int depth,
                   struct shell_texts *out);

/* The word with `middle` instead of the bracket, whose other brackets follow. */
static void put(struct shell_machine *m, const struct shell_text *t,
                const struct brace *b, const struct shell_text *middle, int depth,
                struct shell_texts *out)
{
    struct shell_text all = { 0 },
                      rest = { .v = t->v + b->to + 1, .n = t->n - b->to - 1 };
    for (int32_t i = 0; i < b->from; i++)
        shell_push(m, &all, t->v[i]);
    shell_append(m, &all, middle);
    shell_append(m, &all, &rest);
    expand(m, &all, depth + 1, out);
    shell_text_release(&all);
}

static void put_list(struct shell_machine *m, const struct shell_text *t,
                     const struct brace *b, int depth, struct shell_texts *out)
{
    int inner = 0;
    for (int32_t i = b->from + 1, start = i; i <= b->to && !m->failed; i++) {
        inner += is_sign(t, i, '{');
        inner -= is_sign(t, i, '}') && i < b->to;
        if (i < b->to && (inner || !is_sign(t, i, ',')))
            continue;
        struct shell_text part = { .v = t->v + start, .n = i - start };
        put(m, t, b, &part, depth, out);
        start = i + 1;
    }
}

/* The ends and the step of {1..8..2}; false: it is none. */
static bool ends_of(struct shell_machine *m, const struct shell_text *t,
                    const struct brace *b, int64_t v[3], int *width)
{
    struct shell_text inner = { .v = t->v + b->from + 1, .n = b->to - b->from - 1 };
    for (int32_t i = 0; i < inner.n; i++)
        if (inner.v[i].unknown || inner.v[i].from != SHELL_WRITTEN)
            return false;
    const char *s = inner.n < 60 ? shell_string(m, &inner, false) : "";
    char *end = NULL;
    int n = 0;
    *width = 0;
    for (; n < 3 && (isdigit((unsigned char)*s) || (*s == '-' && s[1])); n++) {
        bool zero = s[*s == '-'] == '0' && isdigit((unsigned char)s[(*s == '-') + 1]);
        v[n] = strtoll(s, &end, 10);
        *width = zero && end - s > *width ? (int)(end - s) : *width;
        if (end == s || v[n] > SHELL_WORDS_MAX || v[n] < -SHELL_WORDS_MAX)
            return false;
        s = strncmp(end, "..", 2) == 0 ? end + 2 : end;
        if (s == end)
            return n > 0 && *s == '\0';
    }
    return false;
}

/* {a..e}, of letters */
static bool letters_of(const struct shell_text *t, const struct brace *b, int64_t v[3])
{
    const struct shell_char *c = &t->v[b->from + 1];
    bool is = b->to - b->from == 5 && c[1].c == '.' && c[2].c == '.' &&
              isalpha((unsigned char)c[0].c) && isalpha((unsigned char)c[3].c) &&
              c[0].from == SHELL_WRITTEN && c[3].from == SHELL_WRITTEN;
    v[0] = (unsigned char)c[0].c;
    v[1] = is ? (unsigned char)c[3].c : 0;
    return is;
}

static bool put_range(struct shell_machine *m, const struct shell_text *t,
                      const struct brace *b, int depth, struct shell_texts *out)
{
    int64_t v[3] = { 0, 0, 1 };
    int width = 0;
    bool letters = letters_of(t, b, v);
    if (!letters && !ends_of(m, t, b, v, &width))
        return false;
    int64_t size = v[2] < 0 ? -v[2]
                   : v[2]   ? v[2]
                            : 1,
            step = v[1] < v[0] ? -size : size;
    for (int64_t i = v[0]; (step > 0 ? i <= v[1] : i >= v[1]) && !m->failed;
         i += step) {
        struct shell_text one = { 0 };
        shell_add_string(m, &one,
                         letters ? arena_printf(m->arena, "%c", (int)i)
                                 : arena_printf(m->arena, "%0*" PRId64, width, i),
                         t->v[b->from]);
        put(m, t, b, &one, depth, out);
        shell_text_release(&one);
    }
    return true;
}

/* Expands the first bracket that is a list or a range; false: none is. */
static bool put_first(struct shell_machine *m, const struct shell_text *t,
                      const int32_t *ends, int depth, struct shell_texts *out)
{
    for (int32_t i = 0; i < t->n; i++) {
        if (!ends[i] || shell_works(m, ends[i] - i))
            continue;
        struct brace b = bracket(t, i, ends[i]);
        if (b.list)
            put_list(m, t, &b, depth, out);
        if (b.list || put_range(m, t, &b, depth, out))
            return true;
    }
    return false;
}

static void expand(struct shell_machine *m, const struct shell_text *t, int depth,
                   struct shell_texts *out)
{
    bool is_plain = depth >= NESTED_MAX || !has_bracket(t) || shell_works(m, t->n);
    int32_t *ends = is_plain ? NULL : ends_of_brackets(t);
    if (is_plain || !put_first(m, t, ends, depth, out))
        take(m, t, out);
    free(ends);
}

void shell_expand_braces(struct shell_machine *m, const struct shell_text *t,
                         struct shell_texts *out)
{
    expand(m, t, 0, out);
}
