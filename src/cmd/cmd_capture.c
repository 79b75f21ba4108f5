/* smsim capture: what a script of the user's starts, by running it with recorders in
 * place of the programs that start training. */
#include "base/child.h"
#include "base/ending.h"
#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "report/text/wrap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_NOT_FOUND = 127 /* a shell's */,
    CAPTURE_MAX_B = 1 << 22,
    DIR_ROOM = 1024,
    PATH_ROOM = DIR_ROOM + 64
};

/* clang-format off */
struct arguments {
    const char *out;
    int64_t gpus;
    double limit_s;
};

static const struct option options[] = {
    { .name = "--out", .type = OPTION_OUT, .at = offsetof(struct arguments, out), .value = "FILE",
      .help = "write what was captured there: NAME.sh, or NAME.py of an estimator" },
    { .name = "--gpus", .type = OPTION_INT, .at = offsetof(struct arguments, gpus), .value = "N",
      .help = "GPUs of a node, as nvidia-smi would list them (default 8)", .min = 1, .max = 16 },
    { .name = "--limit", .type = OPTION_REAL, .at = offsetof(struct arguments, limit_s), .value = "SECONDS",
      .help = "end the command after so long (default 600)", .min = 1, .max = 86400 },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "capture",
    .arguments = "[OPTION]... -- COMMAND [ARGUMENT]...",
    .summary = "Runs COMMAND, a launch script of yours, and writes down which training it would start.\n"
               "Programs that start training are replaced by recorders, which start nothing: torchrun,\n"
               "deepspeed, accelerate, srun, mpirun, aprun, jsrun, sbatch, qsub, bsub, python of a training\n"
               "script, the package sagemaker. All else in the script is run unchanged.",
    .details = "What is captured is a launch script that the other commands read. pip, docker, wget, ssh and\n"
               "the like are not run.\n\n"
               "  smsim capture --out job.sh -- bash pretrain.sh 70B\n"
               "  smsim simulate job.sh --set /cluster/instance=p5.48xlarge\n"
               "  smsim capture --out job.py -- python launch.py\n",
    .options = options,
    .min_positional = 0,
    .max_positional = 0,
};

/* The names under which recorder.sh is in the search path. */
static const char *const recorded[] = {
    "torchrun", "deepspeed", "accelerate", "horovodrun", "colossalai", "composer", "axolotl",
    "llamafactory-cli", "trl", "tune", "nemo", "nemorun", "torchx", "ray", "srun", "sbatch",
    "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "aprun", "jsrun", "yhrun", "ibrun",
    "flux", "qsub", "bsub", "pjsub", "ssh", "pdsh", "clush", "scp", "rsync", "python", "python3", "python3.8", "python3.9",
    "python3.10", "python3.11", "python3.12", "python3.13", "python3.14", "scontrol",
    "nvidia-smi", "pip", "pip3", "conda", "mamba", "micromamba", "uv", "poetry", "pipenv", "pdm",
    "singularity", "apptainer", "module", "apt-get", "docker", "kubectl", "wget", "curl",
    "directives", NULL,
};
/* clang-format on */

/* Made of src/cmd/capture/ by the Makefile. */
extern const char capture_recorder[], capture_sitecustomize[];

/* The folder of the recorders ------------------------------------------------------ */

static int write_text(const char *dir, const char *name, const char *text, mode_t mode,
                      struct err *err)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof(path), "%.1023s/%.60s", dir, name);
    FILE *f = fopen(path, "w");
    bool written = f && fputs(text, f) >= 0;
    if (f && fclose(f))
        written = false;
    if (!written || chmod(path, mode))
        return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
    return 0;
}

static int fill_folder(const char *dir, struct err *err)
{
    char path[PATH_ROOM];
    if (write_text(dir, "recorder", capture_recorder, 0700, err) ||
        write_text(dir, "sitecustomize.py", capture_sitecustomize, 0600, err))
        return -1;
    for (const char *const *name = recorded; *name; name++) {
        snprintf(path, sizeof(path), "%.1023s/%.60s", dir, *name);
        if (symlink("recorder", path))
            return err_set(err, "%s: cannot be made: %s", path, strerror(errno));
    }
    return 0;
}

/* The command ---------------------------------------------------------------------- */

static void put_first(const char *variable, const char *dir)
{
    const char *old = getenv(variable);
    struct strbuf b;
    strbuf_init(&b);
    strbuf_printf(&b, "%s%s%s", dir, old && *old ? ":" : "", old ? old : "");
    setenv(variable, strbuf_get(&b), 1);
    strbuf_release(&b);
}

/* Where schedulers say that a job was submitted. */
static void set_folder(void)
{
    static const char *const names[] = { "PBS_O_WORKDIR", "SGE_O_WORKDIR", "LS_SUBCWD",
                                         "PJM_O_WORKDIR", "SLURM_SUBMIT_DIR" };
    char folder[PATH_ROOM];
    for (size_t i = 0; getcwd(folder, sizeof(folder)) && i < 5; i++)
        setenv(names[i], folder, 0);
}

static void set_environment(const char *dir, const struct arguments *args)
{
    char gpus[24];
    const char *path = getenv("PATH");
    snprintf(gpus, sizeof(gpus), "%" PRId64, args->gpus);
    setenv("SMSIM_CAPTURE", dir, 1);
    setenv("SMSIM_PATH", path ? path : "/usr/bin:/bin", 1);
    setenv("SMSIM_OUTER", "", 1);
    setenv("SMSIM_GPUS", gpus, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    set_folder();
    put_first("PATH", dir);
    put_first("PYTHONPATH", dir);
}

/* A job's file among the words brings the lines #SBATCH that it has. */
static const char *job_file(int n, char *const *words)
{
    for (int i = 0; i < n; i++) {
        struct err err = { 0 };
        size_t len;
        char *text = access(words[i], R_OK) == 0 && strchr(words[i], '.')
                         ? file_read(words[i], CAPTURE_MAX_B, &len, &err)
                         : NULL;
        bool job = text && strstr(text, "#SBATCH");
        free(text);
        if (job)
            return words[i];
    }
    return NULL;
}

/* Its exit code; -1 with err set. */
static int run_command(const char *dir, int n, char *const *words, double limit_s,
                       struct err *err)
{
    char directives[PATH_ROOM];
    const char *job = strcmp(words[0], "sbatch") == 0 ? NULL : job_file(n, words);
    const char **argv = xcalloc((size_t)n + 8, sizeof(*argv));
    int at = 0;
    snprintf(directives, sizeof(directives), "%.1023s/directives", dir);
    argv[at++] = "/bin/sh";
    argv[at++] = "-c";
    argv[at++] = "exec \"$@\"";
    argv[at++] = "sh";
    if (job) {
        argv[at++] = directives;
        argv[at++] = job;
    }
    for (int i = 0; i < n; i++)
        argv[at++] = words[i];
    int code = child_run(argv, limit_s, err);
    free(argv);
    return code;
}

/* What was captured ---------------------------------------------------------------- */

/* The text of a file of the folder, to be freed; NULL: there is none. */
static char *read_part(const char *dir, const char *name)
{
    char path[PATH_ROOM];
    struct err err = { 0 };
    size_t len = 0;
    snprintf(path, sizeof(path), "%.1023s/%.60s", dir, name);
    char *text =
        access(path, R_OK) == 0 ? file_read(path, CAPTURE_MAX_B, &len, &err) : NULL;
    if (text && len == 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static void add_command(struct strbuf *b, int n, char *const *words)
{
    strbuf_addstr(b, "# what was started by:");
    for (int i = 0; i < n; i++)
        strbuf_printf(b, " %s", words[i]);
    strbuf_addstr(b, "\n");
}

static int write_capture(const struct arguments *args, const struct strbuf *b,
                         bool python, struct err *err)
{
    const char *ending = python ? ".py" : ".sh";
    if (!args->out || strcmp(args->out, "-") == 0) {
        fputs(b->s, stdout);
        return 0;
    }
    if (!names_ends(args->out, ending))
        return err_set(err, "--out %s: %s was captured (give a name that ends in %s)",
                       args->out, python ? "an estimator" : "a command", ending);
    struct file_out out;
    if (file_out_open(&out, args->out, err))
        return -1;
    fputs(b->s, out.stream);
    return file_out_commit(&out, err);
}

static int report(const struct arguments *args, const char *dir, int n,
                  char *const *words, int code, struct err *err)
{
    char *commands = read_part(dir, "commands.sh"),
         *estimators = read_part(dir, "estimators.py"), *job = read_part(dir, "job");
    bool python = estimators != NULL;
    struct strbuf b;
    int rc;
    strbuf_init(&b);
    if (!python)
        strbuf_printf(&b, "#!/bin/sh\n%s", job ? job : "");
    add_command(&b, n, words);
    strbuf_addstr(&b, python ? estimators : commands ? commands : "");
    if (!estimators && !commands && code == EXIT_NOT_FOUND)
        rc = err_set(err, "%s: cannot be run", words[0]);
    else if (!estimators && !commands)
        rc = err_set(err,
                     "%s started no training (it ended with %d; nothing of torchrun, "
                     "deepspeed, srun, mpirun, sagemaker's estimators was reached)",
                     words[0], code);
    else
        rc = write_capture(args, &b, python, err);
    if (rc == 0 && code)
        report_linef(stderr, "warning: %s ended with %d: what it does later is missing",
                     words[0], code);
    if (rc == 0 && estimators && commands)
        report_linef(
            stderr,
            "warning: commands that start training were left out, in addition to "
            "the estimators");
    strbuf_release(&b);
    free(commands);
    free(estimators);
    free(job);
    return rc;
}

static int capture(const struct arguments *args, int n, char *const *words,
                   struct err *err)
{
    char dir[DIR_ROOM];
    const char *tmp = getenv("TMPDIR");
    int len = snprintf(dir, sizeof(dir), "%s/smsim-capture.XXXXXX",
                       tmp && *tmp ? tmp : "/tmp");
    if (len >= DIR_ROOM || !mkdtemp(dir))
        return err_set(err, "%s: cannot be made: %s", dir, strerror(errno));
    ending_add_dir(dir);
    int rc = fill_folder(dir, err);
    if (rc == 0) {
        report_linef(stderr,
                     "smsim capture: runs %s; what it starts is recorded, not run",
                     words[0]);
        set_environment(dir, args);
        int code = run_command(dir, n, words, args->limit_s, err);
        rc = code < 0 ? -1 : report(args, dir, n, words, code, err);
    }
    ending_clean(); /* the folder */
    return rc;
}

int cmd_capture(int argc, char **argv)
{
    struct arguments args = { .gpus = 8, .limit_s = 600 };
    struct option_list words = { 0 };
    struct err err = { 0 };
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    int done = options_parse(&usage, own, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;
    if (own + 1 >= argc) {
        report_linef(stderr,
                     "smsim capture: no command (smsim capture -- bash run.sh)");
        return EXIT_USAGE;
    }
    if (capture(&args, argc - own - 1, argv + own + 1, &err) == 0)
        return EXIT_DONE;
    report_linef(stderr, "smsim capture: %s", err.text);
    return EXIT_BAD_INPUT;
}
