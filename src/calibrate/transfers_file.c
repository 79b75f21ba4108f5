/* What was found of a device's dispatch and combine as a file of topologies/transfers. */
#include "base/strbuf.h"
#include "calibrate/calibration.h"

#include <string.h>

static void put(json_t *row, const char *key, double v, double unit, const char *name)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g%s", v / unit, name);
    json_object_set_new(row, key, json_string(text));
}

static json_t *row_json(const struct transfer *t)
{
    json_t *row = json_object();
    json_object_set_new(row, "software", json_string(t->software));
    json_object_set_new(row, "of", json_string(names_of(transfer_kind_names, t->kind)));
    put(row, "start", t->start_s, 1e-6, "us");
    put(row, "token", t->token_s, 1e-6, "us");
    put(row, "token_rate", t->token_Bps, 1e9, "GB/s");
    put(row, "copy", t->copy_s, 1e-6, "us");
    put(row, "copy_rate", t->copy_Bps, 1e9, "GB/s");
    put(row, "rate", t->rate_Bps, 1e9, "GB/s");
    return row;
}

json_t *calibration_transfers_file(const struct calibration *c, const struct samples *s)
{
    json_t *file = json_object(), *rows = json_array();
    struct strbuf b;
    strbuf_init(&b);
    const char *name = strrchr(s->file, '/');
    strbuf_printf(&b, "smsim calibrate from %s (%s), median/mean errors",
                  name ? name + 1 : s->file, c->transfers.v[0].device);
    for (int64_t i = 0; i < c->transfers.n; i++) {
        const struct calibration_transfer *p = &c->transfers.v[i];
        if (p->why)
            continue;
        json_array_append_new(rows, row_json(&p->transfer));
        strbuf_printf(&b,
                      "; %s: %.1f/%.1f %% of the half fitted to, %.1f/%.1f %% of the "
                      "other",
                      names_of(transfer_kind_names, p->transfer.kind),
                      100 * p->fit_median, 100 * p->fit_mean, 100 * p->held_median,
                      100 * p->held_mean);
    }
    json_object_set_new(file, "provenance", json_string(strbuf_get(&b)));
    json_object_set_new(file, "transfers", rows);
    strbuf_release(&b);
    return file;
}
