#include "doctor/bandwidth.h"

#include "base/units.h"

#include "calibrate/calibration.h"
#include "doctor/variables.h"
#include "hardware/net/net.h"

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

enum word {
    WORD_NONE,
    WORD_SOCKETS,
    WORD_NO_GDR,
    WORD_GDR_READ,
    WORD_FEW_NICS,
    WORD_NO_NVLINK
};

/* What differs, with the probability before the log. Without GPUDirect copies pass
 * through the host's memory: at half and a fifth of the NICs' rate, and at 0.03 as in nccl
 * issue 1676, the one thread of that kind (10 of 180 GB/s, by trees). Where GPUs are read through
 * the host, and written by the NIC, two thirds are left, as in nccl issue 371 (6.1 of
 * 9.2 GB/s): NCCL's default of nodes without NVLink (its documentation,
 * NCCL_NET_GDR_READ). */
static const struct shape {
    const char *text;
    const char *fabric; /* in place of the cluster's; NULL: that */
    const char *inside; /* likewise, of the node's */
    double nics;        /* of the NICs' rate */
    double prior;
    enum word word; /* by which NCCL says it */
    bool said;      /* tried where NCCL says it, alone */
} shapes[] = {
    { "as described", NULL, NULL, 1, 0.6, WORD_NONE, false },
    { "sockets in place of RDMA", "ena-tcp-25g", NULL, 1, 0.12, WORD_SOCKETS, false },
    { "no GPUDirect RDMA", "efa-2024-nogdr", NULL, 1, 0.08, WORD_NO_GDR, false },
    { "no GPUDirect RDMA", NULL, NULL, 0.5, 0.04, WORD_NO_GDR, true },
    { "no GPUDirect RDMA", NULL, NULL, 0.2, 0.02, WORD_NO_GDR, true },
    { "no GPUDirect RDMA", NULL, NULL, 0.03, 0.02, WORD_NO_GDR, true },
    { "sends through host memory: NCCL_NET_GDR_READ=1", NULL, NULL, 0.66, 0.08,
      WORD_GDR_READ, false },
    { "half of the NICs, a shared network, or ACS", NULL, NULL, 0.5, 0.08,
      WORD_FEW_NICS, false },
    { "a quarter of the NICs", NULL, NULL, 0.25, 0.06, WORD_FEW_NICS, false },
    { "an eighth of the NICs", NULL, NULL, 0.125, 0.06, WORD_FEW_NICS, false },
    { "GPUs of a node through the host, not NVLink", NULL, "pcie-gen4-host", 1, 0.06,
      WORD_NO_NVLINK, false },
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };
_Static_assert((int)SHAPES < (int)BANDWIDTH_FITS, "one fit a shape, and the unknown");

/* Nothing known: as probable as a shape whose times are off by a factor of 1.6. */
static const struct {
    const char *text;
    double prior, error;
} unknown = { "nothing known", 0.04, 0.47 };

/* The strongest evidence of variables for a shape; 0: none. */
static double variables_say(enum word word, const struct bandwidth_ask *a,
                            const char **seen)
{
    static const char *const hypotheses_of[] = {
        [WORD_NONE] = "",
        [WORD_SOCKETS] = "tcp",
        [WORD_NO_GDR] = "no-gpudirect",
        [WORD_GDR_READ] = "gdr-read",
        [WORD_FEW_NICS] = "slow-network",
        [WORD_NO_NVLINK] = "no-nvlink",
    };
    const struct doctor_facts f = { .outside = a->cluster->fabric
                                                   ? (int)a->cluster->fabric->kind
                                                   : -1 };
    double most = 0;
    for (int32_t i = 0; a->variables && i < a->variables->n; i++) {
        const struct variable_effect *e = variable_effect_of(&a->variables->of[i], &f);
        const char *name = e ? variable_hypothesis(e) : NULL;
        if (!name || strcmp(name, hypotheses_of[word]) != 0 || e->evidence <= most)
            continue;
        most = e->evidence;
        *seen = e->text;
    }
    return most;
}

/* The logarithm of how much more probable NCCL's own lines are with a shape. */
static double evidence_of(enum word word, const struct bandwidth_ask *a,
                          const char **seen)
{
    static const double certain = 8, hint = 2.5;
    const struct logs_nccl *n = a->said;
    *seen = NULL;
    double variables = variables_say(word, a, seen);
    if (variables > 0 || !n || n->n_lines == 0)
        return variables;
    int64_t rdma = n->via[LOGS_NET_OFI] + n->via[LOGS_NET_IB] + n->via[LOGS_NET_OTHER],
            nics = 0;
    const struct instance *inst = a->cluster->groups[0].instance;
    bool socket = n->via[LOGS_NET_SOCKET] || strcmp(n->network, "Socket") == 0;
    for (int32_t i = 0; i < inst->n_nics; i++)
        nics += inst->nics[i].rails;
    switch (word) {
    case WORD_SOCKETS:
        *seen = socket ? "NCCL uses sockets" : NULL;
        return socket ? certain : rdma || n->network[0] ? -certain : 0;
    case WORD_NO_GDR:
        if (n->via_gdr || n->received_gdr || !(rdma || n->n_gdr_off))
            return n->via_gdr || n->received_gdr ? -certain : 0;
        *seen = "no connection over the network says GDRDMA";
        return certain;
    case WORD_GDR_READ:
        if (n->via_gdr || !n->received_gdr)
            return rdma ? -certain : 0;
        *seen = "receivers say GDRDMA, and no sender does";
        return certain;
    case WORD_FEW_NICS:
        *seen = n->nics && n->nics < nics ? "NCCL found fewer NICs" : NULL;
        return *seen ? certain : n->nics ? -hint : 0;
    case WORD_NO_NVLINK:
        if (!n->via[LOGS_SHM] || n->via[LOGS_P2P])
            return n->via[LOGS_P2P] ? -certain : 0;
        *seen = "GPUs of a node are connected by SHM";
        return certain;
    case WORD_NONE:
        break;
    }
    return 0;
}

static bool applies(const struct shape *s, const struct bandwidth_ask *a)
{
    const char *seen;
    const struct cluster *c = a->cluster;
    enum fabric_kind inside = c->groups[0].instance->inside->kind;
    bool nvlink = inside == FABRIC_NVSWITCH || inside == FABRIC_NVLINK,
         by_words = s->said || (s->word == WORD_GDR_READ && nvlink);
    if (by_words && evidence_of(s->word, a, &seen) <= 0)
        return false;
    if (s->inside)
        return a->group->spans[0].n_gpus > 1 && nvlink;
    if (c->n_instances == 1)
        return !s->fabric && s->nics >= 1;
    if (s->fabric && strstr(s->fabric, "nogdr"))
        return c->fabric && c->fabric->kind == FABRIC_EFA;
    if ((s->said || s->word == WORD_GDR_READ) && c->fabric &&
        c->fabric->kind == FABRIC_EFA)
        return false; /* it has a fabric of its own for that */
    return !s->fabric || (c->fabric && c->fabric->kind != FABRIC_TCP);
}

static const struct fabric *named(struct cfg_loader *loader, const char *name)
{
    return fabric_get(loader, name, cfg_from_tree(loader, "--log", json_string(name)));
}

/* The cluster with a shape; instances are copied into the arena. */
static int change(struct cluster *to, struct cfg_loader *loader,
                  const struct cluster *from, const struct shape *s)
{
    const struct fabric *inside = s->inside ? named(loader, s->inside) : NULL;
    *to = *from;
    if (s->fabric)
        to->fabric = named(loader, s->fabric);
    if ((s->fabric && !to->fabric) || (s->inside && !inside))
        return -1;
    for (int32_t g = 0; g < to->n_groups; g++) {
        struct instance *copy = ARENA_NEW(&loader->arena, struct instance);
        *copy = *from->groups[g].instance;
        copy->inside = inside ? inside : copy->inside;
        for (int32_t i = 0; i < copy->n_nics; i++)
            copy->nics[i].line_Bps *= s->nics;
        to->groups[g].instance = copy;
    }
    return 0;
}

/* Times of all rows' sizes on a cluster. */
static int predict(double *time_s, const struct bandwidth *b, const struct cluster *c,
                   const struct bandwidth_ask *a, struct err *err)
{
    struct arena arena;
    struct net *net = net_new(c, true, err);
    int rc = net ? 0 : -1;
    if (rc)
        return rc;
    arena_init(&arena);
    for (int64_t i = 0; i < b->rows.n && rc == 0; i++) {
        const struct coll_request request = { .op = a->op,
                                              .algorithm = COLL_AUTO,
                                              .protocol = -1,
                                              .size_B = b->rows.v[i].size_B,
                                              .groups = a->group,
                                              .n_groups = 1,
                                              .nccl = a->nccl,
                                              .gpus_per_thread =
                                                  b->rows.v[i].gpus_per_thread };
        struct coll_plan plan;
        rc = coll_plan_make(&plan, &arena, net, &request, err);
        if (rc == 0)
            time_s[i] = coll_plan_time_s(&plan, net);
    }
    arena_release(&arena);
    net_free(net);
    return rc;
}

static void collect(struct bandwidth *b, const struct bandwidth_ask *a,
                    const struct samples *samples)
{
    for (int64_t i = 0; i < samples->colls.n; i++) {
        const struct sample_coll *k = &samples->colls.v[i];
        bool nodes = k->n_nodes == 0 || k->n_nodes == a->cluster->n_instances;
        if (k->op != a->op || k->n_ranks != coll_group_ranks(a->group) || !nodes) {
            b->n_other++;
            continue;
        }
        const struct bandwidth_row row = { .size_B = k->bytes,
                                           .measured_s = k->time_s,
                                           .gpus_per_thread = sample_coll_launched(
                                               k, a->group->spans[0].n_gpus) };
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
        if (b->fits[i].text == unknown.text)
            b->fits[i].error = (double)NAN;
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

static void add_fit(struct bandwidth *b, double *priors, const char *text, double prior,
                    double error, const char *seen)
{
    priors[b->n_fits] = prior;
    b->fits[b->n_fits++] =
        (struct bandwidth_fit) { .text = text, .error = error, .seen = seen };
}

static int fit(struct bandwidth *b, struct cfg_loader *loader,
               const struct bandwidth_ask *a, double *time_s, struct err *err)
{
    double priors[BANDWIDTH_FITS],
        bus = coll_bus_factor(a->op, coll_group_ranks(a->group));
    for (int i = 0; i < SHAPES; i++) {
        struct cluster changed;
        if (!applies(&shapes[i], a))
            continue;
        if (change(&changed, loader, a->cluster, &shapes[i]) ||
            predict(time_s, b, &changed, a, err))
            return -1;
        if (i == 0)
            for (int64_t k = 0; k < b->rows.n; k++)
                judge_row(b, &b->rows.v[k], time_s[k], bus);
        const char *seen;
        double words = evidence_of(shapes[i].word, a, &seen);
        add_fit(b, priors, shapes[i].text, shapes[i].prior * exp(words),
                error_of(b, time_s), seen);
    }
    add_fit(b, priors, unknown.text, unknown.prior, unknown.error, NULL);
    weigh(b, priors);
    return 0;
}

/* What the logs' first row is of. */
static const char *first_of(struct cfg_loader *loader, const struct samples *samples)
{
    if (samples->colls.n == 0)
        return "none of a collective";
    const struct sample_coll *k = &samples->colls.v[0];
    const char *op = names_of(coll_op_names, (int)k->op);
    return k->n_nodes
               ? arena_printf(&loader->arena,
                              "first of %s on %" PRId64 " GPU%s of %" PRId64 " node%s",
                              op, (int64_t)k->n_ranks, units_plural(k->n_ranks),
                              (int64_t)k->n_nodes, units_plural(k->n_nodes))
               : arena_printf(&loader->arena, "first of %s on %" PRId64 " GPU%s", op,
                              (int64_t)k->n_ranks, units_plural(k->n_ranks));
}

/* The option that gave the log. */
static const char *option_of(const struct bandwidth_ask *a)
{
    return a->given_by ? a->given_by : "--log";
}

/* A log of other GPUs than the cluster's is held against it all the same. */
static void warn_of_device(struct cfg_loader *loader, const struct bandwidth_ask *a,
                           const struct samples *samples)
{
    const struct cluster *c = a->cluster;
    for (int i = 0; samples->device && i < c->n_groups; i++)
        if (calibration_may_be(samples->device, c->groups[i].instance->gpu->name))
            return;
    if (samples->device)
        diags_warn(&loader->diags, DIAG_CONTRADICTION,
                   "%s: is of \"%s\", and the cluster has %s", option_of(a),
                   samples->device, c->groups[0].instance->gpu->name);
}

int bandwidth_judge(struct bandwidth *b, struct cfg_loader *loader,
                    const struct bandwidth_ask *ask, const struct samples *samples,
                    struct err *err)
{
    const struct coll_group world = coll_group_world(ask->cluster);
    struct bandwidth_ask a = *ask;
    a.group = a.group ? a.group : &world;
    memset(b, 0, sizeof(*b));
    collect(b, &a, samples);
    if (b->rows.n == 0)
        return err_set(
            err,
            "%s: no row is of this operation on %" PRId64 " GPU%s of %" PRId64
            " node%s: %" PRId64 " rows are of others, %s%s",
            option_of(&a), coll_group_ranks(a.group),
            units_plural(coll_group_ranks(a.group)), a.cluster->n_instances,
            units_plural(a.cluster->n_instances), b->n_other, first_of(loader, samples),
            a.given_by ? "" : " (change --op or --cluster)");
    warn_of_device(loader, &a, samples);
    double *time_s = xmalloc((size_t)b->rows.n * sizeof(*time_s));
    int rc = fit(b, loader, &a, time_s, err);
    free(time_s);
    return rc;
}

void bandwidth_release(struct bandwidth *b)
{
    VEC_RELEASE(&b->rows);
}
