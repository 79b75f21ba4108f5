/* A request of smsim serve: the body of a POST as the command line that does the same.
 *
 *     { "job": JOB, "to": JOB, "set": ["/cluster/count=4"], "options": { "top": 20 },
 *       "logs": [LOG, ...], "page": true }
 *
 * A JOB is a name (of a shipped scenario, or of a file that the server was started
 * with), a scenario (an object), or a text that was pasted: { "name": "train.sh",
 * "text": "..." }. A LOG is a text that was pasted, or the name of a file that the server
 * was started with. Which options there are is a table of the command's. Nothing of the
 * request becomes the name of a file outside the request's own folder. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include "base/err.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SERVE_BODY_MAX_B = 1 << 20,
    SERVE_WORDS_MAX = 120, /* of a command line */
    SERVE_TEXT_MAX = 4096, /* bytes of a value */
    SERVE_NAME_MAX = 64,   /* bytes of a file's name */
    SERVE_JOBS_MAX = 2,
    SERVE_LOGS_MAX = 8,
};

enum serve_option_type { SERVE_TEXT, SERVE_TEXTS, SERVE_NUMBER, SERVE_FLAG };

struct serve_option {
    const char *name; /* "top"; the command line's is "--top". NULL ends the table */
    enum serve_option_type type;
};

/* What a command's answer is made of. */
enum serve_answer {
    SERVE_RESULT, /* the file that --json writes */
    SERVE_WORDS   /* what it prints, as { "text", "log", "exit_code" } */
};

struct serve_command {
    const char *name;    /* in the address; NULL ends the table */
    const char *command; /* of smsim */
    int (*run)(int argc, char **argv);
    enum serve_answer answer;
    int jobs_min, jobs_max;
    bool word; /* takes "word", a positional argument that is no file */
    bool page; /* has --html, which gives the page's data */
    bool logs; /* takes "logs", each a --log */
    const struct serve_option *options;
};

/* A file that the command line of the server named. */
struct serve_file {
    const char *name; /* as it was named */
    const char *path; /* absolute */
};

struct serve_request {
    const struct serve_command *command;
    bool page; /* the page's data are asked for */
    int argc;
    char *argv[SERVE_WORDS_MAX + 1];
    int32_t n_pasted;
    struct serve_pasted {
        char *path; /* in the request's folder: "train.sh", "b/job.json", "log/a.log" */
        char *text;
    } pasted[SERVE_JOBS_MAX + SERVE_LOGS_MAX];
};

/* Reads the body of a request for that command. `files` ends with a NULL name. Released
 * by the caller in any case. */
int serve_request_read(struct serve_request *r, const struct serve_command *command,
                       const struct serve_file *files, const char *body, size_t len,
                       struct err *err);
void serve_request_release(struct serve_request *r);

/* What a shell would take for the same, in one line; the caller frees it. */
char *serve_request_words(const struct serve_request *r);

/* { "schema": "urn:smsim:failure:1", "command", "exit_code", "errors": [...] } as a new
 * tree, of one text. */
json_t *serve_failure(const char *command, int exit_code, const char *text);

#endif
