#include "hardware/fabric.h"

#include <inttypes.h>

const char *const fabric_tier_keys[] = { "oversubscription", "rails", "tiers", NULL };

static const struct cfg_field tier_fields[] = {
    CFG_ROW("hosts", CFG_T_INT, struct fabric_tier, hosts, .min = 1, .max = 1 << 20,
            .required = true),
    CFG_REAL("oversubscription", struct fabric_tier, oversubscription, 1, 1000),
    CFG_END,
};

static int read_tier(struct fabric_tiers *t, struct cfg at)
{
    struct fabric_tier *tier = &t->of[t->n];
    *tier = (struct fabric_tier) { .oversubscription = 1 };
    if (cfg_read(at, tier_fields, tier))
        return -1;
    if (t->n > 0 &&
        (tier->hosts <= tier[-1].hosts || tier->hosts % tier[-1].hosts != 0))
        return cfg_error(cfg_get(at, "hosts"), DIAG_NOT_DIVISIBLE,
                         "switches of %" PRId64 " hosts do not make one of %" PRId64
                         " (tiers go up, each a multiple of the one below)",
                         t->of[t->n - 1].hosts, tier->hosts);
    t->n++;
    return 0;
}

static int read_array(struct fabric_tiers *t, struct cfg array)
{
    if (!cfg_is_array(array) || cfg_len(array) > FABRIC_TIERS_MAX)
        return cfg_error(array, DIAG_WRONG_TYPE,
                         "must be an array of at most %d tiers, from the leaves up "
                         "({\"hosts\": 32, \"oversubscription\": 2})",
                         FABRIC_TIERS_MAX);
    t->n = 0;
    for (int64_t i = 0; i < cfg_len(array); i++)
        if (read_tier(t, cfg_at(array, i)))
            return -1;
    return 0;
}

int fabric_read_tiers(struct fabric *f, struct cfg object)
{
    struct cfg over = cfg_get(object, "oversubscription"),
               rails = cfg_get(object, "rails"), tiers = cfg_get(object, "tiers");
    if (cfg_present(over) && cfg_real(over, &f->oversubscription, 1, 1000))
        return -1;
    if (cfg_present(tiers) && read_array(&f->tiers, tiers))
        return -1;
    if (cfg_present(rails) && cfg_bool(rails, &f->tiers.rails))
        return -1;
    if (f->tiers.rails && f->tiers.n == 0)
        return cfg_error(rails, DIAG_REQUIRES,
                         "rails are of leaf switches, and there are no \"tiers\" (give "
                         "the hosts of a leaf: [{\"hosts\": 32}])");
    return 0;
}
