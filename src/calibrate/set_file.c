#include "calibrate/set_file.h"

#include <string.h>

void set_file_begin(struct set_file *f, const struct samples *s, const char *device,
                    const char *of)
{
    const char *name = strrchr(s->file, '/');
    f->rows = json_array();
    strbuf_init(&f->provenance);
    strbuf_printf(&f->provenance, "smsim calibrate from %s (%s), median/mean errors%s",
                  name ? name + 1 : s->file, device, of);
}

void set_file_add(struct set_file *f, json_t *row)
{
    json_array_append_new(f->rows, row);
}

void set_file_errors(struct set_file *f, const char *name,
                     const struct calibration_errors *e)
{
    strbuf_printf(&f->provenance,
                  "; %s: %.1f/%.1f %% of the half fitted to, %.1f/%.1f %% of the other",
                  name, 100 * e->fit_median, 100 * e->fit_mean, 100 * e->held_median,
                  100 * e->held_mean);
}

json_t *set_file_end(struct set_file *f, const char *key)
{
    json_t *file = json_object();
    json_object_set_new(file, "provenance", json_string(strbuf_get(&f->provenance)));
    json_object_set_new(file, key, f->rows);
    strbuf_release(&f->provenance);
    return file;
}

void set_file_put_real(json_t *row, const char *key, double v)
{
    json_object_set_new(row, key, json_real(v));
}

void set_file_put(json_t *row, const char *key, double v, double unit, const char *name)
{
    char text[64];
    snprintf(text, sizeof(text), "%.4g%s", v / unit, name);
    json_object_set_new(row, key, json_string(text));
}
