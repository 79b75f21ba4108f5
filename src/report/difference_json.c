#include "report/difference.h"

#include "base/names.h"

#include <math.h>

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *numbers(const struct difference_numbers *n)
{
    json_t *o = json_object(), *parts = json_object();
    json_object_set_new(o, "step_time_s", real(n->step_s));
    json_object_set_new(o, "samples_per_s", real(n->samples_per_s));
    json_object_set_new(o, "tokens_per_s", real(n->tokens_per_s));
    json_object_set_new(o, "peak_bytes", real(n->peak_B));
    json_object_set_new(o, "fits", json_boolean(n->fits));
    json_object_set_new(o, "usd_per_hour", real(n->usd_per_h));
    json_object_set_new(o, "usd_per_step", real(n->usd_per_step));
    for (int i = 0; i < CATEGORY_N; i++)
        json_object_set_new(parts, names_of(category_names, i), real(n->parts_s[i]));
    json_object_set_new(o, "breakdown_s", parts);
    return o;
}

static json_t *value(const json_t *v)
{
    return v ? json_deep_copy(v) : json_null();
}

static json_t *changes(const struct difference_cause *c)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < c->n_changes; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "pointer", json_string(c->changes[i].pointer));
        json_object_set_new(o, "from", value(c->changes[i].from));
        json_object_set_new(o, "to", value(c->changes[i].to));
        json_array_append_new(list, o);
    }
    return list;
}

json_t *report_difference_json(const struct difference_view *v)
{
    const struct difference *d = v->d;
    json_t *o = json_object(), *list = json_array();
    double before_s = d->a.step_s;
    json_object_set_new(o, "a", json_string(v->a));
    json_object_set_new(o, "b", json_string(v->b));
    json_object_set_new(o, "from", numbers(&d->a));
    json_object_set_new(o, "to", numbers(&d->b));
    for (int32_t i = 0; i < d->n_causes; i++) {
        const struct difference_cause *c = &d->causes[i];
        json_t *one = json_object();
        json_object_set_new(one, "cause", json_string(c->name));
        json_object_set_new(one, "step_time_s", real(c->after.step_s - before_s));
        json_object_set_new(one, "alone_s", real(c->alone_s - d->a.step_s));
        json_object_set_new(one, "last_s", real(d->b.step_s - c->without_s));
        json_object_set_new(one, "after", numbers(&c->after));
        json_object_set_new(one, "changes", changes(c));
        json_array_append_new(list, one);
        before_s = c->after.step_s;
    }
    json_object_set_new(o, "causes", list);
    return o;
}
