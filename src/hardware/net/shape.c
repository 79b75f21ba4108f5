#include "hardware/net/shape.h"

#include <assert.h>
#include <math.h>

/* Of PCIe's line rate, what payload reaches in packets of 256 bytes: pinned copies get
 * 11.2-12.5 of 15.75 GB/s (NVIDIA/nccl issue 398; p4d recalled). */
static const double PCIE_PAYLOAD = 0.80;

/* One hop through a PCIe port (NCCL's own PCI latency is about 1us for two). */
static const double PCIE_LATENCY_S = 0.5e-6;

static int32_t add(struct shape *s, enum net_kind kind, int from, int to, double line,
                   double payload_frac, double latency_s)
{
    assert(s->n_links < SHAPE_LINKS_MAX);
    s->links[s->n_links] = (struct net_link) {
        .kind = kind,
        .from = (int16_t)from,
        .to = (int16_t)to,
        .line_Bps = line,
        .payload_Bps = line * payload_frac,
        .latency_s = latency_s,
    };
    return s->n_links++;
}

static struct shape_pair add_pair(struct shape *s, enum net_kind kind, int from, int to,
                                  double line, double payload_frac, double latency_s)
{
    struct shape_pair p;

    p.out = add(s, kind, from, to, line, payload_frac, latency_s);
    p.in = add(s, kind, to, from, line, payload_frac, latency_s);
    return p;
}

static void add_nvlinks(struct shape *s)
{
    const struct instance *inst = s->instance;
    const struct fabric *f = inst->inside;
    const double port = (double)inst->gpu->nvlink_links * inst->gpu->nvlink_Bps;

    for (int32_t i = 0; i < INSTANCE_GPUS_MAX; i++) {
        s->port[i] = (struct shape_pair) { -1, -1 };
        for (int32_t j = 0; j < INSTANCE_GPUS_MAX; j++)
            s->nvlink[i][j] = -1;
    }
    for (int32_t i = 0; i < inst->n_gpus; i++) {
        if (f->kind == FABRIC_NVSWITCH)
            s->port[i] = add_pair(s, NET_NVLINK, i, SHAPE_NVSWITCH, port, f->efficiency,
                                  f->latency_s / 2);
        for (int32_t j = 0; f->kind == FABRIC_NVLINK && j < inst->n_gpus; j++)
            if (inst->nvlinks[i][j])
                s->nvlink[i][j] = add(s, NET_NVLINK, i, j,
                                      inst->nvlinks[i][j] * inst->gpu->nvlink_Bps,
                                      f->efficiency, f->latency_s);
    }
}

/* The vertex a GPU or NIC hangs on: its PCIe switch, else its NUMA node. */
static int parent(int32_t pcie, int32_t numa)
{
    return pcie >= 0 ? SHAPE_PCIE + pcie : SHAPE_NUMA + numa;
}

static void add_pcie(struct shape *s)
{
    const struct instance *inst = s->instance;
    const bool alone = inst->inside->kind == FABRIC_PCIE; /* all that joins the GPUs */
    const double frac = alone ? inst->inside->efficiency : PCIE_PAYLOAD;
    const double lat_s = alone ? inst->inside->latency_s / 2 : PCIE_LATENCY_S;

    for (int32_t i = 0; i < inst->n_gpus; i++)
        s->pcie[i] =
            add_pair(s, NET_PCIE, i, parent(inst->gpu_pcie[i], inst->gpu_numa[i]),
                     inst->pcie_Bps, frac, lat_s);
    for (int32_t i = 0; i < inst->n_pcie; i++)
        s->uplink[i] =
            add_pair(s, NET_UPLINK, SHAPE_PCIE + i, SHAPE_NUMA + inst->pcie_numa[i],
                     inst->pcie_uplink_Bps, frac, 0);
}

/* Memory is written and read again by what passes through it: half its rate each. */
static void add_host(struct shape *s)
{
    const struct instance *inst = s->instance;
    const double memory_Bps = inst->host_memory_Bps / inst->n_numa;
    const int32_t per_host = inst->n_numa / inst->n_hosts;

    for (int32_t i = 0; i < inst->n_numa; i++) {
        s->host[i] =
            add(s, NET_HOST, SHAPE_NUMA + i, SHAPE_NUMA + i, memory_Bps, 0.5, 0);
        for (int32_t j = 0; j < inst->n_numa; j++)
            s->socket[i][j] = i == j || i / per_host != j / per_host
                                  ? -1
                                  : add(s, NET_SOCKET, SHAPE_NUMA + i, SHAPE_NUMA + j,
                                        inst->socket_Bps, PCIE_PAYLOAD, 0);
    }
}

static void add_nics(struct shape *s, const struct fabric *outside)
{
    const struct instance *inst = s->instance;

    for (int32_t i = 0; i < inst->n_nics; i++) {
        const struct instance_nic *nic = &inst->nics[i];
        /* a NIC's slot is as wide as it needs, also where the GPUs' are narrower */
        const double slot = fmax(inst->pcie_Bps, nic->line_Bps / PCIE_PAYLOAD);

        s->slot[i] = add_pair(s, NET_PCIE, SHAPE_NIC + i, parent(nic->pcie, nic->numa),
                              slot, PCIE_PAYLOAD, PCIE_LATENCY_S);
        s->line[i] = (struct shape_pair) { -1, -1 };
        if (!outside)
            continue;

        double payload = nic->line_Bps * outside->efficiency;

        if (!outside->gpudirect)
            payload = fmin(payload, outside->staging_Bps);
        s->line[i] = add_pair(s, NET_NIC, SHAPE_NIC + i, SHAPE_CORE, nic->line_Bps,
                              payload / nic->line_Bps, outside->latency_s / 2);
    }
}

void shape_init(struct shape *s, const struct instance *inst,
                const struct fabric *outside)
{
    s->instance = inst;
    s->n_links = 0;
    add_nvlinks(s);
    add_pcie(s);
    add_host(s);
    add_nics(s, outside);
}
