#include "hardware/import/smi.h"

#include "hardware/import/smi_matrix.h"

#include <stdlib.h>
#include <string.h>

/* The NUMA node of a GPU's row; -1 where it is not one number ("N/A", "0-1"). */
static int64_t row_numa(const struct smi_matrix *m, int32_t gpu)
{
    const struct smi_word w = m->after[gpu][1];
    char text[8], *end;
    if (!m->numa || w.len == 0 || w.len >= sizeof(text))
        return -1;
    memcpy(text, m->text + w.at, w.len);
    text[w.len] = '\0';
    long v = strtol(text, &end, 10);
    return end == text || *end || v < 0 ? -1 : v;
}

/* CPUs in "0-23,48-71"; 0 when it is no such list. */
static int64_t count_cpus(const struct smi_matrix *m, struct smi_word w)
{
    int64_t n = 0;
    const char *s = m->text + w.at, *end = s + w.len;
    while (s < end) {
        char *after;
        long a = strtol(s, &after, 10), b = a;
        if (after == s || a < 0 || a > 65535)
            return 0;
        if (*after == '-')
            b = strtol(after + 1, &after, 10);
        if (b < a || b > 65535 || (after < end && *after != ','))
            return 0;
        n += b - a + 1;
        s = after + 1;
    }
    return n;
}

/* Of which earlier GPU this one shares the NUMA node; itself where of none. */
static int32_t numa_first(const struct smi_matrix *m, int32_t gpu, bool numbered)
{
    int32_t j = 0;
    while (j < gpu && (numbered ? row_numa(m, gpu) != row_numa(m, j)
                                : !smi_same_word(m, m->after[gpu][0], m->after[j][0])))
        j++;
    return j;
}

/* GPUs near the same CPUs are on the same NUMA node. Nodes keep the order of the text's
 * own numbers, or without such that in which they appear. */
static int place_on_numa(const struct smi_matrix *m, struct import *im)
{
    bool numbered = true, known = true;
    for (int32_t i = 0; i < m->n_gpus; i++) {
        numbered &= row_numa(m, i) >= 0;
        known &= count_cpus(m, m->after[i][0]) > 0;
    }
    for (int32_t i = 0; i < m->n_gpus && (numbered || known); i++) {
        if (numa_first(m, i, numbered) < i)
            continue;
        if (im->n_numa++ == INSTANCE_HOST_NUMA_MAX)
            return smi_error(m, m->columns[i].at, DIAG_NOT_SIMULATED,
                             "more than %d NUMA nodes are not simulated",
                             INSTANCE_HOST_NUMA_MAX);
        im->vcpus += known ? count_cpus(m, m->after[i][0]) : 0;
    }
    for (int32_t i = 0; i < m->n_gpus && im->n_numa > 0; i++) {
        const int32_t first = numa_first(m, i, numbered);
        for (int32_t j = 0; j < m->n_gpus; j++)
            if (numa_first(m, j, numbered) == j &&
                (numbered ? row_numa(m, j) < row_numa(m, i) : j < first))
                im->gpu_numa[i]++;
    }
    return 0;
}

/* Whether the text shows which GPUs share a switch: NVLinks hide that, NICs show it. */
static bool shows_pcie(const struct smi_matrix *m)
{
    for (int32_t i = 0; i < m->n_gpus; i++)
        for (int32_t j = 0; j < m->n_gpus; j++)
            if (m->relation[i][j] > 0)
                return m->n > m->n_gpus;
    return true;
}

/* A virtual machine may show a GPU near other CPUs than its neighbours on the
 * switch. */
static void follow_switch(const struct smi_matrix *m, struct import *im, int32_t gpu)
{
    const int32_t pcie = im->gpu_pcie[gpu];
    if (pcie < 0 || im->pcie_numa[pcie] == im->gpu_numa[gpu])
        return;
    diags_warn(&m->loader->diags, DIAG_IMPORTED,
               "%s: GPU%d is put on NUMA node %d, that of the GPUs on its switch",
               m->file, gpu, im->pcie_numa[pcie]);
    im->gpu_numa[gpu] = im->pcie_numa[pcie];
}

/* Gives each switch that has a GPU below it a number, by its first GPU. */
static void place_under_switches(const struct smi_matrix *m, struct import *im)
{
    int32_t group[SMI_COLUMNS_MAX], number[SMI_COLUMNS_MAX];
    for (int32_t i = 0; i < m->n; i++) {
        group[i] = i;
        number[i] = -1;
    }
    for (int32_t i = 0; i < m->n; i++)
        for (int32_t j = 0; j < i; j++)
            if (m->relation[i][j] == SMI_SWITCH && group[i] != group[j])
                for (int32_t k = 0, from = group[i], to = group[j]; k < m->n; k++)
                    group[k] = group[k] == from ? to : group[k];
    for (int32_t i = 0; i < m->n_gpus; i++) {
        bool shared = false;
        for (int32_t j = 0; j < m->n; j++)
            shared |= j != i && group[j] == group[i];
        if (shared && number[group[i]] < 0) {
            number[group[i]] = im->n_pcie;
            im->pcie_numa[im->n_pcie++] = im->gpu_numa[i];
        }
        im->gpu_pcie[i] = number[group[i]];
        follow_switch(m, im, i);
    }
    for (int32_t k = m->n_gpus; k < m->n; k++)
        im->nics[k - m->n_gpus] =
            (struct instance_nic) { .rails = 1, .pcie = number[group[k]], .numa = -1 };
}

/* A NIC next to no GPU's switch: on the node of a GPU that reaches it within one, else
 * on one that has no GPU, else on the last. */
static int32_t nic_numa(const struct smi_matrix *m, const struct import *im,
                        int32_t nic)
{
    const int32_t k = m->n_gpus + nic;
    uint32_t taken = 0;
    if (im->nics[nic].pcie >= 0)
        return im->pcie_numa[im->nics[nic].pcie];
    for (int32_t i = 0; i < m->n_gpus; i++) {
        if (m->relation[i][k] == SMI_NODE)
            return im->gpu_numa[i];
        taken |= 1u << im->gpu_numa[i];
    }
    for (int32_t i = 0; i < im->n_numa; i++)
        if (!(taken & 1u << i))
            return i;
    return im->n_numa > 0 ? im->n_numa - 1 : 0;
}

static void describe_network(const struct smi_matrix *m, struct import *im)
{
    im->n_nics = m->n - m->n_gpus;
    for (int32_t i = 0; i < im->n_nics; i++)
        im->nics[i].numa = nic_numa(m, im, i);
    if (im->n_nics > 0 && strstr(m->text, "rdmap"))
        im->network = IMPORT_ETHERNET; /* what EFA devices are called */
    else if (im->n_nics > 0 && strstr(m->text, "mlx"))
        im->network = IMPORT_INFINIBAND;
}

/* Links to each of the others, or all to switches: whoever completes the description
 * knows how many a GPU has. */
static void describe_nvlinks(const struct smi_matrix *m, struct import *im)
{
    im->joint = m->n_gpus > 1 ? IMPORT_PCIE : IMPORT_UNKNOWN;
    for (int32_t i = 0; i < m->n_gpus; i++)
        for (int32_t j = 0; j < m->n_gpus; j++) {
            const int links = m->relation[i][j];
            if (i == j || links <= 0)
                continue;
            im->joint = IMPORT_NVLINK;
            im->nvlinks[i][j] = (uint8_t)links;
            im->port_links = links > im->port_links ? links : im->port_links;
        }
}

static int describe(const struct smi_matrix *m, struct import *im)
{
    im->n_gpus = m->n_gpus;
    if (place_on_numa(m, im))
        return -1;
    im->pcie_known = shows_pcie(m);
    place_under_switches(m, im);
    describe_network(m, im);
    describe_nvlinks(m, im);
    return 0;
}

int import_smi(struct import *im, struct cfg_loader *loader, const char *file)
{
    struct smi_matrix *m = ARENA_NEW(&loader->arena, struct smi_matrix);
    *im = (struct import) { .file = file, .format = "nvidia-smi topo -m" };
    return smi_matrix_read(m, loader, file) ? -1 : describe(m, im);
}
