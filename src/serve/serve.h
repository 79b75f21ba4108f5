/* smsim serve: one page and the commands' JSON over HTTP, on this machine alone.
 *
 *     GET  /TOKEN/          the page
 *     POST /TOKEN/api/NAME  a command (serve/request.h), run in a process of its own
 *
 * Files of this folder:
 *     serve: the server (the only user of libmicrohttpd): routes, connections, time
 *     check: token and headers
 *     request: bodies as command lines
 *     child: a command in its own process, with limits
 *
 * One thread: it waits for sockets and children. Bounds: SERVE_BODY_MAX_B of a body,
 * SERVE_LINKS connections, SERVE_CHILDREN commands at a time, serve_limits of one,
 * SERVE_SLOW_S for a request to come and for an answer to go. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/child.h"

#include <signal.h>
#include <stdio.h>

enum { SERVE_LINKS = 64, SERVE_CHILDREN = 4, SERVE_SLOW_S = 20 };

struct serve_how {
    int64_t port;     /* 0: any that is free */
    const char *page; /* the text of the page */
    const char *data; /* directory of the program's data */
    const struct serve_command *commands;
    const struct serve_file *files;
    const struct serve_limits *limits;
    const volatile sig_atomic_t *stop; /* set from outside: the server ends */
    FILE *out;                         /* gets the address, a line */
};

/* Serves until *stop is set. */
int serve_run(const struct serve_how *how, struct err *err);

#endif
