#include "hardware/nccl_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Payload of one lane per generation, as topologies/ has it: 128 of 130 bits from
 * generation 3 on, 8 of 10 before, 242 of 256 bytes in generation 6. */
static const struct {
    double gts, lane_Bps;
} generations[] = {
    { 2.5, 0.25e9 },     { 5, 0.5e9 },      { 8, 15.75e9 / 16 },
    { 16, 31.5e9 / 16 }, { 32, 63e9 / 16 }, { 64, 121e9 / 16 },
};

/* What an element is --------------------------------------------------------------- */

enum kind { KIND_BRIDGE, KIND_GPU, KIND_NIC, KIND_BARE, KIND_OTHER };

static const struct xml_element *child(const struct xml_element *e, const char *name)
{
    const struct xml_element *c = e->first;
    while (c && !xml_is(c, name))
        c = c->next;
    return c;
}

static enum kind kind_of(const struct xml_element *pci)
{
    const char *class = xml_attribute(pci, "class");
    if (child(pci, "gpu"))
        return KIND_GPU;
    if (child(pci, "nic"))
        return KIND_NIC;
    if (child(pci, "pci"))
        return KIND_BRIDGE;
    if (!class || !class[0])
        return KIND_BARE;
    if (strncmp(class, "0x03", 4) == 0)
        return KIND_GPU;
    return strncmp(class, "0x02", 4) == 0 ? KIND_NIC : KIND_OTHER;
}

int import_tree_link(const struct xml_element *pci, double *rate_Bps)
{
    const char *speed = xml_attribute(pci, "link_speed");
    int64_t width = 0;
    *rate_Bps = 0;
    if (xml_attribute(pci, "link_width") && xml_int(pci, "link_width", &width, 0, 255))
        return -1;
    if (!speed || !speed[0] || strcmp(speed, "Unknown") == 0)
        return 0;
    char *end;
    double gts = strtod(speed, &end);
    if (end == speed || strncmp(end, " GT/s", 5) != 0 || !(gts > 0))
        return xml_error(pci, "link_speed=\"%.40s\" is none (such as \"16 GT/s\")",
                         speed);
    if (width > 32)
        return 0;
    for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
        if (fabs(generations[i].gts - gts) < 0.01)
            *rate_Bps = generations[i].lane_Bps * (double)width;
    return 0;
}

static int check_vendor(const struct xml_element *pci, const struct xml_element *gpu)
{
    const char *vendor = xml_attribute(pci, "vendor");
    if ((vendor && strcasecmp(vendor, "0x1002") == 0) ||
        (gpu && (xml_attribute(gpu, "gcn") || child(gpu, "xgmi"))))
        return xml_error(pci, "an AMD GPU, of which nothing is known here (only "
                              "NVIDIA's are)");
    if (gpu && vendor && strcasecmp(vendor, "0x10de") != 0)
        return xml_error(
            pci, "a GPU of vendor %.20s (only NVIDIA's, 0x10de, are known)", vendor);
    return 0;
}

/* GPUs and NICs -------------------------------------------------------------------- */

static int add_gpu(struct nccl_tree *t, const struct xml_element *pci, double above_Bps)
{
    const struct xml_element *gpu = child(pci, "gpu");
    const char *vendor = xml_attribute(pci, "vendor");
    double rate;
    if (check_vendor(pci, gpu) || import_tree_link(pci, &rate))
        return -1;
    if (!gpu && vendor && strcasecmp(vendor, "0x10de") != 0)
        return 0; /* a display adapter of the board */
    const char *busid = xml_attribute(pci, "busid");
    if (!busid)
        return xml_error(pci, "<pci> has no busid");
    if (t->n_found == INSTANCE_HOST_GPUS_MAX)
        return xml_error(pci, "more than %d GPUs in one machine are not simulated",
                         INSTANCE_HOST_GPUS_MAX);
    for (int32_t i = 0; i < t->n_found; i++)
        if (strcasecmp(xml_attribute(t->found[i].pci, "busid"), busid) == 0)
            return xml_error(pci, "busid %.40s is there twice", busid);
    struct nccl_gpu *f = &t->found[t->n_found++];
    *f = (struct nccl_gpu) { .pci = pci,
                             .gpu = gpu,
                             .dev = -1,
                             .numa = t->numa,
                             .top = t->top,
                             .rate_Bps = above_Bps > 0 && rate > 0
                                             ? fmin(above_Bps, rate)
                                             : rate };
    if (t->top >= 0)
        t->top_used[t->top] = true;
    return gpu ? xml_int(gpu, "dev", &f->dev, 0, 255) : 0;
}

static int add_nic(struct nccl_tree *t, const struct xml_element *at,
                   const char *speed_of)
{
    struct import *im = t->im;
    int64_t mbps = 0;
    if (speed_of && xml_attribute(at, "speed") &&
        xml_int(at, "speed", &mbps, 0, 2000000))
        return -1;
    if (im->n_nics == INSTANCE_HOST_NICS_MAX)
        return xml_error(at, "more than %d NICs in one machine are not simulated",
                         INSTANCE_HOST_NICS_MAX);
    im->nics[im->n_nics++] = (struct instance_nic) {
        .line_Bps = (double)mbps * 1e6 / 8, .rails = 1, .pcie = t->top, .numa = t->numa
    };
    if (t->top >= 0)
        t->top_used[t->top] = true;
    return 0;
}

/* The ports of a <nic>: one NIC each. */
static int add_nets(struct nccl_tree *t, const struct xml_element *nic)
{
    for (const struct xml_element *e = nic->first; e; e = e->next)
        if (xml_is(e, "net") && add_nic(t, e, "speed"))
            return -1;
    return 0;
}

static int add_nic_device(struct nccl_tree *t, const struct xml_element *pci)
{
    const char *class = xml_attribute(pci, "class");
    double rate;
    if (import_tree_link(pci, &rate))
        return -1;
    if (class && strncmp(class, "0x0207", 6) == 0)
        t->im->network = IMPORT_INFINIBAND;
    else if (class && t->im->network == IMPORT_ANY_NETWORK)
        t->im->network = IMPORT_ETHERNET;
    const struct xml_element *nic = child(pci, "nic");
    return nic && child(nic, "net") ? add_nets(t, nic) : add_nic(t, pci, NULL);
}

/* The tree ------------------------------------------------------------------------- */

static int walk(struct nccl_tree *t, const struct xml_element *e, double above_Bps);

/* A bridge below a <cpu> opens a switch; one below that is part of it, but its link
 * may be what limits the GPU. */
static int walk_bridge(struct nccl_tree *t, const struct xml_element *pci,
                       double above_Bps)
{
    const bool outermost = t->top < 0;
    double rate;
    if (import_tree_link(pci, &rate))
        return -1;
    if (outermost) {
        if (t->n_tops == NCCL_TOPS_MAX)
            return xml_error(pci, "too many PCIe bridges");
        t->top = t->n_tops++;
        t->tops[t->top] = pci;
        t->top_numa[t->top] = t->numa;
        rate = 0; /* its link is the uplink of the switch */
    }
    if (above_Bps > 0 && (rate <= 0 || above_Bps < rate))
        rate = above_Bps;
    int rc = walk(t, pci, rate);
    if (outermost)
        t->top = -1;
    return rc;
}

static int walk(struct nccl_tree *t, const struct xml_element *parent, double above_Bps)
{
    for (const struct xml_element *e = parent->first; e; e = e->next) {
        int rc = 0;
        enum kind kind = xml_is(e, "pci") ? kind_of(e) : KIND_OTHER;
        if (kind == KIND_BRIDGE)
            rc = walk_bridge(t, e, above_Bps);
        else if (kind == KIND_GPU || (kind == KIND_BARE && t->unclassed))
            rc = add_gpu(t, e, above_Bps);
        else if (kind == KIND_NIC)
            rc = add_nic_device(t, e);
        else if (xml_is(e, "nic"))
            rc = add_nets(t, e);
        if (rc)
            return -1;
    }
    return 0;
}

/* "000000ff,ffff0000,00ffffff": one bit a CPU. */
static int64_t count_bits(const char *mask)
{
    int64_t n = 0;
    for (; mask && *mask; mask++) {
        const char *digits = "0123456789abcdef", *d = strchr(digits, *mask | 0x20);
        for (long v = d ? d - digits : 0; v; v >>= 1)
            n += v & 1;
    }
    return n;
}

static int find_numa(struct nccl_tree *t, const struct xml_element *cpu)
{
    struct import *im = t->im;
    int64_t id;
    if (xml_int(cpu, "numaid", &id, -1, 1 << 16))
        return -1;
    for (t->numa = 0; t->numa < im->n_numa; t->numa++)
        if (t->numa_ids[t->numa] == id)
            return 0;
    if (im->n_numa == INSTANCE_HOST_NUMA_MAX)
        return xml_error(cpu, "more than %d NUMA nodes are not simulated",
                         INSTANCE_HOST_NUMA_MAX);
    t->numa_ids[im->n_numa++] = id;
    im->vcpus += count_bits(xml_attribute(cpu, "affinity"));
    return 0;
}

/* Exchanges two NUMA nodes of ours. */
static void swap_numa(struct nccl_tree *t, int32_t a, int32_t b)
{
    struct import *im = t->im;
    int64_t id = t->numa_ids[a];
    t->numa_ids[a] = t->numa_ids[b];
    t->numa_ids[b] = id;
    for (int32_t i = 0; i < t->n_found; i++)
        t->found[i].numa ^= t->found[i].numa == a || t->found[i].numa == b ? a ^ b : 0;
    for (int32_t i = 0; i < im->n_nics; i++)
        im->nics[i].numa ^= im->nics[i].numa == a || im->nics[i].numa == b ? a ^ b : 0;
    for (int32_t i = 0; i < t->n_tops; i++)
        t->top_numa[i] ^= t->top_numa[i] == a || t->top_numa[i] == b ? a ^ b : 0;
}

int import_tree_read(struct nccl_tree *t, const struct xml_element *system)
{
    const char *host = NULL;
    struct import *im = t->im;
    for (const struct xml_element *e = system->first; e; e = e->next) {
        const char *hash = xml_is(e, "cpu") ? xml_attribute(e, "host_hash") : NULL;
        if (!xml_is(e, "cpu"))
            continue;
        if (host && hash && strcmp(host, hash) != 0)
            return xml_error(e,
                             "a second machine (host_hash %.40s): give the file of "
                             "one",
                             hash);
        host = hash ? hash : host;
        t->top = -1;
        if (find_numa(t, e) || walk(t, e, 0))
            return -1;
    }
    for (int32_t i = 0; i < im->n_numa; i++)
        for (int32_t j = i + 1; j < im->n_numa; j++)
            if (t->numa_ids[j] < t->numa_ids[i])
                swap_numa(t, i, j);
    return 0;
}
