#include "report/pilot.h"

#include "base/units.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PLANS_SHOWN = 5, TEXT = 200 };

static void print_plans(FILE *out, const struct report_pilot *r)
{
    char text[TEXT], cluster[TEXT], t[UNITS_TEXT_MAX], first[64], plan[2 * TEXT + 2];
    fprintf(out, "  plan      step  best in   regret\n");
    for (int32_t i = 0; i < r->pilot->n_plans && i < PLANS_SHOWN; i++) {
        const struct plan_entry *e = &r->outcome->entries[i];
        snprintf(first, sizeof(first), "  %4d %9s   %5.1f %%  %5.1f %%  ", (int)i + 1,
                 units_time_text(t, e->result.step_time_s),
                 100 * pilot_plan_best(r->pilot->draws, i),
                 100 * pilot_plan_regret(r->pilot->draws, i));
        snprintf(plan, sizeof(plan), "%s, %s",
                 plan_point_cluster_text(r->job, &e->point, cluster, sizeof(cluster)),
                 plan_point_text(r->job, &e->point, text, sizeof(text)));
        report_wrap(out, first, "                                    ", plan);
    }
    if (r->pilot->n_plans > PLANS_SHOWN)
        fprintf(out, "  and %d more\n", (int)r->pilot->n_plans - PLANS_SHOWN);
}

static void print_measure(FILE *out, const struct plan_measure *m, double now)
{
    fprintf(out, "  %-16s %6" PRId64, m->name, m->nodes);
    if (m->done) {
        fprintf(out, "   measured: %.3g times as long as predicted\n", exp(m->said));
        return;
    }
    fprintf(out, "  %9.0f", m->instance_minutes);
    if (isfinite(m->usd))
        fprintf(out, "  %8.0f", m->usd);
    else
        fprintf(out, "  %8s", "?");
    fprintf(out, "  %6.2f %%  %6.2f %%\n", 100 * m->regret_after,
            100 * (now - m->regret_after));
}

/* How to make the measurement, and how to give it back. */
static void print_commands(FILE *out, const struct report_pilot *r,
                           const struct plan_measure *m)
{
    if (m->plan < 0)
        fprintf(out,
                "    srun -N %" PRId64 " --ntasks-per-node=%" PRId64
                " all_reduce_perf -b 1M -e 1G -f 2 -g 1 | tee %s.log\n",
                m->nodes,
                r->outcome->entries[0].point.world /
                    r->outcome->entries[0].point.v[SPACE_COUNT],
                m->name);
    else
        fprintf(out,
                "    smsim pilot %s --write .\n"
                "      (writes %s.json: that plan on %" PRId64 " node%s)\n"
                "    run %d steps of it, and keep the log of the trainer as %s.log\n",
                r->command, m->name, m->nodes, units_plural(m->nodes), PLAN_PILOT_STEPS,
                m->name);
    fprintf(out, "    smsim pilot %s --measured %s=%s.log\n", r->command, m->name,
            m->name);
}

/* Whether a measurement that is left is expected to change the choice. */
static bool is_worth_one(const struct plan_pilot *p, double now)
{
    return p->n && !p->of[0].done && p->of[0].regret_after < now;
}

static void print_verdict(FILE *out, const struct plan_pilot *p, int32_t choice,
                          double now)
{
    char line[300];
    if (is_worth_one(p, now))
        snprintf(line, sizeof(line),
                 "measure %s first: it takes plan %d's expected regret from %.2f to "
                 "%.2f %% of its time",
                 p->of[0].name, (int)choice + 1, 100 * now,
                 100 * p->of[0].regret_after);
    else
        snprintf(
            line, sizeof(line),
            "choose plan %d: no measurement that is left is expected to change that",
            (int)choice + 1);
    report_verdict_line(out, true, line);
}

void report_pilot_text(FILE *out, const struct report_pilot *r)
{
    int32_t choice;
    const struct plan_pilot *p = r->pilot;
    double now = pilot_regret(p->draws, &choice);
    print_verdict(out, p, choice, now);
    report_assumed(out, "assumed: ", &r->job->assumed);
    print_plans(out, r);
    fprintf(
        out,
        "\n  regret expected of plan %d, the best choice now: %.2f %% of its time\n",
        (int)choice + 1, 100 * now);
    fprintf(out,
            "  it includes what no measurement removes: equal runs of a plan differ\n");
    if (p->n && p->of[p->n - 1].done)
        fprintf(out, "  draws that agree with what was measured: %.0f%s\n",
                pilot_draws(p->draws),
                pilot_draws(p->draws) < 10
                    ? " (what was measured is unlike what was drawn: --draws N)"
                    : "");
    fprintf(out,
            "\n  measurement       nodes  inst-min       USD   regret     saves\n");
    for (int32_t i = 0; i < p->n; i++)
        print_measure(out, &p->of[i], now);
    if (is_worth_one(p, now)) {
        fprintf(out, "\n  the first of them\n");
        print_commands(out, r, &p->of[0]);
    } else {
        fprintf(out,
                "\n  no measurement that is left is expected to change the choice\n");
    }
}
