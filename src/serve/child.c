#define _XOPEN_SOURCE 700 /* mkdtemp, nftw */

#include "serve/child.h"

#include "base/clock.h"
#include "base/fence.h"
#include "base/xmalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct serve_limits serve_usual_limits = {
    .wall_s = 120,
    .cpu_s = 480,
    .memory_B = (int64_t)8 << 30,
    .file_B = 64 << 20,
    .answer_B = 32 << 20,
};

enum { OPEN_FILES = 64, FD_MAX = 1024, EXIT_NOT_BEGUN = 126 };

/* Folders ---------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int type,
                        struct FTW *at)
{
    (void)st, (void)type, (void)at;
    remove(path);
    return 0;
}

static void remove_dir(const char *dir)
{
    nftw(dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static int write_pasted(const char *dir, const struct serve_pasted *p, struct err *err)
{
    char *path = xasprintf("%s/%s", dir, p->path);
    FILE *out = fopen(path, "wbx");
    int rc = !out || fputs(p->text, out) < 0 ? -1 : 0;
    if (out && fclose(out))
        rc = -1;
    if (rc)
        err_set(err, "a file of the request cannot be written: %s", strerror(errno));
    free(path);
    return rc;
}

static int make_dir(struct serve_child *c, const char *root, struct err *err)
{
    char *out = NULL, *second = NULL, *logs = NULL;
    c->dir = xasprintf("%s/XXXXXX", root);
    if (!mkdtemp(c->dir)) {
        err_set(err, "no folder for the request: %s", strerror(errno));
        free(c->dir);
        c->dir = NULL;
        return -1;
    }
    out = xasprintf("%s/out", c->dir);
    second = xasprintf("%s/b", c->dir);
    logs = xasprintf("%s/log", c->dir);
    int rc = mkdir(out, 0700) || mkdir(second, 0700) || mkdir(logs, 0700)
                 ? err_set(err, "no folder for the request: %s", strerror(errno))
                 : 0;
    for (int32_t i = 0; i < c->request->n_pasted && rc == 0; i++)
        rc = write_pasted(c->dir, &c->request->pasted[i], err);
    free(out);
    free(second);
    free(logs);
    return rc;
}

/* The process ------------------------------------------------------------------------ */

static void limit(int what, int64_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now))
        return;
    rlim_t wanted = (rlim_t)most;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted)
        wanted = now.rlim_max;
    now.rlim_cur = now.rlim_max = wanted;
    setrlimit(what, &now);
}

static void set_limits(const struct serve_limits *l)
{
    limit(RLIMIT_CPU, l->cpu_s);
    limit(RLIMIT_FSIZE, l->file_B);
    limit(RLIMIT_NOFILE, OPEN_FILES);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
    limit(RLIMIT_AS, l->memory_B);
#endif
}

/* Standard streams become files of the folder; nothing else of the server stays open. */
static int set_streams(int end_fd)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open("out/stdout", O_WRONLY | O_CREAT | O_EXCL, 0600);
    int err = open("out/stderr", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (in < 0 || out < 0 || err < 0 || dup2(in, STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        return -1;
    for (int fd = STDERR_FILENO + 1; fd < FD_MAX; fd++)
        if (fd != end_fd)
            close(fd);
    return 0;
}

static void set_signals(void)
{
    const int of_server[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    for (size_t i = 0; i < sizeof(of_server) / sizeof(of_server[0]); i++)
        signal(of_server[i], SIG_DFL);
}

/* The command line, with the files that the answer is read from. */
static int run(struct serve_child *c)
{
    static char json[] = "--json=out/result.json", html[] = "--html=out/page.json";
    const struct serve_request *r = c->request;
    char *argv[SERVE_WORDS_MAX + 3];
    int argc = 0;
    for (; argc < r->argc; argc++)
        argv[argc] = r->argv[argc];
    if (r->command->answer == SERVE_RESULT)
        argv[argc++] = json;
    if (r->page && r->command->page)
        argv[argc++] = html;
    argv[argc] = NULL;
    return r->command->run(argc, argv);
}

static void begin(struct serve_child *c, const char *data,
                  const struct serve_file *files, int end_fd)
{
    set_signals();
    setpgid(0, 0);
    if (chdir(c->dir) || set_streams(end_fd))
        _exit(EXIT_NOT_BEGUN);
    fence_add(c->dir);
    fence_add(data);
    for (const struct serve_file *f = files; f->name; f++)
        fence_add(f->path);
    set_limits(c->limits);
    int code = run(c);
    fflush(NULL);
    _exit(code);
}

int serve_child_start(struct serve_child *c, const char *root,
                      const struct serve_request *r, const char *data,
                      const struct serve_file *files, const struct serve_limits *limits,
                      struct err *err)
{
    int ends[2];
    *c = (struct serve_child) {
        .request = r, .limits = limits, .fd = -1, .until_s = clock_s() + limits->wall_s
    };
    if (make_dir(c, root, err) || pipe(ends)) {
        if (c->dir)
            remove_dir(c->dir);
        free(c->dir);
        return err->set ? -1 : err_set(err, "no pipe: %s", strerror(errno));
    }
    fflush(stdout);
    c->pid = fork();
    if (c->pid == 0)
        begin(c, data, files, ends[1]);
    close(ends[1]);
    c->fd = ends[0];
    if (c->pid < 0) {
        serve_child_stop(c);
        return err_set(err, "no process: %s", strerror(errno));
    }
    fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static void end_child(struct serve_child *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL);
        waitpid(c->pid, NULL, 0);
    }
    c->pid = 0;
}

static void release(struct serve_child *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    if (c->dir)
        remove_dir(c->dir);
    free(c->dir);
    c->dir = NULL;
}

void serve_child_stop(struct serve_child *c)
{
    end_child(c);
    release(c);
}

/* The reply -------------------------------------------------------------------------- */

enum { HTTP_OK = 200, HTTP_BAD = 400, HTTP_FAULT = 500, HTTP_TOO_LONG = 504 };

/* A file that the command wrote; NULL: there is none, or it is too large. Not by
 * file_read, which notes inputs for good. */
static char *take_file(const struct serve_child *c, const char *name, size_t *len)
{
    char *path = xasprintf("%s/out/%s", c->dir, name), *text = NULL;
    FILE *in = fopen(path, "rb");
    struct stat st;
    free(path);
    *len = 0;
    if (in && fstat(fileno(in), &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size <= c->limits->answer_B) {
        text = xmalloc((size_t)st.st_size + 1);
        *len = fread(text, 1, (size_t)st.st_size, in);
        text[*len] = '\0';
    }
    if (in)
        fclose(in);
    return text;
}

static void set_tree(struct serve_reply *reply, int status, json_t *tree)
{
    reply->status = status;
    reply->text = json_dumps(tree, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    reply->len = strlen(reply->text);
    json_decref(tree);
}

static void fail(struct serve_reply *reply, const struct serve_child *c, int status,
                 int code, const char *text)
{
    set_tree(reply, status, serve_failure(c->request->command->name, code, text));
}

/* Text of a command as a JSON string, whatever bytes it has. */
static json_t *text_json(const char *text)
{
    json_t *s = text ? json_string(text) : json_string("");
    return s ? s : json_string("(bytes that are no UTF-8)");
}

/* What it printed, and what the command line is that does the same. */
static json_t *outcome(const struct serve_child *c, int code)
{
    size_t len;
    char *out = take_file(c, "stdout", &len), *log = take_file(c, "stderr", &len);
    char *words = serve_request_words(c->request);
    json_t *o =
        json_pack("{s:o, s:o, s:i, s:o}", "text", text_json(out), "log", text_json(log),
                  "exit_code", code, "command_line", text_json(words));
    free(out);
    free(log);
    free(words);
    return o;
}

/* The page's data with what was printed; of a command without them, its result. */
static void set_page(struct serve_reply *reply, const struct serve_child *c, char *text,
                     size_t len, int code)
{
    json_t *page = json_loadb(text, len, 0, NULL), *said = outcome(c, code);
    free(text);
    if (page && !c->request->command->page)
        page =
            json_pack("{s:s, s:o}", "kind", c->request->command->name, "result", page);
    if (!page) {
        json_decref(said);
        fail(reply, c, HTTP_FAULT, code, "the page's data cannot be read");
        return;
    }
    json_object_set_new(page, "printed", said);
    reply->status = HTTP_OK;
    reply->text = json_dumps(page, JSON_COMPACT | JSON_REAL_PRECISION(12));
    reply->len = strlen(reply->text);
    json_decref(page);
}

static void set_error(struct serve_reply *reply, const struct serve_child *c, int code)
{
    size_t len;
    char *log = take_file(c, "stderr", &len);
    fail(reply, c, HTTP_BAD, code, log && *log ? log : "the command failed");
    free(log);
}

static void set_reply(struct serve_reply *reply, const struct serve_child *c, int code)
{
    enum { UNFIT = 1, BAD_INPUT = 3 };
    const struct serve_command *command = c->request->command;
    const bool good = code == 0 || code == UNFIT;
    size_t len = 0;
    const char *data = command->page ? "page.json" : "result.json";
    char *page = c->request->page && good ? take_file(c, data, &len) : NULL;
    if (page) {
        set_page(reply, c, page, len, code);
        return;
    }
    if (command->answer == SERVE_WORDS && good) {
        set_tree(reply, HTTP_OK, outcome(c, code));
        return;
    }
    reply->text = take_file(c, "result.json", &len);
    reply->len = len;
    reply->status = good ? HTTP_OK : HTTP_BAD;
    if (!reply->text)
        set_error(reply, c, code);
}

bool serve_child_done(struct serve_child *c, struct serve_reply *reply)
{
    int status = 0;
    char text[120];
    *reply = (struct serve_reply) { 0 };
    pid_t ended = waitpid(c->pid, &status, WNOHANG);
    if (ended == 0 && clock_s() < c->until_s)
        return false;
    if (ended == 0) {
        end_child(c);
        snprintf(text, sizeof(text), "the request took longer than %.0f s",
                 c->limits->wall_s);
        fail(reply, c, HTTP_TOO_LONG, 0, text);
    } else if (ended < 0 || WIFSIGNALED(status)) {
        snprintf(
            text, sizeof(text),
            "the request went over a limit of time or memory, or fell over a fault "
            "of smsim (signal %d)",
            ended < 0 ? 0 : WTERMSIG(status));
        fail(reply, c, HTTP_FAULT, 0, text);
    } else {
        set_reply(reply, c, WEXITSTATUS(status));
    }
    c->pid = 0;
    release(c);
    return true;
}
