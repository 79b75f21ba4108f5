#include "cost/transfer.h"

#include <math.h>

/* 1 - C(E - E/parts, k) / C(E, k) of each part. */
double transfer_distinct(int64_t parts, int64_t experts, int64_t k)
{
    double missed = 1, e = (double)experts, part = e / (double)parts;
    for (int64_t i = 0; i < k && missed > 0; i++)
        missed *= fmax(0, e - part - (double)i) / (e - (double)i);
    return (double)parts * (1 - missed);
}

double transfer_token_B(int64_t hidden, bool fp8)
{
    enum { SCALED = 128, SCALE_B = 4 };
    return fp8 ? (double)hidden * (1 + (double)SCALE_B / SCALED) : 2 * (double)hidden;
}

double transfer_s(const struct transfer *t, const struct transfer_shape *shape)
{
    double copies = transfer_distinct(shape->ranks, shape->experts, shape->topk);
    double token_B = transfer_token_B(shape->hidden, t->kind == TRANSFER_DISPATCH);
    double tokens = (double)shape->tokens;
    double sms_s = tokens / (double)shape->sms *
                   (t->token_s + token_B / t->token_Bps +
                    copies * (t->copy_s + token_B / t->copy_Bps));
    return t->start_s + hypot(sms_s, tokens * copies * token_B / t->rate_Bps);
}
