/* smsim validate: predictions against published measurements, and against steps that
 * were really run. */
#include "base/err.h"
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/validate_arena.h"
#include "cmd/validate_measured.h"
#include "config/datadir.h"
#include "draw/draw.h"
#include "page/page.h"
#include "report/choices.h"
#include "report/figure/choices.h"
#include "report/figure/validation.h"
#include "report/ranges.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct arguments {
    const char *data, *json, *html, *plot, *plot_choices, *domains, *rival;
    struct draw_look look;
    bool rows, brief, arena, timing;
    bool measured, device, fp16;
    const char *gpu, *instance, *out, *model;
    int64_t batch, sequence, budget_s; /* 0: not given */
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .group = "Input",
      .name = "--data", .type = OPTION_STRING, .at = AT(data),
      .value = "FILE.csv", .help = "another table of the same columns, for one NAME" },
    { .group = "Output",
      .name = "--rows", .type = OPTION_FLAG, .at = AT(rows),
      .help = "list every row" },
    { .name = "--brief", .type = OPTION_FLAG, .at = AT(brief),
      .help = "one line a source and quantity" },
    { .name = "--json", .type = OPTION_OUT, .at = AT(json),
      .value = "FILE", .help = "write the result as JSON; - is standard output" },
    { .name = "--html", .type = OPTION_OUT, .at = AT(html),
      .value = "FILE", .help = "one page with all rows inside, for any browser" },
    { .name = "--plot", .type = OPTION_OUT, .at = AT(plot),
      .value = "FILE", .help = "draw predicted against measured (.svg, .png, .pdf)" },
    { .name = "--plot-choices", .type = OPTION_OUT, .at = AT(plot_choices),
      .value = "FILE",
      .help = "draw how often plans were the best, by the stated probability" },
    OPTION_FIGURE_LOOK(AT(look), "--plot*"),
    { .name = "--applicability", .type = OPTION_OUT, .at = AT(domains),
      .value = "FILE",
      .help = "write errors by applicability domain, as validate/applicability.json has them" },
    { .group = "Other simulators",
      .name = "--arena", .type = OPTION_FLAG, .at = AT(arena),
      .help = "other simulators side by side, on the tables that they have" },
    { .name = "--rival", .type = OPTION_STRING, .at = AT(rival),
      .value = "FILE.csv",
      .help = "one more, for one NAME: row,seconds,bytes (docs/validation/arena.md)" },
    { .name = "--timing", .type = OPTION_FLAG, .at = AT(timing),
      .help = "with --arena: CPU time of a row" },
    { .group = "GPUs of your own",
      .name = "--measured", .type = OPTION_FLAG, .at = AT(measured),
      .help = "the NAMEs are files of smsim-measure: compare the steps in them" },
    { .name = "--device", .type = OPTION_FLAG, .at = AT(device),
      .help = "measure the GPUs at hand first (by smsim-measure)" },
    { .name = "--gpu", .type = OPTION_STRING, .at = AT(gpu),
      .value = "NAME|FILE", .help = "profile to predict with, in place of a fit" },
    { .name = "--instance", .type = OPTION_STRING, .at = AT(instance),
      .value = "NAME", .help = "machine whose links join the GPUs" },
    { .name = "--out", .type = OPTION_OUT, .at = AT(out),
      .value = "FILE", .help = "with --device: keeps the measurements" },
    { .name = "--budget", .type = OPTION_INT, .at = AT(budget_s),
      .value = "SECONDS", .min = 10, .max = 86400,
      .help = "with --device: about how long to measure (300)" },
    { .name = "--model", .type = OPTION_STRING, .at = AT(model),
      .value = "NAME|FILE", .help = "with --device: of the step (bert-large-uncased)" },
    { .name = "--batch", .type = OPTION_INT, .at = AT(batch),
      .value = "N", .min = 1, .max = 100000,
      .help = "with --device: sequences on each GPU (8)" },
    { .name = "--sequence", .type = OPTION_INT, .at = AT(sequence),
      .value = "N", .min = 8, .max = 100000,
      .help = "with --device: tokens of each (384)" },
    { .name = "--fp16", .type = OPTION_FLAG, .at = AT(fp16),
      .help = "with --device: fp16, not bf16" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "validate",
    .arguments = "[NAME...] [OPTION]...",
    .summary = "How far predictions are from published measurements. NAME is a mapping "
               "of\nvalidate/cases/, or one of your own by its path, with its table next to "
               "it (mine.json,\nmine.csv) or in ../data; without one, all of them are run.",
    .details = "Errors are predicted / measured - 1. \"mean |e|\", \"median\" and "
               "\"largest\" are of their\nsize, bias is their signed mean: above zero, "
               "too much is predicted. Exit code 1 says\nthat some row could not be "
               "simulated.\n\n"
               "  smsim validate nvidia_bert_large_training --rows\n"
               "  smsim validate --arena\n"
               "  smsim validate --measured h200.json --plot h200.svg\n"
               "  smsim validate --device --model gpt2-xl --batch 4 --sequence 1024\n",
    .options = options,
    .min_positional = 0,
    .max_positional = OPTION_LIST_MAX,
};
/* clang-format on */

/* What all mappings together come to. */
struct results {
    json_t *sources, *warnings;
    struct applicability_rows rows,
        held_out;                /* of tables that served to fit, and of others */
    int64_t n_with_times;        /* sources that have rows by applicability domain */
    struct choices_rows choices; /* of all */
};

static void take_warnings(struct results *all, const struct cfg_loader *loader)
{
    json_t *own = diags_json(&loader->diags);
    cmd_warn(loader);
    json_array_extend(all->warnings, own);
    json_decref(own);
}

/* Runs one mapping and adds what it gives to the results. */
static int validate_one(const char *name, const struct arguments *args, bool text,
                        struct results *all)
{
    struct cfg_loader loader;
    struct mapping mapping;
    struct mapping_run run;
    struct summary summary;
    struct cmd_progress shown = cmd_progress_of(name, 0.5);
    mapping_progress_fn *progress = isatty(STDERR_FILENO) ? cmd_progress_show : NULL;
    cfg_loader_init(&loader);
    if (mapping_load(&mapping, &loader, name, args->data)) {
        mapping_release(&mapping);
        return cmd_fail_json(&loader, NULL, "validate", args->json);
    }
    clock_t begin = clock();
    mapping_run(&run, &loader.arena, &mapping, progress, &shown);
    double cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    summary_make(&summary, &loader.arena, &run);
    if (text && json_array_size(all->sources) && !args->brief)
        fputc('\n', stdout);
    json_t *source = report_validation_json(&run, &summary);
    json_array_append_new(all->sources, source);
    if (args->arena) {
        double row_s =
            args->timing && run.n_outcomes ? cpu_s / (double)run.n_outcomes : 0;
        if (arena_table(&loader, &run, &summary, args->rival, row_s, text, source)) {
            mapping_release(&mapping);
            return cmd_fail_json(&loader, NULL, "validate", args->json);
        }
    } else if (text && args->brief) {
        report_validation_brief(stdout, &run, &summary);
    } else if (text) {
        report_validation_text(stdout, &run, &summary, args->rows);
    }
    int64_t before = all->rows.list.n;
    applicability_rows_add(mapping.held_out ? &all->held_out : &all->rows, &run);
    all->n_with_times += all->rows.list.n > before;
    choices_rows_add(&all->choices, &run);
    int rc = run.n_failed ? EXIT_UNFIT : EXIT_DONE;
    take_warnings(all, &loader);
    mapping_release(&mapping);
    cfg_loader_release(&loader);
    return rc;
}

static bool shows_text(const struct arguments *args)
{
    const char *outs[] = { args->json, args->domains, args->html };
    for (int i = 0; i < 3; i++)
        if (outs[i] && strcmp(outs[i], "-") == 0)
            return false;
    return true;
}

static int validate_all(const struct option_list *names, const struct arguments *args,
                        struct results *all)
{
    bool text = shows_text(args);
    if (text && args->brief)
        report_validation_brief_header(stdout);
    int worst = EXIT_DONE;
    for (int32_t i = 0; i < names->n; i++) {
        int rc = validate_one(names->values[i], args, text, all);
        if (rc == EXIT_BAD_INPUT)
            return rc;
        worst = rc > worst ? rc : worst;
    }
    return worst;
}

/* All shipped mappings when none is named, or those that others have predicted. */
static void default_names(struct option_list *names, struct arena *arena, bool rivals)
{
    const char **all = datadir_list(arena, "validate/cases");
    while (names->n < OPTION_LIST_MAX && all[names->n]) {
        names->values[names->n] = all[names->n];
        names->n++;
    }
    if (rivals)
        arena_keep_known(names);
}

static json_t *show_ranges(struct results *all, const struct interval_table *table,
                           bool text)
{
    const struct ranges_rows rows = ranges_rows_make(&all->rows, &all->held_out, table);
    const struct ranges_report r = {
        .left_out = ranges_judge(&rows, false),
        .unfitted = ranges_judge(&rows, true),
        .law = ranges_fit(&rows, NULL),
    };
    if (text)
        report_ranges_text(stdout, &r);
    return report_ranges_json(&r);
}

/* The table is for several sources: of one, the lines above say the same. *ranges: NULL
 * of one. */
static json_t *show_domains(struct results *all, const struct arguments *args,
                            json_t **ranges)
{
    struct cfg_loader loader;
    int32_t n;
    struct applicability_line *lines = applicability_lines(&all->rows, &n);
    cfg_loader_init(&loader);
    const struct interval_table *table = interval_table_get(&loader);
    struct applicability_coverage c = applicability_coverage(&all->rows, table);
    struct applicability_coverage held_out =
        applicability_coverage(&all->held_out, table);
    bool text = shows_text(args) && !args->brief && !args->arena;
    if (text && all->n_with_times > 1)
        report_applicability_text(stdout, lines, n, &c);
    if (text)
        report_held_out_text(stdout, &held_out);
    *ranges =
        all->n_with_times > 1 && !args->arena ? show_ranges(all, table, text) : NULL;
    take_warnings(all, &loader);
    cfg_loader_release(&loader);
    return report_applicability_json(lines, n);
}

/* Each source's jobs by what the others say of the unknowns. */
static struct choices_report judge_choices(const struct choices_rows *rows, bool pilot)
{
    struct choices_report r = { .lines = ARENA_ARRAY(rows->arena, rows->sources.n + 1,
                                                     struct choices_line) };
    for (int32_t s = 0; s < rows->sources.n; s++) {
        struct risk_widths w = choices_fit(rows, s);
        struct choices_score score = choices_judge(rows, s, &w);
        choices_judge_memory(r.unfit, rows, s, &w);
        choices_judge_memory(r.unfit_in_use, rows, s, &risk_widths);
        if (score.n_jobs == 0)
            continue;
        r.lines[r.n++] = (struct choices_line) { rows->sources.v[s], score };
        choices_add(&r.all, &score);
        if (pilot)
            choices_pilot(&r.pilot, rows, s, &w);
    }
    r.widths = choices_fit(rows, -1);
    return r;
}

/* Of several sources with times, as the table by applicability domain; of no source
 * where nothing is to choose. */
static struct choices_report show_choices(const struct results *all,
                                          const struct arguments *args)
{
    struct choices_report r = { 0 };
    if (all->n_with_times < 2 || all->choices.n_jobs == 0 || args->arena)
        return r;
    bool shown = shows_text(args) && !args->brief;
    r = judge_choices(&all->choices, shown);
    if (r.n && shown)
        report_choices_text(stdout, &r);
    return r;
}

static int draw_figures(const struct results *all, const struct arguments *args,
                        const struct choices_report *choices, struct err *err)
{
    const struct draw_to plot = { args->plot, args->look },
                         of_choices = { args->plot_choices, args->look };
    if (args->plot && figure_validation_write(all->sources, &plot, err))
        return -1;
    return args->plot_choices ? figure_choices_write(choices, &of_choices, err) : 0;
}

static int write_files(struct results *all, const struct arguments *args)
{
    struct err err = { 0 };
    json_t *ranges, *domains = show_domains(all, args, &ranges);
    struct choices_report choices = show_choices(all, args);
    const struct report_validation x = {
        .sources = all->sources,
        .domains = domains,
        .ranges = ranges,
        .warnings = all->warnings,
        .claims = args->arena ? arena_claims(shows_text(args)) : NULL,
        .choices = choices.n ? report_choices_json(&choices) : NULL,
    };
    json_t *tree = contract_result(&report_validate_contract, &x);
    json_decref(x.domains);
    json_decref(x.claims);
    json_decref(x.choices);
    json_decref(x.ranges);
    int rc = args->json ? report_json_write(tree, args->json, &err) : 0;
    if (!rc && args->html)
        rc = page_write(page_data("validate", "Predicted and measured", tree),
                        args->html, &err);
    json_decref(tree);
    if (!rc && args->domains) {
        tree = applicability_cells(&all->rows);
        file_guard_except(
            args->domains); /* the table is compared with, then made anew */
        rc = report_applicability_write(tree, args->domains, &err);
        json_decref(tree);
    }
    if (!rc)
        rc = draw_figures(all, args, &choices, &err);
    if (rc)
        report_linef(stderr, "smsim: %s", err.text);
    return rc;
}

/* Steps that were run, not tables -------------------------------------------------- */

/* The first option given that does not go with the others; NULL. */
static const char *misplaced(const struct arguments *a, const struct option_list *names)
{
    bool steps = a->measured || a->device;
    const struct {
        const char *what;
        bool wrong;
    } rules[] = {
        { "--device: goes without --measured", a->device && a->measured },
        { "--device: measures itself, and takes no NAME", a->device && names->n > 0 },
        { "--measured: which file? (smsim-measure --out FILE writes one)",
          a->measured && names->n == 0 },
        { "--data: goes with tables alone", steps && a->data },
        { "--rows: goes with tables alone", steps && a->rows },
        { "--brief: goes with tables alone", steps && a->brief },
        { "--html: goes with tables alone", steps && a->html },
        { "--applicability: goes with tables alone", steps && a->domains },
        { "--plot-choices: goes with several tables, and without --arena",
          a->plot_choices && (steps || a->arena || names->n == 1) },
        { "--arena: goes with tables alone", steps && a->arena },
        { "--arena: goes without --rows and --brief",
          a->arena && (a->rows || a->brief) },
        { "--rival: goes with --arena and one NAME",
          a->rival && (!a->arena || names->n != 1) },
        { "--timing: goes with --arena", a->timing && !a->arena },
        { "--gpu: goes with --measured or --device", !steps && a->gpu },
        { "--instance: goes with --measured or --device", !steps && a->instance },
        { "--out: goes with --device", !a->device && a->out },
        { "--budget: goes with --device", !a->device && a->budget_s },
        { "--model: goes with --device", !a->device && a->model },
        { "--batch: goes with --device", !a->device && a->batch },
        { "--sequence: goes with --device", !a->device && a->sequence },
        { "--fp16: goes with --device", !a->device && a->fp16 },
        { "--data: is a table for one mapping (name it)", a->data && names->n != 1 },
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].wrong)
            return rules[i].what;
    return NULL;
}

static int validate_steps(const struct arguments *a, const struct option_list *files)
{
    const struct measured_request show = { .gpu = a->gpu,
                                           .instance = a->instance,
                                           .json = a->json,
                                           .plot = { a->plot, a->look } };
    const struct device_request device = {
        .show = show,
        .out = a->out,
        .model = a->model ? a->model : "bert-large-uncased",
        .batch = a->batch ? a->batch : 8,
        .sequence = a->sequence ? a->sequence : 384,
        .budget_s = a->budget_s ? a->budget_s : 300,
        .fp16 = a->fp16,
    };
    return a->device ? validate_device(&device)
                     : validate_measured(files->values, files->n, &show);
}

/* The command ---------------------------------------------------------------------- */

int cmd_validate(int argc, char **argv)
{
    struct arguments args = { 0 };
    struct option_list names;
    int status = options_parse(&usage, argc, argv, &args, &names);
    if (status != OPTIONS_GO_ON)
        return status;
    const char *wrong = misplaced(&args, &names);
    if (wrong) {
        report_linef(stderr, "smsim validate: %s", wrong);
        return EXIT_USAGE;
    }
    struct err err = { 0 };
    const char *figures[] = { args.plot, args.plot_choices };
    for (int i = 0; i < 2; i++)
        if (figures[i] && draw_check_name(figures[i], &err)) {
            report_linef(stderr, "smsim validate: --plot%s: %s", i ? "-choices" : "",
                         err.text);
            return EXIT_USAGE;
        }
    if (args.measured || args.device)
        return validate_steps(&args, &names);
    struct arena arena;
    arena_init(&arena);
    if (names.n == 0 && datadir_check(&arena, "validate/cases", &err)) {
        report_linef(stderr, "smsim: %s", err.text);
        arena_release(&arena);
        return EXIT_BAD_INPUT;
    }
    if (names.n == 0)
        default_names(&names, &arena, args.arena);
    struct results all = { .sources = json_array(), .warnings = json_array() };
    applicability_rows_init(&all.rows, &arena);
    applicability_rows_init(&all.held_out, &arena);
    choices_rows_init(&all.choices, &arena);
    status = validate_all(&names, &args, &all);
    if (status != EXIT_BAD_INPUT && write_files(&all, &args))
        status = EXIT_BAD_INPUT;
    json_decref(all.sources);
    json_decref(all.warnings);
    applicability_rows_release(&all.rows);
    applicability_rows_release(&all.held_out);
    choices_rows_release(&all.choices);
    arena_release(&arena);
    return status;
}
