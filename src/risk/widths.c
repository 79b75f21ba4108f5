#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 6 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.032,
                  [RESOURCE_ATTENTION] = 0.078,
                  [RESOURCE_MEMORY] = 0.110,
                  [RESOURCE_HOST] = 0.020,
                  [RESOURCE_LINKS] = 0.260,
                  [RESOURCE_NETWORK] = 0.050 },
    .own = 0.027,
    .own_spread = 0.929,
    .slow_share = 0.073,
    .slow = 0.416,
    .memory_mean = 0.005,
    .memory_shared = 0.006,
    .memory_own = 0.037,
};
