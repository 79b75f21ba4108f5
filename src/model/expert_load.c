#include "model/expert_load.h"

#include "base/mix.h"

#include <math.h>
#include <stdbool.h>

enum { DRAWS = 16 };

/* Shares reach from one token to this part of all tokens, as in the benchmark that the
 * law is fitted to (aiconfigurator, collector/helper.py, sample_power_law). */
static const double share_most = 0.8;

static double uniform(uint64_t *state)
{
    return (double)(mix64((*state)++) >> 11) * 0x1p-53;
}

/* A value of density x^-a between low and high. */
static double power_law(double low, double high, double a, double u)
{
    static const double near_one = 1e-6; /* where the integral is a logarithm */
    if (fabs(1 - a) < near_one)
        return low * pow(high / low, u);
    double from = pow(low, 1 - a), to = pow(high, 1 - a);
    return pow((to - from) * u + from, 1 / (1 - a));
}

/* Gives `over` slots to the experts with the fewest, up to the next. */
static void level(double *counts, int64_t n, double over)
{
    static const double same = 0.5;
    while (over > same) {
        double least = INFINITY, next = INFINITY, lowest = 0;
        for (int64_t i = 0; i < n; i++)
            least = fmin(least, counts[i]);
        for (int64_t i = 0; i < n; i++) {
            if (counts[i] <= least + same)
                lowest++;
            else
                next = fmin(next, counts[i]);
        }
        double add = fmin(next - least, over / lowest);
        for (int64_t i = 0; i < n; i++)
            if (counts[i] <= least + same)
                counts[i] += add;
        over -= add * lowest;
    }
}

/* One draw of the slots of each expert. No expert has a token twice. */
static void draw(const struct expert_routing *r, uint64_t *state, double *counts)
{
    double slots = r->tokens * (double)r->experts_per_token, sum = 0, over = 0;
    double high = fmax(r->tokens * share_most, 2);
    for (int64_t i = 0; i < r->experts; i++) {
        counts[i] = power_law(1, high, r->exponent, uniform(state));
        sum += counts[i];
    }
    for (int64_t i = 0; i < r->experts; i++) {
        counts[i] = round(counts[i] * slots / sum);
        over += fmax(0, counts[i] - r->tokens);
        counts[i] = fmin(counts[i], r->tokens);
    }
    level(counts, r->experts, over);
}

/* The first expert of the rank with the most slots. */
static int64_t busiest(const double *counts, int64_t experts, int64_t each)
{
    int64_t best = 0;
    double most = -1;
    for (int64_t first = 0; first < experts; first += each) {
        double sum = 0;
        for (int64_t i = 0; i < each; i++)
            sum += counts[first + i];
        if (sum > most) {
            most = sum;
            best = first;
        }
    }
    return best;
}

/* Adds `share` of what an expert's slots make. Below one slot it is the chance of it. */
static void add(struct expert_load *load, double count, double share)
{
    load->slots += share * count;
    load->experts += share * fmin(count, 1);
    for (int i = 0; i < LOAD_TILES_N; i++) {
        static const double rest = 1e-9; /* of a division */
        double blocks = count >= 1 ? ceil(count / (double)(1 << i) - rest) : count;
        load->blocks[i] += share * blocks;
    }
}

struct expert_load expert_load_of(const struct expert_routing *r)
{
    double counts[LOAD_EXPERTS_MAX];
    double slots = r->tokens * (double)r->experts_per_token;
    int64_t each = r->experts / r->ranks;
    struct expert_load load = { .all = slots };
    if (!(r->exponent > 0)) {
        add(&load, slots / (double)r->experts, 1);
        load.slots *= (double)each;
        load.experts *= (double)each;
        for (int i = 0; i < LOAD_TILES_N; i++)
            load.blocks[i] *= (double)each;
        return load;
    }
    uint64_t state = 1;
    for (int d = 0; d < DRAWS; d++) {
        draw(r, &state, counts);
        int64_t first = busiest(counts, r->experts, each);
        for (int64_t i = 0; i < each; i++)
            add(&load, counts[first + i], 1.0 / DRAWS);
    }
    return load;
}
