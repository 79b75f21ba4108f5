#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cmd/failure.h"
#include "cmd/options.h"
#include "config/datadir.h"
#include "model/hub.h"
#include "report/report.h"
#include "schema/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_shipped(struct cfg_loader *loader, const char *dir, const char *name)
{
    return file_is_there(datadir_file(&loader->arena, dir, name));
}

/* A model's name where a job's is due; refused with the commands that take it. */
static bool is_model(struct cfg_loader *loader, const char *name)
{
    if (file_is_there(name) || is_shipped(loader, "scenarios", name))
        return false;
    if (!is_shipped(loader, "models", name) &&
        !(hub_is_id(name) && hub_knows(loader, name)))
        return false;
    cfg_error_at(loader, (struct cfg) { 0 }, DIAG_UNKNOWN_NAME,
                 "\"%s\" is a model, not a job (smsim model %s shows it, smsim plan "
                 "--model %s plans one, --set /model=%s puts it into a scenario)",
                 name, name, name, name);
    return true;
}

static struct cfg load(struct cfg_loader *loader, const char *name)
{
    const struct cfg none = { 0 };
    if (strcmp(name, "-") == 0)
        return cfg_load(loader, name);
    return is_model(loader, name) ? none
                                  : datadir_load(loader, "scenarios", name, none);
}

struct cfg cmd_scenario(struct cfg_loader *loader, const char *name,
                        const struct option_list *sets)
{
    struct cfg root = load(loader, name);
    for (int32_t i = 0; root.json && sets && i < sets->n; i++)
        if (cfg_set(root, sets->values[i]))
            root.json = NULL;
    return root;
}

void cmd_warn(const struct cfg_loader *loader)
{
    report_warnings(stderr, &loader->diags);
}

int cmd_fail_json(struct cfg_loader *loader, const struct err *err, const char *command,
                  const char *path)
{
    int status = err && err->fault ? EXIT_FAULT : EXIT_BAD_INPUT;
    reference_elsewhere(loader);
    report_errors(stderr, &loader->diags);
    if (err && err->set)
        report_linef(stderr, "smsim: %s", err->text);
    if (path)
        cmd_failure_write(path, command, &loader->diags, err, status);
    cfg_loader_release(loader);
    return status;
}

int cmd_fail(struct cfg_loader *loader, const struct err *err)
{
    return cmd_fail_json(loader, err, NULL, NULL);
}

struct cmd_progress cmd_progress_of(const char *what, double after_s)
{
    return (
        struct cmd_progress) { .what = what, .after_s = after_s, .start_s = clock_s() };
}

void cmd_progress_show(void *progress, int64_t done, int64_t total)
{
    struct cmd_progress *p = progress;
    char left[UNITS_TEXT_MAX];
    double now_s = clock_s();
    p->first_s = p->first_s > 0 ? p->first_s : now_s;
    double rate = (double)done / (now_s - p->first_s + 1e-3);
    if (done == total) {
        fprintf(stderr, "\r\033[K");
        return;
    }
    if (now_s - p->start_s < p->after_s || now_s - p->shown_s < 0.1)
        return;
    p->shown_s = now_s;
    fprintf(stderr, "\r%s %" PRId64 "/%" PRId64, p->what, done, total);
    if (done > 0 && now_s - p->first_s > 0.2) /* before, the rate is a guess */
        fprintf(stderr, rate < 10 ? ", %.1f/s, %s left" : ", %.0f/s, %s left", rate,
                units_time_text(left, ceil((double)(total - done) / rate)));
    fputs("\033[K", stderr);
}
