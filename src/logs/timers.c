#include "logs/timers.h"

#include "logs/text.h"

#include <ctype.h>
#include <string.h>

const struct logs_timer *logs_timers_get(const struct logs_timers *t, const char *name)
{
    for (int32_t i = 0; i < t->n; i++)
        if (strcmp(t->of[i].name, name) == 0)
            return &t->of[i];
    return NULL;
}

static void add(struct logs_timers *t, const char *name, size_t length, double least_s,
                double most_s)
{
    char kept[LOGS_TIMER_NAME];
    if (length == 0 || length >= sizeof(kept) || least_s < 0 || most_s < least_s)
        return;
    line_keep(kept, sizeof(kept), name, length);
    struct logs_timer *timer = (struct logs_timer *)logs_timers_get(t, kept);
    if (!timer) {
        if (t->n == LOGS_TIMERS_MAX)
            return;
        timer = &t->of[t->n++];
        *timer = (struct logs_timer) { .n = 0 };
        memcpy(timer->name, kept, sizeof(kept));
    }
    timer->n++;
    timer->least_s += least_s;
    timer->most_s += most_s;
}

static size_t name_length(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || (at[n] && strchr("-_/", at[n])))
        n++;
    return n;
}

/* Names in rows may be of several words: "batch generator". */
static size_t words_length(const char *at)
{
    size_t n = name_length(at), next;
    while (n && at[n] == ' ' && (next = name_length(at + n + 1)) > 0)
        n += 1 + next;
    return n;
}

/* " | forward: 27.41 | batch generator: 4.65" */
static bool read_row(struct logs_timers *t, const char *at)
{
    bool any = false;
    for (at = strchr(at, '|'); at; at = strchr(at + 1, '|')) {
        const char *name = at + 1 + strspn(at + 1, " ");
        size_t n = words_length(name);
        double ms;
        if (name[n] == ':' && line_number(name + n + 1, false, &ms, NULL) == 0) {
            add(t, name, n, ms * 1e-3, ms * 1e-3);
            any = true;
        }
    }
    return any;
}

/* "    forward-backward ......: (9412.72, 9416.49)", or one number. */
static bool read_listed(struct logs_timers *t, const char *line)
{
    double least, most;
    const char *name = line + strspn(line, " "), *at, *end;
    size_t n = name_length(name);
    at = name + n + strspn(name + n, " .");
    if (n == 0 || at == name + n || *at != ':')
        return false;
    at += 1 + strspn(at + 1, " ");
    bool pair = *at == '(';
    if (line_number(at + pair, false, &least, &end))
        return false;
    most = least;
    if (pair && (*end != ',' || line_number(end + 1, false, &most, NULL)))
        return false;
    add(t, name, n, least * 1e-3, most * 1e-3);
    return true;
}

bool logs_timers_read(struct logs_timers *t, const char *line)
{
    const char *row = strstr(line, "time (ms) |");
    if (row)
        return read_row(t, row);
    if (strstr(line, "time across ranks (ms):")) {
        t->listing = true;
        return true;
    }
    t->listing = t->listing && read_listed(t, line);
    return t->listing;
}
