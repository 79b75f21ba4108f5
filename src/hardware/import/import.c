#include "hardware/import/import.h"

#include "config/datadir.h"
#include "hardware/import/like.h"

#include <string.h>

static const struct cfg NOWHERE = { NULL, NULL, "" };

static void take(struct import_filling *f, const char *what, const char *name)
{
    strbuf_printf(&f->taken, "%s%s%s%s", f->taken.len ? ", " : "", what,
                  name ? " " : "", name ? name : "");
}

/* GPUs and what joins them --------------------------------------------------------- */

/* A fabric of the right kind: of an instance with the same GPU, else of any. */
static const struct fabric *known_inside(const struct import_filling *f)
{
    const struct fabric *any = NULL;
    const char **names = datadir_list(&f->loader->arena, "topologies/instances");
    for (int i = 0; names[i]; i++) {
        const struct instance *inst = instance_get(f->loader, names[i], NOWHERE);
        if (!inst || !import_joint_is(f->joint, inst->inside->kind))
            continue;
        if (inst->gpu == f->inst->gpu)
            return inst->inside;
        any = any ? any : inst->inside;
    }
    return any;
}

static int choose_inside(struct import_filling *f)
{
    struct instance *inst = f->inst;
    if (f->words->inside) {
        inst->inside = fabric_get(f->loader, f->words->inside, NOWHERE);
        if (!inst->inside)
            return -1;
        if (!fabric_is_inside(inst->inside) ||
            !import_joint_is(f->joint, inst->inside->kind))
            return import_fail(f, "the named fabric is not how its GPUs are joined",
                               "check --inside");
        return 0;
    }
    inst->inside = import_joint_is(f->joint, f->like->inside->kind) &&
                           (inst->gpu == f->like->gpu || f->joint != IMPORT_UNKNOWN)
                       ? f->like->inside
                       : known_inside(f);
    if (!inst->inside)
        return import_fail(f, "no known fabric joins GPUs so", "name one by --inside");
    take(f, "fabric", inst->inside->name);
    return 0;
}

static int fill_gpus(struct import_filling *f)
{
    struct instance *inst = f->inst;
    inst->n_gpus = f->im->n_gpus;
    inst->gpu = f->gpu ? f->gpu : f->like->gpu;
    if (!f->gpu)
        take(f, "GPU", inst->gpu->name);
    if (f->im->sm_arch && inst->gpu->sm_arch != f->im->sm_arch)
        return import_fail(
            f, "its GPUs are of another architecture (sm) than those of --like",
            "name the GPU by --gpu");
    if (choose_inside(f))
        return -1;
    if (inst->inside->kind != FABRIC_PCIE && inst->gpu->nvlink_links == 0)
        return import_fail(f, "the GPU has no NVLink, the machine has", "check --gpu");
    if (inst->inside->kind != FABRIC_NVLINK)
        return 0;
    if (f->joint == IMPORT_NVLINK) {
        memcpy(inst->nvlinks, f->im->nvlinks, sizeof(inst->nvlinks));
    } else if (inst->n_gpus == f->like->n_gpus) {
        memcpy(inst->nvlinks, f->like->nvlinks, sizeof(inst->nvlinks));
        take(f, "NVLinks", NULL);
    }
    for (int32_t i = 0; i < inst->n_gpus; i++)
        if (import_links_of(f->im, i) > inst->gpu->nvlink_links)
            return import_fail(f, "it shows more NVLinks than the GPU has",
                               "check --gpu");
    return 0;
}

/* PCIe, host ----------------------------------------------------------------------- */

static void fill_places(struct import_filling *f)
{
    const struct import *im = f->im;
    const struct instance *like = f->like;
    struct instance *inst = f->inst;
    const bool like_numa = im->n_numa == 0 && im->n_gpus == like->n_gpus;
    const bool like_pcie = !im->pcie_known && im->n_gpus == like->n_gpus &&
                           (like_numa || import_same_numa(im, like));
    inst->n_numa = like_numa ? like->n_numa : im->n_numa > 0 ? im->n_numa : 1;
    memcpy(inst->gpu_numa, like_numa ? like->gpu_numa : im->gpu_numa,
           sizeof(im->gpu_numa)); /* an instance has room for a domain's hosts, too */
    inst->n_pcie = like_pcie ? like->n_pcie : im->n_pcie;
    memcpy(inst->gpu_pcie, like_pcie ? like->gpu_pcie : im->gpu_pcie,
           sizeof(im->gpu_pcie));
    memcpy(inst->pcie_numa, like_pcie ? like->pcie_numa : im->pcie_numa,
           sizeof(im->pcie_numa));
    for (int32_t i = inst->n_gpus - 1; like_numa && i >= 0; i--)
        if (inst->gpu_pcie[i] >= 0) /* where its first GPU is */
            inst->pcie_numa[inst->gpu_pcie[i]] = inst->gpu_numa[i];
    for (int32_t i = 0; i < inst->n_gpus; i++)
        if (inst->gpu_pcie[i] >= 0)
            inst->gpu_numa[i] = inst->pcie_numa[inst->gpu_pcie[i]];
    if (like_numa)
        take(f, "NUMA nodes", NULL);
    if (like_pcie)
        take(f, "PCIe switches", NULL);
    inst->pcie_Bps = im->pcie_Bps > 0 ? im->pcie_Bps : like->pcie_Bps;
    inst->pcie_uplink_Bps = im->pcie_uplink_Bps > 0 ? im->pcie_uplink_Bps
                            : im->pcie_Bps > 0      ? im->pcie_Bps
                                                    : like->pcie_uplink_Bps;
    if (im->pcie_Bps <= 0)
        take(f, "PCIe rate", NULL);
}

static void fill_host(struct import_filling *f)
{
    const struct instance *like = f->like;
    struct instance *inst = f->inst;
    inst->vcpus = f->im->vcpus > 0 ? f->im->vcpus : like->vcpus;
    inst->vcpus = inst->vcpus > 1 << 16 ? 1 << 16 : inst->vcpus;
    if (f->im->vcpus <= 0)
        take(f, "vCPUs", NULL);
    inst->host_memory_B = like->host_memory_B;
    inst->host_memory_Bps = like->host_memory_Bps;
    inst->host_pinned_Bps = like->host_pinned_Bps;
    inst->host_pageable_Bps = like->host_pageable_Bps;
    inst->socket_Bps = like->socket_Bps;
    inst->storage_Bps = like->storage_Bps;
    take(f, "host memory, copies and storage", NULL);
}

/* NICs ----------------------------------------------------------------------------- */

/* The NICs of the known instance, under the same switches where those are the same. */
static void take_nics(struct import_filling *f)
{
    const struct instance *like = f->like;
    struct instance *inst = f->inst;
    const bool same = inst->n_gpus == like->n_gpus && inst->n_pcie == like->n_pcie &&
                      memcmp(inst->gpu_pcie, like->gpu_pcie,
                             (size_t)inst->n_gpus * sizeof(inst->gpu_pcie[0])) == 0;
    inst->n_nics = like->n_nics;
    for (int32_t i = 0; i < like->n_nics; i++) {
        struct instance_nic *nic = &inst->nics[i];
        *nic = like->nics[i];
        nic->pcie = same ? nic->pcie : -1;
        nic->numa = nic->pcie >= 0             ? inst->pcie_numa[nic->pcie]
                    : nic->numa < inst->n_numa ? nic->numa
                                               : inst->n_numa - 1;
    }
    take(f, "NICs", NULL);
}

static int fill_nic_rates(struct import_filling *f)
{
    struct instance *inst = f->inst;
    double known = f->words->nic_Bps;
    bool gaps = false;
    for (int32_t i = 0; i < inst->n_nics; i++)
        gaps |= inst->nics[i].line_Bps <= 0;
    if (gaps && known <= 0) {
        if (f->like->n_nics == 0)
            return import_fail(f, "the rate of its NICs is unknown",
                               "give --nic-rate, e.g. 100Gb/s");
        known = f->like->nics[0].line_Bps / f->like->nics[0].rails;
        take(f, "NIC rate", NULL);
    }
    for (int32_t i = 0; i < inst->n_nics; i++)
        if (inst->nics[i].line_Bps <= 0)
            inst->nics[i].line_Bps = known;
    if (!gaps && known > 0)
        diags_warn(&f->loader->diags, DIAG_IMPORTED,
                   "--nic-rate: without effect, as each of the NICs has a rate");
    return 0;
}

/* aws-ofi-nccl stripes each message over the EFA devices next to a GPU: as many groups
 * as there are GPUs under a switch. Ports of unequal rates stay alone. */
static void group_rails(struct instance *inst)
{
    struct instance_nic nics[INSTANCE_HOST_NICS_MAX];
    int32_t n = 0;
    for (int32_t i = 0; i < inst->n_nics; i++) {
        const struct instance_nic *nic = &inst->nics[i];
        int32_t ports = 0, gpus = 0, before = 0;
        for (int32_t k = 0; k < inst->n_nics; k++)
            if (inst->nics[k].pcie == nic->pcie &&
                inst->nics[k].line_Bps == nic->line_Bps) {
                ports++;
                before += k < i;
            }
        for (int32_t g = 0; g < inst->n_gpus; g++)
            gpus += inst->gpu_pcie[g] == nic->pcie;
        const int32_t rails =
            nic->pcie >= 0 && gpus > 0 && ports % gpus == 0 ? ports / gpus : 1;
        if (before % rails == 0) {
            nics[n++] = (struct instance_nic) { nic->line_Bps * rails, rails, nic->pcie,
                                                nic->numa };
        }
    }
    inst->n_nics = n;
    memcpy(inst->nics, nics, (size_t)n * sizeof(nics[0]));
}

static int fill_network(struct import_filling *f)
{
    struct instance *inst = f->inst;
    inst->n_nics = f->im->n_nics;
    memcpy(inst->nics, f->im->nics, sizeof(f->im->nics));
    if (inst->n_nics == 0 && f->words->like)
        take_nics(f);
    if (inst->n_nics == 0) {
        if (f->words->fabric)
            return import_fail(f, "it shows no NICs, which --fabric could join",
                               "take those of an instance by --like INSTANCE");
        if (f->words->nic_Bps > 0)
            return import_fail(f, "it shows no NICs, of which --nic-rate could be",
                               "take those of an instance by --like INSTANCE");
        diags_warn(&f->loader->diags, DIAG_IMPORTED,
                   "%s shows no NICs: a machine without network (--like INSTANCE takes "
                   "that of an instance)",
                   f->im->file);
        return 0;
    }
    inst->outside = f->like->outside;
    if (f->words->fabric &&
        !(inst->outside = fabric_get(f->loader, f->words->fabric, NOWHERE)))
        return -1;
    if (!inst->outside || fabric_is_inside(inst->outside))
        return import_fail(f, "no fabric joins its NICs to others",
                           "name one by --fabric");
    if (!f->words->fabric)
        take(f, "fabric", inst->outside->name);
    if (fill_nic_rates(f))
        return -1;
    if (inst->outside->kind == FABRIC_EFA && f->im->n_nics > 0)
        group_rails(inst);
    return 0;
}

/* Words ---------------------------------------------------------------------------- */

static void describe(struct import_filling *f)
{
    struct instance *inst = f->inst;
    struct arena *arena = &f->loader->arena;
    char rate[UNITS_TEXT_MAX];
    const char *file = strrchr(f->im->file, '/');
    inst->name = f->words->name ? f->words->name : "imported";
    inst->summary = arena_printf(
        arena, "%s%s%d x %s, %s%s%s", f->words->name ? f->words->name : "",
        f->words->name ? ": " : "", inst->n_gpus, inst->gpu->name, inst->inside->name,
        inst->n_nics ? ", " : "",
        inst->n_nics ? units_rate_text(rate, instance_network_Bps(inst)) : "");
    inst->provenance_kind = PROVENANCE_TRANSFERRED; /* but for its wires */
    inst->provenance = arena_printf(arena, "%s (%s); not in it, and taken from %s: %s",
                                    f->im->format, file ? file + 1 : f->im->file,
                                    f->like->name, strbuf_get(&f->taken));
    diags_warn(&f->loader->diags, DIAG_IMPORTED,
               "not in %s, and taken from %s (--like takes another%s): %s; prices are "
               "left out",
               f->im->file, f->like->name, f->others.len ? f->others.s : "",
               strbuf_get(&f->taken));
}

int import_complete(struct instance *inst, const struct import *im,
                    const struct raw_import *words, struct cfg_loader *loader)
{
    struct import_filling f = {
        .im = im, .words = words, .loader = loader, .inst = inst
    };
    *inst = (struct instance) { .name = "imported", .n_hosts = 1 };
    strbuf_init(&f.taken);
    strbuf_init(&f.others);
    int rc = import_choose_like(&f) || fill_gpus(&f) ? -1 : 0;
    if (rc == 0) {
        fill_places(&f);
        fill_host(&f);
        rc = fill_network(&f);
    }
    if (rc == 0) {
        instance_place_nics(inst);
        describe(&f);
    }
    strbuf_release(&f.taken);
    strbuf_release(&f.others);
    return rc;
}
