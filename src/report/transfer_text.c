#include "report/transfer_text.h"

#include <inttypes.h>
#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fmax(fabs(a), fabs(b));
}

/* To the four digits that files have. */
static bool is_as_shipped(const struct transfer *a, const struct transfer *b)
{
    return is_near(a->start_s, b->start_s) && is_near(a->token_s, b->token_s) &&
           is_near(a->token_Bps, b->token_Bps) && is_near(a->copy_s, b->copy_s) &&
           is_near(a->copy_Bps, b->copy_Bps) && is_near(a->rate_Bps, b->rate_Bps);
}

static void print_one(FILE *out, const struct calibration_transfer *p)
{
    const struct transfer *t = &p->transfer;
    char name[128];
    snprintf(name, sizeof(name), "%s, %s, %s", p->device, t->software,
             names_of(transfer_kind_names, t->kind));
    if (p->why) {
        fprintf(out, "  %s: nothing was fitted: %s\n", name, p->why);
        return;
    }
    fprintf(out, "  %-60s %5" PRId64 " %5.1f/%4.1f %% %6" PRId64 " %5.1f/%4.1f %%\n",
            name, p->n_fit, 100 * p->fit_median, 100 * p->fit_mean, p->n_held,
            100 * p->held_median, 100 * p->held_mean);
    fprintf(
        out,
        "    start %.4g us, token %.4g us and %.4g GB/s, copy %.4g us and %.4g GB/s "
        "an SM,\n    %.4g GB/s in all; %s\n",
        t->start_s * 1e6, t->token_s * 1e6, t->token_Bps / 1e9, t->copy_s * 1e6,
        t->copy_Bps / 1e9, t->rate_Bps / 1e9,
        !p->shipped                    ? "not shipped"
        : is_as_shipped(t, p->shipped) ? "as shipped"
                                       : "not what is shipped");
}

void report_transfers(FILE *out, const struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->files.v[i]);
    fprintf(out, "\nmedian/mean error of dispatch and combine\n\n");
    fprintf(out, "  %-60s %5s %12s %7s %11s\n", "", "n", "fitted to", "n", "held out");
    for (int64_t i = 0; i < c->transfers.n; i++)
        print_one(out, &c->transfers.v[i]);
}
