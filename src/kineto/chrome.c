#include "kineto/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the year 2090: no sum of such times overflows. */
static const double latest_us = 4e15;

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Microseconds from 0, with up to three digits after the point, as ns; -1: no time. */
static int time_ns(const char *text, int64_t *ns)
{
    char *end;
    double us = strtod(text, &end);
    if (end == text || !(us >= 0 && us <= latest_us))
        return -1;
    if (strpbrk(text, "eExX")) {
        *ns = (int64_t)(us * 1e3);
        return 0;
    }
    errno = 0;
    int64_t whole = strtoll(text, &end, 10), part = 0;
    if (errno)
        return -1;
    if (*end == '.')
        for (int64_t unit = 100, i = 1; unit && end[i] >= '0' && end[i] <= '9';
             unit /= 10, i++)
            part += unit * (end[i] - '0');
    *ns = whole * 1000 + part;
    return 0;
}

/* Values ---------------------------------------------------------------------------- */

static void take_field(struct chrome *c, const char *text, size_t n)
{
    struct gather_event *e = &c->g.event;
    const char *key = c->key;
    if (is(key, "ph"))
        e->phase = text[0];
    else if (is(key, "cat"))
        gather_keep(e->category, sizeof(e->category), text);
    else if (is(key, "ts"))
        e->has_ts = time_ns(text, &e->ts) == 0;
    else if (is(key, "dur"))
        e->has_length = time_ns(text, &e->length) == 0;
    else if (is(key, "tid"))
        e->thread = gather_integer(text, 0);
    else if (is(key, "name")) {
        memcpy(e->name, text, n + 1);
        e->name_length = n;
    }
}

static void take_argument(struct chrome *c, const char *text)
{
    struct gather_event *e = &c->g.event;
    const char *key = c->key;
    if (is(key, "stream"))
        e->stream = gather_integer(text, 0);
    else if (is(key, "device"))
        e->device = gather_integer(text, 0);
    else if (is(key, "correlation"))
        e->correlation = gather_integer(text, -1);
    else if (is(key, "External id") || is(key, "external id"))
        e->op = gather_integer(text, -1);
    else if (is(key, "In msg nelems") || is(key, "In msg size"))
        e->in = strtod(text, NULL);
    else if (is(key, "Out msg nelems") || is(key, "Out msg size"))
        e->out = strtod(text, NULL);
    else if (is(key, "Group size"))
        e->ranks = strtod(text, NULL);
    else if (is(key, "Global rank stride"))
        e->rank_stride = gather_integer(text, 0);
    else if (is(key, "dtype"))
        gather_keep(e->dtype, sizeof(e->dtype), text);
    else if (is(key, "Collective name"))
        gather_keep(e->collective, sizeof(e->collective), text);
    else if (is(key, "Process Group Description") ||
             (is(key, "Process Group Name") && !e->group[0]))
        gather_keep(e->group, sizeof(e->group), text);
}

static void take_dimension(struct chrome *c, int depth, const char *text)
{
    struct gather_event *e = &c->g.event;
    int32_t input = e->n_inputs - 1;
    bool fits = depth == c->dims_depth + 1 && input >= 0 && input < GATHER_INPUTS;
    if (!fits)
        return;
    if (e->n_dims < GATHER_DIMS)
        e->dims[input][e->n_dims] = gather_integer(text, 0);
    e->ranks_of[input] = ++e->n_dims;
}

static void take_value(struct chrome *c, int depth, const char *text, size_t n)
{
    if (c->dims_depth && depth > c->dims_depth)
        take_dimension(c, depth, text);
    else if (c->args_depth && depth == c->args_depth)
        take_argument(c, text);
    else if (c->event_depth && depth == c->event_depth)
        take_field(c, text, n);
    else if (c->info_depth && depth == c->info_depth && is(c->key, "rank"))
        c->g.rank = gather_integer(text, -1);
    else if (c->info_depth && depth == c->info_depth && is(c->key, "world_size"))
        c->g.world = gather_integer(text, 0);
    else if (c->info_depth && depth == c->info_depth && is(c->key, "nccl_version"))
        gather_keep(c->g.nccl, sizeof(c->g.nccl), text);
    else if (c->device_depth && depth == c->device_depth && is(c->key, "name") &&
             !c->g.device[0])
        gather_keep(c->g.device, sizeof(c->g.device), text);
}

/* Containers. Events are the objects of "traceEvents", or of a list without a name. --- */

static void begin_event(struct chrome *c, int depth)
{
    c->event_depth = depth;
    gather_event_begin(&c->g.event);
}

static void open_object(struct chrome *c, int depth)
{
    bool is_event = (c->in_events && depth == 2) || (depth == 1 && !c->top[0]);
    if (c->event_depth == 0 && is_event)
        begin_event(c, depth + 1);
    else if (c->event_depth && depth == c->event_depth && is(c->key, "args"))
        c->args_depth = depth + 1;
    else if (depth == 1 && is(c->top, "distributedInfo"))
        c->info_depth = depth + 1;
    else if (depth == 2 && is(c->top, "deviceProperties"))
        c->device_depth = depth + 1;
}

static void open_array(struct chrome *c, int depth)
{
    if (depth == 1 && is(c->top, "traceEvents"))
        c->in_events = true;
    else if (c->args_depth && depth == c->args_depth &&
             (is(c->key, "Input Dims") || is(c->key, "Input dims")))
        c->dims_depth = depth + 1;
    if (c->dims_depth && depth == c->dims_depth) {
        struct gather_event *e = &c->g.event;
        if (e->n_inputs < GATHER_INPUTS) {
            memset(e->dims[e->n_inputs], 0, sizeof(e->dims[0]));
            e->ranks_of[e->n_inputs] = 0;
        }
        e->n_inputs++;
        e->n_dims = 0;
    }
}

static void close_one(struct chrome *c, int depth)
{
    if (c->event_depth && depth == c->event_depth)
        gather_event_end(&c->g);
    int *const depths[] = { &c->event_depth, &c->args_depth, &c->dims_depth,
                            &c->info_depth, &c->device_depth };
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        if (*depths[i] == depth)
            *depths[i] = 0;
    if (depth == 2)
        c->in_events = false;
}

static void take(void *arg, enum json_token token, int depth, const char *text,
                 size_t n)
{
    struct chrome *c = arg;
    switch (token) {
    case JSON_KEY:
        gather_keep(c->key, sizeof(c->key), text);
        if (depth == 1)
            gather_keep(c->top, sizeof(c->top), text);
        break;
    case JSON_OBJECT:
        open_object(c, depth);
        break;
    case JSON_ARRAY:
        open_array(c, depth);
        break;
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
        close_one(c, depth);
        break;
    case JSON_STRING:
    case JSON_SCALAR:
        take_value(c, depth, text, n);
        break;
    }
}

void chrome_init(struct chrome *c)
{
    memset(c, 0, sizeof(*c));
    gather_init(&c->g);
    json_events_init(&c->json, take, c);
}

void chrome_release(struct chrome *c)
{
    gather_release(&c->g);
}

void chrome_feed(struct chrome *c, const char *bytes, size_t n)
{
    json_events_feed(&c->json, bytes, n);
}
