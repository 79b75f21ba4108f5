#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 4 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.031,
                  [RESOURCE_ATTENTION] = 0.042,
                  [RESOURCE_MEMORY] = 0.176,
                  [RESOURCE_HOST] = 0.143,
                  [RESOURCE_LINKS] = 0.260,
                  [RESOURCE_NETWORK] = 0.043 },
    .own = 0.032,
    .own_spread = 1.508,
    .slow_share = 0.062,
    .slow = 0.552,
    .memory_mean = 0.026,
    .memory_shared = 0.023,
    .memory_own = 0.091,
};
