#include "hardware/import_nccl.h"

#include "config/xml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct found_gpu {
    const struct xml_element *pci, *gpu; /* gpu: NULL when the file has none */
    int64_t dev;
    int32_t numa, top; /* index among the tops; -1: on the root */
    double rate_Bps;   /* 0: not told */
};

struct reader {
    struct import *im;
    struct cfg_loader *loader;
    int64_t numa_ids[INSTANCE_NUMA_MAX]; /* as the file numbers them */
    int32_t numa;                        /* of the <cpu> being read, our index */
    int32_t top;                         /* the outermost bridge being read; -1 */
    int32_t n_tops;
    const struct xml_element *tops[INSTANCE_SWITCHES_MAX * 4];
    int32_t top_numa[INSTANCE_SWITCHES_MAX * 4];
    bool top_used[INSTANCE_SWITCHES_MAX * 4];
    int32_t n_found;
    struct found_gpu found[INSTANCE_GPUS_MAX];
    bool unclassed; /* take devices without a class as GPUs */
};

/* The models that PCI devices of NVIDIA are (pci.ids, vendor 10de). */
static const struct name_value devices[] = {
    { "V100-SXM2-16GB", 0x1db1 },
    { "V100-SXM2-32GB", 0x1db5 },
    { "V100-SXM3-32GB", 0x1db8 },
    { "T4", 0x1eb8 },
    { "A100-SXM4-40GB", 0x20b0 },
    { "A100-SXM4-80GB", 0x20b2 },
    { "A10G", 0x2237 },
    { "L4", 0x27b8 },
    { "L40S", 0x26b9 },
    { "H100-SXM5-80GB", 0x2330 },
    { "H200-SXM-141GB", 0x2335 },
    { "B200-SXM-180GB", 0x2901 },
    { NULL, 0 },
};

/* Payload of one lane per generation, as topologies/ has it: 128 of 130 bits from
 * generation 3 on, 8 of 10 before, 242 of 256 bytes in generation 6. */
static const struct {
    double gts, lane_Bps;
} generations[] = {
    { 2.5, 0.25e9 },     { 5, 0.5e9 },      { 8, 15.75e9 / 16 },
    { 16, 31.5e9 / 16 }, { 32, 63e9 / 16 }, { 64, 121e9 / 16 },
};

/* --- what an element is ------------------------------------------------------- */

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

/* Rate of a device's PCIe link; 0 where the file does not tell (or not in words that
 * NCCL takes: virtual machines show "Unknown", and widths such as 63). */
static int link_rate(const struct xml_element *pci, double *rate_Bps)
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

/* --- GPUs and NICs ------------------------------------------------------------- */

static int add_gpu(struct reader *r, const struct xml_element *pci, double above_Bps)
{
    const struct xml_element *gpu = child(pci, "gpu");
    const char *vendor = xml_attribute(pci, "vendor");
    double rate;
    if (check_vendor(pci, gpu) || link_rate(pci, &rate))
        return -1;
    if (!gpu && vendor && strcasecmp(vendor, "0x10de") != 0)
        return 0; /* a display adapter of the board */
    const char *busid = xml_attribute(pci, "busid");
    if (!busid)
        return xml_error(pci, "<pci> has no busid");
    if (r->n_found == INSTANCE_GPUS_MAX)
        return xml_error(pci, "more than %d GPUs in one machine are not simulated",
                         INSTANCE_GPUS_MAX);
    for (int32_t i = 0; i < r->n_found; i++)
        if (strcasecmp(xml_attribute(r->found[i].pci, "busid"), busid) == 0)
            return xml_error(pci, "busid %.40s is there twice", busid);
    struct found_gpu *f = &r->found[r->n_found++];
    *f = (struct found_gpu) { .pci = pci,
                              .gpu = gpu,
                              .dev = -1,
                              .numa = r->numa,
                              .top = r->top,
                              .rate_Bps = above_Bps > 0 && rate > 0
                                              ? fmin(above_Bps, rate)
                                              : rate };
    if (r->top >= 0)
        r->top_used[r->top] = true;
    return gpu ? xml_int(gpu, "dev", &f->dev, 0, 255) : 0;
}

static int add_nic(struct reader *r, const struct xml_element *at, const char *speed_of)
{
    struct import *im = r->im;
    int64_t mbps = 0;
    if (speed_of && xml_attribute(at, "speed") &&
        xml_int(at, "speed", &mbps, 0, 2000000))
        return -1;
    if (im->n_nics == INSTANCE_NICS_MAX)
        return xml_error(at, "more than %d NICs in one machine are not simulated",
                         INSTANCE_NICS_MAX);
    im->nics[im->n_nics++] = (struct instance_nic) {
        .line_Bps = (double)mbps * 1e6 / 8, .rails = 1, .pcie = r->top, .numa = r->numa
    };
    if (r->top >= 0)
        r->top_used[r->top] = true;
    return 0;
}

/* The ports of a <nic>: one NIC each. */
static int add_nets(struct reader *r, const struct xml_element *nic)
{
    for (const struct xml_element *e = nic->first; e; e = e->next)
        if (xml_is(e, "net") && add_nic(r, e, "speed"))
            return -1;
    return 0;
}

static int add_nic_device(struct reader *r, const struct xml_element *pci)
{
    const char *class = xml_attribute(pci, "class");
    double rate;
    if (link_rate(pci, &rate))
        return -1;
    if (class && strncmp(class, "0x0207", 6) == 0)
        r->im->network = IMPORT_INFINIBAND;
    else if (class && r->im->network == IMPORT_ANY_NETWORK)
        r->im->network = IMPORT_ETHERNET;
    const struct xml_element *nic = child(pci, "nic");
    return nic && child(nic, "net") ? add_nets(r, nic) : add_nic(r, pci, NULL);
}

/* --- the tree ------------------------------------------------------------------ */

static int walk(struct reader *r, const struct xml_element *e, double above_Bps);

/* A bridge below a <cpu> opens a switch; one below that is part of it, but its link
 * may be what limits the GPU. */
static int walk_bridge(struct reader *r, const struct xml_element *pci,
                       double above_Bps)
{
    const bool outermost = r->top < 0;
    double rate;
    if (link_rate(pci, &rate))
        return -1;
    if (outermost) {
        if (r->n_tops == (int32_t)(sizeof(r->tops) / sizeof(r->tops[0])))
            return xml_error(pci, "too many PCIe bridges");
        r->top = r->n_tops++;
        r->tops[r->top] = pci;
        r->top_numa[r->top] = r->numa;
        rate = 0; /* its link is the uplink of the switch */
    }
    if (above_Bps > 0 && (rate <= 0 || above_Bps < rate))
        rate = above_Bps;
    int rc = walk(r, pci, rate);
    if (outermost)
        r->top = -1;
    return rc;
}

static int walk(struct reader *r, const struct xml_element *parent, double above_Bps)
{
    for (const struct xml_element *e = parent->first; e; e = e->next) {
        int rc = 0;
        enum kind kind = xml_is(e, "pci") ? kind_of(e) : KIND_OTHER;
        if (kind == KIND_BRIDGE)
            rc = walk_bridge(r, e, above_Bps);
        else if (kind == KIND_GPU || (kind == KIND_BARE && r->unclassed))
            rc = add_gpu(r, e, above_Bps);
        else if (kind == KIND_NIC)
            rc = add_nic_device(r, e);
        else if (xml_is(e, "nic"))
            rc = add_nets(r, e);
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

static int find_numa(struct reader *r, const struct xml_element *cpu)
{
    struct import *im = r->im;
    int64_t id;
    if (xml_int(cpu, "numaid", &id, -1, 1 << 16))
        return -1;
    for (r->numa = 0; r->numa < im->n_numa; r->numa++)
        if (r->numa_ids[r->numa] == id)
            return 0;
    if (im->n_numa == INSTANCE_NUMA_MAX)
        return xml_error(cpu, "more than %d NUMA nodes are not simulated",
                         INSTANCE_NUMA_MAX);
    r->numa_ids[im->n_numa++] = id;
    im->vcpus += count_bits(xml_attribute(cpu, "affinity"));
    return 0;
}

/* Exchanges two NUMA nodes of ours. */
static void swap_numa(struct reader *r, int32_t a, int32_t b)
{
    struct import *im = r->im;
    int64_t id = r->numa_ids[a];
    r->numa_ids[a] = r->numa_ids[b];
    r->numa_ids[b] = id;
    for (int32_t i = 0; i < r->n_found; i++)
        r->found[i].numa ^= r->found[i].numa == a || r->found[i].numa == b ? a ^ b : 0;
    for (int32_t i = 0; i < im->n_nics; i++)
        im->nics[i].numa ^= im->nics[i].numa == a || im->nics[i].numa == b ? a ^ b : 0;
    for (int32_t i = 0; i < r->n_tops; i++)
        r->top_numa[i] ^= r->top_numa[i] == a || r->top_numa[i] == b ? a ^ b : 0;
}

static int read_cpus(struct reader *r, const struct xml_element *system)
{
    const char *host = NULL;
    struct import *im = r->im;
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
        r->top = -1;
        if (find_numa(r, e) || walk(r, e, 0))
            return -1;
    }
    for (int32_t i = 0; i < im->n_numa; i++)
        for (int32_t j = i + 1; j < im->n_numa; j++)
            if (r->numa_ids[j] < r->numa_ids[i])
                swap_numa(r, i, j);
    return 0;
}

/* --- from what was found to the description ------------------------------------ */

static int by_dev(const void *a, const void *b)
{
    const struct found_gpu *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return (x->pci->offset > y->pci->offset) - (x->pci->offset < y->pci->offset);
}

/* Where a file has <gpu> elements, other display devices are not GPUs of NCCL. */
static int order_gpus(struct reader *r)
{
    int32_t n = 0, with = 0;
    for (int32_t i = 0; i < r->n_found; i++)
        with += r->found[i].gpu != NULL;
    for (int32_t i = 0; i < r->n_found; i++)
        if (r->found[i].gpu || with == 0)
            r->found[n++] = r->found[i];
    r->n_found = r->im->n_gpus = n;
    qsort(r->found, (size_t)n, sizeof(r->found[0]), by_dev);
    for (int32_t i = 1; i < n; i++)
        if (r->found[i].dev >= 0 && r->found[i].dev == r->found[i - 1].dev)
            return xml_error(r->found[i].gpu, "GPU %lld is there twice",
                             (long long)r->found[i].dev);
    return 0;
}

static int place_all(struct reader *r)
{
    struct import *im = r->im;
    int32_t index[sizeof(r->tops) / sizeof(r->tops[0])];
    for (int32_t i = 0; i < r->n_tops; i++) {
        double rate;
        index[i] = -1;
        if (!r->top_used[i])
            continue;
        if (im->n_pcie == INSTANCE_SWITCHES_MAX)
            return xml_error(r->tops[i], "more than %d PCIe switches are not simulated",
                             INSTANCE_SWITCHES_MAX);
        index[i] = im->n_pcie;
        im->pcie_numa[im->n_pcie++] = r->top_numa[i];
        if (link_rate(r->tops[i], &rate) == 0 && rate > 0 &&
            (im->pcie_uplink_Bps <= 0 || rate < im->pcie_uplink_Bps))
            im->pcie_uplink_Bps = rate;
    }
    for (int32_t i = 0; i < im->n_gpus; i++) {
        const struct found_gpu *f = &r->found[i];
        im->gpu_numa[i] = f->numa;
        im->gpu_pcie[i] = f->top < 0 ? -1 : index[f->top];
        if (f->rate_Bps > 0 && (im->pcie_Bps <= 0 || f->rate_Bps < im->pcie_Bps))
            im->pcie_Bps = f->rate_Bps;
    }
    for (int32_t i = 0; i < im->n_nics; i++)
        if (im->nics[i].pcie >= 0)
            im->nics[i].pcie = index[im->nics[i].pcie];
    im->pcie_told = true;
    return 0;
}

/* --- NVLinks ------------------------------------------------------------------- */

static int32_t gpu_at(const struct reader *r, const char *busid)
{
    for (int32_t i = 0; i < r->n_found; i++)
        if (strcasecmp(xml_attribute(r->found[i].pci, "busid"), busid) == 0)
            return i;
    return -1;
}

/* NVSwitches are PCI class 0x0680, GPUs 0x03; what else there is (POWER hosts) joins
 * no GPUs. *to_switch counts the links to switches. */
static int read_link(struct reader *r, int32_t gpu, const struct xml_element *link,
                     int64_t *to_switch, int64_t *all)
{
    const char *class = xml_attribute(link, "tclass");
    const char *target = xml_attribute(link, "target");
    int64_t count;
    if (!class || !target)
        return xml_error(link, "<nvlink> has no %s", class ? "target" : "tclass");
    if (xml_int(link, "count", &count, 1, 64))
        return -1;
    *all += count;
    if (*all > 64)
        return xml_error(link, "more than 64 NVLinks on one GPU");
    if (strncmp(class, "0x0680", 6) == 0)
        *to_switch += count;
    if (strncmp(class, "0x03", 4) != 0)
        return 0;
    int32_t peer = gpu_at(r, target);
    if (peer == gpu)
        return xml_error(link, "a GPU with NVLinks to itself");
    if (peer >= 0)
        r->im->nvlinks[gpu][peer] = (uint8_t)(r->im->nvlinks[gpu][peer] + count);
    return 0;
}

static int check_links(const struct reader *r)
{
    for (int32_t i = 0; i < r->n_found; i++)
        for (int32_t j = 0; j < i; j++)
            if (r->im->nvlinks[i][j] != r->im->nvlinks[j][i])
                return xml_error(r->found[i].pci,
                                 "GPU %d has %d NVLinks to GPU %d, which has %d back",
                                 i, r->im->nvlinks[i][j], j, r->im->nvlinks[j][i]);
    return 0;
}

static int read_links(struct reader *r)
{
    struct import *im = r->im;
    int64_t switched = 0;
    bool wired = false;
    for (int32_t i = 0; i < r->n_found; i++) {
        int64_t to_switch = 0, all = 0;
        const struct xml_element *gpu = r->found[i].gpu;
        for (const struct xml_element *e = gpu ? gpu->first : NULL; e; e = e->next)
            if (xml_is(e, "nvlink") && read_link(r, i, e, &to_switch, &all))
                return -1;
        if (i > 0 && (to_switch > 0) != (switched > 0))
            return xml_error(gpu ? gpu : r->found[i].pci,
                             "only some of the GPUs are at an NVSwitch");
        switched = to_switch > switched ? to_switch : switched;
        im->port_links = (int32_t)all > im->port_links ? (int32_t)all : im->port_links;
        for (int32_t j = 0; j < r->n_found; j++)
            wired |= im->nvlinks[i][j] > 0;
    }
    if (switched > 0)
        im->joint = IMPORT_NVSWITCH;
    else if (wired)
        im->joint = IMPORT_NVLINK;
    return check_links(r);
}

/* --- which GPU it is ----------------------------------------------------------- */

static int read_model(struct reader *r)
{
    struct import *im = r->im;
    for (int32_t i = 0; i < r->n_found; i++) {
        const struct found_gpu *f = &r->found[i];
        int64_t sm = 0, device = 0;
        if (f->gpu && xml_attribute(f->gpu, "sm") &&
            xml_int(f->gpu, "sm", &sm, 10, 999))
            return -1;
        if (xml_attribute(f->pci, "device") &&
            xml_int(f->pci, "device", &device, 0, 0xffff))
            return -1;
        const char *name = names_of(devices, (int)device);
        name = strcmp(name, "?") == 0 ? NULL : name;
        if (i > 0 && (sm != im->sm_arch || name != im->gpu))
            return xml_error(f->pci,
                             "GPU %d is of another kind than GPU 0 (mixed "
                             "machines are not simulated)",
                             i);
        im->sm_arch = sm;
        im->gpu = name;
    }
    return 0;
}

static int check_root(const struct xml_element *root)
{
    if (xml_is(root, "graphs"))
        return xml_error(root, "this is NCCL's graph file; give the one of "
                               "NCCL_TOPO_DUMP_FILE");
    if (!xml_is(root, "system"))
        return xml_error(root,
                         "<%.40s> is no topology of NCCL, which begins with "
                         "<system>",
                         root->name);
    return 0;
}

int import_nccl(struct import *im, struct cfg_loader *loader, const char *file)
{
    *im = (struct import) { .file = file, .format = "NCCL topology XML" };
    const struct xml_element *root = xml_load(loader, file);
    struct reader r = { .im = im, .loader = loader };
    if (!root || check_root(root) || read_cpus(&r, root))
        return -1;
    if (r.n_found == 0) {
        *im = (struct import) { .file = file, .format = "NCCL topology XML" };
        r = (struct reader) { .im = im, .loader = loader, .unclassed = true };
        if (read_cpus(&r, root))
            return -1;
        if (r.n_found > 0)
            diags_warn(&loader->diags,
                       "%s: no device has a class; all %d are taken as GPUs", file,
                       r.n_found);
    }
    if (r.n_found == 0)
        return xml_error(root, "no GPU in it");
    if (order_gpus(&r) || place_all(&r) || read_links(&r))
        return -1;
    return read_model(&r);
}
