/* How step times vary, and what failures leave of the time. */
#include "report/report.h"

#include <inttypes.h>

static void print_steps(FILE *out, const struct uncertainty_result *r)
{
    const struct distribution *d = &r->step_time_s;
    const double values[] = { d->mean, d->p5, d->p50, d->p95 };
    char texts[4][UNITS_TEXT_MAX];
    for (int i = 0; i < 4; i++)
        units_time_text(texts[i], values[i]);
    fprintf(out, "  step time  %s in the mean (%+.2f %%), p5 %s, p50 %s, p95 %s\n",
            texts[0], 100 * (r->slowdown - 1), texts[1], texts[2], texts[3]);
}

static void print_share(FILE *out, const char *what, double share)
{
    fprintf(out, ", %s %.1f %%", what, 100 * share);
}

static void print_goodput(FILE *out, const struct goodput_result *g)
{
    const struct failure_process *p = &g->process;
    char between[UNITS_TEXT_MAX], interval[UNITS_TEXT_MAX], takes[UNITS_TEXT_MAX];
    fprintf(out, "  goodput    %.1f %% of the time", 100 * g->fraction);
    print_share(out, "lost work", g->lost);
    print_share(out, "checkpoints", g->checkpoints);
    print_share(out, "restarts", g->restarts);
    fprintf(out, "\n             %s steps/day, p5 %s, p95 %s\n",
            units_number_text(UNITS_BUF, g->steps_per_day.mean, 4),
            units_number_text(UNITS_BUF, g->steps_per_day.p5, 4),
            units_number_text(UNITS_BUF, g->steps_per_day.p95, 4));
    fprintf(out, "             a failure every %s, a checkpoint of %s every %s\n",
            units_time_text(between, p->mtbf_s),
            units_time_text(takes, p->checkpoint_s),
            units_time_text(interval, p->interval_s));
    if (g->gave_up)
        fprintf(out, "             %" PRId64 " draws hardly went on\n",
                (int64_t)g->gave_up);
}

void report_uncertainty_text(FILE *out, const struct uncertainty_result *r)
{
    if (!r->given)
        return;
    fprintf(out, "\nUncertainty (%" PRId64 " draws, seed %" PRId64 "%s)\n",
            (int64_t)r->samples, (int64_t)r->seed,
            !r->varies    ? ""
            : r->unfolded ? ", every rank"
                          : ", the slowest of equal ranks");
    if (r->varies)
        print_steps(out, r);
    if (r->has_goodput)
        print_goodput(out, &r->goodput);
}
