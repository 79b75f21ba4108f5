#include "serve/request.h"

#include "base/plain.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>

/* Values ----------------------------------------------------------------------------- */

/* A text that may be a word of a command line: bounded, no control characters. */
static const char *word_of(const json_t *v, const char *what, struct err *err)
{
    const char *text = json_string_value(v);
    size_t n = json_string_length(v);
    if (!text)
        err_set(err, "%s should be a text", what);
    else if (n > SERVE_TEXT_MAX || n != strlen(text))
        err_set(err, "%s is longer than %d bytes, or has a NUL", what, SERVE_TEXT_MAX);
    else if (text[plain_length(text, true)])
        err_set(err, "%s has a control character", what);
    else
        return text;
    return NULL;
}

static int add_word(struct serve_request *r, char *word, struct err *err)
{
    if (r->argc >= SERVE_WORDS_MAX) {
        free(word);
        return err_set(err, "the request has more than %d values", SERVE_WORDS_MAX);
    }
    r->argv[r->argc++] = word;
    return 0;
}

/* Names of files: letters, digits, ". _ -"; neither hidden nor an option. */
static bool is_name(const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789._-";
    size_t n = strlen(name);
    return n > 0 && n <= SERVE_NAME_MAX && strspn(name, plain) == n && name[0] != '.' &&
           name[0] != '-';
}

/* Options ---------------------------------------------------------------------------- */

static int add_text(struct serve_request *r, const struct serve_option *o,
                    const json_t *v, struct err *err)
{
    const char *text = word_of(v, o->name, err);
    return text ? add_word(r, xasprintf("--%s=%s", o->name, text), err) : -1;
}

static int add_option(struct serve_request *r, const struct serve_option *o,
                      const json_t *v, struct err *err)
{
    size_t i;
    json_t *item;
    if (json_is_null(v) || json_is_false(v))
        return 0;
    switch (o->type) {
    case SERVE_TEXT:
        return add_text(r, o, v, err);
    case SERVE_TEXTS:
        if (!json_is_array(v))
            return err_set(err, "%s should be an array of texts", o->name);
        json_array_foreach(v, i, item) if (add_text(r, o, item, err)) return -1;
        return 0;
    case SERVE_NUMBER:
        if (json_is_integer(v))
            return add_word(
                r,
                xasprintf("--%s=%" JSON_INTEGER_FORMAT, o->name, json_integer_value(v)),
                err);
        if (json_is_real(v))
            return add_word(r, xasprintf("--%s=%.17g", o->name, json_real_value(v)),
                            err);
        return err_set(err, "%s should be a number", o->name);
    default:
        if (json_is_true(v))
            return add_word(r, xasprintf("--%s", o->name), err);
        return err_set(err, "%s should be true or false", o->name);
    }
}

static int add_options(struct serve_request *r, json_t *options, struct err *err)
{
    const char *key;
    json_t *v;
    if (!options)
        return 0;
    if (!json_is_object(options))
        return err_set(err, "options should be an object");
    json_object_foreach(options, key, v)
    {
        const struct serve_option *o = r->command->options;
        while (o->name && strcmp(o->name, key) != 0)
            o++;
        if (!o->name)
            return err_set(err, "%s has no option \"%.40s\" here (docs/serve.md)",
                           r->command->name, key);
        if (add_option(r, o, v, err))
            return -1;
    }
    return 0;
}

/* Jobs ------------------------------------------------------------------------------- */

/* Keeps a text for the request's folder; the second job's in a folder of its own, as
 * both may have the same name. */
static int paste(struct serve_request *r, const char *name, char *text, struct err *err)
{
    struct serve_pasted *p = &r->pasted[r->n_pasted];
    p->path = xasprintf("%s%s", r->n_pasted ? "b/" : "", name);
    p->text = text;
    r->n_pasted++;
    return add_word(r, xstrdup(p->path), err);
}

static int add_pasted(struct serve_request *r, const json_t *job, struct err *err)
{
    const char *name = json_string_value(json_object_get(job, "name"));
    const json_t *v = json_object_get(job, "text");
    const char *text = json_string_value(v);
    if (!name || !is_name(name))
        return err_set(err, "the name of a pasted file should have letters, digits, "
                            "\".\", \"_\" and \"-\" alone, such as train.sh");
    if (strlen(text) != json_string_length(v))
        return err_set(err, "%s: the text has a NUL", name);
    return paste(r, name, xstrdup(text), err);
}

static int add_name(struct serve_request *r, const struct serve_file *files,
                    const char *name, struct err *err)
{
    for (const struct serve_file *f = files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return add_word(r, xstrdup(f->path), err);
    if (!is_name(name))
        return err_set(err,
                       "\"%.60s\" is neither the name of a scenario nor of a file that "
                       "smsim serve was started with",
                       name);
    return add_word(r, xstrdup(name), err);
}

static int add_job(struct serve_request *r, const struct serve_file *files,
                   const json_t *job, struct err *err)
{
    if (json_is_string(job)) {
        const char *name = word_of(job, "job", err);
        return name ? add_name(r, files, name, err) : -1;
    }
    if (!json_is_object(job))
        return err_set(err, "job should be a name or an object");
    if (json_is_string(json_object_get(job, "text")))
        return add_pasted(r, job, err);
    return paste(r, "job.json", json_dumps(job, JSON_INDENT(2)), err);
}

static int add_jobs(struct serve_request *r, const struct serve_file *files,
                    const json_t *body, struct err *err)
{
    static const char *const keys[SERVE_JOBS_MAX] = { "job", "to" };
    const struct serve_command *c = r->command;
    int n = 0;
    for (int i = 0; i < SERVE_JOBS_MAX; i++) {
        const json_t *job = json_object_get(body, keys[i]);
        if (!job || json_is_null(job))
            continue;
        if (i >= c->jobs_max || n != i)
            return err_set(err, "%s takes no \"%s\" here", c->name, keys[i]);
        if (add_job(r, files, job, err))
            return -1;
        n++;
    }
    if (n < c->jobs_min)
        return err_set(err, "%s needs \"%s\"", c->name, keys[n]);
    return 0;
}

/* Logs ------------------------------------------------------------------------------- */

static int paste_log(struct serve_request *r, const json_t *log, struct err *err)
{
    const char *name = json_string_value(json_object_get(log, "name"));
    const json_t *v = json_object_get(log, "text");
    const char *text = json_string_value(v);
    struct serve_pasted *p = &r->pasted[r->n_pasted];
    if (!name || !is_name(name) || !text)
        return err_set(err, "a log should have \"text\", and a \"name\" of letters, "
                            "digits, \".\", \"_\" and \"-\" alone, such as train.log");
    if (strlen(text) != json_string_length(v))
        return err_set(err, "%s: the text has a NUL", name);
    p->path = xasprintf("log/%s", name);
    p->text = xstrdup(text);
    for (int32_t i = 0; i < r->n_pasted; i++)
        if (strcmp(r->pasted[i].path, p->path) == 0)
            err_set(err, "two logs are named %s", name);
    r->n_pasted++;
    return err->set ? -1 : add_word(r, xasprintf("--log=%s", p->path), err);
}

static int add_log(struct serve_request *r, const struct serve_file *files,
                   const json_t *log, struct err *err)
{
    const char *name = json_string_value(log);
    if (!name)
        return paste_log(r, log, err);
    for (const struct serve_file *f = files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return add_word(r, xasprintf("--log=%s", f->path), err);
    return err_set(err, "\"%.60s\" is no file that smsim serve was started with", name);
}

static int add_logs(struct serve_request *r, const struct serve_file *files,
                    const json_t *body, struct err *err)
{
    const json_t *logs = json_object_get(body, "logs"), *log;
    size_t i;
    if (!r->command->logs)
        return 0;
    if (!json_is_array(logs) || json_array_size(logs) == 0 ||
        json_array_size(logs) > SERVE_LOGS_MAX)
        return err_set(err, "%s needs \"logs\", an array of 1 to %d", r->command->name,
                       SERVE_LOGS_MAX);
    json_array_foreach(logs, i, log) if (add_log(r, files, log, err)) return -1;
    return 0;
}

/* The request ------------------------------------------------------------------------ */

static int check_keys(const struct serve_command *c, json_t *body, struct err *err)
{
    const char *key;
    json_t *v;
    if (!json_is_object(body))
        return err_set(err, "the request should be a JSON object");
    json_object_foreach(body, key, v)
    {
        if (strcmp(key, "word") == 0 && c->word)
            continue;
        if (strcmp(key, "page") == 0 && json_is_boolean(v))
            continue;
        if (strcmp(key, "logs") == 0 && c->logs)
            continue;
        if (strcmp(key, "job") != 0 && strcmp(key, "to") != 0 &&
            strcmp(key, "set") != 0 && strcmp(key, "options") != 0)
            return err_set(err, "%s takes no \"%.40s\" (docs/serve.md)", c->name, key);
    }
    return 0;
}

static int add_positional(struct serve_request *r, const struct serve_file *files,
                          const json_t *body, struct err *err)
{
    const json_t *word = json_object_get(body, "word");
    if (!word)
        return add_jobs(r, files, body, err);
    const char *text = word_of(word, "word", err);
    if (!text)
        return -1;
    if (text[0] == '-' || text[0] == '/' || strstr(text, ".."))
        return err_set(err, "word should be a name");
    return add_word(r, xstrdup(text), err);
}

int serve_request_read(struct serve_request *r, const struct serve_command *command,
                       const struct serve_file *files, const char *body, size_t len,
                       struct err *err)
{
    static const struct serve_option set = { "set", SERVE_TEXTS };
    json_error_t why;
    *r = (struct serve_request) { .command = command };
    json_t *tree = json_loadb(body, len, JSON_REJECT_DUPLICATES, &why);
    if (!tree)
        return err_set(err, "the request is no JSON: line %d, column %d: %s", why.line,
                       why.column, why.text);
    const json_t *sets = json_object_get(tree, "set");
    r->page = json_is_true(json_object_get(tree, "page"));
    int rc = add_word(r, xstrdup(command->command), err);
    if (rc == 0)
        rc = check_keys(command, tree, err);
    if (rc == 0)
        rc = add_positional(r, files, tree, err);
    if (rc == 0)
        rc = add_logs(r, files, tree, err);
    if (rc == 0 && sets)
        rc = add_option(r, &set, sets, err);
    if (rc == 0)
        rc = add_options(r, json_object_get(tree, "options"), err);
    json_decref(tree);
    return rc;
}

void serve_request_release(struct serve_request *r)
{
    for (int i = 0; i < r->argc; i++)
        free(r->argv[i]);
    for (int32_t i = 0; i < r->n_pasted; i++) {
        free(r->pasted[i].path);
        free(r->pasted[i].text);
    }
    r->argc = 0;
    r->n_pasted = 0;
}

/* A word as a shell reads it. */
static void quote(struct strbuf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789._-/=:,+%@";
    if (*word && strspn(word, plain) == strlen(word)) {
        strbuf_addstr(b, word);
        return;
    }
    strbuf_addch(b, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_addstr(b, "'\\''");
        else
            strbuf_addch(b, *word);
    }
    strbuf_addch(b, '\'');
}

char *serve_request_words(const struct serve_request *r)
{
    struct strbuf b;
    strbuf_init(&b);
    strbuf_addstr(&b, "smsim");
    for (int i = 0; i < r->argc; i++) {
        strbuf_addch(&b, ' ');
        quote(&b, r->argv[i]);
    }
    char *text = xstrdup(strbuf_get(&b));
    strbuf_release(&b);
    return text;
}

json_t *serve_failure(const char *command, int exit_code, const char *text)
{
    json_t *error = json_pack("{s:s, s:s, s:s}", "code", "request", "severity", "error",
                              "text", text);
    if (!error) /* text of others that is no UTF-8 */
        error = json_pack("{s:s, s:s, s:s}", "code", "request", "severity", "error",
                          "text", "the message has bytes that are no UTF-8");
    return json_pack("{s:s, s:s, s:i, s:[o], s:i, s:[]}", "schema",
                     "urn:smsim:failure:1", "command", command, "exit_code", exit_code,
                     "errors", error, "errors_total", 1, "warnings");
}
