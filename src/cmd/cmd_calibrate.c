/* smsim calibrate: measurements to a profile of a GPU or of a fabric. */
#include "cmd/cmd.h"

#include "base/err.h"
#include "base/file.h"
#include "calibrate/calibration.h"
#include "cmd/calibrate_sets.h"
#include "cmd/calibrate_trace.h"
#include "cmd/options.h"
#include "config/datadir.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct arguments {
    const char *out, *base, *instance, *device, *trace, *scenario;
    struct option_list sets;
    int op;
    int64_t ranks, nodes;
    bool fabric;
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .group = "Measurements",
      .name = "--instance", .type = OPTION_STRING, .at = AT(instance),
      .value = "I[:N]", .help = "machine that the collectives ran on" },
    { .name = "--op", .type = OPTION_ENUM, .at = AT(op),
      .value = "OP", .names = coll_op_names,
      .help = "operation of a log that does not say" },
    { .name = "--ranks", .type = OPTION_INT, .at = AT(ranks),
      .value = "N", .min = 1, .max = 1 << 20,
      .help = "ranks of a log that does not say" },
    { .name = "--nodes", .type = OPTION_INT, .at = AT(nodes),
      .value = "N", .min = 1, .max = 1 << 20,
      .help = "nodes of a log that does not say" },
    { .name = "--device", .type = OPTION_STRING, .at = AT(device),
      .value = "TEXT", .help = "only what was measured on devices named so" },
    { .group = "Or a trace",
      .name = "--trace", .type = OPTION_STRING, .at = AT(trace),
      .value = "FILE", .help = "a trace of PyTorch's profiler, in place of MEASUREMENTS" },
    { .name = "--scenario", .type = OPTION_STRING, .at = AT(scenario),
      .value = "JOB", .help = "the job of the trace: whatever simulate takes" },
    { .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change that job: /cluster/count=4" },
    { .group = "The profile",
      .name = "--base", .type = OPTION_STRING, .at = AT(base),
      .value = "NAME",
      .help = "GPU or fabric whose terms are kept where nothing was measured" },
    { .name = "--fabric", .type = OPTION_FLAG, .at = AT(fabric),
      .help = "fit the collectives, though there are kernels, too" },
    { .name = "--out", .type = OPTION_OUT, .at = AT(out),
      .value = "FILE", .help = "the profile (\"-\": standard output)" },
    { .name = NULL },
};
/* clang-format on */

static const struct usage usage = {
    .command = "calibrate",
    .arguments = "MEASUREMENTS... | --trace FILE --scenario JOB --out FILE [OPTION]...",
    .summary =
        "Fits what was measured, and writes the profile of a GPU (topologies/gpus) "
        "or, from\ncollectives, of a fabric (topologies/fabrics).",
    .details =
        "MEASUREMENTS are output of smsim-measure, tables of products, attention,\n"
        "dispatch and combine, experts or collectives (CSV), or logs of nccl-tests "
        "(text or "
        "JSON). A term with too "
        "little\n"
        "data keeps what the base profile has, and says so.\n\n"
        "  smsim calibrate h200.json --out topologies/gpus/H200-mine.json\n"
        "  smsim calibrate all_reduce.log --instance p4d.24xlarge:2 --out "
        "efa-mine.json\n"
        "  smsim calibrate --trace rank0.pt.trace.json.gz --scenario my.json --out "
        "mine.json\n"
        "  smsim simulate my.json --set /cluster/gpu=mine.json --set "
        "/cluster/count=8\n",
    .options = options,
    .min_positional = 0,
    .max_positional = OPTION_LIST_MAX,
};

/* The table ------------------------------------------------------------------------ */

static void value_text(char buf[UNITS_TEXT_MAX], const struct calibration_term *t,
                       double v)
{
    if (isnan(v))
        snprintf(buf, UNITS_TEXT_MAX, "-");
    else if (t->is_flag)
        snprintf(buf, UNITS_TEXT_MAX, "%s", v != 0 ? "yes" : "no");
    else if (t->unit == UNIT_NONE)
        snprintf(buf, UNITS_TEXT_MAX, "%.4g", v);
    else if (t->unit == UNIT_SECONDS)
        snprintf(buf, UNITS_TEXT_MAX, "%.4g us", v * 1e6);
    else if (t->unit == UNIT_BYTES_PER_S)
        snprintf(buf, UNITS_TEXT_MAX, "%.4g GB/s", v / 1e9);
    else
        units_bytes_text(buf, v);
}

static void print_term(FILE *out, const struct calibration_term *t)
{
    char value[UNITS_TEXT_MAX], base[UNITS_TEXT_MAX], half[UNITS_TEXT_MAX + 4] = "";
    value_text(value, t, t->value);
    value_text(base, t, t->base);
    if (t->half > 0) {
        char width[UNITS_TEXT_MAX];
        value_text(width, t, t->half);
        snprintf(half, sizeof(half), "-+ %s", width);
    }
    fprintf(out, "  %-15s %-19s %12s  %-14s %12s  %6" PRId64 "%s%s\n", t->group,
            t->name, value, half, base, t->n, t->why ? "  " : "", t->why ? t->why : "");
}

/* The halves are those of 95 % confidence; the rate's is that of the last. */
static void print_link(FILE *out, const struct calibration_link *l)
{
    fprintf(out, "  %-34s %8.2f us -+ %.2g, then ", l->name, l->alpha_s * 1e6,
            l->alpha_half_s * 1e6);
    for (int32_t i = 0; i <= l->n_knees; i++) {
        if (isinf(l->rate_Bps[i]))
            fprintf(out, "no time a byte");
        else
            fprintf(out, "%.4g GB/s", l->rate_Bps[i] / 1e9);
        if (i == l->n_knees && isfinite(l->rate_Bps[i]))
            fprintf(out, " -+ %.2g", l->rate_half_Bps / 1e9);
        if (i < l->n_knees) {
            char knee[UNITS_TEXT_MAX];
            fprintf(out, " to %s, ", units_bytes_text(knee, l->knee_B[i]));
        }
    }
    fprintf(out, " (%" PRId64 " sizes, median %.1f %%)\n", l->n, 100 * l->median);
}

static void print_calibration(FILE *out, const struct calibration *c,
                              const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->files.v[i]);
    if (s->device)
        fprintf(out, ": %s", s->device);
    if (s->date)
        fprintf(out, ", %s", s->date);
    fprintf(out, "\nterms without data are those of %s\n", c->base);
    for (int64_t i = 0; i < s->notes.n; i++)
        fprintf(out, "%s\n", s->notes.v[i]);
    if (s->n_failed)
        fprintf(out, "%" PRId64 " measurements had failed and are left out\n",
                s->n_failed);
    fprintf(out, "\n  %-15s %-19s %12s  %-14s %12s  %6s\n", "of", "term", "value",
            "95 %", "was", "n");
    for (int64_t i = 0; i < c->terms.n; i++)
        print_term(out, &c->terms.v[i]);
    if (c->figures.n)
        fprintf(out, "\n  %-34s %6s %8s %8s %8s %8s %10s\n", "predicted / measured - 1",
                "n", "median", "mean", "p90", "bias", "was median");
    for (int64_t i = 0; i < c->figures.n; i++) {
        const struct calibration_figure *f = &c->figures.v[i];
        fprintf(out,
                "  %-34s %6" PRId64 " %6.1f %% %6.1f %% %6.1f %% %+6.1f %% %8.1f %%\n",
                f->of, f->n, 100 * f->median, 100 * f->mean, 100 * f->p90,
                100 * f->bias, 100 * f->base_median);
    }
    if (c->links.n)
        fprintf(out, "\n  time of a transfer: latency, then bytes over a rate\n");
    for (int64_t i = 0; i < c->links.n; i++)
        print_link(out, &c->links.v[i]);
}

/* What is fitted ------------------------------------------------------------------- */

struct work {
    const struct arguments *args;
    struct cfg_loader loader;
    struct samples samples;
    struct calibration found;
    struct cfg file; /* the base profile */
    struct err err;
};

static struct cfg named(struct work *w, const char *option, const char *name)
{
    return cfg_from_tree(&w->loader, option, json_string(name));
}

static int fit_gpu(struct work *w)
{
    const struct samples *s = &w->samples;
    const char *name = w->args->base;
    if (!name && s->device)
        name = calibration_gpu_of(&w->loader.arena, s->device, s->memory_B);
    if (!name)
        return err_set(&w->err,
                       s->device
                           ? "no GPU of topologies/gpus resembles \"%s\": name one by "
                             "--base (smsim list gpus)"
                           : "%s names no device: name the GPU by --base (smsim list "
                             "gpus)",
                       s->device ? s->device : s->file);
    struct cfg where = named(w, "--base", name);
    const struct gpu *base = gpu_get(&w->loader, name, where);
    if (!base)
        return -1;
    struct gpu gpu = *base;
    w->file = datadir_load(&w->loader, "topologies/gpus", name, where);
    return calibrate_gpu(&w->found, &gpu, s, &w->err);
}

static bool has_nodes(const struct samples *s)
{
    for (int64_t i = 0; i < s->colls.n; i++)
        if (s->colls.v[i].n_nodes > 1)
            return true;
    return false;
}

static int fit_fabric(struct work *w)
{
    struct cluster cluster;
    if (!w->args->instance)
        return err_set(&w->err, "say which machine the collectives ran on: --instance "
                                "I[:N] (smsim list instances)");
    if (cluster_parse(&cluster, &w->loader, w->args->instance))
        return -1;
    samples_place(&w->samples, cluster.groups[0].gpus_per_instance);
    const struct fabric *base =
        has_nodes(&w->samples) ? cluster.fabric : cluster.groups[0].instance->inside;
    if (w->args->base)
        base = fabric_get(&w->loader, w->args->base, named(w, "--base", w->args->base));
    if (!base)
        return w->args->base ? -1
                             : err_set(&w->err, "%s has no such network",
                                       cluster.groups[0].instance->name);
    w->found.machine = w->args->instance;
    struct fabric fabric = *base;
    w->file = datadir_load(&w->loader, "topologies/fabrics", base->name,
                           named(w, "--base", base->name));
    return calibrate_fabric(&w->found, &fabric, &cluster, &w->samples, &w->err);
}

static int load_all(struct work *w, const struct option_list *files)
{
    const struct samples_hints hints = { .device = w->args->device,
                                         .op = w->args->op,
                                         .n_ranks = w->args->ranks,
                                         .n_nodes = w->args->nodes };
    samples_init(&w->samples, &w->loader, &hints);
    for (int32_t i = 0; i < files->n; i++)
        if (samples_load(&w->samples, files->values[i], &hints))
            return -1;
    return w->loader.diags.n_errors ? -1 : 0;
}

/* What of the command line cannot be, into `text`; false: nothing. */
static bool is_misplaced(char text[160], const struct arguments *a,
                         const struct option_list *files)
{
    const struct {
        const char *option;
        bool of_trace, given;
    } rows[] = {
        { "--base", false, a->base },        { "--device", false, a->device },
        { "--fabric", false, a->fabric },    { "--instance", false, a->instance },
        { "--op", false, a->op >= 0 },       { "--ranks", false, a->ranks > 0 },
        { "--nodes", false, a->nodes > 0 },  { "MEASUREMENTS", false, files->n > 0 },
        { "--scenario", true, a->scenario }, { "--set", true, a->sets.n > 0 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].given && rows[i].of_trace != (a->trace != NULL)) {
            snprintf(text, 160, "%s: does nothing with%s --trace (leave it out)",
                     rows[i].option, a->trace ? "" : "out");
            return true;
        }
    if (a->trace && !a->scenario)
        snprintf(text, 160, "--trace: of which job? (give --scenario JOB)");
    else if (!a->trace && files->n == 0)
        snprintf(text, 160,
                 "which measurements? (files, or --trace FILE --scenario JOB)");
    else
        return false;
    return true;
}

static int fit_trace(struct work *w)
{
    const char *to = w->args->out;
    const struct calibrate_trace t = { w->args->trace, w->args->scenario,
                                       &w->args->sets };
    return calibrate_from_trace(to && strcmp(to, "-") == 0 ? stderr : stdout, &t,
                                &w->found, &w->file, &w->samples, &w->loader, &w->err);
}

/* What of the command line is for collectives, where kernels are fitted. */
static void warn_of_collectives(struct work *w)
{
    const struct arguments *a = w->args;
    const struct {
        const char *option;
        bool given;
    } rows[] = { { "--instance", a->instance != NULL },
                 { "--op", a->op >= 0 },
                 { "--ranks", a->ranks > 0 },
                 { "--nodes", a->nodes > 0 } };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].given)
            diags_warn(&w->loader.diags, DIAG_WITHOUT_EFFECT,
                       "%s: does nothing, as kernels are fitted (--fabric fits the "
                       "collectives)",
                       rows[i].option);
}

static int calibrate(struct work *w)
{
    const struct samples *s = &w->samples;
    bool kernels = s->gemms.n + s->streams.n + s->flashes.n + s->clocks.n > 0;
    if (kernels && !w->args->fabric)
        warn_of_collectives(w);
    if (kernels && !w->args->fabric ? fit_gpu(w) : fit_fabric(w))
        return -1;
    if (w->loader.diags.n_errors || calibrate_links(&w->found, s, &w->err))
        return -1;
    return 0;
}

static int write_profile(struct work *w)
{
    struct file_out out;
    const struct calibrate_set *set = calibrate_set_of(&w->samples);
    json_t *tree = set ? set->file(&w->found, &w->samples)
                       : calibration_profile(&w->found, w->file, &w->samples);
    int rc = file_out_open(&out, w->args->out, &w->err);
    if (rc == 0) {
        json_dumpf(tree, out.stream, JSON_INDENT(4) | JSON_REAL_PRECISION(6));
        fputc('\n', out.stream);
        rc = file_out_commit(&out, &w->err);
    }
    json_decref(tree);
    return rc;
}

/* A table of several devices is fitted whole, but a file is of one. */
static int fit_by_software(struct work *w, const struct calibrate_set *set)
{
    const struct samples *s = &w->samples;
    const struct calibrate_set *other = calibrate_set_other(s, set);
    warn_of_collectives(w);
    if (w->args->base)
        diags_warn(&w->loader.diags, DIAG_WITHOUT_EFFECT,
                   "--base: does nothing, as %s by software have no base", set->what);
    if (s->gemms.n + s->streams.n + s->flashes.n + s->clocks.n + s->colls.n > 0)
        return err_set(&w->err,
                       "%s by software are fitted apart from other "
                       "measurements: give their table alone",
                       set->what);
    if (other)
        return err_set(&w->err,
                       "%s and %s by software are fitted apart: give one "
                       "table",
                       set->what, other->what);
    for (int64_t i = 1; w->args->out && i < set->count(s); i++)
        if (strcmp(set->device(s, i), set->device(s, 0)) != 0)
            return err_set(&w->err,
                           "--out: the table holds \"%s\" and \"%s\", and a file is of "
                           "one device (--device TEXT chooses)",
                           set->device(s, 0), set->device(s, i));
    return set->fit(&w->found, &w->loader, s, &w->err);
}

/* Where it goes, and what was found. */
static int finish(struct work *w)
{
    const char *to = w->args->out;
    FILE *out = to && strcmp(to, "-") == 0 ? stderr : stdout;
    if (to && write_profile(w))
        return -1;
    const struct calibrate_set *set = calibrate_set_of(&w->samples);
    if (set) {
        set->report(out, &w->found, &w->samples);
        return 0;
    }
    print_calibration(out, &w->found, &w->samples);
    if (!calibration_fitted(&w->found))
        diags_warn(&w->loader.diags, DIAG_LEFT_OUT,
                   "nothing could be fitted: %s holds the constants of "
                   "%s",
                   to, w->found.base);
    return 0;
}

int cmd_calibrate(int argc, char **argv)
{
    struct arguments args = { .op = -1 };
    struct option_list files;
    int status = options_parse(&usage, argc, argv, &args, &files);
    if (status != OPTIONS_GO_ON)
        return status;
    char wrong[160];
    if (is_misplaced(wrong, &args, &files)) {
        report_linef(stderr, "smsim calibrate: %s", wrong);
        return EXIT_USAGE;
    }
    struct work w = { .args = &args };
    cfg_loader_init(&w.loader);
    calibration_init(&w.found, &w.loader.arena);
    int rc = load_all(&w, &files);
    const struct calibrate_set *set = rc ? NULL : calibrate_set_of(&w.samples);
    if (rc == 0 && !args.out && !set) {
        report_linef(stderr,
                     "smsim calibrate: --out: is missing (where the profile goes)");
        status = EXIT_USAGE;
    }
    if (rc == 0 && status == OPTIONS_GO_ON)
        rc = args.trace ? fit_trace(&w)
             : set      ? fit_by_software(&w, set)
                        : calibrate(&w);
    if (rc == 0 && status == OPTIONS_GO_ON)
        rc = finish(&w);
    cmd_warn(&w.loader);
    samples_release(&w.samples);
    calibration_release(&w.found);
    if (rc)
        return cmd_fail(&w.loader, &w.err);
    cfg_loader_release(&w.loader);
    return status == OPTIONS_GO_ON ? EXIT_DONE : status;
}
