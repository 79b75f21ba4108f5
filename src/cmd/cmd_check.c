/* smsim check: what is wrong with files, without running them. */
#include "campaign/campaign.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/script.h"
#include "report/report.h"
#include "report/sweep_figure.h"
#include "scenario/scenario.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
static const struct option no_options[] = { { .name = NULL } };

static const struct usage usage = {
    .command = "check",
    .arguments = "FILE...",
    .summary = "What is wrong with files, without running them: scenarios, sweeps, launch scripts "
               "(.py, .sh),\nDeepSpeed's ds_config.json, models, GPUs, instances, fabrics and "
               "frameworks. Every error\nis shown with its place.",
    .details = "  smsim check scenarios/*.json\n",
    .options = no_options,
    .min_positional = 1,
    .max_positional = OPTION_LIST_MAX,
};
/* clang-format on */

/* A reader for each kind of file --------------------------------------------------- */

static void print_cluster(const struct cluster *c)
{
    for (int i = 0; i < c->n_groups; i++)
        printf("%s%" PRId64 " x %s", i ? " + " : " on ", c->groups[i].count,
               c->groups[i].instance->name);
    printf(", %" PRId64 " GPU%s", c->n_gpus, c->n_gpus == 1 ? "" : "s");
}

static void print_note(const struct diag *note)
{
    struct strbuf b;
    strbuf_init(&b);
    diag_write(&b, note);
    printf("  note: %s\n", strbuf_get(&b));
    strbuf_release(&b);
}

static void print_batch(const struct scenario *s)
{
    printf("; batch %" PRId64 " = micro %" PRId64, s->training.global_batch_size,
           s->training.micro_batch_size);
    if (s->training.microbatches > 1)
        printf(" x microbatches %" PRId64, s->training.microbatches);
    if (s->training.accumulation > 1)
        printf(" x accumulation %" PRId64, s->training.accumulation);
    printf(" x data %" PRId64, s->parallel.data);
    if (s->parallel.replicas != s->parallel.data)
        printf(" x tensor %" PRId64 ", whose ranks bring batches of their own",
               s->parallel.tensor);
    printf(")\n");
    for (int i = 0; i < s->n_notes; i++)
        print_note(&s->notes[i]);
    report_assumed(stdout, "  assumed: ", &s->assumed);
}

static int check_scenario(struct cfg_loader *loader, struct cfg root, const char *file)
{
    struct scenario s;
    struct campaign campaign;
    if (scenario_check(&s, loader, root) || campaign_read(&campaign, &s))
        return -1;
    printf("%s: ok (%s", file, s.model.label);
    print_cluster(&s.cluster);
    print_batch(&s);
    return 0;
}

/* The grid, its figures, and the scenario that it varies. */
static int check_sweep(struct cfg_loader *loader, struct cfg root, const char *file)
{
    struct sweep sweep;
    (void)root; /* read again as a sweep */
    int rc = sweep_load(&sweep, loader, file);
    if (rc == 0)
        rc = sweep_check_paths(&sweep);
    struct sweep_figures *figures = sweep_figures_new(&sweep);
    rc |= sweep_figures_read(figures);
    if (rc == 0)
        printf("%s: ok (sweep, %" PRId64 " points over %d ax%ss)\n", file,
               sweep.n_points, (int)sweep.n_axes, sweep.n_axes == 1 ? "i" : "e");
    sweep_figures_free(figures);
    sweep_release(&sweep);
    return rc;
}

static int check_model(struct cfg_loader *loader, struct cfg root, const char *file)
{
    struct model m;
    if (model_read(&m, loader, root))
        return -1;
    printf("%s: ok (model, %" PRId64 " parameters)\n", file, model_parameters(&m));
    return 0;
}

static int said_ok(const void *what, const char *file, const char *kind)
{
    if (!what)
        return -1;
    printf("%s: ok (%s)\n", file, kind);
    return 0;
}

static int check_gpu(struct cfg_loader *loader, struct cfg root, const char *file)
{
    return said_ok(gpu_get(loader, file, root), file, "GPU");
}

static int check_instance(struct cfg_loader *loader, struct cfg root, const char *file)
{
    return said_ok(instance_get(loader, file, root), file, "instance");
}

static int check_fabric(struct cfg_loader *loader, struct cfg root, const char *file)
{
    return said_ok(fabric_get(loader, file, root), file, "fabric");
}

static int check_framework(struct cfg_loader *loader, struct cfg root, const char *file)
{
    return said_ok(framework_get(loader, file, root), file, "framework");
}

/* A file is of the first kind whose key it has; a scenario when it has none. */
static const struct kind {
    const char *key;
    int (*check)(struct cfg_loader *loader, struct cfg root, const char *file);
} kinds[] = {
    { "axes", check_sweep },
    { "cluster", check_scenario },
    { "training", check_scenario },
    { "sm_arch", check_gpu },
    { "inside", check_instance },
    { "protocols", check_fabric },
    { "stream_factor", check_framework },
    { "dispatch_forward", check_framework },
    { "model_type", check_model },
    { NULL, check_scenario },
};

/* Files ---------------------------------------------------------------------------- */

/* Where a script leaves the instances open, as a shell's does, one that can compute in
 * every precision stands for them, and is not told. */
struct stand_in {
    const char *file;
    bool used;
};

static int stand_in(struct cfg root, void *arg)
{
    struct stand_in *own = arg;
    struct cfg cluster = cfg_get(root, "cluster");
    if (!launch_is_shell(own->file) || cfg_present(cfg_get(cluster, "instance")))
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
        return check_scenario(loader, root, own->file);
    if (scenario_check(&s, loader, root))
        return -1;
    printf("%s: ok (%s on %" PRId64 " GPUs of instances that it leaves open", own->file,
           s.model.label, s.cluster.n_gpus);
    print_batch(&s);
    return 0;
}

static int check_script(struct cfg_loader *loader, const char *file)
{
    struct stand_in own = { .file = file };
    const struct script_options how = { .told = stdout,
                                        .prepare = stand_in,
                                        .arg = &own };
    struct cfg root;
    return script_read(&root, loader, file, &how, check_script_scenario, &own);
}

/* What of a scenario it lacks is no error of the file. */
static int check_dialect_document(struct cfg_loader *loader, const char *file)
{
    struct launch l = { 0 };
    launch_load(&l, loader, file, NULL);
    int rc = loader->diags.n_errors ? -1 : 0;
    if (rc == 0) {
        printf("%s: ok (DeepSpeed's configuration)\n", file);
        script_print(stdout, &l);
    }
    launch_release(&l);
    return rc;
}

static int check_document(struct cfg_loader *loader, const char *file)
{
    struct cfg root = cfg_load(loader, file);
    const struct kind *k = kinds;
    if (!root.json)
        return -1;
    while (k->key && !cfg_present(cfg_get(root, k->key)))
        k++;
    return k->check(loader, root, file);
}

static int check_file(const char *file)
{
    struct cfg_loader loader;
    cfg_loader_init(&loader);
    int rc = !launch_is_script(file)    ? check_document(&loader, file)
             : launch_is_document(file) ? check_dialect_document(&loader, file)
                                        : check_script(&loader, file);
    cmd_warn(&loader);
    if (rc || loader.diags.n_errors)
        return cmd_fail(&loader, NULL);
    cfg_loader_release(&loader);
    return EXIT_DONE;
}

/* Any number of files may be named; only options go through the table. */
static bool has_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1])
            return true;
    return argc < 2;
}

int cmd_check(int argc, char **argv)
{
    char none;
    struct option_list words = { 0 };
    if (has_options(argc, argv)) {
        int done = options_parse(&usage, argc, argv, &none, &words);
        if (done != OPTIONS_GO_ON)
            return done;
    }
    int worst = EXIT_DONE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            continue;
        int rc = check_file(argv[i]);
        worst = rc > worst ? rc : worst;
    }
    return worst;
}
