#include "doctor/variables.h"

#include <stdlib.h>
#include <string.h>

/* NCCL's documentation, "Environment Variables"; libfabric's fi_efa(7); aws-ofi-nccl's
 * README; PyTorch's notes on CUDA semantics. */
/* clang-format off */
static const struct variable_effect effects[] = {
    { "NCCL_NET", VARIABLE_IS, "Socket", "tcp", 6, "NCCL_NET=Socket: nodes exchange data by sockets", false },
    { "NCCL_IB_DISABLE", VARIABLE_IS, "1", "tcp", 5, "NCCL_IB_DISABLE=1 turns InfiniBand and RoCE off", true },
    { "NCCL_NET_PLUGIN", VARIABLE_IS, "none", "tcp", 3, "NCCL_NET_PLUGIN=none: the network plugin is not loaded", false },
    { "FI_PROVIDER", VARIABLE_CONTAINS, "tcp", "tcp", 5, "FI_PROVIDER: libfabric uses TCP", false },
    { "FI_PROVIDER", VARIABLE_IS, "sockets", "tcp", 5, "FI_PROVIDER=sockets: libfabric uses TCP", false },
    { "NCCL_SOCKET_IFNAME", VARIABLE_IS, "lo", NULL, 0, "NCCL_SOCKET_IFNAME=lo: no other node is reached", false },
    { "NCCL_SOCKET_IFNAME", VARIABLE_CONTAINS, "docker", "slow-network", 2.5, "NCCL_SOCKET_IFNAME names a bridge of docker", false },
    { "NCCL_NET_GDR_LEVEL", VARIABLE_IS, "0", "no-gpudirect", 5, "NCCL_NET_GDR_LEVEL=0 turns GPUDirect RDMA off", false },
    { "NCCL_NET_GDR_LEVEL", VARIABLE_IS, "LOC", "no-gpudirect", 5, "NCCL_NET_GDR_LEVEL=LOC turns GPUDirect RDMA off", false },
    { "NCCL_NET_GDR_READ", VARIABLE_IS, "0", "gdr-read", 5, "NCCL_NET_GDR_READ=0: what is sent goes through host memory", false },
    { "FI_EFA_USE_DEVICE_RDMA", VARIABLE_IS, "0", "no-gpudirect", 5, "FI_EFA_USE_DEVICE_RDMA=0 turns GPUDirect RDMA off", false },
    { "NCCL_IB_HCA", VARIABLE_NIC, NULL, "slow-network", 2.5, "NCCL_IB_HCA names one NIC", true },
    { "NCCL_PXN_DISABLE", VARIABLE_IS, "1", NULL, 0, "NCCL_PXN_DISABLE=1: GPUs do not send by the NIC of another", false },
    { "NCCL_MAX_NCHANNELS", VARIABLE_BELOW, "5", "few-channels", 5, "NCCL_MAX_NCHANNELS holds NCCL to 4 channels or fewer", false },
    { "NCCL_MAX_CTAS", VARIABLE_BELOW, "5", "few-channels", 5, "NCCL_MAX_CTAS holds NCCL to 4 channels or fewer", false },
    { "NCCL_MAX_NRINGS", VARIABLE_BELOW, "5", "few-channels", 5, "NCCL_MAX_NRINGS holds NCCL to 4 channels or fewer", false },
    { "NCCL_NTHREADS", VARIABLE_BELOW, "256", "few-channels", 2.5, "NCCL_NTHREADS: fewer threads than NCCL would use", false },
    { "NCCL_BUFFSIZE", VARIABLE_BELOW, "4194304", "small-buffers", 5, "NCCL_BUFFSIZE is smaller than the default of 4 MiB", false },
    { "NCCL_PROTO", VARIABLE_SINGLE, NULL, "nccl-protocol", 8, "NCCL_PROTO holds NCCL to one protocol", false },
    { "NCCL_ALGO", VARIABLE_SINGLE, NULL, "nccl-algorithm", 5, "NCCL_ALGO holds NCCL to one algorithm", false },
    { "NCCL_P2P_DISABLE", VARIABLE_IS, "1", "no-nvlink", 8, "NCCL_P2P_DISABLE=1: GPUs of a node are not connected by P2P", false },
    { "NCCL_P2P_LEVEL", VARIABLE_IS, "LOC", "no-nvlink", 8, "NCCL_P2P_LEVEL=LOC: GPUs of a node are not connected by P2P", false },
    { "NCCL_P2P_LEVEL", VARIABLE_IS, "0", "no-nvlink", 8, "NCCL_P2P_LEVEL=0: GPUs of a node are not connected by P2P", false },
    { "NCCL_SHM_DISABLE", VARIABLE_IS, "1", NULL, 0, "NCCL_SHM_DISABLE=1: without P2P, GPUs of a node use the network", false },
    { "NCCL_NVLS_ENABLE", VARIABLE_IS, "0", "nvls-off", 5, "NCCL_NVLS_ENABLE=0 turns NVLink SHARP off", false },
    { "CUDA_LAUNCH_BLOCKING", VARIABLE_IS, "1", "host-bound", 5, "CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel", false },
    { "TORCH_DISTRIBUTED_DEBUG", VARIABLE_IS, "DETAIL", "host-bound", 3, "TORCH_DISTRIBUTED_DEBUG=DETAIL: each collective is checked on the host", false },
    { "NCCL_DEBUG", VARIABLE_IS, "TRACE", "host-bound", 2.5, "NCCL_DEBUG=TRACE: each call is logged", false },
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

const struct variable_effect *variable_effect_of(const struct logs_variable *v,
                                                 const struct doctor_facts *f)
{
    for (int i = 0; i < EFFECTS; i++) {
        const struct variable_effect *e = &effects[i];
        bool acts = !e->verbs || f->outside == FABRIC_INFINIBAND;
        if (acts && strcmp(e->name, v->name) == 0 && holds(e, v->value))
            return e;
    }
    return NULL;
}

double variable_evidence(const struct doctor_view *v, const char *hypothesis,
                         const char **why)
{
    const struct logs_variables *all = &v->logs->variables;
    double most = 0;
    for (int32_t i = 0; i < all->n; i++) {
        const struct variable_effect *e =
            variable_effect_of(&all->of[i], &v->healthy->facts);
        if (!e || !e->hypothesis || strcmp(e->hypothesis, hypothesis) != 0 ||
            e->evidence <= most)
            continue;
        most = e->evidence;
        *why = e->text;
    }
    return most;
}
