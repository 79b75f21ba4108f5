#include "plan_bench.h"

static struct raw_plan count_words(const char *const *v)
{
    struct raw_plan w = { 0, v };
    while (w.n < WORDS && v[w.n])
        w.n++;
    return w;
}

void open_job_with(struct planned *x, const struct raw_job *w, const char *set)
{
    const struct plan_request r = { .model = w->model,
                                    .instances = w->instances,
                                    .count = w->count,
                                    .global_batch = w->batch,
                                    .sequence = w->sequence,
                                    .stacks = w->stacks,
                                    .sets = { set ? 1 : 0, &set },
                                    .allows = count_words(w->allows) };
    cfg_loader_init(&x->loader);
    x->rc = plan_job_init(&x->job, &x->loader, &r);
}

void open_job(struct planned *x, const struct raw_job *w)
{
    open_job_with(x, w, NULL);
}

void close_job(struct planned *x)
{
    plan_job_release(&x->job);
    cfg_loader_release(&x->loader);
}
