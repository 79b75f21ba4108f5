#include "report/text/transfer.h"

#include "report/text/fitted.h"

/* To the four digits that files have. */
static bool is_as_shipped(const struct transfer *a, const struct transfer *b)
{
    return fitted_is_near(a->start_s, b->start_s) &&
           fitted_is_near(a->token_s, b->token_s) &&
           fitted_is_near(a->token_Bps, b->token_Bps) &&
           fitted_is_near(a->copy_s, b->copy_s) &&
           fitted_is_near(a->copy_Bps, b->copy_Bps) &&
           fitted_is_near(a->rate_Bps, b->rate_Bps);
}

static void print_one(FILE *out, const struct calibration_transfer *p)
{
    const struct transfer *t = &p->transfer;
    char name[128];
    snprintf(name, sizeof(name), "%s, %s, %s", p->set.device, t->software,
             names_of(transfer_kind_names, t->kind));
    if (!fitted_row(out, 60, name, p->set.why, &p->set.errors))
        return;
    fputc('\n', out);
    fprintf(
        out,
        "    start %.4g us, token %.4g us and %.4g GB/s, copy %.4g us and %.4g GB/s "
        "an SM,\n    %.4g GB/s in all; %s\n",
        t->start_s * 1e6, t->token_s * 1e6, t->token_Bps / 1e9, t->copy_s * 1e6,
        t->copy_Bps / 1e9, t->rate_Bps / 1e9,
        fitted_status(p->shipped, p->shipped && is_as_shipped(t, p->shipped)));
}

void report_transfers(FILE *out, const struct calibration *c, const struct samples *s)
{
    fitted_files(out, s);
    fprintf(out, "median/mean error of dispatch and combine\n\n");
    fitted_head(out, 60);
    fputc('\n', out);
    for (int64_t i = 0; i < c->transfers.n; i++)
        print_one(out, &c->transfers.v[i]);
}
