/* What was found of a device's products as a file of topologies/products. */
#include "base/strbuf.h"
#include "calibrate/calibration.h"

#include <math.h>
#include <string.h>

static void put_real(json_t *row, const char *key, double v)
{
    json_object_set_new(row, key, json_real(v));
}

static void put_quantity(json_t *row, const char *key, enum unit_kind unit, double v)
{
    char text[UNITS_TEXT_MAX], *to = text;
    units_text(text, unit, v);
    for (const char *from = text; *from; from++)
        if (*from != ' ')
            *to++ = *from;
    *to = '\0';
    json_object_set_new(row, key, json_string(text));
}

static json_t *row_json(const struct product *p)
{
    json_t *row = json_object();
    const struct gpu_gemm *g = &p->gemm;
    json_object_set_new(row, "software", json_string(p->software));
    json_object_set_new(row, "format", json_string(p->format->name));
    json_object_set_new(row, "tiles",
                        json_string(names_of(gemm_tiles_names, (int)p->tiles)));
    put_real(row, "eta", g->eta);
    put_quantity(row, "port", UNIT_BYTES_PER_S, g->port_Bps);
    put_real(row, "hbm_frac", g->hbm_frac);
    put_quantity(row, "launch", UNIT_SECONDS, g->launch_s);
    put_real(row, "epilogue", g->epilogue);
    put_real(row, "partial_waves", g->partial_waves);
    put_quantity(row, "split", UNIT_SECONDS, g->split_s);
    put_quantity(row, "latency", UNIT_SECONDS, g->latency_s);
    put_real(row, "loop_loss", p->loop_loss);
    put_quantity(row, "loop_half", UNIT_SECONDS, p->loop_half_s);
    if (p->quantize_frac > 0) {
        put_real(row, "quantize_frac", p->quantize_frac);
        put_quantity(row, "quantize_row", UNIT_SECONDS, p->quantize_row_s);
    }
    if (p->host_s > 0)
        put_quantity(row, "host", UNIT_SECONDS, p->host_s);
    return row;
}

static void add_errors(struct strbuf *b, const struct calibration_product *p)
{
    const char *software = p->product.software, *format = p->product.format->name;
    if (p->host_alone) {
        strbuf_printf(b, "; %s %s: the host's time alone, other terms guessed",
                      software, format);
        return;
    }
    strbuf_printf(b,
                  "; %s %s: %.1f/%.1f %% of the half fitted to, %.1f/%.1f %% of the "
                  "other",
                  software, format, 100 * p->fit_median, 100 * p->fit_mean,
                  100 * p->held_median, 100 * p->held_mean);
}

json_t *calibration_products_file(const struct calibration *c, const struct samples *s)
{
    json_t *file = json_object(), *rows = json_array();
    struct strbuf b;
    strbuf_init(&b);
    const char *name = strrchr(s->file, '/');
    strbuf_printf(&b,
                  "smsim calibrate from %s (%s), median/mean errors of products with "
                  "m of at least 1024, n and k of at least 512",
                  name ? name + 1 : s->file, c->products.v[0].device);
    for (int64_t i = 0; i < c->products.n; i++) {
        const struct calibration_product *p = &c->products.v[i];
        if (p->why)
            continue;
        json_array_append_new(rows, row_json(&p->product));
        add_errors(&b, p);
    }
    json_object_set_new(file, "provenance", json_string(strbuf_get(&b)));
    json_object_set_new(file, "products", rows);
    strbuf_release(&b);
    return file;
}
