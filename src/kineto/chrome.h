/* Kineto's JSON (Chrome's trace events), token by token, as events of gather.h. */
#ifndef KINETO_CHROME_H
#define KINETO_CHROME_H

#include "kineto/gather.h"
#include "kineto/json_events.h"

enum { CHROME_SHORT = 64 };

struct chrome {
    struct gather g;
    struct json_events json;
    int event_depth; /* of the keys of an event; 0: none is open */
    int args_depth, dims_depth, info_depth, device_depth;
    bool in_events;
    char key[CHROME_SHORT], top[CHROME_SHORT];
};

void chrome_init(struct chrome *c);
void chrome_release(struct chrome *c);
void chrome_feed(struct chrome *c, const char *bytes, size_t n);

#endif
