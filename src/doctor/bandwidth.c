#include "doctor/bandwidth.h"

#include "hardware/net.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct name_value bandwidth_verdict_names[] = {
    { "normal", BANDWIDTH_NORMAL },
    { "slower", BANDWIDTH_SLOWER },
    { "faster", BANDWIDTH_FASTER },
    { NULL, 0 },
};

static const double shape_from_B = 1 << 20;

/* Factors within which four of five rows of unseen systems are, of the largest sizes nine
 * of ten (smsim validate nccl_published_elsewhere). */
static double factor_of(double size_B)
{
    return size_B < 1 << 16   ? 1.7
           : size_B < 1 << 20 ? 1.5
           : size_B < 1 << 25 ? 1.65
                              : 1.3;
}

/* What differs, with the probability before the log. */
static const struct shape {
    const char *text;
    const char *fabric; /* in place of the cluster's; NULL: that */
    double nics;        /* of the NICs' rate */
    double prior;
} shapes[] = {
    { "as described", NULL, 1, 0.6 },
    { "sockets in place of RDMA", "ena-tcp-25g", 1, 0.12 },
    { "no GPUDirect RDMA", "efa-2024-nogdr", 1, 0.08 },
    { "half of the NICs, or a shared network", NULL, 0.5, 0.08 },
    { "a quarter of the NICs", NULL, 0.25, 0.06 },
    { "an eighth of the NICs", NULL, 0.125, 0.06 },
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
_Static_assert((int)SHAPES <= (int)BANDWIDTH_FITS, "one fit a shape");

static bool applies(const struct shape *s, const struct cluster *c)
{
    if (c->n_instances == 1)
        return !s->fabric && s->nics >= 1;
    if (s->fabric && strstr(s->fabric, "nogdr"))
        return c->fabric && c->fabric->kind == FABRIC_EFA;
    return !s->fabric || (c->fabric && c->fabric->kind != FABRIC_TCP);
}

/* The cluster with a shape; instances are copied into the arena. */
static int change(struct cluster *to, struct cfg_loader *loader,
                  const struct cluster *from, const struct shape *s)
{
    *to = *from;
    if (s->fabric) {
        to->fabric = fabric_get(loader, s->fabric,
                                cfg_from_tree(loader, "--log", json_string(s->fabric)));
        return to->fabric ? 0 : -1;
    }
    for (int32_t g = 0; g < to->n_groups; g++) {
        struct instance *copy = ARENA_NEW(&loader->arena, struct instance);
        *copy = *from->groups[g].instance;
        for (int32_t i = 0; i < copy->n_nics; i++)
            copy->nics[i].line_Bps *= s->nics;
        to->groups[g].instance = copy;
    }
    return 0;
}

/* Times of all rows' sizes on a cluster. */
static int predict(double *time_s, const struct bandwidth *b, const struct cluster *c,
                   enum coll_op op, const char *nccl, struct err *err)
{
    struct arena arena;
    struct net *net = net_new(c, true, err);
    int rc = net ? 0 : -1;
    if (rc)
        return rc;
    arena_init(&arena);
    struct coll_group group = coll_group_world(c);
    for (int64_t i = 0; i < b->rows.n && rc == 0; i++) {
        const struct coll_request request = { .op = op,
                                              .algorithm = COLL_AUTO,
                                              .protocol = -1,
                                              .size_B = b->rows.v[i].size_B,
                                              .groups = &group,
                                              .n_groups = 1,
                                              .nccl = nccl };
        struct coll_plan plan;
        rc = coll_plan_make(&plan, &arena, net, &request, err);
        if (rc == 0)
            time_s[i] = coll_plan_time_s(&plan, net);
    }
    arena_release(&arena);
    net_free(net);
    return rc;
}

static void collect(struct bandwidth *b, const struct cluster *c, enum coll_op op,
                    const struct samples *samples)
{
    for (int64_t i = 0; i < samples->colls.n; i++) {
        const struct sample_coll *k = &samples->colls.v[i];
        bool nodes = k->n_nodes == 0 || k->n_nodes == c->n_instances;
        if (k->op != op || k->n_ranks != c->n_gpus || !nodes) {
            b->n_other++;
            continue;
        }
        const struct bandwidth_row row = { .size_B = k->bytes,
                                           .measured_s = k->time_s };
        VEC_PUSH(&b->rows, row);
    }
}

static void judge_row(struct bandwidth *b, struct bandwidth_row *row,
                      double predicted_s, double bus)
{
    double ratio = row->measured_s / predicted_s, factor = factor_of(row->size_B);
    row->predicted_s = predicted_s;
    row->measured_busbw = bus * row->size_B / row->measured_s;
    row->predicted_busbw = bus * row->size_B / predicted_s;
    row->verdict = ratio > factor       ? BANDWIDTH_SLOWER
                   : ratio < 1 / factor ? BANDWIDTH_FASTER
                                        : BANDWIDTH_NORMAL;
    b->n_slower += row->verdict == BANDWIDTH_SLOWER;
    b->n_faster += row->verdict == BANDWIDTH_FASTER;
}

static double error_of(const struct bandwidth *b, const double *time_s)
{
    double sum[2] = { 0 }, n[2] = { 0 };
    for (int64_t i = 0; i < b->rows.n; i++) {
        double e = log(b->rows.v[i].measured_s / time_s[i]);
        int large = b->rows.v[i].size_B >= shape_from_B;
        sum[large] += e * e;
        n[large]++;
    }
    int of = n[1] > 0;
    return sqrt(sum[of] / n[of]);
}

/* Sizes of one run err together: they count as three. */
static void weigh(struct bandwidth *b, const double *priors)
{
    static const double sd = 0.2, independent = 3;
    double sum = 0;
    for (int32_t i = 0; i < b->n_fits; i++) {
        double e = b->fits[i].error / sd;
        b->fits[i].posterior = priors[i] * exp(-0.5 * independent * fmin(e * e, 400));
        sum += b->fits[i].posterior;
    }
    for (int32_t i = 0; i < b->n_fits; i++)
        b->fits[i].posterior /= sum;
    for (int32_t i = 1; i < b->n_fits; i++)
        for (int32_t k = i; k > 0 && b->fits[k].posterior > b->fits[k - 1].posterior;
             k--) {
            struct bandwidth_fit other = b->fits[k];
            b->fits[k] = b->fits[k - 1];
            b->fits[k - 1] = other;
        }
}

static int fit(struct bandwidth *b, struct cfg_loader *loader, const struct cluster *c,
               enum coll_op op, const char *nccl, double *time_s, struct err *err)
{
    double priors[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        struct cluster changed;
        if (!applies(&shapes[i], c))
            continue;
        if (change(&changed, loader, c, &shapes[i]) ||
            predict(time_s, b, &changed, op, nccl, err))
            return -1;
        if (i == 0)
            for (int64_t k = 0; k < b->rows.n; k++)
                judge_row(b, &b->rows.v[k], time_s[k], coll_bus_factor(op, c->n_gpus));
        priors[b->n_fits] = shapes[i].prior;
        b->fits[b->n_fits++] = (struct bandwidth_fit) { .text = shapes[i].text,
                                                        .error = error_of(b, time_s) };
    }
    weigh(b, priors);
    return 0;
}

int bandwidth_judge(struct bandwidth *b, struct cfg_loader *loader,
                    const struct cluster *c, enum coll_op op, const char *nccl,
                    const struct samples *samples, struct err *err)
{
    memset(b, 0, sizeof(*b));
    collect(b, c, op, samples);
    if (b->rows.n == 0)
        return err_set(err,
                       "--log: no row is of this operation on %" PRId64
                       " GPUs (%" PRId64
                       " rows are of others: change --op or --cluster)",
                       c->n_gpus, b->n_other);
    double *time_s = xmalloc((size_t)b->rows.n * sizeof(*time_s));
    int rc = fit(b, loader, c, op, nccl, time_s, err);
    free(time_s);
    return rc;
}

void bandwidth_release(struct bandwidth *b)
{
    VEC_RELEASE(&b->rows);
}
