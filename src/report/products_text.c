#include "report/products_text.h"

#include "report/fitted_text.h"

#include <math.h>

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-4 * fmax(fabs(a), fabs(b));
}

/* To the four digits that files have. */
static bool is_as_shipped(const struct product *a, const struct product *b)
{
    const struct gpu_gemm *g = &a->gemm, *h = &b->gemm;
    return a->tiles == b->tiles && is_near(g->eta, h->eta) &&
           is_near(g->port_Bps, h->port_Bps) && is_near(g->hbm_frac, h->hbm_frac) &&
           is_near(g->launch_s, h->launch_s) && is_near(g->epilogue, h->epilogue) &&
           is_near(g->partial_waves, h->partial_waves) &&
           is_near(a->loop_loss, b->loop_loss) &&
           is_near(a->loop_half_s, b->loop_half_s) &&
           is_near(a->quantize_frac, b->quantize_frac) &&
           is_near(a->quantize_row_s, b->quantize_row_s) &&
           is_near(a->host_s, b->host_s);
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
    if (p->host_s > 0)
        fprintf(out, ", host %.4g us", p->host_s * 1e6);
    if (c->host_alone)
        fprintf(out, " (the host limits all rows: other terms are guesses)");
    fprintf(out, "; %s\n",
            fitted_status(c->shipped, c->shipped && is_as_shipped(p, c->shipped)));
}

static void print_product(FILE *out, const struct calibration_product *p)
{
    char name[128], equal[32], rule[32] = "-";
    snprintf(name, sizeof(name), "%s, %s, %s", p->device, p->product.software,
             p->product.format->name);
    if (p->rule_gpu)
        snprintf(rule, sizeof(rule), "%.1f/%.1f %%", 100 * p->rule_median,
                 100 * p->rule_mean);
    if (!fitted_row(out, 60, name, p->why, &p->errors))
        return;
    fprintf(out, " %13s %13s\n", fitted_floor(equal, &p->errors), rule);
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
        "(MODEL.md, 3.19)\n\n");
    fitted_head(out, 60);
    fprintf(out, " %13s %13s\n", "equal rows", "left out");
    for (int64_t i = 0; i < c->products.n; i++)
        print_product(out, &c->products.v[i]);
}
