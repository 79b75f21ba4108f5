#include "hardware/import/nccl.h"

#include "hardware/nccl_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* From what was found to the description ------------------------------------------- */

static int by_dev(const void *a, const void *b)
{
    const struct nccl_gpu *x = a, *y = b;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return (x->pci->offset > y->pci->offset) - (x->pci->offset < y->pci->offset);
}

/* Where a file has <gpu> elements, other display devices are not GPUs of NCCL. */
static int order_gpus(struct nccl_tree *t)
{
    int32_t n = 0, with = 0;
    for (int32_t i = 0; i < t->n_found; i++)
        with += t->found[i].gpu != NULL;
    for (int32_t i = 0; i < t->n_found; i++)
        if (t->found[i].gpu || with == 0)
            t->found[n++] = t->found[i];
    t->n_found = t->im->n_gpus = n;
    qsort(t->found, (size_t)n, sizeof(t->found[0]), by_dev);
    for (int32_t i = 1; i < n; i++)
        if (t->found[i].dev >= 0 && t->found[i].dev == t->found[i - 1].dev)
            return xml_error(t->found[i].gpu, "GPU %" PRId64 " is there twice",
                             (int64_t)t->found[i].dev);
    return 0;
}

static int place_all(struct nccl_tree *t)
{
    struct import *im = t->im;
    int32_t index[NCCL_TOPS_MAX];
    for (int32_t i = 0; i < t->n_tops; i++) {
        double rate;
        index[i] = -1;
        if (!t->top_used[i])
            continue;
        if (im->n_pcie == INSTANCE_HOST_SWITCHES_MAX)
            return xml_error(t->tops[i], "more than %d PCIe switches are not simulated",
                             INSTANCE_HOST_SWITCHES_MAX);
        index[i] = im->n_pcie;
        im->pcie_numa[im->n_pcie++] = t->top_numa[i];
        if (import_tree_link(t->tops[i], &rate) == 0 && rate > 0 &&
            (im->pcie_uplink_Bps <= 0 || rate < im->pcie_uplink_Bps))
            im->pcie_uplink_Bps = rate;
    }
    for (int32_t i = 0; i < im->n_gpus; i++) {
        const struct nccl_gpu *f = &t->found[i];
        im->gpu_numa[i] = f->numa;
        im->gpu_pcie[i] = f->top < 0 ? -1 : index[f->top];
        if (f->rate_Bps > 0 && (im->pcie_Bps <= 0 || f->rate_Bps < im->pcie_Bps))
            im->pcie_Bps = f->rate_Bps;
    }
    for (int32_t i = 0; i < im->n_nics; i++)
        if (im->nics[i].pcie >= 0)
            im->nics[i].pcie = index[im->nics[i].pcie];
    im->pcie_known = true;
    return 0;
}

/* NVLinks -------------------------------------------------------------------------- */

static int32_t gpu_at(const struct nccl_tree *t, const char *busid)
{
    for (int32_t i = 0; i < t->n_found; i++)
        if (strcasecmp(xml_attribute(t->found[i].pci, "busid"), busid) == 0)
            return i;
    return -1;
}

/* NVSwitches are PCI class 0x0680, GPUs 0x03; what else there is (POWER hosts) joins
 * no GPUs. *to_switch counts the links to switches. */
static int read_link(struct nccl_tree *t, int32_t gpu, const struct xml_element *link,
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
    int32_t peer = gpu_at(t, target);
    if (peer == gpu)
        return xml_error(link, "a GPU with NVLinks to itself");
    if (peer >= 0)
        t->im->nvlinks[gpu][peer] = (uint8_t)(t->im->nvlinks[gpu][peer] + count);
    return 0;
}

static int check_links(const struct nccl_tree *t)
{
    for (int32_t i = 0; i < t->n_found; i++)
        for (int32_t j = 0; j < i; j++)
            if (t->im->nvlinks[i][j] != t->im->nvlinks[j][i])
                return xml_error(t->found[i].pci,
                                 "GPU %d has %d NVLinks to GPU %d, which has %d back",
                                 i, t->im->nvlinks[i][j], j, t->im->nvlinks[j][i]);
    return 0;
}

static int read_links(struct nccl_tree *t)
{
    struct import *im = t->im;
    int64_t switched = 0;
    bool wired = false;
    for (int32_t i = 0; i < t->n_found; i++) {
        int64_t to_switch = 0, all = 0;
        const struct xml_element *gpu = t->found[i].gpu;
        for (const struct xml_element *e = gpu ? gpu->first : NULL; e; e = e->next)
            if (xml_is(e, "nvlink") && read_link(t, i, e, &to_switch, &all))
                return -1;
        if (i > 0 && (to_switch > 0) != (switched > 0))
            return xml_error(gpu ? gpu : t->found[i].pci,
                             "only some of the GPUs are at an NVSwitch");
        switched = to_switch > switched ? to_switch : switched;
        im->port_links = (int32_t)all > im->port_links ? (int32_t)all : im->port_links;
        for (int32_t j = 0; j < t->n_found; j++)
            wired |= im->nvlinks[i][j] > 0;
    }
    if (switched > 0)
        im->joint = IMPORT_NVSWITCH;
    else if (wired)
        im->joint = IMPORT_NVLINK;
    return check_links(t);
}

/* Which GPU it is ------------------------------------------------------------------ */

static int read_model(struct nccl_tree *t)
{
    struct import *im = t->im;
    for (int32_t i = 0; i < t->n_found; i++) {
        const struct nccl_gpu *f = &t->found[i];
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
    struct nccl_tree t = { .im = im };
    if (!root || check_root(root) || import_tree_read(&t, root))
        return -1;
    if (t.n_found == 0) {
        *im = (struct import) { .file = file, .format = "NCCL topology XML" };
        t = (struct nccl_tree) { .im = im, .unclassed = true };
        if (import_tree_read(&t, root))
            return -1;
        if (t.n_found > 0)
            diags_warn(&loader->diags, DIAG_IMPORTED,
                       "%s: no device has a class; all %d are taken as GPUs", file,
                       t.n_found);
    }
    if (t.n_found == 0)
        return xml_error(root, "no GPU in it");
    if (order_gpus(&t) || place_all(&t) || read_links(&t))
        return -1;
    return read_model(&t);
}
