/* What lies beyond one training step: where its input comes from, the whole job around
 * it, searches of many jobs. A scenario says it in the sections that the replay does
 * not look at.
 *
 * Files of this folder:
 *     campaign*:
 *         reads the sections beyond a step, runs them, writes JSON
 *     storage, input             where samples are; the loader overlapped with the step
 *     job*, checkpoint, trials   phases and billing; states saved; many jobs
 *     uncertainty*, montecarlo*  jitter and stragglers: read, drawn, written
 *     random, failure            numbers by key; a job failure by failure */
#ifndef CAMPAIGN_CAMPAIGN_H
#define CAMPAIGN_CAMPAIGN_H

#include "campaign/job.h"
#include "campaign/uncertainty.h"

struct campaign {
    struct storage storage;
    struct input input;
    struct whole_job job;
    struct uncertainty uncertainty;
};

struct campaign_result {
    struct input_result input;
    struct job_result job;
    struct uncertainty_result uncertainty;
};

/* Reads the sections of a scenario that was read. Every error is reported; -1 when
 * there was any. */
int campaign_read(struct campaign *c, const struct scenario *s);

/* Goes on from a simulated step, whose time, rates, warnings and cost become those with
 * input and job. Results live in the arena. */
void campaign_run(struct campaign_result *r, struct arena *arena,
                  const struct campaign *c, const struct scenario *s,
                  struct simulate_result *step);

/* Draws what the scenario says of uncertainty, after campaign_run: how step times
 * vary, and what failures leave of the time. Fails at what cannot be simulated. */
int campaign_draw(struct campaign_result *r, const struct campaign *c,
                  const struct scenario *s, const struct simulate_result *step,
                  const struct uncertainty_draws *how, struct err *err);

/* Each number of it is finite and not below 0; -1 with err set, a fault of the
 * program, where one is not. */
int campaign_check(const struct campaign_result *r, const struct simulate_result *step,
                   struct err *err);

/* How a step and all that lies beyond it are simulated. */
struct campaign_how {
    const struct simulate_options *step;
    const struct uncertainty_draws *draws; /* NULL: uncertainty is left out */
    const struct interval_table *interval; /* by which the result is judged */
};

/* All of it, for a scenario that was read by the loader (its sections into `c`):
 * simulate, campaign_run, campaign_draw, judge. Both results are final: whoever
 * writes them computes nothing of his own. */
int campaign_simulate(struct simulate_result *step, struct campaign_result *beyond,
                      struct cfg_loader *loader, const struct campaign *c,
                      const struct scenario *s, const struct campaign_how *how,
                      struct err *err);

/* The same of a scenario that is a tree, its messages under `name`: at flow fidelity,
 * without draws. -1 where it is wrong, with its first error in err. */
int campaign_simulate_tree(struct simulate_result *step, struct scenario *s,
                           struct cfg_loader *loader, const char *name,
                           const json_t *tree, struct err *err);

/* Adds "input", "job" and "uncertainty" to the JSON of a result; null where the
 * scenario has none. */
extern const struct contract_object campaign_contract;
void campaign_json(json_t *result, const struct campaign_result *r);

#endif
