/* Traces of a run, rank by rank. */
#include "report/doctor.h"

#include "base/units.h"
#include "cost/collective.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RANKS_SHOWN = 16, COMMS_SHOWN = 8 };

static const struct kineto_rank *first_with_steps(const struct logs *l)
{
    for (int64_t i = 0; i < l->traces.n; i++)
        if (l->traces.v[i].n_kept)
            return &l->traces.v[i];
    return l->traces.n ? &l->traces.v[0] : NULL;
}

/* Shares ---------------------------------------------------------------------------- */

static void print_share(FILE *out, const char *what, double measured_s, double step_s,
                        double predicted)
{
    char t[UNITS_TEXT_MAX];
    fprintf(out, "    %-32s %10s  %5.1f %%", what, units_time_text(t, measured_s),
            100 * measured_s / step_s);
    if (isfinite(predicted))
        fprintf(out, "      %5.1f %%", 100 * predicted);
    fputc('\n', out);
}

static const char *marks_text(enum kineto_marks m)
{
    static const char *const texts[] = {
        [KINETO_GPU_MARKS] = "the GPU's marks",
        [KINETO_HOST_MARKS] = "the host's marks",
        [KINETO_RANGES] = "ranges that repeat",
        [KINETO_OPTIMIZER] = "the optimizer's kernels",
        [KINETO_NO_STEPS] = "none",
    };
    return texts[m];
}

/* Of the time of late launches. */
static const char *const late_texts[KINETO_LATE] = {
    [LATE_LOADER] = "    as it loaded data",
    [LATE_SYNC] = "    after it waited for the GPU",
    [LATE_ALLOCATOR] = "    as memory was allocated",
    [LATE_OPTIMIZER] = "    in the optimizer",
    [LATE_LAUNCHES] = "    Python and launches",
};

static void print_shares(FILE *out, const struct doctor *d, const struct kineto_rank *r)
{
    const struct kineto_step *m = &r->mean;
    struct doctor_shares p = doctor_shares_of(&d->healthy);
    double unknown = (double)NAN;
    if (r->n_kept)
        fprintf(out,
                "    %" PRId64 " of %" PRId64
                " steps, by %s; their mean:%*spredicted\n",
                r->n_kept, r->steps.n, marks_text(r->marks),
                (int)(31 - strlen(marks_text(r->marks))), "");
    else
        fprintf(out, "    no step is marked; the whole trace:\n");
    if (!r->n_kept)
        p = (struct doctor_shares) { unknown, unknown, unknown };
    print_share(out, "kernels that compute", m->compute_s, m->step_s, p.compute);
    print_share(out, "communication that is exposed", m->exposed_s, m->step_s,
                p.communication);
    print_share(out, "the GPU idle, or copies alone", m->idle_s + m->copy_exposed_s,
                m->step_s, p.waiting);
    print_share(out, "  of it, the host launched late", m->host_s, m->step_s, unknown);
    for (int i = 0; i < KINETO_LATE; i++)
        if (m->late_s[i] > 0.001 * m->step_s)
            print_share(out, late_texts[i], m->late_s[i], m->step_s, unknown);
    if (m->loading_s > 0)
        print_share(out, "  the host waits for data", m->loading_s, m->step_s, unknown);
    if (m->comm_s > 0)
        fprintf(out, "    communication under kernels that compute: %.0f %% of it\n",
                100 * (1 - m->exposed_s / m->comm_s));
}

/* Kernels --------------------------------------------------------------------------- */

static void print_classes(FILE *out, const struct kineto_rank *r)
{
    char t[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    fprintf(out, "    kernels %-14s number        time   share%s\n",
            r->n_kept ? "of a step" : "", r->backward ? "  of it, backward" : "");
    for (int i = 0; i < KERNEL_CLASSES; i++) {
        if (r->class_n[i] == 0)
            continue;
        fprintf(out, "      %-18s %8" PRId64 "  %10s  %4.1f %%",
                names_of(kernel_class_names, i), r->class_n[i],
                units_time_text(t, r->class_s[i]),
                100 * r->class_s[i] / r->mean.step_s);
        if (r->backward && r->backward_s[i] > 0)
            fprintf(out, "  %10s", units_time_text(b, r->backward_s[i]));
        fputc('\n', out);
    }
    if (r->precision[0])
        fprintf(out, "    most products are of %s\n", r->precision);
}

/* The factor of nccl-tests' bus bandwidth; NAN: there is none. */
static double bus_factor(const struct kineto_comm *c)
{
    static const int ops[COMM_KINDS] = {
        [COMM_ALL_REDUCE] = COLL_ALL_REDUCE,
        [COMM_ALL_GATHER] = COLL_ALL_GATHER,
        [COMM_REDUCE_SCATTER] = COLL_REDUCE_SCATTER,
        [COMM_ALL_TO_ALL] = COLL_ALLTOALL,
    };
    bool known =
        c->kind <= COMM_ALL_TO_ALL && c->size_B > 0 && c->group > 1 && c->least_s > 0;
    return known ? coll_bus_factor((enum coll_op)ops[c->kind], c->group) : (double)NAN;
}

static void print_comms(FILE *out, const struct kineto_rank *r)
{
    char s[UNITS_TEXT_MAX], a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    if (r->comms.n == 0)
        return;
    fprintf(out,
            "    communication   number      size ranks      mean     least exposed "
            "bus GB/s\n");
    for (int64_t i = 0; i < r->comms.n && i < COMMS_SHOWN; i++) {
        const struct kineto_comm *c = &r->comms.v[i];
        double bus = bus_factor(c);
        fprintf(out, "      %-14s %6" PRId64 "  %8s %5" PRId64 "  %8s  %8s  %4.0f %%",
                names_of(kernel_comm_names, (int)c->kind), c->n,
                c->size_B > 0 ? units_bytes_text(s, c->size_B) : "?", c->group,
                units_time_text(a, c->time_s / (double)c->n),
                units_time_text(b, c->least_s),
                c->time_s > 0 ? 100 * c->exposed_s / c->time_s : 0);
        if (isfinite(bus))
            fprintf(out, " %8.1f", bus * c->size_B / c->least_s / 1e9);
        fputc('\n', out);
    }
    if (r->comms.n > COMMS_SHOWN)
        fprintf(out, "      and %" PRId64 " more kinds and sizes\n",
                r->comms.n - COMMS_SHOWN);
}

/* Ranks ----------------------------------------------------------------------------- */

static void print_ranks(FILE *out, const struct logs *l)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX], e[UNITS_TEXT_MAX];
    if (l->traces.n < 2)
        return;
    fprintf(out, "    by rank           step     computes      exposed         idle\n");
    for (int64_t i = 0; i < l->traces.n && i < RANKS_SHOWN; i++) {
        const struct kineto_step *m = &l->traces.v[i].mean;
        fprintf(out, "    %6" PRId64 "    %10s   %10s   %10s   %10s\n",
                l->traces.v[i].rank, units_time_text(a, m->step_s),
                units_time_text(b, m->compute_s), units_time_text(c, m->exposed_s),
                units_time_text(e, m->idle_s));
    }
}

static void print_notes(FILE *out, const struct kineto_rank *r)
{
    if (!r->whole)
        fprintf(out, "    the trace is cut off, or no JSON to its end: what came "
                     "before was read\n");
    if (r->n_left_out)
        fprintf(out, "    %" PRId64 " kernels are beyond what is read, left out\n",
                r->n_left_out);
    if (r->n_devices > 1)
        fprintf(out, "    kernels of %" PRId64 " GPUs: that with most is shown\n",
                r->n_devices);
}

void report_doctor_traces(FILE *out, const struct doctor *d)
{
    const struct kineto_rank *r = first_with_steps(d->logs);
    if (!r)
        return;
    fprintf(out, "\n  trace");
    if (r->rank >= 0)
        fprintf(out, " of rank %" PRId64, r->rank);
    if (r->world > 0)
        fprintf(out, " of %" PRId64, r->world);
    fprintf(out, "%s%s%s%s, %" PRId64 " kernels\n", r->device[0] ? ", " : "", r->device,
            r->nccl[0] ? ", NCCL " : "", r->nccl, r->n_kernels);
    if (r->n_kernels == 0) {
        fprintf(out, "    no kernel of a GPU is in it (ProfilerActivity.CUDA)\n");
        return;
    }
    print_shares(out, d, r);
    print_classes(out, r);
    print_comms(out, r);
    print_ranks(out, d->logs);
    print_notes(out, r);
}
