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

/* C(n, k) / C(m, k), n <= m. */
static double chosen_from(double n, double m, int64_t k)
{
    double p = 1;
    for (int64_t i = 0; i < k && p > 0; i++)
        p *= fmax(0, n - (double)i) / (m - (double)i);
    return p;
}

double transfer_distinct_limited(int64_t parts, int64_t experts, int64_t k,
                                 int64_t groups, int64_t chosen)
{
    if (groups <= 1 || chosen >= groups || chosen < 1 || parts <= 1)
        return transfer_distinct(parts, experts, k);
    double group = (double)experts / (double)groups, open = group * (double)chosen;
    if (parts >= groups) { /* each group is in parts / groups of them */
        double within = (double)parts / (double)groups * (double)chosen;
        return within * (1 - chosen_from(open - open / within, open, k));
    }
    int64_t held =
        groups / parts;          /* groups of a part: j of them are among the chosen */
    double missed = 0, ways = 1; /* the share of draws with j, hypergeometric */
    for (int64_t j = 0; j < chosen; j++)
        ways *= fmax(0, (double)(groups - held - j)) / (double)(groups - j);
    if (ways <= 0) /* too few others: rather all ranks than a wrong sum */
        return transfer_distinct(parts, experts, k);
    for (int64_t j = 0; j <= held && j <= chosen; j++) {
        missed += ways * chosen_from(open - (double)j * group, open, k);
        ways *= (double)((held - j) * (chosen - j)) /
                ((double)(j + 1) * (double)(groups - held - chosen + j + 1));
    }
    return (double)parts * (1 - missed);
}

double transfer_token_B(int64_t hidden, bool fp8)
{
    enum { SCALED = 128, SCALE_B = 4 };
    return fp8 ? (double)hidden * (1 + (double)SCALE_B / SCALED) : 2 * (double)hidden;
}

double transfer_sms_s(const struct transfer *t, double tokens, double token_B,
                      double copies, int64_t sms)
{
    return tokens / (double)sms *
           (t->token_s + token_B / t->token_Bps +
            copies * (t->copy_s + token_B / t->copy_Bps));
}

/* num_max_rdma_chunked_send_tokens of get_dispatch_config and get_combine_config
 * (DeepEP @567632d, deep_ep/buffer.py), up to so many ranks. */
static const struct {
    int64_t ranks;
    double tokens[TRANSFER_KINDS];
} chunks[] = {
    { 16, { [TRANSFER_DISPATCH] = 20, [TRANSFER_COMBINE] = 12 } },
    { 64, { [TRANSFER_DISPATCH] = 8, [TRANSFER_COMBINE] = 8 } },
    { INT64_MAX, { [TRANSFER_DISPATCH] = 12, [TRANSFER_COMBINE] = 8 } },
};

double transfer_puts(enum transfer_kind kind, int64_t ranks, int64_t nodes,
                     double tokens, int64_t sms)
{
    size_t row = 0;
    while (chunks[row].ranks < ranks)
        row++;
    double channels = (double)(sms > 1 ? sms / 2 : 1);
    return (double)(nodes - 1) * channels *
           ceil(tokens / channels / chunks[row].tokens[kind]);
}

double transfer_s(const struct transfer *t, const struct transfer_shape *shape)
{
    double copies = transfer_distinct(shape->ranks, shape->experts, shape->topk);
    double token_B = transfer_token_B(shape->hidden, t->kind == TRANSFER_DISPATCH);
    double tokens = (double)shape->tokens;
    double sms_s = transfer_sms_s(t, tokens, token_B, copies, shape->sms);
    return t->start_s + hypot(sms_s, tokens * copies * token_B / t->rate_Bps);
}
