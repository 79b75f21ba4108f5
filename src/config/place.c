#include "config/place.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct place place_of(const char *text, size_t offset)
{
    struct place p = { 1, 1 };
    size_t i = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (; i < offset; i++) {
        if (text[i] == '\n') {
            p.line++;
            p.column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            p.column++;
        }
    }
    return p;
}

/* Below, s is strict JSON, so scanning needs no checks. */

static const char *blanks(const char *s)
{
    return s + strspn(s, " ");
}

static const char *string_end(const char *s)
{
    for (s++; *s != '"'; s++)
        s += *s == '\\';
    return s + 1;
}

static const char *value_end(const char *s)
{
    int depth = 0;
    do {
        s = blanks(s);
        if (*s == '"') {
            s = string_end(s);
        } else if (strchr("{[]}", *s)) {
            depth += *s == '{' || *s == '[' ? 1 : -1;
            s++;
        } else if (strchr(",:", *s)) {
            s++;
        } else {
            s += strcspn(s, " ,]}");
        }
    } while (depth > 0);
    return blanks(s);
}

/* Whether the key written at s is the pointer's segment of n bytes. */
static bool key_is(const char *s, const char *segment, size_t n)
{
    size_t written = strcspn(s + 1, "\"\\"), plain = strcspn(segment, "~/");
    if (s[1 + written] == '"' && plain >= n) /* no escape is in them */
        return written == n && memcmp(s + 1, segment, n) == 0;
    json_t *key = json_loadb(s, (size_t)(string_end(s) - s), JSON_DECODE_ANY, NULL);
    const char *k = json_string_value(key);
    size_t i = 0;
    bool same = k != NULL;
    for (; same && i < n; i++, k++) {
        char c = segment[i];
        if (c == '~' && i + 1 < n)
            c = segment[++i] == '1' ? '/' : '~';
        same = *k == c;
    }
    same = same && *k == '\0';
    json_decref(key);
    return same;
}

/* The member of the object or array at s that the segment names; NULL when it has none.
 * *name is its key, or the element itself. */
static const char *member(const char *s, const char *segment, size_t n,
                          const char **name)
{
    bool object = *s == '{';
    if (!object && *s != '[')
        return NULL;
    long long index = object ? 0 : strtoll(segment, NULL, 10);
    s = blanks(s + 1);
    for (long long i = 0; *s != '}' && *s != ']'; i++) {
        *name = s;
        bool found = object ? key_is(s, segment, n) : i == index;
        if (object)
            s = blanks(blanks(string_end(s)) + 1);
        if (found)
            return s;
        s = value_end(s);
        if (*s == ',')
            s = blanks(s + 1);
    }
    return NULL;
}

struct place place_find(const char *text, const struct lenient *read,
                        const char *pointer, bool key)
{
    if (!read->json.len)
        return place_of(text, 0);
    const char *json = read->json.s, *value = blanks(json), *name = value;
    while (*pointer == '/') {
        size_t n = strcspn(++pointer, "/");
        const char *inner = member(value, pointer, n, &name);
        if (!inner) {
            name = value;
            break;
        }
        value = inner;
        pointer += n;
    }
    return place_of(text, lenient_origin(read, (size_t)((key ? name : value) - json)));
}
