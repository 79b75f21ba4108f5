#include "logs/variables.h"

#include "logs/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Begins of names that are looked for. */
static const char *const begins[] = { "NCCL_", "FI_", "TORCH_NCCL_",
                                      "CUDA_LAUNCH_BLOCKING",
                                      "TORCH_DISTRIBUTED_DEBUG" };

const char *logs_variable(const struct logs_variables *v, const char *name)
{
    for (int32_t i = 0; i < v->n; i++)
        if (strcmp(v->of[i].name, name) == 0)
            return v->of[i].value;
    return NULL;
}

/* Adds one, unless it is known. */
static void add_variable(struct logs_variables *v, const char *name, size_t n,
                         const char *value, size_t length)
{
    char kept[LOGS_VARIABLE_TEXT];
    line_keep(kept, sizeof(kept), name, n);
    if (n == 0 || v->n == LOGS_VARIABLES_MAX || logs_variable(v, kept))
        return;
    struct logs_variable *to = &v->of[v->n++];
    memcpy(to->name, kept, sizeof(kept));
    line_keep(to->value, sizeof(to->value), value, length);
}

static bool is_name(char c)
{
    return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* "NAME=VALUE" from here on: a quoted value ends with its quote, others with a blank or a
 * bracket. */
static void read_setting(struct logs_variables *v, const char *name, size_t n)
{
    const char *at = name + n;
    at += *at == '\'' || *at == '"'; /* of a dictionary that was printed */
    if (*at != '=' && *at != ':')
        return;
    at += 1 + strspn(at + 1, " ");
    bool quoted = *at == '\'' || *at == '"';
    at += quoted;
    size_t length = strcspn(at, quoted ? "'\"" : " '\";)}");
    while (length && at[length - 1] == ',')
        length--;
    if (length)
        add_variable(v, name, n, at, length);
}

/* "NCCL_IB_DISABLE set by environment to 0.", or " set to " as older ones say. */
static void read_said(struct logs_variables *v, const char *line)
{
    static const char *const middles[] = { " set by environment to ", " set to " };
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(line, middles[i]), *name = at;
        while (name && name > line && is_name(name[-1]))
            name--;
        if (!at || strncmp(name, "NCCL_", 5) != 0)
            continue;
        const char *value = at + strlen(middles[i]);
        size_t n = strcspn(value, " \"");
        n -= n && value[n - 1] == '.'; /* the sentence's */
        add_variable(v, name, (size_t)(at - name), value, n);
        return;
    }
}

void logs_variables_read(struct logs_variables *v, const char *line)
{
    read_said(v, line);
    if (!strchr(line, '=') && !strchr(line, ':'))
        return;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        for (const char *at = strstr(line, begins[i]); at;
             at = strstr(at + 1, begins[i])) {
            size_t n = 0;
            while (is_name(at[n]))
                n++;
            if (at == line || !is_name(at[-1]))
                read_setting(v, at, n);
        }
}
