#include "report/arena.h"
#include "report/report.h"

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

/* Like a source, with whose it is; "ours": our errors on the rows that it predicts. */
static json_t *rival(const struct rival *r)
{
    json_t *o = report_validation_json(&r->run, &r->summary),
           *ours = report_validation_json(&r->run, &r->ours);
    json_object_set_new(o, "name", text(r->name));
    json_object_set_new(o, "version", text(r->version));
    json_object_set_new(o, "source", text(r->source));
    json_object_set_new(o, "how", text(r->how));
    json_object_set_new(o, "tuned", text(r->tuned));
    json_object_set_new(o, "elsewhere", json_integer(r->n_elsewhere));
    json_object_set(o, "ours", json_object_get(ours, "metrics"));
    json_decref(ours);
    return o;
}

json_t *report_arena_json(const struct rivals *r)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < r->n; i++)
        json_array_append_new(list, rival(&r->v[i]));
    return list;
}

json_t *report_claims_json(const struct rival_claims *c)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < c->n; i++) {
        const struct rival_claim *k = &c->v[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:f}", "name", k->name,
                                              "source", k->source, "what", k->what,
                                              "mean_abs_error", k->mean_error));
    }
    return list;
}
