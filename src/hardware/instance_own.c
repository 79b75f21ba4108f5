#include "hardware/instance_own.h"

#include "config/datadir.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const instance_change_keys[] = {
    "gpu",      "inside",        "nics", "network_bandwidth", "power_limit", "price",
    "purchase", "nvlink_domain", NULL,
};

/* GPUs ----------------------------------------------------------------------------- */

/* How near an instance's GPUs are to some: 2 for the same ones, 1 for others of the same
 * compute capability that NVSwitches join; 0: not at all. */
static int likeness(const struct instance *x, const struct gpu *gpu)
{
    if (strcmp(x->gpu->name, gpu->name) == 0)
        return 2;
    return x->gpu->sm_arch == gpu->sm_arch && x->inside->kind == FABRIC_NVSWITCH;
}

/* A shipped instance whose GPUs are these, or of their generation where none has these,
 * joined in the same way where one is. */
static const struct instance *shipped_with(struct cfg_loader *loader,
                                           const struct gpu *gpu, enum fabric_kind kind)
{
    const char **names = datadir_list(&loader->arena, "topologies/instances");
    const struct instance *found = NULL;
    for (int i = 0; names[i]; i++) {
        const struct instance *x =
            instance_get(loader, names[i], (struct cfg) { .path = "" });
        int near = x ? likeness(x, gpu) : 0;
        if (near == 0 || (found && near < likeness(found, gpu)))
            continue;
        if (!found || near > likeness(found, gpu) ||
            (x->inside->kind == kind && found->inside->kind != kind))
            found = x;
    }
    return found;
}

/* The fabric of cards without NVLink, by the generation of PCIe that they have. */
static const struct fabric *pcie_of(struct cfg_loader *loader, const struct gpu *gpu)
{
    const char *name = gpu->sm_arch < 80   ? "pcie-gen3-host"
                       : gpu->sm_arch < 90 ? "pcie-gen4-host"
                                           : "pcie-gen5-host";
    return fabric_get(loader, name, (struct cfg) { .path = "" });
}

/* GPUs without NVLink: what is inside stays where it is PCIe, and becomes that. */
static int take_pcie(struct instance *inst, struct cfg_loader *loader,
                     struct cfg object)
{
    if (inst->inside->kind == FABRIC_PCIE)
        return 0;
    if (!(inst->inside = pcie_of(loader, inst->gpu)))
        return -1;
    memset(inst->nvlinks, 0, sizeof(inst->nvlinks));
    cfg_warn(cfg_get(object, "gpu"), DIAG_ASSUMED,
             "%s is without NVLink: the GPUs of a node are joined by PCIe, %s "
             "(\"inside\" names another)",
             inst->gpu->name, inst->inside->name);
    return 0;
}

/* Other GPUs bring the fabric between them: NVLink is of the GPU's generation. */
static int take_inside(struct instance *inst, struct cfg_loader *loader,
                       const struct gpu *before, struct cfg object)
{
    if (inst->gpu->nvlink_links == before->nvlink_links &&
        inst->gpu->sm_arch == before->sm_arch)
        return 0;
    if (inst->gpu->nvlink_links == 0)
        return take_pcie(inst, loader, object);
    const struct instance *known = shipped_with(loader, inst->gpu, inst->inside->kind);
    if (!known)
        return cfg_error(cfg_get(object, "gpu"), DIAG_MISSING,
                         "nothing says what joins GPUs of %s in a node (name it in "
                         "\"inside\", e.g. \"nvswitch-h100\")",
                         inst->gpu->name);
    if (known->inside == inst->inside)
        return 0;
    if (known->inside->kind == FABRIC_NVLINK && known->n_gpus < inst->n_gpus)
        return cfg_error(cfg_get(object, "gpu"), DIAG_MISSING,
                         "the NVLinks of %d GPUs of %s are not known (name a fabric "
                         "with a switch in \"inside\")",
                         inst->n_gpus, inst->gpu->name);
    inst->inside = known->inside;
    memcpy(inst->nvlinks, known->nvlinks, sizeof(inst->nvlinks));
    cfg_warn(cfg_get(object, "gpu"), DIAG_ASSUMED,
             "the GPUs of a node are joined as those of %s are: %s (\"inside\" names "
             "another)",
             known->name, inst->inside->name);
    return 0;
}

static int change_gpu(struct instance *inst, struct cfg_loader *loader,
                      const struct instance_changes *changes, struct cfg object)
{
    const struct gpu *before = inst->gpu;
    struct cfg inside = cfg_get(object, "inside");
    if (changes->gpu &&
        !(inst->gpu = gpu_get(loader, changes->gpu, cfg_get(object, "gpu"))))
        return -1;
    if (!changes->inside)
        return take_inside(inst, loader, before, object);
    if (!(inst->inside = fabric_get(loader, changes->inside, inside)))
        return -1;
    if (!fabric_is_inside(inst->inside))
        return cfg_error(inside, DIAG_CONTRADICTION,
                         "%s joins nodes, not the GPUs of one (that is \"fabric\")",
                         changes->inside);
    if (inst->inside->kind == FABRIC_NVLINK && inst->nvlinks[0][1] == 0 &&
        inst->n_gpus > 1)
        return cfg_error(inside, DIAG_MISSING,
                         "%s joins GPUs link by link, and which has links to which is "
                         "not known here (write an instance file)",
                         changes->inside);
    return 0;
}

/* A clock at a power limit follows the cube root of the power: what switches takes power
 * in proportion to f V^2, and V follows f (MODEL.md, 3.24). */
static void slow_down(struct gpu *gpu, double limit_w)
{
    double clock = cbrt(limit_w / gpu->tdp_w);
    for (int d = 0; d < DTYPE_N; d++)
        gpu->gemm[d].sustained *= clock;
    gpu->flash_sustained *= clock;
    gpu->limit_clock *= clock;
    gpu->tdp_w = limit_w;
}

static int limit_power(struct instance *inst, struct cfg_loader *loader, double limit_w,
                       struct cfg at)
{
    /* A guess: voltage has its floor somewhere there, below which power does not follow
     * the cube of the clock. */
    static const double least_share = 0.4;
    const struct gpu *gpu = inst->gpu;
    double least_w = least_share * gpu->tdp_w;
    if (gpu->tdp_w <= 0)
        return cfg_error(at, DIAG_MISSING,
                         "the power of %s is not known (give its file a \"tdp\")",
                         gpu->name);
    if (limit_w > gpu->tdp_w)
        return cfg_error(at, DIAG_CONTRADICTION,
                         "%s takes %g W, which %g W do not limit (leave it out)",
                         gpu->name, gpu->tdp_w, limit_w);
    if (limit_w < least_w)
        return cfg_error(at, DIAG_NOT_SIMULATED,
                         "less than two fifths of the %g W of %s are not simulated "
                         "(write at least %g W)",
                         gpu->tdp_w, gpu->name, ceil(least_w));
    if (limit_w == gpu->tdp_w)
        cfg_warn(at, DIAG_WITHOUT_EFFECT, "without effect: %s takes that much",
                 gpu->name);
    struct gpu *slower = ARENA_NEW(&loader->arena, struct gpu);
    *slower = *gpu;
    slow_down(slower, limit_w);
    inst->gpu = slower;
    return 0;
}

/* NICs ----------------------------------------------------------------------------- */

#define FASTEST_Bps 100e9 /* ConnectX-8's 800 Gb/s (NVIDIA's datasheet, 2024) */

/* NICs of one rate, spread over the PCIe switches, or over the NUMA nodes. */
static void spread_nics(struct instance *inst, int64_t n, double line_Bps)
{
    inst->n_nics = (int32_t)n;
    for (int32_t i = 0; i < inst->n_nics; i++) {
        const int32_t places = inst->n_pcie ? inst->n_pcie : inst->n_numa;
        const int32_t at = (int32_t)((int64_t)i * places / n) % places;
        inst->nics[i] = (struct instance_nic) {
            .line_Bps = line_Bps,
            .rails = 1,
            .pcie = inst->n_pcie ? at : -1,
            .numa = inst->n_pcie ? inst->pcie_numa[at] : at,
        };
    }
}

/* Rates of InfiniBand's generations, four lanes a port. */
static const struct {
    const char *name;
    double Gbps;
} generations[] = {
    { "EDR", 100 },
    { "HDR", 200 },
    { "NDR", 400 },
    { "XDR", 800 },
};

/* "400Gb/s", "100GbE", "400G" or "NDR"; false: none of these. */
static bool rate_of(const char *text, double *line_Bps)
{
    const char *why = NULL;
    char *end;
    for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
        if (strcasecmp(text, generations[i].name) == 0) {
            *line_Bps = generations[i].Gbps * 1e9 / 8;
            return true;
        }
    const double Gbps = strtod(text, &end);
    if (end > text && (strcasecmp(end, "G") == 0 || strcasecmp(end, "GbE") == 0))
        *line_Bps = Gbps * 1e9 / 8;
    else if (units_parse(text, UNIT_BYTES_PER_S, line_Bps, &why))
        return false;
    return *line_Bps >= 1e6 && *line_Bps <= 1e13;
}

/* What is left after a sign of multiplication and blanks; NULL: there is none. */
static const char *times(const char *text)
{
    static const char *const signs[] = { "x", "X", "*", "\xc3\x97" };
    text += strspn(text, " ");
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return text + strlen(signs[i]) + strspn(text + strlen(signs[i]), " ");
    return NULL;
}

/* Bits that were meant and bytes that were written. */
static void warn_of_bytes(double line_Bps, struct cfg at)
{
    if (line_Bps > FASTEST_Bps)
        cfg_warn(at, DIAG_ASSUMED,
                 "a NIC of %.4g Gb/s is faster than any (b is bits, B is bytes)",
                 8 * line_Bps / 1e9);
}

/* "4 x 200Gb/s"; a rate alone is that of one. */
static int change_nics(struct instance *inst, const char *text, struct cfg at)
{
    double line_Bps = 0;
    char *end;
    long n = strtol(text, &end, 10);
    const char *rate = end > text ? times(end) : NULL;
    if (!rate) {
        rate = text;
        n = 1;
    }
    if (n < 1 || n > INSTANCE_HOST_NICS_MAX || !rate_of(rate, &line_Bps))
        return cfg_error(
            at, DIAG_WRONG_TYPE,
            "\"%.60s\" is no set of NICs (write 1 to %d of one rate: \"4 x 200Gb/s\")",
            text, INSTANCE_HOST_NICS_MAX);
    spread_nics(inst, n, line_Bps);
    warn_of_bytes(line_Bps, at);
    return 0;
}

/* "x0.5" of what the NICs have, or so much in all: 8 Mb/s and more. */
static int change_bandwidth(struct instance *inst, const char *text, struct cfg at)
{
    const char *why = NULL;
    char *end = NULL;
    const double line_Bps = instance_network_Bps(inst);
    double factor = 0, wanted_Bps;
    if (line_Bps <= 0)
        return cfg_error(at, DIAG_MISSING, "the machine has no NICs (give \"nics\")");
    if (*text == 'x')
        factor = strtod(text + 1, &end);
    else if (units_parse(text, UNIT_BYTES_PER_S, &wanted_Bps, &why) == 0)
        factor = wanted_Bps / line_Bps;
    if (!(factor * line_Bps >= 1e6 && factor * line_Bps <= 1e13) || (end && *end))
        return cfg_error(at, DIAG_WRONG_TYPE,
                         "\"%.60s\" is no bandwidth (write all NICs' together, "
                         "\"400Gb/s\", or a factor, \"x0.5\")",
                         text);
    for (int32_t i = 0; i < inst->n_nics; i++)
        inst->nics[i].line_Bps *= factor;
    if (inst->nics[0].rails == 1)
        warn_of_bytes(inst->nics[0].line_Bps, at);
    return 0;
}

static int change_network(struct instance *inst, const struct instance_changes *changes,
                          struct cfg object)
{
    if (changes->nics && change_nics(inst, changes->nics, cfg_get(object, "nics")))
        return -1;
    if (changes->network_bandwidth &&
        change_bandwidth(inst, changes->network_bandwidth,
                         cfg_get(object, "network_bandwidth")))
        return -1;
    if (changes->nics && inst->outside && !cfg_present(cfg_get(object, "fabric")))
        cfg_warn(cfg_get(object, "nics"), DIAG_ASSUMED,
                 "the network is taken to be that of %s, %s (\"fabric\" names another)",
                 inst->name, inst->outside->name);
    instance_place_nics(inst);
    return 0;
}

/* The machine ---------------------------------------------------------------------- */

/* List prices of instances that are bought so take the place of those on demand. */
static int take_offers(struct instance *inst, struct cfg_loader *loader,
                       const struct instance_changes *changes, struct cfg object)
{
    const char *word = names_of(instance_purchase_names, changes->purchase);
    const char *instance = NULL;
    struct cfg name = cfg_get(object, "instance");
    bool sagemaker = cfg_is_string(name) && cfg_string(name, &instance) == 0 &&
                     instance_is_sagemaker(instance);
    int32_t n = 0;
    for (int32_t i = 0; i < inst->n_offers; i++) {
        struct instance_price p = inst->offers[i];
        if ((int)p.purchase != changes->purchase ||
            (strcmp(p.service, "sagemaker") == 0) != sagemaker)
            continue;
        p.date = arena_printf(&loader->arena, "%s, %s", p.date, word);
        inst->prices[n++] = p;
    }
    inst->n_prices = n;
    return n > 0 ? 0
                 : cfg_error(cfg_get(object, "purchase"), DIAG_NO_PRICE,
                             "no %s price of %s%s is known (give yours in \"price\", "
                             "or leave it out for the price on demand)",
                             word, sagemaker ? "ml." : "", inst->name);
}

int instance_price_is_one(struct cfg object)
{
    int way;
    struct cfg at = cfg_is_object(object) ? cfg_get(object, "price") : object;
    if (!cfg_is_object(object) || !cfg_is_string(at) ||
        names_find(instance_purchase_names, json_string_value(at.json), &way) < 0)
        return 0;
    return cfg_error(at, DIAG_WRONG_TYPE,
                     "\"%s\" is a way to buy instances, not a price (write "
                     "/cluster/purchase=%s for its list price, or a price: "
                     "\"31.22USD/h\")",
                     json_string_value(at.json), json_string_value(at.json));
}

/* The user's own price is above all others. */
static int change_price(struct instance *inst, struct cfg_loader *loader,
                        const struct instance_changes *changes, bool another,
                        struct cfg object)
{
    static const char *const services[] = { "ec2", "sagemaker" };
    if (another || changes->has_price)
        inst->n_prices = inst->n_offers = 0;
    if (changes->purchase != INSTANCE_ON_DEMAND && changes->has_price)
        cfg_warn(cfg_get(object, "purchase"), DIAG_WITHOUT_EFFECT,
                 "\"price\" says what the instance costs, however it is bought");
    else if (changes->purchase != INSTANCE_ON_DEMAND)
        return take_offers(inst, loader, changes, object);
    for (int i = 0; i < 2 && changes->has_price; i++)
        inst->prices[inst->n_prices++] = (struct instance_price) {
            .service = services[i],
            .date = "/cluster/price",
            .region = "any",
            .usd_per_hour = changes->usd_per_hour,
            .source = "/cluster/price",
        };
    return 0;
}

const struct instance *instance_own(struct cfg_loader *loader,
                                    const struct instance *base,
                                    const struct instance_changes *changes, bool like,
                                    struct cfg object)
{
    const bool another = like || changes->gpu || changes->inside || changes->nics;
    if (!another && !changes->network_bandwidth && !changes->has_price &&
        changes->power_limit_w <= 0 && changes->purchase == INSTANCE_ON_DEMAND)
        return base;
    struct instance *inst = ARENA_NEW(&loader->arena, struct instance);
    *inst = *base;
    if (change_gpu(inst, loader, changes, object) ||
        change_network(inst, changes, object) ||
        change_price(inst, loader, changes, another, object))
        return NULL;
    if (changes->power_limit_w > 0 && limit_power(inst, loader, changes->power_limit_w,
                                                  cfg_get(object, "power_limit")))
        return NULL;
    if (another) {
        inst->name = arena_printf(&loader->arena, "like-%s", base->name);
        inst->summary =
            arena_printf(&loader->arena, "%s with %s", base->name, inst->gpu->name);
        inst->provenance_kind = PROVENANCE_INFERRED;
    }
    return inst;
}

const struct instance *instance_without_nvlink(struct cfg_loader *loader,
                                               const struct instance *base)
{
    struct instance *inst = ARENA_NEW(&loader->arena, struct instance);
    *inst = *base;
    inst->inside = pcie_of(loader, inst->gpu);
    memset(inst->nvlinks, 0, sizeof(inst->nvlinks));
    return inst->inside ? inst : NULL;
}
