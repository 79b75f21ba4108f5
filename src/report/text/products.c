#include "report/text/products.h"

#include "report/text/fitted.h"

#include <math.h>

/* Constants that trade off against each other differ between fits of the same rows:
 * what is shipped is what was found where both leave the same errors. */
static const double same_error = 0.003;

static bool is_as_shipped(const struct calibration_product *c)
{
    return fabs(c->shipped_median - c->set.errors.fit_median) <= same_error &&
           fabs(c->shipped_mean - c->set.errors.fit_mean) <= same_error;
}

static void print_constants(FILE *out, const struct calibration_product *c)
{
    const struct product *p = &c->product;
    const struct gpu_gemm *g = &p->gemm;
    fprintf(
        out,
        "    eta %.4g, port %.4g GB/s, hbm_frac %.4g, launch %.4g us, epilogue %.4g,"
        "\n    partial_waves %.4g, loop %.4g at %.4g ms",
        g->eta, g->port_Bps / 1e9, g->hbm_frac, g->launch_s * 1e6, g->epilogue,
        g->partial_waves, p->loop_loss, p->loop_half_s * 1e3);
    if (p->quantize_frac > 0)
        fprintf(out, ", quantize %.4g, row %.4g ns", p->quantize_frac,
                p->quantize_row_s * 1e9);
    if (p->quantize_step > 1)
        fprintf(out, ", %d at once", (int)p->quantize_step);
    if (p->host_s > 0)
        fprintf(out, ", host %.4g us", p->host_s * 1e6);
    if (c->host_alone)
        fprintf(out, " (the host limits all rows: other terms are guesses)");
    fprintf(out, "; %s\n", fitted_status(c->shipped, c->shipped && is_as_shipped(c)));
    if (c->shipped)
        fprintf(out, "    by the shipped constants %.1f/%.1f %%\n",
                100 * c->shipped_median, 100 * c->shipped_mean);
}

static void print_product(FILE *out, const struct calibration_product *p)
{
    char name[128], equal[32], rule[32] = "-";
    snprintf(name, sizeof(name), "%s, %s, %s", p->set.device, p->product.software,
             p->product.format->name);
    if (p->rule_gpu)
        snprintf(rule, sizeof(rule), "%.1f/%.1f %%", 100 * p->rule_median,
                 100 * p->rule_mean);
    if (!fitted_row(out, 60, name, p->set.why, &p->set.errors))
        return;
    fprintf(out, " %13s %13s\n", fitted_floor(equal, &p->set.errors), rule);
    print_constants(out, p);
    if (p->rule_gpu)
        fprintf(out, "    by rule from %s\n", p->rule_gpu);
}

void report_products(FILE *out, const struct calibration *c, const struct samples *s)
{
    fitted_files(out, s);
    fprintf(
        out,
        "median/mean error of products with m >= 1024, n and k >= 512; those "
        "that the host\nlimits from three times its time on. Equal rows: what other "
        "software differs by.\nLeft out: this GPU by rule from another "
        "(MODEL.md, 3.19). As shipped: the shipped constants\nhave the same errors of "
        "the rows fitted to, within 0.3 points\n\n");
    fitted_head(out, 60);
    fprintf(out, " %13s %13s\n", "equal rows", "left out");
    for (int64_t i = 0; i < c->products.n; i++)
        print_product(out, &c->products.v[i]);
}
