#include "campaign/campaign.h"

int campaign_read(struct campaign *c, const struct scenario *s)
{
    const struct scenario_sections *at = &s->sections;
    int rc = storage_read(&c->storage, s, at->storage);
    rc |= input_read(&c->input, &c->storage, s, at->input);
    rc |= whole_job_read(&c->job, &c->storage, s, at->job);
    return rc ? -1 : 0;
}

/* Tracing runs the script's own Python: how long nobody can tell from outside. */
static const char *tracing_note(const struct campaign *c, const struct scenario *s)
{
    bool traces = s->parallel.smp == 1; /* version 1 */
    if (!c->job.given || c->job.has_compilation || !traces)
        return NULL;
    return "SMP traces the model before the first step, which is counted as 0 s: "
           "/job/compilation sets it";
}

void campaign_run(struct campaign_result *r, struct arena *arena,
                  const struct campaign *c, const struct scenario *s,
                  struct simulate_result *step)
{
    *r = (struct campaign_result) { .input = { .given = false } };
    input_run(&r->input, arena, &c->input, &c->storage, s, step->step_time_s);
    if (r->input.given)
        simulate_wait(step, s, PART_INPUT_WAIT, r->input.wait_s);
    if (r->input.warning)
        simulate_warn(step, arena, r->input.warning);
    whole_job_run(&r->job, &c->job, &c->storage, &r->input, s, step);
    if (tracing_note(c, s))
        simulate_warn(step, arena, tracing_note(c, s));
}
