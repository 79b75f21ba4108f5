#include "trace_rules.h"

#include <CUnit/CUnit.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };

struct event {
    int64_t pid, tid, at_ns, end_ns; /* end: of slices */
    int64_t index;                   /* in the file */
    char phase;
    json_t *o;
};

static int64_t whole(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    CU_ASSERT_FATAL(json_is_integer(v));
    return json_integer_value(v);
}

/* A time in whole nanoseconds: finer ones are rounded, and slices overlap then. */
static int64_t time_ns(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    CU_ASSERT_FATAL(json_is_number(v));
    double ns = json_number_value(v) * 1000;
    CU_ASSERT(fabs(ns - round(ns)) < 1e-3 * fmax(1, ns * 1e-9));
    CU_ASSERT(ns >= 0);
    return (int64_t)llround(ns);
}

static struct event event_of(json_t *o, int64_t index)
{
    const char *phase = json_string_value(json_object_get(o, "ph"));
    CU_ASSERT_FATAL(phase && strlen(phase) == 1 && strchr("XBEsfCiM", phase[0]));
    struct event e = { .pid = whole(o, "pid"),
                       .tid = whole(o, "tid"),
                       .at_ns = time_ns(o, "ts"),
                       .index = index,
                       .phase = phase[0],
                       .o = o };
    CU_ASSERT(e.pid > 0 && e.tid > 0); /* 0 is the system's own */
    CU_ASSERT(e.phase == 'E' || json_is_string(json_object_get(o, "name")));
    if (e.phase == 'X') {
        e.end_ns = e.at_ns + time_ns(o, "dur");
        CU_ASSERT(e.end_ns > e.at_ns);
    }
    return e;
}

/* By thread, time, place in the file. */
static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    const int64_t keys[][2] = { { x->pid, y->pid },
                                { x->tid, y->tid },
                                { x->at_ns, y->at_ns },
                                { x->index, y->index } };
    for (int i = 0; i < 4; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Slices of a thread are within each other or apart. */
struct stack {
    int n;
    int64_t end_ns[DEPTH]; /* -1: until its event E */
};

static void push(struct stack *s, struct trace_seen *seen, int64_t end_ns)
{
    CU_ASSERT_FATAL(s->n < DEPTH);
    if (s->n > 0 && end_ns >= 0 && s->end_ns[s->n - 1] >= 0)
        CU_ASSERT(end_ns <= s->end_ns[s->n - 1]);
    seen->nested += s->n > 0;
    s->end_ns[s->n++] = end_ns;
    seen->deepest = s->n > seen->deepest ? s->n : seen->deepest;
    seen->slices++;
}

static void see_slice(struct stack *s, struct trace_seen *seen, const struct event *e)
{
    while (s->n > 0 && s->end_ns[s->n - 1] >= 0 && s->end_ns[s->n - 1] <= e->at_ns)
        s->n--;
    if (e->phase == 'X') {
        push(s, seen, e->end_ns);
        seen->last_us = fmax(seen->last_us, (double)e->end_ns / 1000);
    } else if (e->phase == 'B') {
        push(s, seen, -1);
    } else if (e->phase == 'E') {
        CU_ASSERT_FATAL(s->n > 0 && s->end_ns[s->n - 1] < 0);
        s->n--;
    } else if (e->phase == 's' || e->phase == 'f') {
        CU_ASSERT(s->n > 0); /* the slice that it is of */
    }
}

static void see_slices(struct trace_seen *seen, const struct event *v, int64_t n)
{
    struct stack s = { 0 };
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && (v[i].pid != v[i - 1].pid || v[i].tid != v[i - 1].tid)) {
            for (int k = 0; k < s.n; k++)
                CU_ASSERT(s.end_ns[k] >= 0); /* none stays open */
            s.n = 0;
        }
        see_slice(&s, seen, &v[i]);
    }
}

/* Arrows: by category and number a begin and one end, which is not before it. */
static void see_arrows(struct trace_seen *seen, const struct event *v, int64_t n)
{
    json_t *begun = json_object();
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            char key[64];
            const char *of = json_string_value(json_object_get(v[i].o, "cat"));
            if (v[i].phase != (pass ? 'f' : 's'))
                continue;
            CU_ASSERT_FATAL(of && strlen(of) < 32);
            snprintf(key, sizeof(key), "%s %lld", of, (long long)whole(v[i].o, "id"));
            json_t *from = json_object_get(begun, key);
            if (!pass) {
                CU_ASSERT_PTR_NULL(from);
                json_object_set_new(begun, key, json_integer(v[i].at_ns));
                continue;
            }
            CU_ASSERT_PTR_NOT_NULL_FATAL(from);
            CU_ASSERT(json_integer_value(from) <= v[i].at_ns);
            CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(v[i].o, "bp")),
                                   "e");
            json_object_del(begun, key);
            seen->messages += strcmp(of, "message") == 0;
            seen->gradients += strcmp(of, "gradients") == 0;
        }
    CU_ASSERT_EQUAL(json_object_size(begun), 0);
    json_decref(begun);
}

static void see_counter(struct trace_seen *seen, json_t *o)
{
    const char *key;
    json_t *v;
    CU_ASSERT(json_object_size(json_object_get(o, "args")) > 0);
    json_object_foreach(json_object_get(o, "args"), key, v)
        CU_ASSERT(json_is_number(v) && json_number_value(v) >= 0);
    seen->counters++;
}

/* What has slices has a name. */
static void see_names(struct trace_seen *seen, const struct event *v, int64_t n)
{
    json_t *named = json_object();
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            char key[64];
            const char *name = json_string_value(json_object_get(v[i].o, "name"));
            bool process = name && strcmp(name, "process_name") == 0;
            if (pass == 0 && v[i].phase == 'M' &&
                (process || strcmp(name, "thread_name") == 0)) {
                json_t *text = json_object_get(json_object_get(v[i].o, "args"), "name");
                CU_ASSERT(json_string_length(text) > 0);
                snprintf(key, sizeof(key), "%lld %lld", (long long)v[i].pid,
                         process ? -1LL : (long long)v[i].tid);
                json_object_set_new(named, key, json_true());
                seen->processes += process;
            } else if (pass && v[i].phase == 'X') {
                snprintf(key, sizeof(key), "%lld -1", (long long)v[i].pid);
                CU_ASSERT_PTR_NOT_NULL(json_object_get(named, key));
                snprintf(key, sizeof(key), "%lld %lld", (long long)v[i].pid,
                         (long long)v[i].tid);
                CU_ASSERT_PTR_NOT_NULL(json_object_get(named, key));
            }
        }
    json_decref(named);
}

struct trace_seen trace_rules(const char *text)
{
    struct trace_seen seen = { 0 };
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *o;
    size_t i;
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    json_t *events = json_object_get(root, "traceEvents");
    size_t n = json_array_size(events);
    struct event *v = calloc(n + 1, sizeof(*v));
    CU_ASSERT_FATAL(v && n > 0);
    json_array_foreach(events, i, o)
    {
        v[i] = event_of(o, (int64_t)i);
        if (v[i].phase == 'C')
            see_counter(&seen, o);
        seen.instants += v[i].phase == 'i';
    }
    see_names(&seen, v, (int64_t)n);
    qsort(v, n, sizeof(*v), by_time);
    see_slices(&seen, v, (int64_t)n);
    see_arrows(&seen, v, (int64_t)n);
    free(v);
    json_decref(root);
    return seen;
}

static bool is_named(json_t *o, const char *name)
{
    const char *of = json_string_value(json_object_get(o, "name"));
    return of && strcmp(of, name) == 0;
}

int64_t trace_named(json_t *root, const char *name)
{
    int64_t n = 0;
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(root, "traceEvents"), i, o) n +=
        is_named(o, name);
    return n;
}

json_t *trace_arg(json_t *root, const char *name, const char *key)
{
    size_t i;
    json_t *o;
    json_array_foreach(
        json_object_get(root, "traceEvents"), i,
        o) if (is_named(o, name)) return json_object_get(json_object_get(o, "args"),
                                                         key);
    return NULL;
}
