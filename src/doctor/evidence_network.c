/* Evidence of the network: between nodes, and between the GPUs of a node. */
#include "doctor/evidence.h"
#include "doctor/variables.h"
#include "doctor/weights.h"

#include <stdlib.h>
#include <string.h>

static int64_t rdma_of(const struct logs_nccl *n)
{
    return n->via[LOGS_NET_OFI] + n->via[LOGS_NET_IB] + n->via[LOGS_NET_OTHER];
}

double evidence_tcp(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    if (n->via[LOGS_NET_SOCKET]) {
        *why = "NCCL connects nodes \"via NET/Socket\"";
        return certain;
    }
    if (strcmp(n->network, "Socket") == 0) {
        *why = "NCCL says \"Using network Socket\"";
        return certain;
    }
    if (rdma_of(n) || n->network[0]) {
        *why = "NCCL does not use sockets";
        return -certain;
    }
    return variable_evidence(v, "tcp", why);
}

double evidence_no_gpudirect(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    int64_t rdma = rdma_of(n);
    if (rdma && n->via_gdr == 0 && n->received_gdr == 0) {
        *why = "no connection over the network says GDRDMA";
        return certain;
    }
    if (rdma) {
        *why = "NCCL's connections say GDRDMA";
        return -certain;
    }
    if (n->n_gdr_off) {
        *why = "NCCL says that GPUDirect RDMA is disabled";
        return certain;
    }
    double variable = variable_evidence(v, "no-gpudirect", why);
    return variable > 0 ? variable : n->via[LOGS_NET_SOCKET] ? -hint : 0;
}

double evidence_gdr_read(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    if (rdma_of(n) && n->via_gdr == 0 && n->received_gdr) {
        *why = "NCCL's receivers say GDRDMA, and no sender does";
        return certain;
    }
    if (rdma_of(n)) {
        *why = n->via_gdr ? "NCCL's senders say GDRDMA" : "no receiver says GDRDMA";
        return -certain;
    }
    return variable_evidence(v, "gdr-read", why);
}

double evidence_few_nics(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    if (v->healthy->facts.nics == 0)
        return 0;
    if (n->nics == 0)
        return v->healthy->facts.nics > 1 ? variable_evidence(v, "slow-network", why)
                                          : 0;
    if (n->nics < v->healthy->facts.nics) {
        *why = "NCCL found fewer NICs than the instance has";
        return strong;
    }
    *why = "NCCL found all NICs";
    return -hint;
}

/* A variable that no line names is not set, where NCCL says any of itself. */
static double by_variable(const struct doctor_view *v, const char *hypothesis,
                          const char **why)
{
    double e = variable_evidence(v, hypothesis, why);
    if (e > 0)
        return e;
    return v->logs->nccl.n_lines ? -strong : -1;
}

double evidence_few_channels(const struct doctor_view *v, const char **why)
{
    return by_variable(v, "few-channels", why);
}

double evidence_protocol(const struct doctor_view *v, const char **why)
{
    return by_variable(v, "nccl-protocol", why);
}

double evidence_algorithm(const struct doctor_view *v, const char **why)
{
    return by_variable(v, "nccl-algorithm", why);
}

double evidence_small_buffers(const struct doctor_view *v, const char **why)
{
    return by_variable(v, "small-buffers", why);
}

/* The version that NCCL says, else the one in a trace. */
static const char *nccl_version_of(const struct logs *l)
{
    if (l->nccl.version[0])
        return l->nccl.version;
    for (int64_t i = 0; i < l->traces.n; i++)
        if (l->traces.v[i].nccl[0])
            return l->traces.v[i].nccl;
    return "";
}

double evidence_old_nccl(const struct doctor_view *v, const char **why)
{
    char *minor;
    const char *version = nccl_version_of(v->logs);
    long major = strtol(version, &minor, 10);
    if (*minor != '.' || major < 1)
        return 0;
    if (major > 2 || (major == 2 && strtol(minor + 1, NULL, 10) >= 12)) {
        *why = "NCCL is of 2.12 or later";
        return -certain;
    }
    *why = "NCCL says a version before 2.12";
    return strong;
}

double evidence_pcie(const struct doctor_view *v, const char **why)
{
    static const double many = 100;
    const struct logs_smi *s = &v->logs->smi;
    bool known = false, repeats = false, slower = false;
    for (int32_t i = 0; i < s->n; i++) {
        const struct logs_gpu *g = &s->gpus[i];
        repeats = repeats || g->replays - g->first_replays > many;
        slower = slower ||
                 (g->generation > 0 && g->n_busy && g->generation < g->max_generation);
        if (g->width <= 0 || g->max_width <= 0)
            continue;
        known = true;
        if (g->width >= g->max_width)
            continue;
        *why = "nvidia-smi says that PCIe of a GPU has fewer lanes than it could";
        return certain;
    }
    if (slower) {
        *why = "PCIe of a GPU runs at an older generation than it could";
        return strong;
    }
    if (repeats) {
        *why = "PCIe of a GPU repeats transfers: a bad contact or cable";
        return strong;
    }
    if (known)
        *why = "nvidia-smi says that PCIe has all its lanes";
    return known ? -strong : -1;
}

double evidence_no_nvls(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    if (n->no_nvls) {
        *why = "NCCL says that NVLink SHARP is not available";
        return strong;
    }
    if (n->nvls) {
        *why = "NCCL says that NVLink SHARP is available";
        return -strong;
    }
    return variable_evidence(v, "nvls-off", why);
}

double evidence_no_nvlink(const struct doctor_view *v, const char **why)
{
    const struct logs_nccl *n = &v->logs->nccl;
    double variable = variable_evidence(v, "no-nvlink", why);
    if (variable > 0)
        return variable;
    if (v->logs->notices.of[NOTICE_NO_P2P].n ||
        (n->via[LOGS_SHM] && n->via[LOGS_P2P] == 0)) {
        *why = "GPUs of a node are not connected by P2P";
        return certain;
    }
    if (n->via[LOGS_P2P]) {
        *why = "GPUs of a node are connected by P2P";
        return -strong;
    }
    return 0;
}
