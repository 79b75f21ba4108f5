#include "hardware/domain.h"

#include <inttypes.h>
#include <string.h>

struct domain_raw {
    int64_t gpus;
    const char *fabric;
};

static const struct cfg_field domain_fields[] = {
    CFG_ROW("gpus", CFG_T_INT, struct domain_raw, gpus, .min = 1,
            .max = INSTANCE_GPUS_MAX, .required = true),
    CFG_STRING("fabric", struct domain_raw, fabric),
    CFG_END,
};

/* Whether the parts of so many hosts can be held. */
static bool fits(const struct instance *host, int64_t hosts)
{
    return hosts * host->n_gpus <= INSTANCE_GPUS_MAX &&
           hosts * host->n_nics <= INSTANCE_NICS_MAX &&
           hosts * host->n_pcie <= INSTANCE_SWITCHES_MAX &&
           hosts * host->n_numa <= INSTANCE_NUMA_MAX;
}

static int check(const struct instance *host, struct cfg object, int64_t gpus)
{
    struct cfg at = cfg_get(object, "gpus");
    if (host->inside->kind != FABRIC_NVSWITCH)
        return cfg_error(object, DIAG_UNSUPPORTED,
                         "%s has no NVSwitch that hosts could share (leave it out)",
                         host->name);
    if (gpus % host->n_gpus != 0)
        return cfg_error(at, DIAG_NOT_DIVISIBLE,
                         "hosts of %d GPUs do not make a domain of %" PRId64
                         " (write a multiple of %d)",
                         host->n_gpus, (int64_t)gpus, host->n_gpus);
    if (!fits(host, gpus / host->n_gpus))
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "so many hosts have more than %d GPUs, NICs, PCIe switches or "
                         "NUMA nodes together (write fewer GPUs)",
                         INSTANCE_NICS_MAX);
    return 0;
}

int domain_read(struct instance *host, struct cfg_loader *loader, struct cfg object)
{
    struct domain_raw raw = { 0 };
    struct cfg at = cfg_get(object, "fabric");
    if (!cfg_present(object))
        return 0;
    if (cfg_read(object, domain_fields, &raw) || check(host, object, raw.gpus))
        return -1;
    host->domain_gpus = raw.gpus;
    if (!raw.fabric)
        return 0;
    host->domain_fabric = fabric_get(loader, raw.fabric, at);
    if (host->domain_fabric && host->domain_fabric->kind != FABRIC_NVSWITCH)
        return cfg_error(at, DIAG_UNSUPPORTED,
                         "%s is no NVSwitch (write e.g. \"nvswitch-b200\")",
                         raw.fabric);
    return host->domain_fabric ? 0 : -1;
}

struct domain_shape domain_shape_of(const struct instance *host, int64_t count)
{
    const int64_t most = host->domain_gpus > 0 ? host->domain_gpus / host->n_gpus : 1;
    const int64_t fewest = (count + most - 1) / most;
    if (count <= most)
        return (struct domain_shape) { count, 1, 0 };
    for (int64_t n = fewest; n <= 2 * fewest && !host->domain_fixed; n++)
        if (count % n == 0)
            return (struct domain_shape) { count / n, n, 0 };
    return (struct domain_shape) { most, count / most, count % most };
}

/* GPUs, and the places of GPUs, NICs and switches, of host `k`. */
static void add_host(struct instance *d, const struct instance *host, int32_t k,
                     int32_t gpus)
{
    const int32_t pcie = k * host->n_pcie, numa = k * host->n_numa;
    for (int32_t i = 0; i < host->n_pcie; i++)
        d->pcie_numa[pcie + i] = numa + host->pcie_numa[i];
    for (int32_t g = 0; g < gpus; g++) {
        const int32_t at = k * gpus + g, nic = host->nic_of_gpu[g];
        d->gpu_pcie[at] = host->gpu_pcie[g] < 0 ? -1 : pcie + host->gpu_pcie[g];
        d->gpu_numa[at] = numa + host->gpu_numa[g];
        d->nic_of_gpu[at] = nic < 0 ? -1 : k * host->n_nics + nic;
    }
    for (int32_t i = 0; i < host->n_nics; i++) {
        struct instance_nic *nic = &d->nics[k * host->n_nics + i];
        *nic = host->nics[i];
        nic->pcie = nic->pcie < 0 ? -1 : pcie + nic->pcie;
        nic->numa += numa;
    }
}

/* What each host has once, the domain has as often as hosts. */
static void multiply(struct instance *d, int32_t hosts)
{
    d->vcpus *= hosts;
    d->host_memory_B *= hosts;
    d->host_memory_Bps *= hosts;
    d->storage_Bps *= hosts;
    d->n_numa *= hosts;
    d->n_pcie *= hosts;
    d->n_nics *= hosts;
    for (int32_t i = 0; i < d->n_prices; i++)
        d->prices[i].usd_per_hour *= hosts;
    for (int32_t i = 0; i < d->n_offers; i++)
        d->offers[i].usd_per_hour *= hosts;
}

const struct instance *domain_make(struct arena *arena, const struct instance *host,
                                   int64_t hosts, int32_t gpus)
{
    struct instance *d = ARENA_NEW(arena, struct instance);
    *d = *host;
    d->host = host;
    d->n_hosts = (int32_t)hosts;
    d->n_gpus = d->n_hosts * gpus;
    if (host->domain_fabric)
        d->inside = host->domain_fabric;
    for (int32_t k = 0; k < d->n_hosts; k++)
        add_host(d, host, k, gpus);
    multiply(d, d->n_hosts);
    return d;
}

const struct instance *domain_host(const struct instance *inst)
{
    return inst->host ? inst->host : inst;
}
