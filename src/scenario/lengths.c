/* Sequences of unequal length: /training/sequence_length as {"mean", "max", "padded"}.
 * Lengths are taken to be exponential, cut at the longest (MODEL.md, 2.6). */
#include "scenario/attention.h"
#include "scenario/parse.h"

#include <inttypes.h>
#include <math.h>

#define TOKENS_MAX (double)(1 << 24)

static const struct name_value padded_names[] = {
    { "longest", LENGTHS_LONGEST },
    { "max", LENGTHS_MAX },
    { "packed", LENGTHS_PACKED },
    { NULL, 0 },
};

struct raw_lengths {
    double mean;
    int64_t max;
    int padded;
};

static const struct cfg_field fields[] = {
    CFG_ROW("mean", CFG_T_REAL, struct raw_lengths, mean, .required = true, .min = 1,
            .max = TOKENS_MAX),
    CFG_ROW("max", CFG_T_INT, struct raw_lengths, max, .required = true, .min = 1,
            .max = TOKENS_MAX),
    CFG_ROW("padded", CFG_T_ENUM, struct raw_lengths, padded, .required = true,
            .names = padded_names),
    CFG_END,
};

int lengths_read(struct parse_context *r, struct cfg c)
{
    struct training *t = &r->s->training;
    struct raw_lengths w = { .padded = LENGTHS_MAX };
    if (!cfg_present(c))
        return 0; /* reported */
    if (!cfg_is_object(c))
        return cfg_int(c, &t->sequence_length, 1, (int64_t)TOKENS_MAX);
    if (cfg_read(c, fields, &w))
        return -1;
    if (w.mean > (double)w.max)
        return cfg_error(cfg_get(c, "mean"), DIAG_CONTRADICTION,
                         "%g tokens are more than the longest sequence's %" PRId64
                         " (write less)",
                         w.mean, w.max);
    t->sequence_length = w.max;
    t->lengths = (struct lengths) { .padded = (enum lengths_padded)w.padded,
                                    .mean = w.mean,
                                    .max = (double)w.max };
    return 0;
}

/* The scale of an exponential whose values, cut at `max`, have that mean; by bisection
 * of scale (1 - exp(-max / scale)), which grows with the scale. */
static double scale_of(double mean, double max)
{
    double low = 0, high = max * 1e6;
    for (int i = 0; i < 200; i++) {
        double x = (low + high) / 2;
        if (-x * expm1(-max / x) < mean)
            low = x;
        else
            high = x;
    }
    return high;
}

double lengths_longest(double mean, double max, double n)
{
    enum { STEPS = 4096 };
    double scale = scale_of(mean, max), sum = 0;
    for (int i = 0; i < STEPS; i++) { /* of 1 - F(x)^n, by midpoints */
        double x = max * (i + 0.5) / STEPS;
        sum += 1 - pow(-expm1(-x / scale), n);
    }
    return fmin(max, sum * max / STEPS);
}

double lengths_attended(double mean, double max)
{
    double a = scale_of(mean, max), tail = exp(-max / a);
    double square = 2 * a * (a - tail * (a + max)); /* of a length's square, the mean */
    return fmin(max, square / mean);
}

/* Kernels that take documents one by one: flash-attention's and Transformer Engine's,
 * by name or as the profile's own; PyTorch's SDPA has all of a sequence. */
static bool takes_documents(const struct training *t)
{
    enum framework_attention own = t->framework->kernels.attention;
    bool named = op_attention_is_flash((enum op_attention)t->attention_word);
    bool open = t->attention_word == ATTENTION_OPEN &&
                (own == FRAMEWORK_ATTENTION_FLASH || own == FRAMEWORK_ATTENTION_ENGINE);
    return op_attention_is_flash(t->attention) && (named || open);
}

int lengths_resolve(struct parse_context *r)
{
    struct training *t = &r->s->training;
    struct lengths *l = &t->lengths;
    struct cfg at = cfg_get(r->training, "sequence_length");
    if (l->mean <= 0)
        return 0;
    if (l->padded == LENGTHS_LONGEST && r->s->parallel.context > 1)
        return cfg_error(cfg_get(at, "padded"), DIAG_NOT_SIMULATED,
                         "a context group splits sequences of one length (write "
                         "\"max\" or \"packed\")");
    if (l->padded != LENGTHS_MAX)
        parse_say(r, at, DIAG_ASSUMED,
                  "lengths are taken to be exponential, cut at the longest");
    if (l->padded == LENGTHS_LONGEST)
        t->sequence_length = (int64_t)ceil(
            lengths_longest(l->mean, l->max, (double)training_sequences(t)));
    if (l->padded != LENGTHS_PACKED)
        return 0;
    if (r->s->parallel.context > 1 || !takes_documents(t))
        parse_say(r, at, DIAG_APPROXIMATE,
                  "this attention computes the scores of whole packs");
    else
        l->document = (int64_t)ceil(lengths_attended(l->mean, l->max));
    return 0;
}
