/* Constants of dispatch and combine by device and software: MODEL.md (16.11). */
#include "calibrate/calibration.h"
#include "calibrate/fit_sets.h"

#include "base/xmalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_LEAST = 20 };

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
    struct transfer transfer;
    int64_t n, n_fit; /* those fitted to come first */
    const struct sample_transfer **rows;
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

static double error(const struct set *s, int64_t i)
{
    return transfer_s(&s->transfer, &s->rows[i]->shape) / s->rows[i]->time_s;
}

static void residuals(const double *values, double *out, void *arg)
{
    struct set *s = arg;
    set_terms(&s->transfer, values);
    for (int64_t i = 0; i < s->n_fit; i++)
        out[i] = fmax(-residual_most, fmin(log(error(s, i)), residual_most));
}

static int fit_set(struct set *s, struct err *err)
{
    struct fit fit = {
        .n_params = TERMS, .n = s->n_fit, .residuals = residuals, .arg = s
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

static int64_t sum_up(const struct set *s, int64_t from, int64_t to, double *median,
                      double *mean)
{
    double *errors = xmalloc((size_t)(to - from + 1) * sizeof(*errors));
    for (int64_t i = from; i < to; i++)
        errors[i - from] = fabs(error(s, i) - 1);
    fit_sum_up(errors, to - from, median, mean);
    free(errors);
    return to - from;
}

/* 0 for shapes that constants of transfers are fitted to, 1 for those held out. */
static int half_of(const struct transfer_shape *s)
{
    char text[160];
    snprintf(text, sizeof(text),
             "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
             s->ranks, s->hidden, s->tokens, s->topk, s->experts, s->sms);
    return fit_half(text);
}

static bool belongs(const struct calibration_transfer *p,
                    const struct sample_transfer *r)
{
    return strcmp(p->device, r->device) == 0 && p->transfer.kind == (int)r->kind &&
           strcmp(p->transfer.software, r->software) == 0;
}

static void list_sets(struct calibration *c, const struct samples *s)
{
    for (int64_t i = 0; i < s->transfers.n; i++) {
        const struct sample_transfer *r = &s->transfers.v[i];
        bool known = false;
        for (int64_t k = c->transfers.n - 1; k >= 0 && !known; k--)
            known = belongs(&c->transfers.v[k], r);
        if (!known)
            VEC_PUSH(&c->transfers, ((struct calibration_transfer) {
                                        .device = r->device,
                                        .transfer = { .software = r->software,
                                                      .kind = (int)r->kind } }));
    }
}

static void choose_rows(struct set *set, const struct calibration_transfer *p,
                        const struct samples *s)
{
    set->rows =
        xmalloc(((size_t)s->transfers.n + 1) * sizeof(const struct sample_transfer *));
    for (int half = 0; half < 2; half++) {
        for (int64_t i = 0; i < s->transfers.n; i++) {
            const struct sample_transfer *r = &s->transfers.v[i];
            if (belongs(p, r) && half_of(&r->shape) == half)
                set->rows[set->n++] = r;
        }
        if (half == 0)
            set->n_fit = set->n;
    }
}

static int fit_one(struct calibration_transfer *p, const struct samples *s,
                   struct err *err)
{
    struct set set = { .transfer = p->transfer };
    int rc = 0;
    choose_rows(&set, p, s);
    if (set.n_fit < ROWS_LEAST) {
        p->why = "too few measurements (20 of those to fit are needed)";
    } else {
        rc = fit_set(&set, err);
        p->transfer = set.transfer;
        p->errors.n_fit =
            sum_up(&set, 0, set.n_fit, &p->errors.fit_median, &p->errors.fit_mean);
        p->errors.n_held = sum_up(&set, set.n_fit, set.n, &p->errors.held_median,
                                  &p->errors.held_mean);
    }
    free(set.rows);
    return rc;
}

/* The GPUs, and what is shipped of theirs. */
static int find_gpus(struct calibration *c, struct cfg_loader *loader,
                     const struct gpu **gpus)
{
    const struct cfg nowhere = { NULL, NULL, "" };
    for (int64_t i = 0; i < c->transfers.n; i++) {
        struct calibration_transfer *p = &c->transfers.v[i];
        if (fit_find_gpu(&gpus[i], &p->gpu, &p->why, loader, c->arena, p->device))
            return -1;
        if (!gpus[i] || !fit_is_shipped(c->arena, "topologies/transfers", p->gpu))
            continue;
        const struct transfers *shipped = transfers_get(loader, p->gpu, nowhere);
        if (!shipped)
            return -1;
        const struct transfer *found = transfers_find(
            shipped, p->transfer.software, (enum transfer_kind)p->transfer.kind);
        if (found && strcmp(found->software, p->transfer.software) == 0)
            p->shipped = found;
    }
    return 0;
}

static int fit_set_of(struct calibration *c, int64_t i, const struct gpu *gpu,
                      const struct samples *s, struct err *err)
{
    (void)gpu;
    return fit_one(&c->transfers.v[i], s, err);
}

int calibrate_transfers(struct calibration *c, struct cfg_loader *loader,
                        const struct samples *s, struct err *err)
{
    list_sets(c, s);
    return fit_sets(c, c->transfers.n, loader, s, find_gpus, fit_set_of, err);
}
