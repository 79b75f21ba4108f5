/* global_batch_size = micro_batch_size x microbatches x gradient_accumulation_steps x
 * data (the batches side by side): the one that is left out is computed, and a
 * disagreement is an error. */
#include "base/strbuf.h"
#include "scenario/libraries.h"
#include "scenario/parse.h"

#include <inttypes.h>

/* The numbers that have to agree: global is the product of the others. */
struct batch {
    int64_t micro, microbatches, accumulation, data, global;
};

/* a x b x c x d, all at least 1; -1 beyond what a job can have. */
static int64_t product(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t v;
    if (__builtin_mul_overflow(a, b, &v) || __builtin_mul_overflow(v, c, &v) ||
        __builtin_mul_overflow(v, d, &v) || (double)v > PARSE_GLOBAL_MAX)
        return -1;
    return v;
}

/* "micro_batch_size 4 x data 16 = 64": those of the factors that are not 1, and
 * data. */
static void product_text(struct strbuf *b, const struct batch *x, int64_t value)
{
    const struct {
        const char *name;
        int64_t n;
    } factors[] = {
        { "micro_batch_size", x->micro },
        { "microbatches", x->microbatches },
        { "gradient_accumulation_steps", x->accumulation },
        { "data", x->data },
    };
    int shown = 0;
    for (int i = 0; i < 4; i++) {
        if (factors[i].n == 1 && i != 3)
            continue;
        strbuf_printf(b, "%s%s %" PRId64, shown > 0 ? " x " : "", factors[i].name,
                      factors[i].n);
        shown++;
    }
    if (shown > 1)
        strbuf_printf(b, " = %" PRId64, value);
}

/* The global batch is no multiple of the known factors. */
static int indivisible(struct cfg at, const struct batch *x, int64_t known)
{
    struct strbuf b;
    strbuf_init(&b);
    product_text(&b, x, known);
    int64_t below = x->global / known * known, one = known / x->data;
    if (below == 0 && x->global % one == 0)
        cfg_error(at, DIAG_OUT_OF_RANGE,
                  "%" PRId64 " is less than %s (write %" PRId64
                  ", or give GPUs for data %" PRId64 ")",
                  x->global, strbuf_get(&b), known, x->global / one);
    else if (below > 0)
        cfg_error(at, DIAG_NOT_DIVISIBLE,
                  "%" PRId64 " is no multiple of %s (write %" PRId64 " or %" PRId64 ")",
                  x->global, strbuf_get(&b), below, below + known);
    else
        cfg_error(at, DIAG_OUT_OF_RANGE,
                  "%" PRId64 " is less than %s (write %" PRId64 ")", x->global,
                  strbuf_get(&b), known);
    strbuf_release(&b);
    return -1;
}

static int disagreement(struct cfg at, const struct batch *x, int64_t known)
{
    struct strbuf b;
    strbuf_init(&b);
    product_text(&b, x, known);
    cfg_error(at, DIAG_CONTRADICTION,
              "%" PRId64 " is not %s (write %" PRId64 ", or leave one of them out)",
              x->global, strbuf_get(&b), known);
    strbuf_release(&b);
    return -1;
}

/* Whether accumulation steps are the microbatches of the pipeline's one fill. */
static bool fills_once(const struct scenario *s)
{
    return s->parallel.pipeline > 1 && library_of(&s->parallel)->fills_once;
}

/* The factor that global_batch_size leaves open: the micro-batch when that is not
 * given, else what repeats it; NULL when everything is given. */
static int64_t *open_factor(const struct raw_training *w, const struct scenario *s,
                            struct batch *x)
{
    bool pipelined = s->parallel.pipeline > 1;
    if (!w->has_micro)
        return &x->micro;
    if (fills_once(s) && w->has_accumulation)
        return NULL;
    if (!w->has_microbatches && (pipelined || w->has_accumulation))
        return pipelined ? &x->microbatches : NULL;
    if (!w->has_accumulation)
        return &x->accumulation;
    return NULL;
}

/* Whether all of the batch's numbers that are written were read. */
static bool batch_was_read(const struct parse_context *r)
{
    const struct raw_training *w = &r->words;
    return w->has_micro == cfg_present(cfg_get(r->training, "micro_batch_size")) &&
           (w->has_microbatches ||
            !cfg_present(cfg_get(r->training, "microbatches"))) &&
           (w->has_accumulation ||
            !cfg_present(cfg_get(r->training, "gradient_accumulation_steps"))) &&
           w->has_global == cfg_present(cfg_get(r->training, "global_batch_size"));
}

/* Accumulation steps become microbatches, which is said. */
static void join_steps(struct parse_context *r, struct batch *x)
{
    const struct raw_training *w = &r->words;
    struct strbuf b;
    if (!fills_once(r->s) || x->accumulation == 1)
        return;
    strbuf_init(&b);
    strbuf_printf(&b, "%" PRId64 " accumulation steps", x->accumulation);
    if (x->microbatches > 1)
        strbuf_printf(&b, " of %" PRId64 " microbatches", x->microbatches);
    x->microbatches *= x->accumulation;
    x->accumulation = 1;
    strbuf_printf(&b, " are the pipeline's %" PRId64 " microbatches (%s)",
                  x->microbatches, library_of(&r->s->parallel)->title);
    parse_say(r,
              cfg_get(r->training, w->has_accumulation ? "gradient_accumulation_steps"
                                                       : "microbatches"),
              DIAG_ASSUMED, arena_strdup(&r->loader->arena, strbuf_get(&b)));
    strbuf_release(&b);
}

/* Fills the missing number in, or says how the four disagree. */
int training_batch(struct parse_context *r)
{
    struct training *t = &r->s->training;
    const struct raw_training *w = &r->words;
    if (!batch_was_read(r))
        return -1; /* reported */
    struct cfg at = cfg_get(r->training, "global_batch_size");
    struct batch x = { t->micro_batch_size, t->microbatches, t->accumulation,
                       r->s->parallel.replicas, t->global_batch_size };
    if (!w->has_micro && !w->has_global && r->has_typos)
        return -1; /* one of the unknown keys may be it */
    if (!w->has_micro && !w->has_global)
        return cfg_error(
            cfg_get(r->training, "micro_batch_size"), DIAG_MISSING,
            "missing (give \"micro_batch_size\" or \"global_batch_size\")");
    int64_t *open = w->has_global ? open_factor(w, r->s, &x) : NULL;
    int64_t known = product(x.micro, x.microbatches, x.accumulation, x.data);
    if (known < 0)
        return cfg_error(cfg_get(r->training, "micro_batch_size"), DIAG_OUT_OF_RANGE,
                         "the global batch is beyond %.0f sequences (write less)",
                         PARSE_GLOBAL_MAX);
    if (open && x.global % known != 0)
        return indivisible(at, &x, known);
    if (open)
        *open *= x.global / known;
    else if (w->has_global && x.global != known)
        return disagreement(at, &x, known);
    else
        x.global = known;
    join_steps(r, &x);
    t->micro_batch_size = x.micro;
    t->microbatches = x.microbatches;
    t->accumulation = x.accumulation;
    t->global_batch_size = x.global;
    return 0;
}
