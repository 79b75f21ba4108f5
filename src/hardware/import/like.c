#include "hardware/import/like.h"

#include "config/datadir.h"

#include <math.h>
#include <string.h>

static const struct cfg NOWHERE = { NULL, NULL, "" };

/* No GPU known has more NVLinks. */
enum { NVLINKS_MAX = 18 };

int import_fail(const struct import_filling *f, const char *what, const char *mend)
{
    diags_add(&f->loader->diags, diag_at_line(DIAG_ERROR, DIAG_MISSING, f->im->file, 0),
              "%s (%s)", what, mend);
    return -1;
}

int import_links_of(const struct import *im, int32_t gpu)
{
    int sum = 0;
    for (int32_t j = 0; j < im->n_gpus; j++)
        sum += im->nvlinks[gpu][j];
    return sum;
}

/* More links in sum than a GPU has: every one of them shows its whole port, through
 * switches. */
static enum import_joint joint_of(const struct import *im, const struct gpu *gpu)
{
    const int64_t most = gpu && gpu->nvlink_links > 0 ? gpu->nvlink_links : NVLINKS_MAX;
    bool all = true;
    for (int32_t i = 0; i < im->n_gpus; i++)
        for (int32_t j = 0; j < im->n_gpus; j++)
            all &= i == j || im->nvlinks[i][j] == im->port_links;
    if (im->joint == IMPORT_NVLINK && all && import_links_of(im, 0) > most)
        return IMPORT_NVSWITCH;
    return im->joint;
}

bool import_joint_is(enum import_joint joint, enum fabric_kind kind)
{
    static const enum fabric_kind kinds[] = {
        [IMPORT_NVLINK] = FABRIC_NVLINK,
        [IMPORT_NVSWITCH] = FABRIC_NVSWITCH,
        [IMPORT_PCIE] = FABRIC_PCIE,
    };
    return joint == IMPORT_UNKNOWN || kinds[joint] == kind;
}

static bool same_pcie(const struct import *im, const struct instance *inst)
{
    if (!im->pcie_known || im->n_pcie != inst->n_pcie || im->n_gpus != inst->n_gpus)
        return false;
    for (int32_t i = 0; i < im->n_gpus; i++)
        if (im->gpu_pcie[i] != inst->gpu_pcie[i])
            return false;
    return true;
}

static bool same_nvlinks(const struct import *im, const struct instance *inst)
{
    return memcmp(im->nvlinks, inst->nvlinks, sizeof(im->nvlinks)) == 0;
}

bool import_same_numa(const struct import *im, const struct instance *inst)
{
    if (im->n_numa != inst->n_numa || im->n_gpus != inst->n_gpus)
        return false;
    return memcmp(im->gpu_numa, inst->gpu_numa,
                  (size_t)im->n_gpus * sizeof(im->gpu_numa[0])) == 0;
}

/* The known instance that is most like it ------------------------------------------ */

/* Whether nothing that the file or the user says contradicts it. */
static bool fits(const struct import_filling *f, const struct instance *inst)
{
    const struct import *im = f->im;
    if (f->gpu ? inst->gpu != f->gpu : im->sm_arch && inst->gpu->sm_arch != im->sm_arch)
        return false;
    if (!import_joint_is(f->joint, inst->inside->kind) || inst->n_gpus < im->n_gpus)
        return false;
    if (f->gpu || f->joint == IMPORT_UNKNOWN || f->joint == IMPORT_PCIE)
        return true;
    return f->joint == IMPORT_NVSWITCH
               ? inst->gpu->nvlink_links == im->port_links
               : inst->gpu->nvlink_links >= import_links_of(im, 0);
}

static int likeness(const struct import_filling *f, const struct instance *inst)
{
    const struct import *im = f->im;
    const bool infiniband = inst->outside && inst->outside->kind == FABRIC_INFINIBAND;
    int32_t ports = 0;
    for (int32_t i = 0; i < inst->n_nics; i++)
        ports += inst->nics[i].rails;
    return 1 + 8 * (im->n_gpus == inst->n_gpus) + 4 * same_pcie(im, inst) +
           4 * (f->joint == IMPORT_NVLINK && same_nvlinks(im, inst)) +
           2 * (im->n_nics > 0 && im->n_nics == ports) +
           2 * (im->network != IMPORT_ANY_NETWORK &&
                infiniband == (im->network == IMPORT_INFINIBAND)) +
           import_same_numa(im, inst) +
           (im->pcie_Bps > 0 && fabs(im->pcie_Bps / inst->pcie_Bps - 1) < 0.01);
}

/* Finds f->like among the shipped; of equals, the first by name. */
static int find_like(struct import_filling *f)
{
    const char **names = datadir_list(&f->loader->arena, "topologies/instances");
    int best = 0;
    for (int i = 0; names[i]; i++) {
        const struct instance *inst = instance_get(f->loader, names[i], NOWHERE);
        if (!inst)
            return -1;
        const int score = fits(f, inst) ? likeness(f, inst) : 0;
        if (score > best) {
            f->like = inst;
            best = score;
            f->others.len = 0;
        } else if (score == best && score > 0) {
            strbuf_printf(&f->others, "%s%s", f->others.len ? ", " : "; as like are ",
                          inst->name);
        }
    }
    if (f->like)
        return 0;
    return import_fail(
        f,
        "no known instance is like this machine, so its GPUs and host stay "
        "unknown",
        "name one by --like INSTANCE, and the GPU by --gpu NAME");
}

int import_choose_like(struct import_filling *f)
{
    const struct raw_import *w = f->words;
    const char *gpu = w->gpu ? w->gpu : f->im->gpu;
    if (gpu && !(f->gpu = gpu_get(f->loader, gpu, NOWHERE)))
        return -1;
    if (f->gpu && f->im->sm_arch && f->gpu->sm_arch != f->im->sm_arch)
        return import_fail(
            f, "its GPUs are of another architecture (sm) than the named one",
            "check --gpu");
    f->joint = joint_of(f->im, f->gpu);
    if (!w->like)
        return find_like(f);
    f->like = instance_get(f->loader, w->like, NOWHERE);
    return f->like ? 0 : -1;
}
