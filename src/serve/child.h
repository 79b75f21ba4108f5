/* A request's command in a process of its own, with limits: whatever it does, the server
 * goes on. It has a folder of its own, which it may read and write, and reads nothing
 * else but the program's data and the files that the server was started with. */
#ifndef SERVE_CHILD_H
#define SERVE_CHILD_H

#include "serve/request.h"

#include <stdbool.h>
#include <sys/types.h>

struct serve_limits {
    double wall_s;
    int64_t cpu_s, memory_B, file_B, answer_B;
};
extern const struct serve_limits serve_usual_limits;

struct serve_child {
    pid_t pid;
    int fd;    /* readable once it has ended */
    char *dir; /* its folder */
    double until_s;
    const struct serve_request *request;
    const struct serve_limits *limits;
};

/* What went over a request: an HTTP status, and JSON. */
struct serve_reply {
    int status;
    char *text;
    size_t len;
};

/* Starts it in a new folder below `root`. `data` and `files` are what it may read. */
int serve_child_start(struct serve_child *c, const char *root,
                      const struct serve_request *r, const char *data,
                      const struct serve_file *files, const struct serve_limits *limits,
                      struct err *err);

/* Whether it has ended, and its reply then, with the folder removed. One that is over
 * its time is ended. The caller frees the text. */
bool serve_child_done(struct serve_child *c, struct serve_reply *reply);

/* Ends it without a reply. */
void serve_child_stop(struct serve_child *c);

#endif
