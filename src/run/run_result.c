#include "run/run_state.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>

/* When the rank's last task and its host have ended, as its account's time; RUN_NEVER
 * when some never did. The time after its last kernel is the collective's that ended
 * last, or the host's. */
static void close_rank(struct rank *r)
{
    int64_t end = r->idle_ps;
    enum category part = CATEGORY_OTHER;
    for (int64_t i = 0; i < r->program->tasks.n; i++) {
        if (r->done_ps[i] == RUN_NEVER) {
            r->account.now_ps = RUN_NEVER;
            return;
        }
        if (r->done_ps[i] > end) {
            end = r->done_ps[i];
            part = r->program->tasks.v[i].part;
        }
    }
    if (r->host_ps > end) {
        end = r->host_ps;
        part = CATEGORY_OTHER;
    }
    r->account.parts_ps[part] += end - r->idle_ps;
    r->account.now_ps = end;
}

/* Ranks are many where there are several islands; for few a team of threads is more
 * work. */
static void close_ranks(struct run *run)
{
    if (run->n_islands == 1) {
        for (int64_t i = 0; i < run->n_ranks; i++)
            close_rank(&run->ranks[i]);
        return;
    }
#pragma omp parallel for
    for (int64_t i = 0; i < run->n_ranks; i++)
        close_rank(&run->ranks[i]);
}

/* The rank's end with the periods that were not replayed, within 64 bits. */
static int64_t unrolled_ps(const struct rank *r)
{
    double end_ps = (double)r->account.now_ps +
                    (double)r->program->forwards.extra * (double)run_waits_longer_ps(r);
    for (int i = 0; i < RUN_STRETCHES; i++)
        end_ps += (double)run_stretch(r->program, i)->extra *
                  (double)(r->stretches[i].to.now_ps - r->stretches[i].from.now_ps);
    return end_ps > (double)SIM_LONGEST_PS ? INT64_MAX : (int64_t)end_ps;
}

/* Adds n times what came between two moments. */
static void add_account(struct account *a, int64_t n, const struct account *from,
                        const struct account *to)
{
    a->now_ps += n * (to->now_ps - from->now_ps);
    a->gpu_busy_ps += n * (to->gpu_busy_ps - from->gpu_busy_ps);
    a->comm_ps += n * (to->comm_ps - from->comm_ps);
    for (int i = 0; i < LINKS_N; i++)
        a->links_busy_ps[i] += n * (to->links_busy_ps[i] - from->links_busy_ps[i]);
    a->awaited_ps += n * (to->awaited_ps - from->awaited_ps);
    for (int i = 0; i < CATEGORY_N; i++)
        a->parts_ps[i] += n * (to->parts_ps[i] - from->parts_ps[i]);
}

/* Adds the periods that were not replayed. */
static void unroll(const struct rank *r, struct account *a)
{
    int64_t longer_ps = r->program->forwards.extra * run_waits_longer_ps(r);
    *a = r->account;
    for (int i = 0; i < RUN_STRETCHES; i++)
        add_account(a, run_stretch(r->program, i)->extra, &r->stretches[i].from,
                    &r->stretches[i].to);
    a->now_ps += longer_ps;
    a->parts_ps[CATEGORY_PIPELINE_BUBBLE] += longer_ps;
}

/* What the net saw of a link, repeats counted. */
static double link_busy_s(struct run *run, int32_t link)
{
    double busy_s = run_world_link_busy_s(&run->world, link);
    for (int i = 0; i < RUN_STRETCHES; i++) {
        const struct repeat *rep = run_stretch(run->ranks[0].program, i);
        if (rep->from < 0)
            continue;
        int of = i > 0 && run_paces_differ(run) ? RUN_STRETCHES : i;
        if (run->links_busy[of].to_s)
            busy_s += (double)rep->extra * (run->links_busy[of].to_s[link] -
                                            run->links_busy[of].from_s[link]);
    }
    return busy_s;
}

/* The busiest link of each kind, and what measured passes did in addition to it. */
static void read_links(struct run *run, const struct account *critical,
                       struct run_result *out)
{
    const struct net *net = run->request->plans.net;
    const struct net_link *links = net_links(net);
    double busy_s[LINKS_N] = { 0 };
    int32_t gpu;
    int64_t instance, copy = -1; /* of a rank alone: its instance's links */
    if (run->n_ranks == 1) {
        groups_place(run->request->plans.groups, run->ranks[0].number, &instance, &gpu);
        copy = net_copy(net, instance);
    }
    for (int32_t i = 0, n = net_n_links(net); i < n; i++) {
        int kind = links[i].kind == NET_NIC ? LINKS_NIC : LINKS_NVLINK;
        if ((copy < 0 || links[i].copy == copy) &&
            (links[i].kind == NET_NIC || links[i].kind == NET_NVLINK))
            busy_s[kind] = fmax(busy_s[kind], link_busy_s(run, i));
    }
    for (int i = 0; i < LINKS_N; i++)
        busy_s[i] = fmin(busy_s[i] + units_s(critical->links_busy_ps[i]), out->time_s);
    out->nic_busy_s = busy_s[LINKS_NIC];
    out->nvlink_busy_s = busy_s[LINKS_NVLINK];
}

/* The host's time of a period, by its tasks. */
static int64_t host_period_ps(const struct rank *r, const struct repeat *rep)
{
    const struct program *p = r->program;
    int64_t period_ps = 0;
    for (int32_t i = rep->from + 1; rep->from >= 0 && i <= rep->to; i++) {
        int32_t pass = p->tasks.v[i].pass;
        int64_t pass_ps = pass < 0 ? 0 : p->passes.v[pass].host_busy_ps;
        period_ps += run_paced_ps(r->host_factors, i, p->tasks.v[i].host_ps) +
                     run_paced_ps(r->kernel_factors, i, pass_ps);
    }
    return period_ps;
}

static double host_busy_s(const struct rank *r)
{
    int64_t busy_ps = r->host_busy_ps;
    for (int i = 0; i < RUN_STRETCHES; i++) {
        const struct repeat *rep = run_stretch(r->program, i);
        busy_ps += rep->extra * host_period_ps(r, rep);
    }
    return units_s(busy_ps);
}

static void read_traffic(struct run *run, struct run_result *out)
{
    const struct net *net = run->request->plans.net;
    const struct net_link *links = net_links(net);
    for (int32_t i = 0, n = net_n_links(net); i < n; i++)
        out->charged_B[links[i].kind] += run_world_link_B(&run->world, i);
}

static void read_critical(struct run *run, const struct rank *critical,
                          struct run_result *out)
{
    struct account a;
    unroll(critical, &a);
    out->time_s = units_s(a.now_ps);
    for (int i = 0; i < CATEGORY_N; i++) /* sharing made the smallest kernels faster */
        if (a.parts_ps[i] < 0) {
            a.parts_ps[CATEGORY_COMPUTE] += a.parts_ps[i];
            a.parts_ps[i] = 0;
        }
    for (int i = 0; i < CATEGORY_N; i++)
        out->parts_s[i] = units_s(a.parts_ps[i]);
    int64_t own_ps = a.parts_ps[CATEGORY_DATA_COMM_EXPOSED] - a.awaited_ps;
    int64_t hidden = a.comm_ps - own_ps;
    out->parts_s[CATEGORY_DATA_COMM_HIDDEN] = hidden > 0 ? units_s(hidden) : 0;
    out->gpu_busy_s = units_s(a.gpu_busy_ps);
    out->host_busy_s = host_busy_s(critical);
    if (!run->request->links_unread)
        read_links(run, &a, out);
}

/* Either a transfer lasts longer than the clock, or ranks wait for each other. */
static int never_ends(struct run *run, int64_t rank)
{
    if (run_world_is_busy(&run->world))
        return err_set(run->err,
                       "a transfer takes longer than %.0f days, where the clock ends",
                       units_s(SIM_LONGEST_PS) / UNITS_DAY_S);
    return err_fault(run->err,
                     "rank %" PRId64
                     " waits for what never comes in the step as it was "
                     "written (please report it with the scenario)",
                     (int64_t)rank);
}

int run_read_result(struct run *run, struct run_result *out)
{
    int64_t last = -1, critical = 0;
    *out = (struct run_result) { 0 };
    if (run_has_failed(run))
        return -1;
    close_ranks(run);
    for (int64_t i = 0; i < run->n_ranks; i++) {
        const struct rank *r = &run->ranks[i];
        int64_t end = r->account.now_ps;
        if (end == RUN_NEVER)
            return never_ends(run, r->number);
        if (r->program->forwards.from >= 0) /* of which ranks move by unlike times */
            end = unrolled_ps(r);
        if (end > last) {
            last = end;
            critical = i;
        }
    }
    if (run_is_over(run->ranks[critical].island, unrolled_ps(&run->ranks[critical])))
        return -1;
    read_critical(run, &run->ranks[critical], out);
    if (!run->request->links_unread)
        read_traffic(run, out);
    out->steady = run_is_steady(run);
    out->critical = critical;
    out->events = run->sim->n_fired;
    out->replayed_s = units_s(run->sim->now_ps);
    out->excess_s = run_world_excess_s(&run->world);
    for (int32_t i = 0; i < run->n_islands; i++) {
        out->wire_B += run->islands[i].wire_B;
        out->excess_s =
            fmax(out->excess_s, run_world_excess_s(&run->islands[i].own_world));
        out->events += run->islands[i].own_sim.n_fired;
    }
    return 0;
}
