#include "report/text/experts.h"

#include "report/text/fitted.h"

/* To the four digits that files have. */
static bool is_as_shipped(const struct experts_kernel *a,
                          const struct experts_kernel *b)
{
    return fitted_is_near(a->eta, b->eta) && fitted_is_near(a->port_Bps, b->port_Bps) &&
           fitted_is_near(a->hbm_frac, b->hbm_frac) &&
           fitted_is_near(a->epilogue, b->epilogue) &&
           fitted_is_near(a->partial_waves, b->partial_waves) &&
           fitted_is_near(a->start_s, b->start_s) &&
           fitted_is_near(a->local_passes, b->local_passes) &&
           fitted_is_near(a->all_passes, b->all_passes) &&
           fitted_is_near(a->slot_s, b->slot_s) &&
           fitted_is_near(a->expert_s, b->expert_s) &&
           fitted_is_near(a->foreign, b->foreign);
}

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
            fitted_status(p->shipped, p->shipped && is_as_shipped(k, p->shipped)));
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
