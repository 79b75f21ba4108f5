/* "custom_mpi_options": what SageMaker adds to the command line of mpirun. Variables
 * that it exports take effect as those of /software/environment do. */
#include "scenario/distribution/distribution.h"

#include <ctype.h>
#include <string.h>

/* Options of mpirun that take values, and how many. */
static const struct {
    const char *name;
    int values;
} known[] = {
    { "mca", 2 },    { "np", 1 },      { "n", 1 },        { "bind-to", 1 },
    { "map-by", 1 }, { "rank-by", 1 }, { "hostfile", 1 }, { "host", 1 },
    { "H", 1 },      { "N", 1 },       { "npernode", 1 }, { "output-filename", 1 },
};

/* The next word of a command line, quotes taken off; NULL at the end. */
static const char *next_word(struct arena *arena, const char **at)
{
    const char *s = *at;
    while (isspace((unsigned char)*s))
        s++;
    if (!*s)
        return NULL;
    char *word = ARENA_ARRAY(arena, strlen(s) + 1, char), *to = word, quote = 0;
    for (; *s && (quote || !isspace((unsigned char)*s)); s++) {
        if (quote ? *s == quote : *s == '"' || *s == '\'')
            quote = quote ? 0 : *s;
        else
            *to++ = *s;
    }
    *at = s;
    return word;
}

static bool is_variable(const char *word)
{
    size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return name > 2 && strchr(word, '_') && (word[name] == '=' || word[name] == '\0');
}

/* "NAME=VALUE"; a name alone hands on what the environment has. */
static int add(struct parse_context *r, struct cfg at, const char *word,
               const char *value)
{
    const char *equals = strchr(word, '=');
    if (!equals && !value)
        return 0;
    if (r->n_exports == PARSE_EXPORTS_MAX)
        return cfg_error(at, DIAG_OUT_OF_RANGE,
                         "more than %d variables (leave some out)", PARSE_EXPORTS_MAX);
    struct parse_export *e = &r->exports[r->n_exports++];
    size_t name = equals ? (size_t)(equals - word) : strlen(word);
    *e = (struct parse_export) { .at = at,
                                 .name = arena_strndup(&r->loader->arena, word, name),
                                 .value = equals ? equals + 1 : value };
    return 0;
}

static int values_of(const char *option)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, option) == 0)
            return known[i].values;
    return 0;
}

int mpi_options_read(struct parse_context *r, struct cfg at, const char *text)
{
    struct arena *arena = &r->loader->arena;
    bool others = false;
    const char *word;
    while ((word = next_word(arena, &text))) {
        size_t dashes = strspn(word, "-");
        const char *option = word + dashes;
        if (dashes && strcmp(option, "x") == 0) {
            const char *variable = next_word(arena, &text);
            if (!variable)
                return cfg_error(at, DIAG_SYNTAX,
                                 "ends in -x, which exports a variable (write "
                                 "\"-x NAME=VALUE\")");
            if (add(r, at, variable, NULL))
                return -1;
        } else if (dashes && is_variable(option)) { /* AWS's notebooks write so */
            const char *value = strchr(option, '=') ? NULL : next_word(arena, &text);
            if (add(r, at, option, value))
                return -1;
        } else {
            others = true;
            for (int n = dashes ? values_of(option) : 0; n > 0; n--)
                if (!next_word(arena, &text))
                    return cfg_error(at, DIAG_MISSING, "%s at the end lacks its value",
                                     word);
        }
    }
    if (others)
        parse_note(r, at,
                   "options of mpirun other than -x NAME=VALUE do not change "
                   "the simulation");
    return 0;
}
