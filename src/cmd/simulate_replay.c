#include "cmd/simulate_replay.h"

#include "base/units.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void print_part(const char *name, double time_s, double step_s)
{
    char text[UNITS_TEXT_MAX];
    printf("  %-34s %9s  %4.1f %%\n", name, units_time_text(text, time_s),
           step_s > 0 ? 100 * time_s / step_s : 0);
}

static void print(const struct replay_result *r, const struct chakra_trace *t,
                  const struct scenario *s, const char *folder)
{
    char text[UNITS_TEXT_MAX];
    const struct cluster *c = &s->cluster;
    printf("%s: %" PRId64 " ranks, %" PRId64 " nodes, replayed on %" PRId64 " x %s\n\n",
           folder, t->n_ranks, t->nodes.n, c->n_instances, c->groups[0].instance->name);
    printf("  step time   %s\n\n", units_time_text(text, r->step_s));
    printf("Where it goes (rank %" PRId64 ", the last to end)\n", r->rank);
    print_part("kernels, as the trace has them", r->compute_s, r->step_s);
    print_part("communication that is exposed", r->exposed_s, r->step_s);
    print_part("host and waiting", r->waiting_s, r->step_s);
    printf("\n%" PRId64 " collectives of %s in all", r->n_collectives,
           units_time_text(text, r->collective_s));
    printf(", %" PRId64 " messages\n", r->n_messages);
    printf(
        "assumed: rank r is on instance r / %d; kernels take what they took where the "
        "trace was made;\n    collectives of groups of one split run at once, others "
        "alone\n",
        c->groups[0].gpus_per_instance);
}

int simulate_replay(struct cfg_loader *loader, const struct scenario *s,
                    const char *folder, struct err *err)
{
    struct chakra_trace t;
    struct replay_result r;
    struct stat st;
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        return err_set(err,
                       "--trace-in: %s is no folder of Chakra traces (a trace of "
                       "PyTorch's profiler: smsim calibrate --trace makes a GPU of it, "
                       "with which other clusters are simulated)",
                       folder);
    int rc = chakra_trace_load(&t, loader, folder, err);
    if (rc == 0)
        rc = replay_run(&r, &t, &s->cluster, s->software.nccl, err);
    if (rc == 0)
        print(&r, &t, s, folder);
    chakra_trace_release(&t);
    return rc;
}
