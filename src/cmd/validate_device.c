/* The GPUs at hand: smsim-measure runs, and what it wrote is compared. */
#include "base/child.h"
#include "base/ending.h"
#include "base/self.h"
#include "cmd/cmd.h"
#include "cmd/validate_measured.h"
#include "config/datadir.h"
#include "report/text/wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char program_name[] = "smsim-measure";

/* Where the program is ------------------------------------------------------------- */

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* In the directory of this program. */
static bool find_next_to(char path[PATH_SIZE])
{
    char self[SELF_PATH_B];
    if (self_real_path(self))
        return false;
    *strrchr(self, '/') = '\0';
    int n = snprintf(path, PATH_SIZE, "%s/%s", self, program_name);
    return n < PATH_SIZE && is_program(path);
}

static bool find_in_path(char path[PATH_SIZE])
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t n = strcspn(at, ":");
        snprintf(path, PATH_SIZE, "%.*s/%s", (int)(n < 2048 ? n : 2048), at,
                 program_name);
        if (n > 0 && is_program(path))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

/* $SMSIM_MEASURE, else next to this program, where `make measure` puts it, else in
 * $PATH. Not where the data are: a data folder of others is no code to be run. */
static int find_program(char path[PATH_SIZE], struct err *err)
{
    const char *named = getenv("SMSIM_MEASURE");
    if (named && *named) {
        snprintf(path, PATH_SIZE, "%s", named);
        return is_program(path)
                   ? 0
                   : err_set(err, "SMSIM_MEASURE: %s is no program that can be run",
                             named);
    }
    if (find_next_to(path) || find_in_path(path))
        return 0;
    return err_set(err,
                   "%s is not built: run `make measure` where nvcc is, and name it by "
                   "SMSIM_MEASURE where it is not next to smsim",
                   program_name);
}

/* The run -------------------------------------------------------------------------- */

/* The file that the program writes to: next to the one that is wanted, or a temporary
 * one. It gets its name when the run is done. */
static int open_target(char path[PATH_SIZE], const char *out, struct err *err)
{
    const char *dir = getenv("TMPDIR");
    if (out)
        snprintf(path, PATH_SIZE, "%s.XXXXXX", out);
    else
        snprintf(path, PATH_SIZE, "%s/smsim-measure.XXXXXX",
                 dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    close(fd);
    ending_add_file(path);
    return 0;
}

/* What the program's exit codes say. */
static int judge(int code, struct err *err)
{
    switch (code) {
    case 0:
        return 0;
    case EXIT_USAGE:
        return err_set(err,
                       "%s does not know an option: build it again by `make "
                       "measure`",
                       program_name);
    case EXIT_BAD_INPUT:
        return err_set(err, "nothing was measured (%s says why above)", program_name);
    }
    return err_set(err, "%s ended with %d", program_name, code);
}

static int run_program(const char *program, const char *target, const char *model,
                       const struct device_request *q, struct err *err)
{
    const double start_s = 900; /* for sections that are late, and the way there */
    char batch[24], sequence[24], budget[24];
    snprintf(batch, sizeof(batch), "%" PRId64, q->batch);
    snprintf(sequence, sizeof(sequence), "%" PRId64, q->sequence);
    snprintf(budget, sizeof(budget), "%" PRId64, q->budget_s);
    const char *argv[] = { program,  "--out",    target, "--model",
                           model,    "--batch",  batch,  "--sequence",
                           sequence, "--budget", budget, q->fp16 ? "--fp16" : NULL,
                           NULL };
    int code = child_run(argv, (double)q->budget_s + start_s, err);
    return code < 0 ? -1 : judge(code, err);
}

static int show(const char *target, const struct device_request *q, struct err *err)
{
    const char *file = target;
    if (q->out) {
        if (rename(target, q->out)) {
            err_set(err, "%s: cannot be written: %s", q->out, strerror(errno));
            return EXIT_BAD_INPUT;
        }
        file = q->out;
    }
    return validate_measured(&file, 1, &q->show);
}

int validate_device(const struct device_request *q)
{
    struct arena arena;
    struct err err = { 0 };
    char program[PATH_SIZE], target[PATH_SIZE];
    int status = EXIT_BAD_INPUT;
    arena_init(&arena);
    const char *model = datadir_file(&arena, "models", q->model);
    if (access(model, R_OK))
        err_set(&err, "--model: %s: cannot be read: %s (smsim list models)", model,
                strerror(errno));
    else if (find_program(program, &err) == 0 &&
             open_target(target, q->out, &err) == 0) {
        if (run_program(program, target, model, q, &err) == 0)
            status = show(target, q, &err);
        unlink(target);
        ending_drop(target);
    }
    if (err.set)
        report_linef(stderr, "smsim validate: --device: %s", err.text);
    arena_release(&arena);
    return status;
}
