#include "timing.h"

#include <math.h>
#include <stdlib.h>

enum { WARM_UP = 3, GROUPS_LEAST = 5, GROUPS_MOST = 21, INNER_MOST = 100 };

static const double group_s = 500e-6; /* of one group: an event is short compared with
                                         it */
static const double total_s = 20e-3;  /* of all groups: a burst, not sustained clocks */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void timing_of(double *times_s, int n, struct timing *t)
{
    qsort(times_s, (size_t)n, sizeof(*times_s), compare);
    t->median_s = n % 2 ? times_s[n / 2] : (times_s[n / 2 - 1] + times_s[n / 2]) / 2;
    t->spread = (times_s[(3 * n) / 4] - times_s[n / 4]) / t->median_s;
}

void row_timing(struct measure *m, const struct timing *t)
{
    row_real(m, "time_s", t->median_s);
    row_real(m, "spread", t->spread);
    row_int(m, "repetitions", t->repetitions);
}

struct clock {
    cudaEvent_t begin, end;
    cudaGraphExec_t graph; /* NULL: launched one by one */
    int64_t inner;         /* repetitions of a group */
};

static int launch_group(struct measure *m, struct clock *c, launch_fn *launch,
                        void *arg)
{
    if (c->graph) {
        TRY_CUDA(m, cudaGraphLaunch(c->graph, m->stream));
        return 0;
    }
    for (int64_t i = 0; i < c->inner; i++)
        TRY(launch(m, arg, i));
    return 0;
}

/* A group runs in front, so that the launch of the timed one is hidden after it. */
static int time_group(struct measure *m, struct clock *c, launch_fn *launch, void *arg,
                      bool lead, double *time_s)
{
    float ms;
    if (lead)
        TRY(launch_group(m, c, launch, arg));
    TRY_CUDA(m, cudaEventRecord(c->begin, m->stream));
    TRY(launch_group(m, c, launch, arg));
    TRY_CUDA(m, cudaEventRecord(c->end, m->stream));
    TRY_CUDA(m, cudaEventSynchronize(c->end));
    TRY_CUDA(m, cudaEventElapsedTime(&ms, c->begin, c->end));
    *time_s = 1e-3 * (double)ms / (double)c->inner;
    return 0;
}

/* Leaves c->graph NULL where the calls cannot be captured. */
static int capture(struct measure *m, struct clock *c, launch_fn *launch, void *arg)
{
    cudaGraph_t graph = NULL;
    int rc = 0;
    TRY_CUDA(m, cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeThreadLocal));
    for (int64_t i = 0; i < c->inner && rc == 0; i++)
        rc = launch(m, arg, i);
    if (cudaStreamEndCapture(m->stream, &graph) != cudaSuccess || rc) {
        cudaGetLastError();
        m->error[0] = '\0';
    } else if (cudaGraphInstantiateWithFlags(&c->graph, graph, 0) != cudaSuccess) {
        cudaGetLastError();
        c->graph = NULL;
    }
    if (graph)
        cudaGraphDestroy(graph);
    return 0;
}

static int run(struct measure *m, struct clock *c, launch_fn *launch, void *arg,
               bool graph, struct timing *t)
{
    double times[GROUPS_MOST], once = 0;
    c->inner = 1;
    for (int i = 0; i < WARM_UP; i++)
        TRY(launch(m, arg, i));
    TRY(time_group(m, c, launch, arg, true, &once));
    double inner = group_s / once;
    c->inner = (int64_t)fmin(fmax(inner, 1), INNER_MOST);
    if (graph)
        TRY(capture(m, c, launch, arg));
    double groups = total_s / (once * (double)c->inner);
    int n = (int)fmin(fmax(groups, GROUPS_LEAST), GROUPS_MOST);
    TRY(time_group(m, c, launch, arg, true, &times[0])); /* warms the graph up */
    for (int i = 0; i < n; i++)
        TRY(time_group(m, c, launch, arg, c->inner > 1, &times[i]));
    timing_of(times, n, t);
    t->repetitions = n * c->inner;
    return 0;
}

static int with_events(struct measure *m, launch_fn *launch, void *arg, bool graph,
                       struct timing *t)
{
    struct clock c = { NULL, NULL, NULL, 1 };
    TRY_CUDA(m, cudaEventCreate(&c.begin));
    TRY_CUDA(m, cudaEventCreate(&c.end));
    int rc = run(m, &c, launch, arg, graph, t);
    if (c.graph)
        cudaGraphExecDestroy(c.graph);
    cudaEventDestroy(c.begin);
    cudaEventDestroy(c.end);
    return rc;
}

int timing_run(struct measure *m, launch_fn *launch, void *arg, struct timing *t)
{
    return with_events(m, launch, arg, true, t);
}

int timing_run_plain(struct measure *m, launch_fn *launch, void *arg, struct timing *t)
{
    return with_events(m, launch, arg, false, t);
}
