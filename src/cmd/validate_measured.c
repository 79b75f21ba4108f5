/* From files of measurements to steps compared: reads them, finds or fits the GPU, and
 * shows what comes out. */
#include "cmd/validate_measured.h"

#include "calibrate/calibration.h"
#include "cmd/cmd.h"
#include "report/compare.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

struct showing {
    const struct measured_request *q;
    struct cfg_loader loader;
    struct samples samples;
    struct measured measured;
    struct calibration found;
    struct gpu gpu;
    struct compare_on on;
    struct comparisons report;
    struct err err;
};

static int64_t n_kernels(const struct samples *s)
{
    return s->gemms.n + s->streams.n + s->flashes.n + s->clocks.n;
}

/* Files ---------------------------------------------------------------------------- */

static int load(struct showing *w, const char *file)
{
    struct cfg root = cfg_load(&w->loader, file);
    if (!cfg_present(root))
        return -1;
    if (!cfg_is_object(root) || !cfg_present(cfg_get(root, "format")))
        return cfg_error(root, DIAG_UNKNOWN_FORMAT,
                         "is no measurement of smsim-measure or pytorch_step.py "
                         "(it has no \"format\")");
    if (!w->samples.file)
        w->samples.file = arena_strdup(&w->loader.arena, file);
    int rc = samples_load_measure(&w->samples, root);
    return measured_read(&w->measured, &w->loader, root, file) | rc;
}

static int load_all(struct showing *w, const char *const *files, int n)
{
    const struct samples_hints hints = { .op = -1 };
    samples_init(&w->samples, &w->loader, &hints);
    int rc = 0;
    for (int i = 0; i < n; i++)
        rc |= load(w, files[i]);
    if (rc || w->loader.diags.n_errors)
        return -1;
    if (w->measured.steps.n > 0)
        return 0;
    const char *why = w->measured.failures.n ? w->measured.failures.v[0]
                                             : "no step was measured (smsim-measure "
                                               "--model FILE runs one)";
    return err_set(&w->err, "%s: holds no training step: %s", w->samples.file, why);
}

/* The GPU -------------------------------------------------------------------------- */

static struct cfg option(struct showing *w, const char *name, const char *value)
{
    return cfg_from_tree(&w->loader, name, json_string(value));
}

/* The profile that was named, or that the device's name means. */
static const struct gpu *base_gpu(struct showing *w, const char **base)
{
    const char *device = w->samples.device ? w->samples.device : "";
    *base = calibration_gpu_of(&w->loader.arena, device, w->samples.memory_B);
    const char *name = w->q->gpu ? w->q->gpu : *base;
    if (!name) {
        err_set(&w->err,
                "no GPU of topologies/gpus resembles \"%s\": name one by --gpu (smsim "
                "list gpus), or a profile of smsim calibrate",
                device);
        return NULL;
    }
    return gpu_get(&w->loader, name, option(w, "--gpu", name));
}

static bool is_fitted(const struct calibration *c)
{
    for (int64_t i = 0; i < c->terms.n; i++)
        if (c->terms.v[i].fitted)
            return true;
    return false;
}

static int choose_gpu(struct showing *w, const char **base)
{
    const struct gpu *gpu = base_gpu(w, base);
    if (!gpu)
        return -1;
    w->gpu = *gpu;
    w->on.gpu = &w->gpu;
    w->report.gpu = gpu->name;
    if (!*base)
        *base = gpu->name;
    if (w->q->gpu || n_kernels(&w->samples) == 0)
        return 0;
    calibration_init(&w->found, &w->loader.arena);
    if (calibrate_gpu(&w->found, &w->gpu, &w->samples, &w->err))
        return -1;
    if (is_fitted(&w->found))
        w->report.n_kernels = n_kernels(&w->samples);
    return 0;
}

static int64_t most_gpus(const struct measured *m)
{
    int64_t most = 1;
    for (int64_t i = 0; i < m->steps.n; i++)
        if (m->steps.v[i].n_gpus > most)
            most = m->steps.v[i].n_gpus;
    return most;
}

static int choose_machine(struct showing *w, const char *base)
{
    int64_t n = most_gpus(&w->measured);
    const char *name = w->q->instance;
    w->on.instance = name
                         ? instance_get(&w->loader, name, option(w, "--instance", name))
                         : compare_instance(&w->loader, base, n);
    if (!w->on.instance)
        return -1;
    w->report.instance = w->on.instance->name;
    w->report.instance_named = name != NULL;
    if (w->on.instance->n_gpus < n)
        return err_set(&w->err,
                       "--instance: %s has %d GPUs, a step was run on %" PRId64,
                       w->on.instance->name, w->on.instance->n_gpus, (int64_t)n);
    return 0;
}

static int choose_hardware(struct showing *w)
{
    const char *base;
    if (choose_gpu(w, &base) || choose_machine(w, base))
        return -1;
    w->on.launch_s = w->measured.launch_s;
    w->on.product_s = w->measured.product_s;
    return 0;
}

/* The steps ------------------------------------------------------------------------ */

static void compare_all(struct showing *w)
{
    struct arena *arena = &w->loader.arena;
    struct comparisons *r = &w->report;
    const struct samples *s = &w->samples;
    int64_t n = w->measured.steps.n;
    struct comparison *all = ARENA_ARRAY(arena, n, struct comparison);
    for (int64_t i = 0; i < n; i++) {
        const struct measured_step *step = &w->measured.steps.v[i];
        if (step->failed)
            all[i] = (struct comparison) { .step = step };
        else
            compare_step(&all[i], arena, step, &w->on);
        r->n_unpredicted += all[i].error != NULL;
    }
    r->v = all;
    r->n = n;
    r->measured = &w->measured;
    r->file = s->file;
    r->device = s->device;
    r->date = s->date;
    r->driver = s->driver;
    compare_sum(r);
}

static int show(struct showing *w)
{
    const struct measured_request *q = w->q;
    int rc = 0;
    if (!q->json || strcmp(q->json, "-") != 0)
        report_compare_text(stdout, &w->report);
    if (q->plot.path)
        rc = figure_compare_write(&w->report, &q->plot, &w->err);
    if (rc == 0 && q->json) {
        json_t *tree = report_compare_json(&w->report, &w->loader.diags);
        rc = report_json_write(tree, q->json, &w->err);
        json_decref(tree);
    }
    return rc;
}

int validate_measured(const char *const *files, int n_files,
                      const struct measured_request *q)
{
    struct showing w = { .q = q };
    cfg_loader_init(&w.loader);
    int rc = load_all(&w, files, n_files);
    if (rc == 0)
        rc = choose_hardware(&w);
    if (rc == 0) {
        compare_all(&w);
        rc = show(&w);
    }
    int status = w.report.n_unpredicted > 0 ? EXIT_UNFIT : EXIT_DONE;
    samples_release(&w.samples);
    measured_release(&w.measured);
    calibration_release(&w.found);
    fflush(stdout); /* what is printed first stays before what is warned of */
    cmd_warn(&w.loader);
    if (rc)
        return cmd_fail_json(&w.loader, &w.err, "validate", q->json);
    cfg_loader_release(&w.loader);
    return status;
}
