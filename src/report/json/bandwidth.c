#include "report/bandwidth.h"
#include "report/figure/written.h"

#include "base/xmalloc.h"
#include "config/diag.h"

#include <math.h>
#include <stdlib.h>

struct row_view {
    struct bandwidth_row r;
    int64_t published;
    double percentile;
};

/* clang-format off */
static const struct contract_member row_rows[] = {
    CONTRACT_AT("size_bytes", REAL, row_view, r.size_B, "As nccl-tests has it."),
    CONTRACT_AT("measured_s", REAL, row_view, r.measured_s, "Of one operation."),
    CONTRACT_AT("predicted_s", REAL, row_view, r.predicted_s, "On the cluster as it is described."),
    CONTRACT_AT("measured_busbw_Bps", REAL, row_view, r.measured_busbw, "Bus bandwidth."),
    CONTRACT_AT("predicted_busbw_Bps", REAL, row_view, r.predicted_busbw, "Likewise."),
    CONTRACT_AT("verdict", NAME, row_view, r.verdict, "Against the prediction.", .names = bandwidth_verdict_names),
    CONTRACT_AT("published", INT64, row_view, published, "Published measurements of the same machines, within a factor of 1.5 of the size."),
    CONTRACT_AT("percentile", REAL, row_view, percentile, "How many per cent of them have less bandwidth; null: there is none.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_END,
};
static const struct contract_object row = { "row", row_rows };

static const struct contract_member fit_rows[] = {
    CONTRACT_AT("what", TEXT, bandwidth_fit, text, "What differs from the cluster as it is described."),
    CONTRACT_AT("error", REAL, bandwidth_fit, error, "Root of the mean square of the logarithm of measured over predicted time; null of what is not known.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_AT("posterior", REAL, bandwidth_fit, posterior, "Its probability; all sum to 1."),
    CONTRACT_AT("seen", TEXT, bandwidth_fit, seen, "What NCCL's own lines in the logs say for it; null: nothing.", .flags = CONTRACT_MAY_NULL),
    CONTRACT_END,
};
static const struct contract_object fit = { "fit", fit_rows };
/* clang-format on */

static json_t *of_rows(const void *x)
{
    const struct report_bandwidth *r = x;
    json_t *list = json_array();
    for (int64_t i = 0; i < r->b->rows.n; i++) {
        const struct row_view view = { r->b->rows.v[i], r->published[i],
                                       r->published[i] ? 100 * (double)r->below[i] /
                                                             (double)r->published[i]
                                                       : (double)NAN };
        json_array_append_new(list, contract_json(&row, &view));
    }
    return list;
}

static json_t *of_fits(const void *x)
{
    const struct bandwidth *b = ((const struct report_bandwidth *)x)->b;
    return contract_list(&fit, b->fits, b->n_fits, sizeof(b->fits[0]));
}

static json_t *of_left_out(const void *x)
{
    return json_integer(((const struct report_bandwidth *)x)->b->n_other);
}

/* clang-format off */
static const struct contract_member rows[] = {
    CONTRACT_AT("cluster", TEXT, report_bandwidth, cluster, "The instances, as --cluster has them."),
    CONTRACT_AT("op", NAME, report_bandwidth, op, "The operation.", .names = coll_op_names),
    CONTRACT_AT("ranks", INT64, report_bandwidth, ranks, "GPUs of the cluster."),
    CONTRACT_MADE("rows", LIST, of_rows, "One for each size of the logs.", .of = &row),
    CONTRACT_MADE("fits", LIST, of_fits, "What fits the sizes from 1 MiB, the most probable first.", .of = &fit),
    CONTRACT_MADE("rows_left_out", INT64, of_left_out, "Of other operations or numbers of ranks."),
    CONTRACT_AT("warnings", LIST, report_bandwidth, warnings, "What was warned of.", .of = &diag_contract),
    CONTRACT_END,
};
static const struct contract_object result = { "result", rows };
/* clang-format on */
const struct contract report_bandwidth_contract = {
    "urn:smsim:collective-log:1",
    "The result of smsim collective --log --json",
    { &result }
};

int figure_bandwidth_write(const struct report_bandwidth *r,
                           const struct collective_curve *published, size_t n_published,
                           const struct draw_to *to, struct err *err)
{
    size_t n = (size_t)r->b->rows.n;
    double *x = xmalloc(3 * (n + 1) * sizeof(*x)), *simulated = x + n, *log = x + 2 * n;
    struct collective_curve *curves = xmalloc((n_published + 2) * sizeof(*curves));
    for (size_t i = 0; i < n; i++) {
        x[i] = r->b->rows.v[i].size_B;
        simulated[i] = r->b->rows.v[i].predicted_busbw;
        log[i] = r->b->rows.v[i].measured_busbw;
    }
    curves[0] = (struct collective_curve) { "simulated", n, x, simulated, false };
    curves[1] = (struct collective_curve) { "the log", n, x, log, true };
    for (size_t i = 0; i < n_published; i++)
        curves[i + 2] = published[i];
    char *op = written_collective(names_of(coll_op_names, r->op));
    char *title = xasprintf("%s on %s", op, r->cluster);
    const struct figure_collective figure = {
        .title = title,
        .subtitle = "Is this bandwidth normal?",
        .curves = curves,
        .n_curves = n_published + 2,
    };
    int rc = figure_collective_write(&figure, to, err);
    free(title);
    free(op);
    free(curves);
    free(x);
    return rc;
}
