#include "cost/nccl.h"

#include <math.h>
#include <stdlib.h>

enum { LL, LL128, SIMPLE, PROTOCOLS }; /* NCCL's order */
enum { VOLTA, AMPERE, HOPPER, BLACKWELL, ARCHS };

/* Times in us, rates in GB/s, as in tuning.cc. Rows of trees and NVLS go here too. */
struct nccl_version {
    int32_t number;
    const char *name;
    double ring_base[PROTOCOLS];
    double ring_nvlink[PROTOCOLS], ring_pci[PROTOCOLS], ring_net[PROTOCOLS]; /* a hop */
    double ll_max[ARCHS][3]; /* by nodes: 1, 2, more */
    double ll_share[2];      /* of the bus: all-reduce or several nodes, others */
    double ll128_per_channel[ARCHS];
    double ampere_bus_max;
    double simple_plateau[2]; /* latency factor between nodes: before sm80, from it */
    double ll_below_B;        /* no estimate: LL while a rank has less; 0: estimates */
};

#define LL_MAX_2_12                                               \
    {                                                             \
        { 39, 39, 20.4 }, { 87.7, 22.5, 19 }, { 87.7, 22.5, 19 }, \
        {                                                         \
            87.7, 22.5, 19                                        \
        }                                                         \
    }
#define LL_MAX_2_21                                            \
    {                                                          \
        { 39, 39, 20.4 }, { 87.7, 22.5, 19 }, { 141, 45, 35 }, \
        {                                                      \
            141, 45, 35                                        \
        }                                                      \
    }
#define LL_MAX_2_30                                            \
    {                                                          \
        { 39, 39, 20.4 }, { 87.7, 22.5, 19 }, { 141, 45, 35 }, \
        {                                                      \
            282, 90, 70                                        \
        }                                                      \
    }

/* clang-format off */
static const struct nccl_version versions[] = {
    /*                base LL/LL128/Simple   NVLink             PCIe             NET */
    { 20400, "2.4",  { 3.6, 10, 8.4 },  { 0.47, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 9.6 },
      LL_MAX_2_12, { 0.25, 1 / 3.0 }, { 16.7, 16.7, 16.7, 16.7 }, 235, { 1.9, 1.9 }, 65536 },
    { 20708, "2.7",  { 3.6, 10, 8.4 },  { 0.47, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 9.6 },
      LL_MAX_2_12, { 0.25, 1 / 3.0 }, { 16.7, 16.7, 16.7, 16.7 }, 235, { 1.9, 1.9 }, 0 },
    { 21003, "2.10", { 3.6, 10, 8.4 },  { 0.47, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 9.6 },
      LL_MAX_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 20, 20 }, 235, { 1.9, 1.9 }, 0 },
    { 21212, "2.12", { 3.6, 10, 8.4 },  { 0.47, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, 28 },
      LL_MAX_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 20, 20 }, 235, { 1.9, 1.9 }, 0 },
    { 21805, "2.18", { 6.6, 14, 8.4 },  { 0.6, 1.9, 3.4 },  { 1, 2.5, 5.7 }, { 2.7, 4, 14 },
      LL_MAX_2_12, { 0.5, 0.5 }, { 20, 20, 36.7, 36.7 }, INFINITY, { 1.9, 1.4 }, 0 },
    { 22105, "2.21", { 6.6, 14, 8.4 },  { 0.6, 1.9, 3.4 },  { 1, 2.5, 5.7 }, { 2.7, 4, 14 },
      LL_MAX_2_21, { 0.5, 0.5 }, { 20, 20, 36.7, 36.7 }, INFINITY, { 1.9, 1.4 }, 0 },
    { 23007, "2.30", { 6.6, 14, 8.4 },  { 0.6, 1.9, 3.4 },  { 1, 2.5, 5.7 }, { 2.7, 4, 14 },
      LL_MAX_2_30, { 0.5, 0.5 }, { 20, 20, 36.7, 40 }, INFINITY, { 1.9, 1.4 }, 0 },
};
/* clang-format on */

enum { N_VERSIONS = sizeof(versions) / sizeof(*versions) };

/* "2.12", "2.12.12", and what packages put behind a '-' or '+'. */
static int32_t parse_version(const char *text)
{
    int32_t parts[3] = { 0, 0, 99 };
    for (int i = 0; i < 3; i++) {
        char *end;
        long part = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 100;
        if (part > 99)
            return -1;
        parts[i] = (int32_t)part;
        text = end;
        if (i > 0 && (*text == '\0' || *text == '-' || *text == '+'))
            return parts[0] * 10000 + parts[1] * 100 + parts[2];
        if (*text++ != '.')
            return -1;
    }
    return -1;
}

const struct nccl_version *nccl_version_get(const char *version)
{
    int32_t number = version ? parse_version(version) : INT32_MAX, best = 0;
    if (number < 0)
        return NULL;
    for (int32_t i = 0; i < N_VERSIONS; i++)
        if (versions[i].number <= number)
            best = i;
    return &versions[best];
}

const char *nccl_version_name(const struct nccl_version *v)
{
    return v->name;
}

int32_t nccl_version_number(const struct nccl_version *v)
{
    return v->number;
}

static int arch_row(int64_t sm_arch)
{
    return sm_arch >= 100  ? BLACKWELL
           : sm_arch >= 90 ? HOPPER
           : sm_arch >= 80 ? AMPERE
                           : VOLTA;
}

static int64_t steps_of(enum coll_op op, int64_t n)
{
    switch (op) {
    case COLL_ALL_REDUCE:
        return 2 * (n - 1);
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
        return n - 1;
    default:
        return n;
    }
}

/* Bus bandwidth in GB/s: facts D.2. Hosts are taken for Intel's between nodes. */
static double bus_GBps(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    int arch = arch_row(c->sm_arch), row = c->n_nodes == 1 ? arch : 0;
    int column = c->n_nodes == 1 ? 0 : c->n_nodes == 2 ? 1 : 2;
    double bus = c->bus_Bps / 1e9;
    bool is_reduced = c->op == COLL_ALL_REDUCE || c->op == COLL_REDUCE;
    if (arch == AMPERE)
        bus = fmin(bus, v->ampere_bus_max);
    if (p == LL)
        return fmin(v->ll_max[row][column],
                    bus * v->ll_share[!(c->n_nodes > 1 || is_reduced)]);
    if (p == LL128)
        return fmin(bus * 0.92, c->n_channels * v->ll128_per_channel[arch]);
    return bus;
}

/* Latency in us: facts D.3. */
static double latency_us(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    const double *hop = c->is_pcie ? v->ring_pci : v->ring_nvlink;
    double steps = (double)steps_of(c->op, c->n_ranks), inter = 0;
    double net = v->ring_net[p] + c->net_latency_s * 1e6 * (p == SIMPLE ? 2 : 1);
    double overhead = p == SIMPLE ? 3 : 1; /* us a step between nodes, Intel hosts */
    double inside = c->n_nodes > 1 ? fmax(hop[p], overhead) : hop[p];
    if (c->op == COLL_BROADCAST || c->op == COLL_REDUCE)
        return v->ring_base[p] + steps * (c->n_nodes > 1 ? net : hop[p]);
    if (c->n_nodes > 1)
        inter = (double)steps_of(c->op, c->n_nodes);
    return v->ring_base[p] + (steps - inter) * inside + inter * net;
}

int nccl_fixed_protocol(const struct nccl_version *v, const struct nccl_case *c)
{
    if (v->ll_below_B <= 0)
        return -1;
    return c->size_B / (double)c->n_ranks < v->ll_below_B ? FABRIC_PROTO_LL
                                                          : FABRIC_PROTO_SIMPLE;
}

double nccl_ring_s(const struct nccl_version *v, const struct nccl_case *c,
                   int protocol)
{
    static const int order[] = { [FABRIC_PROTO_SIMPLE] = SIMPLE,
                                 [FABRIC_PROTO_LL] = LL,
                                 [FABRIC_PROTO_LL128] = LL128 };
    int p = order[protocol];
    double steps = (double)steps_of(c->op, c->n_ranks), n = (double)c->n_ranks;
    double latency = latency_us(v, c, p);
    if (p == SIMPLE && c->op == COLL_ALL_REDUCE && c->n_nodes > 1 &&
        c->size_B / (c->n_channels * n) >= 64)
        latency *= v->simple_plateau[c->sm_arch >= 80];
    return (latency + c->size_B / (1e3 * bus_GBps(v, c, p) * n / steps)) * 1e-6;
}
