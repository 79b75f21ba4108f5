#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 4 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.028,
                  [RESOURCE_ATTENTION] = 0.054,
                  [RESOURCE_MEMORY] = 0.137,
                  [RESOURCE_HOST] = 0.061,
                  [RESOURCE_LINKS] = 0.282,
                  [RESOURCE_NETWORK] = 0.064 },
    .own = 0.037,
    .own_spread = 1.568,
    .slow_share = 0.054,
    .slow = 0.637,
    .memory_mean = 0.026,
    .memory_shared = 0.023,
    .memory_own = 0.091,
};
