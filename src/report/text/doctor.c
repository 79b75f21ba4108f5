#include "report/doctor.h"

#include "doctor/signature.h"
#include "doctor/variables.h"

#include "base/plain.h"
#include "base/units.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SHOWN = 60 };

static const double drift_told = 0.03;

/* A name of a file, or a text of a log, as a terminal may show it. */
static void print_plain(FILE *out, const char *text)
{
    char copy[SHOWN + 1];
    size_t n = strlen(text);
    if (n > SHOWN)
        text += n - SHOWN;
    snprintf(copy, sizeof(copy), "%s", text);
    plain_make(copy);
    fputs(copy, out);
}

/* The answer in short --------------------------------------------------------------- */

static void print_answer(FILE *out, const struct doctor *d)
{
    char m[UNITS_TEXT_MAX], p[UNITS_TEXT_MAX], text[256];
    static const char *const texts[][2] = {
        [DOCTOR_NORMAL] = { "normal", ", within the range of 95 % of runs" },
        [DOCTOR_SLOWER] = { "slower than it should be", "" },
        [DOCTOR_FASTER] = { "faster than predicted", ": is the job as it ran?" },
    };
    if (d->verdict == DOCTOR_NO_TIME)
        snprintf(text, sizeof(text),
                 "no verdict: the logs have no time of a step "
                 "(docs/doctor.md lists what is read)");
    else
        snprintf(text, sizeof(text), "%s: %s a step, %.3g times the predicted %s%s",
                 texts[d->verdict][0], units_time_text(m, d->steady.median_s), d->ratio,
                 units_time_text(p, d->healthy.step_s), texts[d->verdict][1]);
    report_wrap(out, "", "  ", text);
    if (d->other.n)
        fprintf(out, "the job is not as the logs say: see the warnings\n");
    report_doctor_next(out, d);
}

/* What the logs say of the run that is not the job's. */
static void print_contradictions(FILE *out, const struct doctor *d)
{
    for (int32_t i = 0; i < d->other.n; i++) {
        const struct doctor_contradiction *c = &d->other.of[i];
        fprintf(out, "    warning: %s: the logs say %s", c->what, c->said);
        if (c->at.line) {
            fprintf(out, " (");
            print_plain(out, d->logs->files.v[c->at.file].name);
            fprintf(out, ":%" PRId64 ")", c->at.line);
        }
        fprintf(out, ", the job has %s\n", c->has);
    }
}

/* The verdict ---------------------------------------------------------------------- */

static void print_verdict(FILE *out, const struct report_doctor *r)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX], c[UNITS_TEXT_MAX], m[UNITS_TEXT_MAX],
        e[UNITS_TEXT_MAX];
    const struct doctor *d = r->d;
    const struct doctor_prediction *p = &d->healthy;
    fprintf(out, "  ");
    print_plain(out, r->job);
    fprintf(out, "\n    predicted   %s a step, %s to %s", units_time_text(a, p->step_s),
            units_time_text(b, p->range_s[0]), units_time_text(c, p->range_s[1]));
    fprintf(out, p->quality[0] ? " (network: %s)\n" : "%s\n", p->quality);
    fprintf(out, "    normal      %s to %s, 95 %% of runs\n",
            units_time_text(b, p->normal_s[0]), units_time_text(e, p->normal_s[1]));
    if (d->verdict == DOCTOR_NO_TIME) {
        fprintf(out, "    measured    the logs have no time of a step\n");
        print_contradictions(out, d);
        return;
    }
    fprintf(out, "    measured    %s a step, %.3g times as long: %s\n",
            units_time_text(m, d->steady.median_s), d->ratio,
            d->verdict == DOCTOR_NORMAL   ? "normal, within the range"
            : d->verdict == DOCTOR_SLOWER ? "slower than the range"
                                          : "faster than the range");
    if (d->steady.doubtful)
        fprintf(out,
                "    warning: these are times of a progress bar, and no line of the "
                "logs speaks of training\n");
    print_contradictions(out, d);
}

/* What was read -------------------------------------------------------------------- */

static void print_format(FILE *out, const struct doctor *d, int32_t i)
{
    const struct logs_format_use *use = &d->logs->formats[i];
    if (use->n_records == 0)
        return;
    fprintf(out, "    %s: %" PRId64, logs_format_name(i), use->n_records);
    if (use->first_line)
        fprintf(out, ", from line %" PRId64, use->first_line);
    fprintf(out, "%s", i == d->steady.format ? " (used)" : "");
    if (use->n_ranks_left)
        fprintf(out, "; %" PRId64 " repeated, left out", use->n_ranks_left);
    fputc('\n', out);
}

static void print_files(FILE *out, const struct doctor *d)
{
    const struct logs *l = d->logs;
    fprintf(out, "\n  what was read\n");
    for (int64_t i = 0; i < l->files.n; i++) {
        const struct logs_file *f = &l->files.v[i];
        fprintf(out, "    ");
        print_plain(out, f->name);
        if (f->n_events)
            fprintf(out, ": %" PRId64 " events of a trace", f->n_events);
        else
            fprintf(out, ": %" PRId64 " lines", f->n_lines);
        if (f->n_long)
            fprintf(out, ", %" PRId64 " of them cut", f->n_long);
        fprintf(out, "%s\n", f->is_cut ? "; too large, the rest was left out" : "");
    }
    for (int32_t i = 0; i < logs_n_formats; i++)
        print_format(out, d, i);
    if (l->timers.n)
        fprintf(out, "    timers: %d\n", l->timers.n);
    if (l->nccl.n_lines)
        fprintf(out, "    lines of NCCL: %" PRId64 "\n", l->nccl.n_lines);
    if (l->smi.n)
        fprintf(out, "    GPUs of nvidia-smi or DCGM: %d\n", l->smi.n);
    if (l->stride > 1)
        fprintf(out, "    of %" PRId64 " records, one in %" PRId64 " was kept\n",
                l->n_seen, l->stride);
}

/* Steps ---------------------------------------------------------------------------- */

static void print_basis(FILE *out, const struct logs_steady *s)
{
    static const char *const texts[] = {
        [LOGS_INTERVAL] = NULL,
        [LOGS_SMOOTHED] = "these times are moving averages: the spread is wider",
        [LOGS_MEAN] = "this is the mean of all steps: start, evaluation and "
                      "checkpoints are in it",
        [LOGS_PARTS] = "these are timers of forward, backward and step: what lies "
                       "between them is missing",
    };
    const char *text = texts[logs_format_basis(s->format)];
    if (text)
        fprintf(out, "    %s\n", text);
    else if (s->few && s->parts[LOGS_WARMUP].n == 0)
        fprintf(out, "    too few records to set any apart\n");
    if (s->n_unknown)
        fprintf(out, "    %" PRId64 " records have a rate whose unit the job lacks\n",
                s->n_unknown);
}

/* What steps of a kind cost the run, and the mend. */
static void print_lost(FILE *out, const struct doctor *d)
{
    static const char *const mends[LOGS_KINDS] = {
        [LOGS_AT_CHECKPOINT] = "save less often, asynchronously, or to faster storage",
        [LOGS_AT_EVALUATION] = "evaluate less often, or fewer batches",
        [LOGS_AT_PAUSE] = "collect garbage less often, and write no traces",
        [LOGS_STALL] = "look at storage, the network and the host at their times",
    };
    static const double least = 0.005;
    for (int i = 0; i < LOGS_KINDS; i++) {
        char cost[64] = "", text[256];
        double share = logs_steady_lost(&d->steady, (enum logs_kind)i);
        if (!mends[i] || share < least)
            continue;
        if (isfinite(d->healthy.usd_per_h))
            snprintf(cost, sizeof(cost), ", %.0f USD a day",
                     24 * share * d->healthy.usd_per_h);
        snprintf(text, sizeof(text), "%s: %.1f %% of the time%s: %s",
                 logs_kind_names[i], 100 * share, cost, mends[i]);
        report_wrap(out, "    ", "      ", text);
    }
}

static void print_steps(FILE *out, const struct doctor *d)
{
    char t[UNITS_TEXT_MAX], u[UNITS_TEXT_MAX], v[UNITS_TEXT_MAX];
    const struct logs_steady *s = &d->steady;
    if (s->n == 0)
        return;
    fprintf(out, "\n  steps          records     longest        lost   first at\n");
    for (int i = 0; i < LOGS_KINDS; i++) {
        const struct logs_part *p = &s->parts[i];
        if (p->n == 0)
            continue;
        fprintf(out, "    %-12s %7" PRId64 "  %10s  %10s   ", logs_kind_names[i], p->n,
                units_time_text(t, p->longest_s),
                i == LOGS_STEADY ? "" : units_time_text(u, p->lost_s));
        if (p->first_step >= 0)
            fprintf(out, "step %" PRId64 "%s", p->first_step,
                    p->first_line ? ", " : "");
        if (p->first_line)
            fprintf(out, "line %" PRId64, p->first_line);
        fputc('\n', out);
    }
    print_lost(out, d);
    fprintf(out, "    steady steps: median %s, p10 %s, p90 %s\n",
            units_time_text(t, s->median_s), units_time_text(u, s->p10_s),
            units_time_text(v, s->p90_s));
    if (fabs(s->drift - 1) > drift_told)
        fprintf(out,
                "    the last third of them takes %.3g times as long as the first\n",
                s->drift);
    if (isfinite(s->tflops))
        fprintf(out, "    as the trainer counts: %.4g TFLOP/s per GPU\n", s->tflops);
    print_basis(out, s);
}

static void print_memory(FILE *out, const struct doctor *d)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    const struct logs *l = d->logs;
    const struct doctor_prediction *p = &d->healthy;
    if (l->allocated_B <= 0 && l->reserved_B <= 0)
        return;
    fprintf(out, "\n  memory of a GPU  measured   predicted\n");
    if (l->allocated_B > 0)
        fprintf(out, "    allocated    %9s   %9s%s\n",
                units_bytes_text(a, l->allocated_B),
                units_bytes_text(b, p->allocated_B),
                d->over_memory ? "  more than the range" : "");
    if (l->reserved_B > 0)
        fprintf(out, "    reserved     %9s   %9s\n", units_bytes_text(a, l->reserved_B),
                units_bytes_text(b, p->reserved_B));
}

/* Timers, notices, NCCL, GPUs ------------------------------------------------------ */

static void print_timers(FILE *out, const struct logs_timers *t)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    if (t->n == 0)
        return;
    fprintf(out, "\n  timers, mean                              least        most\n");
    for (int32_t i = 0; i < t->n; i++) {
        const struct logs_timer *x = &t->of[i];
        fprintf(out, "    %-34s %10s  %10s\n", x->name,
                units_time_text(a, x->least_s / (double)x->n),
                units_time_text(b, x->most_s / (double)x->n));
    }
}

static void print_notices(FILE *out, const struct logs *l)
{
    bool any = false;
    for (int i = 0; i < NOTICES; i++) {
        if (l->notices.of[i].n == 0)
            continue;
        fprintf(out, "%s    %" PRId64 " x %s (", any ? "" : "\n  lines of note\n",
                l->notices.of[i].n, logs_notice_text((enum logs_notice)i));
        print_plain(out, l->files.v[l->notices.of[i].file].name);
        fprintf(out, ":%" PRId64 ")\n", l->notices.of[i].line);
        any = true;
    }
}

static void print_connections(FILE *out, const struct logs_nccl *n)
{
    static const char *const names[LOGS_TRANSPORTS] = {
        [LOGS_NET_OFI] = "libfabric",
        [LOGS_NET_IB] = "InfiniBand verbs",
        [LOGS_NET_SOCKET] = "sockets",
        [LOGS_NET_OTHER] = "another plugin",
        [LOGS_P2P] = "P2P",
        [LOGS_SHM] = "shared memory",
    };
    const char *between = "    connections:";
    int64_t net = 0;
    for (int i = 0; i < LOGS_TRANSPORTS; i++) {
        net += i <= LOGS_NET_OTHER ? n->via[i] : 0;
        if (n->via[i] == 0)
            continue;
        fprintf(out, "%s %" PRId64 " by %s", between, n->via[i], names[i]);
        between = ",";
    }
    if (net)
        fprintf(out, "; %" PRId64 " of %" PRId64 " with GPUDirect RDMA", n->via_gdr,
                net);
    if (between[0] == ',')
        fputc('\n', out);
}

static void print_nccl(FILE *out, const struct logs_nccl *n)
{
    if (n->n_lines == 0)
        return;
    fprintf(out, "\n  NCCL %s\n", n->version[0] ? n->version : "of unknown version");
    if (n->network[0])
        fprintf(out, "    network: %s%s%s%s%s\n", n->network,
                n->provider[0] ? ", provider " : "", n->provider,
                n->plugin[0] ? ", aws-ofi-nccl " : "", n->plugin);
    if (n->ranks)
        fprintf(out, "    largest communicator: %" PRId64 " ranks\n", n->ranks);
    if (n->nics || n->channels)
        fprintf(out,
                "    NICs found: %" PRId64 "; channels: %" PRId64
                " (0: not in the log)\n",
                n->nics, n->channels);
    print_connections(out, n);
    if (n->nvls || n->no_nvls)
        fprintf(out, "    NVLink SHARP: on %" PRId64 " GPUs, not on %" PRId64 "\n",
                n->nvls, n->no_nvls);
    if (n->n_warnings)
        fprintf(out, "    warnings: %" PRId64 "\n", n->n_warnings);
}

static void print_variables(FILE *out, const struct doctor *d)
{
    const struct logs_variables *v = &d->logs->variables;
    if (v->n)
        fprintf(out, "\n  variables of the environment\n");
    for (int32_t i = 0; i < v->n; i++) {
        const struct variable_effect *e =
            variable_effect_of(&v->of[i], &d->healthy.facts);
        fprintf(out, "    %s=%s\n", v->of[i].name, v->of[i].value);
        if (e)
            fprintf(out, "      hurts: %s\n", e->text);
    }
}

static void print_gpus(FILE *out, const struct doctor *d)
{
    const struct logs_smi *s = &d->logs->smi;
    double idle = doctor_idle_share(s, &d->steady);
    if (s->n == 0)
        return;
    fprintf(out,
            "\n%62s\n"
            "  GPU            busy   MHz of max    W of limit  power   heat  PCIe\n",
            "throttled by");
    for (int32_t i = 0; i < s->n; i++) {
        const struct logs_gpu *g = &s->gpus[i];
        double n = g->n_busy ? (double)g->n_busy : 1;
        fprintf(out, "    %-8.8s%3" PRId64 "%6" PRId64 " %5.0f  %5.0f %4.0f    %5.0f",
                g->host, g->index, g->n_busy, g->clock / fmax((double)g->n_clock, 1),
                g->max_clock, g->power / fmax((double)g->n_draw, 1), g->limit);
        fprintf(out, "  %3.0f %%  %3.0f %%  x%.0f of x%.0f\n",
                100 * (double)g->n_power / n, 100 * (double)g->n_heat / n, g->width,
                g->max_width);
        if (g->ecc > 0)
            fprintf(out, "      uncorrected ECC errors: %.0f\n", g->ecc);
        if (g->replays > g->first_replays)
            fprintf(out, "      PCIe transfers repeated meanwhile: %.0f\n",
                    g->replays - g->first_replays);
    }
    if (isfinite(idle))
        fprintf(out, "    no kernel runs in %.0f %% of the time; predicted %.0f %%\n",
                100 * idle, 100 * doctor_shares_of(&d->healthy).waiting);
}

void report_doctor_text(FILE *out, const struct report_doctor *r)
{
    const struct doctor *d = r->d;
    print_answer(out, d);
    print_verdict(out, r);
    report_doctor_causes(out, &d->causes);
    print_steps(out, d);
    print_memory(out, d);
    report_doctor_traces(out, d);
    print_timers(out, &d->logs->timers);
    print_nccl(out, &d->logs->nccl);
    print_variables(out, d);
    print_gpus(out, d);
    print_notices(out, d->logs);
    print_files(out, d);
}
