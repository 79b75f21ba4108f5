/* smsim serve: bodies as command lines, who may ask, and hostile clients of a server of
 * stub commands. */
#include "base/clock.h"
#include "base/file.h"
#include "serve/check.h"
#include "serve/request.h"
#include "serve/serve.h"

#include <arpa/inet.h>
#include <CUnit/CUnit.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void test_serve_register(void);

/* Stub commands ---------------------------------------------------------------------- */

static int say(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        printf("%s%s", i ? " " : "", argv[i]);
    return 0;
}

static int spin(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (volatile unsigned i = 0; clock_s() < 1e12; i++)
        ;
    return 0;
}

static int crash(int argc, char **argv)
{
    (void)argc, (void)argv;
    raise(SIGKILL); /* sanitizers catch SIGSEGV */
    return 0;
}

static int leave(int argc, char **argv)
{
    (void)argc, (void)argv;
    fputs("no good\n", stderr);
    exit(3);
}

/* Reads what its word names. */
static int reads(int argc, char **argv)
{
    struct err err = { 0 };
    size_t len;
    char *text = file_read(argv[argc - 1], 1 << 20, &len, &err);
    fputs(text ? text : err.text, stdout);
    free(text);
    return 0;
}

static const struct serve_option some[] = { { "top", SERVE_NUMBER },
                                            { "fix", SERVE_TEXTS },
                                            { "for", SERVE_TEXT },
                                            { "unfold", SERVE_FLAG },
                                            { NULL, SERVE_TEXT } };

static const struct serve_command commands[] = {
    { "say", "say", say, SERVE_WORDS, 0, 2, .options = some },
    { "word", "word", say, SERVE_WORDS, 0, 0, .word = true, .options = some },
    { "spin", "spin", spin, SERVE_WORDS, 0, 0, .options = some },
    { "crash", "crash", crash, SERVE_WORDS, 0, 0, .options = some },
    { "leave", "leave", leave, SERVE_WORDS, 0, 0, .options = some },
    { "reads", "reads", reads, SERVE_WORDS, 1, 1, .options = some },
    { "logs", "logs", reads, SERVE_WORDS, 1, 1, .logs = true, .options = some },
    { NULL },
};

static const struct serve_file files[] = { { "mine.sh", "/srv/jobs/mine.sh" },
                                           { "../up.json", "/srv/up.json" },
                                           { NULL, NULL } };

/* Bodies ----------------------------------------------------------------------------- */

static void test_logs(void)
{
    static const struct {
        const char *body, *words, *why;
    } rows[] = {
        { "{\"job\":\"a\",\"logs\":[{\"name\":\"t.log\",\"text\":\"x\"},\"mine.sh\"]}",
          "smsim logs a --log=log/t.log --log=/srv/jobs/mine.sh", NULL },
        { "{\"job\":\"a\"}", NULL, "needs \"logs\"" },
        { "{\"job\":\"a\",\"logs\":[]}", NULL, "needs \"logs\"" },
        { "{\"job\":\"a\",\"logs\":[1,2,3,4,5,6,7,8,9]}", NULL, "needs \"logs\"" },
        { "{\"job\":\"a\",\"logs\":[7]}", NULL, "a log should have" },
        { "{\"job\":\"a\",\"logs\":[\"/etc/passwd\"]}", NULL, "is no file" },
        { "{\"job\":\"a\",\"logs\":[{\"name\":\"../t\",\"text\":\"x\"}]}", NULL,
          "a log should have" },
        { "{\"job\":\"a\",\"logs\":[{\"name\":\"t\",\"text\":\"x\"},{\"name\":\"t\","
          "\"text\":\"y\"}]}",
          NULL, "two logs are named t" },
    };
    const struct serve_command *c = commands;
    while (!c->logs)
        c++;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct serve_request r;
        struct err err = { 0 };
        int rc =
            serve_request_read(&r, c, files, rows[i].body, strlen(rows[i].body), &err);
        char *words = serve_request_words(&r);
        CU_ASSERT_EQUAL(rc, rows[i].words ? 0 : -1);
        if (rows[i].words)
            CU_ASSERT_STRING_EQUAL(words, rows[i].words);
        CU_ASSERT_TRUE(!rows[i].why || strstr(err.text, rows[i].why));
        free(words);
        serve_request_release(&r);
    }
}

static void test_bodies(void)
{
    static const struct {
        const char *body, *words; /* NULL: refused, with */
        const char *why;
    } rows[] = {
        { "{}", "smsim say", NULL },
        { "{\"job\":\"gpt2\"}", "smsim say gpt2", NULL },
        { "{\"job\":\"mine.sh\"}", "smsim say /srv/jobs/mine.sh", NULL },
        { "{\"job\":\"../up.json\"}", "smsim say /srv/up.json", NULL },
        { "{\"job\":\"a\",\"to\":\"b\",\"set\":[\"/x=1\"]}", "smsim say a b --set=/x=1",
          NULL },
        { "{\"job\":{\"model\":\"x\"}}", "smsim say job.json", NULL },
        { "{\"job\":{\"name\":\"a.sh\",\"text\":\"x\"},\"to\":{\"name\":\"a.sh\","
          "\"text\":\"y\"}}",
          "smsim say a.sh b/a.sh", NULL },
        { "{\"options\":{\"top\":3,\"fix\":[\"a=1\",\"b=2\"],\"unfold\":true,"
          "\"for\":null}}",
          "smsim say --top=3 --fix=a=1 --fix=b=2 --unfold", NULL },
        { "{\"set\":[\"/a='; rm -rf ~\"]}", "smsim say '--set=/a='\\''; rm -rf ~'",
          NULL },
        { "{\"set\":[\"--json=/etc/x\"]}", "smsim say --set=--json=/etc/x", NULL },
        { "", NULL, "no JSON" },
        { "[]", NULL, "JSON object" },
        { "{\"job\":\"a\",\"job\":\"b\"}", NULL, "duplicate" },
        { "{\"job\":\"../../etc/passwd\"}", NULL, "neither the name" },
        { "{\"job\":\"/etc/passwd\"}", NULL, "neither the name" },
        { "{\"job\":\"-\"}", NULL, "neither the name" },
        { "{\"job\":\"--json=x\"}", NULL, "neither the name" },
        { "{\"job\":\"a\\u0007b\"}", NULL, "control character" },
        { "{\"job\":\"a\\u0000b\"}", NULL, "no JSON" },
        { "{\"job\":7}", NULL, "a name or an object" },
        { "{\"to\":\"b\"}", NULL, "takes no \"to\"" },
        { "{\"job\":{\"name\":\"../a.sh\",\"text\":\"x\"}}", NULL, "pasted file" },
        { "{\"job\":{\"name\":\".profile\",\"text\":\"x\"}}", NULL, "pasted file" },
        { "{\"job\":{\"name\":\"a/b\",\"text\":\"x\"}}", NULL, "pasted file" },
        { "{\"job\":{\"text\":\"x\"}}", NULL, "pasted file" },
        { "{\"options\":{\"json\":\"/tmp/x\"}}", NULL, "no option \"json\"" },
        { "{\"options\":{\"top\":\"3\"}}", NULL, "should be a number" },
        { "{\"options\":{\"fix\":\"a=1\"}}", NULL, "array of texts" },
        { "{\"options\":{\"unfold\":1}}", NULL, "true or false" },
        { "{\"options\":[]}", NULL, "should be an object" },
        { "{\"word\":\"x\"}", NULL, "takes no \"word\"" },
        { "{\"page\":1}", NULL, "takes no \"page\"" },
        { "{\"set\":\"/a=1\"}", NULL, "array of texts" },
        { "{\"other\":1}", NULL, "takes no \"other\"" },
        { "{\"logs\":[]}", NULL, "takes no \"logs\"" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct serve_request r;
        struct err err = { 0 };
        int rc = serve_request_read(&r, &commands[0], files, rows[i].body,
                                    strlen(rows[i].body), &err);
        char *words = serve_request_words(&r);
        CU_ASSERT_EQUAL(rc, rows[i].words ? 0 : -1);
        if (rows[i].words)
            CU_ASSERT_STRING_EQUAL(words, rows[i].words);
        if (rows[i].why && !strstr(err.text, rows[i].why))
            printf("\n    %s: %s\n", rows[i].body, err.text);
        CU_ASSERT_TRUE(!rows[i].why || strstr(err.text, rows[i].why));
        free(words);
        serve_request_release(&r);
    }
}

/* More values than a command line has room for, and values that are too long. */
static void test_bounds(void)
{
    char body[SERVE_TEXT_MAX + 200], *at = body;
    struct serve_request r;
    struct err err = { 0 };
    at += sprintf(at, "{\"set\":[\"/a=1\"");
    for (int i = 0; i < SERVE_WORDS_MAX; i++)
        at += sprintf(at, ",\"/a=1\"");
    sprintf(at, "]}");
    CU_ASSERT_EQUAL(
        serve_request_read(&r, &commands[0], files, body, strlen(body), &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "more than"));
    serve_request_release(&r);
    sprintf(body, "{\"set\":[\"%0*d\"]}", SERVE_TEXT_MAX + 1, 0);
    err = (struct err) { 0 };
    CU_ASSERT_EQUAL(
        serve_request_read(&r, &commands[0], files, body, strlen(body), &err), -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "longer than"));
    serve_request_release(&r);
}

/* Who may ask ------------------------------------------------------------------------ */

static void test_headers(void)
{
    static const struct {
        struct serve_headers h;
        bool fine;
    } rows[] = {
        { { "127.0.0.1:80", NULL, NULL, "application/json", NULL, 1 }, true },
        { { "localhost:80", "http://localhost:80", "same-origin", "application/json",
            NULL, 1 },
          true },
        { { "127.0.0.1:80", NULL, "none", "application/json; charset=utf-8", NULL, 1 },
          true },
        { { "127.0.0.1:80", NULL, NULL, "application/json", NULL, 1 }, true },
        { { "127.0.0.1:80", NULL, NULL, "application/json", NULL, 2 }, false },
        { { NULL, NULL, NULL, "application/json", NULL, 1 }, false },
        { { "127.0.0.1", NULL, NULL, "application/json", NULL, 1 }, false },
        { { "127.0.0.1:81", NULL, NULL, "application/json", NULL, 1 }, false },
        { { "rebound.example:80", NULL, NULL, "application/json", NULL, 1 }, false },
        { { "127.0.0.1:80", "http://evil.example", NULL, "application/json", NULL, 1 },
          false },
        { { "127.0.0.1:80", "http://localhost:80", NULL, "application/json", NULL, 1 },
          false },
        { { "127.0.0.1:80", "null", NULL, "application/json", NULL, 1 }, false },
        { { "127.0.0.1:80", "https://127.0.0.1:80", NULL, "application/json", NULL, 1 },
          false },
        { { "127.0.0.1:80", NULL, "cross-site", "application/json", NULL, 1 }, false },
        { { "127.0.0.1:80", NULL, NULL, "text/plain", NULL, 1 }, false },
        { { "127.0.0.1:80", NULL, NULL, NULL, NULL, 1 }, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CU_ASSERT_EQUAL(serve_refuse(&rows[i].h, 80, true) == NULL, rows[i].fine);
}

static void test_token(void)
{
    char a[SERVE_TOKEN_MAX], b[SERVE_TOKEN_MAX];
    struct err err = { 0 };
    CU_ASSERT_EQUAL(serve_token(a, &err), 0);
    CU_ASSERT_EQUAL(serve_token(b, &err), 0);
    CU_ASSERT_EQUAL(strlen(a), 32);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
    CU_ASSERT_STRING_EQUAL(serve_below_token("/abc/", "abc"), "");
    CU_ASSERT_STRING_EQUAL(serve_below_token("/abc/api/x", "abc"), "api/x");
    CU_ASSERT_PTR_NULL(serve_below_token("/abc", "abc"));
    CU_ASSERT_PTR_NULL(serve_below_token("/abd/", "abc"));
    CU_ASSERT_PTR_NULL(serve_below_token("/abcd/", "abc"));
    CU_ASSERT_PTR_NULL(serve_below_token("/", "abc"));
    CU_ASSERT_PTR_NULL(serve_below_token("abc/", "abc"));
}

/* A server --------------------------------------------------------------------------- */

struct running {
    pid_t pid;
    int port;
    char token[64];
};

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
    (void)sig;
    stop = 1;
}

static struct running start(void)
{
    static const struct serve_limits limits = { .wall_s = 2,
                                                .cpu_s = 5,
                                                .memory_B = (int64_t)4 << 30,
                                                .file_B = 1 << 20,
                                                .answer_B = 1 << 20 };
    struct running s = { 0 };
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    fflush(stdout);
    s.pid = fork();
    if (s.pid == 0) {
        struct err err = { 0 };
        close(ends[0]);
        signal(SIGTERM, on_term);
        signal(SIGPIPE, SIG_IGN);
        const struct serve_how how = { .page = "<p>the page</p>",
                                       .data = "models",
                                       .commands = commands,
                                       .files = files,
                                       .limits = &limits,
                                       .stop = &stop,
                                       .out = fdopen(ends[1], "w") };
        _exit(serve_run(&how, &err) ? 1 : 0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    CU_ASSERT_EQUAL_FATAL(
        fscanf(in, "http://127.0.0.1:%d/%32[0-9a-f]/", &s.port, s.token), 2);
    fclose(in);
    return s;
}

/* Ends it; it has to be there still, and to leave nothing. */
static void finish(struct running *s)
{
    int status = -1;
    CU_ASSERT_EQUAL(waitpid(s->pid, &status, WNOHANG), 0);
    kill(s->pid, SIGTERM);
    CU_ASSERT_EQUAL(waitpid(s->pid, &status, 0), s->pid);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int connect_to(const struct running *s)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)s->port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CU_ASSERT_EQUAL_FATAL(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

/* Sends bytes, and reads until the server closes, or for so long; the HTTP status, or 0.
 * The answer is left in `answer`. */
static char answer[1 << 16];

static int receive(int fd, double limit_s)
{
    size_t n = 0;
    int status = 0;
    double until_s = clock_s() + limit_s;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        double left_s = until_s - clock_s();
        if (left_s <= 0 || poll(&p, 1, (int)(left_s * 1000) + 1) <= 0)
            break;
        ssize_t got = recv(fd, answer + n, sizeof(answer) - 1 - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    answer[n] = '\0';
    close(fd);
    sscanf(answer, "HTTP/1.1 %d", &status);
    return status;
}

static int exchange(const struct running *s, const char *bytes, size_t n)
{
    int fd = connect_to(s);
    if (send(fd, bytes, n, MSG_NOSIGNAL) < 0)
        errno = 0;
    return receive(fd, 10);
}

static int post(const struct running *s, const char *command, const char *body)
{
    char text[4096];
    int n = snprintf(text, sizeof(text),
                     "POST /%s/api/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                     "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                     s->token, command, s->port, strlen(body), body);
    return exchange(s, text, (size_t)n);
}

static int get(const struct running *s, const char *path, const char *headers)
{
    char text[1024];
    int n =
        snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n",
                 path, s->port, headers);
    return exchange(s, text, (size_t)n);
}

static void test_answers(void)
{
    struct running s = start();
    char path[80];
    snprintf(path, sizeof(path), "/%s/", s.token);
    CU_ASSERT_EQUAL(get(&s, path, ""), 200);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "<p>the page</p>"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "frame-ancestors 'none'"));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "nosniff"));
    CU_ASSERT_EQUAL(get(&s, path, "Origin: http://evil.example\r\n"), 403);
    CU_ASSERT_EQUAL(get(&s, "/", ""), 404);
    CU_ASSERT_EQUAL(get(&s, "/00000000000000000000000000000000/", ""), 404);
    CU_ASSERT_EQUAL(get(&s, "/../../etc/passwd", ""), 404);
    CU_ASSERT_EQUAL(post(&s, "say", "{\"job\":\"gpt2\",\"set\":[\"/a=<b>\"]}"), 200);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "\"text\": \"say gpt2 --set=/a=<b>\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "application/json"));
    CU_ASSERT_EQUAL(post(&s, "nothing", "{}"), 404);
    CU_ASSERT_EQUAL(post(&s, "say", "{"), 400);
    CU_ASSERT_EQUAL(post(&s, "leave", "{}"), 400);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "no good"));
    CU_ASSERT_EQUAL(post(&s, "crash", "{}"), 500);
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 200);
    finish(&s);
}

/* What a request names is read from its own folder alone, whatever is around it. */
static void test_fence(void)
{
    static const char *const outside[] = { "/etc/passwd", "Makefile", "../Makefile" };
    struct running s = start();
    CU_ASSERT_EQUAL(
        post(&s, "reads", "{\"job\":{\"name\":\"a.sh\",\"text\":\"its text\"}}"), 200);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer, "its text"));
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        char body[100];
        snprintf(body, sizeof(body), "{\"job\":\"x\",\"options\":{\"for\":\"y\"}}");
        CU_ASSERT_EQUAL(post(&s, "reads", body), 200);
        CU_ASSERT_PTR_NULL(strstr(answer, "root:"));
        snprintf(body, sizeof(body), "{\"job\":\"%s\"}", outside[i]);
        CU_ASSERT_EQUAL(post(&s, "reads", body), strchr(outside[i], '/') ? 400 : 200);
        CU_ASSERT_PTR_NULL(strstr(answer, "root:"));
        CU_ASSERT_PTR_NULL(strstr(answer, "PKGS"));
    }
    finish(&s);
}

static void test_limits(void)
{
    static char huge[2 << 20];
    struct running s = start();
    double begun_s = clock_s();
    CU_ASSERT_EQUAL(post(&s, "spin", "{}"), 504);
    CU_ASSERT_TRUE(clock_s() - begun_s < 8);
    int n = snprintf(huge, sizeof(huge),
                     "POST /%s/api/say HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                     "application/json\r\nContent-Length: 2000000\r\n\r\n",
                     s.token, s.port);
    CU_ASSERT_EQUAL(exchange(&s, huge, (size_t)n), 413);
    n = snprintf(huge, sizeof(huge),
                 "POST /%s/api/say HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                 "application/json\r\nTransfer-Encoding: chunked\r\n\r\n180000\r\n",
                 s.token, s.port);
    memset(huge + n, ' ', 0x180000);
    int status = exchange(&s, huge, (size_t)n + 0x180000);
    CU_ASSERT_TRUE(status == 0 || status >= 400);
    memset(huge, 'x', 100000); /* a header that does not end */
    memcpy(huge, "GET /", 5);
    status = exchange(&s, huge, 100000);
    CU_ASSERT_TRUE(status == 0 || status >= 400);
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 200);
    finish(&s);
}

/* As many slow clients as there are connections are one too many; those who go away
 * leave no process. */
static void test_slow(void)
{
    enum { SLOW = 40 };
    int fd[SLOW];
    char text[512];
    struct running s = start();
    for (int i = 0; i < SLOW; i++) {
        fd[i] = connect_to(&s);
        CU_ASSERT_EQUAL(send(fd[i], "GET / HT", 8, MSG_NOSIGNAL), 8);
    }
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 200);
    for (int i = 0; i < SLOW; i++)
        close(fd[i]);
    int n =
        snprintf(text, sizeof(text),
                 "POST /%s/api/spin HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                 "application/json\r\nContent-Length: 2\r\n\r\n{}",
                 s.token, s.port);
    for (int i = 0; i < SERVE_CHILDREN; i++) {
        fd[i] = connect_to(&s);
        CU_ASSERT_EQUAL(send(fd[i], text, (size_t)n, MSG_NOSIGNAL), n);
    }
    nanosleep(&(struct timespec) { 0, 300000000 }, NULL);
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 503);
    for (int i = 0; i < SERVE_CHILDREN; i++)
        close(fd[i]);
    nanosleep(&(struct timespec) { 0, 700000000 }, NULL);
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 200);
    finish(&s);
}

/* Requests with bytes changed, cut and repeated: the server stays. */
static void test_fuzzed(void)
{
    enum { RUNS = 300 };
    struct running s = start();
    srand(7);
    for (int run = 0; run < RUNS; run++) {
        char text[600];
        int n =
            snprintf(text, sizeof(text),
                     "POST /%s/api/say HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: "
                     "application/json\r\nContent-Length: 13\r\nOrigin: "
                     "http://127.0.0.1:%d\r\n\r\n{\"job\":\"gpt\"}",
                     s.token, s.port, s.port);
        for (int edits = 1 + rand() % 6; edits > 0; edits--)
            text[rand() % n] = (char)(rand() % 256);
        n -= rand() % 3 == 0 ? rand() % n : 0;
        int fd = connect_to(&s);
        send(fd, text, (size_t)n, MSG_NOSIGNAL);
        shutdown(fd, SHUT_WR);
        receive(fd, 0.02);
    }
    CU_ASSERT_EQUAL(post(&s, "say", "{}"), 200);
    finish(&s);
}

void test_serve_register(void)
{
    CU_pSuite s = CU_add_suite("serve", NULL, NULL);
    CU_add_test(s, "bodies as command lines", test_bodies);
    CU_add_test(s, "logs of requests", test_logs);
    CU_add_test(s, "bounds of bodies", test_bounds);
    CU_add_test(s, "headers", test_headers);
    CU_add_test(s, "tokens", test_token);
    CU_add_test(s, "answers", test_answers);
    CU_add_test(s, "the fence", test_fence);
    CU_add_test(s, "limits", test_limits);
    CU_add_test(s, "slow clients", test_slow);
    CU_add_test(s, "fuzzed requests", test_fuzzed);
}
