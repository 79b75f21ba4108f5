#include "doctor/contradictions.h"

#include "calibrate/calibration.h"
#include "doctor/hypotheses.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Tokens of a step are rounded to three digits ("2.05K"). */
static const double tokens_near = 0.01;

/* Counts of parameters differ by padded vocabularies, positions and adapters. */
static const double parameters_near = 0.1;

/* What a job has of each statement. */
#define HAS(name, member)                                       \
    static int64_t name##_of(const struct doctor_prediction *p) \
    {                                                           \
        return p->member;                                       \
    }
HAS(ranks, gpus)
HAS(micro_batch, facts.micro_batch)
HAS(sequence, facts.sequence)
HAS(tensor, facts.tensor)
HAS(pipeline, facts.pipeline)
HAS(layers, facts.layers)
HAS(hidden, facts.hidden)
HAS(parameters, facts.parameters)
#undef HAS

static const struct {
    const char *what;
    int64_t (*has)(const struct doctor_prediction *p);
    double near; /* relative */
} rows[STATEMENTS] = {
    [STATED_RANKS] = { "ranks", ranks_of, 0 },
    [STATED_MICRO_BATCH] = { "sequences of a micro-batch", micro_batch_of, 0 },
    [STATED_SEQUENCE] = { "tokens of a sequence", sequence_of, 0 },
    [STATED_TENSOR] = { "tensor-parallel degree", tensor_of, 0 },
    [STATED_PIPELINE] = { "pipeline-parallel degree", pipeline_of, 0 },
    [STATED_LAYERS] = { "layers", layers_of, 0 },
    [STATED_HIDDEN] = { "hidden size", hidden_of, 0 },
    [STATED_PARAMETERS] = { "parameters", parameters_of, parameters_near },
};

static void add(struct doctor_contradictions *c, const char *what, double said,
                int64_t has, struct logs_place at)
{
    struct doctor_contradiction *to = &c->of[c->n++];
    *to = (struct doctor_contradiction) { .what = what, .at = at };
    snprintf(to->said, sizeof(to->said), "%.0f", said);
    snprintf(to->has, sizeof(to->has), "%" PRId64, has);
}

static void add_statements(struct doctor_contradictions *c, const struct logs_stated *s,
                           const struct doctor_prediction *p)
{
    for (int i = 0; i < STATEMENTS; i++) {
        int64_t has = rows[i].has(p);
        double off = fabs(s->of[i] - (double)has);
        if (s->at[i].line && has > 0 && off > rows[i].near * (double)has)
            add(c, rows[i].what, s->of[i], has, s->at[i]);
    }
}

/* What logs, or traces, call the GPU. */
static const char *device_of(const struct logs *l, struct logs_place *at)
{
    *at = l->stated.device_at;
    for (int64_t i = 0; !l->stated.device[0] && i < l->traces.n; i++)
        if (l->traces.v[i].device[0])
            return l->traces.v[i].device;
    return l->stated.device;
}

static void add_device(struct doctor_contradictions *c, const struct logs *l,
                       const struct doctor_prediction *p)
{
    struct logs_place at;
    const char *device = device_of(l, &at);
    if (!p->facts.gpu[0] || calibration_may_be(device, p->facts.gpu))
        return;
    struct doctor_contradiction *to = &c->of[c->n++];
    *to = (struct doctor_contradiction) { .what = "GPU", .at = at };
    snprintf(to->said, sizeof(to->said), "%.*s", DOCTOR_SAID_TEXT - 1, device);
    snprintf(to->has, sizeof(to->has), "%s", p->facts.gpu);
}

/* A communicator has no more ranks than the job; a trace says the job's. */
static void add_ranks(struct doctor_contradictions *c, const struct logs *l,
                      const struct doctor_prediction *p)
{
    const struct logs_place nowhere = { 0, 0 };
    if (l->nccl.ranks > p->gpus)
        add(c, "ranks of NCCL's largest communicator", (double)l->nccl.ranks, p->gpus,
            nowhere);
    for (int64_t i = 0; i < l->traces.n; i++) {
        int64_t world = l->traces.v[i].world;
        if (world <= 0 || world == p->gpus)
            continue;
        add(c, "ranks of a trace", (double)world, p->gpus, nowhere);
        return;
    }
}

/* By rates and times of lines it is known about alone. */
static void add_batch(struct doctor_contradictions *c, const struct logs *l,
                      const struct doctor_prediction *p)
{
    const struct logs_place nowhere = { 0, 0 };
    if (!doctor_other_batch(l, p))
        return;
    add(c, "global batch", l->global_batch, (int64_t)llround(p->samples), nowhere);
    if (l->batch_by_clock)
        snprintf(c->of[c->n - 1].said, DOCTOR_SAID_TEXT, "about %.0f", l->global_batch);
}

static void add_tokens(struct doctor_contradictions *c, const struct logs *l,
                       const struct doctor_prediction *p)
{
    const struct logs_place nowhere = { 0, 0 };
    if (l->tokens_batch > 0 &&
        fabs(l->tokens_batch - p->tokens) > tokens_near * p->tokens)
        add(c, "tokens of a step", l->tokens_batch, (int64_t)llround(p->tokens),
            nowhere);
}

struct doctor_contradictions doctor_contradictions(const struct logs *l,
                                                   const struct doctor_prediction *p)
{
    struct doctor_contradictions c = { .n = 0 };
    add_device(&c, l, p);
    add_batch(&c, l, p);
    add_statements(&c, &l->stated, p);
    add_ranks(&c, l, p);
    add_tokens(&c, l, p);
    return c;
}

void doctor_contradictions_warn(struct cfg_loader *loader, const char *option,
                                const json_t *job, const struct logs *l)
{
    struct doctor_predictor by;
    struct doctor_prediction p;
    struct err unused = { 0 };
    struct doctor_contradictions c = { .n = 0 };
    doctor_predictor_init(&by, loader);
    if (doctor_predict(&p, &by, job, &unused) == 0)
        c = doctor_contradictions(l, &p);
    for (int32_t i = 0; i < c.n; i++)
        diags_warn(&loader->diags, DIAG_CONTRADICTION,
                   "%s: %s: the log says %s, and the job has %s", option, c.of[i].what,
                   c.of[i].said, c.of[i].has);
    doctor_predictor_release(&by);
}
