#include "search/plan/why.h"

#include "search/plan/near.h"
#include "search/plan/order.h"
#include "search/plan/score.h"

#include <math.h>
#include <stdlib.h>

/* More of each resource ------------------------------------------------------------ */

/* The scenario's hardware is shared: what is changed is copied first. */
static struct instance *own_instance(struct scenario *s, struct arena *arena, int32_t i)
{
    struct instance *copy = ARENA_NEW(arena, struct instance);
    *copy = *s->cluster.groups[i].instance;
    s->cluster.groups[i].instance = copy;
    return copy;
}

static struct gpu *own_gpu(struct scenario *s, struct arena *arena, int32_t i)
{
    struct instance *instance = own_instance(s, arena, i);
    struct gpu *copy = ARENA_NEW(arena, struct gpu);
    *copy = *instance->gpu;
    instance->gpu = copy;
    return copy;
}

static void faster_network(struct scenario *s, struct arena *arena, double factor)
{
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        struct instance *x = own_instance(s, arena, i);
        for (int32_t j = 0; j < x->n_nics; j++)
            x->nics[j].line_Bps *= factor;
    }
}

static void faster_links(struct scenario *s, struct arena *arena, double factor)
{
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        own_gpu(s, arena, i)->nvlink_Bps *= factor;
}

static void faster_memory(struct scenario *s, struct arena *arena, double factor)
{
    for (int32_t i = 0; i < s->cluster.n_groups; i++)
        own_gpu(s, arena, i)->hbm_Bps *= factor;
}

static void faster_arithmetic(struct scenario *s, struct arena *arena, double factor)
{
    for (int32_t i = 0; i < s->cluster.n_groups; i++) {
        struct gpu *gpu = own_gpu(s, arena, i);
        for (int t = 0; t < DTYPE_N; t++) {
            gpu->peak_flops[t] *= factor;
            gpu->gemm[t].port_Bps *= factor;
        }
    }
}

static const struct {
    const char *what;
    plan_tweak *tweak;
    double batch; /* the global batch is so many times larger */
} changes[PLAN_SENSITIVITIES] = {
    { "network bandwidth x2", faster_network, 1 },
    { "NVLink bandwidth x2", faster_links, 1 },
    { "GPU memory bandwidth x2", faster_memory, 1 },
    { "GPU arithmetic x2", faster_arithmetic, 1 },
    { "global batch x2", NULL, 2 },
};

static void sense(struct plan_sensitivity *out, int i, const struct plan_job *job,
                  const struct plan_entry *best)
{
    struct space_point p = best->point;
    struct plan_result r;
    *out = (struct plan_sensitivity) { .what = changes[i].what };
    int64_t times = (int64_t)changes[i].batch;
    p.pieces *= times;
    if (p.v[SPACE_PIPELINE] > 1)
        p.microbatches *= times;
    else
        p.accumulation *= times;
    plan_point_simulate(
        job, &p, (struct plan_point_how) { .tweak = changes[i].tweak, .factor = 2 },
        &r);
    out->known = r.known;
    out->step_time_s = r.step_time_s;
    out->per_sample = r.known ? r.step_time_s / (double)times / best->result.step_time_s
                              : (double)NAN;
}

/* One change ----------------------------------------------------------------------- */

static void find_alternatives(struct plan_why *w, const struct plan_job *job,
                              const struct plan_entry *best)
{
    struct plan_near near[PLAN_NEAR_MAX];
    w->n_alternatives = plan_near(near, &job->space, &best->point);
    for (int32_t i = 0; i < w->n_alternatives; i++) {
        w->alternatives[i].field = near[i].field;
        w->alternatives[i].entry.point = near[i].point;
    }
}

/* The part of the step that grew most. */
static void find_worse(struct plan_alternative *a, const struct plan_entry *best)
{
    a->worse_s = -INFINITY;
    for (int i = 0; i < CATEGORY_N; i++) {
        double more_s = a->entry.result.parts_s[i] - best->result.parts_s[i];
        if (i == CATEGORY_DATA_COMM_HIDDEN || more_s <= a->worse_s)
            continue;
        a->worse_s = more_s;
        a->worse = (enum category)i;
    }
}

static int by_order(const void *a, const void *b)
{
    const struct plan_alternative *x = a, *y = b;
    return plan_order_compare(&x->entry, &y->entry);
}

static void drop_unknown(struct plan_why *w)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n_alternatives; i++)
        if (w->alternatives[i].entry.result.known)
            w->alternatives[n++] = w->alternatives[i];
    w->n_alternatives = n;
}

/* Most neighbours of the best were simulated on the way to it. */
static void make_alternative(struct plan_entry *e, const struct plan_job *job,
                             const struct plan_options *o,
                             const struct plan_outcome *out)
{
    const struct plan_entry *tried = plan_tried(out, &e->point);
    if (!tried || !tried->result.timed) {
        plan_entry_make(e, job, o);
        return;
    }
    *e = *tried;
    e->score_s = e->score_B = 0;
}

void plan_why(struct plan_why *w, const struct plan_job *job,
              const struct plan_options *o, const struct plan_outcome *out)
{
    const struct plan_entry *best = &out->entries[0];
    *w = (struct plan_why) { .memory = -1,
                             .bottleneck = simulate_binding(best->result.parts_s,
                                                            best->result.step_time_s) };
    find_alternatives(w, job, best);
    int32_t n = w->n_alternatives + PLAN_SENSITIVITIES, done = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < n; i++) {
        if (plan_stopped(o))
            continue;
        if (i < w->n_alternatives) {
            make_alternative(&w->alternatives[i].entry, job, o, out);
            find_worse(&w->alternatives[i], best);
        } else {
            int k = (int)(i - w->n_alternatives);
            sense(&w->sensitivities[k], k, job, best);
        }
        if (!o->progress)
            continue;
#pragma omp critical(plan_progress)
        o->progress(o->progress_arg,
                    &(struct plan_progress) { "explaining", ++done, n });
    }
    drop_unknown(w);
    qsort(w->alternatives, (size_t)w->n_alternatives, sizeof(w->alternatives[0]),
          by_order);
    for (int32_t i = w->n_alternatives - 1; i >= 0; i--)
        if (!w->alternatives[i].entry.result.fits &&
            w->alternatives[i].entry.value < best->value)
            w->memory = i;
}
