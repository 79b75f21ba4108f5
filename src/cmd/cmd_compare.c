/* smsim compare: what makes jobs differ, cause by cause. */
#include "base/err.h"
#include "base/fence.h"
#include "base/names.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "compare/difference.h"
#include "doctor/contradictions.h"
#include "draw/draw.h"
#include "logs/steady.h"
#include "page/page.h"
#include "report/difference.h"
#include "report/provenance.h"
#include "report/report.h"

#include <string.h>
#include <sys/stat.h>

enum { SIDES_MAX = 8 };

struct arguments {
    struct option_list sets, to, logs, to_logs;
    const char *json, *plot, *html;
    struct draw_look look;
    int by;
};

#define AT(m) offsetof(struct arguments, m)

/* clang-format off */
static const struct option options[] = {
    { .group = "What is compared",
      .name = "--set", .type = OPTION_LIST, .at = AT(sets),
      .value = "POINTER=VALUE", .help = "change all of the jobs: /cluster/count=4" },
    { .name = "--to", .type = OPTION_LIST, .at = AT(to),
      .value = "POINTER=VALUE", .help = "with one job: compare it with itself so changed" },
    { .name = "--log", .type = OPTION_LIST, .at = AT(logs),
      .value = "FILE", .help = "a log of the first job's run: start from its measured step; may be repeated" },
    { .name = "--to-log", .type = OPTION_LIST, .at = AT(to_logs),
      .value = "FILE", .help = "a log of the other's: end at its measured step" },
    { .name = "--by", .type = OPTION_ENUM, .at = AT(by), .value = "UNIT",
      .help = "time of a step (default), a sample or a token", .names = difference_by_names },
    { .group = "Output",
      .name = "--json", .type = OPTION_OUT, .at = AT(json),
      .value = "FILE", .help = "write the result as JSON; - is standard output" },
    { .name = "--plot", .type = OPTION_OUT, .at = AT(plot),
      .value = "FILE", .help = "draw the way from the first to the last (.svg, .png, .pdf)" },
    OPTION_FIGURE_LOOK(AT(look), "--plot"),
    { .name = "--html", .type = OPTION_OUT, .at = AT(html), .value = "FILE",
      .help = "write all of it as one page; a .json gets its data alone" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "compare",
    .arguments = "A [B]... [OPTION]...",
    .summary = "What makes jobs differ in time, memory and price. Each is whatever "
               "simulate takes, or\na result of simulate --json or doctor --json, of which only "
               "totals and parts are\ncompared; of doctor's, with the measured step.",
    .details = "One cause after the other is changed from A's to B's, and every job on the "
               "way is\nsimulated, so that the causes sum to the difference. \"In other "
               "orders\" is the least\nand the most of what a cause adds there, to A "
               "alone, and as the last before B. Of more\njobs, each is compared with the "
               "first.\n\n"
               "  smsim compare bert-large-squad-2xp3.16xlarge bert-large-squad-2xp4d.24xlarge\n"
               "  smsim compare my.json --to /training/precision=bf16 --to /cluster/count=8\n"
               "  smsim compare my.json --log train.log --to /cluster/count=8\n"
               "  smsim compare old/launch.py new/launch.py --by token --plot difference.svg\n",
    .options = options,
    .min_positional = 1,
    .max_positional = SIDES_MAX,
};
/* clang-format on */

/* A job: the tree of a scenario, or the numbers of a result. */
struct side {
    const char *name;
    struct cfg_loader loader;
    json_t *tree; /* NULL: of a result */
    struct difference_numbers numbers;
    const char *of;    /* its provenance, for figures; NULL: of a result */
    struct logs logs;  /* of its run */
    double measured_s; /* of a result of doctor; 0: none */
};

/* Whether a file is a result of `command --json`, by its schema. A pipe, which can be
 * read once, is none. */
static bool is_result(const char *name, const char *command)
{
    char schema[64];
    int length = snprintf(schema, sizeof(schema), "urn:smsim:%s:", command);
    json_error_t unused;
    struct stat at;
    bool is_file = fence_allows(name) && stat(name, &at) == 0 && S_ISREG(at.st_mode);
    json_t *tree = is_file ? json_load_file(name, 0, &unused) : NULL;
    const char *is = json_string_value(json_object_get(tree, "schema"));
    bool result = is && strncmp(is, schema, (size_t)length) == 0;
    json_decref(tree);
    return result;
}

static int read_result(struct side *side, bool doctor)
{
    struct cfg root = cfg_load(&side->loader, side->name);
    if (!root.json)
        return -1;
    struct err why = { 0 };
    int rc = doctor ? difference_of_doctor(&side->numbers, &side->measured_s, root.json,
                                           &why)
                    : difference_of_result(&side->numbers, root.json, &why);
    if (rc == 0)
        return 0;
    return cfg_error(root, DIAG_WRONG_TYPE, "%s (write it anew)", why.text);
}

static bool is_log(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".log") == 0 || strcmp(dot, ".out") == 0);
}

static int read_side(struct side *side, const char *name, const struct arguments *args,
                     struct err *err)
{
    const struct script_options how = { .sets = &args->sets };
    struct scenario s;
    struct cfg root;
    cfg_loader_init(&side->loader);
    side->name = name;
    bool doctor = is_result(name, "doctor");
    if (doctor || is_result(name, "simulate"))
        return args->sets.n
                   ? err_set(err, "--set: %s is a result, which has no keys", name)
                   : read_result(side, doctor);
    if (is_log(name))
        return err_set(err,
                       "%s: a log is no job: give the job, and its log with --log or "
                       "--to-log",
                       name);
    if (script_scenario(&s, &root, &side->loader, name, &how))
        return -1;
    side->of = provenance_of(&s, &side->loader.arena);
    side->tree = json_deep_copy(root.json);
    return 0;
}

/* The only job, changed by --to. */
static int read_changed(struct side *side, const struct side *from,
                        const struct arguments *args, struct err *err)
{
    struct scenario s;
    cfg_loader_init(&side->loader);
    side->name = "changed";
    if (!from->tree)
        return err_set(err, "--to: %s is a result, which has no keys", from->name);
    struct cfg root =
        cfg_from_tree(&side->loader, from->name, json_deep_copy(from->tree));
    int rc = 0;
    for (int32_t i = 0; i < args->to.n && rc == 0; i++)
        rc = cfg_set(root, args->to.values[i]);
    if (rc || scenario_read(&s, &side->loader, root))
        return -1;
    side->of = provenance_of(&s, &side->loader.arena);
    side->tree = json_deep_copy(root.json);
    return 0;
}

/* Two results, or one of them: totals and parts alone. */
static int compare_numbers(struct difference *d, struct side *a, struct side *b,
                           struct err *err)
{
    *d = (struct difference) { .own = json_array() };
    struct side *sides[] = { a, b };
    for (int i = 0; i < 2; i++)
        if (sides[i]->tree &&
            difference_of_scenario(&sides[i]->numbers, &sides[i]->loader,
                                   sides[i]->tree, err))
            return -1;
    d->a = a->numbers;
    d->b = b->numbers;
    return 0;
}

/* The time of a step in the logs of a side's run: the median of steady steps. A rate
 * becomes a time by the job's batch. */
static int measure(double *step_s, const struct side *side,
                   const struct difference_numbers *n, struct err *err)
{
    const struct logs_step does = { n->samples_per_s * n->step_s,
                                    n->tokens_per_s * n->step_s, (double)n->gpus,
                                    n->passes };
    *step_s = side->measured_s;
    if (side->logs.files.n == 0)
        return 0;
    const struct logs_steady s = logs_steady_find(&side->logs, &does);
    *step_s = s.n ? s.median_s : 0;
    return s.n ? 0
               : err_set(err,
                         "%s: no time of a step is in it (docs/doctor.md lists "
                         "what is read)",
                         side->logs.files.v[0].name);
}

/* Reads the logs of a side's run; what they contradict of its job is a warning. */
static int read_logs(struct side *side, const struct option_list *files,
                     const char *option, struct err *err)
{
    for (int32_t i = 0; i < files->n; i++)
        if (logs_read(&side->logs, files->values[i], err))
            return -1;
    if (files->n && side->tree)
        doctor_contradictions_warn(&side->loader, option, side->tree, &side->logs);
    return 0;
}

static bool is_out(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

/* Fills a pair's view, whose difference is in d. */
static int compare(struct difference_view *view, struct difference *d, struct side *a,
                   struct side *b, const struct arguments *args, json_t *pairs,
                   struct err *err)
{
    bool text = !is_out(args->json) && !is_out(args->html);
    int rc = a->tree && b->tree ? difference_make(d, &a->loader.arena, &a->loader,
                                                  a->tree, b->tree, err)
                                : compare_numbers(d, a, b, err);
    *view = (struct difference_view) { a->name, b->name,  (enum difference_by)args->by,
                                       d,       { 0, 0 }, { a->of, b->of } };
    if (rc == 0)
        rc = measure(&view->measured_s[0], a, &d->a, err) ||
             measure(&view->measured_s[1], b, &d->b, err);
    if (rc == 0) {
        if (text && json_array_size(pairs))
            fputc('\n', stdout);
        if (text)
            report_difference_text(stdout, view);
        json_array_append_new(pairs, report_difference_json(view));
    }
    return rc;
}

static int write_page(json_t *tree, const struct arguments *args, struct err *err)
{
    json_t *data = page_data("compare", "What makes them differ", tree);
    json_object_set_new(data, "by",
                        json_string(names_of(difference_by_names, args->by)));
    return page_write(data, args->html, err);
}

static int compare_all(struct side *sides, int32_t n, const struct arguments *args,
                       struct err *err)
{
    json_t *pairs = json_array();
    struct difference d[SIDES_MAX] = { { .own = NULL } };
    struct difference_view views[SIDES_MAX];
    int rc = 0;
    for (int32_t i = 0; i + 1 < n && rc == 0; i++)
        rc = compare(&views[i], &d[i], &sides[0], &sides[i + 1], args, pairs, err);
    if (rc == 0 && args->plot)
        rc = figure_difference_write(views, n - 1,
                                     &(struct draw_to) { args->plot, args->look }, err);
    for (int32_t i = 0; i + 1 < n; i++)
        difference_release(&d[i]);
    const struct report_differences x = { pairs };
    json_t *tree = contract_result(&report_differences_contract, &x);
    json_decref(pairs);
    if (rc == 0 && args->json)
        rc = report_json_write(tree, args->json, err);
    if (rc == 0 && args->html)
        rc = write_page(tree, args, err);
    json_decref(tree);
    return rc;
}

/* What words and options do not go together; NULL: nothing. */
static const char *misplaced(const struct arguments *a, const struct option_list *names)
{
    if (names->n == 1 && a->to.n == 0)
        return "with what? (name another job, or give --to POINTER=VALUE)";
    if (names->n > 1 && a->to.n)
        return "--to: goes with one job";
    if (names->n > 2 && a->to_logs.n)
        return "--to-log: goes with two jobs";
    return NULL;
}

int cmd_compare(int argc, char **argv)
{
    struct arguments args = { 0 };
    struct option_list names;
    struct side sides[SIDES_MAX] = { 0 };
    struct err err = { 0 };
    int status = options_parse(&usage, argc, argv, &args, &names);
    if (status != OPTIONS_GO_ON)
        return status;
    const char *wrong = misplaced(&args, &names);
    if (!wrong && args.plot && draw_check_name(args.plot, &err))
        wrong = err.text;
    if (wrong) {
        report_linef(stderr, "smsim compare: %s", wrong);
        return EXIT_USAGE;
    }
    int32_t n = 0, failed = -1;
    for (int i = 0; i < SIDES_MAX; i++)
        logs_init(&sides[i].logs);
    for (; n < names.n && failed < 0; n++)
        failed = read_side(&sides[n], names.values[n], &args, &err) ? n : -1;
    if (failed < 0 && args.to.n) {
        failed = read_changed(&sides[n], &sides[0], &args, &err) ? n : -1;
        n++;
    }
    status = EXIT_DONE;
    if (failed < 0 && read_logs(&sides[0], &args.logs, "--log", &err))
        failed = 0;
    if (failed < 0 && read_logs(&sides[1], &args.to_logs, "--to-log", &err))
        failed = 1;
    for (int32_t i = 0; i < n && failed < 0; i++)
        cmd_warn(&sides[i].loader);
    if (failed < 0 && compare_all(sides, n, &args, &err))
        failed = 0;
    if (failed >= 0)
        status = cmd_fail_json(&sides[failed].loader, err.set ? &err : NULL, "compare",
                               args.json);
    for (int32_t i = 0; i < n; i++) {
        logs_release(&sides[i].logs);
        if (i != failed)
            cfg_loader_release(&sides[i].loader);
        json_decref(sides[i].tree);
    }
    return status;
}
