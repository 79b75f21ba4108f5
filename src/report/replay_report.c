#include "report/replay_report.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

/* Text -------------------------------------------------------------------------------- */

static void print_part(FILE *out, const char *name, double time_s, double step_s)
{
    char text[UNITS_TEXT_MAX];
    fprintf(out, "  %-34s %9s  %4.1f %%\n", name, units_time_text(text, time_s),
            step_s > 0 ? 100 * time_s / step_s : 0);
}

static void print_all(FILE *out, const struct report_replay *p)
{
    char text[UNITS_TEXT_MAX];
    const struct replay_result *r = p->all;
    const struct cluster *c = &p->scenario->cluster;
    fprintf(
        out,
        "%s: %" PRId64 " rank%s, %" PRId64 " node%s, replayed on %" PRId64 " x %s\n\n",
        p->name, p->trace->n_ranks, units_plural(p->trace->n_ranks), p->trace->nodes.n,
        units_plural(p->trace->nodes.n), c->n_instances, c->groups[0].instance->name);
    fprintf(out, "  step time   %s\n\n", units_time_text(text, r->step_s));
    fprintf(out, "Where it goes (rank %" PRId64 ", the last to end)\n", r->rank);
    print_part(out, "kernels, as the trace has them", r->compute_s, r->step_s);
    print_part(out, "communication that is exposed", r->exposed_s, r->step_s);
    print_part(out, "host and waiting", r->waiting_s, r->step_s);
    fprintf(out, "\n%" PRId64 " collectives of %s in all", r->n_collectives,
            units_time_text(text, r->collective_s));
    fprintf(out, ", %" PRId64 " messages\n", r->n_messages);
    fprintf(out,
            "assumed: rank r is on instance r / %d; kernels take what they took where "
            "the trace was made;\n    collectives of groups of one split run at once, "
            "others alone\n",
            c->groups[0].gpus_per_instance);
}

/* Of the replay with the trace's own times; sums are rounded. */
static double error_of(const struct replay_step *r)
{
    double error = r->same_s / r->measured_s - 1;
    return fabs(error) < 1e-9 ? 0 : error;
}

static void print_step(FILE *out, const struct report_replay *p)
{
    char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];
    const struct replay_step *r = p->step;
    const struct cluster *c = &p->scenario->cluster;
    fprintf(out, "%s: a step of one rank, replayed on %" PRId64 " x %s\n\n", p->name,
            c->n_instances, c->groups[0].instance->name);
    fprintf(out, "  measured    %s\n", units_time_text(a, r->measured_s));
    fprintf(out, "  replayed    %s with the trace's own times: off by %+.1f %%\n",
            units_time_text(a, r->same_s), 100 * error_of(r));
    fprintf(out, "  step time   %s on this cluster\n\n", units_time_text(a, r->step_s));
    fprintf(out, "Where it goes\n");
    print_part(out, "kernels, as the trace has them", r->compute_s, r->step_s);
    print_part(out, "communication that is exposed", r->exposed_s, r->step_s);
    print_part(out, "host and waiting", r->idle_s, r->step_s);
    fprintf(out, "\n%" PRId64 " kernels, %" PRId64 " of them communicate\n",
            r->n_kernels, r->n_collectives);
    if (r->n_collectives > r->n_kept)
        fprintf(out, "%" PRId64 " collectives: %s in the trace, %s here",
                r->n_collectives - r->n_kept, units_time_text(a, r->was_s),
                units_time_text(b, r->collective_s));
    if (r->n_collectives > r->n_kept)
        fprintf(out, "; %s of both waits for other ranks\n",
                units_time_text(a, r->waited_s));
    if (r->n_kept)
        fprintf(out,
                "%" PRId64 " keep the time of the trace, which lacks their size or "
                "group, or has\n    messages or experts' own kernels\n",
                r->n_kept);
    fprintf(
        out,
        "assumed: all ranks do the same; a group of fewer ranks than GPUs is of "
        "neighbours\n    where the trace has no stride; kernels take what they took "
        "where the trace was\n    made, and wait for what they waited for there\n");
}

void report_replay_text(FILE *out, const struct report_replay *r)
{
    if (r->step)
        print_step(out, r);
    else
        print_all(out, r);
}

/* JSON -------------------------------------------------------------------------------- */

static json_t *of_instances(const void *of)
{
    const struct report_replay *r = of;
    return json_integer(r->scenario->cluster.n_instances);
}

static json_t *of_error(const void *of)
{
    return json_real(error_of(of));
}

/* clang-format off */
static const struct contract_member all_rows[] = {
    CONTRACT_AT("step_time_s", REAL, replay_result, step_s, "Until the last rank ends."),
    CONTRACT_AT("rank", INT64, replay_result, rank, "The last to end; the parts are its."),
    CONTRACT_AT("compute_s", REAL, replay_result, compute_s, "Kernels that compute run."),
    CONTRACT_AT("exposed_s", REAL, replay_result, exposed_s, "Communication runs, and nothing computes."),
    CONTRACT_AT("waiting_s", REAL, replay_result, waiting_s, "Neither runs."),
    CONTRACT_AT("collectives", INT64, replay_result, n_collectives, "Of all ranks together; a collective counts once."),
    CONTRACT_AT("messages", INT64, replay_result, n_messages, "Likewise."),
    CONTRACT_AT("collectives_s", REAL, replay_result, collective_s, "The sum of their times."),
    CONTRACT_END,
};
static const struct contract_object all = { "replay_ranks", all_rows };

static const struct contract_member step_rows[] = {
    CONTRACT_AT("step_time_s", REAL, replay_step, step_s, "Replayed on the cluster."),
    CONTRACT_AT("measured_s", REAL, replay_step, measured_s, "The step in the trace."),
    CONTRACT_AT("replayed_s", REAL, replay_step, same_s, "Replayed with all times of the trace."),
    CONTRACT_MADE("replay_error", REAL, of_error, "That over the measured, less 1."),
    CONTRACT_AT("compute_s", REAL, replay_step, compute_s, "Kernels that compute run."),
    CONTRACT_AT("exposed_s", REAL, replay_step, exposed_s, "Communication runs, and nothing computes."),
    CONTRACT_AT("waiting_s", REAL, replay_step, idle_s, "Neither runs."),
    CONTRACT_AT("kernels", INT64, replay_step, n_kernels, "In the step."),
    CONTRACT_AT("collectives", INT64, replay_step, n_collectives, "Those that communicate."),
    CONTRACT_AT("kept", INT64, replay_step, n_kept, "Of these, with the trace's time: no size, no group, or none that is predicted."),
    CONTRACT_AT("collectives_were_s", REAL, replay_step, was_s, "The others' times in the trace, together."),
    CONTRACT_AT("collectives_s", REAL, replay_step, collective_s, "And on the cluster."),
    CONTRACT_AT("waited_s", REAL, replay_step, waited_s, "Of both: for other ranks, by the shortest of each kind."),
    CONTRACT_END,
};
static const struct contract_object step = { "replay_step", step_rows };

static json_t *of_all(const void *of)
{
    const struct report_replay *r = of;
    return r->all ? contract_json(&all, r->all) : NULL;
}

static json_t *of_step(const void *of)
{
    const struct report_replay *r = of;
    return r->step ? contract_json(&step, r->step) : NULL;
}

static const struct contract_member rows[] = {
    CONTRACT_AT("trace", TEXT, report_replay, name, "The folder or file."),
    CONTRACT_MADE("instances", INT64, of_instances, "Of the cluster."),
    CONTRACT_MADE("ranks", OBJECT, of_all, "Of Chakra traces of all ranks.", .of = &all, .flags = CONTRACT_MAY_LACK),
    CONTRACT_MADE("step", OBJECT, of_step, "Of a profiler's trace of one rank.", .of = &step, .flags = CONTRACT_MAY_LACK),
    CONTRACT_END,
};
/* clang-format on */
static const struct contract_object result = { "replay", rows };
const struct contract report_replay_contract = {
    "urn:smsim:replay:1", "The result of smsim simulate --trace-in --json", { &result }
};
