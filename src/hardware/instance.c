#include "hardware/instance.h"

#include "base/file.h"

#include "config/cache.h"
#include "config/datadir.h"
#include "hardware/domain.h"
#include "hardware/wiring.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

struct instance_raw {
    struct instance inst;
    const char *gpu, *inside, *outside;
    int64_t n_gpus, n_numa;
    struct cfg nvlink, domain, pcie, nics, host_copy, prices;
};

#define INST_CHILD(k, m, need) \
    CFG_ROW(k, CFG_T_CHILD, struct instance_raw, m, .required = (need))
#define INST_NAME(k, m, need) \
    CFG_ROW(k, CFG_T_STRING, struct instance_raw, m, .required = (need))
#define INST_INT(k, m, lo, hi)                                              \
    CFG_ROW(k, CFG_T_INT, struct instance_raw, m, .min = (lo), .max = (hi), \
            .required = true)
#define INST_RATE(k, m) \
    CFG_QUANTITY(k, struct instance_raw, inst.m, UNIT_BYTES_PER_S, 1e6, 1e13)

static const struct cfg_field instance_fields[] = {
    INST_NAME("summary", inst.summary, false),
    INST_NAME("gpu", gpu, true),
    INST_INT("gpus", n_gpus, 1, INSTANCE_HOST_GPUS_MAX),
    INST_INT("vcpus", inst.vcpus, 1, 1 << 16),
    CFG_ROW("host_memory", CFG_T_BYTES, struct instance_raw, inst.host_memory_B,
            .unit = UNIT_BYTES, .min = 1 << 30, .max = 1e15, .required = true),
    INST_INT("numa_nodes", n_numa, 1, INSTANCE_HOST_NUMA_MAX),
    INST_NAME("inside", inside, true),
    INST_NAME("outside", outside, false),
    INST_CHILD("nvlink", nvlink, false),
    INST_CHILD("nvlink_domain", domain, false),
    INST_CHILD("pcie", pcie, true),
    INST_CHILD("nics", nics, false),
    INST_CHILD("host_copy", host_copy, true),
    INST_RATE("host_memory_rate", host_memory_Bps),
    INST_RATE("socket_rate", socket_Bps),
    INST_RATE("storage", storage_Bps),
    INST_CHILD("prices", prices, false),
    INST_NAME("provenance", inst.provenance, false),
    CFG_PROVENANCE(struct instance_raw, inst.provenance_kind),
    CFG_END,
};

#define COPY_RATE(k, m)                                                      \
    CFG_ROW(k, CFG_T_QUANTITY, struct instance, m, .unit = UNIT_BYTES_PER_S, \
            .min = 1e6, .max = 1e13, .required = true)

static const struct cfg_field copy_fields[] = {
    COPY_RATE("pinned", host_pinned_Bps),
    COPY_RATE("pageable", host_pageable_Bps),
    CFG_END,
};

static const struct name_value services[] = {
    { "ec2", 0 },
    { "sagemaker", 1 },
    { NULL, 0 },
};

const struct name_value instance_purchase_names[] = {
    { "on-demand", INSTANCE_ON_DEMAND },
    { "spot", INSTANCE_SPOT },
    { "capacity-block", INSTANCE_CAPACITY_BLOCK },
    { "savings-1y", INSTANCE_SAVINGS_1Y },
    { "savings-3y", INSTANCE_SAVINGS_3Y },
    { NULL, 0 },
};

struct price_raw {
    struct instance_price price;
    int service, purchase;
};

#define PRICE_TEXT(k, m, need) \
    CFG_ROW(k, CFG_T_STRING, struct price_raw, price.m, .required = (need))

static const struct cfg_field price_fields[] = {
    CFG_ROW("service", CFG_T_ENUM, struct price_raw, service, .names = services,
            .required = true),
    CFG_ENUM("purchase", struct price_raw, purchase, instance_purchase_names),
    PRICE_TEXT("date", date, true),
    PRICE_TEXT("region", region, true),
    CFG_ROW("price", CFG_T_QUANTITY, struct price_raw, price.usd_per_hour,
            .unit = UNIT_USD_PER_HOUR, .min = 0, .max = 1e6, .required = true),
    PRICE_TEXT("source", source, false),
    CFG_END,
};

/* "2026-07-20", "2024-12" or years, "2021-2025": dates are compared as texts. */
static bool is_date(const char *text)
{
    int year = 0, month = 0, day = 1, last = 0, n = 0;
    if (strspn(text, "0123456789-") != strlen(text))
        return false;
    if (strlen(text) == 9)
        return sscanf(text, "%4d-%4d%n", &year, &last, &n) == 2 && n == 9 &&
               year >= 1000 && last >= year;
    bool whole = strlen(text) == 10 &&
                 sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &n) == 3 && n == 10;
    bool no_day = strlen(text) == 7 &&
                  sscanf(text, "%4d-%2d%n", &year, &month, &n) == 2 && n == 7;
    return (whole || no_day) && year >= 1000 && month >= 1 && month <= 12 && day >= 1 &&
           day <= 31;
}

static int read_prices(struct instance *inst, struct cfg array)
{
    if (!cfg_present(array))
        return 0;
    if (!cfg_is_array(array) || cfg_len(array) > INSTANCE_PRICES_MAX)
        return cfg_error(array, DIAG_WRONG_TYPE,
                         "must be an array of at most %d prices", INSTANCE_PRICES_MAX);
    for (int64_t i = 0; i < cfg_len(array); i++) {
        struct price_raw raw = { 0 };

        if (cfg_read(cfg_at(array, i), price_fields, &raw))
            return -1;
        if (!is_date(raw.price.date))
            return cfg_error(cfg_get(cfg_at(array, i), "date"), DIAG_WRONG_TYPE,
                             "\"%s\" is no date (write \"2026-07-20\", or years as "
                             "\"2021-2025\")",
                             raw.price.date);
        raw.price.service = names_of(services, raw.service);
        raw.price.purchase = (enum instance_purchase)raw.purchase;
        if (raw.purchase == INSTANCE_ON_DEMAND)
            inst->prices[inst->n_prices++] = raw.price;
        else
            inst->offers[inst->n_offers++] = raw.price;
    }
    return 0;
}

int instance_read_prices(struct instance *inst, struct cfg file)
{
    inst->n_prices = inst->n_offers = 0;
    return read_prices(inst, cfg_get(file, "prices"));
}

/* The GPU and the fabrics that the file names. */
static int read_parts(struct instance_raw *raw, struct cfg_loader *loader,
                      struct cfg file)
{
    struct instance *inst = &raw->inst;
    struct cfg inside = cfg_get(file, "inside"), outside = cfg_get(file, "outside");

    inst->n_gpus = (int32_t)raw->n_gpus;
    inst->n_numa = (int32_t)raw->n_numa;
    inst->gpu = gpu_get(loader, raw->gpu, cfg_get(file, "gpu"));
    inst->inside = fabric_get(loader, raw->inside, inside);
    if (raw->outside)
        inst->outside = fabric_get(loader, raw->outside, outside);
    if (!inst->gpu || !inst->inside || (raw->outside && !inst->outside))
        return -1;
    if (!fabric_is_inside(inst->inside))
        return cfg_error(inside, DIAG_UNSUPPORTED,
                         "%s joins nodes, not the GPUs of one", raw->inside);
    if (inst->outside && fabric_is_inside(inst->outside))
        return cfg_error(outside, DIAG_UNSUPPORTED,
                         "%s joins the GPUs of a node, not nodes", raw->outside);
    if (inst->outside && !cfg_present(raw->nics))
        return cfg_error(outside, DIAG_MISSING, "a network needs \"nics\"");
    return 0;
}

static int read_instance(struct instance_raw *raw, struct cfg_loader *loader,
                         struct cfg file)
{
    struct instance *inst = &raw->inst;

    inst->n_hosts = 1;
    inst->host_memory_Bps = 100e9;
    if (cfg_read(file, instance_fields, raw) || read_parts(raw, loader, file))
        return -1;
    inst->socket_assumed = inst->socket_Bps <= 0;
    if (inst->socket_assumed)
        inst->socket_Bps = 20.8e9; /* one UPI link of 10.4 GT/s; QPI 9.6 is like it */
    if (wiring_read_nvlink(inst, file, raw->nvlink) ||
        wiring_read_pcie(inst, raw->pcie) || wiring_read_nics(inst, raw->nics) ||
        cfg_read(raw->host_copy, copy_fields, inst))
        return -1;
    instance_place_nics(inst);
    if (domain_read(inst, loader, raw->domain))
        return -1;
    if (!inst->summary)
        inst->summary = inst->gpu->name;
    return read_prices(inst, raw->prices);
}

const char *instance_absent(struct cfg_loader *loader, const char *name)
{
    struct cfg file =
        datadir_load(loader, "topologies", "absent", (struct cfg) { .path = "" });
    struct cfg families = cfg_get(file, "families"), begins = cfg_get(file, "begins");
    const char *family = arena_strndup(&loader->arena, name, strcspn(name, "."));
    struct cfg why = cfg_get(families, family);
    for (void *it = cfg_first(begins); it && !cfg_present(why);
         it = cfg_next(begins, it))
        if (strncasecmp(name, cfg_key(it), strlen(cfg_key(it))) == 0)
            why = cfg_member(begins, it);
    return json_string_value(why.json);
}

static const void *make_instance(struct cfg_loader *loader, const char *name,
                                 struct cfg where)
{
    const char *path = datadir_file(&loader->arena, "topologies/instances", name);
    const char *why = !file_is_there(path) ? instance_absent(loader, name) : NULL;
    if (why) {
        cfg_error_at(loader, where, DIAG_UNSUPPORTED, "%s is not simulated: %s", name,
                     why);
        return NULL;
    }
    struct instance_raw *raw = ARENA_NEW(&loader->arena, struct instance_raw);
    struct cfg file = datadir_load(loader, "topologies/instances", name, where);

    raw->inst.name = cache_basename(&loader->arena, name);
    return cfg_present(file) && read_instance(raw, loader, file) == 0 ? &raw->inst
                                                                      : NULL;
}

bool instance_is_sagemaker(const char *name)
{
    return strncmp(name, "ml.", 3) == 0;
}

const char *instance_plain_name(const char *name)
{
    return instance_is_sagemaker(name) ? name + 3 : name;
}

const struct instance *instance_get(struct cfg_loader *loader, const char *name,
                                    struct cfg where)
{
    const void *known;
    name = instance_plain_name(name);
    if (!cache_find(loader, "instance", name, &known))
        name = datadir_spelling(&loader->arena, "topologies/instances", name);
    return cache_get(loader, "instance", name, where, make_instance);
}

/* A period ("2021-2025") counts as its end. */
static const char *date_key(const char *date)
{
    return strlen(date) == 9 && date[4] == '-' ? date + 5 : date;
}

const struct instance_price *instance_price_newest(const struct instance *inst,
                                                   const char *service)
{
    const struct instance_price *best = NULL;

    for (int32_t i = 0; i < inst->n_prices; i++) {
        const struct instance_price *p = &inst->prices[i];

        if (strcmp(p->service, service) != 0)
            continue;
        if (!best || strcmp(date_key(p->date), date_key(best->date)) > 0)
            best = p;
    }
    return best;
}

/* 0: under the same PCIe switch, 1: on the same NUMA node, 2: elsewhere. */
static int nic_distance(const struct instance *inst, int32_t gpu, int32_t nic)
{
    const struct instance_nic *n = &inst->nics[nic];

    if (n->pcie >= 0 && n->pcie == inst->gpu_pcie[gpu])
        return 0;
    return n->numa == inst->gpu_numa[gpu] ? 1 : 2;
}

static int nearest_nic_distance(const struct instance *inst, int32_t gpu)
{
    int best = 3;

    for (int32_t i = 0; i < inst->n_nics; i++) {
        int d = nic_distance(inst, gpu, i);

        best = d < best ? d : best;
    }
    return best;
}

/* Whether two GPUs have the same nearest NICs. */
static bool share_nics(const struct instance *inst, int32_t a, int32_t b, int distance)
{
    if (nearest_nic_distance(inst, b) != distance)
        return false;
    for (int32_t i = 0; i < inst->n_nics; i++)
        if ((nic_distance(inst, a, i) == distance) !=
            (nic_distance(inst, b, i) == distance))
            return false;
    return true;
}

static int32_t nearest_nic(const struct instance *inst, int32_t gpu)
{
    const int distance = nearest_nic_distance(inst, gpu);
    int32_t n_nics = 0, n_peers = 0, place = 0, nics[INSTANCE_NICS_MAX];

    for (int32_t i = 0; i < inst->n_nics; i++)
        if (nic_distance(inst, gpu, i) == distance)
            nics[n_nics++] = i;
    if (n_nics == 0)
        return -1;
    for (int32_t g = 0; g < inst->n_gpus; g++) {
        if (!share_nics(inst, gpu, g, distance))
            continue;
        place += g < gpu;
        n_peers++;
    }
    return nics[place * n_nics / n_peers];
}

void instance_place_nics(struct instance *inst)
{
    for (int32_t i = 0; i < inst->n_gpus; i++)
        inst->nic_of_gpu[i] = nearest_nic(inst, i);
}

int32_t instance_nic_of_gpu(const struct instance *inst, int32_t gpu)
{
    return inst->nic_of_gpu[gpu];
}

/* GPUs and NICs below a PCIe switch. */
static void count_below(const struct instance *inst, int32_t pcie, int32_t *gpus,
                        int32_t *nics)
{
    *gpus = *nics = 0;
    for (int32_t i = 0; i < inst->n_gpus; i++)
        *gpus += inst->gpu_pcie[i] == pcie;
    for (int32_t i = 0; i < inst->n_nics; i++)
        *nics += inst->nics[i].pcie == pcie;
}

bool instance_gpus_alike(const struct instance *inst)
{
    int32_t first_gpus, first_nics, gpus, nics;
    if (inst->n_gpus == 1)
        return true;
    if (inst->inside->kind == FABRIC_NVLINK)
        return false;
    count_below(inst, inst->gpu_pcie[0], &first_gpus, &first_nics);
    for (int32_t i = 1; i < inst->n_gpus; i++) {
        count_below(inst, inst->gpu_pcie[i], &gpus, &nics);
        if (gpus != first_gpus || nics != first_nics)
            return false;
    }
    return true;
}

int64_t instance_nvlinks(const struct instance *inst, int32_t a, int32_t b)
{
    if (a == b)
        return 0;
    if (inst->inside->kind == FABRIC_NVSWITCH)
        return inst->gpu->nvlink_links;
    return inst->nvlinks[a][b];
}

double instance_network_Bps(const struct instance *inst)
{
    double sum = 0;

    for (int32_t i = 0; i < inst->n_nics; i++)
        sum += inst->nics[i].line_Bps;
    return sum;
}
