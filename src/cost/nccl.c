#include "cost/nccl.h"

#include <math.h>
#include <stdlib.h>

enum { LL, LL128, SIMPLE, PROTOCOLS }; /* NCCL's order */
enum { VOLTA, AMPERE, HOPPER, BLACKWELL, ARCHS };

/* Latencies in us of one algorithm: once, and of a hop by its kind. */
struct lat {
    double base[PROTOCOLS], nvlink[PROTOCOLS], pci[PROTOCOLS], net[PROTOCOLS];
};

/* Times in us, rates in GB/s, as in tuning.cc. */
struct nccl_version {
    int32_t number;
    const char *name;
    struct lat ring, tree, nvls; /* of NVLS only Simple counts; base < 0: no NVLS */
    const double *ll_max;        /* [arch] of LL inside a node */
    double ll_share[2];          /* of the bus: all-reduce or several nodes, others */
    double ll128_per_channel[ARCHS];
    double ampere_bus_max;
    double simple_plateau[2]; /* latency factor between nodes: before sm80, from it */
    double ll_below_B;        /* no estimate: LL while a rank has less; 0: estimates */
    double nvls_alone;        /* of one node: algbw over busbw; 0: that of a ring */
    double p2p_ll_B;          /* messages to a peer that go by LL */
    double link_GBps[ARCHS];  /* that the search believes of an NVLink */
    double ofi_us[2]; /* of EFA's plugin: without GPUDirect, with it; 0: unstated */
};

/* What LL has of a bus: inside a node, and between two and more of Intel's processors,
 * for which hosts are taken. */
static const double ll_max_2_12[ARCHS] = { 39, 87.7, 87.7, 87.7 };
static const double ll_max_2_21[ARCHS] = { 39, 87.7, 141, 141 };
static const double ll_max_2_30[ARCHS] = { 39, 87.7, 141, 282 };
static const double ll_max_two = 39, ll_max_more = 20.4;

/* Of a channel of a tree, [arch][nodes: 1, 2, more]: Simple, LL128, and NVLS trees. */
static const double per_tree[ARCHS][3] = {
    { 26.5, 18.5, 10 }, { 24, 23.6, 17.8 }, { 38.7, 41.4, 36 }, { 70, 42.8, 24 }
};
static const double per_tree_ll128[ARCHS][3] = {
    { 20, 20, 20 }, { 20, 20, 20 }, { 36.7, 36.7, 29 }, { 55.6, 31.67, 20 }
};
static const double per_nvls_tree[ARCHS][3] = {
    { 26.5, 18.5, 10 }, { 24, 23.6, 17.8 }, { 0, 57.7, 45.5 }, { 0, 96, 80 }
};
static const double nvls_share[ARCHS] = { 0, 0, 0.85, 0.74 };

/* How much of its bandwidth a tree has at 64 B x 2^i. */
enum { CORRECTIONS = 23 };
static const double tree_correction[PROTOCOLS]
                                   [CORRECTIONS] = {
                                       { 1,  1,  1,  1,  .9, .8, .7, .7, .7, .7, .6, .5,
                                         .4, .4, .5, .6, .7, .8, .9, 1,  1,  1,  1 },
                                       { 1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                                         .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1 },
                                       { .9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                                         .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9 }
                                   };

/* clang-format off */
#define RING(b0, b1, n0, net2) \
    { { b0, b1, 8.4 }, { n0, 1.9, 3.4 }, { 1, 2.5, 5.7 }, { 2.7, 4, net2 } }
#define TREE(b0, b1, b2, n0, n2, p2, net2) \
    { { b0, b1, b2 }, { n0, 1.25, n2 }, { 1, 1.9, p2 }, { 5, 8.5, net2 } }
#define NVLS(b, n, net) { { 0, 0, b }, { 0, 0, n }, { 0, 0, n }, { 0, 0, net } }

/* Messages to a peer that NCCL sends by LL: 16 KiB of each channel. Until 2.28 all
 * channels that a peer may have count (32 on an NVSwitch), from 2.29 those that the
 * message takes, which is one up to 64 KiB (enqueue.cc, addP2pToPlan). */
#define P2P_LL_CHANNEL 16384
#define P2P_LL_EARLY (32 * P2P_LL_CHANNEL)

static const struct nccl_version versions[] = {
    /*               base LL/LL128 NVLink NET     base            NVLink    PCIe NET */
    { 20400, "2.4",  RING(3.6, 10, 0.47, 9.6),   TREE(4.4, 4.4, 0,   0.52, 28, 28, 50),
      NVLS(-1, 0, 0), ll_max_2_12, { 0.25, 1 / 3.0 }, { 16.7, 16.7, 16.7, 16.7 }, 235,
      { 1.9, 1.9 }, 65536, 0, 0,
      { 22, 20, 20, 40 }, { 0, 0 } },
    { 20708, "2.7",  RING(3.6, 10, 0.47, 9.6),   TREE(4.4, 4.4, 0,   0.52, 28, 28, 50),
      NVLS(-1, 0, 0), ll_max_2_12, { 0.25, 1 / 3.0 }, { 16.7, 16.7, 16.7, 16.7 }, 235,
      { 1.9, 1.9 }, 0, 0, 0,
      { 22, 20, 20, 40 }, { 0, 0 } },
    { 21003, "2.10", RING(3.6, 10, 0.47, 9.6),   TREE(4.4, 4.4, 0,   0.52, 28, 28, 28),
      NVLS(-1, 0, 0), ll_max_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 20, 20 }, 235,
      { 1.9, 1.9 }, 0, 0, 0,
      { 22, 20, 20, 40 }, { 0, 0 } },
    { 21212, "2.12", RING(3.6, 10, 0.47, 28),    TREE(4.4, 4.4, 0,   0.52, 28, 28, 28),
      NVLS(-1, 0, 0), ll_max_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 20, 20 }, 235,
      { 1.9, 1.9 }, 0, 0, 0,
      { 22, 20, 20, 40 }, { 0, 0 } },
    /* 2.18.3's to 2.18.6's; 2.18.1 is taken for these */
    { 21801, "2.18", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 0,    0.6, 4, 6, 14),
      NVLS(23, 0, 19), ll_max_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 36.7, 36.7 }, INFINITY,
      { 1.9, 1.4 }, 0, 5 / 6.0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 21901, "2.19", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 0,    0.6, 28, 28, 28),
      NVLS(0, 23, 14), ll_max_2_12, { 0.25, 1 / 3.0 }, { 20, 20, 36.7, 36.7 }, INFINITY,
      { 1.9, 1.4 }, 0, 5 / 6.0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 22105, "2.21", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 0,    0.6, 28, 28, 28),
      NVLS(0, 25, 14), ll_max_2_21, { 0.5, 0.5 }, { 20, 20, 36.7, 36.7 }, INFINITY,
      { 1.9, 1.4 }, 0, 5 / 6.0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    /* inferred between the tags on either side: 2 x p4d leaves LL for trees at 4-8
     * MiB */
    { 22300, "2.23", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 8.4,  0.6, 4, 4, 14),
      NVLS(0, 25, 14), ll_max_2_21, { 0.5, 0.5 }, { 20, 20, 36.7, 36.7 }, INFINITY,
      { 1.9, 1.4 }, 0, 5 / 6.0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 22501, "2.25", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 8.4,  0.6, 4, 4, 14),
      NVLS(0, 25, 14), ll_max_2_30, { 0.5, 0.5 }, { 20, 20, 36.7, 73.4 }, INFINITY,
      { 1.9, 1.4 }, 0, 5 / 6.0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 22803, "2.28", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 8.4,  0.6, 4, 4, 14),
      NVLS(0, 25, 14), ll_max_2_30, { 0.5, 0.5 }, { 20, 20, 36.7, 73.4 }, INFINITY,
      { 1.9, 1.4 }, 0, 0, P2P_LL_EARLY,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 22902, "2.29", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 8.4,  0.6, 4, 4, 14),
      NVLS(0, 25, 20.9), ll_max_2_30, { 0.5, 0.5 }, { 20, 20, 36.7, 34.5 }, INFINITY,
      { 1.9, 1.4 }, 0, 0, P2P_LL_CHANNEL,
      { 20, 20, 20, 40 }, { 150, 75 } },
    { 22907, "2.30", RING(6.6, 14, 0.6, 14),     TREE(6.8, 14, 8.4,  0.6, 4, 4, 14),
      NVLS(0, 25, 20.9), ll_max_2_30, { 0.5, 0.5 }, { 20, 20, 36.7, 40 }, INFINITY,
      { 1.9, 1.4 }, 0, 0, P2P_LL_CHANNEL,
      { 20, 20, 20, 40 }, { 150, 75 } },
};
/* clang-format on */

enum { N_VERSIONS = sizeof(versions) / sizeof(*versions) };

/* "2.12", "2.12.12", and what packages put after a '-' or '+'. */
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

bool nccl_asks_plugin(const struct nccl_version *v)
{
    enum { FIRST = 21901 };
    return v->number >= FIRST;
}

static int arch_row(int64_t sm_arch)
{
    return sm_arch >= 100  ? BLACKWELL
           : sm_arch >= 90 ? HOPPER
           : sm_arch >= 80 ? AMPERE
                           : VOLTA;
}

double nccl_link_Bps(const struct nccl_version *v, int64_t sm_arch)
{
    return v->link_GBps[arch_row(sm_arch)] * 1e9;
}

bool nccl_fills_channels(const struct nccl_version *v, int32_t n_channels)
{
    enum { MOST = 32, FEW = 16 };
    return v->number < 21800   ? false
           : v->number < 22100 ? 2 * n_channels <= MOST
                               : n_channels < FEW;
}

double nccl_ofi_s(const struct nccl_version *v, bool gpudirect)
{
    return v->ofi_us[gpudirect] / 1e6;
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

static int node_column(const struct nccl_case *c)
{
    return c->n_nodes == 1 ? 0 : c->n_nodes == 2 ? 1 : 2;
}

static double ll_max_GBps(const struct nccl_version *v, const struct nccl_case *c)
{
    if (c->n_nodes == 1)
        return v->ll_max[arch_row(c->sm_arch)];
    return c->n_nodes == 2 ? ll_max_two : ll_max_more;
}

/* Rates are in GB/s of nccl-tests' size, latencies in us: tuning.cc, one function for
 * each algorithm. */
static double ring_GBps(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    int arch = arch_row(c->sm_arch);
    double bus = c->bus_Bps / 1e9;
    bool is_reduced = c->op == COLL_ALL_REDUCE || c->op == COLL_REDUCE;
    if (arch == AMPERE)
        bus = fmin(bus, v->ampere_bus_max);
    if (p == LL)
        bus =
            fmin(ll_max_GBps(v, c), bus * v->ll_share[!(c->n_nodes > 1 || is_reduced)]);
    if (p == LL128)
        bus = fmin(bus * 0.92, c->n_channels * v->ll128_per_channel[arch]);
    return bus * (double)c->n_ranks / (double)steps_of(c->op, c->n_ranks);
}

static double ring_us(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    const double *hop = c->is_pcie ? v->ring.pci : v->ring.nvlink;
    double steps = (double)steps_of(c->op, c->n_ranks), inter = 0;
    double net = v->ring.net[p] + c->net_latency_s * 1e6 * (p == SIMPLE ? 2 : 1);
    double overhead = p == SIMPLE ? 3 : 1; /* us a step between nodes, Intel hosts */
    double inside = c->n_nodes > 1 ? fmax(hop[p], overhead) : hop[p], lat;
    if (c->op == COLL_BROADCAST || c->op == COLL_REDUCE)
        return v->ring.base[p] + steps * (c->n_nodes > 1 ? net : hop[p]);
    if (c->n_nodes > 1)
        inter = (double)steps_of(c->op, c->n_nodes);
    lat = v->ring.base[p] + (steps - inter) * inside + inter * net;
    if (p == SIMPLE && c->op == COLL_ALL_REDUCE && c->n_nodes > 1 &&
        c->size_B / (c->n_channels * (double)c->n_ranks) >= 64)
        lat *= v->simple_plateau[c->sm_arch >= 80];
    return lat;
}

static double levels(const struct nccl_case *c)
{
    return floor(log2((double)c->n_nodes));
}

/* On two nodes the search raises what a channel has inside a node to twice what it has
 * between them, as far as the NVLinks of a chain go (search.cc, its second pass). */
static double tree_bus_GBps(const struct nccl_case *c)
{
    double ppn = (double)c->n_ranks / (double)c->n_nodes;
    double inside = c->inside_bus_Bps * ppn / fmax(ppn - 1, 1);
    if (c->n_nodes != 2)
        return c->bus_Bps / 1e9;
    return fmax(c->bus_Bps, fmin(2 * c->bus_Bps, inside)) / 1e9;
}

static double tree_GBps(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    int arch = arch_row(c->sm_arch), column = node_column(c);
    double bus = tree_bus_GBps(c);
    double log = floor(log2(fmax(c->size_B, 64) / 64));
    bus = fmin(bus * 0.92, c->n_channels * per_tree[arch][column]);
    if (p == LL)
        bus = fmin(bus / 3.8, ll_max_GBps(v, c));
    else if (p == LL128)
        bus = fmin(bus * 120 / 128, c->n_channels * per_tree_ll128[arch][column]);
    if (log < CORRECTIONS)
        bus *= tree_correction[p][(int)log];
    return bus / 2;
}

static double tree_us(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    const double *hop = c->is_pcie ? v->tree.pci : v->tree.nvlink;
    double net = v->tree.net[p] + c->net_latency_s * 1e6 * (p == SIMPLE ? 2 : 1);
    double chain = (double)c->n_ranks / (double)c->n_nodes - 1;
    return v->tree.base[p] + 2 * (chain * hop[p] + levels(c) * net);
}

/* ncclNvlsSetup of src/transport/nvls.cc (2.18.3), called when a communicator is made: up
 * and down, for each of 16 channels and each GPU, 4 MiB (NCCL_BUFFSIZE) and the flags' 2
 * MiB. Later releases have chunks of 128 KiB and allocate when needed (2.23:
 * ncclNvlsBufferSetup); 2.21 is taken to be one of them (not read). */
/* NCCL_NVLS_NCHANNELS, until 2.21. */
enum { NVLS_CHANNELS = 16 };

int64_t nccl_nvls_buffers_B(const struct nccl_version *v, int64_t sm_arch,
                            int64_t n_gpus)
{
    enum { WAYS = 2, BUFFER_B = 6 << 20, LATER = 22105 };
    if (v->nvls.base[SIMPLE] < 0 || v->number >= LATER || sm_arch < 90 || n_gpus <= 2)
        return 0;
    return NVLS_CHANNELS * WAYS * BUFFER_B * n_gpus;
}

int64_t nccl_nvls_trees_B(int64_t n_nodes)
{
    enum {
        SIMPLE_B = 4 << 20,
        LL128_B = 120 * 640 * 8 * 8, /* words of a thread, threads, steps, bytes */
        LL_B = 8 * 512 * 8 * 16,     /* lines of a thread, threads, steps, bytes */
        SEND_B = SIMPLE_B + LL128_B, /* those of LL are the host's */
        RECEIVE_B = SEND_B + LL_B,
        MOST = 4,
    };
    int64_t of_two = n_nodes < MOST ? n_nodes : MOST; /* up and down, of two channels */
    return n_nodes > 1 ? NVLS_CHANNELS / 2 * of_two * (SEND_B + RECEIVE_B) : 0;
}

double nccl_nvls_heads(double n_gpus)
{
    return fmin(n_gpus, FABRIC_NVLS_HEADS);
}

/* NCCL's search tries these for every head's share of a node's switch (search.cc). */
static const double *nvls_speeds(const struct nccl_case *c)
{
    static const double hopper[] = { 60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3, 0 };
    static const double blackwell[] = { 90, 80, 70, 60, 50, 45, 40,
                                        30, 24, 20, 19, 18, 0 };
    return arch_row(c->sm_arch) == HOPPER ? hopper : blackwell;
}

/* The links of a GPU, at the 20.6 and 40.1 GB/s of topo.h rather than 20 and 40. */
static double nvls_links_GBps(const struct nccl_case *c)
{
    bool is_hopper = arch_row(c->sm_arch) == HOPPER;
    return c->inside_bus_Bps / 1e9 * (is_hopper ? 1.03 : 1.0025);
}

/* From 2.28 on: every GPU carries each head's share once and its own twice. What is
 * believed to arrive is then raised, step by step, up to twice that share; an
 * all-reduce has two of them at the switch's efficiency (tuning.cc). */
static double nvls_alone_late_GBps(const struct nccl_case *c)
{
    const double *speed = nvls_speeds(c), *first = speed;
    double n = (double)c->n_ranks, heads = nccl_nvls_heads(n);
    double links = nvls_links_GBps(c);
    while (*speed > 0 &&
           ((heads + 1) * *speed > links || heads * *speed > links * n / (n - 1)))
        speed++;
    double share = *speed;
    while (speed > first && *speed < 2 * share)
        speed--;
    double summed = 2 * nvls_share[arch_row(c->sm_arch)] * share * (heads - 1) / heads;
    return heads * fmin(summed, *speed) * n / (double)steps_of(c->op, c->n_ranks);
}

/* Inside one node every head pulls evenly: until 2.27 its rate is the greatest that all
 * of them fit at, where each GPU's links count n / (n - 1) times. */
static double nvls_alone_GBps(const struct nccl_version *v, const struct nccl_case *c)
{
    const double *speed = nvls_speeds(c);
    double n = (double)c->n_ranks, heads = nccl_nvls_heads(n);
    if (v->nvls_alone <= 0)
        return nvls_alone_late_GBps(c);
    while (*speed > 0 && *speed > nvls_links_GBps(c) * n / (n - 1) / heads)
        speed++;
    return heads * *speed * v->nvls_alone;
}

/* Between nodes NVLS has one channel a head, 16 of them or as many as the GPUs that NVLink
 * joins, with a fifteenth to spare. */
static double nvls_GBps(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    double ppn = (double)c->n_ranks / (double)c->n_nodes;
    double heads = fmax(16, nccl_nvls_heads(ppn));
    int arch = arch_row(c->sm_arch);
    double n = (double)c->n_ranks;
    (void)p;
    if (c->n_nodes == 1)
        return nvls_alone_GBps(v, c);
    double inside = 2 * c->inside_bus_Bps / 1e9 * 16 * 20 / 360 * nvls_share[arch] *
                    (heads - 1) / heads;
    inside = fmin(inside, fmin((c->n_nodes == 2 ? 2 : 1) * c->bus_Bps / 1e9,
                               heads * per_nvls_tree[arch][node_column(c)]));
    return inside * n / (double)steps_of(c->op, c->n_ranks);
}

static double nvls_us(const struct nccl_version *v, const struct nccl_case *c, int p)
{
    double lat = v->nvls.base[p] + v->nvls.nvlink[p];
    if (v->nvls.base[p] < 0)
        return INFINITY;
    if (c->n_nodes > 1)
        lat += 2 * levels(c) * (v->nvls.net[p] + 2e6 * c->net_latency_s);
    return lat;
}

double nccl_p2p_ll_B(const struct nccl_version *v)
{
    return v->p2p_ll_B;
}

/* Trees win on 2.4 wherever they are: its threshold is infinite between nodes. */
int nccl_fixed_protocol(const struct nccl_version *v, const struct nccl_case *c,
                        enum coll_algorithm algorithm)
{
    static const double tree_ll_B = 1048576; /* as p3dn's times show */
    bool ll = algorithm == COLL_TREE ? c->size_B <= tree_ll_B
                                     : c->size_B / (double)c->n_ranks < v->ll_below_B;
    if (v->ll_below_B <= 0)
        return -1;
    return ll ? FABRIC_PROTO_LL : FABRIC_PROTO_SIMPLE;
}

double nccl_expect_s(const struct nccl_version *v, const struct nccl_case *c,
                     enum coll_algorithm algorithm, int protocol)
{
    typedef double term(const struct nccl_version *, const struct nccl_case *, int);
    static const struct {
        term *us, *GBps;
    } terms[] = { [COLL_RING] = { ring_us, ring_GBps },
                  [COLL_TREE] = { tree_us, tree_GBps },
                  [COLL_NVLS] = { nvls_us, nvls_GBps },
                  [COLL_NVLS_TREE] = { nvls_us, nvls_GBps } };
    static const int order[] = { [FABRIC_PROTO_SIMPLE] = SIMPLE,
                                 [FABRIC_PROTO_LL] = LL,
                                 [FABRIC_PROTO_LL128] = LL128 };
    int p = order[protocol];
    double rate = terms[algorithm].GBps(v, c, p);
    if (!(rate > 0))
        return INFINITY;
    return (terms[algorithm].us(v, c, p) + c->size_B / (1e3 * rate)) * 1e-6;
}
