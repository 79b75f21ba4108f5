/* Constants of dispatch and combine by device and software: MODEL.md (16.11). */
#include "calibrate/calibration.h"
#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double residual_most = 0.5; /* what is far off counts no more */

enum { START, TOKEN, TOKEN_RATE, COPY, COPY_RATE, RATE, TERMS };

/* Bounds hold every GPU of 2022 to 2026; those of the rates an SM and of a token are
 * wide, as some kernels spend nothing there. */
static const struct fit_param terms[TERMS] = {
    [START] = { .start = 40e-6, .min = 1e-6, .max = 1e-3 },
    [TOKEN] = { .start = 0.5e-6, .min = 1e-9, .max = 1e-4 },
    [TOKEN_RATE] = { .start = 50e9, .min = 1e9, .max = 1e13 },
    [COPY] = { .start = 0.05e-6, .min = 1e-9, .max = 1e-4 },
    [COPY_RATE] = { .start = 30e9, .min = 1e9, .max = 1e13 },
    [RATE] = { .start = 500e9, .min = 1e10, .max = 1e13 },
};

/* One device, software and direction. */
struct set {
    const struct samples *samples;
    const struct fit_rows *rows;
    struct transfer transfer;
};

static void set_terms(struct transfer *t, const double *v)
{
    t->start_s = v[START];
    t->token_s = v[TOKEN];
    t->token_Bps = v[TOKEN_RATE];
    t->copy_s = v[COPY];
    t->copy_Bps = v[COPY_RATE];
    t->rate_Bps = v[RATE];
}

static double ratio(const struct set *s, int64_t i)
{
    const struct sample_transfer *r = &s->samples->transfers.v[s->rows->at[i]];
    return transfer_s(&s->transfer, &r->shape) / r->time_s;
}

static double error(const void *set, int64_t i)
{
    return fabs(ratio(set, i) - 1);
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->transfer, values);
    for (int64_t i = 0; i < s->rows->n_fit; i++)
        out[i] = fmax(-residual_most, fmin(log(ratio(s, i)), residual_most));
}

static int fit_set(struct set *s, struct err *err)
{
    struct fit fit = {
        .n_params = TERMS, .n = s->rows->n_fit, .residuals = residuals, .arg = s
    };
    double values[TERMS];
    memcpy(fit.params, terms, sizeof(terms));
    if (fit_simplex(&fit, err))
        return -1;
    for (int i = 0; i < TERMS; i++)
        values[i] = fit_rounded(fit.params[i].value);
    set_terms(&s->transfer, values);
    return 0;
}

static int fit(struct calibration *c, int64_t i, const struct gpu *gpu,
               const struct samples *s, const struct fit_rows *rows, struct err *err)
{
    (void)gpu;
    struct calibration_transfer *p = &c->transfers.v[i];
    struct set set = { .samples = s, .rows = rows, .transfer = p->transfer };
    int rc = fit_set(&set, err);
    p->transfer = set.transfer;
    fit_sum_up_set(&p->set.errors, rows, error, &set);
    return rc;
}

/* Sets ----------------------------------------------------------------------------- */

static int64_t count(const struct samples *s)
{
    return s->transfers.n;
}

static int half(const struct samples *s, int64_t row)
{
    const struct transfer_shape *t = &s->transfers.v[row].shape;
    char text[160];
    snprintf(text, sizeof(text),
             "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
             t->ranks, t->hidden, t->tokens, t->topk, t->experts, t->sms);
    return fit_half(text);
}

static struct calibration_set *set_of(struct calibration *c, int64_t i)
{
    return i < c->transfers.n ? &c->transfers.v[i].set : NULL;
}

static void add(struct calibration *c, const struct samples *s, int64_t row)
{
    const struct sample_transfer *r = &s->transfers.v[row];
    VEC_PUSH(&c->transfers,
             ((struct calibration_transfer) {
                 .set.device = r->device,
                 .transfer = { .software = r->software, .kind = (int)r->kind } }));
}

static bool belongs(const struct calibration *c, int64_t i, const struct samples *s,
                    int64_t row)
{
    const struct calibration_transfer *p = &c->transfers.v[i];
    const struct sample_transfer *r = &s->transfers.v[row];
    return strcmp(p->set.device, r->device) == 0 && p->transfer.kind == (int)r->kind &&
           strcmp(p->transfer.software, r->software) == 0;
}

static int find_shipped(struct calibration *c, int64_t i, struct cfg_loader *loader,
                        const struct gpu *gpu)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    struct calibration_transfer *p = &c->transfers.v[i];
    const struct transfers *shipped = transfers_get(loader, gpu->name, nowhere);
    if (!shipped)
        return -1;
    const struct transfer *found = transfers_find(shipped, p->transfer.software,
                                                  (enum transfer_kind)p->transfer.kind);
    if (found && strcmp(found->software, p->transfer.software) == 0)
        p->shipped = found;
    return 0;
}

static const struct fit_kind transfer = {
    .folder = "topologies/transfers",
    .rows_least = 20,
    .count = count,
    .half = half,
    .set = set_of,
    .add = add,
    .belongs = belongs,
    .find_shipped = find_shipped,
    .fit = fit,
};

int calibrate_transfers(struct calibration *c, struct cfg_loader *loader,
                        const struct samples *s, struct err *err)
{
    return fit_sets(c, &transfer, loader, s, err);
}
