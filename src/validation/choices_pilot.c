/* Measurements before a choice, replayed on measured alternatives: a step of the one whose
 * measurement is worth most (risk/pilot.h), against steps of random ones. */
#include "base/mix.h"
#include "base/xmalloc.h"
#include "risk/pilot.h"
#include "validation/choices.h"

#include <math.h>
#include <stdlib.h>

enum { ALTERNATIVES = 12, ORDERS = 20 };

static const struct risk_options how = { .rule = RISK_MEAN, .draws = 80 };
static const double repeat_error = 0.02; /* of a step that is measured again */

struct alternatives {
    int32_t n;
    const struct choices_row *rows[ALTERNATIVES];
    struct risk_plan plans[ALTERNATIVES];
    double most; /* rate that was measured */
};

/* The predicted fastest, as plan lists them, which are all that can be measured. */
static bool collect(struct alternatives *a, const struct choices_rows *rows,
                    int32_t job)
{
    *a = (struct alternatives) { .n = 0 };
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct choices_row *r = &rows->list.v[i];
        if (r->job != job || !r->has_rate || r->rate_measured <= 0 ||
            r->rate_predicted <= 0)
            continue;
        int32_t k = a->n < ALTERNATIVES ? a->n++ : ALTERNATIVES;
        for (; k > 0 && a->rows[k - 1]->plan.value > r->plan.value; k--)
            if (k < ALTERNATIVES)
                a->rows[k] = a->rows[k - 1];
        if (k < ALTERNATIVES)
            a->rows[k] = r;
    }
    for (int32_t i = 0; i < a->n; i++) {
        a->plans[i] = a->rows[i]->plan;
        a->most = fmax(a->most, a->rows[i]->rate_measured);
    }
    return a->n > CHOICES_PILOTS;
}

static struct pilot_measure step_of(const struct alternatives *a, int32_t i)
{
    return (struct pilot_measure) { .kind = PILOT_STEP,
                                    .plan = i,
                                    .step = a->plans[i],
                                    .whole = true,
                                    .error = repeat_error };
}

static int32_t most_useful(const struct pilot *p, const struct alternatives *a,
                           const bool *done)
{
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = 0; i < a->n; i++) {
        const struct pilot_measure m = step_of(a, i);
        double after = done[i] ? (double)INFINITY : pilot_after(p, &m);
        if (after < least) {
            least = after;
            best = i;
        }
    }
    return best;
}

static int32_t random_one(const struct alternatives *a, const bool *done,
                          uint64_t *seed)
{
    int32_t i;
    do {
        *seed = mix64(*seed + 1);
        i = (int32_t)(*seed % (uint64_t)a->n);
    } while (done[i]);
    return i;
}

/* Adds the regret of the choice before and after each of the measurements. */
static void replay(double regret[CHOICES_PILOTS + 1], const struct alternatives *a,
                   const struct risk_widths *w, bool useful, uint64_t seed)
{
    bool done[ALTERNATIVES] = { false };
    struct pilot *p = pilot_new(a->plans, a->n, w, &how);
    for (int k = 0;; k++) {
        int32_t choice;
        pilot_regret(p, &choice);
        regret[k] += 1 - a->rows[choice]->rate_measured / a->most;
        if (k == CHOICES_PILOTS)
            break;
        int32_t i = useful ? most_useful(p, a, done) : random_one(a, done, &seed);
        const struct pilot_measure m = step_of(a, i);
        done[i] = true;
        pilot_learn(p, &m, log(a->rows[i]->rate_predicted / a->rows[i]->rate_measured));
    }
    pilot_free(p);
}

void choices_pilot(struct choices_replay *to, const struct choices_rows *rows,
                   int32_t source, const struct risk_widths *w)
{
    int32_t last = -1;
    for (int64_t i = 0; i < rows->list.n; i++) {
        const struct choices_row *r = &rows->list.v[i];
        struct alternatives a;
        if (r->source != source || r->job <= last)
            continue;
        last = r->job;
        if (!collect(&a, rows, r->job))
            continue;
        double random[CHOICES_PILOTS + 1] = { 0 };
        to->n_jobs++;
        replay(to->useful, &a, w, true, 0);
        for (uint64_t order = 0; order < ORDERS; order++)
            replay(random, &a, w, false, mix64((uint64_t)last * ORDERS + order));
        for (int k = 0; k <= CHOICES_PILOTS; k++)
            to->random[k] += random[k] / ORDERS;
    }
}
