/* What was found of a device's attention as a file of topologies/attention. */
#include "base/strbuf.h"
#include "calibrate/calibration.h"

#include <string.h>

static void put(json_t *row, const char *key, double v, double unit, const char *name)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g%s", v / unit, name);
    json_object_set_new(row, key, json_string(text));
}

static json_t *row_json(const struct attention *a)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(a->software));
    if (a->kernel)
        json_object_set_new(row, "kernel", json_string(a->kernel));
    put(row, "products", a->product_flops, 1e12, "TFLOP/s");
    put(row, "softmax", a->softmax_s, 1e-9, "ns");
    json_object_set_new(row, "tail", json_real(a->tail));
    put(row, "start", a->start_s, 1e-6, "us");
    put(row, "moved", a->moved_Bps, 1e9, "GB/s");
    put(row, "block", a->block_s, 1e-6, "us");
    put(row, "token", a->token_s, 1e-9, "ns");
    return row;
}

json_t *calibration_attentions_file(const struct calibration *c,
                                    const struct samples *s)
{
    json_t *file = json_object(), *rows = json_array();
    struct strbuf b;
    strbuf_init(&b);
    const char *name = strrchr(s->file, '/');
    strbuf_printf(&b,
                  "smsim calibrate from %s (%s), median/mean errors from 1024 tokens",
                  name ? name + 1 : s->file, c->attentions.v[0].device);
    for (int64_t i = 0; i < c->attentions.n; i++) {
        const struct calibration_attention *p = &c->attentions.v[i];
        if (p->why)
            continue;
        json_array_append_new(rows, row_json(&p->attention));
        strbuf_printf(&b,
                      "; %s: %.1f/%.1f %% of the half fitted to, %.1f/%.1f %% of the "
                      "other",
                      p->attention.software, 100 * p->fit_median, 100 * p->fit_mean,
                      100 * p->held_median, 100 * p->held_mean);
    }
    json_object_set_new(file, "provenance", json_string(strbuf_get(&b)));
    json_object_set_new(file, "attentions", rows);
    strbuf_release(&b);
    return file;
}
