/* What was found of a device's experts as a file of topologies/experts. */
#include "base/strbuf.h"
#include "calibrate/calibration.h"

#include <string.h>

static void put_real(json_t *row, const char *key, double v)
{
    json_object_set_new(row, key, json_real(v));
}

static void put(json_t *row, const char *key, double v, double unit, const char *name)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g%s", v / unit, name);
    json_object_set_new(row, key, json_string(text));
}

static json_t *row_json(const struct experts_kernel *k)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(k->software));
    json_object_set_new(row, "format", json_string(k->format->name));
    put_real(row, "eta", k->eta);
    put(row, "port", k->port_Bps, 1e9, "GB/s");
    put_real(row, "hbm_frac", k->hbm_frac);
    put_real(row, "epilogue", k->epilogue);
    put_real(row, "partial_waves", k->partial_waves);
    put(row, "start", k->start_s, 1e-6, "us");
    put_real(row, "local_passes", k->local_passes);
    put_real(row, "all_passes", k->all_passes);
    put(row, "slot", k->slot_s, 1e-9, "ns");
    put(row, "expert", k->expert_s, 1e-9, "ns");
    put_real(row, "foreign", k->foreign);
    return row;
}

json_t *calibration_experts_file(const struct calibration *c, const struct samples *s)
{
    json_t *file = json_object(), *rows = json_array();
    struct strbuf b;
    strbuf_init(&b);
    const char *name = strrchr(s->file, '/');
    strbuf_printf(&b,
                  "smsim calibrate from %s (%s), median/mean errors from 1024 tokens",
                  name ? name + 1 : s->file, c->experts.v[0].device);
    for (int64_t i = 0; i < c->experts.n; i++) {
        const struct calibration_experts *p = &c->experts.v[i];
        if (p->why)
            continue;
        json_array_append_new(rows, row_json(&p->kernel));
        strbuf_printf(
            &b,
            "; %s %s: %.1f/%.1f %% of the half fitted to, %.1f/%.1f %% of the "
            "other",
            p->kernel.software, p->kernel.format->name, 100 * p->fit_median,
            100 * p->fit_mean, 100 * p->held_median, 100 * p->held_mean);
    }
    json_object_set_new(file, "provenance", json_string(strbuf_get(&b)));
    json_object_set_new(file, "experts", rows);
    strbuf_release(&b);
    return file;
}
