#include "emulate.h"

#include "cost/kernel.h"
#include "validation/compare.h"

#include <CUnit/CUnit.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

struct emulator {
    const struct emulation *e;
    gsl_rng *rng;
    json_t *rows;
};

static double noisy(struct emulator *m, double time_s)
{
    return time_s * exp(gsl_ran_gaussian(m->rng, m->e->noise));
}

static int64_t size_of(struct emulator *m, double lo, double hi)
{
    return (int64_t)(lo * pow(hi / lo, gsl_rng_uniform(m->rng)) / 8) * 8;
}

static void add_gemms(struct emulator *m)
{
    for (int i = 0; i < m->e->n_gemms; i++) {
        int64_t rows = size_of(m, 64, 16384), n = size_of(m, 64, 16384),
                k = size_of(m, 64, 8192), batch = i % 5 == 4 ? 16 : 1;
        double t = noisy(m, kernel_gemm_s(m->e->truth, DTYPE_BF16, rows, n, k, batch,
                                          false, kernel_alone));
        json_array_append_new(
            m->rows, json_pack("{s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:I, s:f}", "kind",
                               "gemm", "device", 0, "dtype", "bf16", "layout", "TN",
                               "m", (json_int_t)rows, "n", (json_int_t)n, "k",
                               (json_int_t)k, "batch", (json_int_t)batch, "time_s", t));
    }
}

static void add_streams(struct emulator *m)
{
    for (int i = 0; i < m->e->n_streams; i++) {
        double bytes = floor(pow(2, 12 + 20 * gsl_rng_uniform(m->rng)));
        double t = noisy(m, kernel_stream_s(m->e->truth, bytes, kernel_alone));
        json_array_append_new(m->rows, json_pack("{s:s, s:i, s:s, s:f, s:f}", "kind",
                                                 "stream", "device", 0, "name", "copy",
                                                 "bytes", bytes, "time_s", t));
    }
}

static void add_rest(struct emulator *m)
{
    double sustained = m->e->truth->gemm[DTYPE_BF16].sustained;
    const struct {
        const char *what;
        double time_s;
    } launches[] = { { "host, kernel launch", 2.1e-6 },
                     { "host, cuBLAS product", 4.4e-6 } };
    json_array_append_new(m->rows,
                          json_pack("{s:s, s:i, s:s, s:f, s:f}", "kind", "clock",
                                    "device", 0, "dtype", "bf16", "burst_s",
                                    1.4e-3 * sustained, "sustained_s", 1.4e-3));
    for (int i = 0; i < 2; i++)
        json_array_append_new(m->rows,
                              json_pack("{s:s, s:i, s:s, s:f}", "kind", "launch",
                                        "device", 0, "what", launches[i].what, "time_s",
                                        noisy(m, launches[i].time_s)));
}

/* --- steps ------------------------------------------------------------------------ */

static json_t *step_row(struct emulator *m, const struct emulated_step *s,
                        const struct comparison *c)
{
    double exposed_s = c->communication.predicted, t = noisy(m, c->time.predicted);
    json_t *row = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:I, s:f, s:f}", "kind", "step",
        "device", 0, "model", s->model, "dtype", "bf16", "attention", "fused-softmax",
        "gpus", (json_int_t)s->n_gpus, "batch", (json_int_t)s->batch, "sequence",
        (json_int_t)s->sequence, "update_s", noisy(m, c->update.predicted),
        "peak_bytes", (json_int_t)noisy(m, c->memory.predicted), "time_s", t, "spread",
        0.01);
    if (s->n_gpus > 1)
        json_object_set_new(row, "compute_s", json_real(t - exposed_s));
    return row;
}

static void add_step(struct emulator *m, const struct emulated_step *s)
{
    struct arena arena;
    struct comparison c;
    arena_init(&arena);
    struct measured_step step = { .model = s->model,
                                  .precision = OP_BF16,
                                  .attention = OP_ATTENTION_FUSED_SOFTMAX,
                                  .n_gpus = s->n_gpus,
                                  .batch = s->batch,
                                  .sequence = s->sequence };
    const struct compare_on on = { m->e->truth, m->e->instance, 2.1e-6, 4.4e-6 };
    /* one operator makes it list all of them */
    VEC_PUSH(&step.ops, ((struct measured_op) { "word_gather", false, 1, 1 }));
    compare_step(&c, &arena, &step, &on);
    CU_ASSERT_PTR_NULL_FATAL(c.error);
    json_array_append_new(m->rows, step_row(m, s, &c));
    for (int32_t i = 0; i < c.n_ops; i++)
        json_array_append_new(
            m->rows, json_pack("{s:s, s:i, s:s, s:b, s:I, s:f}", "kind", "operator",
                               "device", 0, "name", c.ops[i].name, "backward",
                               c.ops[i].backward, "count", (json_int_t)c.ops[i].count,
                               "time_s", noisy(m, c.ops[i].predicted_s)));
    VEC_RELEASE(&step.ops);
    arena_release(&arena);
}

json_t *emulate(const struct emulation *e)
{
    struct emulator m = { e, gsl_rng_alloc(gsl_rng_mt19937), json_array() };
    const struct gpu *g = e->truth;
    gsl_rng_set(m.rng, e->seed);
    add_gemms(&m);
    add_streams(&m);
    add_rest(&m);
    for (int i = 0; i < e->n_steps; i++)
        add_step(&m, &e->steps[i]);
    gsl_rng_free(m.rng);
    return json_pack(
        "{s:s, s:i, s:b, s:s, s:s, s:[{s:i, s:s, s:I, s:I, s:I, s:I, s:I}], s:o}",
        "format", "smsim-measure", "version", 1, "complete", 1, "date", "2026-11-20",
        "driver", "emulated", "devices", "index", 0, "name", e->device, "sm_arch",
        (json_int_t)g->sm_arch, "sms", (json_int_t)g->n_sms, "memory_bytes",
        (json_int_t)g->memory_B, "l2_bytes", (json_int_t)g->l2_B, "context_bytes",
        (json_int_t)g->context_B, "rows", m.rows);
}
