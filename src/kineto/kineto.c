#include "kineto/kineto.h"

#include "kineto/chrome.h"
#include "kineto/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct name_value kineto_marks_names[] = {
    { "gpu", KINETO_GPU_MARKS }, { "host", KINETO_HOST_MARKS },
    { "ranges", KINETO_RANGES }, { "optimizer", KINETO_OPTIMIZER },
    { "none", KINETO_NO_STEPS }, { NULL, 0 },
};

struct kineto {
    struct chrome c;
};

bool kineto_is(const char *begin, size_t n)
{
    static const char *const words[] = { "\"traceEvents\"", "\"schemaVersion\"",
                                         "\"deviceProperties\"" };
    char head[512];
    size_t at = 0;
    while (at < n && strchr(" \t\r\n", begin[at]) && begin[at])
        at++;
    if (at == n || (begin[at] != '{' && begin[at] != '['))
        return false;
    size_t length = n - at < sizeof(head) - 1 ? n - at : sizeof(head) - 1;
    memcpy(head, begin + at, length);
    head[length] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(head, words[i]))
            return true;
    return head[0] == '[' && strstr(head, "\"ph\"");
}

struct kineto *kineto_new(void)
{
    struct kineto *k = xmalloc(sizeof(*k));
    chrome_init(&k->c);
    return k;
}

void kineto_free(struct kineto *k)
{
    if (k)
        chrome_release(&k->c);
    free(k);
}

void kineto_feed(struct kineto *k, const char *bytes, size_t n)
{
    chrome_feed(&k->c, bytes, n);
}

/* Order ----------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct gather_kernel *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

static int by_correlation(const void *a, const void *b)
{
    const struct gather_launch *x = a, *y = b;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int by_mark(const void *a, const void *b)
{
    const struct gather_mark *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct gather *g)
{
    if (g->kernels.n)
        qsort(g->kernels.v, (size_t)g->kernels.n, sizeof(*g->kernels.v), by_start);
    if (g->launches.n)
        qsort(g->launches.v, (size_t)g->launches.n, sizeof(*g->launches.v),
              by_correlation);
    if (g->marks.n)
        qsort(g->marks.v, (size_t)g->marks.n, sizeof(*g->marks.v), by_mark);
}

const struct gather_launch *reading_launch(const struct gather *g,
                                           const struct gather_kernel *k)
{
    const struct gather_launch key = { .correlation = k->correlation };
    return g->launches.n ? bsearch(&key, g->launches.v, (size_t)g->launches.n,
                                   sizeof(key), by_correlation)
                         : NULL;
}

/* The GPU with most kernels: a trace of a rank has one, as a rule. */
static int32_t main_device(const struct gather *g, int64_t *n_devices)
{
    enum { DEVICES = 64 };
    int64_t counts[DEVICES] = { 0 };
    int32_t best = 0;
    *n_devices = 0;
    for (int64_t i = 0; i < g->kernels.n; i++)
        counts[(uint32_t)g->kernels.v[i].device % DEVICES]++;
    for (int32_t i = 0; i < DEVICES; i++) {
        *n_devices += counts[i] > 0;
        best = counts[i] > counts[best] ? i : best;
    }
    return best;
}

bool reading_is_here(const struct reading *r, const struct gather_kernel *k)
{
    return (int32_t)((uint32_t)k->device % 64) == r->device;
}

/* What is given back ---------------------------------------------------------------- */

static int by_comm_time(const void *a, const void *b)
{
    double x = ((const struct kineto_comm *)a)->time_s,
           y = ((const struct kineto_comm *)b)->time_s;
    return (x < y) - (x > y);
}

static int by_product_time(const void *a, const void *b)
{
    double x = ((const struct kineto_product *)a)->time_s,
           y = ((const struct kineto_product *)b)->time_s;
    return (x < y) - (x > y);
}

/* Two threads launch: autograd's is the one on which its functions run. */
static bool tells_backward(const struct gather *g)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_threads; i++)
        n += g->backward[i];
    return n > 0 && n < g->n_threads;
}

static void give(struct gather *g, struct kineto_rank *to)
{
    for (int64_t i = 0; i < g->comms.n && to->comms.n < KINETO_COMMS_MAX; i++)
        if (g->comms.v[i].n)
            VEC_PUSH(&to->comms, g->comms.v[i]);
    if (to->comms.n)
        qsort(to->comms.v, (size_t)to->comms.n, sizeof(*to->comms.v), by_comm_time);
    if (to->products.n)
        qsort(to->products.v, (size_t)to->products.n, sizeof(*to->products.v),
              by_product_time);
    to->backward = tells_backward(g);
    to->launches = g->launches.n > 0;
    if (!to->backward)
        memset(to->backward_s, 0, sizeof(to->backward_s));
    memcpy(to->device, g->device, sizeof(to->device));
    memcpy(to->nccl, g->nccl, sizeof(to->nccl));
    static const char *const formats[KERNEL_FORMATS] = { "", "fp32", "tf32",
                                                         "bf16/fp16", "fp8" };
    int best = 0;
    for (int i = 1; i < KERNEL_FORMATS; i++)
        if (to->format_s[i] > (best ? to->format_s[best] : 0))
            best = i;
    strcpy(to->precision, formats[best]);
}

void kineto_sum_up(struct gather *g, struct kineto_rank *to)
{
    struct reading r = { .g = g, .to = to };
    *to = (struct kineto_rank) {
        .rank = g->rank,
        .world = g->world,
        .n_events = g->n_events,
        .n_kernels = g->kernels.n,
        .n_left_out = g->n_left_out,
        .n_names = g->names.n,
    };
    sort(g);
    r.device = main_device(g, &to->n_devices);
    reading_steps(&r);
    reading_sums(&r);
    if (g->timeline)
        reading_timeline(&r);
    give(g, to);
    struct spans *const all[] = { &r.compute,   &r.comm,    &r.either, &r.any,
                                  &r.optimizer, &r.loading, &r.syncs,  &r.allocations };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        spans_release(all[i]);
    VEC_RELEASE(&r.kept);
}

void kineto_keep_timeline(struct kineto *k)
{
    k->c.g.timeline = true;
}

void kineto_end(struct kineto *k, struct kineto_rank *to)
{
    kineto_sum_up(&k->c.g, to);
    to->whole = json_events_whole(&k->c.json);
}

void kineto_rank_release(struct kineto_rank *r)
{
    VEC_RELEASE(&r->steps);
    VEC_RELEASE(&r->comms);
    VEC_RELEASE(&r->products);
    VEC_RELEASE(&r->tasks);
}
