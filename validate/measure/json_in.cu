#include "json_in.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 20, DEPTH_MOST = 64 };

static const char *skip_blank(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

/* Beyond a string that begins at s; NULL when it does not end. */
static const char *skip_string(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : NULL;
}

/* Beyond any value; NULL when it does not end. */
static const char *skip_value(const char *s)
{
    int depth = 0;
    do {
        s = skip_blank(s);
        if (*s == '"') {
            s = skip_string(s);
            if (!s)
                return NULL;
        } else if (*s == '{' || *s == '[') {
            if (++depth > DEPTH_MOST)
                return NULL;
            s++;
        } else if (*s == '}' || *s == ']') {
            depth--;
            s++;
        } else if (*s == '\0') {
            return NULL;
        } else if (*s == ',' || *s == ':') {
            s++;
        } else {
            s += strcspn(s, " \t\r\n,:]}[{\"");
        }
    } while (depth > 0);
    return depth == 0 ? s : NULL;
}

/* The value of a key, or (key NULL) the end of the object; NULL where there is none. */
static const char *walk(const char *text, const char *key)
{
    const char *s = skip_blank(text);
    if (*s != '{')
        return NULL;
    s = skip_blank(s + 1);
    while (*s == '"') {
        const char *name = s + 1, *end = skip_string(s);
        if (!end)
            return NULL;
        s = skip_blank(end);
        if (*s != ':')
            return NULL;
        s = skip_blank(s + 1);
        if (key && strlen(key) == (size_t)(end - name - 1) &&
            strncmp(name, key, strlen(key)) == 0)
            return s;
        s = skip_value(s);
        if (!s)
            return NULL;
        s = skip_blank(s);
        if (*s == ',')
            s = skip_blank(s + 1);
    }
    return !key && *s == '}' ? s : NULL;
}

int json_in_open(struct json_in *j, const char *file, char *why, size_t size)
{
    FILE *in = fopen(file, "rb");
    j->text = (char *)calloc(1, FILE_MOST + 1);
    if (!in || !j->text) {
        snprintf(why, size, "%s: %s", file, strerror(errno));
        if (in)
            fclose(in);
        json_in_close(j);
        return -1;
    }
    size_t n = fread(j->text, 1, FILE_MOST + 1, in);
    fclose(in);
    if (n > FILE_MOST || !walk(j->text, NULL)) {
        snprintf(why, size, "%s: is no JSON object (a model's config.json is one)",
                 file);
        json_in_close(j);
        return -1;
    }
    return 0;
}

void json_in_close(struct json_in *j)
{
    free(j->text);
    j->text = NULL;
}

double json_in_real(const struct json_in *j, const char *key, double otherwise)
{
    const char *at = walk(j->text, key);
    char *end;
    if (!at)
        return otherwise;
    double v = strtod(at, &end);
    return end == at ? otherwise : v;
}

int64_t json_in_int(const struct json_in *j, const char *key, int64_t otherwise)
{
    double v = json_in_real(j, key, (double)otherwise);
    return v > -1e15 && v < 1e15 ? (int64_t)v : otherwise;
}

bool json_in_flag(const struct json_in *j, const char *key, bool otherwise)
{
    const char *at = walk(j->text, key);
    if (!at)
        return otherwise;
    return strncmp(at, "true", 4) == 0    ? true
           : strncmp(at, "false", 5) == 0 ? false
                                          : otherwise;
}

bool json_in_is(const struct json_in *j, const char *key, const char *word)
{
    const char *at = walk(j->text, key);
    size_t n = strlen(word);
    return at && *at == '"' && strncmp(at + 1, word, n) == 0 && at[n + 1] == '"';
}
