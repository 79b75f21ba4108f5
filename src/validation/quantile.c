#include "validation/quantile.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <string.h>

enum { TERMS = QUANTILE_TERMS, STEPS = 1000 };

/* Rests nearer than this to zero count as so far from it. */
static const double nearest = 1e-5;

static double rest_of(const struct quantile_row *r, const double b[TERMS])
{
    double y = r->y;
    for (int k = 0; k < TERMS; k++)
        y -= r->x[k] * b[k];
    return y;
}

/* The normal equations of one step. What no row says is held at 0 by a weight that is
 * nothing next to a row's. */
static void add_rows(double a[TERMS][TERMS], double c[TERMS], const double b[TERMS],
                     const struct quantile_row *rows, int64_t n, double q)
{
    for (int64_t i = 0; i < n; i++) {
        const struct quantile_row *r = &rows[i];
        double w = r->weight / (nearest + fabs(rest_of(r, b)));
        double y = w * r->y + r->weight * (2 * q - 1);
        for (int k = 0; k < TERMS; k++) {
            c[k] += r->x[k] * y;
            for (int l = 0; l < TERMS; l++)
                a[k][l] += w * r->x[k] * r->x[l];
        }
    }
    for (int k = 0; k < TERMS; k++)
        a[k][k] += 1e-9;
}

static double step(double b[TERMS], const struct quantile_row *rows, int64_t n,
                   double q)
{
    double a[TERMS][TERMS] = { { 0 } }, c[TERMS] = { 0 }, change = 0;
    add_rows(a, c, b, rows, n, q);
    gsl_matrix_view m = gsl_matrix_view_array(&a[0][0], TERMS, TERMS);
    gsl_vector_view v = gsl_vector_view_array(c, TERMS);
    gsl_linalg_cholesky_decomp1(&m.matrix);
    gsl_linalg_cholesky_svx(&m.matrix, &v.vector);
    for (int k = 0; k < TERMS; k++)
        change = fmax(change, fabs(c[k] - b[k]));
    memcpy(b, c, sizeof(c));
    return change;
}

void quantile_regress(double b[QUANTILE_TERMS], const struct quantile_row *rows,
                      int64_t n, double q)
{
    const double still = 1e-6;
    for (int i = 0; i < STEPS && step(b, rows, n, q) > still; i++)
        ;
}
