/* JSON as it comes, piece by piece: nothing is kept but the text of the token at hand.
 *
 * It is more lenient than JSON: bare words (nan, Infinity) are scalars, control
 * characters may be in texts, and commas may be missing or too many. Brackets have to
 * match, and JSON_DEPTH_MAX of them may be open. Escapes become their characters;
 * those of other than ASCII become '?'. */
#ifndef KINETO_JSON_EVENTS_H
#define KINETO_JSON_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_token {
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_KEY,
    JSON_STRING,
    JSON_SCALAR /* a number or a word */
};

enum { JSON_TEXT_MAX = 1 << 12, JSON_DEPTH_MAX = 60 };

/* `depth`: how many containers are open around the token; a container is open in its own
 * end, not yet in its begin. The text ends with a zero byte, and is cut at
 * JSON_TEXT_MAX - 1; brackets have none. */
typedef void (*json_take)(void *arg, enum json_token token, int depth, const char *text,
                          size_t length);

struct json_events {
    json_take take;
    void *arg;
    int depth, state, hex;
    uint64_t objects; /* a bit a depth: it is an object */
    bool wants_key, broken;
    int64_t at; /* bytes that were taken */
    size_t n;
    char text[JSON_TEXT_MAX];
};

void json_events_init(struct json_events *j, json_take take, void *arg);

/* false: brackets do not match, or are too deep; the rest is not taken. */
bool json_events_feed(struct json_events *j, const char *bytes, size_t n);

/* Whether all that was opened is closed. */
bool json_events_whole(const struct json_events *j);

#endif
