/* smsim doctor: what logs of a run say of its job. */
#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "doctor/doctor.h"
#include "page/doctor.h"
#include "page/page.h"
#include "report/doctor.h"
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

struct arguments {
    struct option_list sets, logs;
    const char *json, *html;
    double guard_s; /* 0: the logs are read once */
};

/* How many steady steps end a guard: these if they are slow, and these in any case. */
enum { GUARD_SLOW = 10, GUARD_ENOUGH = 50 };

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .name = "--log", .type = OPTION_LIST, .at = AT(logs),
      .value = "FILE", .help = "a log, plain or gzip; - is standard input; may be repeated" },
    { .name = "--guard", .type = OPTION_REAL, .at = AT(guard_s), .min = 0.1, .max = 86400,
      .value = "SECONDS", .help = "read logs that grow again so often, until the run is known" },
    { .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change the job: /cluster/count=4" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json),
      .value = "FILE", .help = "write the result as JSON; - is standard output" },
    { .name = "--html", .type = OPTION_OUT, .at = AT(html),
      .value = "FILE", .help = "one page with the result inside, for any browser" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "doctor",
    .arguments = "JOB --log FILE... [OPTION]...",
    .summary = "Whether a run is as fast as it should be. JOB is whatever simulate takes; "
               "the logs\nare text of the trainer, of NCCL with NCCL_DEBUG=INFO, CSV of "
               "nvidia-smi, traces of\nPyTorch's profiler, and SQLite exports of Nsight "
               "Systems, in any mixture.",
    .details = "Steady steps are set apart from warm-up, checkpoints, evaluation and "
               "stalls. Their\nmedian is held against the range of the prediction. Known deviations are "
               "simulated, and\nprinted by how well each explains time, memory and "
               "what the logs say.\n\n"
               "  smsim doctor pretrain_gpt.sh --set /cluster/instance=p4d.24xlarge --log train.log\n"
               "  smsim doctor my.json --log train.log.gz --log nccl.log --log smi.csv\n"
               "  smsim doctor my.json --log rank0.pt.trace.json.gz --log rank1.pt.trace.json.gz\n\n"
               "--guard follows a run: it ends once 10 steady steps are slower than the range, "
               "or 50\nwere seen.\n\n"
               "Exit code 1 says that the run is slower or faster than 95 % of runs would "
               "be, or that\nthe logs have no time of a step.\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

static bool is_out(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static int read_logs(struct logs *l, const struct option_list *files, struct err *err)
{
    for (int32_t i = 0; i < files->n; i++)
        if (logs_read(l, files->values[i], err))
            return -1;
    return logs_found(l)
               ? 0
               : err_set(err, "the logs have nothing that is known: no steps, "
                              "no lines of NCCL, no table of nvidia-smi, "
                              "no trace of a profiler "
                              "(docs/doctor.md lists what is read)");
}

/* A log that the run has yet to write, or that is moved away as it grows, is waited for;
 * *said: it was said. */
static bool is_missing(const char *file, bool *said)
{
    struct stat at;
    if (stat(file, &at) == 0 || errno != ENOENT)
        return false;
    if (!*said)
        report_linef(stderr, "smsim doctor: %s: is not there yet; waiting for it",
                     file);
    *said = true;
    return true;
}

/* Reads the logs again until there are enough steps; a log that says nothing yet may say
 * it later. */
static int guard(struct logs *l, const struct arguments *args,
                 const struct doctor_prediction *p, struct err *err)
{
    const struct logs_step does = { p->samples, p->tokens, (double)p->gpus, p->passes };
    struct timespec wait = { .tv_sec = (time_t)args->guard_s };
    wait.tv_nsec = (long)((args->guard_s - (double)wait.tv_sec) * 1e9);
    bool said = false;
    for (;; nanosleep(&wait, NULL)) {
        logs_release(l);
        logs_init(l);
        for (int32_t i = 0; i < args->logs.n; i++)
            if (!is_missing(args->logs.values[i], &said) &&
                logs_read(l, args->logs.values[i], err))
                return -1;
        struct logs_steady s = logs_steady_find(l, &does);
        int64_t n = s.n ? s.parts[LOGS_STEADY].n : 0;
        bool slow = n >= GUARD_SLOW && s.median_s > p->normal_s[1];
        if (n < GUARD_ENOUGH && !slow)
            continue;
        fprintf(is_out(args->json) || is_out(args->html) ? stderr : stdout,
                "guard: %" PRId64 " steady steps\n\n", n);
        return 0;
    }
}

/* The logs of a job: as they are, or once they are enough. */
static int follow(struct logs *l, const struct arguments *args,
                  struct doctor_predictor *by, const json_t *job, struct err *err)
{
    struct doctor_prediction p;
    if (args->guard_s <= 0)
        return 0;
    return doctor_predict(&p, by, job, err) ? -1 : guard(l, args, &p, err);
}

static int print(const struct report_doctor *r, const struct arguments *args,
                 struct err *err)
{
    if (!is_out(args->json) && !is_out(args->html))
        report_doctor_text(stdout, r);
    if (!args->json && !args->html)
        return 0;
    json_t *tree = contract_result(&report_doctor_contract, r);
    int rc = args->json ? report_json_write(tree, args->json, err) : 0;
    if (rc == 0 && args->html)
        rc = page_write(page_doctor(r, tree), args->html, err);
    json_decref(tree);
    return rc;
}

/* What of the command line cannot be; NULL: nothing. */
static const char *misplaced(const char *job, const struct arguments *args)
{
    const struct option_list *logs = &args->logs;
    if (logs->n == 0)
        return "by which logs? (give --log FILE)";
    for (int32_t i = 0; i < logs->n; i++) {
        if (strcmp(logs->values[i], "-") == 0 && strcmp(job, "-") == 0)
            return "--log: standard input is the job already";
        if (strcmp(logs->values[i], "-") == 0 && args->guard_s > 0)
            return "--guard: standard input cannot be read again";
        for (int32_t k = 0; k < i; k++)
            if (strcmp(logs->values[i], logs->values[k]) == 0)
                return "--log: the same file is given twice";
    }
    return NULL;
}

int cmd_doctor(int argc, char **argv)
{
    struct arguments args = { .json = NULL };
    struct option_list names;
    struct cfg_loader loader;
    struct doctor_predictor by;
    struct scenario s;
    struct cfg root;
    struct logs logs;
    struct doctor d = { .verdict = DOCTOR_NORMAL };
    struct err err = { 0 };
    int status = options_parse(&usage, argc, argv, &args, &names);
    if (status != OPTIONS_GO_ON)
        return status;
    const char *job = names.values[0], *wrong = misplaced(job, &args);
    if (wrong) {
        report_linef(stderr, "smsim doctor: %s", wrong);
        return EXIT_USAGE;
    }
    const struct script_options how = { .sets = &args.sets };
    cfg_loader_init(&loader);
    doctor_predictor_init(&by, &loader);
    logs_init(&logs);
    bool failed = (args.guard_s <= 0 && read_logs(&logs, &args.logs, &err)) ||
                  script_scenario(&s, &root, &loader, job, &how) ||
                  follow(&logs, &args, &by, root.json, &err);
    if (!failed) {
        cmd_warn(&loader);
        const struct report_doctor r = { job, &d };
        failed =
            doctor_judge(&d, &by, root.json, &logs, &err) || print(&r, &args, &err);
    }
    if (failed)
        status = cmd_fail_json(&loader, err.set ? &err : NULL, "doctor", args.json);
    else
        status = d.verdict == DOCTOR_NORMAL ? EXIT_DONE : EXIT_UNFIT;
    if (!failed)
        cfg_loader_release(&loader);
    doctor_predictor_release(&by);
    logs_release(&logs);
    return status;
}
