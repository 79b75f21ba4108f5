#include "campaign/campaign.h"

#include "scenario/libraries.h"
#include "simulate/judge.h"

int campaign_read(struct campaign *c, const struct scenario *s)
{
    const struct scenario_sections *at = &s->sections;
    int rc = storage_read(&c->storage, s, at->storage);
    rc |= input_read(&c->input, &c->storage, s, at->input);
    rc |= whole_job_read(&c->job, &c->storage, s, at->job);
    rc |=
        uncertainty_read(&c->uncertainty, s, at->uncertainty, c->job.checkpoint.given);
    return rc ? -1 : 0;
}

/* Tracing runs the script's own Python: its time is unknown from outside. */
static const char *tracing_note(const struct campaign *c, const struct scenario *s)
{
    if (!c->job.given || c->job.has_compilation ||
        !library_of(&s->parallel)->smp.script)
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
        simulate_wait(step, s, CATEGORY_INPUT_WAIT, r->input.wait_s);
    if (r->input.warning)
        simulate_warn(step, arena, DIAG_INPUT_BOUND, r->input.warning);
    whole_job_run(&r->job, arena, &c->job, &c->storage, &r->input, s, step);
    if (tracing_note(c, s))
        simulate_warn(step, arena, DIAG_ASSUMED, tracing_note(c, s));
}

int campaign_draw(struct campaign_result *r, const struct campaign *c,
                  const struct scenario *s, const struct simulate_result *step,
                  const struct uncertainty_draws *how, struct err *err)
{
    const struct checkpoint_result *k = &r->job.checkpoint;
    struct uncertainty_step of = { .time_s = step->step_time_s };
    if (r->input.given && r->input.wait_s > 0)
        of.least_s = of.time_s;
    if (r->job.has_checkpoints) {
        of.checkpoint_s = k->blocking_s;
        of.interval_s = (double)k->every * of.time_s;
    }
    return uncertainty_run(&r->uncertainty, &c->uncertainty, s, &of, how, err);
}

int campaign_simulate(struct simulate_result *step, struct campaign_result *beyond,
                      struct cfg_loader *loader, const struct campaign *c,
                      const struct scenario *s, const struct campaign_how *how,
                      struct err *err)
{
    struct arena *arena = &loader->arena;
    struct simulate_options options = *how->step;
    options.memo = simulate_memo_of(loader);
    options.unread.layer &= c->job.evaluation_samples == 0; /* which takes a share */
    if (simulate(step, arena, s, &options, err))
        return -1;
    if (!simulate_runs(&options, &step->memory)) {
        *beyond = (struct campaign_result) { .input = { .given = false } };
        return 0;
    }
    campaign_run(beyond, arena, c, s, step);
    if (how->draws && campaign_draw(beyond, c, s, step, how->draws, err))
        return -1;
    if (judge(step, arena, how->interval, &loader->diags, s, err))
        return -1;
    return campaign_check(beyond, step, err);
}

int campaign_simulate_tree(struct simulate_result *step, struct scenario *s,
                           struct cfg_loader *loader, const char *name,
                           const json_t *tree, struct err *err)
{
    const struct simulate_options options = { .network = FIDELITY_FLOW, .mute = true };
    const struct campaign_how how = { &options, NULL, interval_table_get(loader) };
    struct cfg root = cfg_from_tree(loader, name, json_deep_copy(tree));
    struct campaign c;
    struct campaign_result beyond;
    if (scenario_read(s, loader, root) || campaign_read(&c, s))
        return err_set(err, "%s", diags_error_text(&loader->diags, 0));
    return campaign_simulate(step, &beyond, loader, &c, s, &how, err);
}
