/* What a text does with what tokenizers gave it: ends that it cuts, prompts and answers that
 * it joins. */
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int64_t user_script_left_out(struct arena *arena, const struct python *p,
                             const struct python_call *c)
{
    static const char *const forms[] = { "[\"input_ids\"][:-", "['input_ids'][:-",
                                         ".input_ids[:-" };
    const char *name = c->target ? python_last_part(c->target) : "";
    for (size_t i = 0; *name && p->text && i < sizeof(forms) / sizeof(forms[0]); i++) {
        const char *cut = arena_printf(arena, "%s%s", name, forms[i]),
                   *at = strstr(p->text, cut);
        if (at)
            return strtol(at + strlen(cut), NULL, 10);
    }
    return 0;
}

/* Whether the word before `s` is a name, or the beginning of it: tokenized_source of
 * tokenized_sources_with_prompt. */
static bool follows(const char *text, const char *s, const char *name)
{
    const char *from = s;
    while (from > text && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
        from--;
    size_t n = (size_t)(s - from);
    return n > 2 && strncmp(from, name, n) == 0;
}

/* Whether the text has "a + b" of what two names hold, as a loop over them names it. */
static bool adds(struct arena *arena, const char *text, const char *a, const char *b)
{
    size_t n = strlen(b);
    const char *sum = arena_printf(arena, " + %.*s", (int)(n - (b[n - 1] == 's')), b);
    for (const char *s = text; (s = strstr(s, sum)) != NULL; s++)
        if (follows(text, s, a))
            return true;
    return false;
}

const struct python_call *user_script_joined(struct arena *arena,
                                             const struct python *p,
                                             const struct python_call *c)
{
    const char *name = c->target ? python_last_part(c->target) : "";
    for (int64_t i = 0; *name && p->text && c->within && i < p->calls.n; i++) {
        const struct python_call *d = &p->calls.v[i];
        const char *other = d->target ? python_last_part(d->target) : "";
        if (d == c || !*other || !d->within || strcmp(d->within, c->within) != 0 ||
            user_script_part_of(d) != SCRIPT_TOKENISED || strcmp(name, other) == 0)
            continue;
        if (adds(arena, p->text, name, other) || adds(arena, p->text, other, name))
            return d;
    }
    return NULL;
}
