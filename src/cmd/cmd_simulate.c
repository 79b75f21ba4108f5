/* smsim simulate: step time, memory and cost of one training job. */
#include "base/clock.h"
#include "base/err.h"
#include "base/units.h"
#include "campaign/campaign.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/schedules.h"
#include "cmd/script.h"
#include "cmd/simulate_replay.h"
#include "dialect/dialect.h"
#include "dialect/emit/emit_scenario.h"
#include "page/page.h"
#include "page/step.h"
#include "report/figure/job.h"
#include "report/figure/step.h"
#include "report/report.h"
#include "simulate/fit.h"
#include "trace/chakra.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct option_list sets;
    const char *price;
    char price_set[64]; /* the price as one of `sets` */
    int network, emit;
    bool unfold, timing;
    const char *json, *estimator, *trace, *chakra, *trace_in;
    const char *plots[STEP_FIGURES], *plot_job, *plot_schedules, *html;
    struct draw_look look; /* of figures */
    struct cfg scenario;   /* as it was read */
    int64_t trace_ranks;
    struct campaign campaign;
    struct campaign_result beyond;
};

/* clang-format off */
#define AT(m) offsetof(struct arguments, m)
#define PLOT_AT(figure) .at = AT(plots) + (figure) * sizeof(const char *)

static const struct option options[] = {
    { .group = "Input",
      .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change the scenario: /cluster/count=4" },
    { .name = "--price", .without = "--emit", .type = OPTION_STRING, .at = AT(price),
      .value = "PRICE", .help = "your own price of an instance: 60USD/h" },
    { .name = "--estimator", .type = OPTION_STRING,
      .at = AT(estimator), .value = "NAME",
      .help = "of a launch script with several: the variable that holds it" },
    { .name = "--trace-in", .without = "--emit", .type = OPTION_STRING,
      .at = AT(trace_in), .value = "TRACE",
      .help = "replay on the scenario's cluster instead: a folder of Chakra traces of all "
              "ranks, or a trace of PyTorch's profiler" },
    { .group = "Fidelity",
      .name = "--network", .without = "--emit", .type = OPTION_ENUM, .at = AT(network),
      .value = "FIDELITY", .help = "analytic, flow (default) or chunk",
      .names = fidelity_names },
    { .name = "--unfold", .without = "--emit", .type = OPTION_FLAG, .at = AT(unfold),
      .help = "simulate every rank, also those that are equal" },
    { .group = "Output",
      .name = "--json", .without = "--emit", .type = OPTION_OUT, .at = AT(json),
      .value = "FILE", .help = "write the result as JSON; - is standard output" },
    { .name = "--html", .without = "--emit", .type = OPTION_OUT, .at = AT(html),
      .value = "FILE", .help = "write all of it as one page; a .json gets its data alone" },
    { .name = "--emit", .type = OPTION_ENUM, .at = AT(emit), .value = "DIALECT",
      .list = dialect_emit_names,
      .help = "write it as %s instead" },
    { .name = "--timing", .without = "--emit", .type = OPTION_FLAG, .at = AT(timing),
      .help = "say how long the simulation took" },
    { .group = "Figures",
      .name = "--plot", .without = "--emit", .type = OPTION_OUT, PLOT_AT(STEP_TIMELINE),
      .value = "FILE", .help = "draw what happens when (.svg, .png or .pdf)" },
    { .name = "--plot-memory", .without = "--emit", .type = OPTION_OUT, PLOT_AT(STEP_MEMORY),
      .value = "FILE", .help = "draw the memory of the fullest stage over time" },
    { .name = "--plot-stages", .without = "--emit", .type = OPTION_OUT, PLOT_AT(STEP_STAGES),
      .value = "FILE", .help = "draw the memory of each stage at its fullest" },
    { .name = "--plot-breakdown", .without = "--emit", .type = OPTION_OUT, PLOT_AT(STEP_BREAKDOWN),
      .value = "FILE", .help = "draw where the time of the step goes" },
    { .name = "--plot-usage", .without = "--emit", .type = OPTION_OUT, PLOT_AT(STEP_USAGE),
      .value = "FILE",
      .help = "draw how busy GPU, host, network and NVLink are over time" },
    { .name = "--plot-schedules", .without = "--emit", .type = OPTION_OUT,
      .at = AT(plot_schedules), .value = "FILE",
      .help = "draw the step under each schedule that its library has" },
    { .name = "--plot-job", .without = "--emit", .type = OPTION_OUT,
      .at = AT(plot_job), .value = "FILE",
      .help = "draw the phases of the whole job, and what is billed" },
    OPTION_FIGURE_LOOK(AT(look), "--plot*"),
    { .group = "Traces",
      .name = "--trace", .without = "--emit", .type = OPTION_OUT, .at = AT(trace),
      .value = "FILE",
      .help = "write what happened when, for Perfetto (.json or .json.gz)" },
    { .name = "--trace-ranks", .without = "--emit", .type = OPTION_INT,
      .at = AT(trace_ranks), .with = "--trace", .value = "N",
      .help = "simulated ranks in the trace (64)", .min = 1, .max = 1 << 20 },
    { .name = "--chakra", .without = "--emit", .type = OPTION_OUT_DIR, .at = AT(chakra),
      .value = "DIR",
      .help = "write every rank's Chakra execution trace, for ASTRA-sim" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "simulate",
    .arguments = "SCENARIO [OPTION]...",
    .summary = "How long a training step takes, whether it fits in memory and what it "
               "costs.\nSCENARIO is a file, - for standard input, the name of a shipped "
               "scenario, a\nlaunch script, read and never run (SageMaker's .py, or .txt with a "
               "notebook's cells; a\nshell's .sh, .slurm or .sbatch that starts Megatron-LM "
               "or the Trainer), or\nDeepSpeed's ds_config.json: what these do not say, "
               "--set does.",
    .details = "  smsim simulate bert-large-squad-2xp3.16xlarge\n"
               "  smsim simulate my.json --set /cluster/count=4 --json result.json\n"
               "  smsim simulate launch.py --set /training/sequence_length=384\n"
               "  smsim simulate pretrain_gpt.sh --set /cluster/instance=p4d.24xlarge\n"
               "  smsim simulate ds_config.json --set /model=gpt2-xl \\\n"
               "      --set /cluster/instance=p4d.24xlarge --set /cluster/count=2 \\\n"
               "      --set /training/sequence_length=1024\n\n"
               "Exit code 1 says that the job does not fit in memory, or that --emit has no\n"
               "words for it. What --emit writes names what it cannot hold, as --set takes it.\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

/* The price is /cluster/price, said last. */
static void set_price(struct arguments *args)
{
    if (!args->price || args->sets.n == OPTION_LIST_MAX)
        return;
    snprintf(args->price_set, sizeof(args->price_set), "/cluster/price=%s",
             args->price);
    args->sets.values[args->sets.n++] = args->price_set;
}

/* What a launch script says comes before the result. */
static int read_scenario(struct scenario *s, struct cfg_loader *loader,
                         const char *name, struct arguments *args)
{
    const struct script_options how = {
        .sets = &args->sets,
        .estimator = args->estimator,
        .log = args->emit || (args->json && strcmp(args->json, "-") == 0) ? stderr
                                                                          : stdout,
    };
    int rc = script_scenario(s, &args->scenario, loader, name, &how);
    return rc ? rc : campaign_read(&args->campaign, s);
}

static int write_json(const struct scenario *s, const struct simulate_result *r,
                      const struct arguments *args, double wall_s, struct err *err)
{
    struct simulate_result timed = *r;
    timed.wall_s = args->timing ? wall_s : 0;
    json_t *tree = report_step_json(s, &timed, &args->beyond);
    int rc = report_json_write(tree, args->json, err);
    json_decref(tree);
    return rc;
}

static int print(const struct scenario *s, const struct simulate_result *r,
                 const struct arguments *args, double wall_s, struct err *err)
{
    if (args->json && write_json(s, r, args, wall_s, err))
        return -1;
    if (args->json && strcmp(args->json, "-") == 0)
        return 0;
    report_step_text(stdout, s, r, &args->beyond);
    if (args->timing)
        printf("\nsimulated in %.3f s of wall-clock time\n", wall_s);
    return 0;
}

static bool plots_any(const struct arguments *args)
{
    for (int i = 0; i < STEP_FIGURES; i++)
        if (args->plots[i])
            return true;
    return args->html != NULL;
}

static int draw(const struct step_figures *f, const struct scenario *s,
                const struct simulate_result *r, const struct arguments *args,
                struct err *err)
{
    for (int i = 0; i < STEP_FIGURES; i++)
        if (args->plots[i] &&
            figure_step_write(f, (enum step_figure)i, s, r,
                              &(struct draw_to) { args->plots[i], args->look }, err))
            return -1;
    return args->html
               ? page_write(page_step(f, s, r, &args->beyond, args->scenario.json),
                            args->html, err)
               : 0;
}

static int simulate_all(struct simulate_result *r, struct cfg_loader *loader,
                        const struct scenario *s, const struct observer *observer,
                        struct arguments *args, struct err *err)
{
    const enum fidelity network = (enum fidelity)args->network;
    struct cmd_progress progress = cmd_progress_of("draws", 0.5);
    struct cmd_progress tasks = cmd_progress_of("tasks", 0.5);
    const bool interactive = isatty(STDERR_FILENO);
    const struct simulate_options step = {
        .network = network,
        .unfold = args->unfold,
        .observer = observer,
        .watch = { interactive ? cmd_progress_show : NULL, &tasks }
    };
    const struct uncertainty_draws draws = {
        .network = network,
        .unfold = args->unfold,
        .progress = interactive ? cmd_progress_show : NULL,
        .arg = &progress,
    };
    const struct campaign_how how = { &step, &draws, interval_table_get(loader) };
    int rc = campaign_simulate(r, &args->beyond, loader, &args->campaign, s, &how, err);
    if (rc == 0)
        simulate_remedies(r, &loader->arena, s, args->scenario.json);
    return rc;
}

/* Simulates, with those who watch. */
static int run(struct simulate_result *r, struct cfg_loader *loader,
               const struct scenario *s, struct arguments *args, struct err *err)
{
    const struct observer *observer = NULL;
    struct trace *trace = NULL;
    struct step_figures *figures = NULL;
    for (int i = 0; i < STEP_FIGURES; i++)
        if (args->plots[i] && draw_check_name(args->plots[i], err))
            return -1;
    if (args->plot_job && draw_check_name(args->plot_job, err))
        return -1;
    if (args->trace) {
        trace = trace_new(args->trace, args->trace_ranks, err);
        if (!trace)
            return -1;
        observer = trace_observer(trace);
    }
    if (plots_any(args)) {
        figures = figure_step_new(observer);
        observer = figure_step_observer(figures);
    }
    int rc = simulate_all(r, loader, s, observer, args, err);
    if (trace && rc)
        trace_abandon(trace);
    else if (trace)
        rc = trace_close(trace, err);
    if (figures && rc == 0)
        rc = draw(figures, s, r, args, err);
    if (args->plot_job && rc == 0)
        rc = figure_job_write(s, &args->beyond.job,
                              &(struct draw_to) { args->plot_job, args->look }, err);
    if (args->plot_schedules && rc == 0)
        rc = schedules_plot(args->scenario,
                            &(struct draw_to) { args->plot_schedules, args->look },
                            stderr, err);
    figure_step_free(figures);
    return rc;
}

static int export_chakra(struct cfg_loader *loader, const struct scenario *s,
                         const struct arguments *args, struct err *err)
{
    struct chakra_counts n;
    if (!args->chakra)
        return 0;
    if (chakra_export(&n, args->chakra, &loader->arena, s, err))
        return -1;
    report_linef(stderr,
                 "%s: %" PRId64 " rank%s, %" PRId64 " node%s, %" PRId64 " group%s",
                 args->chakra, n.ranks, units_plural(n.ranks), n.nodes,
                 units_plural(n.nodes), n.groups, units_plural(n.groups));
    return 0;
}

/* The scenario in a dialect, in place of its simulation. */
static int emit(struct cfg_loader *loader, const struct scenario *s,
                const struct arguments *args)
{
    struct emitted e;
    struct err err = { 0 };
    const struct dialect_emit *how = &dialect_emitted(args->emit)->emit;
    int rc = emit_scenario(&e, how, s, args->scenario, &err);
    if (rc == 0) {
        emit_print(&e, how->name);
        emit_release(&e);
    } else {
        report_linef(stderr, "smsim simulate: --emit %s: %s", how->name, err.text);
    }
    cmd_warn(loader);
    cfg_loader_release(loader);
    return rc ? EXIT_UNFIT : EXIT_DONE;
}

/* An option that does nothing where traces are replayed; NULL. */
static const char *unheeded_by_replay(const struct arguments *a)
{
    const struct {
        bool given;
        const char *name;
    } options_of[] = {
        { a->trace, "--trace" },
        { a->chakra, "--chakra" },
        { a->plot_job, "--plot-job" },
        { a->plot_schedules, "--plot-schedules" },
        { a->unfold, "--unfold" },
        { a->timing, "--timing" },
        { a->network != FIDELITY_FLOW, "--network" },
        { plots_any(a), "--plot and --html" },
    };
    for (size_t i = 0; i < sizeof(options_of) / sizeof(options_of[0]); i++)
        if (options_of[i].given)
            return options_of[i].name;
    return NULL;
}

/* Traces in place of the scenario's step. */
static int replay(struct cfg_loader *loader, const struct scenario *s,
                  const struct arguments *args)
{
    struct err err = { 0 };
    const char *unheeded = unheeded_by_replay(args);
    if (unheeded)
        err_set(&err, "--trace-in: %s does nothing with it", unheeded);
    if (unheeded || simulate_replay(loader, s, args->trace_in, args->json, &err))
        return cmd_fail_json(loader, &err, "simulate", args->json);
    cmd_warn(loader);
    cfg_loader_release(loader);
    return EXIT_DONE;
}

int cmd_simulate(int argc, char **argv)
{
    struct arguments args = { .network = FIDELITY_FLOW, .trace_ranks = TRACE_RANKS };
    struct option_list words;
    int done = options_parse(&usage, argc, argv, &args, &words);
    if (done != OPTIONS_GO_ON)
        return done;

    double start_s = clock_s();
    struct cfg_loader loader;
    struct scenario s = { 0 };
    struct simulate_result r;
    struct err err = { 0 };
    set_price(&args);
    cfg_loader_init(&loader);
    if (read_scenario(&s, &loader, words.values[0], &args))
        return cmd_fail_json(&loader, NULL, "simulate", args.json);
    if (args.emit)
        return emit(&loader, &s, &args);
    if (args.trace_in)
        return replay(&loader, &s, &args);
    if (run(&r, &loader, &s, &args, &err) || export_chakra(&loader, &s, &args, &err))
        return cmd_fail_json(&loader, &err, "simulate", args.json);
    if (print(&s, &r, &args, clock_s() - start_s, &err))
        return cmd_fail_json(&loader, &err, "simulate", args.json);
    cfg_loader_release(&loader);
    return r.memory.fits ? EXIT_DONE : EXIT_UNFIT;
}
