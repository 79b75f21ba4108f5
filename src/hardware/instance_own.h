/* A machine of one's own: a known instance with changes, as a scenario's "cluster" gives
 * them: {"like": "p5.48xlarge", "gpu": "H200-SXM-141GB", "nics": "4 x 200Gb/s"}. */
#ifndef HARDWARE_INSTANCE_OWN_H
#define HARDWARE_INSTANCE_OWN_H

#include "hardware/instance.h"

/* What is changed; NULL and 0 keep what the known instance has. */
struct instance_changes {
    const char *gpu;
    const char *inside;            /* the fabric between the GPUs of a node */
    const char *nics;              /* "4 x 200Gb/s", near the GPUs in turn */
    const char *network_bandwidth; /* of all NICs: "400Gb/s", or "x0.5" of theirs */
    double power_limit_w;          /* of each GPU, as nvidia-smi -pl sets it; 0: none */
    double usd_per_hour;
    bool has_price;
    int purchase; /* enum instance_purchase: whose list prices are meant */
};

/* The keys of a "cluster" object that fill member m of struct T. */
#define INSTANCE_CHANGES(T, m)                                                         \
    CFG_STRING("gpu", T, m gpu), CFG_STRING("inside", T, m inside),                    \
        CFG_STRING("nics", T, m nics),                                                 \
        CFG_STRING("network_bandwidth", T, m network_bandwidth),                       \
        CFG_QUANTITY("power_limit", T, m power_limit_w, UNIT_WATTS, 1, 1e5),           \
        CFG_ROW("price", CFG_T_QUANTITY, T, m usd_per_hour, .unit = UNIT_USD_PER_HOUR, \
                .min = 0, .max = 1e6, .has = offsetof(T, m has_price)),                \
        CFG_ENUM("purchase", T, m purchase, instance_purchase_names)

/* Refuses a "price" that says how the instance is bought; -1 after reporting. */
int instance_price_is_one(struct cfg object);

/* The names of these keys; NULL ends them. */
extern const char *const instance_change_keys[];

/* The known instance with the changes that the cluster's `object` has; `base` itself
 * when there are none and it is not said to be `like` it. A machine that is like another,
 * or has other GPUs, has no list price. NULL after reporting. */
const struct instance *instance_own(struct cfg_loader *loader,
                                    const struct instance *base,
                                    const struct instance_changes *changes, bool like,
                                    struct cfg object);

/* The instance without its NVLinks: GPUs of a node exchange data through PCIe and host
 * memory. NULL after reporting. */
const struct instance *instance_without_nvlink(struct cfg_loader *loader,
                                               const struct instance *base);

#endif
