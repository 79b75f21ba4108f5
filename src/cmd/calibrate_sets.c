#include "cmd/calibrate_sets.h"

#include "report/text/attention.h"
#include "report/text/experts.h"
#include "report/text/products.h"
#include "report/text/transfer.h"

#define SET(list)                                                           \
    static int64_t count_##list(const struct samples *s)                    \
    {                                                                       \
        return s->list.n;                                                   \
    }                                                                       \
    static const char *device_of_##list(const struct samples *s, int64_t i) \
    {                                                                       \
        return s->list.v[i].device;                                         \
    }
SET(products)
SET(attentions)
SET(transfers)
SET(experts)
#undef SET

static const struct calibrate_set sets[] = {
    { "products", count_products, device_of_products, calibrate_products,
      calibration_products_file, report_products },
    { "attention", count_attentions, device_of_attentions, calibrate_attentions,
      calibration_attentions_file, report_attentions },
    { "dispatch and combine", count_transfers, device_of_transfers, calibrate_transfers,
      calibration_transfers_file, report_transfers },
    { "experts", count_experts, device_of_experts, calibrate_experts,
      calibration_experts_file, report_experts },
};

const struct calibrate_set *calibrate_set_other(const struct samples *s,
                                                const struct calibrate_set *set)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (&sets[i] != set && sets[i].count(s) > 0)
            return &sets[i];
    return NULL;
}

const struct calibrate_set *calibrate_set_of(const struct samples *s)
{
    return calibrate_set_other(s, NULL);
}
