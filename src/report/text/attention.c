#include "report/text/attention.h"

#include "report/text/fitted.h"

#include <stddef.h>

static const size_t terms[] = {
    offsetof(struct attention, product_flops), offsetof(struct attention, softmax_s),
    offsetof(struct attention, tail),          offsetof(struct attention, start_s),
    offsetof(struct attention, moved_Bps),     offsetof(struct attention, keys_Bps),
    offsetof(struct attention, block_s),       offsetof(struct attention, token_s)
};
enum { N_TERMS = sizeof(terms) / sizeof(terms[0]) };

static void print_one(FILE *out, const struct calibration_attention *p)
{
    const struct attention *a = &p->attention;
    char name[128];
    snprintf(name, sizeof(name), "%s, %s", p->set.device, a->software);
    if (!fitted_row(out, 60, name, p->set.why, &p->set.errors))
        return;
    char halves[48] = "whole blocks";
    if (a->half_blocks)
        snprintf(halves, sizeof(halves), "half blocks from %d columns",
                 (int)a->half_blocks);
    fputc('\n', out);
    fprintf(
        out,
        "    products %.4g TFLOP/s, softmax %.4g ps, tail %.4g, start %.4g us, moved "
        "%.4g GB/s,\n    keys %.4g GB/s, block %.4g us, token %.4g ns, %s; "
        "%s\n",
        a->product_flops / 1e12, a->softmax_s * 1e12, a->tail, a->start_s * 1e6,
        a->moved_Bps / 1e9, a->keys_Bps / 1e9, a->block_s * 1e6, a->token_s * 1e9,
        halves,
        fitted_status(p->shipped, p->shipped &&
                                      a->half_blocks == p->shipped->half_blocks &&
                                      fitted_same(a, p->shipped, terms, N_TERMS)));
}

void report_attentions(FILE *out, const struct calibration *c, const struct samples *s)
{
    fitted_files(out, s);
    fprintf(out, "median/mean error of attention over sequences from 1024 tokens on; "
                 "fallbacks are left out\n\n");
    fitted_head(out, 60);
    fputc('\n', out);
    for (int64_t i = 0; i < c->attentions.n; i++)
        print_one(out, &c->attentions.v[i]);
}
