#include "report/text/experts.h"

#include "report/text/fitted.h"

#include <stddef.h>

static const size_t terms[] = { offsetof(struct experts_kernel, eta),
                                offsetof(struct experts_kernel, port_Bps),
                                offsetof(struct experts_kernel, hbm_frac),
                                offsetof(struct experts_kernel, epilogue),
                                offsetof(struct experts_kernel, partial_waves),
                                offsetof(struct experts_kernel, start_s),
                                offsetof(struct experts_kernel, local_passes),
                                offsetof(struct experts_kernel, all_passes),
                                offsetof(struct experts_kernel, slot_s),
                                offsetof(struct experts_kernel, expert_s),
                                offsetof(struct experts_kernel, foreign) };
enum { N_TERMS = sizeof(terms) / sizeof(terms[0]) };

static void print_one(FILE *out, const struct calibration_experts *p)
{
    const struct experts_kernel *k = &p->kernel;
    char name[128], equal[32];
    snprintf(name, sizeof(name), "%s, %s, %s", p->set.device, k->software,
             k->format->name);
    if (!fitted_row(out, 66, name, p->set.why, &p->set.errors))
        return;
    fprintf(out, " %13s\n", fitted_floor(equal, &p->set.errors));
    fprintf(out,
            "    eta %.4g, port %.4g GB/s, hbm_frac %.4g, epilogue %.4g, partial_waves "
            "%.4g, start %.4g us,\n    passes %.4g and %.4g, slot %.4g ns, expert %.4g "
            "ns, foreign %.4g; %s\n",
            k->eta, k->port_Bps / 1e9, k->hbm_frac, k->epilogue, k->partial_waves,
            k->start_s * 1e6, k->local_passes, k->all_passes, k->slot_s * 1e9,
            k->expert_s * 1e9, k->foreign,
            fitted_status(p->shipped,
                          p->shipped && fitted_same(k, p->shipped, terms, N_TERMS)));
}

void report_experts(FILE *out, const struct calibration *c, const struct samples *s)
{
    fitted_files(out, s);
    fprintf(out, "median/mean error of experts from 1024 tokens on. Equal rows: what "
                 "other software\ndiffers by\n\n");
    fitted_head(out, 66);
    fprintf(out, " %13s\n", "equal rows");
    for (int64_t i = 0; i < c->experts.n; i++)
        print_one(out, &c->experts.v[i]);
}
