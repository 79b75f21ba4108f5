#include "risk/risk.h"

/* By `smsim validate`, which prints what the tables of validate/data say: 20 sources for
 * resources, of which 6 have alternatives for one job (own, slow), and 4 memory. */
const struct risk_widths risk_widths = {
    .resource = { [RESOURCE_PRODUCTS] = 0.030,
                  [RESOURCE_ATTENTION] = 0.044,
                  [RESOURCE_MEMORY] = 0.129,
                  [RESOURCE_HOST] = 0.066,
                  [RESOURCE_LINKS] = 0.242,
                  [RESOURCE_NETWORK] = 0.051 },
    .own = 0.028,
    .own_spread = 0.950,
    .slow_share = 0.071,
    .slow = 0.425,
    .memory_mean = 0.015,
    .memory_shared = 0.029,
    .memory_own = 0.086,
};
