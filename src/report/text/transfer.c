#include "report/text/transfer.h"

#include "report/text/fitted.h"

#include <stddef.h>

static const size_t terms[] = {
    offsetof(struct transfer, start_s),   offsetof(struct transfer, token_s),
    offsetof(struct transfer, token_Bps), offsetof(struct transfer, copy_s),
    offsetof(struct transfer, copy_Bps),  offsetof(struct transfer, rate_Bps)
};
enum { N_TERMS = sizeof(terms) / sizeof(terms[0]) };

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
        fitted_status(p->shipped,
                      p->shipped && fitted_same(t, p->shipped, terms, N_TERMS)));
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
