#define _XOPEN_SOURCE 700 /* mkdtemp */

#include "serve/serve.h"

#ifdef SMSIM_NO_SERVE /* static programs: libmicrohttpd needs libraries without an .a */

int serve_run(const struct serve_how *how, struct err *err)
{
    (void)how;
    return err_set(err, "this program is static and has no server (take a package, or "
                        "build it with make)");
}

#else

#include "base/clock.h"
#include "base/late.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "serve/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum state { READING, RUNNING, ANSWERED };

/* clang-format off */
#define FUNCTIONS(F)                                                          \
    F(add_response_header) F(create_response_from_buffer) F(destroy_response) \
    F(get_connection_info) F(get_connection_values) F(get_daemon_info)        \
    F(get_fdset2) F(get_timeout) F(lookup_connection_value)                   \
    F(queue_response) F(resume_connection)                                    \
    F(run_from_select) F(start_daemon) F(stop_daemon) F(suspend_connection)
/* clang-format on */
#define MEMBER(name) LATE_MEMBER(MHD_##name, name)
#define PLACE(name) LATE_PLACE(MHD_##name, &mhd.name)

static struct {
    FUNCTIONS(MEMBER)
} mhd; /* written once, by late_load() */

static const struct late_function functions[] = { FUNCTIONS(PLACE) };
static struct late_library library = LATE_LIBRARY(SMSIM_MICROHTTPD, functions);

/* A request and its answer. */
struct exchange {
    struct MHD_Connection *connection;
    enum state state;
    const struct serve_command *command;
    struct strbuf body;
    struct serve_request request;
    struct serve_child child;
    struct serve_reply reply; /* once it is there */
};

/* A connection: how long it may wait for its request, or with its answer. */
struct link {
    int fd; /* 0: free */
    double until_s;
    struct exchange *exchange;
};

struct server {
    const struct serve_how *how;
    struct MHD_Daemon *daemon;
    char token[SERVE_TOKEN_MAX];
    uint16_t port;
    char *root; /* folder of the requests' */
    struct link links[SERVE_LINKS];
};

/* Answers ---------------------------------------------------------------------------- */

static void add_headers(struct MHD_Response *r, const char *type)
{
    const char *const headers[][2] = {
        { "Content-Type", type },
        { "Content-Security-Policy",
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
          "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cache-Control", "no-store" },
        { "Connection", "close" },
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        mhd.add_response_header(r, headers[i][0], headers[i][1]);
}

static enum MHD_Result send_text(struct MHD_Connection *c, int status, const char *type,
                                 const char *text, size_t len)
{
    struct MHD_Response *r = mhd.create_response_from_buffer(
        len, (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    add_headers(r, type);
    enum MHD_Result rc = mhd.queue_response(c, (unsigned)status, r);
    mhd.destroy_response(r);
    return rc;
}

static enum MHD_Result send_failure(struct MHD_Connection *c, int status,
                                    const char *text)
{
    json_t *tree = serve_failure("serve", 2, text);
    char *json = json_dumps(tree, JSON_INDENT(2));
    enum MHD_Result rc = send_text(c, status, "application/json", json, strlen(json));
    free(json);
    json_decref(tree);
    return rc;
}

/* Connections ------------------------------------------------------------------------ */

static struct link *link_of(struct server *v, int fd)
{
    for (int i = 0; i < SERVE_LINKS; i++)
        if (v->links[i].fd == fd)
            return &v->links[i];
    return NULL;
}

static int fd_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        mhd.get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void on_link(void *server, struct MHD_Connection *c, void **unused,
                    enum MHD_ConnectionNotificationCode code)
{
    struct server *v = server;
    int fd = fd_of(c);
    struct link *l = link_of(v, code == MHD_CONNECTION_NOTIFY_STARTED ? 0 : fd);
    (void)unused;
    if (l && code == MHD_CONNECTION_NOTIFY_STARTED)
        *l = (struct link) { .fd = fd, .until_s = clock_s() + SERVE_SLOW_S };
    else if (l)
        *l = (struct link) { .fd = 0 };
}

/* Requests --------------------------------------------------------------------------- */

static int count_running(const struct server *v)
{
    int n = 0;
    for (int i = 0; i < SERVE_LINKS; i++)
        n += v->links[i].exchange && v->links[i].exchange->state == RUNNING;
    return n;
}

static enum MHD_Result start_command(struct server *v, struct exchange *x)
{
    struct err err = { 0 };
    struct link *l = link_of(v, fd_of(x->connection));
    if (serve_request_read(&x->request, x->command, v->how->files, strbuf_get(&x->body),
                           x->body.len, &err)) {
        x->state = ANSWERED;
        return send_failure(x->connection, MHD_HTTP_BAD_REQUEST, err.text);
    }
    if (!l || count_running(v) >= SERVE_CHILDREN) {
        x->state = ANSWERED;
        return send_failure(x->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                            "too many requests at a time (ask again)");
    }
    if (serve_child_start(&x->child, v->root, &x->request, v->how->data, v->how->files,
                          v->how->limits, &err)) {
        x->state = ANSWERED;
        return send_failure(x->connection, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
    }
    x->state = RUNNING;
    l->exchange = x;
    mhd.suspend_connection(x->connection);
    return MHD_YES;
}

/* Counts Host headers: which of several counts is what two programs may differ on. */
static enum MHD_Result count_hosts(void *arg, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    int *n = arg;
    (void)kind;
    (void)value;
    *n += strcasecmp(name, "Host") == 0;
    return MHD_YES;
}

static struct serve_headers headers_of(struct MHD_Connection *c)
{
    int hosts = 0;
    mhd.get_connection_values(c, MHD_HEADER_KIND, count_hosts, &hosts);
    return (struct serve_headers) {
        .hosts = hosts,
        .host = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Host"),
        .origin = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Origin"),
        .site = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site"),
        .type = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type"),
        .length = mhd.lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length"),
    };
}

static const struct serve_command *command_of(const struct server *v, const char *below)
{
    static const char api[] = "api/";
    const struct serve_command *c = v->how->commands;
    if (strncmp(below, api, sizeof(api) - 1) != 0)
        return NULL;
    while (c->name && strcmp(c->name, below + sizeof(api) - 1) != 0)
        c++;
    return c->name ? c : NULL;
}

/* The first word of a request: it is refused, answered, or its body is read. */
static enum MHD_Result begin(struct server *v, struct MHD_Connection *c,
                             const char *path, const char *method, void **state)
{
    bool post = strcmp(method, "POST") == 0;
    bool get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    struct serve_headers h = headers_of(c);
    const char *below = serve_below_token(path, v->token);
    const char *why = serve_refuse(&h, v->port, post);
    if (why)
        return send_failure(c, MHD_HTTP_FORBIDDEN, why);
    if (!below)
        return send_failure(c, MHD_HTTP_NOT_FOUND,
                            "the address has no valid token (take the one that smsim "
                            "serve printed)");
    if (get && !*below)
        return send_text(c, MHD_HTTP_OK, "text/html; charset=utf-8", v->how->page,
                         strlen(v->how->page));
    const struct serve_command *command = command_of(v, below);
    if (!command)
        return send_failure(c, MHD_HTTP_NOT_FOUND, "there is nothing of that name");
    if (post && h.length && strtoull(h.length, NULL, 10) > SERVE_BODY_MAX_B)
        return send_failure(c, MHD_HTTP_CONTENT_TOO_LARGE,
                            "the body is larger than 1 MiB");
    if (!post)
        return send_failure(c, MHD_HTTP_METHOD_NOT_ALLOWED, "commands are for POST");
    struct exchange *x = xcalloc(1, sizeof(*x));
    x->connection = c;
    x->command = command;
    x->child.fd = -1;
    strbuf_init(&x->body);
    *state = x;
    return MHD_YES;
}

static enum MHD_Result on_request(void *server, struct MHD_Connection *c,
                                  const char *path, const char *method,
                                  const char *version, const char *data, size_t *n,
                                  void **state)
{
    struct server *v = server;
    struct exchange *x = *state;
    (void)version;
    if (!x)
        return begin(v, c, path, method, state);
    if (*n > 0) {
        if (x->body.len + *n > SERVE_BODY_MAX_B)
            return MHD_NO; /* the connection is closed */
        strbuf_add(&x->body, data, *n);
        *n = 0;
        return MHD_YES;
    }
    if (x->state == READING)
        return start_command(v, x);
    if (x->state == RUNNING && x->reply.text) {
        x->state = ANSWERED;
        return send_text(c, x->reply.status, "application/json", x->reply.text,
                         x->reply.len);
    }
    return MHD_YES;
}

static void on_end(void *server, struct MHD_Connection *c, void **state,
                   enum MHD_RequestTerminationCode why)
{
    struct server *v = server;
    struct exchange *x = *state;
    (void)why;
    if (!x)
        return;
    struct link *l = link_of(v, fd_of(c));
    if (l)
        l->exchange = NULL;
    if (x->child.pid > 0)
        serve_child_stop(&x->child);
    serve_request_release(&x->request);
    strbuf_release(&x->body);
    free(x->reply.text);
    free(x);
    *state = NULL;
}

/* The loop --------------------------------------------------------------------------- */

/* Whether whoever asked has gone. */
static bool is_gone(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

static void look_at_child(struct link *l)
{
    static const char gone[] = "{}";
    struct exchange *x = l->exchange;
    if (is_gone(l->fd)) {
        serve_child_stop(&x->child);
        x->reply =
            (struct serve_reply) { MHD_HTTP_OK, xstrdup(gone), sizeof(gone) - 1 };
    } else if (!serve_child_done(&x->child, &x->reply)) {
        return;
    }
    l->exchange = NULL;
    l->until_s = clock_s() + SERVE_SLOW_S;
    mhd.resume_connection(x->connection);
}

static void look_at_links(struct server *v)
{
    for (int i = 0; i < SERVE_LINKS; i++) {
        struct link *l = &v->links[i];
        if (l->fd > 0 && l->exchange)
            look_at_child(l);
        else if (l->fd > 0 && clock_s() > l->until_s)
            shutdown(l->fd, SHUT_RDWR);
    }
}

/* Waits for sockets and for children, a fifth of a second at most. */
static int turn(struct server *v, struct err *err)
{
    enum { MOST_US = 200000 };
    fd_set in, out, other;
    int most = 0;
    struct timeval wait = { .tv_usec = MOST_US };
    MHD_UNSIGNED_LONG_LONG due_ms;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&other);
    if (mhd.get_fdset2(v->daemon, &in, &out, &other, &most, FD_SETSIZE) != MHD_YES)
        return err_set(err, "the server's sockets are lost");
    for (int i = 0; i < SERVE_LINKS; i++) {
        const struct exchange *x = v->links[i].exchange;
        if (!x || x->child.fd < 0 || x->child.fd >= FD_SETSIZE)
            continue;
        FD_SET(x->child.fd, &in);
        most = x->child.fd > most ? x->child.fd : most;
    }
    if (mhd.get_timeout(v->daemon, &due_ms) == MHD_YES && due_ms * 1000 < MOST_US)
        wait.tv_usec = (suseconds_t)(due_ms * 1000);
    if (select(most + 1, &in, &out, &other, &wait) < 0) {
        if (errno != EINTR)
            return err_set(err, "select: %s", strerror(errno));
        return 0;
    }
    look_at_links(v);
    mhd.run_from_select(v->daemon, &in, &out, &other);
    return 0;
}

static void quiet(void *unused, const char *format, va_list ap)
{
    (void)unused, (void)format, (void)ap;
}

static int open_daemon(struct server *v, struct err *err)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)v->how->port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    v->daemon =
        mhd.start_daemon(MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
                         on_request, v, MHD_OPTION_EXTERNAL_LOGGER, quiet, NULL,
                         MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)SERVE_LINKS, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)SERVE_SLOW_S, MHD_OPTION_NOTIFY_CONNECTION, on_link,
                         v, MHD_OPTION_NOTIFY_COMPLETED, on_end, v, MHD_OPTION_END);
    if (!v->daemon)
        return err_set(err,
                       "port %" JSON_INTEGER_FORMAT " of 127.0.0.1: cannot be "
                       "served: %s (give another --port)",
                       (json_int_t)v->how->port, strerror(errno));
    const union MHD_DaemonInfo *info =
        mhd.get_daemon_info(v->daemon, MHD_DAEMON_INFO_BIND_PORT);
    v->port = info ? info->port : (uint16_t)v->how->port;
    return 0;
}

static int make_root(struct server *v, struct err *err)
{
    const char *temp = getenv("TMPDIR");
    v->root = xasprintf("%s/smsim-serve-XXXXXX", temp && *temp ? temp : "/tmp");
    return mkdtemp(v->root)
               ? 0
               : err_set(err, "%s: cannot be made: %s", v->root, strerror(errno));
}

static void close_server(struct server *v)
{
    for (int i = 0; i < SERVE_LINKS; i++) {
        struct exchange *x = v->links[i].exchange;
        if (!x)
            continue;
        serve_child_stop(&x->child);
        v->links[i].exchange = NULL;
        x->reply.text = xstrdup("{}");
        mhd.resume_connection(x->connection);
    }
    if (v->daemon)
        mhd.stop_daemon(v->daemon);
    if (v->root)
        rmdir(v->root);
    free(v->root);
}

int serve_run(const struct serve_how *how, struct err *err)
{
    const char *missing = late_load(&library);
    if (missing)
        return err_set(err, "the server needs libmicrohttpd: %s", missing);
    struct server *v = xcalloc(1, sizeof(*v));
    v->how = how;
    int rc = make_root(v, err);
    if (rc == 0)
        rc = serve_token(v->token, err);
    if (rc == 0)
        rc = open_daemon(v, err);
    if (rc == 0) {
        fprintf(how->out, "http://127.0.0.1:%u/%s/\n", (unsigned)v->port, v->token);
        fflush(how->out);
    }
    while (rc == 0 && !*how->stop)
        rc = turn(v, err);
    close_server(v);
    free(v);
    return rc;
}

#endif
