/* The rules by which Perfetto's importer of Chrome's JSON reads a trace: what breaks one
 * is dropped there, and counted among the trace's errors; here it is a failed test. */
#ifndef TRACE_RULES_H
#define TRACE_RULES_H

#include <jansson.h>
#include <stdint.h>

struct trace_seen {
    int64_t slices, nested, deepest; /* nested: within another one */
    int64_t counters, instants, processes;
    int64_t messages, gradients; /* arrows, both of whose ends are there */
    double last_us;
};

/* Checks all rules, and counts. */
struct trace_seen trace_rules(const char *text);

/* Events of a name; and a member of the args of the first of them (borrowed). */
int64_t trace_named(json_t *root, const char *name);
json_t *trace_arg(json_t *root, const char *name, const char *key);

#endif
