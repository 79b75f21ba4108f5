/* smsim pilot: which measurement would help most to choose a plan. */
#include "base/err.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "doctor/bandwidth.h"
#include "doctor/contradictions.h"
#include "logs/logs.h"
#include "logs/steady.h"
#include "report/pilot.h"
#include "report/report.h"
#include "search/plan/given.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
    struct option_list sets, fixes, allows, measured;
    const char *json, *write;
    int64_t draws, seed;
    int objective, stacks;
};

#define AT(m) offsetof(struct arguments, m)

static const struct name_value objectives[] = { { "time", PLAN_TIME },
                                                { "cost", PLAN_COST },
                                                { NULL, 0 } };

/* clang-format off */
static const struct option options[] = {
    { .group = "Input",
      .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change the job: /training/precision=fp16" },
    { .name = "--measured", .type = OPTION_LIST, .at = AT(measured),
      .value = "NAME=LOG", .help = "what a measurement that was listed said; may be repeated" },
    { .group = "Which plans",
      .name = "--objective", .type = OPTION_ENUM, .at = AT(objective),
      .value = "WHAT", .names = objectives, .help = "time (default) or cost" },
    { .name = "--fix", .type = OPTION_LIST, .at = AT(fixes),
      .value = "FIELD=V", .help = "only plans with that: tensor=8" },
    { .name = "--allow", .type = OPTION_LIST, .at = AT(allows),
      .value = "FIELD=V,V", .help = "only plans with one of these" },
    { .name = "--for", .type = OPTION_BITS, .at = AT(stacks), .value = "STACK",
      .names = space_for_names, .help = "plans of that software, as plan names it" },
    { .group = "Uncertainty",
      .name = "--draws", .type = OPTION_INT, .at = AT(draws), .value = "N",
      .min = 20, .max = 4000, .help = "of what predictions do not know (400)" },
    { .name = "--seed", .type = OPTION_INT, .at = AT(seed), .value = "N",
      .min = 0, .max = 1e15, .help = "of the draws (0)" },
    { .group = "Output",
      .name = "--write", .type = OPTION_STRING, .at = AT(write),
      .value = "DIR", .help = "write the scenarios of the steps to measure there; it is made" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json), .value = "FILE",
      .help = "write the result as JSON; - is standard output" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "pilot",
    .arguments = "JOB [OPTION]...",
    .summary = "Which measurement would help most to choose a plan, and at what price: "
               "all-reduces\non some nodes, steps of plans on few nodes or on all.",
    .details = "The plans are those that smsim plan lists. A measurement is worth the regret that "
               "it is\nexpected to save, over draws of what predictions do not know. "
               "--measured gives back\nwhat one said: a log of nccl-tests, or of the "
               "trainer.\n\n"
               "  smsim pilot my.json --fix library=fsdp\n"
               "  smsim pilot my.json --fix library=fsdp --write steps\n"
               "  smsim pilot my.json --fix library=fsdp --measured all-reduce-2=nccl.log\n",
    .options = options,
    .min_positional = 1,
    .max_positional = 1,
};
/* clang-format on */

struct piloting {
    const struct arguments *args;
    const char *name;
    struct cfg_loader loader;
    struct plan_job job;
    struct plan_outcome outcome;
    struct plan_pilot pilot;
    struct err err;
};

/* Plans ----------------------------------------------------------------------------- */

static int find_plans(struct piloting *w)
{
    const struct arguments *a = w->args;
    const struct script_options how = { .sets = &a->sets };
    struct scenario s;
    struct cfg root;
    if (script_scenario(&s, &root, &w->loader, w->name, &how))
        return -1;
    const struct plan_request r = {
        .scenario = root,
        .stacks = a->stacks,
        .fixes = { a->fixes.n, a->fixes.values },
        .allows = { a->allows.n, a->allows.values },
    };
    const struct plan_options o = {
        .objective = (enum plan_objective)a->objective,
        .listed = PLAN_PILOT_PLANS,
        .simulate_most = 100,
        .risk = { .rule = RISK_MEAN,
                  .draws = a->draws ? (int32_t)a->draws : 400,
                  .seed = a->seed > 0 ? a->seed : 0 },
    };
    if (plan_job_init(&w->job, &w->loader, &r) ||
        plan_given_budget(&w->job, &o, &w->err) ||
        plan_search(&w->outcome, &w->loader.arena, &w->job, &o, &w->err))
        return -1;
    if (w->outcome.n_entries == 0)
        return err_set(&w->err, "no plan fits (smsim plan says what is missing)");
    plan_pilot_make(&w->pilot, &w->job, &w->outcome, &o);
    return 0;
}

/* What was measured ----------------------------------------------------------------- */

/* The logarithm of measured over predicted time, the median of sizes from 1 MiB. */
static int said_by_collective(double *said, struct piloting *w,
                              const struct plan_measure *m, const char *file)
{
    struct samples_hints hints = { .op = COLL_ALL_REDUCE };
    struct samples samples;
    struct cluster cluster;
    struct bandwidth b = { .n_fits = 0 };
    char text[160];
    double ratios[256];
    size_t n = 0;
    snprintf(text, sizeof(text), "%s:%" PRId64, m->instance, m->nodes);
    int rc = cluster_parse(&cluster, &w->loader, text);
    hints.n_ranks_asked = rc ? 0 : m->nodes * cluster.groups[0].gpus_per_instance;
    samples_init(&samples, &w->loader, &hints);
    rc = rc || samples_load(&samples, file, &hints);
    if (rc == 0)
        samples_place(&samples, cluster.groups[0].gpus_per_instance);
    char option[200];
    snprintf(option, sizeof(option), "--measured %s", m->name);
    const struct bandwidth_ask ask = { .cluster = &cluster,
                                       .op = COLL_ALL_REDUCE,
                                       .given_by = option };
    rc = rc || bandwidth_judge(&b, &w->loader, &ask, &samples, &w->err);
    for (int64_t i = 0; i < b.rows.n && n < 256; i++)
        if (b.rows.v[i].size_B >= 1 << 20)
            ratios[n++] = log(b.rows.v[i].measured_s / b.rows.v[i].predicted_s);
    bandwidth_release(&b);
    samples_release(&samples);
    if (rc)
        return -1;
    if (n == 0)
        return err_set(&w->err, "--measured %s: the log has no size from 1 MiB",
                       m->name);
    gsl_sort(ratios, 1, n);
    *said = gsl_stats_median_from_sorted_data(ratios, 1, n);
    return 0;
}

static int said_by_step(double *said, struct piloting *w, const struct plan_measure *m,
                        const char *file)
{
    const struct plan_entry *e = &w->outcome.entries[m->plan];
    double share = (double)m->nodes / (double)e->point.v[SPACE_COUNT];
    const struct logs_step does = {
        .samples = e->result.samples_per_s * e->result.step_time_s * share,
        .tokens = e->result.tokens_per_s * e->result.step_time_s * share,
        .gpus = (double)e->point.world * share,
        .passes = (double)e->point.accumulation,
    };
    struct logs l;
    logs_init(&l);
    int rc = logs_read(&l, file, &w->err);
    struct logs_steady s = { .n = 0 };
    if (!rc)
        s = logs_steady_find(&l, &does);
    if (!rc && m->tree)
        doctor_contradictions_warn(
            &w->loader, arena_printf(&w->loader.arena, "--measured %s", m->name),
            m->tree, &l);
    logs_release(&l);
    if (rc)
        return -1;
    if (s.n == 0)
        return err_set(&w->err, "--measured %s: %s has no time of a step", m->name,
                       file);
    *said = log(s.median_s / m->predicted.step_time_s);
    return 0;
}

static int learn(struct piloting *w, const char *text)
{
    char name[32];
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : strlen(text);
    double said;
    snprintf(name, sizeof(name), "%.*s", n < 31 ? (int)n : 31, text);
    struct plan_measure *m = equals ? plan_pilot_find(&w->pilot, name) : NULL;
    if (!m)
        return err_set(&w->err, "--measured %s: %s", name,
                       equals ? "no measurement of that name is listed"
                              : "is NAME=LOG, with a name that is listed");
    if (m->done)
        return err_set(&w->err, "--measured %s: is given twice", name);
    int rc = m->plan < 0 ? said_by_collective(&said, w, m, equals + 1)
                         : said_by_step(&said, w, m, equals + 1);
    if (rc)
        return -1;
    if (!isfinite(said))
        return err_set(&w->err, "--measured %s: has no time above zero", name);
    plan_pilot_learn(&w->pilot, m, said);
    return 0;
}

/* What is written ------------------------------------------------------------------- */

static int write_steps(struct piloting *w)
{
    const char *dir = w->args->write;
    if (dir && mkdir(dir, 0777) && errno != EEXIST)
        return err_set(&w->err, "--write %s: %s", dir, strerror(errno));
    for (int32_t i = 0; i < w->pilot.n && w->args->write; i++) {
        const struct plan_measure *m = &w->pilot.of[i];
        const char *file =
            arena_printf(&w->loader.arena, "%s/%s.json", w->args->write, m->name);
        if (m->tree && report_json_write(m->tree, file, &w->err))
            return -1;
    }
    return 0;
}

/* The options by which the same plans are found again. */
static const char *command_of(struct piloting *w)
{
    struct arena *arena = &w->loader.arena;
    const struct {
        const char *option;
        const struct option_list *of;
    } lists[] = { { "--set", &w->args->sets },
                  { "--fix", &w->args->fixes },
                  { "--allow", &w->args->allows },
                  { "--measured", &w->args->measured } };
    const char *text = w->name;
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++)
        for (int32_t i = 0; i < lists[l].of->n; i++)
            text = arena_printf(arena, "%s %s %s", text, lists[l].option,
                                lists[l].of->values[i]);
    if (w->args->objective == PLAN_COST)
        text = arena_printf(arena, "%s --objective cost", text);
    const char *comma = " --for ";
    for (int32_t left = w->args->stacks, i = 0; space_for_names[i].name; i++) {
        if (!(left & space_for_names[i].value))
            continue;
        left &= ~space_for_names[i].value;
        text = arena_printf(arena, "%s%s%s", text, comma, space_for_names[i].name);
        comma = ",";
    }
    return text;
}

static int print(struct piloting *w)
{
    const struct report_pilot r = { &w->job, &w->outcome, &w->pilot, command_of(w) };
    if (!w->args->json || strcmp(w->args->json, "-") != 0)
        report_pilot_text(stdout, &r);
    if (!w->args->json)
        return 0;
    json_t *tree = contract_result(&report_pilot_contract, &r);
    int rc = report_json_write(tree, w->args->json, &w->err);
    json_decref(tree);
    return rc;
}

static int run(struct piloting *w)
{
    if (find_plans(w))
        return -1;
    for (int32_t i = 0; i < w->args->measured.n; i++)
        if (learn(w, w->args->measured.values[i]))
            return -1;
    plan_pilot_rank(&w->pilot);
    cmd_warn(&w->loader);
    return write_steps(w) || print(w) ? -1 : 0;
}

int cmd_pilot(int argc, char **argv)
{
    struct arguments args = { .seed = -1 };
    struct option_list names;
    int status = options_parse(&usage, argc, argv, &args, &names);
    if (status != OPTIONS_GO_ON)
        return status;
    struct piloting w = { .args = &args, .name = names.values[0] };
    cfg_loader_init(&w.loader);
    bool failed = run(&w) != 0;
    plan_pilot_release(&w.pilot);
    plan_job_release(&w.job);
    if (failed)
        return cmd_fail_json(&w.loader, w.err.set ? &w.err : NULL, "pilot", args.json);
    cfg_loader_release(&w.loader);
    return EXIT_DONE;
}
