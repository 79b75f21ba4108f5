#include "cmd/failure.h"

#include "report/check.h"
#include "report/report.h"

#include <string.h>
#include <sys/stat.h>

/* Whether a file may be written over: there is none, it is empty or one of our own. */
static bool is_free(const char *path)
{
    static const char ours[] = "{\n  \"schema\": \"urn:smsim:";
    char begin[sizeof(ours)] = "";
    struct stat st;
    if (stat(path, &st))
        return true;
    FILE *in = S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    size_t n = in ? fread(begin, 1, sizeof(ours) - 1, in) : 1;
    if (in)
        fclose(in);
    return n == 0 || strcmp(begin, ours) == 0;
}

static json_t *findings(const struct diags *d, enum diag_severity severity)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < d->n; i++)
        if (d->v[i].severity == severity)
            json_array_append_new(list, diag_json(&d->v[i]));
    return list;
}

void cmd_failure_write(const char *path, const char *command, const struct diags *diags,
                       const struct err *err, int exit_code)
{
    json_t *errors = findings(diags, DIAG_ERROR);
    int64_t total = diags->n_errors;
    struct err unwritten = { 0 };
    if (err && err->set) {
        const struct diag own = { .severity = DIAG_ERROR,
                                  .code = err->fault ? DIAG_FAULT : DIAG_FAILED,
                                  .text = err->text };
        json_array_append_new(errors, diag_json(&own));
        total++;
    }
    const struct report_failure x = { command, exit_code, errors, diags_json(diags),
                                      total };
    json_t *tree = contract_result(&report_failure_contract, &x);
    json_decref(x.errors);
    json_decref(x.warnings);
    if (strcmp(path, "-") != 0 && !is_free(path))
        report_linef(stderr, "smsim: %s: is no result of smsim, and stays as it is",
                     path);
    else if (report_json_write(tree, path, &unwritten))
        report_linef(stderr, "smsim: %s", unwritten.text);
    json_decref(tree);
}
