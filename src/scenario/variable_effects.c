#include "scenario/variable_effects.h"

#include "hardware/instance_own.h"

#include <stdlib.h>
#include <string.h>

/* NCCL's documentation, "Environment Variables"; libfabric's fi_efa(7); aws-ofi-nccl's
 * README; PyTorch's notes on CUDA semantics and "CUDA Environment Variables"; Transformer
 * Engine's "Environment Variables". */
/* clang-format off */
static const struct variable_effect effects[] = {
    { "NCCL_NET", VARIABLE_IS, "Socket", VARIABLE_SOCKETS, 6, "NCCL_NET=Socket: nodes exchange data by sockets", VARIABLE_OF_ANY },
    { "NCCL_IB_DISABLE", VARIABLE_IS, "1", VARIABLE_SOCKETS, 5, "NCCL_IB_DISABLE=1 turns InfiniBand and RoCE off", VARIABLE_OF_VERBS },
    { "NCCL_NET_PLUGIN", VARIABLE_IS, "none", VARIABLE_SOCKETS, 3, "NCCL_NET_PLUGIN=none: the network plugin is not loaded", VARIABLE_OF_EFA },
    { "FI_PROVIDER", VARIABLE_CONTAINS, "tcp", VARIABLE_SOCKETS, 5, "FI_PROVIDER: libfabric uses TCP", VARIABLE_OF_EFA },
    { "FI_PROVIDER", VARIABLE_IS, "sockets", VARIABLE_SOCKETS, 5, "FI_PROVIDER=sockets: libfabric uses TCP", VARIABLE_OF_EFA },
    { "NCCL_SOCKET_IFNAME", VARIABLE_IS, "lo", VARIABLE_OTHER_NETWORK, 0, "NCCL_SOCKET_IFNAME=lo: no other node is reached", VARIABLE_OF_ANY },
    { "NCCL_SOCKET_IFNAME", VARIABLE_CONTAINS, "docker", VARIABLE_FEWER_NICS, 2.5, "NCCL_SOCKET_IFNAME names a bridge of docker", VARIABLE_OF_ANY },
    { "NCCL_NET_GDR_LEVEL", VARIABLE_IS, "0", VARIABLE_NO_GPUDIRECT, 5, "NCCL_NET_GDR_LEVEL=0 turns GPUDirect RDMA off", VARIABLE_OF_ANY },
    { "NCCL_NET_GDR_LEVEL", VARIABLE_IS, "LOC", VARIABLE_NO_GPUDIRECT, 5, "NCCL_NET_GDR_LEVEL=LOC turns GPUDirect RDMA off", VARIABLE_OF_ANY },
    { "NCCL_NET_GDR_READ", VARIABLE_IS, "0", VARIABLE_SENDS_BY_HOST, 5, "NCCL_NET_GDR_READ=0: what is sent goes through host memory", VARIABLE_OF_ANY },
    { "FI_EFA_USE_DEVICE_RDMA", VARIABLE_IS, "0", VARIABLE_NO_GPUDIRECT, 5, "FI_EFA_USE_DEVICE_RDMA=0 turns GPUDirect RDMA off", VARIABLE_OF_EFA },
    { "NCCL_IB_HCA", VARIABLE_NIC, NULL, VARIABLE_FEWER_NICS, 2.5, "NCCL_IB_HCA names one NIC", VARIABLE_OF_VERBS },
    { "NCCL_PXN_DISABLE", VARIABLE_IS, "1", VARIABLE_OTHER_NETWORK, 0, "NCCL_PXN_DISABLE=1: GPUs do not send by the NIC of another", VARIABLE_OF_ANY },
    { "NCCL_MAX_NCHANNELS", VARIABLE_BELOW, "5", VARIABLE_FEW_CHANNELS, 5, "NCCL_MAX_NCHANNELS holds NCCL to 4 channels or fewer", VARIABLE_OF_ANY },
    { "NCCL_MAX_CTAS", VARIABLE_BELOW, "5", VARIABLE_FEW_CHANNELS, 5, "NCCL_MAX_CTAS holds NCCL to 4 channels or fewer", VARIABLE_OF_ANY },
    { "NCCL_MAX_NRINGS", VARIABLE_BELOW, "5", VARIABLE_FEW_CHANNELS, 5, "NCCL_MAX_NRINGS holds NCCL to 4 channels or fewer", VARIABLE_OF_ANY },
    { "NCCL_NTHREADS", VARIABLE_BELOW, "256", VARIABLE_FEW_CHANNELS, 2.5, "NCCL_NTHREADS: fewer threads than NCCL would use", VARIABLE_OF_ANY },
    { "NCCL_BUFFSIZE", VARIABLE_BELOW, "4194304", VARIABLE_SMALL_BUFFERS, 5, "NCCL_BUFFSIZE is smaller than the default of 4 MiB", VARIABLE_OF_ANY },
    { "NCCL_PROTO", VARIABLE_SINGLE, NULL, VARIABLE_ONE_PROTOCOL, 8, "NCCL_PROTO holds NCCL to one protocol", VARIABLE_OF_ANY },
    { "NCCL_ALGO", VARIABLE_SINGLE, NULL, VARIABLE_ONE_ALGORITHM, 5, "NCCL_ALGO holds NCCL to one algorithm", VARIABLE_OF_ANY },
    { "NCCL_P2P_DISABLE", VARIABLE_IS, "1", VARIABLE_NO_P2P, 8, "NCCL_P2P_DISABLE=1: GPUs of a node are not connected by P2P", VARIABLE_OF_ANY },
    { "NCCL_P2P_LEVEL", VARIABLE_IS, "LOC", VARIABLE_NO_P2P, 8, "NCCL_P2P_LEVEL=LOC: GPUs of a node are not connected by P2P", VARIABLE_OF_ANY },
    { "NCCL_P2P_LEVEL", VARIABLE_IS, "0", VARIABLE_NO_P2P, 8, "NCCL_P2P_LEVEL=0: GPUs of a node are not connected by P2P", VARIABLE_OF_ANY },
    { "NCCL_SHM_DISABLE", VARIABLE_IS, "1", VARIABLE_NO_SHM, 0, "NCCL_SHM_DISABLE=1: without P2P, GPUs of a node use the network", VARIABLE_OF_ANY },
    { "NCCL_NVLS_ENABLE", VARIABLE_IS, "0", VARIABLE_NO_NVLS, 5, "NCCL_NVLS_ENABLE=0 turns NVLink SHARP off", VARIABLE_OF_ANY },
    { "CUDA_LAUNCH_BLOCKING", VARIABLE_IS, "1", VARIABLE_SLOW_HOST, 5, "CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel", VARIABLE_OF_ANY },
    { "TORCH_NCCL_BLOCKING_WAIT", VARIABLE_IS, "1", VARIABLE_SLOW_HOST, 2, "TORCH_NCCL_BLOCKING_WAIT=1: the host waits for each collective", VARIABLE_OF_ANY },
    { "NCCL_BLOCKING_WAIT", VARIABLE_IS, "1", VARIABLE_SLOW_HOST, 2, "NCCL_BLOCKING_WAIT=1: the host waits for each collective", VARIABLE_OF_ANY },
    { "PYTORCH_NO_CUDA_MEMORY_CACHING", VARIABLE_IS, "1", VARIABLE_SLOW_HOST, 5, "PYTORCH_NO_CUDA_MEMORY_CACHING=1: CUDA allocates each tensor anew", VARIABLE_OF_ANY },
    { "NVTE_ALLOW_NONDETERMINISTIC_ALGO", VARIABLE_IS, "0", VARIABLE_OTHER, 0, "NVTE_ALLOW_NONDETERMINISTIC_ALGO=0: attention takes slower kernels, which repeat bit by bit", VARIABLE_OF_ANY },
    { "TORCH_DISTRIBUTED_DEBUG", VARIABLE_IS, "DETAIL", VARIABLE_SLOW_HOST, 3, "TORCH_DISTRIBUTED_DEBUG=DETAIL: each collective is checked on the host", VARIABLE_OF_ANY },
    { "NCCL_DEBUG", VARIABLE_IS, "TRACE", VARIABLE_SLOW_HOST, 2.5, "NCCL_DEBUG=TRACE: each call is logged", VARIABLE_OF_ANY },
};
/* clang-format on */

enum { EFFECTS = sizeof(effects) / sizeof(effects[0]) };

static bool holds(const struct variable_effect *e, const char *value)
{
    char *end;
    long number = strtol(value, &end, 10);
    switch (e->when) {
    case VARIABLE_IS:
        return strcmp(value, e->value) == 0;
    case VARIABLE_BELOW:
        return end != value && !*end && number > 0 &&
               number < strtol(e->value, NULL, 10);
    case VARIABLE_SINGLE:
        return *value && !strpbrk(value, ",^;:");
    case VARIABLE_NIC:
        return strchr(value, '_') && !strpbrk(value, ",^;");
    case VARIABLE_CONTAINS:
        return strstr(value, e->value) != NULL;
    }
    return false;
}

const struct variable_effect *variable_effect_find(const char *name, const char *value,
                                                   int outside)
{
    static const int kinds[] = {
        [VARIABLE_OF_VERBS] = FABRIC_INFINIBAND, [VARIABLE_OF_EFA] = FABRIC_EFA
    };
    for (int i = 0; i < EFFECTS; i++) {
        const struct variable_effect *e = &effects[i];
        bool acts = e->of == VARIABLE_OF_ANY || kinds[e->of] == outside;
        if (acts && strcmp(e->name, name) == 0 && holds(e, value))
            return e;
    }
    return NULL;
}

bool variable_effect_knows(const char *name)
{
    for (int i = 0; i < EFFECTS; i++)
        if (strcmp(effects[i].name, name) == 0)
            return true;
    return false;
}

/* Scenarios ------------------------------------------------------------------------ */

/* Sockets are over a network of their own, of which the instance's file has nothing. */
static int take_sockets(struct parse_context *r, struct cfg c,
                        const struct variable_effect *e)
{
    const struct fabric *f = r->s->fabric;
    if (!f || f->kind == FABRIC_TCP)
        return 0;
    return cfg_error(
        c, DIAG_MISSING,
        "%s: which network sockets take in place of %s is not known (name it: "
        "/cluster/fabric=ena-tcp-25g, or leave the variable out)",
        e->text, f->name);
}

/* GPUs that NVLink joins are then as those without it. */
static int take_without_p2p(struct parse_context *r, struct cfg c,
                            const struct variable_effect *e)
{
    struct cluster *cluster = &r->s->cluster;
    int acts = 0;
    for (int32_t i = 0; i < cluster->n_groups; i++) {
        struct cluster_group *g = &cluster->groups[i];
        bool joined =
            g->gpus_per_instance > 1 && (g->instance->inside->kind == FABRIC_NVLINK ||
                                         g->instance->inside->kind == FABRIC_NVSWITCH);
        if (!joined)
            continue;
        if (g->instance->n_hosts > 1) {
            cfg_warn(c, DIAG_NOT_SIMULATED, "is not simulated: %s", e->text);
            return 1;
        }
        g->instance = instance_without_nvlink(r->loader, g->instance);
        if (!g->instance)
            return -1;
        if (!acts)
            cfg_warn(c, DIAG_ASSUMED, "%s: they exchange data by host memory, %s",
                     e->text, g->instance->inside->name);
        acts = 1;
    }
    return acts;
}

/* Whether GPUs of a node exchange data by host memory. */
static bool uses_host_memory(const struct cluster *cluster)
{
    for (int32_t i = 0; i < cluster->n_groups; i++)
        if (cluster->groups[i].gpus_per_instance > 1 &&
            cluster->groups[i].instance->inside->kind == FABRIC_PCIE)
            return true;
    return false;
}

int variable_effect_take(struct parse_context *r, struct cfg c,
                         const struct variable_effect *e)
{
    const struct fabric *f = r->s->fabric;
    bool acts = false;
    switch (e->does) {
    case VARIABLE_SOCKETS:
        return take_sockets(r, c, e);
    case VARIABLE_NO_P2P:
        return take_without_p2p(r, c, e);
    case VARIABLE_NO_GPUDIRECT:
    case VARIABLE_SENDS_BY_HOST:
        acts = f && f->gpudirect;
        break;
    case VARIABLE_FEWER_NICS:
    case VARIABLE_OTHER_NETWORK:
        acts = f != NULL;
        break;
    case VARIABLE_NO_SHM:
        acts = uses_host_memory(&r->s->cluster);
        break;
    case VARIABLE_FEW_CHANNELS:
    case VARIABLE_SMALL_BUFFERS:
        acts = r->s->cluster.n_gpus > 1;
        break;
    case VARIABLE_SLOW_HOST:
    case VARIABLE_OTHER:
        acts = true;
        break;
    case VARIABLE_ONE_PROTOCOL:
    case VARIABLE_ONE_ALGORITHM:
    case VARIABLE_NO_NVLS:
        break;
    }
    if (acts)
        cfg_warn(c, DIAG_NOT_SIMULATED, "is not simulated: %s", e->text);
    return acts;
}
