#include "kineto/gather.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 1 << 16,
    NAMES_MAX = 1 << 15,
    LAUNCHES_MAX = 4 << 20,
    OPS_MAX = 1 << 20,
    GROUPS_MAX = 4096
};

/* Eleven days: no sum of such times overflows. */
static const int64_t longest_ns = 1000000000000000;

/* Texts ----------------------------------------------------------------------------- */

void gather_keep(char *out, size_t size, const char *text)
{
    size_t i = 0;
    for (; text[i] && i + 1 < size; i++) {
        unsigned char c = (unsigned char)text[i];
        out[i] = (char)(c < 0x20 || c >= 0x7f ? '?' : c);
    }
    out[i] = '\0';
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

int64_t gather_integer(const char *text, int64_t otherwise)
{
    char *end;
    double v = strtod(text, &end);
    bool good = end != text && isfinite(v) && fabs(v) < 9e15;
    return good ? (int64_t)v : otherwise;
}

/* Tables ---------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h ? h : 1;
}

/* The place of a name in the table; -1: there are too many. */
static int32_t name_of(struct gather *g, const char *text, size_t n)
{
    uint64_t h = hash_of(text, n);
    for (uint64_t at = h % SLOTS;; at = (at + 1) % SLOTS) {
        int32_t i = g->name_of[at];
        if (i >= 0 && g->names.v[i].hash == h)
            return i;
        if (i >= 0)
            continue;
        if (g->names.n == NAMES_MAX)
            return -1;
        VEC_PUSH(&g->names, ((struct gather_name) { h, kernel_class_of(text),
                                                    kernel_format_of(text),
                                                    kernel_comm_of(text) }));
        return g->name_of[at] = (int32_t)(g->names.n - 1);
    }
}

static int32_t thread_of(struct gather *g, int64_t id)
{
    for (int32_t i = 0; i < g->n_threads; i++)
        if (g->threads[i] == id)
            return i;
    if (g->n_threads == 64)
        return -1;
    g->threads[g->n_threads] = id;
    return g->n_threads++;
}

static double at_most(double v, double most)
{
    return v > 0 && v < most ? v : 0;
}

/* The row of a collective's kind, size and group; -1: there are too many. */
static int32_t comm_of(struct gather *g, const struct gather_event *e,
                       const struct gather_name *name)
{
    struct kineto_comm c = { .kind = name->comm };
    if (e->collective[0] && kernel_comm_named(e->collective) != COMM_OTHER)
        c.kind = kernel_comm_named(e->collective);
    double elements = at_most(e->in > e->out ? e->in : e->out, 1e15);
    c.size_B = elements * kernel_element_B(e->dtype);
    c.group = (int64_t)at_most(e->ranks, 1e9);
    c.stride = e->rank_stride > 0 && e->rank_stride < 1000000000 ? e->rank_stride : 0;
    gather_keep(c.of, sizeof(c.of), e->group);
    for (int64_t i = 0; i < g->comms.n; i++) {
        const struct kineto_comm *x = &g->comms.v[i];
        if (x->kind == c.kind && x->size_B == c.size_B && x->group == c.group &&
            x->stride == c.stride && is(x->of, c.of))
            return (int32_t)i;
    }
    if (g->comms.n == GROUPS_MAX)
        return -1;
    VEC_PUSH(&g->comms, c);
    return (int32_t)(g->comms.n - 1);
}

/* Events ---------------------------------------------------------------------------- */

static void add_kernel(struct gather *g, const struct gather_event *e)
{
    if (g->kernels.n == KINETO_KERNELS_MAX) {
        g->n_left_out++;
        return;
    }
    int32_t name = name_of(g, e->name, e->name_length);
    if (name < 0) {
        g->n_left_out++;
        return;
    }
    const struct gather_name *is_of = &g->names.v[name];
    VEC_PUSH(&g->kernels,
             ((struct gather_kernel) {
                 .start = e->ts,
                 .length = e->length,
                 .correlation = (uint32_t)e->correlation,
                 .op = (uint32_t)e->op,
                 .name = name,
                 .comm = is_of->class == KERNEL_COMM ? comm_of(g, e, is_of) : -1,
                 .stream = (int32_t)e->stream,
                 .device = (int32_t)e->device,
             }));
}

static void add_launch(struct gather *g, const struct gather_event *e)
{
    bool starts = strstr(e->name, "aunch") || strstr(e->name, "Memcpy") ||
                  strstr(e->name, "Memset");
    if (!starts || e->correlation < 0 || g->launches.n == LAUNCHES_MAX)
        return;
    VEC_PUSH(&g->launches, ((struct gather_launch) { e->ts, (uint32_t)e->correlation,
                                                     thread_of(g, e->thread) }));
}

/* cudaMalloc and cudaFree, but not those of host memory; of expandable segments, the
 * driver's. A name may end with a version: cudaFree_v3020. */
static bool allocates(const char *name)
{
    static const char *const calls[] = { "cudaMalloc", "cudaFree",   "cuMemCreate",
                                         "cuMemMap",   "cuMemUnmap", "cuMemRelease",
                                         "cuMemAlloc", "cuMemFree" };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        size_t n = strlen(calls[i]);
        if (strncmp(name, calls[i], n) == 0 &&
            (!name[n] || strncmp(name + n, "_v", 2) == 0))
            return true;
    }
    return false;
}

static void add_block(struct gather *g, const struct gather_event *e)
{
    bool takes = allocates(e->name);
    if ((!takes && !strstr(e->name, "Synchronize")) || g->blocks.n == GATHER_BLOCKS_MAX)
        return;
    VEC_PUSH(&g->blocks, ((struct gather_block) { e->ts, e->length,
                                                  thread_of(g, e->thread), takes }));
}

static void add_mark(struct gather *g, const struct gather_event *e,
                     enum gather_mark_kind kind, int64_t number)
{
    if (g->marks.n < GATHER_MARKS_MAX)
        VEC_PUSH(&g->marks, ((struct gather_mark) { kind, e->ts, e->length, number }));
}

/* Whether a name is of a step: "iteration 12", "train_step"; not Optimizer.step, and no
 * operator of a library (aten::batch_norm). */
static bool speaks_of_steps(const char *name)
{
    static const char *const words[] = { "step", "iter", "batch" };
    static const char *const others[] = { "optim", "::", "norm", "sampler",
                                          "zero_grad" };
    char low[GATHER_NAME];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)name[n]);
    low[n] = '\0';
    bool speaks = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        speaks = speaks || strstr(low, words[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        speaks = speaks && !strstr(low, others[i]);
    return speaks;
}

static void add_named(struct gather *g, const struct gather_event *e)
{
    char label[GATHER_NAME];
    size_t n = 0, digits = strlen(e->name);
    if (g->named.n == GATHER_NAMED_MAX || !speaks_of_steps(e->name))
        return;
    for (const char *at = e->name; *at; at++)
        if (!isdigit((unsigned char)*at))
            label[n++] = *at;
    while (digits && isdigit((unsigned char)e->name[digits - 1]))
        digits--;
    uint64_t hash = hash_of(label, n) ^ (uint64_t)e->thread * 0x9e3779b97f4a7c15u;
    VEC_PUSH(&g->named,
             ((struct gather_named) { e->ts, e->length,
                                      gather_integer(e->name + digits, -1), hash }));
}

static void read_mark(struct gather *g, const struct gather_event *e, bool gpu)
{
    static const char step[] = "ProfilerStep#";
    if (begins(e->name, step))
        add_mark(g, e, gpu ? MARK_GPU_STEP : MARK_STEP,
                 gather_integer(e->name + sizeof(step) - 1, 0));
    else if (!gpu && begins(e->name, "Optimizer.step"))
        add_mark(g, e, MARK_OPTIMIZER, 0);
    else if (!gpu && begins(e->name, "enumerate(DataLoader)"))
        add_mark(g, e, MARK_LOADING, 0);
    else if (!gpu && is(e->category, "user_annotation"))
        add_named(g, e);
}

/* [first, second] of two inputs that a product of PyTorch multiplies; false: none. */
static bool product_inputs(const char *name, int *first, bool *batched)
{
    static const struct {
        const char *name;
        int first;
        bool batched;
    } products[] = {
        { "aten::mm", 0, false },         { "aten::addmm", 1, false },
        { "aten::_scaled_mm", 0, false }, { "aten::bmm", 0, true },
        { "aten::baddbmm", 1, true },
    };
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
        if (is(name, products[i].name)) {
            *first = products[i].first;
            *batched = products[i].batched;
            return true;
        }
    return false;
}

static void add_op(struct gather *g, const struct gather_event *e)
{
    int first;
    bool batched;
    if (e->op < 0 || g->ops.n == OPS_MAX || !product_inputs(e->name, &first, &batched))
        return;
    int wants = batched ? 3 : 2;
    if (e->n_inputs < first + 2 || e->ranks_of[first] != wants ||
        e->ranks_of[first + 1] != wants)
        return;
    const int64_t *a = e->dims[first] + batched, *b = e->dims[first + 1] + batched;
    if (a[1] != b[0] || a[0] < 1 || a[1] < 1 || b[1] < 1)
        return;
    VEC_PUSH(&g->ops, ((struct gather_op) { (uint32_t)e->op, a[0], b[1], a[1],
                                            batched ? e->dims[first][0] : 1 }));
}

void gather_event_end(struct gather *g)
{
    const struct gather_event *e = &g->event;
    const char *c = e->category;
    g->n_events++;
    if (e->phase != 'X' || !e->has_ts || !e->has_length || e->length > longest_ns)
        return;
    if (is(c, "kernel") || is(c, "gpu_memcpy") || is(c, "gpu_memset") ||
        is(c, "Kernel") || is(c, "Memcpy") || is(c, "Memset"))
        add_kernel(g, e);
    else if (is(c, "cuda_runtime") || is(c, "cuda_driver") || is(c, "Runtime")) {
        add_launch(g, e);
        add_block(g, e);
    } else if (is(c, "gpu_user_annotation"))
        read_mark(g, e, true);
    else if (is(c, "user_annotation") || is(c, "cpu_op") || is(c, "Operator")) {
        read_mark(g, e, false);
        if (begins(e->name, "autograd::engine")) {
            int32_t thread = thread_of(g, e->thread);
            if (thread >= 0)
                g->backward[thread] = true;
        }
        add_op(g, e);
    }
}

void gather_event_begin(struct gather_event *e)
{
    e->phase = '\0';
    e->category[0] = e->collective[0] = e->dtype[0] = e->group[0] = e->name[0] = '\0';
    e->name_length = 0;
    e->ts = e->length = e->thread = e->stream = e->device = 0;
    e->correlation = e->op = -1;
    e->in = e->out = e->ranks = 0;
    e->rank_stride = 0;
    e->has_ts = e->has_length = false;
    e->n_inputs = e->n_dims = 0;
}

/* All together -------------------------------------------------------------------- */

void gather_init(struct gather *g)
{
    memset(g, 0, sizeof(*g));
    g->rank = -1;
    g->name_of = xmalloc(SLOTS * sizeof(*g->name_of));
    for (int i = 0; i < SLOTS; i++)
        g->name_of[i] = -1;
}

void gather_release(struct gather *g)
{
    VEC_RELEASE(&g->kernels);
    VEC_RELEASE(&g->names);
    VEC_RELEASE(&g->launches);
    VEC_RELEASE(&g->ops);
    VEC_RELEASE(&g->blocks);
    VEC_RELEASE(&g->marks);
    VEC_RELEASE(&g->named);
    VEC_RELEASE(&g->comms);
    free(g->name_of);
}
