/* smsim check: what is wrong with files, without running them. */
#include "base/file.h"
#include "base/units.h"
#include "campaign/campaign.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "config/datadir.h"
#include "hardware/attention.h"
#include "hardware/experts.h"
#include "hardware/product.h"
#include "hardware/transfer.h"
#include "report/check.h"
#include "report/figure/sweep.h"
#include "report/report.h"
#include "scenario/scenario.h"
#include "schema/reference.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
struct arguments {
    bool json;
};

static const struct option options[] = {
    { .name = "--json", .type = OPTION_FLAG, .at = offsetof(struct arguments, json),
      .help = "print what was found of all files as JSON instead" },
    { .name = NULL },
};

static const struct usage usage = {
    .command = "check",
    .arguments = "[--json] FILE...",
    .summary = "What is wrong with files, without running them: scenarios (shipped ones by name, "
               "too), sweeps,\nlaunch scripts (.py, .sh), DeepSpeed's ds_config.json, models, "
               "GPUs, instances,\nfabrics and frameworks. Every error is shown with its place.",
    .details = "--json takes no value: it prints on standard output. Exit code 3 says that a file "
               "has errors.\n\n"
               "  smsim check scenarios/*.json\n"
               "  smsim check train.sh ds_config.json\n"
               "  smsim check --json my.json launch.py\n",
    .options = options,
    .min_positional = 1,
    .max_positional = OPTION_LIST_MAX,
};
/* clang-format on */

/* One file, and what is found of it where that is to be JSON. */
struct checked {
    const char *file;
    const char *kind; /* NULL: unknown */
    bool json;
    json_t *notes, *assumed;
};

/* A line that says that the file is right; nothing where that is JSON. */
static void say_ok(const struct checked *c, const char *what)
{
    struct strbuf line;
    if (c->json)
        return;
    strbuf_init(&line);
    strbuf_printf(&line, "%s: ok (%s)", c->file, what);
    report_line(stdout, strbuf_get(&line));
    strbuf_release(&line);
}

/* A reader for each kind of file --------------------------------------------------- */

static void add_cluster(struct strbuf *b, const struct cluster *c)
{
    for (int i = 0; i < c->n_groups; i++)
        strbuf_printf(b, "%s%" PRId64 " x %s", i ? " + " : " on ",
                      cluster_hosts(&c->groups[i]).count, c->groups[i].instance->name);
    strbuf_printf(b, ", %" PRId64 " GPU%s", c->n_gpus, units_plural(c->n_gpus));
}

static void take_scenario(struct checked *c, const struct scenario *s)
{
    for (int i = 0; i < s->n_notes; i++)
        json_array_append_new(c->notes, diag_json(&s->notes[i]));
    c->assumed = assumptions_json(&s->assumed);
}

static void add_batch(struct strbuf *b, const struct scenario *s)
{
    strbuf_printf(b, "; batch %" PRId64 " = micro %" PRId64,
                  s->training.global_batch_size, s->training.micro_batch_size);
    if (s->training.microbatches > 1)
        strbuf_printf(b, " x microbatches %" PRId64, s->training.microbatches);
    if (s->training.accumulation > 1)
        strbuf_printf(b, " x accumulation %" PRId64, s->training.accumulation);
    strbuf_printf(b, " x data %" PRId64, s->parallel.data);
    if (s->parallel.replicas != s->parallel.data)
        strbuf_printf(b,
                      " x tensor %" PRId64 ", whose ranks bring batches of their own",
                      s->parallel.tensor);
}

static void say_note(const struct diag *note)
{
    struct strbuf line;
    strbuf_init(&line);
    strbuf_addstr(&line, "  note: ");
    diag_write(&line, note);
    report_line(stdout, strbuf_get(&line));
    strbuf_release(&line);
}

/* That a scenario is right, its instances, or that it leaves them open, and what is to
 * be known of it. */
static void say_scenario(const struct checked *c, const struct scenario *s, bool open)
{
    struct strbuf what;
    strbuf_init(&what);
    strbuf_addstr(&what, s->model.label);
    if (open)
        strbuf_printf(&what, " on %" PRId64 " GPU%s of instances that it leaves open",
                      s->cluster.n_gpus, units_plural(s->cluster.n_gpus));
    else
        add_cluster(&what, &s->cluster);
    add_batch(&what, s);
    say_ok(c, strbuf_get(&what));
    strbuf_release(&what);
    for (int i = 0; i < s->n_notes; i++)
        say_note(&s->notes[i]);
    report_assumed(stdout, "  assumed: ", &s->assumed);
}

static int check_scenario(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    struct scenario s;
    struct campaign campaign;
    if (scenario_check(&s, loader, root) || campaign_read(&campaign, &s))
        return -1;
    if (c->json)
        take_scenario(c, &s);
    else
        say_scenario(c, &s, false);
    return 0;
}

/* The grid, its figures, and the scenario that it varies. */
static int check_sweep(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    struct sweep sweep;
    (void)root; /* read again as a sweep */
    int rc = sweep_load(&sweep, loader, c->file);
    if (rc == 0)
        rc = sweep_check_paths(&sweep);
    struct sweep_figures *figures = figure_sweep_new(&sweep);
    rc |= figure_sweep_read(figures);
    if (rc == 0)
        say_ok(c,
               arena_printf(&loader->arena, "sweep, %" PRId64 " points over %d ax%ss",
                            sweep.n_points, (int)sweep.n_axes,
                            sweep.n_axes == 1 ? "i" : "e"));
    figure_sweep_free(figures);
    sweep_release(&sweep);
    return rc;
}

static int check_model(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    struct model m;
    if (model_read(&m, loader, root))
        return -1;
    say_ok(c, arena_printf(&loader->arena, "model, %" PRId64 " parameters",
                           model_parameters(&m)));
    return 0;
}

static int said_ok(const void *what, const struct checked *c, const char *title)
{
    if (!what)
        return -1;
    say_ok(c, title);
    return 0;
}

static int check_gpu(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    return said_ok(gpu_get(loader, c->file, root), c, "GPU");
}

static int check_attention(struct cfg_loader *loader, struct cfg root,
                           struct checked *c)
{
    return said_ok(attentions_get(loader, c->file, root), c, "attention of a GPU");
}

static int check_transfers(struct cfg_loader *loader, struct cfg root,
                           struct checked *c)
{
    return said_ok(transfers_get(loader, c->file, root), c,
                   "dispatch and combine of a GPU");
}

static int check_experts(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    return said_ok(experts_get(loader, c->file, root), c, "experts of a GPU");
}

static int check_products(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    return said_ok(products_get(loader, c->file, root), c, "products of a GPU");
}

static int check_instance(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    return said_ok(instance_get(loader, c->file, root), c, "instance");
}

static int check_fabric(struct cfg_loader *loader, struct cfg root, struct checked *c)
{
    return said_ok(fabric_get(loader, c->file, root), c, "fabric");
}

static int check_framework(struct cfg_loader *loader, struct cfg root,
                           struct checked *c)
{
    return said_ok(framework_get(loader, c->file, root), c, "framework");
}

/* A file is of the first kind whose key it has; a scenario when it has none. */
static const struct kind {
    const char *key, *name;
    int (*check)(struct cfg_loader *loader, struct cfg root, struct checked *c);
} kinds[] = {
    { "axes", "sweep", check_sweep },
    { "cluster", "scenario", check_scenario },
    { "training", "scenario", check_scenario },
    { "sm_arch", "gpu", check_gpu },
    { "products", "products", check_products },
    { "attentions", "attention", check_attention },
    { "transfers", "transfers", check_transfers },
    { "experts", "experts", check_experts },
    { "inside", "instance", check_instance },
    { "protocols", "fabric", check_fabric },
    { "inherits", "framework", check_framework },
    { "stream_factor", "framework", check_framework },
    { "dispatch_forward", "framework", check_framework },
    { "model_type", "model", check_model },
    { NULL, "scenario", check_scenario },
};

/* Files ---------------------------------------------------------------------------- */

/* Where a script leaves the instances open, as a shell's does, one that can compute in
 * every precision represents them, and is not printed. */
struct stand_in {
    struct checked *c;
    bool used;
};

static int stand_in(struct cfg root, void *arg)
{
    struct stand_in *own = arg;
    struct cfg cluster = cfg_get(root, "cluster");
    if (!launch_is_shell(own->c->file) || cfg_present(cfg_get(cluster, "instance")))
        return 0;
    own->used = true;
    json_object_set_new(cluster.json, "instance", json_string("p5.48xlarge"));
    return 0;
}

static int check_script_scenario(struct cfg_loader *loader, struct cfg root, void *arg)
{
    const struct stand_in *own = arg;
    struct scenario s;
    if (!own->used)
        return check_scenario(loader, root, own->c);
    if (scenario_check(&s, loader, root))
        return -1;
    if (own->c->json)
        take_scenario(own->c, &s);
    else
        say_scenario(own->c, &s, true);
    return 0;
}

static int check_script(struct cfg_loader *loader, struct checked *c)
{
    struct stand_in own = { .c = c };
    const struct script_options how = { .log = c->json ? NULL : stdout,
                                        .notes = c->notes,
                                        .prepare = stand_in,
                                        .arg = &own };
    struct cfg root;
    c->kind = "launch-script";
    return script_read(&root, loader, c->file, &how, check_script_scenario, &own);
}

static void say_document(const struct checked *c, struct launch *l, bool ok)
{
    launch_note_open(l);
    script_notes(c->notes, l);
    if (c->json || !ok)
        return;
    say_ok(c, l->title);
    script_print(stdout, l);
}

/* What of a scenario it lacks is no error of the file. */
static int check_dialect_document(struct cfg_loader *loader, struct checked *c)
{
    struct launch l = { 0 };
    c->kind = "ds_config";
    launch_load(&l, loader, c->file, NULL);
    int rc = loader->diags.n_errors ? -1 : 0;
    say_document(c, &l, rc == 0);
    launch_release(&l);
    return rc;
}

/* The file of that path, or the shipped scenario of that name. */
static const char *path_of(struct cfg_loader *loader, const char *file)
{
    const char *shipped = datadir_file(&loader->arena, "scenarios", file);
    return !file_is_there(file) && file_is_there(shipped) ? shipped : file;
}

static int check_document(struct cfg_loader *loader, struct checked *c)
{
    struct cfg root = cfg_load(loader, path_of(loader, c->file));
    const struct kind *k = kinds;
    if (!root.json)
        return -1;
    while (k->key && !cfg_present(cfg_get(root, k->key)))
        k++;
    c->kind = k->name;
    return k->check(loader, root, c);
}

static int check_any(struct cfg_loader *loader, struct checked *c)
{
    int rc = !launch_is_script(c->file)    ? check_document(loader, c)
             : launch_is_document(c->file) ? check_dialect_document(loader, c)
                                           : check_script(loader, c);
    return rc || loader->diags.n_errors ? -1 : 0;
}

static int check_file(const char *file)
{
    struct checked c = { .file = file };
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    int rc = check_any(&loader, &c);
    cmd_warn(&loader);
    if (rc)
        return cmd_fail(&loader, NULL);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}

/* As JSON -------------------------------------------------------------------------- */

/* Errors and warnings in the order in which they were found, then notes. */
static int find(struct report_check *all, const char *file)
{
    struct checked c = { .file = file, .json = true, .notes = json_array() };
    struct cfg_loader loader;
    json_t *list = json_array();
    cfg_loader_init(&loader);
    int rc = check_any(&loader, &c);
    reference_elsewhere(&loader);
    const struct diags *d = &loader.diags;
    for (int64_t i = 0; i < d->n; i++)
        json_array_append_new(list, diag_json(&d->v[i]));
    json_array_extend(list, c.notes);
    json_decref(c.notes);
    const struct report_checked checked = {
        .file = file,
        .kind = c.kind,
        .ok = rc == 0,
        .n_errors = d->n_errors,
        .findings = list,
        .assumed = c.assumed ? c.assumed : json_array(),
    };
    json_array_append_new(all->files, report_checked_json(&checked));
    json_decref(checked.findings);
    json_decref(checked.assumed);
    all->n_errors += d->n_errors;
    all->n_warnings += d->n_warnings;
    cfg_loader_release(&loader);
    return rc ? EXIT_BAD_INPUT : EXIT_DONE;
}

static int write_findings(const struct report_check *all)
{
    struct err err = { 0 };
    json_t *tree = contract_result(&report_check_contract, all);
    int rc = report_json_write(tree, "-", &err);
    json_decref(tree);
    if (rc)
        report_linef(stderr, "smsim: %s", err.text);
    return rc ? EXIT_BAD_INPUT : EXIT_DONE;
}

/* The command ---------------------------------------------------------------------- */

/* Any number of files may be named: only other options go through the table. */
static bool is_plain(int argc, char **argv, bool *json)
{
    int n = 0;
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        bool option = !only_files && argv[i][0] == '-' && argv[i][1];
        only_files |= option && strcmp(argv[i], "--") == 0;
        *json |= option && strcmp(argv[i], "--json") == 0;
        if (option && !only_files && strcmp(argv[i], "--json") != 0)
            return false;
        n += !option;
    }
    return n > 0;
}

int cmd_check(int argc, char **argv)
{
    struct arguments args = { .json = false };
    struct option_list words = { 0 };
    struct report_check all = { 0 };
    if (!is_plain(argc, argv, &args.json)) {
        int done = options_parse(&usage, argc, argv, &args, &words);
        if (done != OPTIONS_GO_ON)
            return done;
    }
    int worst = EXIT_DONE;
    bool only_files = false;
    all.files = json_array();
    for (int i = 1; i < argc; i++) {
        bool option = !only_files && argv[i][0] == '-' && argv[i][1];
        only_files |= option && strcmp(argv[i], "--") == 0;
        if (option)
            continue;
        int rc = args.json ? find(&all, argv[i]) : check_file(argv[i]);
        worst = rc > worst ? rc : worst;
    }
    int written = args.json ? write_findings(&all) : EXIT_DONE;
    json_decref(all.files);
    return written > worst ? written : worst;
}
