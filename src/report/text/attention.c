#include "report/text/attention.h"

#include "report/text/fitted.h"

/* To the four digits that files have. */
static bool is_as_shipped(const struct attention *a, const struct attention *b)
{
    return a->half_blocks == b->half_blocks &&
           fitted_is_near(a->product_flops, b->product_flops) &&
           fitted_is_near(a->softmax_s, b->softmax_s) &&
           fitted_is_near(a->tail, b->tail) && fitted_is_near(a->start_s, b->start_s) &&
           fitted_is_near(a->moved_Bps, b->moved_Bps) &&
           fitted_is_near(a->keys_Bps, b->keys_Bps) &&
           fitted_is_near(a->block_s, b->block_s) &&
           fitted_is_near(a->token_s, b->token_s);
}

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
        halves, fitted_status(p->shipped, p->shipped && is_as_shipped(a, p->shipped)));
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
