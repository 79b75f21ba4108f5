#include "kineto/json_events.h"

#include <string.h>

enum state { BETWEEN, IN_TEXT, IN_ESCAPE, IN_HEX, IN_WORD };

void json_events_init(struct json_events *j, json_take take, void *arg)
{
    j->take = take;
    j->arg = arg;
    j->depth = j->hex = 0;
    j->state = BETWEEN;
    j->objects = 0;
    j->wants_key = j->broken = false;
    j->at = 0;
    j->n = 0;
}

static void put(struct json_events *j, char c)
{
    if (j->n < JSON_TEXT_MAX - 1)
        j->text[j->n++] = c;
}

static void emit(struct json_events *j, enum json_token token)
{
    j->text[j->n] = '\0';
    j->take(j->arg, token, j->depth, j->text, j->n);
    j->n = 0;
}

static bool is_object(const struct json_events *j)
{
    return j->depth > 0 && (j->objects >> j->depth & 1);
}

static void open_one(struct json_events *j, bool object)
{
    emit(j, object ? JSON_OBJECT : JSON_ARRAY);
    if (++j->depth > JSON_DEPTH_MAX) {
        j->broken = true;
        return;
    }
    uint64_t bit = (uint64_t)1 << j->depth;
    j->objects = object ? j->objects | bit : j->objects & ~bit;
    j->wants_key = object;
}

static void close_one(struct json_events *j, bool object)
{
    if (j->depth == 0 || is_object(j) != object) {
        j->broken = true;
        return;
    }
    emit(j, object ? JSON_OBJECT_END : JSON_ARRAY_END);
    j->depth--;
    j->wants_key = is_object(j);
}

static void end_text(struct json_events *j)
{
    emit(j, is_object(j) && j->wants_key ? JSON_KEY : JSON_STRING);
    j->state = BETWEEN;
}

/* A character between tokens. */
static void begin(struct json_events *j, char c)
{
    switch (c) {
    case '{':
    case '[':
        open_one(j, c == '{');
        break;
    case '}':
    case ']':
        close_one(j, c == '}');
        break;
    case '"':
        j->state = IN_TEXT;
        break;
    case ':':
        j->wants_key = false;
        break;
    case ',':
        j->wants_key = is_object(j);
        break;
    case ' ':
    case '\n':
    case '\r':
    case '\t':
        break;
    default:
        put(j, c);
        j->state = IN_WORD;
    }
}

static void escape(struct json_events *j, char c)
{
    static const char of[] = "nrtbf", is[] = "\n\r\t\b\f";
    const char *at = c ? strchr(of, c) : NULL;
    j->state = IN_TEXT;
    if (c == 'u') {
        j->state = IN_HEX;
        j->hex = 0;
        return;
    }
    put(j, (char)(at ? is[at - of] : c));
}

static void hex(struct json_events *j)
{
    if (++j->hex < 4)
        return;
    put(j, '?');
    j->state = IN_TEXT;
}

/* Text up to its end or to an escape, at once; what follows. */
static size_t take_text(struct json_events *j, const char *bytes, size_t i, size_t n)
{
    size_t from = i;
    while (i < n && bytes[i] != '"' && bytes[i] != '\\')
        i++;
    size_t room = JSON_TEXT_MAX - 1 - j->n, length = i - from;
    memcpy(j->text + j->n, bytes + from, length < room ? length : room);
    j->n += length < room ? length : room;
    if (i == n)
        return i;
    if (bytes[i] == '"')
        end_text(j);
    else
        j->state = IN_ESCAPE;
    return i + 1;
}

static bool ends_word(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' ||
           c == '[' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool json_events_feed(struct json_events *j, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !j->broken;) {
        switch ((enum state)j->state) {
        case IN_TEXT:
            i = take_text(j, bytes, i, n);
            break;
        case IN_ESCAPE:
            escape(j, bytes[i++]);
            break;
        case IN_HEX:
            hex(j);
            i++;
            break;
        case IN_WORD:
            if (ends_word(bytes[i])) {
                emit(j, JSON_SCALAR);
                j->state = BETWEEN;
            } else {
                put(j, bytes[i++]);
            }
            break;
        case BETWEEN:
            begin(j, bytes[i++]);
            break;
        }
    }
    j->at += (int64_t)n;
    return !j->broken;
}

bool json_events_whole(const struct json_events *j)
{
    return !j->broken && j->depth == 0 && j->state == BETWEEN;
}
