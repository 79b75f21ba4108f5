#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 4 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.030,
                  [RESOURCE_ATTENTION] = 0.046,
                  [RESOURCE_MEMORY] = 0.112,
                  [RESOURCE_HOST] = 0.045,
                  [RESOURCE_LINKS] = 0.279,
                  [RESOURCE_NETWORK] = 0.063 },
    .own = 0.037,
    .own_spread = 1.558,
    .slow_share = 0.051,
    .slow = 0.643,
    .memory_mean = 0.022,
    .memory_shared = 0.022,
    .memory_own = 0.083,
};
