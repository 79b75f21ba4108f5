#include "report/attention_text.h"

#include <inttypes.h>
#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fmax(fabs(a), fabs(b));
}

/* To the four digits that files have. */
static bool is_as_shipped(const struct attention *a, const struct attention *b)
{
    return is_near(a->product_flops, b->product_flops) &&
           is_near(a->softmax_s, b->softmax_s) && is_near(a->tail, b->tail) &&
           is_near(a->start_s, b->start_s) && is_near(a->moved_Bps, b->moved_Bps) &&
           is_near(a->block_s, b->block_s) && is_near(a->token_s, b->token_s);
}

static void print_one(FILE *out, const struct calibration_attention *p)
{
    const struct attention *a = &p->attention;
    char name[128];
    snprintf(name, sizeof(name), "%s, %s", p->device, a->software);
    if (p->why) {
        fprintf(out, "  %s: nothing was fitted: %s\n", name, p->why);
        return;
    }
    fprintf(out, "  %-60s %5" PRId64 " %5.1f/%4.1f %% %6" PRId64 " %5.1f/%4.1f %%\n",
            name, p->n_fit, 100 * p->fit_median, 100 * p->fit_mean, p->n_held,
            100 * p->held_median, 100 * p->held_mean);
    fprintf(
        out,
        "    products %.4g TFLOP/s, softmax %.4g ps, tail %.4g, start %.4g us, moved "
        "%.4g GB/s,\n    block %.4g us, token %.4g ns; %s\n",
        a->product_flops / 1e12, a->softmax_s * 1e12, a->tail, a->start_s * 1e6,
        a->moved_Bps / 1e9, a->block_s * 1e6, a->token_s * 1e9,
        !p->shipped                    ? "not shipped"
        : is_as_shipped(a, p->shipped) ? "as shipped"
                                       : "not what is shipped");
}

void report_attentions(FILE *out, const struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->files.v[i]);
    fprintf(out, "\nmedian/mean error of attention over sequences from 1024 tokens on; "
                 "fallbacks are left out\n\n");
    fprintf(out, "  %-60s %5s %12s %7s %11s\n", "", "n", "fitted to", "n", "held out");
    for (int64_t i = 0; i < c->attentions.n; i++)
        print_one(out, &c->attentions.v[i]);
}
