#include "run/groups.h"

#include "base/hash.h"
#include "layout/partition.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Classes -------------------------------------------------------------------------- */

int64_t groups_stage(const struct groups *g, int64_t rank)
{
    return layout_stage(&g->layout, rank);
}

static uint64_t hash_stages(const struct groups *g, int64_t first, int32_t n)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (int32_t i = 0; i < n; i++)
        h = (h ^ (uint64_t)groups_stage(g, first + i)) * 1099511628211u;
    return h;
}

/* A class of instances: those whose GPUs have the same stages in the same order. */
struct instance_class {
    uint64_t stages; /* hash of these */
    int32_t number;
    UT_hash_handle hh;
};

static int32_t class_of(struct groups *g, struct arena *arena,
                        struct instance_class **known, uint64_t stages)
{
    struct instance_class *found;
    HASH_FIND(hh, *known, &stages, sizeof(stages), found);
    if (!found) {
        found = ARENA_NEW(arena, struct instance_class);
        found->stages = stages;
        found->number = g->n_classes++;
        HASH_ADD(hh, *known, stages, sizeof(stages), found);
    }
    return found->number;
}

static void find_classes(struct groups *g, struct arena *arena)
{
    const struct cluster *c = g->cluster;
    struct instance_class *known = NULL;
    int64_t rank = 0, instance = 0;
    g->class_of = ARENA_ARRAY(arena, c->n_instances, int32_t);
    for (int32_t k = 0; k < c->n_groups; k++) {
        const int32_t n = c->groups[k].gpus_per_instance;
        /* where stages have instances of their own, the first GPU shows it */
        const bool whole = c->n_groups == 1 && g->layout.stride_p % n == 0;
        for (int64_t i = 0; i < c->groups[k].count; i++, instance++, rank += n)
            g->class_of[instance] =
                class_of(g, arena, &known, hash_stages(g, rank, whole ? 1 : n));
    }
    HASH_CLEAR(hh, known);
}

void groups_init(struct groups *g, struct arena *arena, const struct cluster *c,
                 const struct parallelism *p)
{
    *g = (struct groups) { .cluster = c,
                           .context = p->context,
                           .context_inner = p->context_inner > 0 ? p->context_inner : 1,
                           .expert = p->expert,
                           .expert_tensor = parallelism_expert_tensor(p),
                           .shard = p->shard.degree > 1 ? p->shard.degree : 1 };
    int64_t part = p->stages.mtp_part >= 0 ? p->stages.mtp_part
                                           : p->pipeline * p->stages.virtual_stages - 1;
    g->copies = partition_stage(p->pipeline,
                                parallelism_schedule(p->stages.schedule)->folds, part);
    int rc = layout_init(&g->layout, p->placement, p->data * p->context, p->pipeline,
                         p->tensor);
    assert(rc == 0 && "placements are checked when they are read");
    (void)rc;
    if (p->pipeline > 1)
        find_classes(g, arena);
    else
        g->n_classes = 1;
}

bool groups_are_even(const struct groups *g)
{
    const struct layout *l = &g->layout;
    int64_t gpus = g->cluster->groups[0].gpus_per_instance;
    /* ranks that follow each other and agree in all indices from some one on */
    int64_t experts = g->expert * g->expert_tensor;
    int64_t experts_d = experts > l->tensor ? experts / l->tensor : 1;
    const int64_t blocks[] = { l->stride_d,
                               l->stride_p,
                               l->stride_t,
                               l->stride_d * g->shard,
                               l->stride_d * g->context,
                               l->stride_d * g->context_inner,
                               l->stride_d * experts_d };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        if (blocks[i] % gpus != 0 && gpus % blocks[i] != 0)
            return false;
    return true;
}

/* All ranks are in one group, which is laid over all wires at once. */
static bool is_one_group(const struct groups *g)
{
    const struct layout *l = &g->layout;
    return l->tensor == 1 && l->pipeline == 1 && g->context == 1 && g->expert == 1 &&
           (g->shard == 1 || g->shard == l->data);
}

bool groups_lie_alike(const struct groups *g)
{
    return is_one_group(g) || instance_gpus_alike(g->cluster->groups[0].instance);
}

bool groups_span_stages(enum channel c)
{
    return c == CHANNEL_WORLD || c == CHANNEL_MODEL || c == CHANNEL_EMBEDDING;
}

bool groups_stages_alike(const struct groups *g)
{
    return cluster_is_uniform(g->cluster) && groups_are_even(g) &&
           g->layout.stride_p % g->cluster->groups[0].gpus_per_instance == 0;
}

/* Sets of ranks -------------------------------------------------------------------- */

static void add_dim(struct ranks *r, int64_t count, int64_t stride)
{
    if (count <= 1)
        return;
    int32_t at = r->n_dims++; /* smaller strides run faster */
    for (; at > 0 && r->strides[at - 1] > stride; at--) {
        r->counts[at] = r->counts[at - 1];
        r->strides[at] = r->strides[at - 1];
    }
    r->counts[at] = count;
    r->strides[at] = stride;
}

/* Neighbours among the data indices: `n` of them, `apart` from each other. */
static struct ranks neighbours(const struct layout *l, int64_t rank, int64_t d,
                               int64_t n, int64_t apart)
{
    int64_t before = d / apart % n * apart;
    struct ranks r = { .first = rank - before * l->stride_d };
    add_dim(&r, n, apart * l->stride_d);
    return r;
}

/* Ranks of a stage, `n` of them, `apart` from each other: the experts' groups. */
static struct ranks run_of(const struct layout *l, int64_t rank, int64_t n,
                           int64_t apart)
{
    struct layout_run run = layout_run_of(l, rank, n, apart);
    struct ranks r = { .first = run.first };
    add_dim(&r, run.n_t, run.stride_t);
    add_dim(&r, run.n_d, run.stride_d);
    return r;
}

static struct ranks message(const struct layout *l, int64_t rank, int64_t p, int64_t by)
{
    int64_t to = (p + by + l->pipeline) % l->pipeline;
    return (struct ranks) { .first = rank,
                            .n_dims = 1,
                            .counts = { 2 },
                            .strides = { (to - p) * l->stride_p } };
}

struct ranks groups_of(const struct groups *g, enum channel channel, int64_t rank)
{
    const struct layout *l = &g->layout;
    struct layout_index at = layout_index(l, rank);
    struct ranks r = { .first = rank };
    int64_t experts = g->expert * g->expert_tensor;
    switch (channel) {
    case CHANNEL_WORLD:
        r.first = 0;
        add_dim(&r, g->cluster->n_gpus, 1);
        return r;
    case CHANNEL_DATA:
        return neighbours(l, rank, at.d, l->data, 1);
    case CHANNEL_SHARD:
        return neighbours(l, rank, at.d, g->shard, 1);
    case CHANNEL_REPLICA:
        return neighbours(l, rank, at.d, l->data / g->shard, g->shard);
    case CHANNEL_CONTEXT:
        return neighbours(l, rank, at.d, g->context, 1);
    case CHANNEL_CONTEXT_INNER:
        return neighbours(l, rank, at.d, g->context_inner, 1);
    case CHANNEL_CONTEXT_OUTER:
        return neighbours(l, rank, at.d, g->context / g->context_inner,
                          g->context_inner);
    case CHANNEL_EXPERT:
        return run_of(l, rank, g->expert, g->expert_tensor);
    case CHANNEL_EXPERT_TENSOR:
        return run_of(l, rank, g->expert_tensor, 1);
    case CHANNEL_EXPERT_JOINT:
        return run_of(l, rank, experts, 1);
    case CHANNEL_EXPERT_DATA:
        return run_of(l, rank, l->tensor * l->data / experts, experts);
    case CHANNEL_WHOLE_DATA:
        r = neighbours(l, rank, at.d, l->data, 1);
        r.first -= at.t * l->stride_t;
        add_dim(&r, l->tensor, l->stride_t);
        return r;
    case CHANNEL_TENSOR:
        r.first -= at.t * l->stride_t;
        add_dim(&r, l->tensor, l->stride_t);
        return r;
    case CHANNEL_MODEL:
        r.first -= at.t * l->stride_t + at.p * l->stride_p;
        add_dim(&r, l->tensor, l->stride_t);
        add_dim(&r, l->pipeline, l->stride_p);
        return r;
    case CHANNEL_EMBEDDING:
        r.first -= at.p * l->stride_p;
        if (g->copies > 0)
            add_dim(&r, 2, g->copies * l->stride_p);
        return r;
    case CHANNEL_NEXT:
        return message(l, rank, at.p, 1);
    case CHANNEL_BACK:
        return message(l, rank, at.p, -1);
    case CHANNEL_N:
        break;
    }
    return r;
}

int64_t ranks_count(const struct ranks *r)
{
    int64_t n = 1;
    for (int32_t i = 0; i < r->n_dims; i++)
        n *= r->counts[i];
    return n;
}

int64_t ranks_member(const struct ranks *r, int64_t i)
{
    int64_t rank = r->first;
    for (int32_t k = 0; k < r->n_dims; k++) {
        rank += i % r->counts[k] * r->strides[k];
        i /= r->counts[k];
    }
    return rank;
}

/* Spans ---------------------------------------------------------------------------- */

void groups_place(const struct groups *g, int64_t rank, int64_t *instance, int32_t *gpu)
{
    const struct cluster_group *k = g->cluster->groups;
    int64_t before = 0;
    while (rank >= k->count * k->gpus_per_instance) {
        rank -= k->count * k->gpus_per_instance;
        before += k->count;
        k++;
    }
    *instance = before + rank / k->gpus_per_instance;
    *gpu = (int32_t)(rank % k->gpus_per_instance);
}

static const struct instance *instance_of(const struct cluster *c, int64_t instance)
{
    const struct cluster_group *k = c->groups;
    for (; instance >= k->count; k++)
        instance -= k->count;
    return k->instance;
}

static bool alike(const struct groups *g, const struct coll_span *a,
                  const struct coll_span *b, bool classes)
{
    return a->n_gpus == b->n_gpus && memcmp(a->gpus, b->gpus, (size_t)a->n_gpus) == 0 &&
           instance_of(g->cluster, a->first) == instance_of(g->cluster, b->first) &&
           (!classes || !g->class_of || g->class_of[a->first] == g->class_of[b->first]);
}

/* Adds one more instance's GPUs, to a span that goes on with it or as a span. */
static int add_instance(const struct groups *g, struct coll_group *out,
                        const struct coll_span *one, bool classes)
{
    for (int32_t i = 0; i < out->n_spans; i++) {
        struct coll_span *s = &out->spans[i];
        int64_t ahead = one->first - s->first;
        bool next =
            s->n_instances == 1 ? ahead > 0 : ahead == s->n_instances * s->stride;
        if (!next || !alike(g, s, one, classes))
            continue;
        if (s->n_instances++ == 1)
            s->stride = ahead;
        return 0;
    }
    if (out->n_spans == CLUSTER_GROUPS_MAX)
        return -1;
    out->spans[out->n_spans++] = *one;
    return 0;
}

/* The same where runs of `lanes` neighbours repeat: the n-th of each run are a span. */
static int add_to_lane(const struct groups *g, struct coll_group *out,
                       const struct coll_span *one, int64_t number, int64_t lanes,
                       bool classes)
{
    struct coll_span *s = &out->spans[number % lanes];
    int64_t ahead = one->first - s->first;
    if (number < lanes) {
        *s = *one;
        out->n_spans++;
        return 0;
    }
    bool next = s->n_instances == 1 ? ahead > 0 : ahead == s->n_instances * s->stride;
    if (!next || !alike(g, s, one, classes))
        return -1;
    if (s->n_instances++ == 1)
        s->stride = ahead;
    return 0;
}

/* How many neighbouring instances the group begins with. */
static int64_t first_run(const struct groups *g, const struct ranks *r)
{
    int64_t n = ranks_count(r), first = 0, last = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t instance;
        int32_t gpu;
        groups_place(g, ranks_member(r, i), &instance, &gpu);
        if (i > 0 && instance != last && instance != last + 1)
            break;
        first = i == 0 ? instance : first;
        last = instance;
    }
    return last - first + 1;
}

/* The one span of ranks at equal distances of whole instances, which is what they come to
 * one by one; false: they lie otherwise. */
static bool lay_even(const struct groups *g, const struct ranks *r,
                     struct coll_group *out)
{
    const struct cluster *c = g->cluster;
    int64_t n = ranks_count(r), second, stride, first;
    int32_t gpu, other;
    if (c->n_groups != 1 || r->n_dims != 1 || n < 2 ||
        r->strides[0] % c->groups[0].gpus_per_instance != 0)
        return false;
    groups_place(g, ranks_member(r, 0), &first, &gpu);
    groups_place(g, ranks_member(r, 1), &second, &other);
    stride = second - first;
    if (stride <= 0 || gpu != other)
        return false;
    for (int64_t i = 1; i < n && g->class_of; i++)
        if (g->class_of[first + i * stride] != g->class_of[first])
            return false;
    *out = (struct coll_group) { .n_spans = 1 };
    out->spans[0] = (struct coll_span) {
        .first = first, .n_instances = n, .stride = stride, .n_gpus = 1
    };
    out->spans[0].gpus[0] = (uint8_t)gpu;
    return true;
}

/* `lanes` 1: spans as they come. */
static int lay_spans(const struct groups *g, const struct ranks *r,
                     struct coll_group *out, int64_t lanes, bool classes)
{
    struct coll_span one = { .first = -1, .n_instances = 1, .stride = 1 };
    int64_t n = ranks_count(r), number = 0;
    *out = (struct coll_group) { 0 };
    if (lanes > CLUSTER_GROUPS_MAX)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t instance;
        int32_t gpu;
        groups_place(g, ranks_member(r, i), &instance, &gpu);
        if (instance != one.first && one.n_gpus &&
            (lanes > 1 ? add_to_lane(g, out, &one, number++, lanes, classes)
                       : add_instance(g, out, &one, classes)))
            return -1;
        if (instance != one.first)
            one =
                (struct coll_span) { .first = instance, .n_instances = 1, .stride = 1 };
        if (one.n_gpus == INSTANCE_GPUS_MAX)
            return -1;
        one.gpus[one.n_gpus++] = (uint8_t)gpu;
    }
    return lanes > 1 ? add_to_lane(g, out, &one, number, lanes, classes)
                     : add_instance(g, out, &one, classes);
}

int groups_spans(const struct groups *g, const struct ranks *r, struct coll_group *out,
                 struct err *err)
{
    if (lay_even(g, r, out) || lay_spans(g, r, out, 1, true) == 0 ||
        lay_spans(g, r, out, 1, false) == 0)
        return 0;
    int64_t lanes = first_run(g, r);
    if (lanes > 1 && (lay_spans(g, r, out, lanes, true) == 0 ||
                      lay_spans(g, r, out, lanes, false) == 0))
        return 0;
    return err_set(
        err,
        "a group of %" PRId64 " ranks lies too irregularly over the instances (let "
        "the degrees divide the GPUs of an instance, or be multiples of them)",
        (int64_t)ranks_count(r));
}

/* Lock step ------------------------------------------------------------------------ */

static bool same_shape(const struct coll_group *a, const struct coll_group *b)
{
    if (a->n_spans != b->n_spans)
        return false;
    for (int32_t i = 0; i < a->n_spans; i++)
        if (a->spans[i].n_gpus != b->spans[i].n_gpus ||
            a->spans[i].n_instances != b->spans[i].n_instances)
            return false;
    return true;
}

int groups_concurrent(const struct groups *g, struct arena *arena,
                      const struct net *net, enum channel channel, int64_t rank,
                      struct coll_group **out, int32_t *n, struct err *err)
{
    struct ranks own = groups_of(g, channel, rank);
    int64_t instance, from = 0, to = g->cluster->n_gpus;
    int32_t gpu;
    struct err ignored = { 0 };
    groups_place(g, rank, &instance, &gpu);
    if (!net_shares_switches(net)) {
        const struct cluster_group *k = g->cluster->groups;
        for (int64_t before = 0; instance - before >= k->count; k++)
            before += k->count;
        from = rank - gpu;
        to = from + k->gpus_per_instance;
    }
    const bool of_stage = !groups_span_stages(channel);
    const int64_t stage = groups_stage(g, rank);
    *out = ARENA_ARRAY(arena, to - from + 1, struct coll_group);
    int64_t *firsts = xcalloc((size_t)(to - from) + 1, sizeof(*firsts));
    int rc = groups_spans(g, &own, &(*out)[0], err);
    firsts[0] = own.first;
    *n = 1;
    for (int64_t other = from; other < to && rc == 0; other++) {
        if (of_stage && groups_stage(g, other) != stage)
            continue;
        struct ranks r = groups_of(g, channel, other);
        bool seen = false;
        for (int32_t i = 0; i < *n && !seen; i++)
            seen = firsts[i] == r.first;
        if (seen || groups_spans(g, &r, &(*out)[*n], &ignored) ||
            !same_shape(&(*out)[0], &(*out)[*n]))
            continue;
        firsts[(*n)++] = r.first;
    }
    free(firsts);
    return rc;
}
