/* What explains a run, by posterior. */
#include "report/doctor.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "doctor/evidence.h"
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
    [DOCTOR_WAIT] = "utilization by nvidia-smi, timers of data loading, or a trace",
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
    struct strbuf saves;
    if (c->kind != DOCTOR_KNOWN)
        return;
    print_strength(out, c);
    strbuf_init(&saves);
    strbuf_printf(&saves, "predicts %s a step", units_time_text(t, c->step_s));
    if (c->saves_s > 0) {
        strbuf_printf(&saves, "; the mend saves %s", units_time_text(u, c->saves_s));
        if (isfinite(c->usd_per_day))
            strbuf_printf(&saves, ", %.0f USD a day", c->usd_per_day);
    }
    report_wrap(out, "           ", "             ", strbuf_get(&saves));
    strbuf_release(&saves);
    if (c->why)
        report_wrap(out, "           seen:  ", "                  ", c->why);
    for (int i = 0; i < 2 && c->of[i]; i++)
        report_wrap(out, "           check: ", "                  ", c->of[i]->check);
}

/* Families of what a class' causes are, each once, and the logs that separate them. */
struct families {
    char names[LINE], logs[LINE];
};

static void add_text(char *to, const char *text)
{
    size_t at = strlen(to);
    snprintf(to + at, LINE - at, "%s%s", at ? "; " : "", text);
}

static void name_families(struct families *f, const struct doctor_causes *c,
                          const struct doctor_class *k)
{
    unsigned seen = 0;
    f->names[0] = f->logs[0] = '\0';
    for (int32_t i = 0; i < k->n; i++) {
        const struct doctor_cause *x = &c->of[k->causes[i]];
        for (int s = 0; s < 2 && x->of[s] && x->posterior >= least_shown; s++) {
            enum doctor_family family = x->of[s]->family;
            if (seen >> family & 1)
                continue;
            seen |= 1u << family;
            add_text(f->names, report_family_texts[family]);
            if (!strstr(f->logs, report_family_logs[family]))
                add_text(f->logs, report_family_logs[family]);
        }
    }
}

/* How many of a class' causes are probable enough to be listed. */
static int32_t count_shown(const struct doctor_causes *c, const struct doctor_class *k)
{
    int32_t n = 0;
    while (n < k->n && c->of[k->causes[n]].posterior >= least_shown)
        n++;
    return n;
}

/* What comes before causes that neither words of the logs nor a trace say, of a run
 * within the range. */
static const char *reserve_of(const struct doctor *d, const struct doctor_cause *first)
{
    bool may_be_healthy = d->verdict == DOCTOR_NORMAL && !d->has_trace &&
                          first->evidence < evidence_decides;
    return may_be_healthy ? "it may well be healthy; if it should be faster: " : "";
}

void report_doctor_next(FILE *out, const struct doctor *d)
{
    const struct doctor_causes *c = &d->causes;
    char text[4 * LINE], name[LINE];
    struct families f;
    if (c->n == 0)
        return;
    const struct doctor_class *k = &c->classes[0];
    const struct doctor_cause *first = &c->of[k->causes[0]];
    static const double most = 0.8; /* of a class: the others are not worth a log */
    double share = 100 * k->posterior;
    name_cause(name, sizeof(name), first);
    if (first->kind == DOCTOR_HEALTHY)
        return;
    if (first->kind == DOCTOR_UNKNOWN)
        snprintf(text, sizeof(text),
                 "nothing known explains it (%.0f %%). Next: give a trace of PyTorch's "
                 "profiler as another --log; see that the job is described as it ran",
                 share);
    else if (count_shown(c, k) <= 1 || first->posterior > most * k->posterior)
        snprintf(text, sizeof(text),
                 "%sprobable cause (%.0f %%): %s. Next: its check, below",
                 reserve_of(d, first), 100 * first->posterior, name);
    else {
        name_families(&f, c, k);
        snprintf(text, sizeof(text),
                 "%sseveral causes fit (%.0f %%): %s. Next: add (--log) what separates "
                 "them: %s",
                 reserve_of(d, first), share, f.names, f.logs);
    }
    report_wrap(out, "", "  ", text);
}

static void print_class(FILE *out, const struct doctor_causes *c,
                        const struct doctor_class *k)
{
    char text[3 * LINE];
    struct families f;
    const struct doctor_cause *first = &c->of[k->causes[0]];
    int32_t shown = count_shown(c, k);
    if (shown <= 1) {
        name_cause(text, sizeof(text), first);
        print_line(out, "    ", k->posterior, text);
        print_details(out, first);
        return;
    }
    name_families(&f, c, k);
    snprintf(text, sizeof(text), "%s (to separate these: %s)", f.names, f.logs);
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
