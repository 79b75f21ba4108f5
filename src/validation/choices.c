#include "validation/choices.h"

#include "base/mix.h"

#include <math.h>
#include <string.h>

void choices_rows_init(struct choices_rows *rows, struct arena *arena)
{
    *rows = (struct choices_rows) { .arena = arena };
}

void choices_rows_release(struct choices_rows *rows)
{
    VEC_RELEASE(&rows->sources);
    VEC_RELEASE(&rows->list);
}

/* Alike runs of one job have one residual, however often they were measured. */
static uint64_t key_of(const struct mapping_outcome *o)
{
    uint64_t time, memory;
    memcpy(&time, &o->step_s, sizeof(time));
    memcpy(&memory, &o->peak_B, sizeof(memory));
    return mix64(mix64(time) ^ memory);
}

struct risk_plan choices_plan_of(const struct mapping_outcome *o)
{
    double nodes = o->has_place ? o->place.log2_of[INTERVAL_NODES] : 0;
    struct risk_plan plan = { .key = key_of(o),
                              .value = o->rate > 0 ? 1 / o->rate : 0,
                              .usual = o->step_s,
                              .by = o->by,
                              .octaves = nodes,
                              .peak_B = o->peak_B,
                              .capacity_B = o->capacity_B };
    memcpy(plan.states, o->states, sizeof(plan.states));
    return plan;
}

/* "/memory/reserved_bytes" and its like: one number for the whole GPU. */
static bool memory_error(const struct mapping_outcome *o, double *error)
{
    for (int32_t i = 0; i < o->n_quantities; i++) {
        const struct mapping_quantity *q = &o->quantities[i];
        if (strncmp(q->key, "/memory/", 8) == 0 && q->measured > 0 &&
            q->predicted > 0) {
            *error = log(q->measured / q->predicted);
            return true;
        }
    }
    return false;
}

/* The number of a job among those of this run; new ones are counted. */
static int32_t job_of(struct choices_rows *rows, const struct mapping_run *run,
                      const int32_t *jobs, int64_t i)
{
    const char *name = run->outcomes[i].rank_group;
    for (int64_t k = 0; name && k < i; k++)
        if (jobs[k] >= 0 && strcmp(run->outcomes[k].rank_group, name) == 0)
            return jobs[k];
    return name ? rows->n_jobs++ : -1;
}

/* Runs of one job are one alternative: the first of them, with the mean rate of those
 * that ran. */
static void join_runs(struct choices_row *row, const struct mapping_run *run, int64_t i)
{
    const struct mapping_outcome *o = &run->outcomes[i];
    double rates = 0;
    int64_t n = 0;
    for (int64_t k = 0; k < run->n_outcomes; k++) {
        const struct mapping_outcome *other = &run->outcomes[k];
        if (other->error || !other->has_rate || other->job != o->job)
            continue;
        row->has_rate &= k >= i;
        n += other->rate_measured > 0;
        rates += other->rate_measured;
    }
    row->rate_measured = n ? rates / (double)n : 0;
}

void choices_rows_add(struct choices_rows *rows, const struct mapping_run *run)
{
    int32_t *jobs = ARENA_ARRAY(rows->arena, run->n_outcomes + 1, int32_t);
    int32_t source = (int32_t)rows->sources.n;
    if (run->mapping->kind != MAPPING_SCENARIO)
        return;
    VEC_PUSH(&rows->sources, arena_strdup(rows->arena, run->mapping->name));
    for (int64_t i = 0; i < run->n_outcomes; i++) {
        const struct mapping_outcome *o = &run->outcomes[i];
        jobs[i] = job_of(rows, run, jobs, i);
        if (o->error || o->step_s <= 0 || !o->has_place)
            continue;
        struct choices_row r = { .source = source,
                                 .job = jobs[i],
                                 .outlier = o->outlier,
                                 .has_rate = o->has_rate,
                                 .rate_measured = o->rate_measured,
                                 .rate_predicted = o->rate_predicted,
                                 .plan = choices_plan_of(o) };
        r.has_time = o->has_rate && o->rate_measured > 0 && o->rate > 0;
        r.error = r.has_time ? log(o->rate / o->rate_measured) : 0;
        if (r.has_rate && r.job >= 0 && o->job >= 0)
            join_runs(&r, run, i);
        r.has_memory = memory_error(o, &r.memory_error);
        r.ran = !o->has_fits || o->outdone ? CHOICES_NOT_SAID
                : o->fits_measured         ? CHOICES_RAN
                                           : CHOICES_FAILED;
        VEC_PUSH(&rows->list, r);
    }
}
