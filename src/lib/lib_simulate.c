#include "lib/lib.h"

#include "base/xmalloc.h"
#include "campaign/campaign.h"
#include "report/report.h"
#include "simulate/fit.h"

#include <math.h>
#include <stdlib.h>

static double known(bool is, double value)
{
    return is ? value : (double)NAN;
}

static struct smsim_step *make(const struct scenario *s,
                               const struct simulate_result *r,
                               const struct campaign_result *beyond)
{
    struct smsim_step *step = xcalloc(1, sizeof(*step));
    const struct cost_result *cost = &r->cost;
    json_t *tree = report_step_json(s, r, beyond);
    *step = (struct smsim_step) {
        .step_time_s = r->step_time_s,
        .range_s = { r->range_s[0], r->range_s[1] },
        .samples_per_s = r->samples_per_s,
        .tokens_per_s = r->tokens_per_s,
        .model_flops_per_gpu_s = r->model_flops_per_gpu_s,
        .mfu = r->mfu,
        .hfu = r->hfu,
        .gpus = r->gpus,
        .peak_bytes = r->memory.peak_B,
        .capacity_bytes = r->memory.capacity_B,
        .fits = r->memory.fits,
        .usd_per_hour = known(cost->has_price, cost->usd_per_hour),
        .usd_per_step = known(cost->has_price, cost->usd_per_step),
        .usd_per_job = known(cost->has_price && cost->has_job, cost->usd_per_job),
        .hours_per_job = known(cost->has_job, cost->hours_per_job),
        .json = lib_json(tree),
    };
    json_decref(tree);
    return step;
}

static int simulate_job(struct lib_call *c, struct smsim_step **step,
                        const struct smsim_job *job,
                        const struct simulate_options *options)
{
    struct scenario s = { 0 };
    struct campaign beyond;
    struct campaign_result more;
    struct simulate_result r;
    const struct uncertainty_draws draws = { .network = options->network,
                                             .unfold = options->unfold };
    struct cfg root = lib_job_root(c, job);
    if (scenario_read(&s, &c->loader, root) || campaign_read(&beyond, &s))
        return -1;
    const struct campaign_how how = { options, &draws, interval_table_get(&c->loader) };
    if (campaign_simulate(&r, &more, &c->loader, &beyond, &s, &how, &c->err))
        return -1;
    simulate_remedies(&r, &c->loader.arena, &s, root.json);
    *step = make(&s, &r, &more);
    return 0;
}

/* Draws are what takes several threads. */
static bool has_draws(const struct smsim_job *job)
{
    return json_is_object(json_object_get(job->tree, "uncertainty"));
}

static struct smsim_step *run(struct lib_call *c, const struct smsim_job *job,
                              const struct smsim_simulate_options *options)
{
    struct smsim_step *step = NULL;
    int network = FIDELITY_FLOW;
    if (options && options->size != sizeof(*options))
        return lib_call_refuse(c, "options.size is not that of this struct", NULL);
    if (options && options->threads < 0)
        return lib_call_refuse(c, "threads is not negative", NULL);
    if (options && options->network &&
        names_find(fidelity_names, options->network, &network))
        return lib_call_refuse(c, "network is none of analytic, flow and chunk",
                               options->network);
    const struct simulate_options how = { .network = (enum fidelity)network,
                                          .unfold = options && options->unfold };
    if (simulate_job(c, &step, job, &how))
        return lib_call_fail(c);
    lib_call_end(c);
    return step;
}

struct smsim_step *smsim_simulate(const struct smsim_job *job,
                                  const struct smsim_simulate_options *options,
                                  struct smsim_error *error)
{
    struct lib_call c;
    int32_t threads = options ? options->threads : 0;
    LIB_BEGIN(&c, error, has_draws(job) ? threads : LIB_ALONE)
    return run(&c, job, options);
}

void smsim_step_free(struct smsim_step *step)
{
    if (step)
        free((char *)(uintptr_t)step->json);
    free(step);
}
