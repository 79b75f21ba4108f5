#include "replay/replay_step.h"

#include "base/xmalloc.h"
#include "cost/collective.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 256, RECENT = 2 };

/* The last kernels of a stream, the last first; -1. */
struct stream {
    int32_t number;
    int64_t last[RECENT];
};

struct work {
    const struct kineto_rank *t;
    double *length_s; /* [tasks] on the cluster */
    double *end_s;    /* [tasks] replayed */
    struct stream streams[STREAMS_MAX];
    int32_t n_streams;
    double launch_was_s, launch_now_s; /* of the last launch that was looked at */
};

static const double s_per_ns = 1e-9;

static double start_of(const struct kineto_task *k)
{
    return s_per_ns * (double)k->start;
}

static double end_of(const struct kineto_task *k)
{
    return s_per_ns * (double)(k->start + k->length);
}

/* Times of collectives -------------------------------------------------------------- */

static bool has_plan(const struct kineto_task *k, enum coll_op *op)
{
    static const struct {
        enum kernel_comm comm;
        enum coll_op op;
    } ops[] = {
        { COMM_ALL_REDUCE, COLL_ALL_REDUCE },
        { COMM_ALL_GATHER, COLL_ALL_GATHER },
        { COMM_ALL_TO_ALL, COLL_ALLTOALL },
        { COMM_REDUCE_SCATTER, COLL_REDUCE_SCATTER },
        { COMM_BROADCAST, COLL_BROADCAST },
        { COMM_REDUCE, COLL_REDUCE },
    };
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (k->class == KERNEL_COMM && k->comm == ops[i].comm) {
            *op = ops[i].op;
            return k->size_B > 0 && k->group > 1;
        }
    return false;
}

/* Groups of so many ranks, a stride apart, that communicate at the same time: the first
 * rank's, and, of those that stride over nodes, the others' of its node. Without a stride
 * ranks are neighbours. Their number; 0 where the ranks are not spread evenly. */
static int32_t groups_of(struct coll_group *g, const struct cluster *c,
                         const struct kineto_task *k)
{
    int64_t per = c->groups[0].gpus_per_instance, ranks = k->group,
            apart = k->stride > 1 ? k->stride : 1;
    int64_t in_node = apart < per ? per / apart : 1;
    if (ranks > c->n_gpus || apart > c->n_gpus / ranks ||
        (apart < per ? per % apart : apart % per))
        return 0;
    int64_t n_gpus = ranks < in_node ? ranks : in_node;
    if (ranks % n_gpus)
        return 0;
    struct coll_span s = { .stride = apart > per ? apart / per : 1,
                           .n_instances = ranks / n_gpus,
                           .n_gpus = (int32_t)n_gpus };
    int64_t at_once = s.n_instances > 1 ? per / n_gpus : 1;
    for (int64_t n = 0; n < at_once; n++) {
        for (int64_t i = 0; i < n_gpus; i++)
            s.gpus[i] = (uint8_t)(n + i * apart);
        g[n] = (struct coll_group) { .n_spans = 1, .spans = { s } };
    }
    return (int32_t)at_once;
}

struct network {
    const struct cluster *c;
    struct net *net;
    struct arena arena;
    const char *nccl;
};

/* The time on the cluster; NAN where it is not known, -1 with err set. */
static int planned(double *time_s, struct network *n, const struct kineto_task *k,
                   struct err *err)
{
    struct coll_group groups[INSTANCE_GPUS_MAX];
    struct coll_plan plan;
    enum coll_op op;
    *time_s = (double)NAN;
    int32_t n_groups = has_plan(k, &op) ? groups_of(groups, n->c, k) : 0;
    if (n_groups == 0)
        return 0;
    const struct coll_request request = { .op = op,
                                          .algorithm = COLL_AUTO,
                                          .protocol = -1,
                                          .size_B = k->size_B,
                                          .groups = groups,
                                          .n_groups = n_groups,
                                          .nccl = n->nccl,
                                          .graph_launch = true };
    if (coll_plan_make(&plan, &n->arena, n->net, &request, err))
        return -1;
    *time_s = coll_plan_time_s(&plan, n->net);
    return 0;
}

static bool is_alike(const struct kineto_task *a, const struct kineto_task *b)
{
    return a->class == b->class && a->comm == b->comm && a->size_B == b->size_B &&
           a->group == b->group && a->stride == b->stride;
}

/* The shortest of a kind had least to wait for. */
static double least_of(const struct kineto_rank *t, const struct kineto_task *k)
{
    int64_t least = k->length;
    for (int64_t i = 0; i < t->tasks.n; i++)
        if (is_alike(&t->tasks.v[i], k) && t->tasks.v[i].length < least)
            least = t->tasks.v[i].length;
    return s_per_ns * (double)least;
}

static int plan_one(struct work *w, struct network *n, int64_t i, struct replay_step *r,
                    struct err *err)
{
    const struct kineto_task *k = &w->t->tasks.v[i];
    double was_s = s_per_ns * (double)k->length, time_s;
    if (k->class != KERNEL_COMM)
        return 0;
    r->n_collectives++;
    if (planned(&time_s, n, k, err))
        return -1;
    if (!isfinite(time_s)) {
        r->n_kept++;
        return 0;
    }
    double waited_s = was_s - least_of(w->t, k);
    w->length_s[i] = time_s + waited_s;
    r->was_s += was_s;
    r->waited_s += waited_s;
    r->collective_s += w->length_s[i];
    return 0;
}

static int plan_all(struct work *w, struct replay_step *r, const struct cluster *c,
                    const char *nccl, struct err *err)
{
    struct network n = { .c = c, .nccl = nccl, .net = net_new(c, false, err) };
    int rc = n.net ? 0 : -1;
    if (rc)
        return -1;
    arena_init(&n.arena);
    for (int64_t i = 0; i < w->t->tasks.n && rc == 0; i++)
        rc = plan_one(w, &n, i, r, err);
    arena_release(&n.arena);
    net_free(n.net);
    return rc;
}

/* The replay ------------------------------------------------------------------------ */

static struct stream *stream_of(struct work *w, int32_t number)
{
    for (int32_t i = 0; i < w->n_streams; i++)
        if (w->streams[i].number == number)
            return &w->streams[i];
    if (w->n_streams == STREAMS_MAX)
        return &w->streams[0];
    struct stream *s = &w->streams[w->n_streams++];
    *s = (struct stream) { .number = number, .last = { -1, -1 } };
    return s;
}

/* What a kernel may have waited for: in the trace, and replayed. */
struct bound {
    double was_s, now_s;
};

static void take(struct bound *b, double was_s, double now_s)
{
    if (was_s > b->was_s)
        *b = (struct bound) { was_s, now_s };
}

/* The kernel of another stream that ended last before this one began. */
static void take_others(struct bound *b, const struct work *w, const struct stream *own,
                        const struct kineto_task *k)
{
    for (int32_t s = 0; s < w->n_streams; s++)
        for (int j = 0; j < RECENT; j++) {
            int64_t at = w->streams[s].last[j];
            if (&w->streams[s] == own || at < 0 ||
                end_of(&w->t->tasks.v[at]) > start_of(k))
                continue;
            take(b, end_of(&w->t->tasks.v[at]), w->end_s[at]);
        }
}

/* A collective's data are those of what was launched before it. */
static double data_ready_s(const struct work *w, const struct stream *own,
                           const struct kineto_task *k)
{
    double ready_s = 0;
    int64_t launch = INT64_MIN;
    for (int32_t s = 0; s < w->n_streams; s++)
        for (int j = 0; j < RECENT; j++) {
            int64_t at = w->streams[s].last[j];
            const struct kineto_task *x = at < 0 ? NULL : &w->t->tasks.v[at];
            if (!x || &w->streams[s] == own || x->class == KERNEL_COMM ||
                x->launch <= launch || x->launch >= k->launch ||
                end_of(x) > start_of(k))
                continue;
            launch = x->launch;
            ready_s = w->end_s[at];
        }
    return ready_s;
}

/* When the host launches, replayed. It goes on after its launch before as long as it did,
 * unless it waited for a kernel: one that ended in the last quarter of the pause. */
static double launched_s(struct work *w, const struct kineto_task *k)
{
    static const double at_its_end = 0.25;
    double was_s = s_per_ns * (double)k->launch;
    struct bound waited = { 0, 0 };
    for (int32_t s = 0; s < w->n_streams; s++)
        for (int j = 0; j < RECENT; j++) {
            int64_t at = w->streams[s].last[j];
            if (at >= 0 && end_of(&w->t->tasks.v[at]) <= was_s)
                take(&waited, end_of(&w->t->tasks.v[at]), w->end_s[at]);
        }
    double pause_s = was_s - w->launch_was_s, after_s = was_s - waited.was_s;
    double now_s = w->launch_now_s + pause_s;
    if (pause_s > 0 && after_s < at_its_end * pause_s)
        now_s = waited.now_s + after_s;
    if (pause_s > 0) {
        w->launch_was_s = was_s;
        w->launch_now_s = now_s;
    }
    return now_s;
}

static double start_s(struct work *w, const struct stream *own,
                      const struct kineto_task *k)
{
    struct bound b = { 0, 0 };
    double least_s = 0;
    if (own->last[0] >= 0) {
        take(&b, end_of(&w->t->tasks.v[own->last[0]]), w->end_s[own->last[0]]);
        least_s = w->end_s[own->last[0]];
    }
    if (k->launch != INT64_MIN) {
        double launch_s = launched_s(w, k);
        take(&b, s_per_ns * (double)k->launch, launch_s);
        least_s = fmax(least_s, launch_s);
    }
    take_others(&b, w, own, k);
    if (k->class == KERNEL_COMM)
        least_s = fmax(least_s, data_ready_s(w, own, k));
    return fmax(least_s, b.now_s + fmax(start_of(k) - b.was_s, 0));
}

/* The step's time with these lengths: the host ends as long after the last kernel. */
static double run(struct work *w, const double *length_s)
{
    double was_s = 0, now_s = 0;
    w->n_streams = 0;
    w->launch_was_s = w->launch_now_s = 0;
    for (int64_t i = 0; i < w->t->tasks.n; i++) {
        const struct kineto_task *k = &w->t->tasks.v[i];
        struct stream *own = stream_of(w, k->stream);
        double own_s = length_s ? length_s[i] : s_per_ns * (double)k->length;
        w->end_s[i] = start_s(w, own, k) + own_s;
        own->last[1] = own->last[0];
        own->last[0] = i;
        was_s = fmax(was_s, end_of(k));
        now_s = fmax(now_s, w->end_s[i]);
    }
    return now_s + fmax(w->t->tasks_s - was_s, 0);
}

/* Parts ------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time that kernels cover: those that compute, or all. */
static double covered(const struct work *w, bool all)
{
    double sum = 0, end = 0,
           (*v)[2] = xmalloc(((size_t)w->t->tasks.n + 1) * sizeof(*v));
    int64_t n = 0;
    for (int64_t i = 0; i < w->t->tasks.n; i++) {
        enum kernel_class class = w->t->tasks.v[i].class;
        if (class == KERNEL_COPY || (class == KERNEL_COMM && !all))
            continue;
        v[n][0] = w->end_s[i] - w->length_s[i];
        v[n++][1] = w->end_s[i];
    }
    qsort(v, (size_t)n, sizeof(*v), by_begin);
    for (int64_t i = 0; i < n; i++) {
        sum += fmax(v[i][1] - fmax(v[i][0], end), 0);
        end = fmax(end, v[i][1]);
    }
    free(v);
    return sum;
}

static int check(const struct kineto_rank *t, const struct cluster *c, struct err *err)
{
    if (t->tasks.n == 0)
        return err_set(err, "--trace-in: the trace has no step with kernels: record "
                            "two or more, with a schedule or marks of the profiler");
    if (c->n_groups > 1)
        return err_set(err, "--trace-in: several kinds of instances: which one the "
                            "trace's rank is on is not known");
    if (t->world > 0 && t->world != c->n_gpus)
        return err_set(err,
                       "--trace-in: %" PRId64 " ranks, and %" PRId64
                       " GPUs: degrees stay, so that both have to be equal",
                       t->world, c->n_gpus);
    return 0;
}

int replay_step(struct replay_step *r, const struct kineto_rank *t,
                const struct cluster *c, const char *nccl, struct err *err)
{
    size_t n = (size_t)t->tasks.n + 1;
    *r = (struct replay_step) { .measured_s = t->tasks_s, .n_kernels = t->tasks.n };
    if (check(t, c, err))
        return -1;
    struct work *w = xcalloc(1, sizeof(*w));
    w->t = t;
    w->length_s = xcalloc(n, sizeof(*w->length_s));
    w->end_s = xcalloc(n, sizeof(*w->end_s));
    for (int64_t i = 0; i < t->tasks.n; i++)
        w->length_s[i] = s_per_ns * (double)t->tasks.v[i].length;
    int rc = plan_all(w, r, c, nccl, err);
    if (rc == 0 && r->n_collectives && r->n_kept == r->n_collectives)
        rc = err_set(err, "--trace-in: no collective of the trace says its size and "
                          "group, as PyTorch notes since 2.3: another cluster would "
                          "change nothing");
    if (rc == 0) {
        r->same_s = run(w, NULL);
        r->step_s = run(w, w->length_s);
        r->compute_s = covered(w, false);
        r->exposed_s = covered(w, true) - r->compute_s;
        r->idle_s = fmax(r->step_s - r->compute_s - r->exposed_s, 0);
    }
    free(w->length_s);
    free(w->end_s);
    free(w);
    return rc;
}
