/* smsim sweep: one scenario at every point of a grid. */
#include "base/err.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "page/page.h"
#include "page/sweep.h"
#include "report/figure/sweep.h"
#include "report/report.h"
#include "report/sweep_table.h"
#include "sweep/sweep_assumed.h"
#include "sweep/sweep_mpi.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *name, *out, *shard, *html;
    struct draw_look look; /* of figures */
    int64_t jobs;
    bool resume;
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .name = "--out", .type = OPTION_STRING, .at = AT(out),
      .value = "DIR", .help = "where points.csv, points.jsonl and figures go" },
    { .name = "--jobs", .type = OPTION_INT, .at = AT(jobs),
      .value = "N", .help = "threads (default: all cores)", .min = 1, .max = 4096 },
    { .name = "--resume", .type = OPTION_FLAG, .at = AT(resume),
      .help = "go on with what is in DIR: a killed sweep, or shards" },
    { .name = "--shard", .type = OPTION_STRING, .at = AT(shard),
      .value = "I/N",
      .help = "only every N-th point from the I-th on, for job arrays" },
    OPTION_FIGURE_LOOK(AT(look), NULL),
    { .name = "--html", .type = OPTION_OUT, .at = AT(html), .without = "--shard",
      .value = "FILE", .help = "one page with points and figures inside, for any browser" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "sweep",
    .arguments = "SWEEP --out DIR [OPTION]...",
    .summary = "Simulates a scenario at every point of a grid and draws what comes out.\n"
               "SWEEP is a file, or the name of one in scenarios/sweeps.",
    .details = "  smsim sweep bert-large-scaling --out /tmp/scaling\n"
               "  smsim sweep my-sweep.json --out out --resume --html out.html\n"
               "  mpirun -n 8 smsim sweep my-sweep.json --out out    (built with MPI=1)\n\n"
               "  { \"base\": \"bert-large-squad-2xp3.16xlarge-ddp\",\n"
               "    \"axes\": [ { \"path\": \"/cluster/count\", \"from\": 1, \"to\": 64, "
               "\"factor\": 2 },\n"
               "              { \"path\": \"/cluster/instance\",\n"
               "                \"values\": [\"p3.16xlarge\", \"p4d.24xlarge\"] } ],\n"
               "    \"keep\": \"feasible\", \"where\": [ \"/cluster/count <= 16\", "
               "\"mfu > 0.1\" ],\n"
               "    \"plots\": [ { \"file\": \"scaling.svg\", \"kind\": \"line\", \"x\": "
               "\"gpus\",\n"
               "                 \"y\": \"samples_per_s\", \"series\": "
               "\"/cluster/instance\" } ] }\n\n"
               "Each point is kept in DIR/journal as it is done. --resume runs what is "
               "missing there,\nand only draws again where just \"plots\" changed. With "
               "--shard, each of N runs fills\nDIR/journal-I-of-N; when all are done, "
               "--resume without --shard writes the whole.\n"
               "Points that failed because a file could not be read are run again. "
               "Results of another\nprogram, or of files that have changed since, are "
               "refused by name.\n\n"
               "Exit code 1 says that points failed.\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

/* Arguments */

static int wrong(const char *option, const char *what)
{
    report_linef(stderr, "smsim sweep: %s %s (see smsim sweep --help)", option, what);
    return EXIT_USAGE;
}

static int read_arguments(const struct arguments *args, struct sweep_shard *shard)
{
    char rest;
    *shard = (struct sweep_shard) { 1, 1 };
    if (!args->out || !args->out[0])
        return wrong("--out", "is missing: name a directory");
    if (args->shard && (sscanf(args->shard, "%" SCNd64 "/%" SCNd64 "%c", &shard->index,
                               &shard->count, &rest) != 2 ||
                        shard->index < 1 || shard->index > shard->count ||
                        shard->count > SWEEP_POINTS_MAX))
        return wrong("--shard", "should be I/N with I from 1 to N, such as 1/4");
    return EXIT_DONE;
}

/* The run */

struct sweep_job {
    struct cfg_loader loader;
    struct sweep sweep;
    struct sweep_figures *figures;
    struct sweep_journal journal;
    struct sweep_shard shard;
    struct page_sweep page;
};

static int load(struct sweep_job *w, const char *name)
{
    cfg_loader_init(&w->loader);
    int rc = sweep_load(&w->sweep, &w->loader, name);
    if (rc == 0)
        rc = sweep_check_paths(&w->sweep);
    w->figures = figure_sweep_new(&w->sweep);
    return rc | figure_sweep_read(w->figures);
}

static void release(struct sweep_job *w)
{
    figure_sweep_free(w->figures);
    sweep_release(&w->sweep);
}

static void add_record(void *arg, int64_t point, json_t *record)
{
    struct sweep_job *w = arg;
    figure_sweep_add(w->figures, point, record);
    if (w->page.sweep)
        page_sweep_add(&w->page, record);
}

/* What the points leave open. */
static void print_assumed(FILE *out, struct sweep_job *w)
{
    struct assumptions assumed = { 0 };
    sweep_assumed(&assumed, &w->sweep, &w->loader.arena);
    report_assumed(out, "assumed: ", &assumed);
}

static void print_all(struct sweep_job *w, const struct arguments *args,
                      const struct sweep_summary *sum)
{
    const char *dir = args->out;
    FILE *out = args->html && strcmp(args->html, "-") == 0 ? stderr : stdout;
    report_sweep_text(out, &w->sweep, sum);
    print_assumed(out, w);
    fprintf(out, "%s/points.csv\n%s/points.jsonl\n", dir, dir);
    figure_sweep_list(w->figures, out, dir);
}

/* Tables, figures, the page and the summary; the exit code, or -1. */
static int write_all(struct sweep_job *w, const struct arguments *args, struct err *err)
{
    struct sweep_summary sum;
    if (args->html)
        page_sweep_init(&w->page, &w->sweep);
    int rc = report_sweep_write(&w->sweep, &w->journal, &sum, add_record, w, err);
    if (rc == 0)
        rc = figure_sweep_write(w->figures, args->out, args->look, err);
    if (rc == 0 && args->html)
        rc = page_write(
            page_sweep_data(&w->page, args->name, args->out, w->figures, &sum),
            args->html, err);
    page_sweep_release(&w->page);
    if (rc == 0) {
        print_all(w, args, &sum);
        rc = sum.n_failed ? EXIT_UNFIT : EXIT_DONE;
    }
    sweep_summary_release(&sum);
    return rc;
}

static int finish(struct sweep_job *w, const struct arguments *args, struct err *err)
{
    if (w->shard.count == 1)
        return write_all(w, args, err);
    int64_t n = 0, failed = 0;
    for (int64_t k = 0; k < sweep_shard_size(w->shard, w->sweep.n_points); k++) {
        int64_t i = sweep_shard_point(w->shard, k);
        bool fails = sweep_journal_failed(&w->journal, i);
        n += fails || sweep_journal_has(&w->journal, i);
        failed += fails;
    }
    printf("shard %" PRId64 "/%" PRId64 ": %" PRId64 " points done, %" PRId64
           " failed; when all shards are, --resume without --shard writes the whole\n",
           w->shard.index, w->shard.count, n, failed);
    return failed ? EXIT_UNFIT : EXIT_DONE;
}

static void say_torn(const struct sweep_journal *j)
{
    for (int64_t i = 0; i < j->torn.n; i++)
        report_linef(
            stderr,
            "warning: %s: its last record was cut off, and is dropped: the point is "
            "run again",
            j->torn.v[i]);
}

/* On all ranks; rank 0 alone keeps the journal and writes. */
static int run(struct sweep_job *w, struct sweep_ranks *ranks,
               const struct arguments *args, struct err *err)
{
    bool first = ranks->rank == 0;
    int rc = first ? sweep_journal_open(&w->journal, &w->sweep, args->out, w->shard,
                                        args->resume, err)
                   : 0;
    if (first && rc == 0)
        say_torn(&w->journal);
    if (!sweep_mpi_agree(ranks, rc == 0))
        return -1;
    struct cmd_progress progress = cmd_progress_of("points", 0);
    const struct sweep_run r = {
        .sweep = &w->sweep,
        .journal = first ? &w->journal : NULL,
        .shard = w->shard,
        .jobs = (int)args->jobs,
        .progress = isatty(STDERR_FILENO) ? cmd_progress_show : NULL,
        .progress_arg = &progress,
    };
    rc = sweep_mpi_run(ranks, &r, err);
    if (ranks->n_lost > 0)
        report_linef(
            stderr,
            "warning: %d of %d ranks ended before their time: others ran their "
            "points",
            ranks->n_lost, ranks->n);
    if (first && rc == 0)
        rc = finish(w, args, err);
    if (first)
        sweep_journal_close(&w->journal);
    return rc;
}

static int sweep(struct sweep_ranks *ranks, int argc, char **argv)
{
    struct arguments args = { 0 };
    struct option_list words;
    struct sweep_job w = { 0 };
    struct err err = { 0 };
    int status = options_parse(&usage, argc, argv, &args, &words);
    if (status != OPTIONS_GO_ON)
        return status;
    args.name = words.values[0];
    status = read_arguments(&args, &w.shard);
    if (status)
        return status;
    bool loaded = load(&w, words.values[0]) == 0;
    cmd_warn(&w.loader);
    if (sweep_mpi_agree(ranks, loaded))
        status = run(&w, ranks, &args, &err);
    else
        status = loaded ? err_set(&err, "another rank cannot read the sweep") : -1;
    release(&w);
    if (status < 0)
        return cmd_fail(&w.loader, &err);
    cfg_loader_release(&w.loader);
    return status;
}

int cmd_sweep(int argc, char **argv)
{
    struct sweep_ranks ranks;
    struct err err = { 0 };
    if (sweep_mpi_start(&ranks, &err)) {
        report_linef(stderr, "smsim: %s", err.text);
        return EXIT_USAGE;
    }
    if (ranks.rank > 0 &&
        (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
        return EXIT_BAD_INPUT; /* rank 0 speaks for all */
    int status = sweep(&ranks, argc, argv);
    sweep_mpi_stop(&ranks, status);
    return status;
}
