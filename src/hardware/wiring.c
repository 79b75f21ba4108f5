#include "hardware/wiring.h"

#include <inttypes.h>

static int read_row(struct instance *inst, struct cfg row, int32_t i)
{
    const int64_t max = inst->gpu->nvlink_links;
    int64_t sum = 0;

    if (!cfg_is_array(row) || cfg_len(row) != inst->n_gpus)
        return cfg_error(row, DIAG_WRONG_TYPE,
                         "must be an array of %d numbers of links, one a GPU",
                         inst->n_gpus);
    for (int32_t j = 0; j < inst->n_gpus; j++) {
        int64_t n;

        if (cfg_int(cfg_at(row, j), &n, 0, max))
            return -1;
        if (j == i && n != 0)
            return cfg_error(cfg_at(row, j), DIAG_CONTRADICTION,
                             "GPU %d is linked to itself (write 0)", i);
        inst->nvlinks[i][j] = (uint8_t)n;
        sum += n;
    }
    if (sum > max)
        return cfg_error(row, DIAG_CONTRADICTION,
                         "GPU %d has %" PRId64 " links, but a %s has %" PRId64, i,
                         (int64_t)sum, inst->gpu->name, (int64_t)max);
    return 0;
}

static int check_symmetry(const struct instance *inst, struct cfg matrix)
{
    for (int32_t i = 0; i < inst->n_gpus; i++)
        for (int32_t j = 0; j < i; j++)
            if (inst->nvlinks[i][j] != inst->nvlinks[j][i])
                return cfg_error(cfg_at(cfg_at(matrix, i), j), DIAG_CONTRADICTION,
                                 "GPU %d has %d links to GPU %d, which has %d back "
                                 "(the matrix must be symmetric)",
                                 i, inst->nvlinks[i][j], j, inst->nvlinks[j][i]);
    return 0;
}

int wiring_read_nvlink(struct instance *inst, struct cfg file, struct cfg matrix)
{
    const char *name = inst->inside->name;

    if (inst->inside->kind != FABRIC_PCIE && inst->gpu->nvlink_links == 0)
        return cfg_error(cfg_get(file, "inside"), DIAG_UNSUPPORTED,
                         "%s needs GPUs with NVLink, which a %s has not", name,
                         inst->gpu->name);
    if (inst->inside->kind != FABRIC_NVLINK) {
        if (cfg_present(matrix))
            return cfg_error(matrix, DIAG_UNSUPPORTED,
                             "%s is not wired link by link (leave it out)", name);
        return 0;
    }
    if (!cfg_is_array(matrix) || cfg_len(matrix) != inst->n_gpus)
        return cfg_error(matrix, DIAG_WRONG_TYPE,
                         "must be an array of %d rows of links, one a GPU",
                         inst->n_gpus);
    for (int32_t i = 0; i < inst->n_gpus; i++)
        if (read_row(inst, cfg_at(matrix, i), i))
            return -1;
    return check_symmetry(inst, matrix);
}

struct pcie_raw {
    double rate, uplink;
    struct cfg switches, roots;
};

struct place_raw {
    int64_t numa;
    struct cfg gpus;
};

static const struct cfg_field pcie_fields[] = {
    CFG_ROW("rate", CFG_T_QUANTITY, struct pcie_raw, rate, .unit = UNIT_BYTES_PER_S,
            .min = 1e8, .max = 1e13, .required = true),
    CFG_QUANTITY("uplink", struct pcie_raw, uplink, UNIT_BYTES_PER_S, 1e8, 1e13),
    CFG_CHILD("switches", struct pcie_raw, switches),
    CFG_CHILD("roots", struct pcie_raw, roots),
    CFG_END,
};

static const struct cfg_field place_fields[] = {
    CFG_INT("numa", struct place_raw, numa, 0, INSTANCE_HOST_NUMA_MAX - 1),
    CFG_CHILD("gpus", struct place_raw, gpus),
    CFG_END,
};

static int check_numa(const struct instance *inst, struct cfg at, int64_t numa)
{
    if (numa < inst->n_numa)
        return 0;
    return cfg_error(at, DIAG_OUT_OF_RANGE,
                     "no NUMA node %" PRId64 " (\"numa_nodes\" is %d, counted from 0)",
                     (int64_t)numa, inst->n_numa);
}

/* Puts the GPUs of one switch (or of a root: pcie -1) in their place. */
static int place_gpus(struct instance *inst, struct cfg gpus, int32_t pcie,
                      int32_t numa)
{
    if (cfg_present(gpus) && !cfg_is_array(gpus))
        return cfg_error(gpus, DIAG_WRONG_TYPE,
                         "must be an array of GPUs, e.g. [0, 1]");
    for (int64_t k = 0; k < cfg_len(gpus); k++) {
        int64_t gpu;

        if (cfg_int(cfg_at(gpus, k), &gpu, 0, inst->n_gpus - 1))
            return -1;
        if (inst->gpu_numa[gpu] >= 0)
            return cfg_error(cfg_at(gpus, k), DIAG_CONTRADICTION,
                             "GPU %" PRId64 " has a place already", (int64_t)gpu);
        inst->gpu_pcie[gpu] = pcie;
        inst->gpu_numa[gpu] = numa;
    }
    return 0;
}

static int read_places(struct instance *inst, struct cfg array, bool switches)
{
    const int64_t n = cfg_len(array);

    if (cfg_present(array) && !cfg_is_array(array))
        return cfg_error(array, DIAG_WRONG_TYPE,
                         "must be an array of {\"numa\", \"gpus\"}");
    if (n > INSTANCE_HOST_SWITCHES_MAX)
        return cfg_error(array, DIAG_NOT_SIMULATED, "more than %d are not modelled",
                         INSTANCE_HOST_SWITCHES_MAX);
    for (int64_t i = 0; i < n; i++) {
        struct place_raw raw = { 0 };
        struct cfg at = cfg_at(array, i);
        int32_t numa;

        if (cfg_read(at, place_fields, &raw) ||
            check_numa(inst, cfg_get(at, "numa"), raw.numa))
            return -1;
        numa = (int32_t)raw.numa;
        if (switches)
            inst->pcie_numa[inst->n_pcie++] = numa;
        if (place_gpus(inst, raw.gpus, switches ? inst->n_pcie - 1 : -1, numa))
            return -1;
    }
    return 0;
}

int wiring_read_pcie(struct instance *inst, struct cfg object)
{
    struct pcie_raw raw = { 0 };

    if (cfg_read(object, pcie_fields, &raw))
        return -1;
    inst->pcie_Bps = raw.rate;
    inst->pcie_uplink_Bps = raw.uplink > 0 ? raw.uplink : raw.rate;
    for (int32_t g = 0; g < INSTANCE_GPUS_MAX; g++)
        inst->gpu_pcie[g] = inst->gpu_numa[g] = -1;
    if (read_places(inst, raw.switches, true) || read_places(inst, raw.roots, false))
        return -1;
    for (int32_t g = 0; g < inst->n_gpus; g++)
        if (inst->gpu_numa[g] < 0)
            return cfg_error(object, DIAG_MISSING,
                             "GPU %d is in none of \"switches\" and \"roots\"", g);
    return 0;
}

struct nic_raw {
    double rate;
    int64_t rails, pcie, numa; /* pcie, numa: -1 when not given */
};

static const struct cfg_field nic_fields[] = {
    CFG_ROW("rate", CFG_T_QUANTITY, struct nic_raw, rate, .unit = UNIT_BYTES_PER_S,
            .min = 1e6, .max = 1e13, .required = true),
    CFG_INT("rails", struct nic_raw, rails, 1, 64),
    CFG_INT("switch", struct nic_raw, pcie, 0, INSTANCE_HOST_SWITCHES_MAX - 1),
    CFG_INT("numa", struct nic_raw, numa, 0, INSTANCE_HOST_NUMA_MAX - 1),
    CFG_END,
};

static int read_nic(struct instance *inst, struct cfg at)
{
    struct nic_raw raw = { .rails = 1, .pcie = -1, .numa = -1 };
    struct instance_nic *nic = &inst->nics[inst->n_nics++];

    if (cfg_read(at, nic_fields, &raw))
        return -1;
    if ((raw.pcie >= 0) == (raw.numa >= 0))
        return cfg_error(at, DIAG_CONTRADICTION,
                         "give either \"switch\" or \"numa\", where the NIC is");
    if (raw.pcie >= inst->n_pcie)
        return cfg_error(cfg_get(at, "switch"), DIAG_OUT_OF_RANGE,
                         "no PCIe switch %" PRId64 " (there are %d, counted from 0)",
                         (int64_t)raw.pcie, inst->n_pcie);
    if (raw.numa >= 0 && check_numa(inst, cfg_get(at, "numa"), raw.numa))
        return -1;
    *nic = (struct instance_nic) {
        .line_Bps = raw.rate,
        .rails = (int32_t)raw.rails,
        .pcie = (int32_t)raw.pcie,
        .numa = raw.pcie >= 0 ? inst->pcie_numa[raw.pcie] : (int32_t)raw.numa,
    };
    return 0;
}

int wiring_read_nics(struct instance *inst, struct cfg array)
{
    if (!cfg_present(array))
        return 0;
    if (!cfg_is_array(array) || cfg_len(array) > INSTANCE_HOST_NICS_MAX)
        return cfg_error(array, DIAG_WRONG_TYPE, "must be an array of at most %d NICs",
                         INSTANCE_HOST_NICS_MAX);
    for (int64_t i = 0; i < cfg_len(array); i++)
        if (read_nic(inst, cfg_at(array, i)))
            return -1;
    return 0;
}
