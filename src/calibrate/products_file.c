/* What was found of a device's products as a file of topologies/products. */
#include "calibrate/calibration.h"
#include "calibrate/set_file.h"

#include <math.h>
#include <string.h>

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
    set_file_put_real(row, "eta", g->eta);
    put_quantity(row, "port", UNIT_BYTES_PER_S, g->port_Bps);
    if (g->port_gain > 1)
        set_file_put_real(row, "port_gain", g->port_gain);
    set_file_put_real(row, "hbm_frac", g->hbm_frac);
    put_quantity(row, "launch", UNIT_SECONDS, g->launch_s);
    set_file_put_real(row, "epilogue", g->epilogue);
    set_file_put_real(row, "partial_waves", g->partial_waves);
    put_quantity(row, "split", UNIT_SECONDS, g->split_s);
    put_quantity(row, "latency", UNIT_SECONDS, g->latency_s);
    set_file_put_real(row, "loop_loss", p->loop_loss);
    put_quantity(row, "loop_half", UNIT_SECONDS, p->loop_half_s);
    if (p->quantize_frac > 0) {
        set_file_put_real(row, "quantize_frac", p->quantize_frac);
        put_quantity(row, "quantize_row", UNIT_SECONDS, p->quantize_row_s);
        if (p->quantize_step > 1)
            json_object_set_new(row, "quantize_step", json_integer(p->quantize_step));
    }
    if (p->host_s > 0)
        put_quantity(row, "host", UNIT_SECONDS, p->host_s);
    return row;
}

static void add_errors(struct set_file *f, const struct calibration *c,
                       const struct calibration_product *p)
{
    const char *name =
        arena_printf(c->arena, "%s %s", p->product.software, p->product.format->name);
    if (p->host_alone)
        strbuf_printf(&f->provenance,
                      "; %s: the host's time alone, other terms guessed", name);
    else
        set_file_errors(f, name, &p->set.errors);
}

json_t *calibration_products_file(const struct calibration *c, const struct samples *s)
{
    struct set_file f;
    set_file_begin(&f, s, c->products.v[0].set.device,
                   " of products with m of at least 1024, n and k of at least 512");
    for (int64_t i = 0; i < c->products.n; i++) {
        const struct calibration_product *p = &c->products.v[i];
        if (p->set.why)
            continue;
        set_file_add(&f, row_json(&p->product));
        add_errors(&f, c, p);
    }
    return set_file_end(&f, "products");
}
