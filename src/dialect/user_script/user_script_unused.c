/* Adapters that a text describes and gives to nothing: config = LoraConfig(...), whose
 * other lines are comments. */
#include "dialect/user_script/user_script.h"

#include <ctype.h>
#include <string.h>

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* How often a name is in the text outside of comments; a "#" in a string ends its line,
 * too. */
static int64_t count_name(const char *text, const char *name)
{
    size_t len = strlen(name);
    int64_t n = 0;
    char before = '\0';
    for (const char *c = text; *c;) {
        if (*c == '#') {
            c += strcspn(c, "\n");
            continue;
        }
        bool here = !is_name(before) && before != '.' && strncmp(c, name, len) == 0 &&
                    !is_name(c[len]);
        n += here;
        c += here ? len - 1 : 0;
        before = *c++;
    }
    return n;
}

void user_script_drop_unused(struct launch_context *t, struct user_script *g,
                             const struct user_script_start *s)
{
    const struct value_item *it = value_get(g->words, "use_peft");
    const char *name = g->lost ? g->lost->target : NULL;
    if (!it || it->value->kind != VALUE_UNKNOWN || !name || !s->text ||
        count_name(s->text, name) != 1)
        return;
    g->words->items[it - g->words->items] =
        (struct value_item) { it->key, it->line,
                              value_new(t->arena, VALUE_NONE, it->line, 0) };
    launch_note(
        t->l, s->line, DIAG_ASSUMED,
        "LoraConfig(...) of line %lld is given to nothing: the model is trained "
        "without adapters",
        (long long)g->lost->line);
}
