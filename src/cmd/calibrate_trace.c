#include "cmd/calibrate_trace.h"

#include "base/plain.h"
#include "base/units.h"
#include "calibrate/trace_fit.h"
#include "cmd/cmd.h"
#include "cmd/script.h"
#include "config/datadir.h"
#include "config/pointer.h"
#include "doctor/contradictions.h"
#include "logs/logs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The table ------------------------------------------------------------------------- */

static void print_fit(FILE *out, enum traced_class class, const struct traced_fit *f)
{
    static const char *const joins[] = { [TRACED_APART] = "not joined",
                                         [TRACED_BY_SHAPE] = "by shape",
                                         [TRACED_BY_CLASS] = "by class" };
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];
    fprintf(out, "  %-16s %7" PRId64 "  %10s", names_of(traced_class_names, (int)class),
            f->n, units_time_text(a, f->measured_s));
    if (f->join == TRACED_APART) {
        fprintf(out, "   not joined: %s\n", f->why ? f->why : "");
        return;
    }
    fprintf(out, "   %-10s %5.1f %%  %10s  %10s", joins[f->join],
            100 * f->joined_s / f->measured_s, units_time_text(b, f->was_s),
            units_time_text(c, f->predicted_s));
    if (f->join == TRACED_BY_SHAPE)
        fprintf(out, "  (%" PRId64 " shapes)", f->n_shapes);
    fputc('\n', out);
}

static void print_replay(FILE *out, const char *what, double measured_s, double was_s,
                         double now_s)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX];
    fprintf(out, "  %-24s %10s  %10s %+6.1f %%  %10s %+6.1f %%\n", what,
            units_time_text(a, measured_s), units_time_text(b, was_s),
            100 * (was_s / measured_s - 1), units_time_text(c, now_s),
            100 * (now_s / measured_s - 1));
}

static void print_trace(FILE *out, const struct calibrate_trace *t,
                        const struct traced_step *s, const struct kineto_rank *r)
{
    fprintf(out, "%s: %" PRId64 " step%s", t->trace, r->n_kept,
            units_plural(r->n_kept));
    if (r->rank >= 0)
        fprintf(out, " of rank %" PRId64, r->rank);
    fprintf(out, "%s%s\n\n", r->device[0] ? ", " : "", r->device);
    fprintf(out,
            "  of a step         kernels    measured   joined      of it      before"
            "       after\n");
    for (int i = 0; i < TRACED_CLASSES; i++)
        print_fit(out, (enum traced_class)i, &s->fits[i]);
    fprintf(out, "  joined: %.1f %% of the time of kernels that compute\n\n",
            100 * s->joined_share);
    fprintf(out,
            "  replay                     measured      before   error        after"
            "   error\n");
    print_replay(out, "kernels that compute", s->compute_s, s->was_compute_s,
                 s->predicted_compute_s);
    print_replay(out, "step", s->step_s, s->was_step_s, s->predicted_step_s);
    fprintf(out, "  communication, host and waiting are as predicted, not as measured\n"
                 "\n");
}

/* What is read ---------------------------------------------------------------------- */

static int read_trace(struct logs *l, const char *file, struct err *err)
{
    logs_init(l);
    if (logs_read(l, file, err))
        return -1;
    if (l->traces.n == 0)
        return err_set(err, "--trace: %s is no trace of PyTorch's profiler", file);
    if (l->traces.v[0].n_kernels == 0)
        return err_set(
            err, "--trace: no kernel of a GPU is in %s (ProfilerActivity.CUDA)", file);
    return 0;
}

/* A trace of another GPU, or of other ranks, than the scenario's is fitted all the
 * same. */
static int fit(FILE *out, const struct calibrate_trace *t, struct calibration *c,
               struct cfg *file, struct samples *samples, struct cfg_loader *loader,
               const struct logs *logs, struct err *err)
{
    const struct kineto_rank *r = &logs->traces.v[0];
    const struct script_options how = { .sets = t->sets };
    struct scenario s;
    struct traced_step step;
    struct cfg root;
    if (script_scenario(&s, &root, loader, t->scenario, &how))
        return -1;
    struct gpu gpu = *s.cluster.groups[0].instance->gpu;
    json_t *named = json_object_get(json_object_get(root.json, "cluster"), "gpu");
    const char *name = json_is_string(named) ? json_string_value(named) : gpu.name;
    doctor_contradictions_warn(loader, "--trace", root.json, logs);
    c->base = gpu.name;
    *file = datadir_load(loader, "topologies/gpus", name,
                         cfg_from_tree(loader, "--scenario", json_string(name)));
    VEC_PUSH(&samples->files, t->trace);
    samples->file = t->trace;
    samples->device = r->device[0] ? arena_strdup(&loader->arena, r->device) : NULL;
    if (calibrate_trace(&step, c, &gpu, &s, r, err))
        return -1;
    print_trace(out, t, &step, r);
    return 0;
}

int calibrate_from_trace(FILE *out, const struct calibrate_trace *t,
                         struct calibration *c, struct cfg *file,
                         struct samples *samples, struct cfg_loader *loader,
                         struct err *err)
{
    struct logs logs;
    int rc = read_trace(&logs, t->trace, err) ||
             fit(out, t, c, file, samples, loader, &logs, err);
    logs_release(&logs);
    return rc;
}
