/* Ways of rings through a node: in at one NIC, past all GPUs, out at the same NIC. */
#include "cost/rings.h"

#include <string.h>

enum { SEARCH_MAX = 1 << 20, LAYERS_MAX = 4 };

/* How near a GPU is to a NIC: 2 under one PCIe switch, 1 on one NUMA node. */
static int32_t nearness(const struct instance *inst, int32_t gpu, int32_t nic)
{
    const struct instance_nic *p = &inst->nics[nic];
    int32_t numa = p->pcie >= 0 ? inst->pcie_numa[p->pcie] : p->numa;
    if (p->pcie >= 0 && p->pcie == inst->gpu_pcie[gpu])
        return 2;
    return inst->gpu_numa[gpu] == numa;
}

/* The way through that is entered at a GPU of that NIC, where it and the GPU before it
 * in the cycle are nearest to it. */
static int32_t best_entry(const struct instance *inst, const uint8_t *cycle, int32_t n,
                          int32_t nic)
{
    int32_t best = 0, best_score = -1;
    for (int32_t i = 0; i < n; i++) {
        int32_t score = 3 * nearness(inst, cycle[i], nic) +
                        3 * nearness(inst, cycle[(i + n - 1) % n], nic) +
                        (instance_nic_of_gpu(inst, cycle[(i + n - 1) % n]) == nic);
        if (instance_nic_of_gpu(inst, cycle[i]) == nic && score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

/* Paths over wires, one for each NIC, that use no directed link more often than it has
 * wires. */
struct paths {
    const struct instance *inst;
    const uint8_t *gpus;
    int32_t n, n_nics, budget;
    int32_t nics[INSTANCE_NICS_MAX];
    /* of GPUs of the instance, which are wired link by link */
    int32_t free[INSTANCE_HOST_GPUS_MAX][INSTANCE_HOST_GPUS_MAX];
    bool used[INSTANCE_GPUS_MAX]; /* by the path under way */
    struct rings *out;
};

static bool extend_path(struct paths *s, int32_t nic, int32_t depth);

/* The next NIC's path, from each of its GPUs. */
static bool begin_path(struct paths *s, int32_t nic)
{
    if (nic == s->n_nics)
        return true;
    memset(s->used, 0, sizeof(s->used));
    for (int32_t i = 0; i < s->n; i++) {
        uint8_t gpu = s->gpus[i];
        if (instance_nic_of_gpu(s->inst, gpu) != s->nics[nic])
            continue;
        s->used[gpu] = true;
        s->out->order[nic][0] = gpu;
        if (extend_path(s, nic, 1))
            return true;
        memset(s->used, 0, sizeof(s->used));
    }
    return false;
}

/* Where the path was before it ended at its NIC, the next begins afresh. */
static bool end_path(struct paths *s, int32_t nic)
{
    bool kept[INSTANCE_GPUS_MAX];
    if (instance_nic_of_gpu(s->inst, s->out->order[nic][s->n - 1]) != s->nics[nic])
        return false;
    memcpy(kept, s->used, sizeof(kept));
    if (begin_path(s, nic + 1))
        return true;
    memcpy(s->used, kept, sizeof(kept));
    return false;
}

static bool extend_path(struct paths *s, int32_t nic, int32_t depth)
{
    uint8_t *order = s->out->order[nic], last = order[depth - 1];
    if (depth == s->n)
        return end_path(s, nic);
    for (int32_t i = 0; i < s->n && s->budget-- > 0; i++) {
        uint8_t gpu = s->gpus[i];
        if (s->used[gpu] || s->free[last][gpu] == 0)
            continue;
        s->used[gpu] = true;
        s->free[last][gpu]--;
        order[depth] = gpu;
        if (extend_path(s, nic, depth + 1))
            return true;
        s->free[last][gpu]++;
        s->used[gpu] = false;
    }
    return false;
}

/* NICs nearest to some of the GPUs; false unless each is that of two or more. */
static bool list_nics(struct paths *s)
{
    int32_t count[INSTANCE_NICS_MAX] = { 0 };
    for (int32_t i = 0; i < s->n; i++) {
        int32_t nic = instance_nic_of_gpu(s->inst, s->gpus[i]);
        if (nic < 0)
            return false;
        if (count[nic]++ == 0)
            s->nics[s->n_nics++] = nic;
    }
    for (int32_t i = 0; i < s->n_nics; i++)
        if (count[s->nics[i]] < 2)
            return false;
    return true;
}

/* Link-disjoint paths where they exist, else with as few on a wire as can be. */
static bool lay_paths(const struct instance *inst, const uint8_t *gpus, int32_t n,
                      struct rings *out)
{
    struct paths s = { .inst = inst, .gpus = gpus, .n = n, .out = out };
    if (inst->inside->kind != FABRIC_NVLINK || !list_nics(&s))
        return false;
    for (int32_t layers = 1; layers <= LAYERS_MAX; layers++) {
        for (int32_t i = 0; i < INSTANCE_HOST_GPUS_MAX; i++)
            for (int32_t k = 0; k < INSTANCE_HOST_GPUS_MAX; k++)
                s.free[i][k] = layers * inst->nvlinks[i][k];
        s.budget = SEARCH_MAX;
        if (begin_path(&s, 0)) {
            out->kind = RINGS_WIRE;
            out->n_gpus = n;
            out->n = s.n_nics;
            return true;
        }
    }
    return false;
}

/* NICs that are the nearest of some of the GPUs. */
static int32_t count_nics(const struct instance *inst, const uint8_t *gpus, int32_t n)
{
    bool seen[INSTANCE_NICS_MAX] = { false };
    int32_t count = 0;
    for (int32_t g = 0; g < n; g++) {
        int32_t nic = instance_nic_of_gpu(inst, gpus[g]);
        count += nic >= 0 && !seen[nic];
        if (nic >= 0)
            seen[nic] = true;
    }
    return count;
}

/* Of more NICs than NCCL has channels, ways are spread over all hosts: whether the k-th
 * has one. */
static bool has_way(int32_t k, int32_t n_nics)
{
    return n_nics <= RINGS_MAX ||
           k * RINGS_MAX / n_nics != (k + n_nics - 1) * RINGS_MAX / n_nics - RINGS_MAX;
}

void rings_lay_through(const struct instance *inst, const uint8_t *gpus, int32_t n,
                       struct rings *out)
{
    struct rings inside;
    uint8_t cycle[INSTANCE_GPUS_MAX];
    bool seen[INSTANCE_NICS_MAX] = { false }, is_path;

    if (lay_paths(inst, gpus, n, out))
        return;
    rings_lay_inside(inst, gpus, n, &inside);
    memcpy(cycle, inside.n > 0 ? inside.order[0] : gpus, (size_t)n);
    is_path = inside.kind == RINGS_PCIE && rings_best_path(inst, gpus, n, cycle) > 0;
    if (inside.kind == RINGS_PCIE && !is_path)
        memcpy(cycle, gpus, (size_t)n);
    *out = (struct rings) { .n_gpus = n };
    out->kind = is_path ? RINGS_WIRE : inside.kind;
    const int32_t n_nics = count_nics(inst, gpus, n);
    for (int32_t g = 0, k = 0; g < n; g++) {
        int32_t nic = instance_nic_of_gpu(inst, gpus[g]);
        if (nic < 0 || seen[nic])
            continue;
        seen[nic] = true;
        if (!has_way(k++, n_nics))
            continue;
        int32_t entry = is_path ? 0 : best_entry(inst, cycle, n, nic);
        for (int32_t i = 0; i < n; i++)
            out->order[out->n][i] = cycle[(entry + i) % n];
        out->n++;
    }
}
