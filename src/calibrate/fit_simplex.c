#include "calibrate/fit.h"

#include "base/xmalloc.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 4, ITERATIONS = 1500 };

static const double first_step = 0.8; /* of unbounded parameters */
static const double least_size = 1e-3;
static const double worst = 1e3; /* of residuals that are not finite */

struct simplex {
    struct fit *fit;
    size_t n_free;
    int32_t free[FIT_PARAMS_MAX];
    double values[FIT_PARAMS_MAX];
    double *residuals;
};

static double loss(const gsl_vector *u, void *arg)
{
    struct simplex *s = arg;
    struct fit *fit = s->fit;
    double sum = 0, weight = 0;
    for (size_t i = 0; i < s->n_free; i++)
        s->values[s->free[i]] =
            fit_bounded(&fit->params[s->free[i]], gsl_vector_get(u, i));
    fit->residuals(s->values, s->residuals, fit->arg);
    for (int64_t i = 0; i < fit->n; i++) {
        double w = fit->weights ? fit->weights[i] : 1;
        sum += w * fabs(s->residuals[i]);
        weight += w;
    }
    return isfinite(sum) ? sum / weight : worst;
}

static void descend(gsl_multimin_function *f, gsl_vector *u, gsl_vector *step)
{
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, u->size);
    gsl_multimin_fminimizer_set(m, f, u, step);
    for (int i = 0; i < ITERATIONS; i++)
        if (gsl_multimin_fminimizer_iterate(m) ||
            gsl_multimin_fminimizer_size(m) < least_size)
            break;
    gsl_vector_memcpy(u, m->x);
    gsl_multimin_fminimizer_free(m);
}

int fit_simplex(struct fit *fit, struct err *err)
{
    struct simplex s = { .fit = fit };
    for (int32_t i = 0; i < fit->n_params; i++) {
        s.values[i] = fit->params[i].start;
        if (!fit->params[i].fixed)
            s.free[s.n_free++] = i;
    }
    if (s.n_free == 0 || fit->n <= (int64_t)s.n_free)
        return err_set(err, "measurements are too few for the terms");
    s.residuals = xmalloc((size_t)fit->n * sizeof(*s.residuals));
    gsl_multimin_function f = { .f = loss, .n = s.n_free, .params = &s };
    gsl_vector *u = gsl_vector_alloc(s.n_free), *step = gsl_vector_alloc(s.n_free);
    for (size_t i = 0; i < s.n_free; i++) {
        const struct fit_param *p = &fit->params[s.free[i]];
        gsl_vector_set(u, i, fit_unbounded(p, p->start));
    }
    int rc = loss(u, &s) < worst ? 0 : err_set(err, "no finite residuals");
    for (int round = 0; round < ROUNDS && rc == 0; round++) {
        gsl_vector_set_all(step, round ? first_step / 2 : first_step);
        descend(&f, u, step);
    }
    fit->loss = loss(u, &s);
    for (int32_t i = 0; i < fit->n_params; i++) {
        fit->params[i].value = s.values[i];
        fit->params[i].half = 0;
    }
    gsl_vector_free(step);
    gsl_vector_free(u);
    free(s.residuals);
    return rc;
}
