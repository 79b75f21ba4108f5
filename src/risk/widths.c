#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 4 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.032,
                  [RESOURCE_ATTENTION] = 0.102,
                  [RESOURCE_MEMORY] = 0.193,
                  [RESOURCE_HOST] = 0.172,
                  [RESOURCE_LINKS] = 0.253,
                  [RESOURCE_NETWORK] = 0.046 },
    .own = 0.030,
    .own_spread = 1.587,
    .slow_share = 0.062,
    .slow = 0.553,
    .memory_mean = 0.026,
    .memory_shared = 0.023,
    .memory_own = 0.091,
};
