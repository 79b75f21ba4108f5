/* What explains a run, by posterior. */
#include "report/doctor.h"

#include "base/units.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CLASSES_SHOWN = 5, MEMBERS_SHOWN = 6, LINE = 400 };

static const double least_shown = 0.01;

const char *const report_family_texts[DOCTOR_FAMILIES] = {
    [DOCTOR_NETWORK] = "the network between nodes",
    [DOCTOR_INSIDE] = "connections inside a node",
    [DOCTOR_GPU] = "slow GPUs",
    [DOCTOR_WAIT] = "waiting: data, host or memory",
    [DOCTOR_JOB] = "the job",
};

/* What a family needs to be separated. */
const char *const report_family_logs[DOCTOR_FAMILIES] = {
    [DOCTOR_NETWORK] = "a log with NCCL_DEBUG=INFO",
    [DOCTOR_INSIDE] = "a log with NCCL_DEBUG=INFO",
    [DOCTOR_GPU] = "clocks and throttle reasons of nvidia-smi",
    [DOCTOR_WAIT] = "timers of data loading, or a trace",
    [DOCTOR_JOB] = "memory that the trainer reports, or a trace",
};

static void name_cause(char *out, size_t size, const struct doctor_cause *c)
{
    if (c->kind == DOCTOR_HEALTHY)
        snprintf(out, size, "the run is as described");
    else if (c->kind == DOCTOR_UNKNOWN)
        snprintf(out, size, "nothing known explains it");
    else
        snprintf(out, size, "%s%s%s", c->of[0]->text, c->of[1] ? "; and " : "",
                 c->of[1] ? c->of[1]->text : "");
}

static void print_line(FILE *out, const char *first, double posterior, const char *text)
{
    char head[64];
    snprintf(head, sizeof(head), "%s%3.0f %%  ", first, 100 * posterior);
    report_wrap(out, head, "             ", text);
}

static void print_strength(FILE *out, const struct doctor_cause *c)
{
    for (int i = 0; i < 2 && c->of[i]; i++) {
        const struct hypothesis *h = c->of[i];
        const char *what = h->how == DOCTOR_BY_RATE ? "over Ethernet of %g Gb/s"
                           : h->how == DOCTOR_BY_COMPUTE || h->how == DOCTOR_BY_OTHERS
                               ? "kernels take %g times as long"
                           : h->how == DOCTOR_BY_WAIT ? "waiting is %g of the step"
                                                      : "at %g of the described";
        if (hypothesis_n_strengths(h) == 1)
            continue;
        fprintf(out, "           ");
        fprintf(out, what, c->strength[i]);
        fputc('\n', out);
    }
}

static void print_details(FILE *out, const struct doctor_cause *c)
{
    char t[UNITS_TEXT_MAX], u[UNITS_TEXT_MAX];
    if (c->kind != DOCTOR_KNOWN)
        return;
    print_strength(out, c);
    fprintf(out, "           predicted with it: %s a step",
            units_time_text(t, c->step_s));
    if (c->saves_s > 0) {
        fprintf(out, "; the mend saves %s a step", units_time_text(u, c->saves_s));
        if (isfinite(c->usd_per_day))
            fprintf(out, ", %.0f USD a day", c->usd_per_day);
    }
    fputc('\n', out);
    if (c->why)
        report_wrap(out, "           seen:  ", "                  ", c->why);
    for (int i = 0; i < 2 && c->of[i]; i++)
        report_wrap(out, "           check: ", "                  ", c->of[i]->check);
}

/* Families of what a class' causes are, each once, with what separates them. */
static void name_class(char *out, size_t size, const struct doctor_causes *c,
                       const struct doctor_class *k)
{
    char logs[LINE] = "";
    unsigned seen = 0;
    size_t at = 0, logs_at = 0;
    for (int32_t i = 0; i < k->n; i++) {
        const struct doctor_cause *x = &c->of[k->causes[i]];
        for (int s = 0; s < 2 && x->of[s] && x->posterior >= least_shown; s++) {
            enum doctor_family f = x->of[s]->family;
            if (seen >> f & 1)
                continue;
            const char *join = seen ? "; " : "";
            seen |= 1u << f;
            at += (size_t)snprintf(out + at, size - at, "%s%s", join,
                                   report_family_texts[f]);
            if (!strstr(logs, report_family_logs[f]))
                logs_at += (size_t)snprintf(logs + logs_at, sizeof(logs) - logs_at,
                                            "%s%s", join, report_family_logs[f]);
        }
    }
    snprintf(out + at, size - at, " (to separate these: %s)", logs);
}

static void print_class(FILE *out, const struct doctor_causes *c,
                        const struct doctor_class *k)
{
    char text[2 * LINE];
    const struct doctor_cause *first = &c->of[k->causes[0]];
    int32_t shown = 0;
    while (shown < k->n && c->of[k->causes[shown]].posterior >= least_shown)
        shown++;
    if (shown <= 1) {
        name_cause(text, sizeof(text), first);
        print_line(out, "    ", k->posterior, text);
        print_details(out, first);
        return;
    }
    name_class(text, sizeof(text), c, k);
    print_line(out, "    ", k->posterior, text);
    for (int32_t i = 0; i < shown && i < MEMBERS_SHOWN; i++) {
        const struct doctor_cause *x = &c->of[k->causes[i]];
        name_cause(text, sizeof(text), x);
        print_line(out, "      ", x->posterior, text);
        if (i == 0)
            print_details(out, x);
    }
}

void report_doctor_causes(FILE *out, const struct doctor_causes *c)
{
    if (c->n == 0)
        return;
    fprintf(out, "\n  what explains it, by posterior (%" PRId64 " jobs simulated)\n",
            c->n_simulated);
    for (int32_t i = 0; i < c->n_classes && i < CLASSES_SHOWN; i++)
        if (i == 0 || c->classes[i].posterior >= least_shown)
            print_class(out, c, &c->classes[i]);
}
