#include "cmd/collective_call.h"

#include "base/units.h"
#include "report/collective.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>

static const char *redop(int op)
{
    return op == COLL_ALL_REDUCE || op == COLL_REDUCE_SCATTER || op == COLL_REDUCE
               ? "sum"
               : "none";
}

/* The most that any size reaches, and from which on half of it is. */
static void print_answer(const struct collective_call *w)
{
    char most_at[UNITS_TEXT_MAX], half_at[UNITS_TEXT_MAX];
    const struct collective_row *most = &w->rows.v[0], *half = NULL;
    for (int64_t i = 1; i < w->rows.n; i++)
        if (w->rows.v[i].busbw_Bps > most->busbw_Bps)
            most = &w->rows.v[i];
    for (int64_t i = w->rows.n; i-- > 0;)
        if (w->rows.v[i].busbw_Bps >= most->busbw_Bps / 2)
            half = &w->rows.v[i];
        else
            break;
    printf("# up to %.3g GB/s of bus bandwidth, at %s", most->busbw_Bps / 1e9,
           units_bytes_text(most_at, most->size_B));
    if (half && half < most)
        printf("; half of it from %s on", units_bytes_text(half_at, half->size_B));
    putchar('\n');
}

void collective_print(const struct collective_call *w)
{
    int op = w->args->op;
    int root = op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_SCATTER ? 0 : -1;
    bool parted = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER ||
                  op == COLL_ALLTOALL || op == COLL_SCATTER;
    double parts = parted ? (double)w->rows.v[0].plan.n_ranks : 1;
    if (w->rows.n > 1)
        print_answer(w);
    if (collective_has_network(w))
        printf("# network: %s\n", w->cluster.fabric->state.text);
    printf("#       size         count      type   redop    root     time   algbw   "
           "busbw\n");
    printf("#        (B)    (elements)                               (us)  (GB/s)  "
           "(GB/s)\n");
    for (int64_t i = 0; i < w->rows.n; i++) {
        const struct collective_row *r = &w->rows.v[i];
        if (w->args->explain)
            collective_explain(w->net, r, i > 0 ? r - 1 : NULL);
        printf("%12.0f  %12.0f  %8s  %6s  %6d  %7.*f  %6.2f  %6.2f\n", r->size_B,
               floor(r->size_B / COLLECTIVE_ELEMENT_B / parts), "float", redop(op),
               root, r->time_s < 1e-1 ? 2 : 0, r->time_s * 1e6, r->algbw_Bps / 1e9,
               r->busbw_Bps / 1e9);
    }
}

int collective_write_json(const struct collective_call *w)
{
    const struct report_collective x = {
        .cluster = w->args->cluster,
        .quality = collective_has_network(w) ? w->cluster.fabric->state.text : NULL,
        .op = w->args->op,
        .algorithm = w->args->algorithm,
        .network = w->args->network,
        .ranks = w->rows.v[0].plan.n_ranks,
        .rows = json_array(),
        .warnings = diags_json(&w->loader->diags),
    };
    for (int64_t i = 0; i < w->rows.n; i++) {
        const struct collective_row *r = &w->rows.v[i];
        const struct report_collective_row row = {
            .size_B = (int64_t)r->size_B,
            .time_s = r->time_s,
            .algbw_Bps = r->algbw_Bps,
            .busbw_Bps = r->busbw_Bps,
            .algorithm = (int)r->plan.algorithm,
            .protocol = names_of(collective_protocol_names, r->plan.protocol),
        };
        json_array_append_new(x.rows, report_collective_row_json(&row));
    }
    json_t *tree = contract_result(&report_collective_contract, &x);
    json_decref(x.rows);
    json_decref(x.warnings);
    int rc = report_json_write(tree, w->args->json, w->err);
    json_decref(tree);
    return rc;
}

int collective_write_plot(const struct collective_call *w)
{
    struct collective_points points = { .cluster = w->args->cluster,
                                        .op = (enum coll_op)w->args->op,
                                        .n_ranks = w->rows.v[0].plan.n_ranks,
                                        .n_gpus = w->group.spans[0].n_gpus };
    collective_points_find(&points);
    const struct collective_figure figure = {
        .to = { w->args->plot, w->args->look },
        .fabric = collective_has_network(w) ? w->cluster.fabric : NULL,
        .nccl = w->args->nccl,
        .rows = w->rows.v,
        .n_rows = w->rows.n,
        .measured = &points,
    };
    int rc = collective_figure_write(&figure, w->err);
    collective_points_release(&points);
    return rc;
}
