/* What a shell script says of its own arguments: the values that it compares them with,
 * and a comment that calls it. */
#include "dialect/launch/launch_usage.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MIN = 2, USAGE_MAX_B = 1000, NAMED_MAX = 64, NAMED_MAX_B = 100 };

static void take_values(struct launch *l, const struct shell *s)
{
    struct arena *arena = &l->loader->arena;
    for (int64_t i = 0; i < s->choices.n; i++) {
        const struct shell_choice *c = &s->choices.v[i];
        int64_t k = 0;
        while (k < l->values.n && strcmp(l->values.v[k].ask, c->ask) != 0)
            k++;
        if (k == l->values.n) {
            VEC_PUSH(&l->values,
                     ((struct launch_values) { c->ask, c->value, c->value }));
            continue;
        }
        struct launch_values *v = &l->values.v[k];
        if (*v->first == '-') /* of "-h" and a value, the value */
            v->first = c->value;
        const char *all = arena_printf(arena, ", %s, ", v->all),
                   *one = arena_printf(arena, ", %s, ", c->value);
        if (!strstr(all, one) && strlen(all) < USAGE_MAX_B)
            v->all = arena_printf(arena, "%s, %s", v->all, c->value);
    }
}

static int count_words(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text != ' ' && (text[1] == ' ' || !text[1]);
    return n;
}

/* The arguments of "# sh run.sh dsw 7B 1", of a line; NULL: it is no comment, calls no
 * script, or has placeholders. */
static const char *call_in(struct arena *arena, const char *line, size_t n)
{
    static const char ending[] = ".sh ";
    if (n > USAGE_MAX_B || line[strspn(line, " \t")] != '#')
        return NULL;
    char *text = arena_strndup(arena, line, n), *at = text + strspn(text, " \t#$"),
         *end = strstr(at, ending);
    if (!end || strpbrk(at, "<>[]{}$'|&;`=\\,()\"\t"))
        return NULL;
    end[sizeof(ending) - 2] = '\0';
    char *arguments = end + sizeof(ending) - 1;
    arguments += strspn(arguments, " ");
    bool call = count_words(at) <= 2; /* "sh run.sh", and no sentence */
    return call && count_words(arguments) >= ARGUMENTS_MIN ? arguments : NULL;
}

/* The argument that a line binds a name to, "BATCH_SIZE=${10}"; 0: it binds none. */
static int bound_by(const char *line, size_t n, const char **name, size_t *len)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char text[NAMED_MAX_B] = "";
    int at = 0, end = 0;
    if (n >= sizeof(text))
        return 0;
    memcpy(text, line, n);
    *len = strspn(text, letters);
    *name = line;
    const char *value = text + *len;
    bool is = sscanf(value, "=$%2d%n", &at, &end) == 1 ||
              (sscanf(value, "=${%2d}%n", &at, &end) == 1 && end);
    is = is && (!value[end] || strchr(" \t#;", value[end]));
    return is && *len && at > 0 && at < NAMED_MAX ? at : 0;
}

/* What the script calls its arguments, in their order; NULL: one has no name. */
static const char *names_of_arguments(struct arena *arena, const char *text)
{
    const char *names[NAMED_MAX] = { NULL }, *all = NULL;
    int last = 0;
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n"), len = 0;
        const char *name;
        int at = bound_by(line, n, &name, &len);
        if (at && !names[at])
            names[at] = arena_strndup(arena, name, len);
        last = at > last ? at : last;
        line += n + (line[n] == '\n');
    }
    for (int i = 1; i <= last; i++) {
        if (!names[i])
            return NULL;
        all = arena_printf(arena, "%s%s%s", all ? all : "", all ? " " : "", names[i]);
    }
    return last >= ARGUMENTS_MIN ? all : NULL;
}

void launch_take_usage(struct launch *l, const struct shell *s, const char *text)
{
    int64_t number = 1;
    take_values(l, s);
    for (const char *line = text; *line && !l->usage.arguments; number++) {
        size_t n = strcspn(line, "\n");
        const char *arguments = call_in(&l->loader->arena, line, n);
        if (arguments)
            l->usage = (struct launch_usage) { arguments, NULL, number };
        line += n + (line[n] == '\n');
    }
    if (!l->usage.arguments)
        l->usage.names = names_of_arguments(&l->loader->arena, text);
}
