#include "report/experts_text.h"

#include <inttypes.h>
#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fmax(fabs(a), fabs(b));
}

/* To the four digits that files have. */
static bool is_as_shipped(const struct experts_kernel *a,
                          const struct experts_kernel *b)
{
    return is_near(a->eta, b->eta) && is_near(a->port_Bps, b->port_Bps) &&
           is_near(a->hbm_frac, b->hbm_frac) && is_near(a->epilogue, b->epilogue) &&
           is_near(a->partial_waves, b->partial_waves) &&
           is_near(a->start_s, b->start_s) &&
           is_near(a->local_passes, b->local_passes) &&
           is_near(a->all_passes, b->all_passes) && is_near(a->slot_s, b->slot_s) &&
           is_near(a->expert_s, b->expert_s) && is_near(a->foreign, b->foreign);
}

static void print_one(FILE *out, const struct calibration_experts *p)
{
    const struct experts_kernel *k = &p->kernel;
    char name[128], equal[32] = "-";
    snprintf(name, sizeof(name), "%s, %s, %s", p->device, k->software, k->format->name);
    if (p->why) {
        fprintf(out, "  %s: nothing was fitted: %s\n", name, p->why);
        return;
    }
    if (p->n_floor)
        snprintf(equal, sizeof(equal), "%.1f/%.1f %%", 100 * p->floor_median,
                 100 * p->floor_mean);
    fprintf(out,
            "  %-66s %5" PRId64 " %5.1f/%4.1f %% %6" PRId64 " %5.1f/%4.1f %% %13s\n",
            name, p->n_fit, 100 * p->fit_median, 100 * p->fit_mean, p->n_held,
            100 * p->held_median, 100 * p->held_mean, equal);
    fprintf(out,
            "    eta %.4g, port %.4g GB/s, hbm_frac %.4g, epilogue %.4g, partial_waves "
            "%.4g, start %.4g us,\n    passes %.4g and %.4g, slot %.4g ns, expert %.4g "
            "ns, foreign %.4g; %s\n",
            k->eta, k->port_Bps / 1e9, k->hbm_frac, k->epilogue, k->partial_waves,
            k->start_s * 1e6, k->local_passes, k->all_passes, k->slot_s * 1e9,
            k->expert_s * 1e9, k->foreign,
            !p->shipped                    ? "not shipped"
            : is_as_shipped(k, p->shipped) ? "as shipped"
                                           : "not what is shipped");
}

void report_experts(FILE *out, const struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->files.n; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->files.v[i]);
    fprintf(out, "\nmedian/mean error of experts from 1024 tokens on. Equal rows: what "
                 "other software\ndiffers by\n\n");
    fprintf(out, "  %-66s %5s %12s %7s %11s %13s\n", "", "n", "fitted to", "n",
            "held out", "equal rows");
    for (int64_t i = 0; i < c->experts.n; i++)
        print_one(out, &c->experts.v[i]);
}
