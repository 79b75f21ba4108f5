/* The JSON of what campaigns add to a step's result. */
#include "campaign/campaign.h"

#include <math.h>

static json_t *real(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *word(const struct name_value *names, int v)
{
    return json_string(names_of(names, v));
}

static json_t *input_json(const struct input_result *r)
{
    if (!r->given)
        return json_null();
    json_t *o = json_object(), *stages = json_object();
    for (int i = 0; i < INPUT_STAGES; i++)
        json_object_set_new(stages, names_of(input_stage_names, i), real(r->step_s[i]));
    json_object_set_new(o, "samples_per_s", real(r->samples_per_s));
    json_object_set_new(o, "bound", json_boolean(r->bound));
    json_object_set_new(o, "slowest", word(input_stage_names, (int)r->slowest));
    json_object_set_new(o, "stages_s", stages);
    json_object_set_new(o, "copy_s", real(r->copy_s));
    json_object_set_new(o, "wait_s", real(r->wait_s));
    return o;
}

static json_t *phases_json(const struct job_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < JOB_PHASES; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "phase", word(job_phase_names, i));
        json_object_set_new(o, "time_s", real(r->phases_s[i]));
        json_object_set_new(o, "billed",
                            json_boolean(job_is_billed((enum job_phase)i)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *checkpoint_json(const struct job_result *r)
{
    const struct checkpoint_result *c = &r->checkpoint;
    if (!r->has_checkpoints)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "bytes", real(c->size_B));
    json_object_set_new(o, "writers", json_integer(c->writers));
    json_object_set_new(o, "every_steps", json_integer(c->every));
    json_object_set_new(o, "count", json_integer(c->count));
    json_object_set_new(o, "copy_s", real(c->copy_s));
    json_object_set_new(o, "write_s", real(c->write_s));
    json_object_set_new(o, "blocking_s", real(c->blocking_s));
    return o;
}

static json_t *trials_json(const struct trials_result *t)
{
    if (t->trials == 0)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "trials", json_integer(t->trials));
    json_object_set_new(o, "parallel_trials", json_integer(t->parallel_trials));
    json_object_set_new(o, "stopped", json_integer(t->stopped));
    json_object_set_new(o, "hours", real(t->hours));
    json_object_set_new(o, "instance_hours", real(t->instance_hours));
    json_object_set_new(o, "usd", real(t->usd));
    return o;
}

static json_t *job_json(const struct job_result *r)
{
    if (!r->given)
        return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "steps", json_integer(r->steps));
    json_object_set_new(o, "evaluations", json_integer(r->evaluations));
    json_object_set_new(o, "phases", phases_json(r));
    json_object_set_new(o, "hours", real(r->hours));
    json_object_set_new(o, "billed_hours", real(r->billed_hours));
    json_object_set_new(o, "usd", real(r->usd));
    json_object_set_new(o, "checkpoint", checkpoint_json(r));
    json_object_set_new(o, "trials", trials_json(&r->trials));
    return o;
}

void campaign_json(json_t *result, const struct campaign_result *r)
{
    json_object_set_new(result, "input", input_json(&r->input));
    json_object_set_new(result, "job", job_json(&r->job));
    json_object_set_new(result, "uncertainty", uncertainty_json(&r->uncertainty));
}
